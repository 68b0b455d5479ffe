"""`/memory` on Discord. All replies are ephemeral."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
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
from cc_bot.discord.delivery.side_messages import SideMessages
from cc_bot.discord.handlers import (
    Choice,
    Press,
    Submission,
    choices,
    command,
    file_option,
    make_reporter,
    number_option,
    on_press,
    reply_command,
    show,
    suggest_from,
    text_option,
)
from cc_bot.discord.interactions import MAX_AUTOCOMPLETE_CHOICES, tell
from cc_bot.discord.pages.custom_ids import (
    ConfirmButton,
    EditForm,
    ListButton,
    MemoryButton,
    OpenButton,
    SearchButton,
)
from cc_bot.discord.pages.page import (
    Button,
    EphemeralView,
    escape_markdown,
    file_url_of,
    reply_view,
    texts_of,
    timestamp,
    unescape_markdown,
)
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.domain.errors import AttachmentNotFetched, InputError, StorageError
from cc_bot.domain.text import shorten
from cc_bot.features.memory import service as memories
from cc_bot.features.memory.errors import MemoryNotFound
from cc_bot.features.memory.files import MAX_IMPORT_BYTES, MAX_IMPORT_COUNT, PortableMemory, split_export
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
    MAX_PLAN_FILE_BYTES,
    MAX_QUERY_CHARACTERS,
    MAX_TAGS_CHARACTERS,
    MemoryForm,
    MemoryService,
    find_id,
    plan_import,
    run_import,
)
from cc_bot.features.memory.stores.store import MemoryStore
from cc_bot.features.memory.texts import MemoryBulkTexts, MemoryCardTexts, MemoryTexts, ReceiptTexts
from cc_bot.features.memory.views import (
    build_card,
    build_edited_view,
    build_preview,
    build_refused_view,
    format_choice,
)
from cc_bot.features.privacy.texts import ErasureTexts
from cc_bot.texts import Texts, explain

loader = lightbulb.Loader()
memory = lightbulb.Group("memory", "memory_description", localize=True)
loader.command(memory)

on_memory_press = partial(on_press, not_yours=lambda words: words[ReceiptTexts].not_yours)

CONFIRM_WITHIN: Final = timedelta(minutes=5)
IMPORT_WITHIN: Final = timedelta(minutes=30)  # time to read the file
FORM_TIMEOUT_S: Final = 1.0  # for the database, before a form
_QUERY_MARK: Final = "🔍 "  # before the query, which `turn_hits_page` reads from the message
_ACTIONS_WITH_CARD: Final = ("anywhere", "private", "restore", "pin", "unpin", "undo-edit")


async def suggest_memories(
    ctx: lightbulb.AutocompleteContext[int], store: MemoryStore = lightbulb.di.INJECTED
) -> list[Choice]:
    typed = str(ctx.focused.value or "")
    suggested = await store.suggest(int(ctx.interaction.user.id), typed, limit=MAX_AUTOCOMPLETE_CHOICES)
    return [(format_choice(Item(each.number, each.content)), each.number) for each in suggested]


async def suggest_categories(
    ctx: lightbulb.AutocompleteContext[str],
    store: MemoryStore = lightbulb.di.INJECTED,
    recipients: Recipients = lightbulb.di.INJECTED,
) -> Sequence[Choice]:
    """Suggest matching categories: first those that begin with the input, largest first."""
    recipient = await recipients.find(ctx.interaction)
    typed = str(ctx.focused.value or "").strip().casefold()
    categories = await store.list_categories(recipient.user_id)
    names = (recipient.words[MemoryTexts].shown_category(name) for name, _ in categories)
    matches = [name for name in names if typed in name.casefold()]
    return sorted(matches, key=lambda name: not name.casefold().startswith(typed))


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


def parse_audience(option: str | None, caller: Caller) -> Audience:
    """Return the chosen audience. The default is 'private' in a DM, else 'anywhere'."""
    if option is None:
        return "private" if caller.guild_id is None else "anywhere"
    return "private" if option == "private" else "anywhere"


async def _show_list(
    caller: Recipient,
    category: str | None = None,
    order: str = "newest",
    page: int = 1,
    *,
    service: MemoryService,
) -> EphemeralView:
    reply = await memories.list_memories(caller, category=category, order=order, page=page, service=service)
    valid_order: Order = next((each for each in get_args(Order) if each == order), "newest")
    return _build_list_view(
        reply, caller, lambda page: ListButton(caller.user_id, valid_order, page, category or "").custom_id()
    )


async def _show_hits(
    caller: Recipient, query: str, category: str | None, page: int = 1, *, service: MemoryService
) -> EphemeralView:
    reply = await memories.search(caller, query=query, category=category, page=page, service=service)
    view = _build_list_view(
        reply, caller, lambda page: SearchButton(caller.user_id, page, category or "").custom_id()
    )
    searched = f"{_QUERY_MARK}{escape_markdown(' '.join(query.split()))}"
    return replace(view, content=searched) if view.paragraphs else view


def _build_list_view(reply: Reply, caller: Recipient, page_id: Callable[[int], str]) -> EphemeralView:
    def open_buttons(item: Item) -> tuple[Button, ...]:
        open_id = OpenButton(caller.user_id, item.number).custom_id()
        return (Button(caller.words[MemoryTexts].open, open_id),)

    return reply_view(reply, caller, page_id=page_id, buttons_of_item=open_buttons)


async def _add(caller: Recipient, *, audience: str | None, service: MemoryService, **fields: str) -> Reply:
    valid_audience, source = parse_audience(audience, caller), Source("command")
    _, reply = await memories.add(caller, audience=valid_audience, source=source, service=service, **fields)
    return reply


async def _show_memory(caller: Recipient, id: int, *, service: MemoryService) -> EphemeralView:  # noqa: A002 - the option's name
    return await _show_card(caller, await find_id(caller, id, service), service)


async def _pin_memory(caller: Recipient, id: int, *, service: MemoryService) -> EphemeralView:  # noqa: A002 - likewise
    memory_id = await find_id(caller, id, service)
    reply = await memories.run_action(caller, "pin", memory_id, service=service)
    return await _show_card(caller, memory_id, service, reply)


async def _show_card(
    caller: Recipient, memory_id: int, service: MemoryService, reply: Reply | None = None
) -> EphemeralView:
    store = service.stores.memories
    stored = await store.get(caller.user_id, memory_id)
    if stored is None:
        return EphemeralView(caller.words[ReceiptTexts].gone)
    versions = await store.list_versions(caller.user_id, memory_id)
    text = reply_view(reply, caller).content if reply else ""
    return build_card(stored, versions, caller, service.clock, text=text)


async def _ask_to_erase_all(caller: Recipient, *, service: MemoryService) -> EphemeralView:
    words, count = caller.words[MemoryBulkTexts], await service.stores.memories.count(caller.user_id)
    if not count:
        return EphemeralView(caller.words[MemoryTexts].none)
    until = service.clock() + CONFIRM_WITHIN
    erase_id, erase_said_id, cancel_id = (
        ConfirmButton(caller.user_id, decision, count, int(until.timestamp())).custom_id()
        for decision in ("erase", "erase-said", "cancel")
    )
    return EphemeralView(
        words.erase_all_question.format(count=count, until=timestamp(until, "t")),
        buttons=(
            Button(words.erase_all.format(count=count), erase_id, danger=True),
            Button(caller.words[ErasureTexts].conversations_too, erase_said_id, danger=True),
            Button(words.cancel, cancel_id),
        ),
    )


async def _preview_import(
    caller: Recipient, file: hikari.Attachment, audience: str | None, *, service: MemoryService
) -> EphemeralView:
    if file.size > MAX_IMPORT_BYTES:
        raise too_large(MAX_IMPORT_BYTES)
    fetch, until = partial(fetch_bytes, file.url, MAX_IMPORT_BYTES), service.clock() + IMPORT_WITHIN
    valid_audience = parse_audience(audience, caller)
    plan, import_file = await plan_import(caller, fetch, audience=valid_audience, service=service)
    return build_preview(plan, import_file, caller.user_id, until, caller.words)


MAX_FILES: Final = 10  # in one message
MAX_MARKDOWN_BYTES: Final = 8 * 2**20  # Discord takes files of 10 MiB


async def _export(caller: Recipient, format: str, *, ctx: lightbulb.Context, service: MemoryService) -> None:  # noqa: A002 - the option's name
    interaction, words, readable = ctx.interaction, caller.words[MemoryBulkTexts], format == "markdown"
    async with service.export_queue.wait_for_earlier(caller.user_id):
        async with service.export_queue.lock:
            exported = await service.stores.memories.export_all(caller.user_id)
            files = await asyncio.to_thread(_build_files, exported, caller, service.clock(), readable)
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


def _build_files(
    exported: Sequence[PortableMemory], caller: Recipient, now: datetime, readable: bool
) -> list[hikari.Bytes]:
    """Build the files of an export. This takes seconds, so call it in a thread."""
    extension, max_bytes, max_memories = "json", MAX_IMPORT_BYTES, MAX_IMPORT_COUNT
    if readable:
        extension, max_bytes, max_memories = "md", MAX_MARKDOWN_BYTES, len(exported)
    write = memories.make_export_writer(caller, now, readable=readable)
    files = [*split_export(exported, write, max_bytes=max_bytes, max_memories=max_memories)]
    day = now.astimezone(caller.timezone).date().isoformat()
    suffixes = [""] if len(files) == 1 else [f"-{number}" for number in range(1, len(files) + 1)]
    return [
        hikari.Bytes(file, f"memories-{day}{suffix}.{extension}")
        for file, suffix in zip(files, suffixes, strict=True)
    ]


_add_command = partial(reply_command, memory.register)
_add_command(
    "memory_list",
    _show_list,
    shown_as="memory",
    category=category_option(),
    order=text_option("memory_order", default="newest", choices=choices("memory", *get_args(Order))),
)
_add_command(
    "memory_search",
    _show_hits,
    query=text_option("memory_query", max_length=MAX_QUERY_CHARACTERS),
    category=category_option(),
)
_add_command(
    "memory_add",
    _add,
    content=text_option("memory_content"),
    category=category_option(),
    tags=text_option("memory_tags", default=None),
    audience=audience_option(),
    expires=text_option("memory_expires", default=None, max_length=MAX_END_CHARACTERS),
)
_add_command("memory_pause", memories.pause)
_add_command("memory_resume", memories.resume)
_add_command("memory_show", _show_memory, id=id_option())
_add_command("memory_delete", memories.delete, id=id_option())
_add_command("memory_delete_all", _ask_to_erase_all)
_add_command("memory_pin", _pin_memory, id=id_option())
_add_command("memory_import", _preview_import, file=file_option("memory_file"), audience=audience_option())
_add_command(
    "memory_export",
    _export,
    format=text_option("memory_format", default="json", choices=choices("memory", "json", "markdown")),
)


@on_memory_press(ListButton)
async def turn_list_page(press: Press[ListButton], service: MemoryService) -> EphemeralView:
    _, button, caller = press
    return await _show_list(caller, button.category or None, button.order, button.page, service=service)


@on_memory_press(SearchButton)
async def turn_hits_page(press: Press[SearchButton], service: MemoryService) -> EphemeralView:
    interaction, button, caller = press
    query = unescape_markdown(next(texts_of(interaction.message), "").removeprefix(_QUERY_MARK))
    return await _show_hits(caller, query, button.category or None, button.page, service=service)


@on_memory_press(OpenButton, response="message")
async def open_card(press: Press[OpenButton], service: MemoryService) -> EphemeralView:
    _, button, caller = press
    return await _show_memory(caller, button.number, service=service)


@on_memory_press(MemoryButton, matches=lambda button: button.action != "edit")
async def run_action(
    press: Press[MemoryButton], service: MemoryService, side_messages: SideMessages, updater: ReceiptUpdater
) -> None:
    interaction, button, caller = press
    action, memory_id = button.action, button.memory_id
    version = int(interaction.values[0]) if interaction.values else button.former_id
    reply = await memories.run_action(caller, action, memory_id, version=version, service=service)
    with_card = action in _ACTIONS_WITH_CARD
    view = await _show_card(caller, memory_id, service, reply) if with_card else reply
    await show(interaction, view, caller)
    updater.redraw_outdated(caller.user_id, caller.words)
    if action == "erase-said":
        await side_messages.refresh_outdated()  # the erasure may have changed canvases


@on_memory_press(ConfirmButton)
async def run_decision(
    press: Press[ConfirmButton], service: MemoryService, side_messages: SideMessages, updater: ReceiptUpdater
) -> EphemeralView | None:
    """Import the attached file, erase all memories unless there are more than confirmed, or cancel."""
    interaction, button, caller = press
    words = caller.words
    if button.decision == "cancel":
        return EphemeralView(words[MemoryBulkTexts].cancelled)
    if button.until < service.clock().timestamp():
        return EphemeralView(words[MemoryBulkTexts].ask_again)
    if button.decision == "import":
        return await _run_import(interaction, caller, service)
    erased = await memories.erase_all(
        caller, max_count=button.count, conversations=button.decision == "erase-said", service=service
    )
    if erased is None:
        return await _ask_to_erase_all(caller, service=service)
    await show(interaction, EphemeralView(words[ErasureTexts].say_erased(erased)), caller)
    updater.redraw_outdated(caller.user_id, caller.words)
    await side_messages.refresh_outdated()
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
        explain_missing=lambda words: explain(MemoryNotFound(id=id), words),
    )


@on_memory_press(MemoryButton, matches=lambda button: button.action == "edit", response="by_handler")
async def open_form(press: Press[MemoryButton], store: MemoryStore, recipients: Recipients) -> None:
    interaction, button, _ = press
    await _open_form(
        interaction,
        lambda user_id: store.get(user_id, button.memory_id),
        recipients,
        explain_missing=lambda words: words[ReceiptTexts].gone,
    )


@on_memory_press(EditForm, response="message")
async def submit_form(
    press: Submission[EditForm], service: MemoryService, updater: ReceiptUpdater
) -> EphemeralView:
    """Change the memory, or show why not with the entered text."""
    _, form, caller = press
    content, category, tags, end = map(press.values.get, ("content", "category", "tags", "end"), [""] * 4)
    entered = MemoryForm(content, category, tags, end)
    problem, after = caller.words[ReceiptTexts].gone, None
    before = await service.stores.memories.get(caller.user_id, form.memory_id)
    try:
        after = before and await memories.edit(caller, before, entered, service=service)
    except InputError as error:
        problem = explain(error, caller.words)
    if not (before and after):
        return build_refused_view(problem, entered.content, caller.words)
    updater.redraw_outdated(caller.user_id, caller.words)
    return build_edited_view(after, before, caller.words)


async def _open_form(
    interaction: hikari.CommandInteraction | hikari.ComponentInteraction,
    find: Callable[[int], Awaitable[Memory | None]],
    recipients: Recipients,
    *,
    explain_missing: Callable[[Texts], str],
) -> None:
    """Open the form, or say why not. A form must be the first response, which Discord awaits for 3 s."""
    try:
        async with asyncio.timeout(FORM_TIMEOUT_S):
            caller = await recipients.find(interaction)
            stored = await find(caller.user_id)
    except (StorageError, TimeoutError) as error:
        problem = error if isinstance(error, StorageError) else StorageError()
        words = recipients.words(recipients.discord_locale(interaction))
        await tell(interaction, explain(problem, words))
        return
    if stored is None:
        await tell(interaction, explain_missing(caller.words))
        return
    title = shorten(caller.words[MemoryCardTexts].form_title.format(id=stored.number), 45)
    custom_id = EditForm(caller.user_id, stored.id).custom_id()
    await interaction.create_modal_response(title, custom_id, components=_build_form(stored, caller))


def _build_form(stored: Memory, caller: Recipient) -> list[ModalActionRowBuilder]:
    words, values = caller.words[MemoryCardTexts], asdict(memories.fill_form(stored, caller.timezone))
    fields = (
        ("content", words.content, "", MAX_CONTENT_CHARACTERS),
        ("category", words.category, caller.words[MemoryTexts].general, MAX_CATEGORY_CHARACTERS),
        ("tags", words.form_tags, "", MAX_TAGS_CHARACTERS),
        ("end", words.form_end, words.form_end_example, MAX_END_CHARACTERS),
    )
    return [
        ModalActionRowBuilder().add_text_input(
            name,
            label,
            style=hikari.TextInputStyle.PARAGRAPH if name == "content" else hikari.TextInputStyle.SHORT,
            value=values[name] or hikari.UNDEFINED,
            placeholder=placeholder or hikari.UNDEFINED,
            required=name == "content",
            max_length=max_length,
        )
        for name, label, placeholder, max_length in fields
    ]


async def _run_import(
    interaction: hikari.ComponentInteraction, caller: Recipient, service: MemoryService
) -> EphemeralView:
    words = caller.words[MemoryBulkTexts]
    try:
        if (url := file_url_of(interaction.message)) is None:
            raise AttachmentNotFetched
        fetch = partial(fetch_bytes, url, MAX_PLAN_FILE_BYTES)
        report = make_reporter(interaction, caller, words.importing)
        ids = await run_import(caller, fetch, service=service, report=report)
    except AttachmentNotFetched:
        return EphemeralView(words.attach_again)
    return EphemeralView(words.imported.format(count=len(ids)))
