"""Browsers that are signed in to somebody's pages."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

CODE_LIFE: Final = timedelta(minutes=10)
"""Of a link that signs in."""
UNUSED_LIFE: Final = timedelta(days=7)
"""Of a browser that nobody uses."""
LONGEST_LIFE: Final = timedelta(days=30)
"""Of a browser, used or not."""


@dataclass(frozen=True, slots=True)
class WebPlace:
    """The user of some pages, and where on Discord they were asked for: that place's rules hold for them."""

    user_id: int
    channel_id: int = 0
    """0: not on Discord."""
    guild_id: int | None = None


@dataclass(frozen=True, slots=True)
class WebSession:
    """A browser that is signed in."""

    id: int
    place: WebPlace
    made_at: datetime
    used_at: datetime
    ends_at: datetime
    """In any case; earlier, when it is not used."""

    @property
    def user_id(self) -> int:
        return self.place.user_id

    def ends(self) -> datetime:
        """Return when it ends if it is not used again."""
        return min(self.ends_at, self.used_at + UNUSED_LIFE)
