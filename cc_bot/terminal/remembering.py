"""The `/memory` commands."""

from cc_bot.domain.memory import DEFAULT_CATEGORY
from cc_bot.stores import MemoryStore
from cc_bot.terminal.commands import AddMemory, DeleteMemory, ListMemories, SearchMemories
from cc_bot.terminal.person import Person
from cc_bot.terminal.printable import one_line
from cc_bot.terminal.view import MemoryPage, View
from cc_bot.texts import Texts

PAGE = 20
RESULTS = 10


class Remembering:
    """One user's memories, on request."""

    def __init__(self, memories: MemoryStore, user_id: int, view: View) -> None:
        self._memories = memories
        self._user_id = user_id
        self._view = view

    async def list(self, command: ListMemories, person: Person) -> None:
        words, category = person.texts, _stored(command.category, person.texts)
        found = await self._memories.list(
            self._user_id, category=category, limit=PAGE + 1, before_id=command.before_id
        )
        if not found:
            none = words.memory.none_in_category.format(category=one_line(command.category or ""))
            self._view.say(none if category else words.memory.none)
            return
        count = await self._memories.count(self._user_id, category=category)
        title = words.memory.list_title.format(count=count)
        more = _older(command, found[PAGE - 1].id, words) if len(found) > PAGE else None
        self._view.memories(MemoryPage(title, found[:PAGE], person.timezone, more), words)

    async def search(self, command: SearchMemories, person: Person) -> None:
        words, query = person.texts, one_line(command.query)
        found = await self._memories.search(
            self._user_id, command.query, limit=RESULTS, category=_stored(command.category, words)
        )
        if not found:
            self._view.say(words.memory.no_match.format(query=query))
            return
        title = words.memory.search_title.format(query=query, count=len(found))
        self._view.memories(MemoryPage(title, found, person.timezone), words)

    async def add(self, command: AddMemory, words: Texts) -> None:
        category = _stored(command.category, words) or DEFAULT_CATEGORY
        memory = await self._memories.add(
            self._user_id, command.content, category=category, tags=command.tags
        )
        self._view.say(words.memory.added.format(id=memory.id, content=one_line(memory.content)))

    async def delete(self, command: DeleteMemory, words: Texts) -> None:
        memory = await self._memories.get(self._user_id, command.memory_id)
        if memory is None or not await self._memories.delete(self._user_id, memory.id):
            self._view.complain(words.memory.not_found.format(id=command.memory_id))
            return
        self._view.say(words.memory.deleted.format(id=memory.id, content=one_line(memory.content)))


def _stored(category: str | None, words: Texts) -> str | None:
    """The category's stored name: the default one is shown under a name in the user's language."""
    return DEFAULT_CATEGORY if category == words.memory.general else category


def _older(command: ListMemories, last_id: int, words: Texts) -> str:
    category = f' --category "{command.category}"' if command.category else ""
    return words.terminal.older_memories.format(command=f"/memory list{category} --before {last_id}")
