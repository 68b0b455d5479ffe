"""Who may start a turn now: one at a time for each user and each channel, so many at a time in all.

This bounds what anybody can spend, and it keeps the turns of a conversation in order: a session has one user,
and a channel's conversation one channel. A user's turns in channels have a line of their own, so that nobody
in a channel waits for what one of them asked elsewhere in private. Who comes next of those who wait is
decided in fair_line.py; here they wait.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from cc_bot.assistant.fair_line import FairLine, Ticket
from cc_bot.assistant.stop import Stop
from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.errors import Busy, Crowded, ShuttingDown
from cc_bot.domain.events import Notice
from cc_bot.domain.session import SessionKey


@dataclass(frozen=True, slots=True)
class InChannels:
    """The line of a user's questions in channels."""

    user_id: int


@dataclass(frozen=True, slots=True)
class Guild:
    """A server, as a party among those who wait."""

    id: int


LineId = int | ChannelKey | InChannels
"""A user's line, a channel's, or a user's in all channels."""
Party = Guild | LineId
"""Who takes turns with whom: a server; outside of servers a user, or a channel."""

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
    """How busy the assistant is."""

    running: int
    waiting: int


@dataclass(eq=False, slots=True)
class Place:
    """One turn's place in line, and then among those who run."""

    ticket: Ticket
    admitted: asyncio.Event = field(default_factory=asyncio.Event)


class TurnQueue:
    def __init__(
        self, max_turns: int, *, news_every_s: float = NEWS_EVERY_S, max_wait_s: float = MAX_WAIT_S
    ) -> None:
        self._line = FairLine(max_turns)
        self._most = max_turns * MAX_WAITING_A_PLACE
        self._news_every_s = news_every_s
        self._max_wait_s = max_wait_s
        self._places: dict[Ticket, Place] = {}
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
    def joined(self, lines: Sequence[LineId], guild_id: int | None = None) -> Iterator[Place]:
        """A place in line, and then among those who run, until the block is left.

        A channel's line is named before its user's. Raises Busy when too many wait already in one of the
        lines, and Crowded when too many wait in all, and of this server or user among them.
        """
        if any(self._line.in_line(line) > MAX_WAITING for line in lines):
            raise Busy
        party: Party = lines[0] if guild_id is None else Guild(guild_id)
        if not self._line.has_room(party, self._most):
            raise Crowded
        user = lines[-1].user_id if isinstance(lines[-1], InChannels) else lines[-1]
        place = Place(self._line.join(lines, party, user))
        self._places[place.ticket] = place
        self._move_up()
        try:
            yield place
        finally:
            del self._places[place.ticket]
            self._line.leave(place.ticket)
            self._move_up()

    async def wait(self, place: Place, stop: Stop) -> AsyncGenerator[Notice, None]:
        """Until it is one's turn, with what to tell meanwhile: nothing where there is no wait. On a stop
        request it is over at once, without a place among those who run.

        Raises Crowded when the wait takes too long, and ShuttingDown once closed.
        """
        told: Notice | None = None
        deadline_s = asyncio.get_running_loop().time() + self._max_wait_s
        if place.admitted.is_set() and not self.closed:
            return
        ends = [asyncio.create_task(event.wait()) for event in (place.admitted, stop, self._closed)]
        try:
            while not (place.admitted.is_set() or stop.requested or self.closed):
                news = self._standing(place.ticket)
                if news != told:
                    told = news
                    yield news
                left_s = deadline_s - asyncio.get_running_loop().time()
                if left_s <= 0:
                    raise Crowded
                wait_s = min(self._news_every_s, left_s)
                await asyncio.wait(ends, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in ends:
                task.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        if self.closed:
            raise ShuttingDown
        if told is not None:
            yield Notice("started")

    def _standing(self, ticket: Ticket) -> Notice:
        """What to tell somebody who waits."""
        held_up = self._line.is_held_up(ticket)
        return Notice("queued", ahead=None if held_up else self._line.ahead(ticket))

    def _move_up(self) -> None:
        for ticket in self._line.admit():
            self._places[ticket].admitted.set()


def lines_of(key: SessionKey | ChannelKey, user_id: int | None) -> tuple[LineId, ...]:
    """Where a turn waits: a session's in its user's line; a channel's in that channel's, and behind what the
    one user whom it answers asked in other channels."""
    if isinstance(key, SessionKey):
        return (key.user_id,)
    return (key,) if user_id is None else (key, InChannels(user_id))
