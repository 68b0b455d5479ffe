"""`/memory …` and the actions of its pages."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.commands.reply import Action, Caller, Item, Reply
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import MemoryNotFound, MemoryPaused
from cc_bot.domain.memory import (
    DEFAULT_CATEGORY,
    UNDO_TIME,
    WORDING,
    Audience,
    ErasureCounts,
    FoundMemory,
    Memory,
    Order,
    Source,
    parse_end,
    read_category,
    read_tags,
    write_end,
)
from cc_bot.domain.text import one_line, shorten
from cc_bot.in_order import ExportQueue
from cc_bot.stores import Keep, Stores
from cc_bot.stores.memory.removal import HiddenMemory

PAGE_SIZE: Final = 8
MAX_FOUND: Final = 48
"""Hits shown."""
UNSURE_BELOW: Final = 0.4
"""Hits of lower confidence are marked."""
MAX_QUOTED: Final = 700
"""Characters of a memory quoted in a sentence."""
MAX_TAGS_CHARACTERS: Final = 1100
"""Characters of all tags in a form."""
_END_OF_DAY: Final = timedelta(seconds=1)


@dataclass(eq=False, slots=True)
class Memories:
    """The services of memory commands. `line` queues imports and exports and is shared by the process."""

    stores: Stores
    line: ExportQueue
    clock: Clock


# ---- lists -----------------------------------------------------------------------------------------------


async def list_memories(
    caller: Caller,
    *,
    category: str | None = None,
    order: str = "newest",
    page: int = 1,
    page_size: int = PAGE_SIZE,
    service: Memories,
) -> Reply:
    """List a page of the caller's memories, optionally of one category. A page past the end shows the last
    one."""
    texts, memories = caller.words.memory, service.stores.memories
    stored = texts.stored_category(category) or None
    shown = caller.text(texts.shown_category(stored or ""))
    count = await memories.count(caller.user_id, category=stored)
    if not count:
        return Reply((texts.none_in_category.format(category=shown) if stored else texts.none,))
    pages = -(-count // page_size)
    page = min(max(page, 1), pages)
    orders: dict[str, Order] = {"oldest": "oldest", "updated": "updated"}
    listed = await memories.list(
        caller.user_id,
        category=stored,
        limit=page_size,
        order=orders.get(order, "newest"),
        offset=(page - 1) * page_size,
    )
    title = texts.category_title if stored else texts.list_title
    notes = {"oldest": (texts.oldest_first,), "updated": (texts.changed_first,)}.get(order, ())
    found = [FoundMemory(each, 1.0) for each in listed]
    told = title.format(category=shown, count=count)
    return _page(caller, told, found, page=page, pages=pages, notes=notes, service=service)


async def search(
    caller: Caller, *, query: str, category: str | None = None, page: int = 1, service: Memories
) -> Reply:
    """List a page of the memories that match a query, best first."""
    texts, query = caller.words.memory, " ".join(query.split())
    if not query:
        return Reply((texts.query_needed,))
    hits = await service.stores.memories.find(
        caller.user_id,
        query,
        limit=MAX_FOUND,
        category=texts.stored_category(category) or None,
        audience="private",
    )
    if not hits:
        return Reply((texts.no_match.format(query=caller.text(query)),))
    pages = -(-len(hits) // PAGE_SIZE)
    page = min(max(page, 1), pages)
    shown = hits[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    title = texts.hits_title.format(count=len(hits))
    return _page(caller, title, shown, page=page, pages=pages, service=service)


def _page(
    caller: Caller,
    title: str,
    found: Sequence[FoundMemory],
    *,
    page: int,
    pages: int,
    notes: tuple[str, ...] = (),
    service: Memories,
) -> Reply:
    items = tuple(memory_item(each, caller, service.clock) for each in found)
    if any(each.memory.audience == "private" for each in found):
        notes = (*notes, caller.words.memory.private_mark)
    return Reply(title=title, notes=notes, items=items, page=page, pages=pages)


def memory_item(found: FoundMemory, caller: Caller, clock: Clock) -> Item:
    memory, texts = found.memory, caller.words.memory
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
    """Write when a memory ends, or that it has expired; empty if it has no end."""
    if memory.expires_at is None:
        return ""
    if memory.is_expired(clock()):
        return caller.words.memory.expired
    return caller.words.memory.until.format(date=caller.day(memory.expires_at - _END_OF_DAY))


async def statistics(caller: Caller, *, service: Memories) -> Reply:
    """Show the number of memories, by category and source, and their dates."""
    texts, kept = caller.words.memory_box, await service.stores.memories.get_statistics(caller.user_id)
    paused = (texts.paused,) if caller.memory_paused else ()
    if not kept.count:
        return Reply((*paused, caller.words.memory.none))
    lines = [*paused]
    if kept.private:
        lines.append(texts.private.format(count=kept.private))
    if kept.expired:
        lines.append(texts.expired.format(count=kept.expired))
    if kept.oldest and kept.newest:
        lines.append(texts.span.format(oldest=caller.day(kept.oldest), newest=caller.day(kept.newest)))
    most = kept.categories[0][1]
    for name, count in kept.categories[:_BARS]:
        shown = caller.text(caller.words.memory.shown_category(name), 30)
        lines.append(texts.bar.format(bar=_bar(count, most), name=shown, count=count))
    if rest := kept.categories[_BARS:]:
        count = sum(number for _, number in rest)
        lines.append(texts.other_categories.format(categories=len(rest), count=count))
    names = texts.source_names
    sources = (texts.source_count.format(name=names[kind], count=count) for kind, count in kept.sources)
    title = texts.statistics_title.format(count=kept.count)
    return Reply(tuple(lines), title=title, notes=(f"{texts.sources}: {' ・ '.join(sources)}",))


_BARS: Final = 8
_CELLS: Final = 8


def _bar(count: int, most: int) -> str:
    """A bar for a share of the largest count, at least one cell; fixed width, so that bars align on a
    phone."""
    filled = max(1, round(_CELLS * count / most))
    return "▰" * filled + "▱" * (_CELLS - filled)


# ---- changes ---------------------------------------------------------------------------------------------


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
    """Store a memory. Raises MemoryPaused, and an InputError for invalid input."""
    if caller.memory_paused:
        raise MemoryPaused
    texts = caller.words.memory
    kept = await service.stores.memories.add(
        caller.user_id,
        content,
        category=texts.stored_category(read_category(category or "")) or DEFAULT_CATEGORY,
        tags=read_tags(tags or ""),
        source=source,
        audience=audience,
        expires_at=parse_end(expires, service.clock(), caller.timezone),
    )
    return kept, kept_reply(texts.added, kept, caller)


def kept_reply(template: str, memory: Memory, caller: Caller) -> Reply:
    """Confirm a stored memory, with its audience and end if limited."""
    texts = caller.words.memory
    notes = [texts.private_only] if memory.audience == "private" else []
    if memory.expires_at is not None:
        notes.append(texts.until.format(date=caller.day(memory.expires_at - _END_OF_DAY)))
    return Reply((_sentence(template, memory, caller),), notes=tuple(notes))


async def delete(caller: Caller, *, id: int, service: Memories) -> Reply:  # noqa: A002 - the option's name
    """Hide the memory of a number. Raises MemoryNotFound."""
    return await hide(caller, await row_of(caller, id, service), service=service)


async def row_of(caller: Caller, number: int, service: Memories) -> int:
    """Return the id of the caller's memory of this number, including hidden ones. Raises MemoryNotFound."""
    found = await service.stores.memories.get_id(caller.user_id, number)
    if found is None:
        raise MemoryNotFound(id=number)
    return found


