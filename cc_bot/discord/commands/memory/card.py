"""`/memory show`, `edit`, `pin` and `delete-all`, and the buttons of a memory's card."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import timedelta
from typing import Final

import hikari
import lightbulb
from hikari.impl import ModalActionRowBuilder

from cc_bot.commands.memories import (
    MAX_TAGS_CHARACTERS,
    Memories,
    MemoryForm,
    delete,
    edit,
    fill_form,
    row_of,
)
from cc_bot.discord.commands.memory.group import memory, memory_id, on_memory_press
from cc_bot.discord.commands.memory.listing import MAX_END_CHARACTERS
from cc_bot.discord.declaring import command, reply_command
from cc_bot.discord.delivery.canvas import CanvasBoards
from cc_bot.discord.delivery.receipts import ReceiptUpkeep
from cc_bot.discord.interactions import defer, defer_update
from cc_bot.discord.pages.custom_ids import ConfirmButton, EditForm, MemoryButton, OpenMenu
from cc_bot.discord.pages.memory import (
    EphemeralView,
    edited_view,
    memory_card,
    refused_view,
    shorten,
    timestamp,
)
from cc_bot.discord.pages.page import Button
from cc_bot.discord.presses import show_view
from cc_bot.discord.recipients import Recipient, Recipients, tell
from cc_bot.domain.errors import InputError, MemoryNotFound, StorageError
from cc_bot.domain.memory import MAX_CATEGORY_CHARACTERS, MAX_CONTENT_CHARACTERS, Audience, Memory
from cc_bot.stores.memory.store import MemoryStore
from cc_bot.texts import Texts, explain

# ---- card ------------------------------------------------------------------------------------------------

_ON_CARD: Final = ("anywhere", "private", "restore", "pin", "unpin", "undo-edit")


async def _show(caller: Recipient, id: int, *, service: Memories) -> EphemeralView:  # noqa: A002 - the option's name
    return await card_of(await row_of(caller, id, service), caller, service)


async def _pin(caller: Recipient, id: int, *, service: Memories) -> EphemeralView:  # noqa: A002 - likewise
    memory_id = await row_of(caller, id, service)
    return await card_of(memory_id, caller, service, said=await _set_pin(caller, memory_id, service))


reply_command(memory.register, "memory_show", _show, id=memory_id())


@on_memory_press(OpenMenu, response="message")
async def open_card(
    interaction: hikari.ComponentInteraction, _: OpenMenu, recipient: Recipient, *, service: Memories
) -> None:
    """Show the card of a memory chosen from a list, below the list."""
    await defer(interaction, ephemeral=True)
    await show_view(interaction, await _show(recipient, int(interaction.values[0]), service=service))


@on_memory_press(MemoryButton, only=lambda button: button.action in _ON_CARD)
async def change(
    interaction: hikari.ComponentInteraction,
    button: MemoryButton,
    recipient: Recipient,
    *,
    service: Memories,
    upkeep: ReceiptUpkeep,
) -> None:
    """Apply a card's button or menu, and show the card again."""
    await defer_update(interaction)
    history, words, said = service.stores.memories, recipient.words.memory_card, ""
    user_id, memory_id = recipient.user_id, button.memory_id
    match button.action:
        case "restore":
            restored = await history.restore(user_id, int(interaction.values[0]))
            said = words.restored.format(id=restored.number) if restored else words.former_gone
        case "undo-edit":
            undone = await history.undo_update(user_id, memory_id, button.former_id)
            if undone is None:
                await show_view(interaction, EphemeralView(words.edit_not_undone))
                return
            said = words.edit_undone.format(id=undone.number)
        case "pin" | "unpin":
            said = await _set_pin(recipient, memory_id, service, pinned=button.action == "pin")
        case _:
            audience: Audience = "private" if button.action == "private" else "anywhere"
            await service.stores.memories.update(user_id, memory_id, audience=audience)
    await show_view(interaction, await card_of(memory_id, recipient, service, said=said))
    upkeep.refresh(user_id, recipient.words)


async def _set_pin(caller: Recipient, memory_id: int, service: Memories, *, pinned: bool = True) -> str:
    """Pin or unpin a memory. Returns the sentence on it; empty if the memory is gone. Raises
    TooManyPinned."""
    pins, words = service.stores.memories, caller.words.memory_card
    kept = await (pins.pin if pinned else pins.unpin)(caller.user_id, memory_id)
    if kept is None:
        return ""
    return words.pin_told(kept, pins.profile_notes) if pinned else words.unpinned.format(id=kept.number)


