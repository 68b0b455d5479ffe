"""Keyed locks, a rate limiter, and a queue for files.

A message, its edit and its deletion arrive as separate events, each stored asynchronously: a deleted message
must not be stored after its deletion.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from cc_bot.domain.errors import FilesInLine

# ---- in order ------------------------------------------------------------------------------------------


A_SECOND: Final = 15
"""Requests. Discord's global limit is 50 a second per bot, which answers need, too. When that is hit, hikari
(2.6.0, for routes without a known limit) retries once without a pause, until Discord bans the bot."""


@dataclass(slots=True)
class RateLimiter:
    """Limits calls to `a_second`, evenly spaced: many reminders are due at nine in the morning."""

    a_second: int = A_SECOND
    _next_s: float = 0.0

    async def wait(self) -> None:
        now_s = asyncio.get_running_loop().time()
        at_s = max(now_s, self._next_s)
        self._next_s = at_s + 1 / self.a_second
        await asyncio.sleep(at_s - now_s)


@dataclass(slots=True)
class _Line:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    joined: int = 0


class KeyedLock:
    def __init__(self) -> None:
        self._lines: dict[Hashable, _Line] = {}

    @asynccontextmanager
    async def after(self, line: Hashable) -> AsyncIterator[Callable[[], None]]:
        """Wait for earlier holders of the key and block later ones, until exit or until the yielded function
        is called."""
        with self._join(line) as joined, ExitStack() as held:
            await joined.lock.acquire()  # FIFO
            held.callback(joined.lock.release)
            yield held.close

    def length(self, line: Hashable) -> int:
        """Return the number of holders and waiters."""
        return self._lines[line].joined if line in self._lines else 0

    @contextmanager
    def _join(self, name: Hashable) -> Iterator[_Line]:
        line = self._lines.setdefault(name, _Line())
        line.joined += 1
        try:
            yield line
        finally:
            line.joined -= 1
            if not line.joined:
                del self._lines[name]


# ---- file line -----------------------------------------------------------------------------------------
# Queues the making and reading of files: per user, and one at a time overall.
#
# Each takes a second of a thread, which shares the interpreter with the event loop. The result is held until
# Discord has it, which may take long, so each user has one at a time and a few waiting.


MAX_COUNT: Final = 4
"""Per user, the current one included."""

T = TypeVar("T")


class ExportQueue:
    def __init__(self) -> None:
        self._order = KeyedLock()
        self._work = asyncio.Lock()

    @asynccontextmanager
    async def of(self, user_id: int) -> AsyncIterator[None]:
        """Wait for the user's earlier files, and hold the slot. Raises FilesInLine if too many wait."""
        if self._order.length(user_id) >= MAX_COUNT:
            raise FilesInLine
        async with self._order.after(user_id):
            yield

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Wait for CPU work of all users."""
        async with self._work:
            yield

    async def one_by_one(self, parts: AsyncIterator[T]) -> AsyncIterator[T]:
        """Make each part exclusively; others may run while it is sent."""
        while True:
            async with self.at_work():
                try:
                    part = await anext(parts)
                except StopAsyncIteration:
                    return
            yield part
