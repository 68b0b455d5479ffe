"""How often each user has had the bot do something within the last minute.

It is kept in memory: a start comes too seldom to give anybody more, and a command must not have to wait for
the database to write. Lists of choices come with every key that is pressed; they are counted apart, and more
of them are let through.
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from cc_bot.discord.recent import Recent
from cc_bot.domain.limits import MINUTE

What = Literal["command", "choices"]

CHOICES_PER_COMMAND: Final = 10
REMEMBERED: Final = 5000
"""Users at a time."""


@dataclass(slots=True)
class CommandRates:
    _moments: Recent[tuple[int, What], deque[datetime]] = field(default_factory=lambda: Recent(REMEMBERED))

    def count(self, user_id: int, what: What, most: int, now: datetime) -> datetime | None:
        """Count one, unless there were `most` in the last minute; then the moment of the next."""
        allowed = most * CHOICES_PER_COMMAND if what == "choices" else most
        moments = self._moments.get((user_id, what)) or deque[datetime]()
        while moments and not now - MINUTE < moments[0] <= now:  # or the clock was put back
            moments.popleft()
        if len(moments) >= allowed:
            return moments[-allowed] + MINUTE
        moments.append(now)
        self._moments[user_id, what] = moments
        return None