async def hide(caller: Caller, memory_id: int, *, service: Memories) -> Reply:
    """Hide a memory; idempotent."""
    hidden = await service.stores.memory_removal.hide(caller.user_id, memory_id)
    return hidden_reply(hidden, caller) if hidden else Reply((caller.words.receipt.gone,))


def hidden_reply(hidden: HiddenMemory, caller: Caller) -> Reply:
    """Confirm the deletion, with the time limit for undo and actions to erase at once."""
    texts, memory = caller.words.memory, hidden.memory
    until = texts.undo_until.format(until=caller.at(hidden.since + UNDO_TIME))
    return Reply(
        (_sentence(texts.deleted, memory, caller),),
        notes=(until, texts.still_told),
        actions=(
            Action(texts.undo, "undelete_memory", memory.id, f"/memory undo {memory.number}"),
            Action(texts.erase_now, "erase_memory", memory.id),
            Action(caller.words.erasure.conversations_too, "erase_memory_said", memory.id),
        ),
        receipts_changed=True,
    )


async def undelete(caller: Caller, memory_id: int, *, service: Memories) -> Reply:
    """Undo a deletion; idempotent. Raises TooManyMemories or MemoryFull."""
    back = await have_back(caller, memory_id, service=service)
    texts = caller.words.memory
    if back is None:
        return Reply((texts.too_late,))
    return Reply((_sentence(texts.undeleted, back, caller),), receipts_changed=True)


