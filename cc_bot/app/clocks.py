"""The program's clock."""

from cc_bot.config import Config
from cc_bot.domain.clock import Clock, utc_now


def clock_of(config: Config) -> Clock:
    """Return the program's clock; a test may set it ahead."""
    offset = config.test_clock_offset
    return (lambda: utc_now() + offset) if offset else utc_now
