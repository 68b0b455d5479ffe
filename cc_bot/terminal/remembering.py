"""The `/memory` commands."""

import asyncio
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import assert_never

from cc_bot.context.attachments import read_memory_file, too_large
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import MemoryNotFound, MemoryPaused
from cc_bot.domain.memory import (
    DEFAULT_CATEGORY,
    MAX_CONTENT_CHARACTERS,
    Erased,
    Memory,
    MemoryStatistics,
    Source,
    parse_end,
)
from cc_bot.domain.memory_transfer import MAX_IMPORT_BYTES, ImportPlan, importable_parts
from cc_bot.stores import Keep, Stores
from cc_bot.terminal.commands import (
    AddMemory,
    CountMemories,
    DeleteAllMemories,
    DeleteMemory,
    EditMemory,
    ExportMemories,
    ImportMemories,
    ListMemories,
    MemoryCommand,
    PauseMemory,
    PinMemory,
    RestoreMemory,
    SearchMemories,
    ShowMemory,
    UndoMemory,
)
from cc_bot.terminal.facts import kept_apart
from cc_bot.terminal.markdown import one_line, printable
from cc_bot.terminal.person import Person
from cc_bot.terminal.view import MemoryPage, View, tag_words
from cc_bot.texts import Texts
from cc_bot.texts.memory_markdown import to_markdown

# ---- memory files ----------------------------------------------------------------------------------------
# Memories in files: `/memory export` and `/memory import`.

EXAMPLES = 5


class MemoryFiles:
    """One user's memories, out into a file and in from one."""

    def __init__(self, stores: Stores, user_id: int, view: View, clock: Clock) -> None:
        self._transfer = stores.memory_transfer
        self._user_id = user_id
        self._view = view
        self._clock = clock

    async def write(self, command: ExportMemories, person: Person) -> None:
        """All memories, as Markdown if the file is called so, else as JSON. No file is ever overwritten."""
        words, now = person.texts, self._clock()
        kept = await self._transfer.everything(self._user_id)
        if not kept:
            self._view.say(words.memory.none)
            return
        day = now.astimezone(person.timezone).date().isoformat()
        path = command.path or f"memories-{day}.json"
        readable = path.lower().endswith((".md", ".markdown"))

        def write() -> None:
            whole = (
                [to_markdown(kept, words, now, person.timezone)] if readable else importable_parts(kept, now)
            )
            _write_new(path, list(whole))

        try:
            await asyncio.to_thread(write)
        except FileExistsError:
            self._view.complain(words.terminal.file_exists.format(path=one_line(path)))
        except (OSError, ValueError):
            self._view.complain(words.terminal.file_not_written.format(path=one_line(path)))
        else:
            told = words.terminal.exported.format(count=len(kept), path=one_line(path))
            self._view.say(told)

    async def read(self, command: ImportMemories, person: Person) -> None:
        """Raises MemoryPaused, AttachmentTooLarge, ImportNotUnderstood, TooManyToImport, TooManyImports,
        TooManyMemories or MemoryFull."""
        if person.settings.memory_paused:
            raise MemoryPaused
        words = person.texts
        try:
            data = await asyncio.to_thread(_read, command.path)
        except FileNotFoundError:
            self._view.complain(words.terminal.file_not_found.format(path=one_line(command.path)))
            return
        except (OSError, ValueError):
            self._view.complain(words.terminal.file_not_read.format(path=one_line(command.path)))
            return
        await self._transfer.admit(self._user_id)
        found = await asyncio.to_thread(read_memory_file, data)
        if command.now:
            plan = await self._transfer.plan(self._user_id, found)
            count = await self._transfer.take(self._user_id, plan.new)
            self._view.say(words.memory_box.imported.format(count=count))
        else:
            self._view.say(plan_text(await self._transfer.plan(self._user_id, found), command.path, words))


def plan_text(plan: ImportPlan, path: str, words: Texts) -> str:
    """What an import would do, with some of what is new, and how to have it done."""
    told, new = words.memory_box, len(plan.new)
    reasons = (
        (plan.secret, told.refused_secret.format(count=plan.secret)),
        (plan.too_long, told.refused_long.format(count=plan.too_long, limit=MAX_CONTENT_CHARACTERS)),
        (plan.empty, told.refused_empty.format(count=plan.empty)),
    )
    refused = " ・ ".join(reason for count, reason in reasons if count)
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


