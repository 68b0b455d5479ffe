"""Who may start a turn now: one at a time for each user and each channel, so many at a time in all.

This bounds what anybody can spend, and it keeps the turns of a conversation in order: a session has one user,
and a channel's conversation one channel. A user's turns in channels have a line of their own, so that nobody
in a channel waits for what one of them asked elsewhere in private. Waiting is first come, first served.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from cc_bot.assistant.stop import Stop
from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.errors import Busy, Crowded, ShuttingDown
from cc_bot.domain.session import SessionKey


@dataclass(frozen=True, slots=True)
class InChannels:
    """The line of a user's questions in channels."""

    user_id: int


LineId = int | ChannelKey | InChannels
"""A user's line, a channel's, or a user's in all channels."""

MAX_WAITING = 5
"""Turns that wait in one line."""
MAX_WAIT_S = 180.0
"""With the time limit of a turn this stays under the 900 s that an interaction token of Discord lives."""


@dataclass(slots=True)
class _Line:
    """The turns of one user or channel: the running one and those behind it."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    turns: int = 0


class TurnQueue:
    def __init__(self, max_turns: int) -> None:
        self._slots = asyncio.Semaphore(max_turns)
        self._lines: dict[LineId, _Line] = {}
        self._closed = asyncio.Event()

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    def close(self) -> None:
        """Let nobody in any more; those who wait get ShuttingDown."""
        self._closed.set()

    def would_wait(self, lines: Sequence[LineId]) -> bool:
        """Whether a turn that comes now has to wait for another one to end."""
        return any(line in self._lines for line in lines) or self._slots.locked()

    @asynccontextmanager
    async def turn(self, lines: Sequence[LineId], stop: Stop) -> AsyncIterator[None]:
        """Wait for one's turn in each of the lines and for a slot; on a stop request the body is entered at
        once, without. A channel's line is named before its user's, so that no two turns wait for each other.

        Raises Busy when too many wait already in one of them, Crowded when the wait takes too long, and
        ShuttingDown once closed.
        """
        joined = [self._lines.setdefault(line, _Line()) for line in lines]
        try:
            if any(line.turns > MAX_WAITING for line in joined):
                raise Busy
            for line in joined:
                line.turns += 1
            holding = _Holding(*(line.lock for line in joined), self._slots)
            try:
                await self._wait(holding, stop)
                yield
            finally:
                holding.release()
                for line in joined:
                    line.turns -= 1
        finally:
            for id_ in lines:
                if id_ in self._lines and not self._lines[id_].turns:
                    del self._lines[id_]

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
    """The locks of the lines and a slot of the program, taken in this order, so that whoever waits for their
    own earlier turn takes nobody else's slot."""

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


def lines_of(key: SessionKey | ChannelKey, user_id: int | None) -> tuple[LineId, ...]:
    """Where a turn waits: a session's in its user's line; a channel's in that channel's, and behind what the
    one user whom it answers asked in other channels."""
    if isinstance(key, SessionKey):
        return (key.user_id,)
    return (key,) if user_id is None else (key, InChannels(user_id))
