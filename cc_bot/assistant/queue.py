"""The queue for turns: one at a time for each user, so many at a time in all.

This bounds what anybody can spend, and it keeps a user's turns in order. Those in channels have a line of
their own: they do not wait for what the user asked elsewhere in private. Which turn comes next is decided by
a pure structure; in the queue they wait.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Final

from cc_bot.assistant.turn import Stop
from cc_bot.domain.errors import Busy, Crowded, ShuttingDown
from cc_bot.domain.turn import Notice

# ---- fair line -------------------------------------------------------------------------------------------
# Who waits for a turn and who comes next: the rule alone, with no clock and nothing awaited.
#
# Three things hold a turn back. A line has one turn at a time, and its turns keep their order. There are so
# many places in all. And when one of them becomes free, it goes to the party that was served longest ago: a
# server, or a user in their DMs; within it to the user served longest ago. So a burst of one server, or of
# one member of it, goes behind everybody else's questions.

REMEMBERED: Final = 20_000
"""Who was served is forgotten when nobody waits or runs. On a bot that is never idle, this many parties and
users are remembered; it takes some megabytes."""


@dataclass(eq=False, slots=True)
class Ticket:
    """A turn's right to wait; each is a ticket of its own, whatever it says."""

    line: Hashable
    """It has one turn at a time, and its turns keep their order."""
    party: Hashable
    """Whom it is put on account of, before `user`."""
    user: Hashable
    number: int
    """Of arrival."""


@dataclass(slots=True)
class _Served:
    """The record of when someone was last served, counted in services; whoever never was comes first, and so
    does whoever is forgotten."""

    most: int
    at: dict[Hashable, int] = field(default_factory=dict)
    """The one served longest ago is the first in it."""
    now: int = 0

    def note(self, ticket: Ticket) -> None:
        """A party comes after its user, so that it is not forgotten before any of its users."""
        self.now += 1
        for served in ((ticket.party, ticket.user), ticket.party):
            self.at.pop(served, None)
            self.at[served] = self.now
        while len(self.at) > self.most:
            del self.at[next(iter(self.at))]

    def rank(self, ticket: Ticket) -> tuple[int, int, int]:
        """The lowest is next."""
        of_party = self.at.get(ticket.party, 0)
        return (of_party, self.at.get((ticket.party, ticket.user), 0), ticket.number)

    def order(self, tickets: Iterable[Ticket]) -> Iterator[Ticket]:
        """The order of ranks, if each is served at once: the same as taking the lowest again and again, in
        time that grows with their number and not with its square."""
        queues: dict[Hashable, dict[Hashable, deque[Ticket]]] = {}
        for ticket in tickets:
            queues.setdefault(ticket.party, {}).setdefault(ticket.user, deque()).append(ticket)
        users = {party: [(*self.rank(of[0])[1:], of) for of in queues[party].values()] for party in queues}
        for heap in users.values():
            heapify(heap)
        parties = [(self.at.get(party, 0), heap[0][1], heap) for party, heap in users.items()]
        heapify(parties)
        now = self.now
        while parties:
            now += 1
            _, _, heap = heappop(parties)
            _, _, of_user = heappop(heap)
            yield of_user.popleft()
            if of_user:
                heappush(heap, (now, of_user[0].number, of_user))
            if heap:
                heappush(parties, (now, heap[0][1], heap))


class FairLine:
    """Turns that wait, and turns that run."""

    def __init__(self, places: int, *, remembered: int = REMEMBERED) -> None:
        """`places`: turns that run at a time; `remembered`: parties and users whose services are known."""
        self._places = places
        self._numbers = count(1)
        self._waiting: dict[Ticket, None] = {}
        self._running: dict[Ticket, None] = {}
        self._served = _Served(remembered)
        self._order: dict[Ticket, int] | None = None
        """Of those who wait, while nothing has changed since it was asked for."""

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def running(self) -> int:
        return len(self._running)

    def in_line(self, line: Hashable) -> int:
        """Count the turns of a line that wait or run."""
        return sum(ticket.line == line for tickets in (self._waiting, self._running) for ticket in tickets)

    def has_room(self, party: Hashable, most: int) -> bool:
        """Return whether one more of a party may wait, where `most` may in all. Beyond that many each party
        still has its share of them, so that a burst keeps nobody else from waiting."""
        if self.waiting < most:
            return True
        parties = Counter(ticket.party for ticket in self._waiting)
        return parties[party] < most // len({*parties, party})

    def join(self, line: Hashable, party: Hashable, user: Hashable) -> Ticket:
        """Wait from now on; `admit` tells when it may begin."""
        ticket = Ticket(line, party, user, next(self._numbers))
        self._waiting[ticket] = None
        self._order = None
        return ticket

    def admit(self) -> list[Ticket]:
        """Let those begin whose turn it is, and return them in their order: they are running from here on."""
        admitted = []
        while self.running < self._places and (ready := self._ready()):
            ticket = min(ready, key=self._served.rank)
            del self._waiting[ticket]
            self._running[ticket] = None
            self._served.note(ticket)
            self._order = None
            admitted.append(ticket)
        return admitted

    def leave(self, ticket: Ticket) -> None:
        """Take a ticket out: its turn is over, or does not want to wait any longer."""
        self._waiting.pop(ticket, None)
        self._running.pop(ticket, None)
        self._order = None
        if not self._waiting and not self._running:
            self._served = _Served(self._served.most)  # nobody is left to be fair to

    def is_held_up(self, ticket: Ticket) -> bool:
        """Return whether it waits for an earlier turn of its own line, and not for a place."""
        return ticket in self._waiting and ticket not in self._ready()

    def ahead(self, ticket: Ticket) -> int:
        """Count those who wait and come before it, as far as can be told now: who leaves, and who comes and
        was served longer ago, changes that."""
        if self._order is None:
            self._order = {each: number for number, each in enumerate(self._served.order(self._waiting))}
        return self._order.get(ticket, 0)

    def _ready(self) -> list[Ticket]:
        """List those whom nothing but the number of places holds back, in the order of their arrival."""
        taken = {ticket.line for ticket in self._running}
        ready = []
        for ticket in self._waiting:
            if ticket.line not in taken:
                ready.append(ticket)
                taken.add(ticket.line)
        return ready


