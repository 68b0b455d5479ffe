"""Heartbeats: every so many hours the bot looks whether there is something its user would want to hear.

When the next one is due is decided here, from the time that it is now: never in the hours that its user wants
to be quiet.
"""

import re
import unicodedata
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.schedule import Quiet

LEAST_HOURS: Final = 1
MOST_HOURS: Final = 168
USUAL_QUIET: Final = Quiet(22 * 60, 7 * 60)
"""Unless its user says otherwise."""

_REPEAT: Final = re.compile(r"every ([0-9]{1,3})h")
_CLOCK: Final = re.compile(r"([0-9]{1,2})(?::([0-9]{2})|時(?:([0-9]{1,2})分|(半))?)?\s*(am|pm)?")


def repeat_of(hours: int) -> str:
    """How a heartbeat's schedule says that it comes every so many hours. Raises ValueError for more or fewer
    than there may be."""
    if not LEAST_HOURS <= hours <= MOST_HOURS:
        raise ValueError(f"every {hours} hours")
    return f"every {hours}h"


def hours_of(repeat: str) -> int:
    """The hours between two heartbeats. Raises ValueError for what `repeat_of` did not make."""
    found = _REPEAT.fullmatch(repeat)
    hours = int(found[1]) if found else 0
    if not LEAST_HOURS <= hours <= MOST_HOURS:
        raise ValueError(repeat)
    return hours


def is_quiet(moment: datetime, zone: ZoneInfo, quiet: Quiet | None) -> bool:
    """Whether the clock on the user's wall shows one of the quiet hours; the end is no part of them."""
    if quiet is None:
        return False
    local = moment.astimezone(zone)
    minute = local.hour * 60 + local.minute
    if quiet.since <= quiet.until:
        return quiet.since <= minute < quiet.until
    return minute >= quiet.since or minute < quiet.until


def next_beat(now: datetime, repeat: str, zone: ZoneInfo, quiet: Quiet | None) -> datetime:
    """When the next heartbeat is due (UTC): its hours from now; at the end of the quiet hours, if that is in
    them. An end that the clocks leave out is that much later. Raises ValueError as `hours_of` does."""
    moment = now.astimezone(UTC) + timedelta(hours=hours_of(repeat))
    if quiet is None or not is_quiet(moment, zone, quiet):
        return moment
    first = moment.astimezone(zone).date()
    ends = [
        end
        for days in range(3)
        for end in _times(first + timedelta(days=days), quiet.until, zone)
        if end >= moment and not is_quiet(end, zone, quiet)
    ]
    return min(ends)


def _times(day: date, minute: int, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """When the clock shows this on a day: twice on the night when it is set back."""
    first, second = (
        datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=zone, fold=fold)
        for fold in (0, 1)
    )
    return first.astimezone(UTC), second.astimezone(UTC)


def parse_minute(text: str) -> int | None:
    """Minutes after midnight of a time as people write it: `22`, `22:30`, `22時半`, `10pm`; None for anything
    else. 24:00 is midnight."""
    found = _CLOCK.fullmatch(unicodedata.normalize("NFKC", text).strip().casefold())
    if found is None:
        return None
    hour, half = int(found[1]), 30 if found[4] else 0
    minute = int(found[2] or found[3] or half)
    if found[5]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[5] == "pm" else 0)
    total = hour * 60 + minute
    return total % (24 * 60) if minute < 60 and total <= 24 * 60 else None


def clock_time(minute: int) -> str:
    """`7:00`, as both languages write it."""
    return f"{minute // 60}:{minute % 60:02}"
