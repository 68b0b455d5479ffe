"""What the operator decided about the bot on Discord."""

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from cc_bot.domain.channel import Reading
from cc_bot.domain.locale import Locale


@dataclass(frozen=True, slots=True)
class DiscordSettings:
    token: str
    owners: frozenset[int]
    """Whom the operator named; empty: whoever owns the application."""
    api_url: str | None
    """REST base; None is Discord's own."""
    reading: Reading
    """Which messages the operator wants the bot to read."""
    locale: Locale
    """For users whose language is not known."""
    operator_locale: Locale
    """For whoever reads the program's own output."""
    timezone: ZoneInfo
    drain_s: float
    """How long running turns may go on after the signal to stop."""
