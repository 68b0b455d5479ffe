"""The buttons of receipts: take back what an answer did to a memory, and see which memories it used.

What a button needs stands in its custom id, so one that was shown before a restart still works. The message
it stands under may be public: replies are for the memories' owner alone.
"""

import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.delivery.reply import NO_PINGS
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import defer
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.custom_ids import UndoButton, UsedMemoriesButton, parse_custom_id
from cc_bot.discord.pages.used_memories import used_list, within
from cc_bot.stores import Stores

loader = lightbulb.Loader()


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(event: Pressed, *, stores: Stores, readers: Readers) -> None:
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, UndoButton | UsedMemoriesButton):
        return
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.receipt.not_yours)
            return
        await defer(interaction, ephemeral=True)
        if isinstance(button, UndoButton):
            said = await _undo(button, reader, stores)
        else:
            said = await _used(button, reader, stores)
        await interaction.edit_initial_response(said, **NO_PINGS)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


async def _undo(button: UndoButton, reader: Reader, stores: Stores) -> str:
    """Do it, and say what came of it."""
    words, user_id, memory_id = reader.words.receipt, reader.user_id, button.memory_id
    if button.action == "deleted":
        restored = await stores.memory_removal.undelete(user_id, memory_id)
        return within(words.undone_deleted, restored) if restored else words.gone
    memory = await stores.memories.get(user_id, memory_id)
    if memory is None:
        return words.gone
    if (memory.supersedes or 0) != button.former_id:
        return words.changed_since.format(id=memory_id)
    if button.action == "added":
        hidden = await stores.memory_history.undo_add(user_id, memory_id)
        return within(words.undone_added, memory) if hidden else words.gone
    before = await stores.memory_history.undo_update(user_id, memory_id, button.former_id)
    return within(words.undone_updated, before) if before else words.changed_since.format(id=memory_id)


async def _used(button: UsedMemoriesButton, reader: Reader, stores: Stores) -> str:
    found = [await stores.memories.get(reader.user_id, memory_id) for memory_id in button.memory_ids]
    return used_list([memory for memory in found if memory is not None], reader.words)
