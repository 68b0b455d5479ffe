"""`/memory …`: the caller's memories. Every reply is ephemeral, and its buttons work after a restart."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from typing import Final, get_args

import hikari
import lightbulb
from hikari.impl import ModalActionRowBuilder

from cc_bot.chat.context.attachments import too_large
from cc_bot.chat.reply import Caller, Item, Reply
from cc_bot.discord.attachments import fetch_bytes
from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.delivery.side_message import SideMessage
from cc_bot.discord.handlers import (
    Choice,
    Press,
    Submission,
    choices,
    command,
    file_option,
    number_option,
    on_press,
    reply_command,
    show,
    suggest_from,
    text_option,
)
from cc_bot.discord.interactions import MAX_CHOICES, tell
from cc_bot.discord.pages.custom_ids import (
    ConfirmButton,
    EditForm,
    ListButton,
    MemoryButton,
    OpenMenu,
    SearchButton,
)
from cc_bot.discord.pages.page import Button, EphemeralView, Menu, reply_view, timestamp
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.errors import AttachmentNotFetched, InputError, MemoryNotFound, StorageError
from cc_bot.domain.text import shorten
from cc_bot.features.memory import service as memories
from cc_bot.features.memory.files import MAX_IMPORT_BYTES, MAX_IMPORTED, PortableMemory, split_export
from cc_bot.features.memory.model import (
    MAX_CATEGORY_CHARACTERS,
    MAX_CONTENT_CHARACTERS,
    Audience,
    Memory,
    Order,
    Source,
)
from cc_bot.features.memory.service import (
    MAX_END_CHARACTERS,
    MAX_PLANNED_BYTES,
    MAX_QUERY_CHARACTERS,
    MAX_TAGS_CHARACTERS,
    Memories,
    MemoryForm,
    find_id,
    plan_import,
    run_import,
)
from cc_bot.features.memory.stores.store import MemoryStore
from cc_bot.features.memory.texts import MemoryBulkTexts, MemoryCardTexts, MemoryTexts, ReceiptTexts
from cc_bot.features.memory.views import choice_name, edited_view, import_preview, memory_card, refused_view
from cc_bot.features.privacy.texts import ErasureTexts
from cc_bot.texts import Texts, explain

loader = lightbulb.Loader()
memory = lightbulb.Group("memory", "memory_description", localize=True)
loader.command(memory)

on_memory_press = partial(on_press, not_yours=lambda words: words[ReceiptTexts].not_yours)

CONFIRM_WITHIN: Final = timedelta(minutes=5)
IMPORT_WITHIN: Final = timedelta(minutes=30)  # time to read the file
FORM_TIMEOUT_S: Final = 1.0  # Discord waits 3 s for a form
_QUERY_MARK: Final = "🔍 "  # precedes the query, so that the paging buttons find it
_ACTIONS_WITH_CARD: Final = ("anywhere", "private", "restore", "pin", "unpin", "undo-edit")


async def suggest_memories(
    ctx: lightbulb.AutocompleteContext[int], store: MemoryStore = lightbulb.di.INJECTED
) -> list[Choice]:
    """Suggest memories by text or number (Discord sends both as a string)."""
    typed = str(ctx.focused.value or "")
    found = await store.suggest(int(ctx.interaction.user.id), typed, limit=MAX_CHOICES)
    return [(choice_name(Item(each.number, each.content)), each.number) for each in found]


async def suggest_categories(
    ctx: lightbulb.AutocompleteContext[str],
    store: MemoryStore = lightbulb.di.INJECTED,
    recipients: Recipients = lightbulb.di.INJECTED,
) -> Sequence[Choice]:
    """Suggest categories: first those that begin with the input, then the largest."""
    recipient = await recipients.find(ctx.interaction)
    wanted = str(ctx.focused.value or "").strip().casefold()
    categories = await store.list_categories(recipient.user_id)
    shown = (recipient.words[MemoryTexts].shown_category(name) for name, _ in categories)
    found = [name for name in shown if wanted in name.casefold()]
    return sorted(found, key=lambda name: not name.casefold().startswith(wanted))


def id_option() -> int:
    return number_option("memory_id", autocomplete=suggest_from(suggest_memories))  # users call the number id


def category_option() -> str | None:
    return text_option(
        "memory_category",
        default=None,
        max_length=MAX_CATEGORY_CHARACTERS,
        autocomplete=suggest_from(suggest_categories),
    )


def audience_option() -> str | None:
    return text_option("memory_audience", default=None, choices=choices("memory", "anywhere", "private"))


def choose_audience(chosen: str | None, caller: Caller) -> Audience:
    """Return the chosen audience, by default that of the channel."""
    if chosen is None:
        return "private" if caller.guild_id is None else "anywhere"
    return "private" if chosen == "private" else "anywhere"


async def _list(
    caller: Recipient, category: str | None, order: str, page: int = 1, *, service: Memories
) -> EphemeralView:
    reply = await memories.list_memories(caller, category=category, order=order, page=page, service=service)
    valid_order: Order = next((each for each in get_args(Order) if each == order), "newest")
    stored = caller.words[MemoryTexts].stored_category(category) or ""
    return _list_view(
        reply, caller, lambda to: ListButton(caller.user_id, valid_order, to, stored).custom_id()
    )


async def _search(
    caller: Recipient, query: str, category: str | None, page: int = 1, *, service: Memories
) -> EphemeralView:
    reply = await memories.search(caller, query=query, category=category, page=page, service=service)
    stored = caller.words[MemoryTexts].stored_category(category) or ""
    view = _list_view(reply, caller, lambda to: SearchButton(caller.user_id, to, stored).custom_id())
    if view.embed is not None:
        view.embed.set_author(name=f"{_QUERY_MARK}{' '.join(query.split())}")
    return view


def _list_view(reply: Reply, caller: Recipient, page_button_id: Callable[[int], str]) -> EphemeralView:
    options = tuple((choice_name(each), str(each.number)) for each in reply.items)
    menu = (
        Menu(OpenMenu(caller.user_id).custom_id(), caller.words[MemoryTexts].open, options)
        if options
        else None
    )
    return reply_view(reply, caller, page_id=page_button_id, menu=menu)


async def _add(caller: Recipient, *, audience: str | None, service: Memories, **given: str) -> Reply:
    chosen, source = choose_audience(audience, caller), Source("command")
    _, reply = await memories.add(caller, audience=chosen, source=source, service=service, **given)
    return reply


async def _show(caller: Recipient, id: int, *, service: Memories) -> EphemeralView:  # noqa: A002 - the option's name
    return await _show_card(caller, await find_id(caller, id, service), service)


async def _pin(caller: Recipient, id: int, *, service: Memories) -> EphemeralView:  # noqa: A002 - likewise
    memory_id = await find_id(caller, id, service)
    return await _show_card(
        caller, memory_id, service, await memories.change(caller, "pin", memory_id, service=service)
    )


async def _show_card(
    caller: Recipient, memory_id: int, service: Memories, reply: Reply | None = None
) -> EphemeralView:
    store = service.stores.memories
    found = await store.get(caller.user_id, memory_id)
    if found is None:
        return EphemeralView(caller.words[ReceiptTexts].gone)
    versions = await store.list_versions(caller.user_id, memory_id)
    text = reply_view(reply, caller).content if reply else ""
    return memory_card(found, versions, caller, service.clock, text=text)


async def _ask_to_erase_all(caller: Recipient, *, service: Memories) -> EphemeralView:
    words, count = caller.words[MemoryBulkTexts], await service.stores.memories.count(caller.user_id)
    if not count:
        return EphemeralView(caller.words[MemoryTexts].none)
    until = service.clock() + CONFIRM_WITHIN
    yes, all_, no = (
        ConfirmButton(caller.user_id, decision, count, int(until.timestamp())).custom_id()
        for decision in ("erase", "erase-said", "cancel")
    )
    return EphemeralView(
        words.erase_all_question.format(count=count, until=timestamp(until, "t")),
        buttons=(
            Button(words.erase_all.format(count=count), yes, danger=True),
            Button(caller.words[ErasureTexts].conversations_too, all_, danger=True),
            Button(words.cancel, no),
        ),
    )


async def _import(
    caller: Recipient, file: hikari.Attachment, audience: str | None, *, service: Memories
) -> EphemeralView:
    if file.size > MAX_IMPORT_BYTES:
        raise too_large(MAX_IMPORT_BYTES)
    fetch, chosen = partial(fetch_bytes, file.url, MAX_IMPORT_BYTES), choose_audience(audience, caller)
    plan, file_to_import = await plan_import(caller, fetch, audience=chosen, service=service)
    return import_preview(plan, file_to_import, caller.user_id, service.clock() + IMPORT_WITHIN, caller.words)


MAX_FILES: Final = 10  # in one message
MAX_MARKDOWN_BYTES: Final = 8 * 2**20  # Discord takes files of 10 MiB


async def _export(caller: Recipient, format: str, *, ctx: lightbulb.Context, service: Memories) -> None:  # noqa: A002 - the option's name
    """Send all memories as files, in as many messages as needed."""
    interaction, words, readable = ctx.interaction, caller.words[MemoryBulkTexts], format == "markdown"
    async with service.export_queue.wait_turn(caller.user_id):
        async with service.export_queue.lock:
            exported = await service.stores.memories.export_all(caller.user_id)
            files = await asyncio.to_thread(_make_files, exported, caller, service.clock(), readable)
        if not exported:
            await interaction.edit_initial_response(caller.words[MemoryTexts].none)
            return
        text = (words.exported_readable if readable else words.exported).format(count=len(exported))
        if len(files) > 1:
            text = f"{text}\n{words.exported_parts.format(files=len(files))}"
        await interaction.edit_initial_response(text, attachments=files[:MAX_FILES])
        for first in range(MAX_FILES, len(files), MAX_FILES):
            more = files[first : first + MAX_FILES]
            await interaction.execute(attachments=more, flags=hikari.MessageFlag.EPHEMERAL)


def _make_files(
    exported: Sequence[PortableMemory], caller: Recipient, now: datetime, readable: bool
) -> list[hikari.Bytes]:
    """Make the files of an export. Takes seconds, so run it in a thread."""
    kind, max_bytes, max_memories = (
        ("md", MAX_MARKDOWN_BYTES, len(exported)) if readable else ("json", MAX_IMPORT_BYTES, MAX_IMPORTED)
    )
    write = memories.make_export_writer(caller, now, readable=readable)
    parts = [*split_export(exported, write, max_bytes=max_bytes, max_memories=max_memories)]
    day = now.astimezone(caller.timezone).date().isoformat()
    numbers = [""] if len(parts) == 1 else [f"-{number}" for number in range(1, len(parts) + 1)]
    return [
        hikari.Bytes(part, f"memories-{day}{number}.{kind}")
        for part, number in zip(parts, numbers, strict=True)
    ]


_declare = partial(reply_command, memory.register)
_declare(
    "memory_list",
    _list,
    category=category_option(),
    order=text_option("memory_order", default="newest", choices=choices("memory", *get_args(Order))),
)
_declare(
    "memory_search",
    _search,
    query=text_option("memory_query", max_length=MAX_QUERY_CHARACTERS),
    category=category_option(),
)
_declare(
    "memory_add",
    _add,
    content=text_option("memory_content"),
    category=category_option(),
    tags=text_option("memory_tags", default=None),
    audience=audience_option(),
    expires=text_option("memory_expires", default=None, max_length=MAX_END_CHARACTERS),
)
_declare("memory_pause", memories.pause)
_declare("memory_resume", memories.resume)
_declare("memory_stats", memories.statistics)
_declare("memory_show", _show, id=id_option())
_declare("memory_delete", memories.delete, id=id_option())
_declare("memory_delete_all", _ask_to_erase_all)
_declare("memory_pin", _pin, id=id_option())
_declare("memory_import", _import, file=file_option("memory_file"), audience=audience_option())
_declare(
    "memory_export",
    _export,
    format=text_option("memory_format", default="json", choices=choices("memory", "json", "markdown")),
)


@on_memory_press(ListButton)
async def turn_page(press: Press[ListButton], service: Memories) -> EphemeralView:
    _, button, recipient = press
    return await _list(recipient, button.category or None, button.order, button.page, service=service)


@on_memory_press(SearchButton)
async def turn_page_of_hits(press: Press[SearchButton], service: Memories) -> EphemeralView:
    interaction, button, recipient = press
    authors = (embed.author.name for embed in interaction.message.embeds if embed.author)
    query = next(filter(None, authors), "").removeprefix(_QUERY_MARK)
    return await _search(recipient, query, button.category or None, button.page, service=service)


@on_memory_press(OpenMenu, response="message")
async def open_card(press: Press[OpenMenu], service: Memories) -> EphemeralView:
    interaction, _, recipient = press
    return await _show(recipient, int(interaction.values[0]), service=service)


@on_memory_press(MemoryButton, matches=lambda button: button.action != "edit")
async def change(
    press: Press[MemoryButton], service: Memories, side_message: SideMessage, updater: ReceiptUpdater
) -> None:
    """Run a button or menu of a memory, and show the result."""
    interaction, button, recipient = press
    action, memory_id = button.action, button.memory_id
    version = int(interaction.values[0]) if interaction.values else button.former_id
    reply = await memories.change(recipient, action, memory_id, version=version, service=service)
    shown = await _show_card(recipient, memory_id, service, reply) if action in _ACTIONS_WITH_CARD else reply
    await show(interaction, shown, recipient)
    updater.refresh(recipient.user_id, recipient.words)
    if action == "erase-said":
        await side_message.refresh_stale()  # canvases lose its content, too


@on_memory_press(ConfirmButton)
async def confirm(
    press: Press[ConfirmButton], service: Memories, side_message: SideMessage, updater: ReceiptUpdater
) -> EphemeralView | None:
    """Erase all memories if there are no more than were confirmed, import the attached file, or cancel."""
    interaction, button, recipient = press
    words = recipient.words
    if button.decision == "cancel":
        return EphemeralView(words[MemoryBulkTexts].cancelled)
    if button.until < service.clock().timestamp():
        return EphemeralView(words[MemoryBulkTexts].ask_again)
    if button.decision == "import":
        return await _import_planned(interaction.message, recipient, service)
    erased = await memories.erase_all(
        recipient, max_count=button.count, conversations=button.decision == "erase-said", service=service
    )
    if erased is None:
        return await _ask_to_erase_all(recipient, service=service)
    await show(interaction, EphemeralView(words[ErasureTexts].say_erased(erased)), recipient)
    updater.refresh(recipient.user_id, recipient.words)
    await side_message.refresh_stale()
    return None


@command(memory.register, "memory_edit", id=id_option())
async def edit(
    ctx: lightbulb.Context,
    *,
    id: int,  # noqa: A002 - the option's name
    store: MemoryStore,
    recipients: Recipients,
) -> None:
    await _open_form(
        ctx.interaction,
        lambda user_id: store.get_by_number(user_id, id),
        recipients,
        missing=lambda words: explain(MemoryNotFound(id=id), words),
    )


@on_memory_press(MemoryButton, matches=lambda button: button.action == "edit", response="by_handler")
async def open_form(press: Press[MemoryButton], store: MemoryStore, recipients: Recipients) -> None:
    interaction, button, _ = press
    await _open_form(
        interaction,
        lambda user_id: store.get(user_id, button.memory_id),
        recipients,
        missing=lambda words: words[ReceiptTexts].gone,
    )


@on_memory_press(EditForm, response="message")
async def submit(press: Submission[EditForm], service: Memories, updater: ReceiptUpdater) -> EphemeralView:
    """Change the memory. Invalid input is shown again."""
    _, form, recipient = press
    content, category, tags, end = map(press.values.get, ("content", "category", "tags", "end"), [""] * 4)
    entered = MemoryForm(content, category, tags, end)
    problem, after = recipient.words[ReceiptTexts].gone, None
    before = await service.stores.memories.get(recipient.user_id, form.memory_id)
    try:
        after = before and await memories.edit(recipient, before, entered, service=service)
    except InputError as error:
        problem = explain(error, recipient.words)
    if not (before and after):
        return refused_view(problem, entered.content, recipient.words)
    updater.refresh(recipient.user_id, recipient.words)
    return edited_view(after, before, recipient.words)


async def _open_form(
    interaction: hikari.CommandInteraction | hikari.ComponentInteraction,
    find: Callable[[int], Awaitable[Memory | None]],
    recipients: Recipients,
    *,
    missing: Callable[[Texts], str],
) -> None:
    """Open the form, or say why not. It must be the first response, so the database has little time."""
    try:
        async with asyncio.timeout(FORM_TIMEOUT_S):
            recipient = await recipients.find(interaction)
            found = await find(recipient.user_id)
    except (StorageError, TimeoutError) as error:
        trouble = error if isinstance(error, StorageError) else StorageError()
        words = recipients.words(recipients.discord_locale(interaction))
        await tell(interaction, explain(trouble, words))
        return
    if found is None:
        await tell(interaction, missing(recipient.words))
        return
    title = recipient.words[MemoryCardTexts].form_title.format(id=found.number)
    form = EditForm(recipient.user_id, found.id).custom_id()
    await interaction.create_modal_response(shorten(title, 45), form, components=_form(found, recipient))


def _form(found: Memory, recipient: Recipient) -> list[ModalActionRowBuilder]:
    words, filled = recipient.words[MemoryCardTexts], asdict(memories.fill_form(found, recipient.timezone))
    lines = (
        ("content", words.content, "", MAX_CONTENT_CHARACTERS),
        ("category", words.category, recipient.words[MemoryTexts].general, MAX_CATEGORY_CHARACTERS),
        ("tags", words.form_tags, "", MAX_TAGS_CHARACTERS),
        ("end", words.form_end, words.form_end_example, MAX_END_CHARACTERS),
    )
    return [
        ModalActionRowBuilder().add_text_input(
            name,
            label,
            style=hikari.TextInputStyle.PARAGRAPH if name == "content" else hikari.TextInputStyle.SHORT,
            value=filled[name] or hikari.UNDEFINED,
            placeholder=placeholder or hikari.UNDEFINED,
            required=name == "content",
            max_length=limit,
        )
        for name, label, placeholder, limit in lines
    ]


async def _import_planned(message: hikari.Message, caller: Recipient, service: Memories) -> EphemeralView:
    words = caller.words[MemoryBulkTexts]
    try:
        if len(message.attachments) != 1:
            raise AttachmentNotFetched
        fetch = partial(fetch_bytes, message.attachments[0].url, MAX_PLANNED_BYTES)
        count = await run_import(caller, fetch, service=service)
    except AttachmentNotFetched:
        return EphemeralView(words.attach_again)
    return EphemeralView(words.imported.format(count=count))