# ---- queue -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InChannels:
    """The line of a user's questions in channels."""

    user_id: int


@dataclass(frozen=True, slots=True)
class Guild:
    """A server, as a party among those who wait."""

    id: int


LineId = int | InChannels
"""A user's line, or a user's in all channels."""
Party = Guild | LineId
"""Who takes turns with whom: a server; outside of servers a user."""

MAX_WAITING: Final = 5
"""Turns that wait in one line."""
MAX_WAITING_A_PLACE: Final = 25
"""Turns that wait, for each that may run: whoever comes after them would most likely wait in vain. When so
many wait, each party has a share of them (FairLine.has_room)."""
MAX_WAIT_S: Final = 180.0
"""With the time limit of a turn this stays under the 900 s that an interaction token of Discord lives."""
NEWS_EVERY_S: Final = 5.0
"""Whoever waits is told how many are ahead as that changes, at most so often: each time is an edit."""


@dataclass(frozen=True, slots=True)
class Load:
    """The number of turns that run and wait."""

    running: int
    waiting: int


@dataclass(eq=False, slots=True)
class QueuePlace:
    """A turn's place in line, and then among those who run."""

    ticket: Ticket
    admitted: asyncio.Event = field(default_factory=asyncio.Event)
    told: Notice | None = None
    """What its user was told last of the wait."""


class TurnQueue:
    def __init__(
        self, max_turns: int, *, news_every_s: float = NEWS_EVERY_S, max_wait_s: float = MAX_WAIT_S
    ) -> None:
        self._line = FairLine(max_turns)
        self._most = max_turns * MAX_WAITING_A_PLACE
        self._news_every_s = news_every_s
        self._max_wait_s = max_wait_s
        self._places: dict[Ticket, QueuePlace] = {}
        self._closed = asyncio.Event()

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    @property
    def load(self) -> Load:
        return Load(self._line.running, self._line.waiting)

    def close(self) -> None:
        """Let nobody in any more; those who wait get ShuttingDown."""
        self._closed.set()

    @contextmanager
    def join(self, line: LineId, guild_id: int | None = None) -> Iterator[QueuePlace]:
        """A place in line, and then among those who run, until the block is left.

        Raises Busy when too many wait already in the line, Crowded when too many wait in all, and of this
        server or user among them, and ShuttingDown once closed.
        """
        if self.closed:
            raise ShuttingDown
        if self._line.in_line(line) > MAX_WAITING:
            raise Busy
        party: Party = line if guild_id is None else Guild(guild_id)
        if not self._line.has_room(party, self._most):
            raise Crowded
        user = line.user_id if isinstance(line, InChannels) else line
        place = QueuePlace(self._line.join(line, party, user))
        self._places[place.ticket] = place
        self._move_up()
        try:
            yield place
        finally:
            del self._places[place.ticket]
            self._line.leave(place.ticket)
            self._move_up()

    def announce(self, place: QueuePlace, emit: Callable[[Notice], None]) -> None:
        """Tell somebody who waits how long the line is, if that is news to them."""
        if place.admitted.is_set():
            return
        held_up = self._line.is_held_up(place.ticket)
        news = Notice("queued", ahead=None if held_up else self._line.ahead(place.ticket))
        if news != place.told:
            place.told = news
            emit(news)

    async def wait(self, place: QueuePlace, stop: Stop, emit: Callable[[Notice], None]) -> None:
        """Wait until it is one's turn, telling what there is to tell meanwhile: nothing where there is no
        wait. On a stop request it is over at once, without a place among those who run.

        Raises Crowded when the wait takes too long, and ShuttingDown once closed.
        """
        deadline_s = asyncio.get_running_loop().time() + self._max_wait_s
        if not place.admitted.is_set() and not self.closed:
            await self._wait_until(deadline_s, place, stop, emit)
        if self.closed:
            raise ShuttingDown
        if place.told is not None:
            emit(Notice("started"))

    async def _wait_until(
        self, deadline_s: float, place: QueuePlace, stop: Stop, emit: Callable[[Notice], None]
    ) -> None:
        ends = [asyncio.create_task(event.wait()) for event in (place.admitted, stop, self._closed)]
        try:
            while not (place.admitted.is_set() or stop.requested or self.closed):
                self.announce(place, emit)
                left_s = deadline_s - asyncio.get_running_loop().time()
                if left_s <= 0:
                    raise Crowded
                wait_s = min(self._news_every_s, left_s)
                await asyncio.wait(ends, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in ends:
                task.cancel()
            await asyncio.gather(*ends, return_exceptions=True)

    def _move_up(self) -> None:
        for ticket in self._line.admit():
            self._places[ticket].admitted.set()
