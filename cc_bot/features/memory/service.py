"""The actions of `/memory`, its buttons and its files, for all front ends."""

import asyncio
import hashlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final, get_args
from zoneinfo import ZoneInfo

from cc_bot.chat.context.attachments import read_memory_file
from cc_bot.chat.reply import Action, Caller, Item, Reply
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.settings import Keep
from cc_bot.concurrency import ExportQueue, Report, report_nothing
from cc_bot.domain.clock import UNDO_TIME, Clock
from cc_bot.domain.errors import MemoryPaused
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.memory.errors import MemoryNotFound
from cc_bot.features.memory.files import MAX_IMPORT_BYTES, ImportPlan, PortableMemory, to_json
from cc_bot.features.memory.model import (
    ALL_MEMORIES,
    DEFAULT_CATEGORY,
    VERSIONED_FIELDS,
    Audience,
    ErasureCounts,
    FoundMemory,
    ListOrder,
    Memory,
    MemoryFilter,
    Source,
    format_expiry,
    parse_category,
    parse_expiry,
    parse_tags,
)
from cc_bot.features.memory.stores.removal import HiddenMemory
from cc_bot.features.memory.texts import MemoryCardTexts, MemoryTexts, ReceiptTexts, to_markdown
from cc_bot.features.privacy.texts import ErasureTexts

PAGE_SIZE: Final = 8
MAX_HITS: Final = 60  # of a search
MIN_SURE_CONFIDENCE: Final = 0.4  # hits with a lower confidence are marked as unsure
MAX_QUOTED_CHARACTERS: Final = 700  # of a memory that a sentence quotes
MAX_TAGS_CHARACTERS: Final = 1100  # all tags in a form
MAX_END_CHARACTERS: Final = 40
MAX_QUERY_CHARACTERS: Final = 200
JUST_BEFORE: Final = timedelta(seconds=1)  # subtracted so that an end at midnight is shown as the day before


@dataclass(eq=False, slots=True)
class MemoryService:
    stores: Stores
    export_queue: ExportQueue
    clock: Clock


@dataclass(frozen=True, slots=True)
class MemoryPage:
    found: Sequence[FoundMemory]
    total: int  # memories on all pages; for a search at most MAX_HITS + 1
    number: int
    page_count: int


async def find_page(
    caller: Caller,
    *,
    query: str = "",
    filters: MemoryFilter = ALL_MEMORIES,
    order: str = "newest",
    page: int = 1,
    page_size: int = PAGE_SIZE,
    service: MemoryService,
) -> MemoryPage:
    """Return a page of the matches or, without a query, of all memories. Past the end: the last page."""
    store, user_id, hits = service.stores.memories, caller.user_id, list[FoundMemory]()
    if query:
        hits = await store.find(user_id, query, limit=MAX_HITS + 1, audience="private", filters=filters)
    total = len(hits) if query else await store.count(user_id, filters=filters)
    page_count = max(1, math.ceil(min(total, MAX_HITS if query else total) / page_size))
    page = min(max(page, 1), page_count)
    offset = (page - 1) * page_size
    if query:
        return MemoryPage(hits[:MAX_HITS][offset : offset + page_size], total, page, page_count)
    valid_order: ListOrder = next((each for each in get_args(ListOrder) if each == order), "newest")
    memories = await store.list(user_id, filters=filters, limit=page_size, order=valid_order, offset=offset)
    return MemoryPage([FoundMemory(each, confidence=1.0) for each in memories], total, page, page_count)


async def list_memories(
    caller: Caller,
    *,
    category: str | None = None,
    order: str = "newest",
    page: int = 1,
    page_size: int = PAGE_SIZE,
    service: MemoryService,
) -> Reply:
    texts = caller.words[MemoryTexts]
    filters = MemoryFilter(category=category or None)
    memory_page = await find_page(
        caller, filters=filters, order=order, page=page, page_size=page_size, service=service
    )
    shown_category = caller.format_text(texts.shown_category(category or ""))
    if not memory_page.total:
        none_in_category = texts.none_in_category.format(category=shown_category)
        return Reply((none_in_category if category else texts.none,))
    title = texts.category_title if category else texts.list_title
    notes = {"oldest": (texts.oldest_first,), "updated": (texts.changed_first,)}.get(order, ())
    if caller.memory_paused:
        notes = (*notes, texts.paused_mark)
    title = title.format(category=shown_category, count=memory_page.total)
    return _build_page_reply(caller, title, memory_page, service, notes)


