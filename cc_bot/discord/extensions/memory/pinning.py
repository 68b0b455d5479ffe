"""`/memory pin`: what is to be known in every answer, and what no longer is."""

import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.extensions.memory.group import answer_press, loader, memory, show
from cc_bot.discord.extensions.memory.options import memory_id, row_of
from cc_bot.discord.extensions.memory.showing import card_of
from cc_bot.discord.interactions import Answerable, defer, defer_update
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.memory_ids import MemoryButton
from cc_bot.stores import Stores

_OURS = ("pin", "unpin")


@memory.register
class Pin(lightbulb.SlashCommand, name="memory_pin", description="memory_pin_description", localize=True):
    id = memory_id()

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, stores: Stores, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        memory_id = await row_of(self.id, reader.user_id, stores.memories)
        await _set(ctx.interaction, stores, memory_id, reader, readers, pinned=True)


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(event: Pressed, stores: Stores, readers: Readers) -> None:
    """Pin a memory from its card, or take the pin off."""
    interaction = event.interaction

    async def act(button: MemoryButton, reader: Reader) -> None:
        await defer_update(interaction)
        await _set(interaction, stores, button.memory_id, reader, readers, pinned=button.action == "pin")

    await answer_press(interaction, MemoryButton, readers, act, only=lambda button: button.action in _OURS)


async def _set(
    interaction: Answerable, stores: Stores, memory_id: int, reader: Reader, readers: Readers, *, pinned: bool
) -> None:
    """The memory's card, with what was done; of what is so already the same is told. Raises TooManyPinned."""
    pins, words = stores.memory_pins, reader.words.memory_card
    change = pins.pin if pinned else pins.unpin
    kept, said = await change(reader.user_id, memory_id), ""
    if kept is not None:
        said = words.pin_told(kept, pins.told) if pinned else words.unpinned.format(id=kept.number)
    view = await card_of(memory_id, reader, stores.memories, stores.memory_history, readers.clock, said=said)
    await show(interaction, view)
