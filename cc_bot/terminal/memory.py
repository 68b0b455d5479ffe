"""The `/memory` commands, and a memory as plain text."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, TypeVar

from prompt_toolkit.completion import Completion

from cc_bot.context.attachments import read_memory_file, too_large
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import MemoryNotFound, MemoryPaused, StorageError
from cc_bot.domain.memory import (
    DEFAULT_CATEGORY,
    ErasureCounts,
    Memory,
    MemoryStatistics,
    Source,
    parse_end,
    parse_tags,
)
from cc_bot.domain.memory_transfer import MAX_IMPORT_BYTES, ImportPlan, importable_parts
from cc_bot.domain.text import printable
from cc_bot.stores import Keep
from cc_bot.terminal.commands import (
    FILE,
    Argument,
    Chat,
    Option,
    OptionalFile,
    Person,
    Switch,
    command,
    completion_of,
    number_of,
    read_file,
    write_new,
    write_or_complain,
)
from cc_bot.terminal.markdown import one_line, set_apart
from cc_bot.terminal.view import MemoryPage, strip_marks, tag_words
from cc_bot.texts import Texts
from cc_bot.texts.memory import to_markdown

T = TypeVar("T")
PAGE: Final = 20
RESULTS: Final = 10
OFFERED: Final = 25
EXAMPLES: Final = 5
"""Of what an import would bring."""
BARS: Final = 12
CELLS: Final = 10

# ---- what is typed ---------------------------------------------------------------------------------------


async def memories_like(chat: Chat, typed: str) -> Iterable[Completion]:
    """Return those whose number or text the word is part of; the newest when there is no word."""
    try:
        found = await chat.stores.memories.suggest(chat.user_id, typed.strip(), limit=OFFERED)
    except StorageError:
        return ()  # the command itself will say so
    abouts = (filter(None, (one_line(each.content, 60), tag_words(each))) for each in found)
    return [
        completion_of(each.number, typed, " ".join(about)) for each, about in zip(found, abouts, strict=True)
    ]


def _id_needed(words: Texts) -> str:
    return words.memory.id_needed


MemoryNumber = Annotated[int, Argument("number", number_of, needed=_id_needed, completions=memories_like)]
Category = Annotated[str | None, Option("category name")]
Tags = Annotated[tuple[str, ...] | None, Option("names", parse_tags, spaced=True)]
Until = Annotated[str | None, Option("date")]
MemoryFile = Annotated[
    str, replace(FILE, optional=False, needed=lambda words: words.terminal.memory_file_needed)
]

# ---- looking ---------------------------------------------------------------------------------------------


@command("memory list")
async def list_memories(
    chat: Chat,
    named: Annotated[str | None, Argument("category", optional=True)],
    before: Annotated[int | None, Option(read=number_of)],
    category: Annotated[str | None, Option()],
) -> None:
    words, given = chat.texts, category or named
    stored = words.memory.stored_category(given)
    before_id = None if before is None else await _row_of(chat, before)
    found = await chat.stores.memories.list(
        chat.user_id, category=stored, limit=PAGE + 1, before_id=before_id
    )
    if not found:
        none = words.memory.none_in_category.format(category=one_line(given or ""))
        chat.say(none if stored else words.memory.none)
        return
    count = await chat.stores.memories.count(chat.user_id, category=stored)
    title, more = words.memory.list_title.format(count=count), None
    if len(found) > PAGE:
        of = f' --category "{given}"' if given else ""
        older = f"/memory list{of} --before {found[PAGE - 1].number}"
        more = words.terminal.older_memories.format(command=older)
    page = MemoryPage(title, found[:PAGE], chat.person.timezone, utc_now(), more)
    chat.view.memories(page, words)


@command("memory search")
async def search_memories(
    chat: Chat,
    query: Annotated[str, Argument("words", needed=lambda words: words.memory.query_needed)],
    category: Category,
) -> None:
    words = chat.texts
    found = await chat.stores.memories.search(
        chat.user_id,
        query,
        limit=RESULTS,
        category=words.memory.stored_category(category),
        audience="private",
    )
    if not found:
        chat.say(words.memory.no_match.format(query=one_line(query)))
        return
    title = words.memory.search_title.format(query=one_line(query), count=len(found))
    chat.view.memories(MemoryPage(title, found, chat.person.timezone, utc_now()), words)


@command("memory show")
async def show_memory(chat: Chat, number: MemoryNumber) -> None:
    await _show(chat, number)


@command("memory stats")
async def count_memories(chat: Chat) -> None:
    chat.say(statistics_text(await chat.stores.memories.get_statistics(chat.user_id), chat.person))


# ---- keeping and changing --------------------------------------------------------------------------------


@command("memory add")
async def add_memory(
    chat: Chat,
    *,
    content: Annotated[str, Argument("content")],
    category: Category,
    tags: Tags,
    until: Until,
    private: Switch,
) -> None:
    """Raise an InputError for what can't be kept."""
    if chat.person.settings.memory_paused:
        raise MemoryPaused
    words = chat.texts.memory
    memory = await chat.stores.memories.add(
        chat.user_id,
        content,
        category=words.stored_category(category) or DEFAULT_CATEGORY,
        tags=tags or (),
        source=Source("terminal"),
        audience="private" if private else "anywhere",
        expires_at=parse_end(until, utc_now(), chat.person.timezone),
    )
    chat.say(words.added.format(id=memory.number, content=one_line(memory.content)))


