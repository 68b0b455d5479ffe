"""`/memory …`, the buttons of memories, and their files, for all front ends."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final, get_args
from zoneinfo import ZoneInfo

from cc_bot.chat.context.attachments import read_memory_file
from cc_bot.chat.reply import Action, Caller, Item, Reply
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.settings import Keep
from cc_bot.concurrency import ExportQueue
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import MemoryNotFound, MemoryPaused
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.memory.files import MAX_IMPORT_BYTES, ImportPlan, PortableMemory, to_json
from cc_bot.features.memory.model import (
    ALL_MEMORIES,
    DEFAULT_CATEGORY,
    UNDO_TIME,
    VERSIONED,
    Audience,
    ErasureCounts,
    FoundMemory,
    Memory,
    MemoryFilter,
    Order,
    Source,
    format_end,
    parse_end,
    read_category,
    read_tags,
)
from cc_bot.features.memory.stores.removal import HiddenMemory
from cc_bot.features.memory.texts import (
    MemoryBulkTexts,
    MemoryCardTexts,
    MemoryTexts,
    ReceiptTexts,
    to_markdown,
)
from cc_bot.features.privacy.texts import ErasureTexts

PAGE_SIZE: Final = 8
MAX_FOUND: Final = 60  # shown hits of a search
UNSURE_BELOW: Final = 0.4  # hits of lower confidence are marked
MAX_QUOTED_CHARACTERS: Final = 700  # of a memory in a sentence
MAX_TAGS_CHARACTERS: Final = 1100  # for all tags in a form
MAX_END_CHARACTERS: Final = 40
MAX_QUERY_CHARACTERS: Final = 200
_END_OF_DAY: Final = timedelta(seconds=1)
_MAX_BARS: Final = 8
_BAR_WIDTH: Final = 8


@dataclass(eq=False, slots=True)
class Memories:
    """The services that the front ends share. `line` queues imports and exports."""

    stores: Stores
    export_queue: ExportQueue
    clock: Clock


@dataclass(frozen=True, slots=True)
class MemoryPage:
    found: Sequence[FoundMemory]
    count: int  # for all pages; a search counts up to MAX_FOUND + 1
    page: int
    pages: int


async def find_page(
    caller: Caller,
    *,
    query: str = "",
    only: MemoryFilter = ALL_MEMORIES,
    order: str = "newest",
    page: int = 1,
    page_size: int = PAGE_SIZE,
    service: Memories,
) -> MemoryPage:
    """Return a page of the caller's memories, best or newest first. Past the end: the last page."""
    memories, user_id, hits = service.stores.memories, caller.user_id, list[FoundMemory]()
    if query:
        hits = await memories.find(user_id, query, limit=MAX_FOUND + 1, audience="private", only=only)
    count = len(hits) if query else await memories.count(user_id, only=only)
    pages = max(1, -(-min(count, MAX_FOUND if query else count) // page_size))
    page = min(max(page, 1), pages)
    offset = (page - 1) * page_size
    if query:
        return MemoryPage(hits[:MAX_FOUND][offset : offset + page_size], count, page, pages)
    valid_order: Order = next((each for each in get_args(Order) if each == order), "newest")
    listed = await memories.list(user_id, only=only, limit=page_size, order=valid_order, offset=offset)
    return MemoryPage([FoundMemory(each, 1.0) for each in listed], count, page, pages)


async def list_memories(
    caller: Caller,
    *,
    category: str | None = None,
    order: str = "newest",
    page: int = 1,
    page_size: int = PAGE_SIZE,
    service: Memories,
) -> Reply:
    texts = caller.words[MemoryTexts]
    stored = texts.stored_category(category) or None
    shown = caller.text(texts.shown_category(stored or ""))
    only = MemoryFilter(category=stored)
    listed = await find_page(caller, only=only, order=order, page=page, page_size=page_size, service=service)
    if not listed.count:
        return Reply((texts.none_in_category.format(category=shown) if stored else texts.none,))
    title = texts.category_title if stored else texts.list_title
    notes = {"oldest": (texts.oldest_first,), "updated": (texts.changed_first,)}.get(order, ())
    return _page(caller, title.format(category=shown, count=listed.count), listed, service, notes)


async def search(
    caller: Caller, *, query: str, category: str | None = None, page: int = 1, service: Memories
) -> Reply:
    texts, query = caller.words[MemoryTexts], " ".join(query.split())
    if not query:
        return Reply((texts.query_needed,))
    only = MemoryFilter(category=texts.stored_category(category) or None)
    listed = await find_page(caller, query=query, only=only, page=page, service=service)
    if not listed.count:
        return Reply((texts.no_match.format(query=caller.text(query)),))
    return _page(caller, texts.hits_title.format(count=min(listed.count, MAX_FOUND)), listed, service)


def _page(
    caller: Caller, title: str, listed: MemoryPage, service: Memories, notes: tuple[str, ...] = ()
) -> Reply:
    items = tuple(memory_item(each, caller, service.clock) for each in listed.found)
    if any(each.memory.audience == "private" for each in listed.found):
        notes = (*notes, caller.words[MemoryTexts].private_mark)
    return Reply(title=title, notes=notes, items=items, page=listed.page, pages=listed.pages)


def memory_item(found: FoundMemory, caller: Caller, clock: Clock) -> Item:
    memory, texts = found.memory, caller.words[MemoryTexts]
    marks = ("📌" if memory.pinned else "") + ("🔒" if memory.audience == "private" else "")
    details = (
        marks,
        texts.unsure if found.confidence < UNSURE_BELOW else "",
        caller.text(texts.shown_category(memory.category), 25),
        caller.text(" ".join(f"#{tag}" for tag in memory.tags), 40),
        caller.day(memory.updated_at),
        end_mark(memory, caller, clock),
    )
    return Item(memory.number, memory.content, tuple(filter(None, details)))


def end_mark(memory: Memory, caller: Caller, clock: Clock) -> str:
    if memory.expires_at is None:
        return ""
    if memory.is_expired(clock()):
        return caller.words[MemoryTexts].expired
    return caller.words[MemoryTexts].until.format(date=caller.day(memory.expires_at - _END_OF_DAY))


async def statistics(caller: Caller, *, service: Memories) -> Reply:
    texts, counted = (
        caller.words[MemoryBulkTexts],
        await service.stores.memories.get_statistics(caller.user_id),
    )
    paused = (texts.paused,) if caller.memory_paused else ()
    if not counted.count:
        return Reply((*paused, caller.words[MemoryTexts].none))
    lines = [*paused]
    if counted.private:
        lines.append(texts.private.format(count=counted.private))
    if counted.expired:
        lines.append(texts.expired.format(count=counted.expired))
    if counted.oldest and counted.newest:
        lines.append(texts.span.format(oldest=caller.day(counted.oldest), newest=caller.day(counted.newest)))
    largest = counted.categories[0][1]
    for name, count in counted.categories[:_MAX_BARS]:
        shown = caller.text(caller.words[MemoryTexts].shown_category(name), 30)
        lines.append(texts.bar.format(bar=_bar(count, largest), name=shown, count=count))
    if rest := counted.categories[_MAX_BARS:]:
        count = sum(number for _, number in rest)
        lines.append(texts.other_categories.format(categories=len(rest), count=count))
    names = texts.source_names
    sources = (texts.source_count.format(name=names[kind], count=count) for kind, count in counted.sources)
    title = texts.statistics_title.format(count=counted.count)
    return Reply(tuple(lines), title=title, notes=(f"{texts.sources}: {' ・ '.join(sources)}",))


def _bar(count: int, largest: int) -> str:
    """Draw a bar of fixed width with at least one filled cell."""
    filled = max(1, round(_BAR_WIDTH * count / largest))
    return "▰" * filled + "▱" * (_BAR_WIDTH - filled)


async def add(
    caller: Caller,
    *,
    content: str,
    category: str | None = None,
    tags: str | None = None,
    audience: Audience,
    expires: str | None = None,
    source: Source,
    service: Memories,
) -> tuple[Memory, Reply]:
    """Store a memory, or update one with the same text. Raises MemoryPaused and InputError."""
    _ensure_not_paused(caller)
    texts, memories = caller.words[MemoryTexts], service.stores.memories
    change = await memories.remember(
        caller.user_id,
        content,
        category=texts.stored_category(read_category(category or "")) or DEFAULT_CATEGORY,
        tags=read_tags(tags or ""),
        source=source,
        audience=audience,
        expires_at=parse_end(expires, service.clock(), caller.timezone),
    )
    if change.memory.audience != audience:
        updated = await memories.update(caller.user_id, change.memory.id, audience=audience)
        change = replace(change, memory=updated or change.memory)
    unadded = caller.words[ReceiptTexts].unchanged if change.unchanged else caller.words[ReceiptTexts].updated
    return change.memory, saved_reply(
        texts.added if change.kind == "added" else unadded, change.memory, caller
    )


def saved_reply(template: str, memory: Memory, caller: Caller) -> Reply:
    texts = caller.words[MemoryTexts]
    notes = [texts.private_only] if memory.audience == "private" else []
    if memory.expires_at is not None:
        notes.append(texts.until.format(date=caller.day(memory.expires_at - _END_OF_DAY)))
    return Reply((_format_sentence(template, memory, caller),), notes=tuple(notes))


async def delete(caller: Caller, *, id: int, service: Memories) -> Reply:  # noqa: A002 - the option's name
    return await hide(caller, await find_id(caller, id, service), service=service)


async def find_id(caller: Caller, number: int, service: Memories) -> int:
    """Return the id of the caller's memory, even if hidden. Raises MemoryNotFound."""
    found = await service.stores.memories.get_id(caller.user_id, number)
    if found is None:
        raise MemoryNotFound(id=number)
    return found


async def hide(caller: Caller, memory_id: int, *, service: Memories) -> Reply:
    hidden = await service.stores.memory_removal.hide(caller.user_id, memory_id)
    return hidden_reply(hidden, caller) if hidden else Reply((caller.words[ReceiptTexts].gone,))


def hidden_reply(hidden: HiddenMemory, caller: Caller) -> Reply:
    texts, memory = caller.words[MemoryTexts], hidden.memory
    until = texts.undo_until.format(until=caller.at(hidden.hidden_at + UNDO_TIME))
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


async def change(
    caller: Caller, action: str, memory_id: int, *, version: int = 0, service: Memories
) -> Reply:
    """Run a button's action. Raises TooManyPinned, TooManyMemories or MemoryFull.

    Actions: delete, undelete, erase, erase-said (also from conversations), restore and undo-edit (with a
    version), pin, unpin, private, anywhere.
    """
    memories, removal, user_id = service.stores.memories, service.stores.memory_removal, caller.user_id
    texts, card, notes = caller.words[MemoryTexts], caller.words[MemoryCardTexts], tuple[str, ...]()
    changed: Memory | None = None
    success, failure = "", caller.words[ReceiptTexts].gone
    match action:
        case "delete":
            return await hide(caller, memory_id, service=service)
        case "erase" | "erase-said":
            erasure = caller.words[ErasureTexts]
            stub = erasure.mark if action == "erase-said" else None
            erased = await removal.erase(user_id, memory_id, stub=stub)
            return Reply((erasure.say_erased(erased or ErasureCounts()),), receipts_changed=True)
        case "undelete":
            changed = await memories.get(user_id, memory_id) or await removal.undelete(user_id, memory_id)
            success, failure = texts.undeleted, texts.too_late
        case "restore":
            changed = await memories.restore(user_id, memory_id, version)
            success, failure = card.restored, card.former_gone
        case "undo-edit":
            changed = await memories.undo_update(user_id, memory_id, version)
            success, failure = card.edit_undone, card.edit_not_undone
        case "pin":
            changed = await memories.pin(user_id, memory_id)
            success, notes = card.pinned, (card.pin_use(changed, memories.profile_notes),) if changed else ()
        case "unpin":
            changed, success = await memories.unpin(user_id, memory_id), card.unpinned
        case _:
            audience: Audience = "private" if action == "private" else "anywhere"
            changed = await memories.update(user_id, memory_id, audience=audience)
    sentence = _format_sentence(success, changed, caller) if changed else failure
    return Reply((sentence,) if sentence else (), notes=notes, receipts_changed=changed is not None)


async def erase_all(
    caller: Caller, *, max_count: int, conversations: bool, service: Memories
) -> ErasureCounts | None:
    """Erase all memories; if there are more than `max_count`, none, and return None."""
    if await service.stores.memories.count(caller.user_id) > max_count:
        return None
    stub = caller.words[ErasureTexts].mark if conversations else None
    return await service.stores.memory_removal.erase_all(caller.user_id, stub=stub)


async def pause(caller: Caller, *, service: Memories) -> Reply:
    await service.stores.settings.set(caller.user_id, memory_paused=True)
    return Reply((caller.words[MemoryTexts].paused,), notes=(caller.words[MemoryTexts].how_to_resume,))


async def resume(caller: Caller, *, service: Memories) -> Reply:
    await service.stores.settings.set(caller.user_id, memory_paused=False)
    return Reply((caller.words[MemoryTexts].resumed,))


def _format_sentence(template: str, memory: Memory, caller: Caller) -> str:
    number = caller.words[ReceiptTexts].number.format(id=memory.number)
    content = caller.text(memory.content, MAX_QUOTED_CHARACTERS)
    return template.format(id=memory.number, number=number, content=content)


@dataclass(frozen=True, slots=True)
class MemoryForm:
    content: str = ""
    category: str = ""
    tags: str = ""
    end: str = ""  # the last day, as `parse_end` reads it
    audience: Audience | None = None  # None: not in the form


def fill_form(memory: Memory, zone: ZoneInfo) -> MemoryForm:
    """Fill in a form. A tag of several words becomes several tags."""
    return MemoryForm(
        memory.content,
        "" if memory.category == DEFAULT_CATEGORY else memory.category,
        shorten(", ".join(map(one_line, memory.tags)), MAX_TAGS_CHARACTERS),
        format_end(memory.expires_at, zone),
        memory.audience,
    )


def form_hash(memory: Memory) -> str:
    """Return a hash of the form's content, to detect changes."""
    shown = repr([getattr(memory, name) for name in (*VERSIONED, "audience")])
    return hashlib.sha256(shown.encode("utf-8", "replace")).hexdigest()[:32]


async def edit(caller: Caller, before: Memory, entered: MemoryForm, *, service: Memories) -> Memory | None:
    """Store the changes of a form; return None if the memory is gone. Raises InputError, and
    MemoryEditOutdated if it changed since `before`."""
    filled, texts = fill_form(before, caller.timezone), caller.words[MemoryTexts]
    return await service.stores.memories.update(
        caller.user_id,
        before.id,
        expected=before,
        content=entered.content,
        category=texts.stored_category(read_category(entered.category)) or DEFAULT_CATEGORY,
        tags=None if entered.tags == filled.tags else read_tags(entered.tags),
        expires_at=Keep.AS_IS
        if entered.end == filled.end
        else parse_end(entered.end, service.clock(), caller.timezone),
        audience=entered.audience,
    )


MAX_PLANNED_BYTES: Final = 8 * MAX_IMPORT_BYTES  # a planned import may be larger than its file

Fetch = Callable[[], Awaitable[bytes]]


def make_export_writer(
    caller: Caller, now: datetime, *, readable: bool
) -> Callable[[Sequence[PortableMemory]], str]:
    if readable:
        return partial(to_markdown, words=caller.words, now=now, zone=caller.timezone)
    return partial(to_json, exported_at=now)


async def export_file(caller: Caller, *, readable: bool, service: Memories) -> AsyncIterator[bytes]:
    """Yield all memories as one JSON or Markdown file; nothing without memories. Raises
    EarlierFilesInProgress."""
    async with service.export_queue.wait_turn(caller.user_id):
        async with service.export_queue.lock:
            exported, now = await service.stores.memories.export_all(caller.user_id), service.clock()
            file = await asyncio.to_thread(make_export_writer(caller, now, readable=readable), exported)
        if exported:
            yield file.encode("utf-8", "replace")


async def plan_import(
    caller: Caller, fetch: Fetch, *, audience: Audience, service: Memories
) -> tuple[ImportPlan, str]:
    """Return a preview of an import, and the new memories as a file for `run_import`.

    `audience` is for memories without one. Raises MemoryPaused, InputError, and what `fetch` raises.
    """
    _ensure_not_paused(caller)
    store = service.stores.memories
    async with service.export_queue.wait_turn(caller.user_id):
        await store.admit_import(caller.user_id)
        data = await fetch()
        async with service.export_queue.lock:
            read = await asyncio.to_thread(read_memory_file, data)
            plan = await store.plan_import(caller.user_id, read, audience=audience)
            return plan, await asyncio.to_thread(to_json, plan.new, service.clock())


async def run_import(caller: Caller, fetch: Fetch, *, service: Memories) -> int:
    """Store the memories of a file from `plan_import`. Returns their number; raises as `plan_import`."""
    _ensure_not_paused(caller)
    async with service.export_queue.wait_turn(caller.user_id):
        data = await fetch()
        async with service.export_queue.lock:
            read = await asyncio.to_thread(read_memory_file, data)
            return await service.stores.memories.import_all(caller.user_id, read)


def _ensure_not_paused(caller: Caller) -> None:
    if caller.memory_paused:
        raise MemoryPaused
