"""The queue for turns: one at a time for each user, a limited number in all, in the order of arrival.

This bounds what anybody can spend, and keeps a user's turns in order. A user's turns in channels have a line
of their own: they do not wait for what the user asked elsewhere in private.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from cc_bot.assistant.turn import Stop
from cc_bot.domain.errors import Busy, Crowded, ShuttingDown
from cc_bot.domain.turn import Notice


@dataclass(frozen=True, slots=True)
class InChannels:
    """The line of a user's questions in channels."""

    user_id: int


LineId = int | InChannels
"""A user's line, or a user's in all channels."""

MAX_WAITING: Final = 5
"""Turns that wait in one line."""
MAX_WAITING_PER_SLOT: Final = 25
"""Turns that wait, for each that may run: later ones would most likely wait in vain."""
MAX_WAIT_S: Final = 180.0
"""With the time limit of a turn this stays under the 900 s that an interaction token of Discord lives."""
NEWS_EVERY_S: Final = 5.0
"""How often a user hears at most how many are ahead: each time is an edit."""


@dataclass(frozen=True, slots=True)
class Load:
    """The number of turns that run and wait."""

    running: int
    waiting: int


@dataclass(eq=False, slots=True)
class QueuedTurn:
    """A turn that waits or runs."""

    line: LineId
    admitted: asyncio.Event = field(default_factory=asyncio.Event)
    last_notice: Notice | None = None


class TurnQueue:
    def __init__(
        self, max_turns: int, *, news_every_s: float = NEWS_EVERY_S, max_wait_s: float = MAX_WAIT_S
    ) -> None:
        self._max_turns = max_turns
        self._news_every_s = news_every_s
        self._max_wait_s = max_wait_s
        self._turns: dict[QueuedTurn, None] = {}
        """Those that wait or run, in the order of arrival."""
        self._closed = asyncio.Event()

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    @property
    def load(self) -> Load:
        running = sum(turn.admitted.is_set() for turn in self._turns)
        return Load(running, len(self._turns) - running)

    def close(self) -> None:
        """Admit no more turns; those that wait get ShuttingDown."""
        self._closed.set()

    @contextmanager
    def join(self, line: LineId) -> Iterator[QueuedTurn]:
        """Wait in line, and then run, until the block is left.

        Raises Busy when too many wait already in the line, Crowded when too many wait in all, and
        ShuttingDown once closed.
        """
        if self.closed:
            raise ShuttingDown
        if sum(turn.line == line for turn in self._turns) > MAX_WAITING:
            raise Busy
        if self.load.waiting >= self._max_turns * MAX_WAITING_PER_SLOT:
            raise Crowded
        turn = QueuedTurn(line)
        self._turns[turn] = None
        self._admit()
        try:
            yield turn
        finally:
            del self._turns[turn]
            self._admit()

    def announce(self, turn: QueuedTurn, emit: Callable[[Notice], None]) -> None:
        """Emit how many turns are ahead of one that waits, if that has changed; no number while an earlier
        turn of its own line holds it up."""
        if turn.admitted.is_set():
            return
        earlier = list(takewhile(lambda other: other is not turn, self._turns))
        is_held_up = any(other.line == turn.line for other in earlier)
        ahead = None if is_held_up else sum(not other.admitted.is_set() for other in earlier)
        notice = Notice("queued", ahead=ahead)
        if notice != turn.last_notice:
            turn.last_notice = notice
            emit(notice)

    async def wait(self, turn: QueuedTurn, stop: Stop, emit: Callable[[Notice], None]) -> None:
        """Wait until the turn may run, and emit notices meanwhile; none if there is no wait. Ends at once on
        a stop request, without a slot.

        Raises Crowded when the wait takes too long, and ShuttingDown once closed.
        """
        deadline_s = asyncio.get_running_loop().time() + self._max_wait_s
        if not turn.admitted.is_set() and not self.closed:
            await self._wait_until(deadline_s, turn, stop, emit)
        if self.closed:
            raise ShuttingDown
        if turn.last_notice is not None:
            emit(Notice("started"))

    async def _wait_until(
        self, deadline_s: float, turn: QueuedTurn, stop: Stop, emit: Callable[[Notice], None]
    ) -> None:
        ends = [asyncio.create_task(event.wait()) for event in (turn.admitted, stop, self._closed)]
        try:
            while not (turn.admitted.is_set() or stop.requested or self.closed):
                self.announce(turn, emit)
                left_s = deadline_s - asyncio.get_running_loop().time()
                if left_s <= 0:
                    raise Crowded
                wait_s = min(self._news_every_s, left_s)
                await asyncio.wait(ends, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in ends:
                task.cancel()
            await asyncio.gather(*ends, return_exceptions=True)

    def _admit(self) -> None:
        """Let the first turns of their lines run, as far as there are slots."""
        free, lines = self._max_turns - self.load.running, set[LineId]()
        for turn in self._turns:
            if free and turn.line not in lines and not turn.admitted.is_set():
                turn.admitted.set()
                free -= 1
            lines.add(turn.line)
