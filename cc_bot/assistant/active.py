"""The turns of this process, from the question until the answer is stored.

A user's turns run one at a time, in the order of arrival, and a limited number in all: this bounds what
anybody can spend. A user's turns in channels have a line of their own, so they do not wait for what the user
asked elsewhere in private. An approved call counts as a running turn, and waits in no line.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from cc_bot.assistant.turn import Account, Stop
from cc_bot.domain.errors import BeingErased, Busy, Crowded, ShuttingDown
from cc_bot.domain.measures import Phase
from cc_bot.domain.turn import Notice

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
class ActiveTurn:
    """A turn that waits or runs."""

    user_id: int
    stop: Stop
    line: Hashable = None
    """The turns of one line run one at a time; None: an approved call, which waits in none."""
    id: str = ""
    """Its id in the log."""
    account: Account = field(default_factory=Account)
    admitted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it has a slot."""
    runs: bool = False
    last_notice: Notice | None = None

    @property
    def phase(self) -> Phase:
        return self.account.now

    @property
    def seconds(self) -> float:
        """Return how long ago it was asked."""
        return self.account.seconds


class ActiveTurns:
    def __init__(
        self, max_turns: int, *, news_every_s: float = NEWS_EVERY_S, max_wait_s: float = MAX_WAIT_S
    ) -> None:
        self._max_turns = max_turns
        self._news_every_s = news_every_s
        self._max_wait_s = max_wait_s
        self._turns: dict[ActiveTurn, None] = {}
        """In the order of arrival."""
        self._erasures = Counter[int]()
        """By user: no turn of theirs may begin."""
        self._closed = asyncio.Event()
        self._one_ended = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self._turns)

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    @property
    def queued(self) -> tuple[ActiveTurn, ...]:
        """List those that wait or run, without approved calls, the oldest first."""
        return tuple(turn for turn in self._turns if turn.line is not None)

    @property
    def load(self) -> Load:
        running = sum(turn.admitted.is_set() for turn in self.queued)
        return Load(running, len(self.queued) - running)

    @contextmanager
    def join(self, turn: ActiveTurn) -> Iterator[None]:
        """Have a turn wait in its line, and then run, until the block is left; a call runs at once.

        Raises BeingErased if its user is being erased, Busy if too many wait already in the line, Crowded if
        too many wait in all, and ShuttingDown once closed.
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
        """Emit how many turns are ahead of one that waits, if that has changed; no number while an earlier
        turn of its own line holds it up."""
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
        """Wait until the turn may run, and emit notices meanwhile; none if there is no wait. Ends at once on
        a stop request, without a slot.

        Raises Crowded when the wait takes too long, and ShuttingDown once closed.
        """
        if not turn.admitted.is_set() and not self.closed:
            await self._wait_for_slot(turn, emit)
        if self.closed:
            raise ShuttingDown
        turn.runs = True
        if turn.last_notice is not None:
            emit(Notice("started"))

    def discard(self, user_ids: Collection[int]) -> None:
        """End the turns of users that another process erases, and keep nothing of them."""
        for turn in self._turns:
            if turn.user_id in user_ids:
                turn.stop.discard()

    @asynccontextmanager
    async def exclusive(self, user_id: int) -> AsyncIterator[None]:
        """Discard the user's turns, and wait until they have ended. No other one begins until the block is
        left: what a turn has in hand would be stored after the rest was erased."""
        self._erasures[user_id] += 1
        try:
            while any(turn.user_id == user_id for turn in self._turns):
                self.discard([user_id])
                await self._until_one_ended()
            yield
        finally:
            self._erasures[user_id] -= 1

    async def drain(self, grace_s: float) -> None:
        """Admit no more turns: those that wait get ShuttingDown. Let the running ones finish for `grace_s`
        seconds, then cut the rest."""
        self._closed.set()
        try:
            async with asyncio.timeout(grace_s):
                await self._until_none_runs()
        except TimeoutError:
            self.cut()
            await self._until_none_runs()

    def cut(self) -> None:
        """Cut the running turns now."""
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
        """Let the first turns of their lines run, as far as there are slots."""
        free, lines = self._max_turns - self.load.running, set[Hashable]()
        for turn in self.queued:
            if free and turn.line not in lines and not turn.admitted.is_set():
                turn.admitted.set()
                free -= 1
            lines.add(turn.line)
