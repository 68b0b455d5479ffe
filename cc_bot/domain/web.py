from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

CODE_LIFE: Final = timedelta(minutes=10)
"""Of a sign-in link."""
UNUSED_LIFE: Final = timedelta(days=7)
"""Of an unused browser session."""
MAX_LIFE: Final = timedelta(days=30)
"""Of any browser session."""


@dataclass(frozen=True, slots=True)
class WebPlace:
    """The user of web pages, and the channel where they opened them: its access rules apply."""

    user_id: int
    channel_id: int = 0
    """0: not on Discord."""
    guild_id: int | None = None


@dataclass(frozen=True, slots=True)
class WebSession:
    id: int
    place: WebPlace
    made_at: datetime
    used_at: datetime
    ends_at: datetime

    @property
    def user_id(self) -> int:
        return self.place.user_id

    def ends(self) -> datetime:
        return min(self.ends_at, self.used_at + UNUSED_LIFE)
