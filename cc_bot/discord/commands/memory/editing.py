"""`/memory edit`: a form with what a memory says now, and what becomes of the filled-in form."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import timedelta
from typing import Final

import hikari
import lightbulb
from hikari.impl import ModalActionRowBuilder

from cc_bot.discord.commands.memory.group import memory, memory_id, on_memory_press, row_of
from cc_bot.discord.commands.memory.listing import card_of
from cc_bot.discord.declaring import command
from cc_bot.discord.delivery.canvas_boards import CanvasBoards
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.failures import tell
from cc_bot.discord.interactions import Answerable, defer, defer_update
from cc_bot.discord.pages.custom_ids import ConfirmButton, EditForm, MemoryButton
from cc_bot.discord.pages.memory import (
    EphemeralView,
    edited_view,
    excerpt,
    forgotten_view,
    refused_view,
    shorten,
    timestamp,
)
from cc_bot.discord.pages.page import Button
from cc_bot.discord.presses import show_view
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import InputError, MemoryNotFound, StorageError
from cc_bot.domain.memory import (
    MAX_CATEGORY_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    ErasureCounts,
    Memory,
)
from cc_bot.memories import MAX_TAGS_CHARACTERS, Memories, MemoryForm, fill_form
from cc_bot.stores import Stores
from cc_bot.stores.memory.history import MemoryHistoryStore
from cc_bot.stores.memory.removal import MemoryRemovalStore
from cc_bot.stores.memory.store import MemoryStore
from cc_bot.texts import Texts, explain

FINDING_S: Final = 1.0
"""How long a memory is looked for whose form is to be opened."""


@command(memory.register, "memory_edit")
class Edit:
    id = memory_id()

    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, recipients: Recipients) -> None:
        number = self.id
        await _open_form(
            ctx.interaction,
            lambda user_id: memories.get_by_number(user_id, number),
            recipients,
            missing=lambda words: explain(MemoryNotFound(id=number), words),
        )


@on_memory_press(MemoryButton, only=lambda button: button.action == "edit", response="own")
async def open_form(
    interaction: hikari.ComponentInteraction,
    button: MemoryButton,
    _: Recipient,
    *,
    memories: MemoryStore,
    recipients: Recipients,
) -> None:
    await _open_form(
        interaction,
        lambda user_id: memories.get(user_id, button.memory_id),
        recipients,
        missing=lambda words: words.receipt.gone,
    )


@on_memory_press(MemoryButton, only=lambda button: button.action == "undo-edit")
async def undo_edit(
    interaction: hikari.ComponentInteraction,
    button: MemoryButton,
    recipient: Recipient,
    *,
    memories: MemoryStore,
    history: MemoryHistoryStore,
    recipients: Recipients,
    upkeep: ReceiptUpkeep,
) -> None:
    await defer_update(interaction)
    undone = await history.undo_update(recipient.user_id, button.memory_id, button.former_id)
    words = recipient.words.memory_card
    if undone is None:
        await show_view(interaction, EphemeralView(words.edit_not_undone))
        return
    said = words.edit_undone.format(id=undone.number)
    await show_view(
        interaction, await card_of(undone.id, recipient, memories, history, recipients.clock, said=said)
    )
    upkeep.refresh(recipient.user_id, recipient.words)


@on_memory_press(EditForm, response="message")
async def submit(
    interaction: hikari.ModalInteraction,
    form: EditForm,
    recipient: Recipient,
    *,
    memories: MemoryStore,
    service: Memories,
    upkeep: ReceiptUpkeep,
) -> None:
    """Change the memory, and tell what changed; what can't be kept is shown back, so that it is not lost."""
    await defer(interaction, ephemeral=True)
    entered, problem, after = _entered(interaction), recipient.words.receipt.gone, None
    before = await memories.get(recipient.user_id, form.memory_id)
    try:
        after = before and await service.edit(before, entered, recipient.words.memory, recipient.timezone)
    except InputError as error:
        problem = explain(error, recipient.words)
    if before and after:
        await show_view(interaction, edited_view(after, before, recipient.words))
    else:
        await show_view(interaction, refused_view(problem, entered.content, recipient.words))
    upkeep.refresh(recipient.user_id, recipient.words)


