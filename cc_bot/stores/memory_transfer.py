"""Memories on their way into a file and from one: what is new, what is there already, what can't be kept.

Each memory of an import is kept by itself, and what is there already is left out. So an import that was cut
short is simply repeated, and nothing of it is there twice.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from cc_bot.domain.errors import EmptyMemory, MemoryTooLong, SecretNotStored
from cc_bot.domain.memory import Audience, Source, check_beside, clean_content
from cc_bot.domain.memory_transfer import ImportPlan, PortableMemory, portable
from cc_bot.storage import Database
from cc_bot.stores.memories import MemoryStore
from cc_bot.stores.memory_texts import likeness
from cc_bot.stores.secret_rules import SecretRules

# Serves itself by memories_by_likeness. $1 user
_SELECT_LIKENESSES: Final = "SELECT likeness FROM memories WHERE user_id = $1 AND status = 'active'"

_PAGE: Final = 1000


class MemoryTransferStore:
    """Every user's memories, on their way out and in."""

    def __init__(self, database: Database, memories: MemoryStore, secret_rules: SecretRules) -> None:
        self._database = database
        self._memories = memories
        self._secret_rules = secret_rules

    async def everything(self, user_id: int) -> list[PortableMemory]:
        """All memories of a user, oldest first."""
        kept: list[PortableMemory] = []
        after_id = 0
        while page := await self._memories.list(user_id, order="oldest", after_id=after_id, limit=_PAGE):
            kept += map(portable, page)
            after_id = page[-1].id
        return kept

    async def plan(
        self, user_id: int, memories: Iterable[PortableMemory], *, audience: Audience = "anywhere"
    ) -> ImportPlan:
        """What an import would do. `audience` is that of memories that don't say who may see them."""
        known = await self._likenesses(user_id)
        return await asyncio.to_thread(self._planned, tuple(memories), known, audience)

    async def take(self, user_id: int, memories: Iterable[PortableMemory]) -> int:
        """Keep what is new of them. How many that were."""
        plan = await self.plan(user_id, memories, audience="private")
        for memory in plan.new:
            origin = memory.source
            await self._memories.add(
                user_id,
                memory.content,
                category=memory.category,
                tags=memory.tags,
                metadata=memory.metadata,
                audience=memory.audience or "private",
                source=Source("import", origin.link, origin.model, origin.author),
                expires_at=memory.expires_at,
                created_at=memory.created_at,
            )
        return len(plan.new)

    def _planned(self, memories: Iterable[PortableMemory], known: set[int], audience: Audience) -> ImportPlan:
        """What is new beside the known likenesses. Thousands of texts are held against all patterns: that is
        no work for the event loop."""
        new: list[PortableMemory] = []
        twice = empty = too_long = secret = 0
        for memory in memories:
            try:
                content = clean_content(memory.content)
                check_beside(memory.category, memory.tags, memory.metadata)
                self._secret_rules.check(content, memory.category, *memory.tags, *memory.metadata.values())
            except EmptyMemory:
                empty += 1
            except MemoryTooLong:
                too_long += 1
            except SecretNotStored:
                secret += 1
            else:
                likeness_ = likeness(content)
                if likeness_ in known:
                    twice += 1
                else:
                    known.add(likeness_)
                    new.append(replace(memory, content=content, audience=memory.audience or audience))
        return ImportPlan(tuple(new), twice, empty, too_long, secret)

    async def _likenesses(self, user_id: int) -> set[int]:
        return {number for (number,) in await self._database.query(_SELECT_LIKENESSES, user_id)}
