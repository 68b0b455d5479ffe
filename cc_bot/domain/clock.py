"""The time, as an argument: whoever needs it is handed a Clock."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

Clock = Callable[[], datetime]
"""Answers with the present time in UTC."""

AHEAD: Final = timedelta(minutes=1)
"""How far what is stored may be ahead of the clock that somebody goes by: of a machine whose clock is, or of
who looked at the clock later and was served first. What is further ahead was noted before a clock was put
back."""


def utc_now() -> datetime:
    return datetime.now(UTC)
