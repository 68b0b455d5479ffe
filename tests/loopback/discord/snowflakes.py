"""Discord's ids: a millisecond timestamp and a counter in one integer, sent as text."""

import time
from datetime import UTC, datetime

EPOCH_MS = 1_420_070_400_000
"""The first second of 2015, as Discord counts."""


class Snowflakes:
    """Gives each thing an id that is larger than every id before, also within one millisecond."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        self._last = max(self._last + 1, (int(time.time() * 1000) - EPOCH_MS) << 22)
        return self._last


def created_at(snowflake: int) -> datetime:
    return datetime.fromtimestamp(((snowflake >> 22) + EPOCH_MS) / 1000, UTC)