@command("memory edit", at_least=2)
async def edit_memory(
    chat: Chat,
    *,
    number: MemoryNumber,
    content: Annotated[str | None, Argument("content", optional=True)],
    category: Category,
    tags: Tags,
    until: Until,
) -> None:
    """Change what is given; what is None stays as it is."""
    changed = await chat.stores.memories.update(
        chat.user_id,
        await _row_of(chat, number),
        content=content,
        category=chat.texts.memory.stored_category(category),
        tags=tags,
        expires_at=Keep.AS_IS
        if until is None
        else parse_end(until.removeprefix("-"), utc_now(), chat.person.timezone),
    )
    _need(changed, number)
    await _show(chat, number, said=chat.texts.memory_card.edited.format(id=number))


@command("memory pin")
async def pin_memory(chat: Chat, number: MemoryNumber, off: Switch) -> None:
    words, pins = chat.texts.memory_card, chat.stores.memory_pins
    change = pins.unpin if off else pins.pin
    memory = _need(await change(chat.user_id, await _row_of(chat, number)), number)
    told = words.unpinned.format(id=memory.number) if off else words.pin_told(memory, pins.told)
    chat.say(strip_marks(told))


@command("memory pause")
async def pause_memory(chat: Chat) -> None:
    await _pause(chat, paused=True)


@command("memory resume")
async def resume_memory(chat: Chat) -> None:
    await _pause(chat, paused=False)


async def _pause(chat: Chat, *, paused: bool) -> None:
    await chat.stores.settings.pause_memory(chat.user_id, paused)
    words = chat.texts.memory
    chat.say(strip_marks(words.paused if paused else words.resumed))


# ---- taking back -----------------------------------------------------------------------------------------


@command("memory undo")
async def undo_memory(chat: Chat, number: MemoryNumber) -> None:
    """Take back what was last done to it: its deletion, else its newest change."""
    words, history, user_id = chat.texts, chat.stores.memory_history, chat.user_id
    back = await chat.stores.memory_removal.undelete(user_id, await _row_of(chat, number))
    if back is not None:
        chat.say(words.memory.undeleted.format(id=number, content=one_line(back.content)))
        return
    memory = await _memory_of(chat, number)
    said = words.memory_card.edit_undone.format(id=number)
    if await history.undo_update(user_id, memory.id, memory.supersedes or 0) is not None:
        await _show(chat, number, said=said)
    elif memory.supersedes is not None and await history.undo_add(user_id, memory.id):
        revived = await chat.stores.memories.get(user_id, memory.supersedes)
        await _show(chat, revived.number if revived else number, said=said)
    else:
        chat.complain(words.terminal.nothing_to_undo.format(id=number))


