"""The buttons of receipts: take back what an answer did to a memory, and see which memories it used.

What a button needs stands in its custom id, so one that was shown before a restart still works. The message
it stands under may be public: replies are for the memories' owner alone.
"""

import hikari
import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.delivery.interaction_outlet import reply_to_deferred
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.delivery.reply import NO_PINGS
from cc_bot.discord.failures import tell, tell_failure
from cc_bot.discord.interactions import defer, defer_update
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.custom_ids import (
    UndoButton,
    UntellButton,
    UsedMemoriesButton,
    parse_custom_id,
)
from cc_bot.discord.pages.memory_erasure import erase_question
from cc_bot.discord.pages.memory_view import View
from cc_bot.discord.pages.page import Page
from cc_bot.discord.pages.used_memories import used_list, within
from cc_bot.stores import MemoryRemovalStore, Stores

loader = lightbulb.Loader()


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(event: Pressed, *, stores: Stores, readers: Readers, upkeep: ReceiptUpkeep) -> None:
    interaction = event.interaction
    button = parse_custom_id(interaction.custom_id)
    if not isinstance(button, UndoButton | UntellButton | UsedMemoriesButton):
        return
    try:
        reader = await readers.of(interaction)
        if button.user_id != reader.user_id:
            await tell(interaction, reader.words.receipt.not_yours)
            return
        if isinstance(button, UndoButton):
            await defer_update(interaction)
            said = await _undo(button, reader, stores)
            await upkeep.pressed(interaction, reader.user_id, reader.words)
            await interaction.execute(said, flags=hikari.MessageFlag.EPHEMERAL, **NO_PINGS)
        elif isinstance(button, UntellButton):
            await defer(interaction, ephemeral=True)
            views = [await _still_told(each, reader, stores.memory_removal) for each in button.memory_ids]
            reply = reply_to_deferred(interaction, ephemeral=True)
            await reply.show([Page(view.content, view.buttons) for view in views])
        else:
            await defer(interaction, ephemeral=True)
            await interaction.edit_initial_response(await _used(button, reader, stores), **NO_PINGS)
    except Exception as error:  # noqa: BLE001 - hikari would only log it, and the user would not know
        await tell_failure(interaction, error, readers)


async def _undo(button: UndoButton, reader: Reader, stores: Stores) -> str:
    """Do it, and say what came of it; of what is done already the same."""
    words, user_id, memory_id = reader.words.receipt, reader.user_id, button.memory_id
    memory = await stores.memories.get(user_id, memory_id)
    if button.action == "deleted":
        restored = memory or await stores.memory_removal.undelete(user_id, memory_id)
        return within(words.undone_deleted, restored) if restored else words.gone
    if memory is None:
        hidden = await stores.memory_removal.hidden(user_id, memory_id)
        return within(words.undone_added, hidden.memory) if hidden else words.gone
    if (memory.supersedes or 0) != button.former_id:
        return words.changed_since.format(id=memory.number)
    if button.action == "added":
        undone = await stores.memory_history.undo_add(user_id, memory_id)
        return within(words.undone_added, memory) if undone else words.gone
    before = await stores.memory_history.undo_update(user_id, memory_id, button.former_id)
    return within(words.undone_updated, before) if before else words.changed_since.format(id=memory.number)


async def _still_told(memory_id: int, reader: Reader, removal: MemoryRemovalStore) -> View:
    """Where a forgotten memory is told all the same, with a way to erase it there."""
    words, hidden = reader.words, await removal.hidden(reader.user_id, memory_id)
    if hidden is None:
        return View(words.erasure.out_of_reach)
    told_in = await removal.told_in(reader.user_id, memory_id)
    if not told_in:
        return View(words.erasure.not_told)
    return erase_question(reader.user_id, memory_id, told_in, words)


async def _used(button: UsedMemoriesButton, reader: Reader, stores: Stores) -> str:
    found = [await stores.memories.get(reader.user_id, memory_id) for memory_id in button.memory_ids]
    return used_list([memory for memory in found if memory is not None], reader.words)