async def card_of(
    memory_id: int, recipient: Recipient, service: Memories, *, said: str = ""
) -> EphemeralView:
    """Return the card of a user's memory; a sentence if there is none."""
    kept = await service.stores.memories.get(recipient.user_id, memory_id)
    if kept is None:
        return EphemeralView(recipient.words.receipt.gone)
    former = await service.stores.memories.list_versions(recipient.user_id, memory_id)
    return memory_card(kept, former, recipient, service.clock, said=said)


# ---- form ------------------------------------------------------------------------------------------------

FINDING_S: Final = 1.0
"""The time limit for finding the memory whose form is to be opened."""


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


@on_memory_press(EditForm, response="message")
async def submit(
    interaction: hikari.ModalInteraction,
    form: EditForm,
    recipient: Recipient,
    *,
    service: Memories,
    upkeep: ReceiptUpkeep,
) -> None:
    """Change the memory and report the changes; refused input is shown again, so that it is not lost."""
    await defer(interaction, ephemeral=True)
    entered, problem, after = _entered(interaction), recipient.words.receipt.gone, None
    before = await service.stores.memories.get(recipient.user_id, form.memory_id)
    try:
        after = before and await edit(recipient, before, entered, service=service)
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
    """Open the form, or report why not. A form must be the first response, so nothing is acknowledged before,
    and the database must answer within Discord's limit."""
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
    words, filled = recipient.words.memory_card, asdict(fill_form(kept, recipient.timezone))
    content = ModalActionRowBuilder().add_text_input(
        "content",
        words.form_content,
        style=hikari.TextInputStyle.PARAGRAPH,
        value=filled["content"],
        max_length=MAX_CONTENT_CHARACTERS,
    )
    lines = (
        ("category", words.form_category, recipient.words.memory.general, MAX_CATEGORY_CHARACTERS),
        ("tags", words.form_tags, "", MAX_TAGS_CHARACTERS),
        ("end", words.form_end, words.form_end_example, MAX_END_CHARACTERS),
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


# ---- erasing all -----------------------------------------------------------------------------------------

CONFIRM_WITHIN = timedelta(minutes=5)


async def _ask(caller: Recipient, *, service: Memories) -> EphemeralView:
    words, count = caller.words.memory_box, await service.stores.memories.count(caller.user_id)
    if not count:
        return EphemeralView(caller.words.memory.none)
    until = service.clock() + CONFIRM_WITHIN
    yes, all_, no = (
        ConfirmButton(caller.user_id, decision, count, int(until.timestamp())).custom_id()
        for decision in ("erase", "erase-said", "cancel")
    )
    return EphemeralView(
        words.erase_all_question.format(count=count, until=timestamp(until, "t")),
        buttons=(
            Button(words.erase_all.format(count=count), yes, danger=True),
            Button(caller.words.erasure.conversations_too, all_, danger=True),
            Button(words.cancel, no),
        ),
    )


reply_command(memory.register, "memory_delete", delete, id=memory_id())
reply_command(memory.register, "memory_delete_all", _ask)
reply_command(memory.register, "memory_pin", _pin, id=memory_id())


@on_memory_press(ConfirmButton, only=lambda button: button.decision != "import")
async def confirm_erasure(
    interaction: hikari.ComponentInteraction,
    button: ConfirmButton,
    recipient: Recipient,
    *,
    service: Memories,
    boards: CanvasBoards,
    upkeep: ReceiptUpkeep,
) -> None:
    """Erase everything, unless there is more than the question said; or cancel."""
    words, stores = recipient.words, service.stores
    await defer_update(interaction)
    if button.decision == "cancel":
        sentence = words.memory_box.cancelled
        await interaction.edit_initial_response(sentence, embeds=[], components=[], attachments=None)
    elif button.until < service.clock().timestamp():
        await show_view(interaction, EphemeralView(words.memory_box.ask_again))
    elif await stores.memories.count(recipient.user_id) > button.count:
        await show_view(interaction, await _ask(recipient, service=service))
    else:
        mark = words.erasure.mark if button.decision == "erase-said" else None
        erased = await stores.memory_removal.erase_all(recipient.user_id, mark=mark)
        await show_view(interaction, EphemeralView(words.erasure.told(erased)))
        upkeep.refresh(recipient.user_id, recipient.words)
        await boards.refresh_stale()