async def search(
    caller: Caller,
    *,
    query: str,
    category: str | None = None,
    page: int = 1,
    page_size: int = PAGE_SIZE,
    service: MemoryService,
) -> Reply:
    texts, query = caller.words[MemoryTexts], " ".join(query.split())
    if not query:
        return Reply((texts.query_needed,))
    filters = MemoryFilter(category=category or None)
    memory_page = await find_page(
        caller, query=query, filters=filters, page=page, page_size=page_size, service=service
    )
    if not memory_page.total:
        return Reply((texts.no_match.format(query=caller.format_text(query)),))
    title = texts.hits_title.format(count=min(memory_page.total, MAX_HITS))
    return _build_page_reply(caller, title, memory_page, service)


def _build_page_reply(
    caller: Caller, title: str, page: MemoryPage, service: MemoryService, notes: tuple[str, ...] = ()
) -> Reply:
    items = tuple(build_item(each, caller, service.clock) for each in page.found)
    if any(each.memory.audience == "private" for each in page.found):
        notes = (*notes, caller.words[MemoryTexts].private_mark)
    return Reply(title=title, notes=notes, items=items, page=page.number, pages=page.page_count)


def build_item(found: FoundMemory, caller: Caller, clock: Clock) -> Item:
    memory, texts = found.memory, caller.words[MemoryTexts]
    marks = ("📌" if memory.pinned else "") + ("🔒" if memory.audience == "private" else "")
    details = (
        marks,
        texts.unsure if found.confidence < MIN_SURE_CONFIDENCE else "",
        caller.format_day(memory.updated_at),
        describe_expiry(memory, caller, clock),
    )
    category = caller.format_text(memory.category, 25) if memory.category != DEFAULT_CATEGORY else ""
    labels = (category, caller.format_text(" ".join(f"#{tag}" for tag in memory.tags), 40))
    return Item(memory.number, memory.content, tuple(filter(None, details)), labels=labels)


def describe_expiry(memory: Memory, caller: Caller, clock: Clock) -> str:
    if memory.expires_at is None:
        return ""
    if memory.is_expired(clock()):
        return caller.words[MemoryTexts].expired
    return caller.words[MemoryTexts].until.format(date=caller.format_day(memory.expires_at - JUST_BEFORE))


async def add(
    caller: Caller,
    *,
    content: str,
    category: str | None = None,
    tags: str | None = None,
    audience: Audience,
    expires: str | None = None,
    source: Source,
    service: MemoryService,
) -> tuple[Memory, Reply]:
    """Store a memory, or update the memory with the same text. Raises MemoryPaused and InputError."""
    _ensure_not_paused(caller)
    texts, store = caller.words[MemoryTexts], service.stores.memories
    change = await store.remember(
        caller.user_id,
        content,
        category=parse_category(category or "") or DEFAULT_CATEGORY,
        tags=parse_tags(tags or ""),
        source=source,
        audience=audience,
        expires_at=parse_expiry(expires, service.clock(), caller.timezone),
    )
    memory, receipt_texts = change.memory, caller.words[ReceiptTexts]
    if memory.audience != audience:
        memory = await store.update(caller.user_id, memory.id, audience=audience) or memory
    templates = {"added": texts.added, "updated": receipt_texts.updated, "unchanged": receipt_texts.unchanged}
    return memory, build_saved_reply(templates[change.receipt_kind], memory, caller)


def build_saved_reply(template: str, memory: Memory, caller: Caller) -> Reply:
    texts = caller.words[MemoryTexts]
    notes = [texts.private_only] if memory.audience == "private" else []
    if memory.expires_at is not None:
        notes.append(texts.until.format(date=caller.format_day(memory.expires_at - JUST_BEFORE)))
    return Reply((_format_sentence(template, memory, caller),), notes=tuple(notes))


async def delete(caller: Caller, *, id: int, service: MemoryService) -> Reply:  # noqa: A002 - the option's name
    return await hide(caller, await find_id(caller, id, service), service=service)


async def find_id(caller: Caller, number: int, service: MemoryService) -> int:
    """Return the id of the memory with this number, even of a hidden memory. Raises MemoryNotFound."""
    memory_id = await service.stores.memories.get_id(caller.user_id, number)
    if memory_id is None:
        raise MemoryNotFound(id=number)
    return memory_id


