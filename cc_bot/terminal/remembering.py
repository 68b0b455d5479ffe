"""The `/memory` commands."""

from typing import assert_never

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.ending import parse_end
from cc_bot.domain.errors import MemoryNotFound, MemoryPaused
from cc_bot.domain.memory import DEFAULT_CATEGORY, Erased, Memory, Source
from cc_bot.stores import Keep, Stores
from cc_bot.terminal.memory_commands import (
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
from cc_bot.terminal.memory_files import MemoryFiles
from cc_bot.terminal.memory_text import card_text, statistics_text
from cc_bot.terminal.person import Person
from cc_bot.terminal.printable import one_line
from cc_bot.terminal.view import MemoryPage, View
from cc_bot.texts import Texts

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