@command("memory restore")
async def restore_memory(
    chat: Chat,
    number: MemoryNumber,
    which: Annotated[int | None, Argument("which", number_of, optional=True, needed=_id_needed)],
) -> None:
    """Go back to a former version: the first is the one before what it says now."""
    words, history = chat.texts.memory_card, chat.stores.memory_history
    memory, version = await _memory_of(chat, number), which or 1
    wanted = (await history.list_versions(chat.user_id, memory.id))[version - 1 : version]
    change = await history.restore(chat.user_id, wanted[0].id) if wanted else None
    if change is None:
        chat.complain(words.former_gone)
    else:
        await _show(chat, number, said=words.restored.format(id=number))


@command("memory delete")
async def delete_memory(chat: Chat, number: MemoryNumber, now: Switch) -> None:
    """Delete it so that it can be undone; with `now`, for good."""
    words = chat.texts
    if now:
        erased = await chat.stores.memory_removal.erase(chat.user_id, await _row_of(chat, number))
        _tell_erased(chat, _need(erased, number), words)
        return
    memory = await _memory_of(chat, number)
    _need(await chat.stores.memories.delete(chat.user_id, memory.id) or None, number)
    chat.say(words.memory.deleted.format(id=number, content=one_line(memory.content)))
    chat.say(words.terminal.how_to_undo.format(command=f"/memory undo {number}"))


@command("memory delete-all")
async def delete_all_memories(
    chat: Chat, count: Annotated[int | None, Argument("count", number_of, optional=True)]
) -> None:
    """Erase all, if there are as many as was said; else only ask."""
    words, kept = chat.texts, await chat.stores.memories.count(chat.user_id)
    if not kept:
        chat.say(words.memory.none)
    elif count != kept:
        confirmation = f"/memory delete-all {kept}"
        chat.say(words.terminal.delete_all.format(count=kept, command=confirmation))
    else:
        _tell_erased(chat, await chat.stores.memory_removal.erase_all(chat.user_id), words)


def _tell_erased(chat: Chat, erased: ErasureCounts, words: Texts) -> None:
    chat.say(strip_marks(words.erasure.told(erased)))


# ---- files -----------------------------------------------------------------------------------------------


@command("memory export")
async def export_memories(chat: Chat, path: OptionalFile) -> None:
    """Write all, as Markdown if the file is called so, else as JSON, and then in several if it takes them."""
    words, now = chat.texts, utc_now()
    kept = await chat.stores.memory_transfer.list_all(chat.user_id)
    if not kept:
        chat.say(words.memory.none)
        return
    name = path or f"memories-{chat.person.day(now)}.json"

    def write() -> list[Path]:
        readable = name.lower().endswith((".md", ".markdown"))
        parts = (
            [to_markdown(kept, words, now, chat.person.timezone)] if readable else importable_parts(kept, now)
        )
        data = [part.encode("utf-8", "replace") for part in parts]
        return [write_new(name, part, at if len(data) > 1 else None) for at, part in enumerate(data, 1)]

    if await write_or_complain(chat, name, asyncio.to_thread(write)):
        chat.say(words.terminal.exported.format(count=len(kept), path=one_line(name)))


@command("memory import")
async def import_memories(chat: Chat, now: Switch, path: MemoryFile) -> None:
    """Tell what a file would bring; with `now`, take it over.

    Raise MemoryPaused, AttachmentTooLarge, ImportNotUnderstood, TooManyToImport, TooManyImports,
    TooManyMemories or MemoryFull."""
    if chat.person.settings.memory_paused:
        raise MemoryPaused
    words, transfer = chat.texts, chat.stores.memory_transfer
    data = await read_file(chat, path, MAX_IMPORT_BYTES + 1)
    if data is None:
        return
    if len(data) > MAX_IMPORT_BYTES:
        raise too_large(MAX_IMPORT_BYTES)
    await transfer.admit(chat.user_id)
    plan = await transfer.plan(chat.user_id, await asyncio.to_thread(read_memory_file, data))
    if now:
        count = await transfer.take(chat.user_id, plan.new)
        chat.say(words.memory_box.imported.format(count=count))
    else:
        chat.say(plan_text(plan, path, words))