async def _open_form(
    interaction: hikari.CommandInteraction | hikari.ComponentInteraction,
    find: Callable[[int], Awaitable[Memory | None]],
    recipients: Recipients,
    *,
    missing: Callable[[Texts], str],
) -> None:
    """Open the form, or tell why there is none. It must be the first response, so nothing is acknowledged
    before it, and the database is waited for no longer than Discord waits."""
    try:
        async with asyncio.timeout(FINDING_S):
            recipient = await recipients.of(interaction)
            kept = await find(recipient.user_id)
    except (StorageError, TimeoutError) as error:
        trouble = error if isinstance(error, StorageError) else StorageError()
        words = recipients.words(recipients.discord_locale(interaction))
        await tell(interaction, explain(trouble, words))
        return
    if kept is None:
        await tell(interaction, missing(recipient.words))
        return
    title = recipient.words.memory_card.form_title.format(id=kept.number)
    form = EditForm(recipient.user_id, kept.id).custom_id()
    await interaction.create_modal_response(shorten(title, 45), form, components=_form(kept, recipient))


def _form(kept: Memory, recipient: Recipient) -> list[ModalActionRowBuilder]:
    words, general, filled = (
        recipient.words.memory_card,
        recipient.words.memory.general,
        asdict(fill_form(kept, recipient.timezone)),
    )
    content = ModalActionRowBuilder().add_text_input(
        "content",
        words.form_content,
        style=hikari.TextInputStyle.PARAGRAPH,
        value=filled["content"],
        max_length=MAX_CONTENT_CHARACTERS,
    )
    lines = (
        ("category", words.form_category, general, MAX_CATEGORY_CHARACTERS),
        ("tags", words.form_tags, "", MAX_TAGS_CHARACTERS),
        ("end", words.form_end, words.form_end_example, 40),
    )
    return [content] + [
        ModalActionRowBuilder().add_text_input(
            name,
            label,
            value=filled[name] or hikari.UNDEFINED,
            placeholder=placeholder or hikari.UNDEFINED,
            required=False,
            max_length=limit,
        )
        for name, label, placeholder, limit in lines
    ]


def _entered(interaction: hikari.ModalInteraction) -> MemoryForm:
    values = {
        component.custom_id: component.value or "" for row in interaction.components for component in row
    }
    content, category, tags, end = (values.get(name, "") for name in ("content", "category", "tags", "end"))
    return MemoryForm(content, category, tags, end)


# ---- deleting --------------------------------------------------------------------------------------------
# `/memory delete` and `/memory delete-all`: hidden at once and gone ten minutes later, or gone at once.

CONFIRM_WITHIN = timedelta(minutes=5)
"""A question whether to erase everything must not lie around."""
_REMOVING = ("delete", "undelete", "erase", "erase-said")


@command(memory.register, "memory_delete")
class DeleteMemoryCommand:
    id = memory_id()

    async def invoke(
        self,
        ctx: lightbulb.Context,
        memories: MemoryStore,
        removal: MemoryRemovalStore,
        recipients: Recipients,
        upkeep: ReceiptUpkeep,
    ) -> None:
        recipient = await recipients.defer(ctx.interaction)
        memory_id = await row_of(self.id, recipient.user_id, memories)
        await show_view(ctx.interaction, await _forget(removal, memory_id, recipient))
        upkeep.refresh(recipient.user_id, recipient.words)