async def hide(caller: Caller, memory_id: int, *, service: MemoryService) -> Reply:
    hidden = await service.stores.memory_removal.hide(caller.user_id, memory_id)
    return build_hidden_reply(hidden, caller) if hidden else Reply((caller.words[ReceiptTexts].gone,))


def build_hidden_reply(hidden: HiddenMemory, caller: Caller) -> Reply:
    texts, memory = caller.words[MemoryTexts], hidden.memory
    until = texts.undo_until.format(until=caller.format_time(hidden.hidden_at + UNDO_TIME))
    return Reply(
        (_format_sentence(texts.deleted, memory, caller),),
        notes=(until, texts.conversations_remain),
        actions=(
            Action(texts.undo, "undelete", memory.id, f"/memory undo {memory.number}"),
            Action(texts.erase_now, "erase", memory.id),
            Action(caller.words[ErasureTexts].conversations_too, "erase-said", memory.id),
        ),
        receipts_changed=True,
    )


async def run_action(
    caller: Caller, action: str, memory_id: int, *, version: int = 0, service: MemoryService
) -> Reply:
    """Run the action of a button. Raises TooManyPinned, TooManyMemories or MemoryFull.

    Actions: delete, undelete, erase, erase-said (erases from conversations, too), restore and undo-edit
    (`version` is the id of a former version), pin, unpin, private, anywhere.
    """
    store, removal, user_id = service.stores.memories, service.stores.memory_removal, caller.user_id
    texts, card, notes = caller.words[MemoryTexts], caller.words[MemoryCardTexts], tuple[str, ...]()
    changed: Memory | None = None
    success, failure = "", caller.words[ReceiptTexts].gone
    match action:
        case "delete":
            return await hide(caller, memory_id, service=service)
        case "erase" | "erase-said":
            return await _erase(caller, memory_id, conversations=action == "erase-said", service=service)
        case "undelete":
            changed = await store.get(user_id, memory_id) or await removal.undelete(user_id, memory_id)
            success, failure = texts.undeleted, texts.too_late
        case "restore":
            changed = await store.restore(user_id, memory_id, version)
            success, failure = card.restored, card.former_gone
        case "undo-edit":
            changed = await store.undo_update(user_id, memory_id, version)
            success, failure = card.edit_undone, card.edit_not_undone
        case "pin":
            changed = await store.pin(user_id, memory_id)
            success, notes = (
                card.pinned,
                (card.pin_use(changed, store.max_prompt_memories),) if changed else (),
            )
        case "unpin":
            changed, success = await store.unpin(user_id, memory_id), card.unpinned
        case _:
            audience: Audience = "private" if action == "private" else "anywhere"
            changed = await store.update(user_id, memory_id, audience=audience)
    sentence = _format_sentence(success, changed, caller) if changed else failure
    return Reply((sentence,) if sentence else (), notes=notes, receipts_changed=changed is not None)


async def _erase(caller: Caller, memory_id: int, *, conversations: bool, service: MemoryService) -> Reply:
    texts = caller.words[ErasureTexts]
    stub = texts.mark if conversations else None
    erased = await service.stores.memory_removal.erase(caller.user_id, memory_id, stub=stub)
    return Reply((texts.say_erased(erased or ErasureCounts()),), receipts_changed=True)


async def erase_all(
    caller: Caller, *, max_count: int, conversations: bool, service: MemoryService
) -> ErasureCounts | None:
    """Erase all memories; if the user has more than `max_count`, erase none and return None."""
    if await service.stores.memories.count(caller.user_id) > max_count:
        return None
    stub = caller.words[ErasureTexts].mark if conversations else None
    return await service.stores.memory_removal.erase_all(caller.user_id, stub=stub)


async def pause(caller: Caller, *, service: MemoryService) -> Reply:
    await service.stores.settings.set(caller.user_id, memory_paused=True)
    return Reply((caller.words[MemoryTexts].paused,), notes=(caller.words[MemoryTexts].how_to_resume,))


async def resume(caller: Caller, *, service: MemoryService) -> Reply:
    await service.stores.settings.set(caller.user_id, memory_paused=False)
    return Reply((caller.words[MemoryTexts].resumed,))


