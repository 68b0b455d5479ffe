"""Limits the files that running answers hold in memory, in bytes per user and in total, and to one document
reader per user.

A question's files are in memory from the download until its answer ends. Documents are not: only their text
stays.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

import structlog

from cc_bot.domain.errors import DocumentsWait
from cc_bot.in_order import KeyedLock

MAX_USER_BYTES: Final = 24 * 2**20
MAX_BYTES: Final = 32 * 2**20
WAIT_S: Final = 60.0

_log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class _Holder:
    user_id: int
    size: int = 0


_holder: ContextVar[_Holder | None] = ContextVar("holder of files", default=None)
"""The answer that files are downloaded for in this context."""


@dataclass(eq=False, slots=True)
class HeldFiles:
    max_user_bytes: int = MAX_USER_BYTES
    max_bytes: int = MAX_BYTES
    wait_s: float = WAIT_S
    _by_user: Counter[int] = field(default_factory=Counter)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _readers: KeyedLock = field(default_factory=KeyedLock)

    @asynccontextmanager
    async def answer(self, user_id: int) -> AsyncIterator[None]:
        """Count what `take` takes inside the block as held for an answer to this user."""
        holder = _Holder(user_id)
        token = _holder.set(holder)
        try:
            yield
        finally:
            _holder.reset(token)
            if holder.size:
                self._by_user[user_id] -= holder.size
                self._by_user += Counter()  # forget those who hold nothing
                async with self._changed:
                    self._changed.notify_all()

    async def take(self, size: int) -> None:
        """Wait for room. An answer may hold more than the limit while nothing else is held. Raises
        DocumentsWait if there is no room in time."""
        holder = _holder.get()
        if holder is None or size <= 0:
            return
        try:
            async with asyncio.timeout(self.wait_s), self._changed:
                await self._changed.wait_for(lambda: self._has_room(holder, size))
                holder.size += size
                self._by_user[holder.user_id] += size
        except TimeoutError as error:
            _log.warning("files_wait", size=size)
            raise DocumentsWait from error

    def reader(self) -> AbstractAsyncContextManager[object]:
        """Wait until no other document of the user is being read."""
        holder = _holder.get()
        return nullcontext() if holder is None else self._readers.after(holder.user_id)

    def _has_room(self, holder: _Holder, size: int) -> bool:
        of_user, of_all = self._by_user[holder.user_id], self._by_user.total()
        return (of_user + size <= self.max_user_bytes or of_user == holder.size) and (
            of_all + size <= self.max_bytes or of_all == holder.size
        )
