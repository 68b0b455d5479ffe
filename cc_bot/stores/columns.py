"""How values are written into columns, where every store must do it alike."""

from datetime import UTC, datetime, timedelta
from typing import Final, Literal

_BEGINNING_OF_TIME: Final = ""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS: Final = 221_845_392_000_000  # the year 9000: all clocks of the world can tell it


def to_text(moment: datetime) -> str:
    """UTC in ISO 8601, always with microseconds: of one width, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def to_ms(moment: datetime) -> int:
    """Unix milliseconds, the rest cut off. In integers: a float loses a millisecond now and then."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def from_ms(ms: int) -> datetime:
    """What no clock tells, in a file that was changed by hand, is the nearest moment that clocks do tell: one
    row of one user must not break what reads those of all."""
    told = min(max(ms, 0), _LAST_MS)
    return datetime.fromtimestamp(told / 1000, UTC)  # rounds to microseconds: exact until 2242


def idle_since(now: datetime, ttl: timedelta) -> str:
    """The last moment of activity that is too long ago for a session to be open still."""
    try:
        return to_text(now - ttl)
    except OverflowError:  # a time to live of thousands of years: sessions never expire
        return _BEGINNING_OF_TIME


def next_number(noun: Literal["memory", "schedule", "proposal"]) -> str:
    """The number of a new row of a user, as SQL. $1 is the user. By the primary key of `numbers`."""
    last = f"SELECT last FROM numbers WHERE user_id = $1 AND noun = '{noun}'"  # noqa: S608 - one of three words
    return f"1 + coalesce(({last}), 0)"