def _write_new(path: str, parts: Sequence[str]) -> None:
    """Into a file for its owner's eyes alone, or into several that are numbered.

    Raises FileExistsError, other OSErrors, and ValueError for a name that no file can have.
    """
    file = Path(path).expanduser()
    names = (
        [file] if len(parts) == 1 else [file.with_stem(f"{file.stem}-{n}") for n, _ in enumerate(parts, 1)]
    )
    for name, text in zip(names, parts, strict=True):
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as opened:
            opened.write(text)


def _read(path: str) -> bytes:
    """Raises OSError, ValueError for a name that no file can have, and AttachmentTooLarge."""
    file = Path(path).expanduser()
    if not file.is_file():  # reading from a pipe or a device might never end
        raise FileNotFoundError(path) if not file.exists() else IsADirectoryError(path)
    with file.open("rb") as opened:
        data = opened.read(MAX_IMPORT_BYTES + 1)
    if len(data) > MAX_IMPORT_BYTES:
        raise too_large(MAX_IMPORT_BYTES)
    return data


# ---- memory text -----------------------------------------------------------------------------------------
# One memory with all that is known of it, and all memories in numbers, as plain text.

BARS = 12
CELLS = 10
_BEFORE_MIDNIGHT = timedelta(seconds=1)
"""What holds until midnight is told as holding until that day."""


def card_text(memory: Memory, former: Sequence[Memory], person: Person, now: datetime) -> str:
    """A memory, its text whole, and its former versions with the numbers that restore them."""
    words, told = person.texts, person.texts.memory_card
    end = _end(memory, person, now)
    facts = (
        (told.category, one_line(words.memory.shown_category(memory.category))),
        (told.tags, tag_words(memory)),
        (told.audience, told.private if memory.audience == "private" else told.anywhere),
        (told.end, end),
        (told.why, f"{why(memory.source, words)} {_day(memory.created_at, person)}"),
        ("", memory.source.link),
    )
    title = told.title.format(id=memory.number)
    lines = [f"📌 {title}" if memory.pinned else title, kept_apart(printable(memory.content))]
    lines += [f"  {name}: {value}" if name else f"    {value}" for name, value in facts if value]
    if former:
        lines.append(f"  {told.history}")
        lines += [
            f"    {at}. {_day(each.updated_at, person)}  {one_line(each.content, 70)}"
            for at, each in enumerate(former, 1)
        ]
        lines.append(f"  {words.terminal.how_to_restore.format(id=memory.number)}")
    return "\n".join(lines)


def statistics_text(kept: MemoryStatistics, person: Person) -> str:
    """How many there are, of what kind, and since when. Bars stand first: names may be of any width."""
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
        span = told.span.format(oldest=_day(kept.oldest, person), newest=_day(kept.newest, person))
        lines.append(span)
    most = kept.categories[0][1]
    for name, count in kept.categories[:BARS]:
        filled = max(1, round(CELLS * count / most))
        bar = "▰" * filled + "▱" * (CELLS - filled)
        shown = one_line(words.memory.shown_category(name), 40)
        lines.append(told.bar.format(bar=bar, name=shown, count=count))
    return "\n".join(lines)


def why(source: Source, words: Texts) -> str:
    """How a memory came about, in a sentence."""
    return words.memory_card.because(
        source.kind, author=one_line(source.author, 100), model=one_line(source.model, 100)
    )


def _end(memory: Memory, person: Person, now: datetime) -> str:
    if memory.expires_at is None:
        return ""
    return person.texts.memory.expired if memory.expired(now) else end_day(memory.expires_at, person)


def end_day(expires_at: datetime, person: Person) -> str:
    """The last day on which something holds."""
    return person.texts.memory.until.format(date=_day(expires_at - _BEFORE_MIDNIGHT, person))


def _day(moment: datetime, person: Person) -> str:
    return moment.astimezone(person.timezone).date().isoformat()