async def have_back(caller: Caller, memory_id: int, *, service: Memories) -> Memory | None:
    """Undo a deletion and return the memory; idempotent. None if it is too late. Raises TooManyMemories or
    MemoryFull."""
    kept = await service.stores.memories.get(caller.user_id, memory_id)
    return kept or await service.stores.memory_removal.undelete(caller.user_id, memory_id)


async def erase(caller: Caller, *memory_ids: int, said: bool, service: Memories) -> Reply:
    """Erase memories for good; with `said`, also from conversations."""
    texts = caller.words.erasure
    mark = texts.mark if said else None
    erased = await service.stores.memory_removal.erase(caller.user_id, *memory_ids, mark=mark)
    return Reply((texts.told(erased or ErasureCounts()),), receipts_changed=True)


async def pause(caller: Caller, *, service: Memories) -> Reply:
    """Stop storing and using memories."""
    await service.stores.settings.pause_memory(caller.user_id, True)
    return Reply((caller.words.memory.paused,), notes=(caller.words.memory.how_to_resume,))


async def resume(caller: Caller, *, service: Memories) -> Reply:
    await service.stores.settings.pause_memory(caller.user_id, False)
    return Reply((caller.words.memory.resumed,))


def _sentence(template: str, memory: Memory, caller: Caller) -> str:
    return template.format(id=memory.number, content=caller.text(memory.content, MAX_QUOTED))


# ---- form ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MemoryForm:
    content: str = ""
    category: str = ""
    tags: str = ""
    end: str = ""
    """The last day on which it holds, or another phrase for that."""
    audience: Audience | None = None
    """None: not asked in the form."""


def fill_form(kept: Memory, zone: ZoneInfo) -> MemoryForm:
    """Fill in a form. It loses detail: a tag of several words looks like several tags, an end within a day
    like the end of that day."""
    return MemoryForm(
        kept.content,
        "" if kept.category == DEFAULT_CATEGORY else kept.category,
        shorten(", ".join(map(one_line, kept.tags)), MAX_TAGS_CHARACTERS),
        write_end(kept.expires_at, zone),
        kept.audience,
    )


def mark_of(kept: Memory) -> str:
    """A hash of what the form shows, to detect later changes."""
    said = repr([getattr(kept, name) for name in (*WORDING, "audience")])
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]


async def edit(caller: Caller, before: Memory, entered: MemoryForm, *, service: Memories) -> Memory | None:
    """Apply the changes made in the form; None if the memory is deleted. Raises MemoryEditOutdated if it has
    changed since `before`, and an InputError for invalid input."""
    filled, texts = fill_form(before, caller.timezone), caller.words.memory
    return await service.stores.memories.update(
        caller.user_id,
        before.id,
        only_as=before,
        content=entered.content,
        category=texts.stored_category(read_category(entered.category)) or DEFAULT_CATEGORY,
        tags=None if entered.tags == filled.tags else read_tags(entered.tags),
        expires_at=Keep.AS_IS
        if entered.end == filled.end
        else parse_end(entered.end, service.clock(), caller.timezone),
        audience=entered.audience,
    )
