"""The current time, passed as an argument."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

Clock = Callable[[], datetime]
AHEAD: Final = timedelta(minutes=1)
"""How far stored times may be ahead of the clock, as clocks of machines differ. A time further ahead was
stored before a clock was set back."""


def utc_now() -> datetime:
    return datetime.now(UTC)
