"""How often and how long requests wait for Discord's rate limits, as far as hikari tells.

hikari waits by itself, within its calls, and tells of it to nobody but its log. So its log is listened to:
the parameters of a record are taken before it is written anywhere. Where a route's limit is used up it names
the seconds; of a 429 to one request alone it does not. Nothing of hikari is changed, and a record that is
worded otherwise one day is merely not counted; a test drives the real one into the waits.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cc_bot.domain.measures import Held, Meter

WAITS: Final = "hikari.ratelimits"
REFUSALS: Final = "hikari.rest"

_KINDS: Final[dict[str, Held]] = {
    "you are being rate limited on bucket": "bucket",
    "you are being globally rate limited": "global",
    "rate limited on a %s sub bucket": "refused",
    "rate limited on bucket %s, maybe": "refused",
}
"""How hikari's records begin."""


class _Ear(logging.Filter):
    """Counts, and lets through what would be written without it."""

    def __init__(self, meter: Meter, least: int) -> None:
        super().__init__()
        self._meter = meter
        self._least = least

    def filter(self, record: logging.LogRecord) -> bool:
        said = str(record.msg)
        for beginning, held in _KINDS.items():
            if said.startswith(beginning):
                self._meter.rate_limited(held, _seconds(record) if held != "refused" else None)
        return record.levelno >= self._least


def _seconds(record: logging.LogRecord) -> float | None:
    """The last parameter."""
    last = record.args[-1] if isinstance(record.args, tuple) and record.args else None
    return float(last) if isinstance(last, int | float) else None


@contextmanager
def heard(meter: Meter) -> Iterator[None]:
    """Have the meter told of every wait."""
    waits, refusals = logging.getLogger(WAITS), logging.getLogger(REFUSALS)
    ears = [(logger, _Ear(meter, logger.getEffectiveLevel())) for logger in (waits, refusals)]
    level = waits.level
    waits.setLevel(logging.DEBUG)  # a route's waits are told there
    for logger, ear in ears:
        logger.addFilter(ear)
    try:
        yield
    finally:
        for logger, ear in ears:
            logger.removeFilter(ear)
        waits.setLevel(level)
