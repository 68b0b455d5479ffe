"""What a user chose for themselves."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cc_bot.domain.locale import Locale


@dataclass(frozen=True, slots=True)
class UserSettings:
    """A user's own choices; None where they left it to the default."""

    locale: Locale | None = None
    timezone: str | None = None
    """An IANA name such as `Asia/Tokyo`."""
    welcomed: bool = False
    """Whether the line about /help was shown once."""
    memory_paused: bool = False
    """Whether nothing is to be stored in or recalled from their memories for now."""

    def zone(self, default: ZoneInfo) -> ZoneInfo:
        """The user's time zone. A name that the time zone database no longer has counts as not chosen."""
        try:
            return ZoneInfo(self.timezone) if self.timezone else default
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return default
