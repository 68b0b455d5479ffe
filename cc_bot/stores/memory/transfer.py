"""Import and export of memories, in batches and threads, so that others are served in between.

An import skips known memories, so an interrupted one is simply repeated.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal, TypeVar

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import EmptyMemory, MemoryTooLong, SecretNotStored
from cc_bot.domain.memory import Audience, Memory, check_beside, clean_content
from cc_bot.domain.memory_transfer import ImportPlan, PortableMemory, portable
from cc_bot.domain.usage import Rules
from cc_bot.storage import Database, Statement, Steps, user
from cc_bot.stores.memory.limits import MemoryQuotas, SecretRules, ensure_room_left
from cc_bot.stores.memory.rows import GIVEN, MEMORY, PIN, NewMemory, likeness, words_of
from cc_bot.stores.memory.store import MemoryStore

# Uses memories_by_likeness alone. $1 user
_SELECT_LIKENESSES: Final = "SELECT likeness FROM memories WHERE user_id = $1 AND status = 'active'"

_PAGE: Final = 500
"""Memories per read."""
_AT_A_TIME: Final = 25
"""Memories per thread or transaction."""

_SIZED: Final = ("content", "tags", "metadata")

T = TypeVar("T")


class MemoryTransferStore:
    def __init__(
        self,
        database: Database,
        memories: MemoryStore,
        secret_rules: SecretRules,
        *,
        quotas: MemoryQuotas | None = None,
        clock: Clock = utc_now,
    ) -> None:
        """Without `quotas`, nothing is limited."""
        self._database = database
        self._memories = memories
        self._secret_rules = secret_rules
        self._quotas = quotas or MemoryQuotas(database)
        self._clock = clock

    async def list_all(self, user_id: int) -> list[PortableMemory]:
        """All memories of a user, oldest first."""
        return [memory async for page in self.read_pages(user_id) for memory in page]

    async def read_pages(self, user_id: int) -> AsyncIterator[list[PortableMemory]]:
        """Yield all memories of a user in pages, oldest first."""
        after_id = 0
        while page := await self._memories.list(user_id, order="oldest", after_id=after_id, limit=_PAGE):
            yield [portable(memory) for memory in page]
            after_id = page[-1].id

    async def admit(self, user_id: int) -> None:
        """Count an import, before its file is read. Raises TooManyImports."""
        await self._quotas.admit_import(user_id)

    async def plan(
        self, user_id: int, memories: Iterable[PortableMemory], *, audience: Audience = "anywhere"
    ) -> ImportPlan:
        """Plan an import. `audience`: of memories that do not name one. Raises TooManyMemories or
        MemoryFull."""
        likenesses = await self._database.query(_SELECT_LIKENESSES, user_id)
        new, refused, known = list[PortableMemory](), Counter[str](), {number for (number,) in likenesses}
        for some in _split(tuple(memories), _AT_A_TIME):
            for each, problem in await asyncio.to_thread(_checked, some, self._secret_rules):
                alike = likeness(each.content)
                if problem or alike in known:
                    refused[problem or "known"] += 1
                else:
                    known.add(alike)
                    new.append(replace(each, audience=each.audience or audience))
        plan = ImportPlan(tuple(new), **refused)
        size = await asyncio.to_thread(_size_of, plan.new)
        await self._quotas.ensure_room(user_id, len(plan.new), size)
        return plan

    async def take(self, user_id: int, memories: Iterable[PortableMemory]) -> int:
        """Store the new memories, and return their number. Raises as `plan` does, before anything is
        stored."""
        plan = await self.plan(user_id, memories, audience="private")
        rules = await self._quotas.rules()
        for some in _split(plan.new, _AT_A_TIME):
            await self._keep(user_id, some, rules)
        return len(plan.new)

    async def _keep(self, user_id: int, memories: Sequence[PortableMemory], rules: Rules) -> None:
        notes = await asyncio.to_thread(_notes, user_id, memories, self._clock())

        def steps() -> Steps[list[Memory]]:
            kept = list[Memory]()
            for memory, note in zip(memories, notes, strict=True):
                kept += yield from note.steps({})
                if memory.pinned:  # does nothing beyond MAX_PINNED
                    yield Statement(PIN, (user_id, kept[-1].id))
            yield from ensure_room_left(user_id, rules)
            return kept

        for memory in await self._database.write(steps, [user(user_id)]):
            self._memories.note_written(memory)


def _checked(
    memories: Iterable[PortableMemory], rules: SecretRules
) -> list[tuple[PortableMemory, Literal["", "empty", "too_long", "secret"]]]:
    """Return each memory with clean content, or why it can't be stored."""
    checked = list[tuple[PortableMemory, Literal["", "empty", "too_long", "secret"]]]()
    for memory in memories:
        try:
            content = clean_content(memory.content)
            check_beside(memory.category, memory.tags, memory.metadata)
            rules.check(*words_of({name: getattr(memory, name) for name in GIVEN} | {"content": content}))
        except EmptyMemory:
            checked.append((memory, "empty"))
        except MemoryTooLong:
            checked.append((memory, "too_long"))
        except SecretNotStored:
            checked.append((memory, "secret"))
        else:
            checked.append((replace(memory, content=content), ""))
    return checked


def _notes(user_id: int, memories: Iterable[PortableMemory], now: datetime) -> list[NewMemory]:
    imported = (replace(memory, source=replace(memory.source, kind="import")) for memory in memories)
    return [NewMemory.of(user_id, memory, now) for memory in imported]


def _size_of(memories: Iterable[PortableMemory]) -> int:
    """As the database counts them."""
    given = ({name: getattr(each, name) for name in _SIZED} for each in memories)
    stored = (text for each in given for text in MEMORY.write_some(each).values())
    return sum(len(text.encode("utf-8", "replace")) for text in stored)


def _split(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
