"""`/memory delete` and `/memory delete-all`: hidden at once and gone ten minutes later, or gone at once."""

from datetime import timedelta

import lightbulb

from cc_bot.discord.access.ways_in import Pressed
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.receipt_upkeep import ReceiptUpkeep
from cc_bot.discord.extensions.memory.group import answer_press, loader, memory, show
from cc_bot.discord.extensions.memory.options import memory_id, row_of
from cc_bot.discord.interactions import Answerable, defer, defer_update
from cc_bot.discord.localization import Reader, Readers
from cc_bot.discord.pages.memory_card import forgotten
from cc_bot.discord.pages.memory_erasure import erase_question
from cc_bot.discord.pages.memory_ids import ConfirmButton, MemoryButton
from cc_bot.discord.pages.memory_view import View, quoted, timestamp
from cc_bot.discord.pages.page import Button
from cc_bot.domain.clock import Clock
from cc_bot.domain.memory import Erased
from cc_bot.stores import Stores
from cc_bot.stores.memories import MemoryStore
from cc_bot.stores.memory_removal import MemoryRemovalStore

CONFIRM_WITHIN = timedelta(minutes=5)
"""A question whether to erase everything must not lie around."""
_OURS = ("delete", "undelete", "erase", "erase-alone", "erase-said")


@memory.register
class Delete(
    lightbulb.SlashCommand, name="memory_delete", description="memory_delete_description", localize=True
):
    id = memory_id()

    @lightbulb.invoke
    async def invoke(
        self, ctx: lightbulb.Context, stores: Stores, readers: Readers, upkeep: ReceiptUpkeep
    ) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        memory_id = await row_of(self.id, reader.user_id, stores.memories)
        await _delete(ctx.interaction, stores, memory_id, reader)
        upkeep.refresh(reader.user_id, reader.words)


@memory.register
class DeleteAll(
    lightbulb.SlashCommand,
    name="memory_delete_all",
    description="memory_delete_all_description",
    localize=True,
):
    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, readers: Readers) -> None:
        await defer(ctx.interaction, ephemeral=True)
        reader = await readers.of(ctx.interaction)
        count = await memories.count(reader.user_id)
        await show(ctx.interaction, _question(count, reader, readers.clock))


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_press(
    event: Pressed,
    stores: Stores,
    readers: Readers,
    boards: CanvasBoards,
    upkeep: ReceiptUpkeep,
) -> None:
    """Delete, have back, or erase one memory."""
    interaction = event.interaction

    async def act(button: MemoryButton, reader: Reader) -> None:
        await defer_update(interaction)
        match button.action:
            case "delete":
                await _delete(interaction, stores, button.memory_id, reader)
            case "undelete":
                await show(interaction, await _have_back(stores, button.memory_id, reader))
            case _:
                await show(interaction, await _erase(stores.memory_removal, button, reader))
        upkeep.refresh(reader.user_id, reader.words)
        await boards.refresh_stale()  # what is erased may stand on canvases too

    await answer_press(interaction, MemoryButton, readers, act, only=lambda button: button.action in _OURS)


@loader.listener(Pressed)
@lightbulb.di.with_di
async def on_confirm(
    event: Pressed,
    stores: Stores,
    readers: Readers,
    boards: CanvasBoards,
    upkeep: ReceiptUpkeep,
) -> None:
    """Erase everything, if it is still as much as the question said; or leave all as it is."""
    interaction = event.interaction

    async def act(button: ConfirmButton, reader: Reader) -> None:
        words = reader.words.memory_box
        await defer_update(interaction)
        if button.decision == "cancel":
            await interaction.edit_initial_response(
                words.cancelled, embeds=[], components=[], attachments=None
            )
        elif button.until < readers.clock().timestamp():
            await show(interaction, View(words.ask_again))
        elif (count := await stores.memories.count(reader.user_id)) > button.count:
            await show(interaction, _question(count, reader, readers.clock))
        else:
            mark = reader.words.erasure.mark if button.decision == "erase-said" else None
            erased = await stores.memory_removal.erase_all(reader.user_id, mark=mark)
            await show(interaction, View(reader.words.erasure.told(erased)))
            upkeep.refresh(reader.user_id, reader.words)
            await boards.refresh_stale()

    await answer_press(
        interaction, ConfirmButton, readers, act, only=lambda button: button.decision != "import"
    )


async def _delete(interaction: Answerable, stores: Stores, memory_id: int, reader: Reader) -> None:
    """Of what is hidden already the same is told."""
    await stores.memories.delete(reader.user_id, memory_id)
    hidden = await stores.memory_removal.hidden(reader.user_id, memory_id)
    if hidden is None:
        await show(interaction, View(reader.words.receipt.gone))
        return
    told_in = await stores.memory_removal.told_in(reader.user_id, memory_id)
    await show(interaction, forgotten(hidden.memory, reader.words, hidden.since, told_in))


async def _have_back(stores: Stores, memory_id: int, reader: Reader) -> View:
    """Of what is back already the same is told."""
    words = reader.words.memory
    user_id, memories, removal = reader.user_id, stores.memories, stores.memory_removal
    back = await memories.get(user_id, memory_id) or await removal.undelete(user_id, memory_id)
    if back is None:
        return View(words.too_late)
    return View(words.undeleted.format(id=back.number, content=quoted(back.content)))


async def _erase(removal: MemoryRemovalStore, button: MemoryButton, reader: Reader) -> View:
    """Ask first where stored messages tell of the memory as well."""
    user_id, memory_id, words = reader.user_id, button.memory_id, reader.words
    if button.action == "erase" and (told_in := await removal.told_in(user_id, memory_id)):
        return erase_question(user_id, memory_id, told_in, words)
    mark = words.erasure.mark if button.action == "erase-said" else None
    erased = await removal.erase(user_id, memory_id, mark=mark)
    return View(words.erasure.told(erased or Erased()))


def _question(count: int, reader: Reader, clock: Clock) -> View:
    """Whether to erase so many memories for good."""
    words = reader.words.memory_box
    if not count:
        return View(reader.words.memory.none)
    until = clock() + CONFIRM_WITHIN
    moment = int(until.timestamp())
    yes = ConfirmButton(reader.user_id, "erase", count, moment)
    all_ = ConfirmButton(reader.user_id, "erase-said", count, moment)
    no = ConfirmButton(reader.user_id, "cancel", count, moment)
    return View(
        words.erase_all_question.format(count=count, until=timestamp(until, "t")),
        buttons=(
            Button(words.erase_all.format(count=count), yes.custom_id(), danger=True),
            Button(reader.words.erasure.conversations_too, all_.custom_id(), danger=True),
            Button(words.cancel, no.custom_id()),
        ),
    )
