"""How often each user has used the bot within the last minute, in memory: a check must not wait for a write.

Autocomplete requests come with every key press, so they are counted apart and more of them are allowed.
"""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from cc_bot.discord.places import Recent
from cc_bot.domain.limits import MINUTE

What = Literal["command", "choices"]

CHOICES_PER_COMMAND: Final = 10
MAX_CACHED_USERS: Final = 5000


@dataclass(slots=True)
class CommandRates:
    _moments: Recent[tuple[int, What], deque[datetime]] = field(
        default_factory=lambda: Recent(MAX_CACHED_USERS)
    )
    _refused_until: Recent[tuple[int, What], datetime] = field(
        default_factory=lambda: Recent(MAX_CACHED_USERS)
    )

    def count(self, user_id: int, what: What, most: int, now: datetime) -> datetime | None:
        """Count one use, unless `most` are reached within a minute; then return when the next is allowed."""
        allowed = most * CHOICES_PER_COMMAND if what == "choices" else most
        moments = self._moments.get((user_id, what)) or deque[datetime]()
        while moments and not now - MINUTE < moments[0] <= now:  # or the clock was set back
            moments.popleft()
        if len(moments) >= allowed:
            self._refused_until[user_id, what] = moments[-allowed] + MINUTE
            return moments[-allowed] + MINUTE
        moments.append(now)
        self._moments[user_id, what] = moments
        return None

    def refused_until(self, user_id: int, what: What, now: datetime) -> datetime | None:
        """Return until when uses are refused, since `count` refused one; None: they are not."""
        until = self._refused_until.get((user_id, what))
        return until if until and now < until <= now + MINUTE else None
