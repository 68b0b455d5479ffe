"""`/memory show`: one memory with all that is known of it, and what can be done with it from there."""

import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.extensions.memory.group import answer_press, loader, memory, show
from cc_bot.discord.extensions.memory.options import memory_id, row_of
from cc_bot.discord.interactions import defer, defer_update
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.memory_card import memory_card
from cc_bot.discord.pages.memory_ids import MemoryButton, OpenMenu
from cc_bot.discord.pages.memory_view import View
from cc_bot.domain.clock import Clock
from cc_bot.domain.memory import Audience
from cc_bot.stores.memories import MemoryStore
from cc_bot.stores.memory_history import MemoryHistoryStore

_OURS = ("anywhere", "private", "restore")


@memory.register
class Show(lightbulb.SlashCommand, name="memory_show", description="memory_show_description", localize=True):
    id = memory_id()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, memories: MemoryStore, history: MemoryHistoryStore, readers: Readers
    ) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        memory_id = await row_of(self.id, reader.user_id, memories)
        await show(ctx.interaction, await card_of(memory_id, reader, memories, history, readers.clock))


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_open(
    event: Pressed,
    memories: MemoryStore,
    history: MemoryHistoryStore,
    readers: Readers,
) -> None:
    """All of a memory that was chosen from a list, below the list."""
    interaction = event.interaction

    async def open_(_: OpenMenu, reader: Reader) -> None:
        await defer(interaction, ephemeral=True)
        view = await card_of(int(interaction.values[0]), reader, memories, history, readers.clock)
        await show(interaction, view)

    await answer_press(interaction, OpenMenu, readers, open_)


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(
    event: Pressed,
    memories: MemoryStore,
    history: MemoryHistoryStore,
    readers: Readers,
    upkeep: ReceiptUpkeep,
) -> None:
    """Where a memory is used, and what it said before, changed from its card."""
    interaction = event.interaction

    async def act(button: MemoryButton, reader: Reader) -> None:
        await defer_update(interaction)
        said = ""
        if button.action == "restore":
            change = await history.restore(reader.user_id, int(interaction.values[0]))
            words = reader.words.memory_card
            said = words.restored.format(id=change.memory.number) if change else words.former_gone
        else:
            audience: Audience = "private" if button.action == "private" else "anywhere"
            await memories.update(reader.user_id, button.memory_id, audience=audience)
        view = await card_of(button.memory_id, reader, memories, history, readers.clock, said=said)
        await show(interaction, view)
        upkeep.refresh(reader.user_id, reader.words)

    await answer_press(interaction, MemoryButton, readers, act, only=lambda button: button.action in _OURS)


async def card_of(
    memory_id: int,
    reader: Reader,
    memories: MemoryStore,
    history: MemoryHistoryStore,
    clock: Clock,
    *,
    said: str = "",
) -> View:
    """The card of a user's memory; a sentence when there is none."""
    kept = await memories.get(reader.user_id, memory_id)
    if kept is None:
        return View(reader.words.receipt.gone)
    former = await history.of(reader.user_id, memory_id)
    return memory_card(kept, former, reader.words, clock(), said=said)