@command(memory.register, "memory_delete_all")
class DeleteAll:
    async def invoke(self, ctx: lightbulb.Context, memories: MemoryStore, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        count = await memories.count(recipient.user_id)
        await show_view(ctx.interaction, _question(count, recipient, recipients.clock))


@on_memory_press(MemoryButton, only=lambda button: button.action in _REMOVING)
async def remove(
    interaction: hikari.ComponentInteraction,
    button: MemoryButton,
    recipient: Recipient,
    *,
    removal: MemoryRemovalStore,
    service: Memories,
    boards: CanvasBoards,
    upkeep: ReceiptUpkeep,
) -> None:
    """Delete, have back, or erase one memory."""
    await defer_update(interaction)
    match button.action:
        case "delete":
            view = await _forget(removal, button.memory_id, recipient)
        case "undelete":
            view = await _have_back(service, button.memory_id, recipient)
        case _:
            view = await _erase(removal, button, recipient)
    await show_view(interaction, view)
    upkeep.refresh(recipient.user_id, recipient.words)
    if button.action == "erase-said":
        await boards.refresh_stale()  # what was drawn from it is erased too


@on_memory_press(ConfirmButton, only=lambda button: button.decision != "import")
async def confirm_erasure(
    interaction: hikari.ComponentInteraction,
    button: ConfirmButton,
    recipient: Recipient,
    *,
    stores: Stores,
    recipients: Recipients,
    boards: CanvasBoards,
    upkeep: ReceiptUpkeep,
) -> None:
    """Erase everything, if it is still as much as the question said; or leave all as it is."""
    words = recipient.words.memory_box
    await defer_update(interaction)
    if button.decision == "cancel":
        await interaction.edit_initial_response(words.cancelled, embeds=[], components=[], attachments=None)
    elif button.until < recipients.clock().timestamp():
        await show_view(interaction, EphemeralView(words.ask_again))
    elif (count := await stores.memories.count(recipient.user_id)) > button.count:
        await show_view(interaction, _question(count, recipient, recipients.clock))
    else:
        mark = recipient.words.erasure.mark if button.decision == "erase-said" else None
        erased = await stores.memory_removal.erase_all(recipient.user_id, mark=mark)
        await show_view(interaction, EphemeralView(recipient.words.erasure.told(erased)))
        upkeep.refresh(recipient.user_id, recipient.words)
        await boards.refresh_stale()


async def _forget(removal: MemoryRemovalStore, memory_id: int, recipient: Recipient) -> EphemeralView:
    """Hide a memory, and tell the same of what is hidden already."""
    hidden = await removal.hide(recipient.user_id, memory_id)
    if hidden is None:
        return EphemeralView(recipient.words.receipt.gone)
    return forgotten_view(hidden.memory, recipient.words, hidden.since)


async def _have_back(service: Memories, memory_id: int, recipient: Recipient) -> EphemeralView:
    """Have a memory back, and tell the same of what is back already."""
    words = recipient.words.memory
    back = await service.have_back(recipient.user_id, memory_id)
    if back is None:
        return EphemeralView(words.too_late)
    return EphemeralView(words.undeleted.format(id=back.number, content=excerpt(back.content)))


async def _erase(removal: MemoryRemovalStore, button: MemoryButton, recipient: Recipient) -> EphemeralView:
    words = recipient.words.erasure
    mark = words.mark if button.action == "erase-said" else None
    erased = await removal.erase(recipient.user_id, button.memory_id, mark=mark)
    return EphemeralView(words.told(erased or ErasureCounts()))


def _question(count: int, recipient: Recipient, clock: Clock) -> EphemeralView:
    """The question whether to erase so many memories for good."""
    words = recipient.words.memory_box
    if not count:
        return EphemeralView(recipient.words.memory.none)
    until = clock() + CONFIRM_WITHIN
    moment = int(until.timestamp())
    yes = ConfirmButton(recipient.user_id, "erase", count, moment)
    all_ = ConfirmButton(recipient.user_id, "erase-said", count, moment)
    no = ConfirmButton(recipient.user_id, "cancel", count, moment)
    return EphemeralView(
        words.erase_all_question.format(count=count, until=timestamp(until, "t")),
        buttons=(
            Button(words.erase_all.format(count=count), yes.custom_id(), danger=True),
            Button(recipient.words.erasure.conversations_too, all_.custom_id(), danger=True),
            Button(words.cancel, no.custom_id()),
        ),
    )


# ---- pinning ---------------------------------------------------------------------------------------------
# `/memory pin`: what is to be known in every answer, and what no longer is.


@command(memory.register, "memory_pin")
class Pin:
    id = memory_id()

    async def invoke(self, ctx: lightbulb.Context, stores: Stores, recipients: Recipients) -> None:
        recipient = await recipients.defer(ctx.interaction)
        memory_id = await row_of(self.id, recipient.user_id, stores.memories)
        await _set(ctx.interaction, stores, memory_id, recipient, recipients, pinned=True)


@on_memory_press(MemoryButton, only=lambda button: button.action in ("pin", "unpin"))
async def pin(
    interaction: hikari.ComponentInteraction,
    button: MemoryButton,
    recipient: Recipient,
    *,
    stores: Stores,
    recipients: Recipients,
) -> None:
    """Pin a memory from its card, or take the pin off."""
    await defer_update(interaction)
    await _set(interaction, stores, button.memory_id, recipient, recipients, pinned=button.action == "pin")


async def _set(
    interaction: Answerable,
    stores: Stores,
    memory_id: int,
    recipient: Recipient,
    recipients: Recipients,
    *,
    pinned: bool,
) -> None:
    """The memory's card, with what was done; of what is so already the same is told. Raises TooManyPinned."""
    pins, words = stores.memory_pins, recipient.words.memory_card
    change = pins.pin if pinned else pins.unpin
    kept, said = await change(recipient.user_id, memory_id), ""
    if kept is not None:
        said = words.pin_told(kept, pins.told) if pinned else words.unpinned.format(id=kept.number)
    view = await card_of(
        memory_id, recipient, stores.memories, stores.memory_history, recipients.clock, said=said
    )
    await show_view(interaction, view)
