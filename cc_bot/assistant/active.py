"""The active turns of this process: waiting or running.

A user's turns run one at a time, in order of arrival; the total is limited, which bounds cost. Channel turns
have their own line, so they do not wait for private ones. An approved call counts as a running turn and does
not queue.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from cc_bot.assistant.turn import Stop, TurnMetrics
from cc_bot.domain.errors import BeingErased, Busy, Crowded, ShuttingDown
from cc_bot.domain.measures import Phase
from cc_bot.domain.turn import Notice

MAX_WAITING: Final = 5
"""Per line."""
MAX_WAITING_PER_SLOT: Final = 25
"""A longer queue would mostly time out."""
MAX_WAIT_S: Final = 180.0
"""This plus a turn's time limit stays below the 900 s lifetime of a Discord interaction token."""
NEWS_EVERY_S: Final = 5.0
"""Minimum interval between queue notices: each is a message edit."""


@dataclass(frozen=True, slots=True)
class Load:
    running: int
    waiting: int


@dataclass(eq=False, slots=True)
class ActiveTurn:
    user_id: int
    stop: Stop
    line: Hashable = None
    """Turns in the same line run one at a time. None: an approved call, which does not queue."""
    id: str = ""
    account: TurnMetrics = field(default_factory=TurnMetrics)
    admitted: asyncio.Event = field(default_factory=asyncio.Event)
    runs: bool = False
    last_notice: Notice | None = None

    @property
    def phase(self) -> Phase:
        return self.account.now

    @property
    def seconds(self) -> float:
        """Seconds since the question."""
        return self.account.seconds


class ActiveTurns:
    def __init__(
        self, max_turns: int, *, news_every_s: float = NEWS_EVERY_S, max_wait_s: float = MAX_WAIT_S
    ) -> None:
        self._max_turns = max_turns
        self._news_every_s = news_every_s
        self._max_wait_s = max_wait_s
        self._turns: dict[ActiveTurn, None] = {}
        self._erasures = Counter[int]()
        """By user. While above 0, the user's new turns are rejected."""
        self._closed = asyncio.Event()
        self._one_ended = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self._turns)

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    @property
    def queued(self) -> tuple[ActiveTurn, ...]:
        """Waiting and running turns without approved calls, oldest first."""
        return tuple(turn for turn in self._turns if turn.line is not None)

    @property
    def load(self) -> Load:
        running = sum(turn.admitted.is_set() for turn in self.queued)
        return Load(running, len(self.queued) - running)

    @contextmanager
    def join(self, turn: ActiveTurn) -> Iterator[None]:
        """Queue the turn in its line; it is active until the block exits. A call runs at once.

        Raises BeingErased if the user is being erased, Busy if the line is full, Crowded if the queue is
        full, and ShuttingDown once closed.
        """
        if self._erasures[turn.user_id]:
            raise BeingErased
        if self.closed:
            raise ShuttingDown
        if turn.line is None:
            turn.runs = True
        elif sum(other.line == turn.line for other in self._turns) > MAX_WAITING:
            raise Busy
        elif self.load.waiting >= self._max_turns * MAX_WAITING_PER_SLOT:
            raise Crowded
        self._turns[turn] = None
        self._admit()
        try:
            yield
        finally:
            del self._turns[turn]
            self._one_ended.set()
            self._admit()

    def announce(self, turn: ActiveTurn, emit: Callable[[Notice], None]) -> None:
        """Emit the number of turns ahead if it has changed; without a number while an earlier turn of the
        same line is active."""
        if turn.admitted.is_set():
            return
        earlier = list(takewhile(lambda other: other is not turn, self.queued))
        is_held_up = any(other.line == turn.line for other in earlier)
        ahead = None if is_held_up else sum(not other.admitted.is_set() for other in earlier)
        notice = Notice("queued", ahead=ahead)
        if notice != turn.last_notice:
            turn.last_notice = notice
            emit(notice)

    async def wait(self, turn: ActiveTurn, emit: Callable[[Notice], None]) -> None:
        """Wait for a slot and emit notices; none if there is no wait. Returns at once, without a slot, if
        stopped.

        Raises Crowded after too long a wait, and ShuttingDown once closed.
        """
        if not turn.admitted.is_set() and not self.closed:
            await self._wait_for_slot(turn, emit)
        if self.closed:
            raise ShuttingDown
        turn.runs = True
        if turn.last_notice is not None:
            emit(Notice("started"))

    def discard(self, user_ids: Collection[int]) -> None:
        """Stop these users' turns without storing anything: another process erases the users."""
        for turn in self._turns:
            if turn.user_id in user_ids:
                turn.stop.discard()

    @asynccontextmanager
    async def exclusive(self, user_id: int) -> AsyncIterator[None]:
        """Discard the user's turns, wait until they end, and reject new ones until the block exits: a running
        turn would be stored after the erasure."""
        self._erasures[user_id] += 1
        try:
            while any(turn.user_id == user_id for turn in self._turns):
                self.discard([user_id])
                await self._until_one_ended()
            yield
        finally:
            self._erasures[user_id] -= 1

    async def drain(self, grace_s: float) -> None:
        """Reject new turns and raise ShuttingDown in waiting ones. Running turns get `grace_s` seconds to
        finish, then are cut."""
        self._closed.set()
        try:
            async with asyncio.timeout(grace_s):
                await self._until_none_runs()
        except TimeoutError:
            self.cut()
            await self._until_none_runs()

    def cut(self) -> None:
        for turn in self._turns:
            if turn.runs:
                turn.stop.request("cut")

    async def _until_none_runs(self) -> None:
        while any(turn.runs for turn in self._turns):
            await self._until_one_ended()

    async def _until_one_ended(self) -> None:
        self._one_ended.clear()
        await self._one_ended.wait()

    async def _wait_for_slot(self, turn: ActiveTurn, emit: Callable[[Notice], None]) -> None:
        deadline_s = asyncio.get_running_loop().time() + self._max_wait_s
        ends = [asyncio.create_task(event.wait()) for event in (turn.admitted, turn.stop, self._closed)]
        try:
            while not (turn.admitted.is_set() or turn.stop.requested or self.closed):
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
        free, lines = self._max_turns - self.load.running, set[Hashable]()
        for turn in self.queued:
            if free and turn.line not in lines and not turn.admitted.is_set():
                turn.admitted.set()
                free -= 1
            lines.add(turn.line)
