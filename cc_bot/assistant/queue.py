"""Who may start a turn now: one at a time for each user, so many at a time in all.

This bounds what anybody can spend, and it keeps the turns of a session in order, since a session has one
user. Waiting is first come, first served.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from cc_bot.assistant.stop import Stop
from cc_bot.domain.errors import Busy, Crowded, ShuttingDown

MAX_WAITING_PER_USER = 5
MAX_WAIT_S = 180.0
"""With the time limit of a turn this stays under the 900 s that an interaction token of Discord lives."""


@dataclass(slots=True)
class _Line:
    """One user's turns: the running one and those behind it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    turns: int = 0


class TurnQueue:
    def __init__(self, max_turns: int) -> None:
        self._places = asyncio.Semaphore(max_turns)
        self._lines: dict[int, _Line] = {}
        self._closed = asyncio.Event()

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    def close(self) -> None:
        """Let nobody in any more; those who wait get ShuttingDown."""
        self._closed.set()

    def would_wait(self, user_id: int) -> bool:
        """Whether a turn that comes now has to wait for another one to end."""
        return user_id in self._lines or self._places.locked()

    @asynccontextmanager
    async def turn(self, user_id: int, stop: Stop) -> AsyncIterator[None]:
        """Wait for a place and hold it; on a stop request the body is entered at once, without one.

        Raises Busy when too many of the user's wait already, Crowded when the wait takes too long, and
        ShuttingDown once closed.
        """
        line = self._lines.setdefault(user_id, _Line())
        if line.turns > MAX_WAITING_PER_USER:
            raise Busy
        line.turns += 1
        try:
            holding = _Holding(line.lock, self._places)
            try:
                await self._wait(holding, stop)
                yield
            finally:
                holding.release()
        finally:
            line.turns -= 1
            if not line.turns:
                del self._lines[user_id]

    async def _wait(self, holding: "_Holding", stop: Stop) -> None:
        waiter = asyncio.create_task(holding.acquire())
        stopped = asyncio.create_task(stop.wait())
        closed = asyncio.create_task(self._closed.wait())
        try:
            await asyncio.wait(
                (waiter, stopped, closed), timeout=MAX_WAIT_S, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for task in (waiter, stopped, closed):
                task.cancel()
            await asyncio.gather(waiter, stopped, closed, return_exceptions=True)
        if self.closed:
            raise ShuttingDown
        if not stop.requested and not holding.complete:
            raise Crowded


class _Holding:
    """The user's lock and a place of the program, taken in this order, so that whoever waits for their
    own earlier turn takes nobody else's place."""

    def __init__(self, *locks: asyncio.Lock | asyncio.Semaphore) -> None:
        self._locks = locks
        self._held: list[asyncio.Lock | asyncio.Semaphore] = []

    @property
    def complete(self) -> bool:
        return len(self._held) == len(self._locks)

    async def acquire(self) -> None:
        for lock in self._locks:
            await lock.acquire()
            self._held.append(lock)

    def release(self) -> None:
        while self._held:
            self._held.pop().release()