# ---- remembering -----------------------------------------------------------------------------------------

PAGE = 20
RESULTS = 10


class Remembering:
    """One user's memories, on request."""

    def __init__(self, stores: Stores, user_id: int, view: View, *, clock: Clock = utc_now) -> None:
        self._memories = stores.memories
        self._history = stores.memory_history
        self._removal = stores.memory_removal
        self._pins = stores.memory_pins
        self._settings = stores.settings
        self._files = MemoryFiles(stores, user_id, view, clock)
        self._user_id = user_id
        self._view = view
        self._clock = clock

    async def run(self, command: MemoryCommand, person: Person) -> None:  # noqa: PLR0912 - one case a command
        """Raises an InputError for what can't be kept."""
        match command:
            case ListMemories():
                await self._list(command, person)
            case SearchMemories():
                await self._search(command, person)
            case AddMemory():
                await self._add(command, person)
            case ShowMemory():
                await self._show(command.number, person)
            case EditMemory():
                await self._edit(command, person)
            case PinMemory():
                await self._pin(command, person)
            case UndoMemory():
                await self._undo(command.number, person)
            case RestoreMemory():
                await self._restore(command, person)
            case DeleteMemory():
                await self._delete(command, person.texts)
            case DeleteAllMemories():
                await self._delete_all(command, person.texts)
            case ExportMemories():
                await self._files.write(command, person)
            case ImportMemories():
                await self._files.read(command, person)
            case PauseMemory(paused):
                await self._settings.pause_memory(self._user_id, paused)
                words = person.texts.memory
                self._view.say((words.paused if paused else words.resumed).replace("\n-# ", "\n"))
            case CountMemories():
                kept = await self._memories.statistics(self._user_id)
                self._view.say(statistics_text(kept, person))
            case _:
                assert_never(command)

    async def _list(self, command: ListMemories, person: Person) -> None:
        words = person.texts
        category = words.memory.stored_category(command.category)
        before_id = None if command.before is None else await self._row_of(command.before)
        found = await self._memories.list(
            self._user_id, category=category, limit=PAGE + 1, before_id=before_id
        )
        if not found:
            none = words.memory.none_in_category.format(category=one_line(command.category or ""))
            self._view.say(none if category else words.memory.none)
            return
        count = await self._memories.count(self._user_id, category=category)
        title = words.memory.list_title.format(count=count)
        more = _older(command, found[PAGE - 1].number, words) if len(found) > PAGE else None
        page = MemoryPage(title, found[:PAGE], person.timezone, more, now=self._clock())
        self._view.memories(page, words)

    async def _search(self, command: SearchMemories, person: Person) -> None:
        words, query = person.texts, one_line(command.query)
        found = await self._memories.search(
            self._user_id,
            command.query,
            limit=RESULTS,
            category=words.memory.stored_category(command.category),
            audience="private",
        )
        if not found:
            self._view.say(words.memory.no_match.format(query=query))
            return
        title = words.memory.search_title.format(query=query, count=len(found))
        self._view.memories(MemoryPage(title, found, person.timezone, now=self._clock()), words)

    async def _add(self, command: AddMemory, person: Person) -> None:
        if person.settings.memory_paused:
            raise MemoryPaused
        words = person.texts
        memory = await self._memories.add(
            self._user_id,
            command.content,
            category=words.memory.stored_category(command.category) or DEFAULT_CATEGORY,
            tags=command.tags,
            source=Source("terminal"),
            audience="private" if command.private else "anywhere",
            expires_at=parse_end(command.until, self._clock(), person.timezone),
        )
        self._view.say(words.memory.added.format(id=memory.number, content=one_line(memory.content)))

    async def _row_of(self, number: int) -> int:
        """The id of the memory of this number, hidden ones included. Raises MemoryNotFound."""
        memory_id = await self._memories.id_of(self._user_id, number)
        if memory_id is None:
            raise MemoryNotFound(id=number)
        return memory_id

    async def _numbered(self, number: int) -> Memory:
        """Raises MemoryNotFound."""
        memory = await self._memories.numbered(self._user_id, number)
        if memory is None:
            raise MemoryNotFound(id=number)
        return memory

    async def _show(self, number: int, person: Person, *, said: str = "") -> None:
        memory = await self._numbered(number)
        former = await self._history.of(self._user_id, memory.id)
        card = card_text(memory, former, person, self._clock())
        self._view.say("\n".join(filter(None, (said, card))))

    async def _edit(self, command: EditMemory, person: Person) -> None:
        words = person.texts
        changed = await self._memories.update(
            self._user_id,
            await self._row_of(command.number),
            content=command.content,
            category=words.memory.stored_category(command.category),
            tags=command.tags,
            expires_at=Keep.AS_IS
            if command.until is None
            else parse_end(command.until.removeprefix("-"), self._clock(), person.timezone),
        )
        if changed is None:
            raise MemoryNotFound(id=command.number)
        said = words.memory_card.edited.format(id=command.number)
        await self._show(command.number, person, said=said)

    async def _pin(self, command: PinMemory, person: Person) -> None:
        words = person.texts.memory_card
        change = self._pins.unpin if command.off else self._pins.pin
        memory = await change(self._user_id, await self._row_of(command.number))
        if memory is None:
            raise MemoryNotFound(id=command.number)
        if command.off:
            self._view.say(words.unpinned.format(id=memory.number))
        else:
            self._view.say(words.pin_told(memory, self._pins.told).replace("\n-# ", "\n"))

    async def _undo(self, number: int, person: Person) -> None:
        words = person.texts
        back = await self._removal.undelete(self._user_id, await self._row_of(number))
        if back is not None:
            self._view.say(words.memory.undeleted.format(id=number, content=one_line(back.content)))
            return
        memory = await self._numbered(number)
        undone = await self._history.undo_update(self._user_id, memory.id, memory.supersedes or 0)
        said = words.memory_card.edit_undone.format(id=number)
        if undone is not None:
            await self._show(number, person, said=said)
        elif memory.supersedes is not None and await self._history.undo_add(self._user_id, memory.id):
            revived = await self._memories.get(self._user_id, memory.supersedes)
            await self._show(revived.number if revived else number, person, said=said)
        else:
            self._view.complain(words.terminal.nothing_to_undo.format(id=number))

    async def _restore(self, command: RestoreMemory, person: Person) -> None:
        words = person.texts.memory_card
        memory = await self._numbered(command.number)
        former = await self._history.of(self._user_id, memory.id)
        wanted = former[command.version - 1 : command.version]
        change = await self._history.restore(self._user_id, wanted[0].id) if wanted else None
        if change is None:
            self._view.complain(words.former_gone)
        else:
            await self._show(command.number, person, said=words.restored.format(id=command.number))

    async def _delete(self, command: DeleteMemory, words: Texts) -> None:
        if command.now:
            erased = await self._removal.erase(self._user_id, await self._row_of(command.number))
            if erased is None:
                raise MemoryNotFound(id=command.number)
            self._erased(erased, words)
            return
        memory = await self._numbered(command.number)
        if not await self._memories.delete(self._user_id, memory.id):
            raise MemoryNotFound(id=command.number)
        self._view.say(words.memory.deleted.format(id=memory.number, content=one_line(memory.content)))
        self._view.say(words.terminal.how_to_undo.format(command=f"/memory undo {memory.number}"))

    async def _delete_all(self, command: DeleteAllMemories, words: Texts) -> None:
        count = await self._memories.count(self._user_id)
        if not count:
            self._view.say(words.memory.none)
        elif command.count != count:
            confirmation = f"/memory delete-all {count}"
            self._view.say(words.terminal.delete_all.format(count=count, command=confirmation))
        else:
            self._erased(await self._removal.erase_all(self._user_id), words)

    def _erased(self, erased: Erased, words: Texts) -> None:
        self._view.say(words.erasure.told(erased).replace("\n-# ", "\n"))


def _older(command: ListMemories, last: int, words: Texts) -> str:
    category = f' --category "{command.category}"' if command.category else ""
    return words.terminal.older_memories.format(command=f"/memory list{category} --before {last}")
