"""The time, as an argument: whoever needs it is handed a Clock."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Answers with the present time in UTC."""


def utc_now() -> datetime:
    return datetime.now(UTC)