def _format_sentence(template: str, memory: Memory, caller: Caller) -> str:
    number = caller.words[ReceiptTexts].number.format(id=memory.number)
    content = caller.format_text(memory.content, MAX_QUOTED_CHARACTERS)
    return template.format(id=memory.number, number=number, content=content)


@dataclass(frozen=True, slots=True)
class MemoryForm:
    content: str = ""
    category: str = ""
    tags: str = ""
    end: str = ""  # of validity, in a form that `parse_expiry` reads
    audience: Audience | None = None  # None if the form has no such field


def fill_form(memory: Memory, zone: ZoneInfo) -> MemoryForm:
    return MemoryForm(
        memory.content,
        "" if memory.category == DEFAULT_CATEGORY else memory.category,
        shorten(", ".join(map(one_line, memory.tags)), MAX_TAGS_CHARACTERS),
        format_expiry(memory.expires_at, zone),
        memory.audience,
    )


def form_hash(memory: Memory) -> str:
    """Return a hash of the fields in the form, to detect that the memory has changed."""
    fields = repr([getattr(memory, name) for name in (*VERSIONED_FIELDS, "audience")])
    return hashlib.sha256(fields.encode("utf-8", "replace")).hexdigest()[:32]


async def edit(
    caller: Caller, before: Memory, entered: MemoryForm, *, service: MemoryService
) -> Memory | None:
    """Store the changes of a form; None if the memory no longer exists. Raises InputError, and
    MemoryEditOutdated if the memory changed since `before`."""
    filled = fill_form(before, caller.timezone)
    expires_at: datetime | Keep | None = Keep.AS_IS
    if entered.end != filled.end:
        expires_at = parse_expiry(entered.end, service.clock(), caller.timezone)
    return await service.stores.memories.update(
        caller.user_id,
        before.id,
        expected=before,
        content=entered.content,
        category=parse_category(entered.category) or DEFAULT_CATEGORY,
        tags=None if entered.tags == filled.tags else parse_tags(entered.tags),
        expires_at=expires_at,
        audience=entered.audience,
    )


MAX_PLAN_FILE_BYTES: Final = 8 * MAX_IMPORT_BYTES  # of a file from `plan_import`, longer than the sent file

FetchFile = Callable[[], Awaitable[bytes]]


def make_export_writer(
    caller: Caller, now: datetime, *, readable: bool
) -> Callable[[Sequence[PortableMemory]], str]:
    if readable:
        return partial(to_markdown, words=caller.words, now=now, zone=caller.timezone)
    return partial(to_json, exported_at=now)


async def export_file(caller: Caller, *, readable: bool, service: MemoryService) -> AsyncIterator[bytes]:
    """Yield a JSON or Markdown file of all memories, if there are any. Raises EarlierFilesInProgress."""
    async with service.export_queue.wait_for_earlier(caller.user_id):
        async with service.export_queue.lock:
            exported, now = await service.stores.memories.export_all(caller.user_id), service.clock()
            file = await asyncio.to_thread(make_export_writer(caller, now, readable=readable), exported)
        if exported:
            yield file.encode("utf-8", "replace")


async def plan_import(
    caller: Caller, fetch: FetchFile, *, audience: Audience, service: MemoryService
) -> tuple[ImportPlan, str]:
    """Return a plan, and a file of the new memories for `run_import`. Memories without an audience get
    `audience`. Raises MemoryPaused, InputError, and the errors of `fetch`."""
    _ensure_not_paused(caller)
    store = service.stores.memories
    async with service.export_queue.wait_for_earlier(caller.user_id):
        await store.admit_import(caller.user_id)
        data = await fetch()
        async with service.export_queue.lock:
            memories = await asyncio.to_thread(read_memory_file, data)
            plan = await store.plan_import(caller.user_id, memories, audience=audience)
            return plan, await asyncio.to_thread(to_json, plan.memories, service.clock())


async def run_import(
    caller: Caller, fetch: FetchFile, *, service: MemoryService, report: Report = report_nothing
) -> Sequence[int]:
    """Store the memories of a file from `plan_import`, and return their ids."""
    _ensure_not_paused(caller)
    async with service.export_queue.wait_for_earlier(caller.user_id):
        data = await fetch()
        async with service.export_queue.lock:
            memories = await asyncio.to_thread(read_memory_file, data)
            return await service.stores.memories.import_all(caller.user_id, memories, report)


def _ensure_not_paused(caller: Caller) -> None:
    if caller.memory_paused:
        raise MemoryPaused