def plan_text(plan: ImportPlan, path: str, words: Texts) -> str:
    """Return what an import would do, with some of what is new, and how to have it done."""
    told, new = words.memory_box, len(plan.new)
    refused = told.import_reasons(plan)
    lines = [told.import_title, told.import_new.format(count=new).replace("*", "")]
    if plan.known:
        lines.append(told.import_known.format(count=plan.known))
    if refused:
        lines.append(told.import_refused.format(count=plan.refused, reasons=refused))
    if not new:
        return "\n".join((*lines, told.nothing_to_import))
    lines.append(told.examples)
    lines += [f"  {one_line(memory.content, 70)}" for memory in plan.new[:EXAMPLES]]
    lines.append(words.terminal.import_now.format(command=f"/memory import --now {path}"))
    return "\n".join(lines)


# ---- a memory --------------------------------------------------------------------------------------------


def _need(found: T | None, number: int) -> T:
    """Return what was found of the memory of this number. Raises MemoryNotFound for None."""
    if found is None:
        raise MemoryNotFound(id=number)
    return found


async def _row_of(chat: Chat, number: int) -> int:
    """Return the id of the memory of this number, hidden ones included. Raises MemoryNotFound."""
    return _need(await chat.stores.memories.get_id(chat.user_id, number), number)


async def _memory_of(chat: Chat, number: int) -> Memory:
    """Return the memory of this number. Raises MemoryNotFound."""
    return _need(await chat.stores.memories.get_by_number(chat.user_id, number), number)


async def _show(chat: Chat, number: int, *, said: str = "") -> None:
    memory = await _memory_of(chat, number)
    former = await chat.stores.memory_history.list_versions(chat.user_id, memory.id)
    card = card_text(memory, former, chat.person, utc_now())
    chat.say("\n".join(filter(None, (said, card))))


def card_text(memory: Memory, former: Sequence[Memory], person: Person, now: datetime) -> str:
    """Return a memory, its text whole, and its former versions with the numbers that restore them."""
    words, told, source = person.texts, person.texts.memory_card, memory.source
    end = "" if memory.expires_at is None else person.until(memory.expires_at)
    why = told.because(source.kind, author=one_line(source.author, 100), model=one_line(source.model, 100))
    facts = (
        (told.category, one_line(words.memory.shown_category(memory.category))),
        (told.tags, tag_words(memory)),
        (told.audience, told.private if memory.audience == "private" else told.anywhere),
        (told.end, words.memory.expired if memory.is_expired(now) else end),
        (told.why, f"{why} {person.day(memory.created_at)}"),
        ("", source.link),
    )
    title = told.title.format(id=memory.number)
    lines = [f"📌 {title}" if memory.pinned else title, set_apart(printable(memory.content))]
    lines += [f"  {name}: {value}" if name else f"    {value}" for name, value in facts if value]
    if former:
        lines.append(f"  {told.history}")
        lines += [
            f"    {at}. {person.day(each.updated_at)}  {one_line(each.content, 70)}"
            for at, each in enumerate(former, 1)
        ]
        lines.append(f"  {words.terminal.how_to_restore.format(id=memory.number)}")
    return "\n".join(lines)


def statistics_text(kept: MemoryStatistics, person: Person) -> str:
    """Return how many there are, of what kind, since when. Bars stand first: names may be of any width."""
    words, told = person.texts, person.texts.memory_box
    paused = [told.paused] if person.settings.memory_paused else []
    if not kept.count:
        return "\n".join((*paused, words.memory.none))
    lines = [told.statistics_title.format(count=kept.count), *paused]
    if kept.private:
        lines.append(told.private.format(count=kept.private))
    if kept.expired:
        lines.append(told.expired.format(count=kept.expired))
    if kept.oldest and kept.newest:
        lines.append(told.span.format(oldest=person.day(kept.oldest), newest=person.day(kept.newest)))
    most = kept.categories[0][1]
    for name, count in kept.categories[:BARS]:
        filled = max(1, round(CELLS * count / most))
        bar = "▰" * filled + "▱" * (CELLS - filled)
        shown = one_line(words.memory.shown_category(name), 40)
        lines.append(told.bar.format(bar=bar, name=shown, count=count))
    return "\n".join(lines)
