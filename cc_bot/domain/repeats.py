"""The times of a repeat.

A repeat is a five-field cron expression in the user's time zone, or `every 6h`, counted in elapsed hours.
Cron can't express "every other Tuesday", so an interval of days, weeks or months may follow, with its start
date: `0 10 * * 2 every 2 weeks from 2026-11-24`. Weeks begin on Monday.

A time skipped when clocks go forward is that much later; of a time that occurs twice when they go back, the
first counts (RFC 5545, section 3.3.5). Only an hourly repeat comes in each elapsed hour.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from cc_bot.domain.errors import RepeatNotUnderstood, RepeatTooOften
from cc_bot.domain.schedule import Quiet, next_beat

_FIELDS: Final = 5
_INTERVAL: Final = re.compile(
    r"every (?P<count>\d{1,3}) (?P<unit>days|weeks|months)(?: from (?P<since>\d{4}-\d{2}-\d{2}))?"
)
Unit = Literal["days", "weeks", "months"]
_MAX_COUNT: Final[dict[Unit, int]] = {"days": 366, "weeks": 104, "months": 120}
_YEARS_AHEAD: Final = 50
"""Search limit for the next time, also in cronsim."""
_SAME_WALL_TIME: Final = timedelta(hours=3)
"""More than any clock is set back."""
_CRON_ERRORS: Final = (CronSimError, ValueError, TypeError, AssertionError, OverflowError)
"""cronsim also raises errors that are not its own."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The days of a cron expression that count: those in every n-th day, week or month."""

    count: int
    unit: Unit
    since: date | None = None
    """A day of the first period; None if unknown yet."""

    def __str__(self) -> str:
        every = f"every {self.count} {self.unit}"
        return every if self.since is None else f"{every} from {self.since.isoformat()}"

    def next_begin(self, day: date) -> date | None:
        """Return the first day, from this one on, of the next period that counts; None if the day is in one
        already."""
        if self.since is None:
            return None
        if day < self.since:
            return self.since
        number = self._number(day)
        missing = (self._number(self.since) - number) % self.count
        if not missing:
            return None
        match self.unit:
            case "days":
                return date.fromordinal(number + missing)
            case "weeks":
                return date.fromordinal((number + missing) * 7 + 1)
            case "months":
                return date((number + missing) // 12, (number + missing) % 12 + 1, 1)

    def _number(self, day: date) -> int:
        """Return the number of the day, week or month since the calendar began."""
        match self.unit:
            case "days":
                return day.toordinal()
            case "weeks":
                return (day.toordinal() - 1) // 7  # 1 January of the year 1 was a Monday
            case "months":
                return day.year * 12 + day.month - 1


def parts_of(repeat: str) -> tuple[str, Interval | None]:
    """Return the cron expression and its interval. Raises ValueError."""
    fields = repeat.split()
    cron, rest = " ".join(fields[:_FIELDS]), " ".join(fields[_FIELDS:]).lower()
    if not rest:
        return cron, None
    found = _INTERVAL.fullmatch(rest)
    unit = next((each for each in _MAX_COUNT if found and each == found["unit"]), None)
    if found is None or unit is None or not 1 <= int(found["count"]) <= _MAX_COUNT[unit]:
        raise ValueError(repeat)
    since = date.fromisoformat(found["since"]) if found["since"] else None
    return cron, Interval(int(found["count"]), unit, since) if int(found["count"]) > 1 else None


def check_repeat(text: str) -> str:
    """Return a cron expression with optional interval as stored. Raises as check_cron does."""
    try:
        cron, interval = parts_of(text)
    except ValueError as error:
        raise RepeatNotUnderstood from error
    return f"{check_cron(cron)} {interval}" if interval else check_cron(cron)


def count_from(repeat: str, day: date) -> str:
    """Return the repeat with its interval starting on this day, unless it has a start date."""
    if in_hours(repeat):
        return repeat
    cron, interval = parts_of(repeat)
    return f"{cron} {replace(interval, since=interval.since or day)}" if interval else cron


def check_cron(expression: str) -> str:
    """Return the expression as stored. Raises RepeatNotUnderstood if it is invalid or never occurs, and
    RepeatTooOften if it occurs more than once an hour."""
    fields = expression.upper().split()
    cron = " ".join(fields)
    if len(fields) != _FIELDS or next_time(cron, datetime(2024, 1, 1, tzinfo=UTC), ZoneInfo("UTC")) is None:
        raise RepeatNotUnderstood
    if not re.fullmatch(r"\d+", fields[0]):
        raise RepeatTooOften
    return cron


def in_hours(repeat: str) -> bool:
    """Return whether a repeat is counted in elapsed hours."""
    return repeat.startswith("every ")


def next_time(repeat: str, after: datetime, zone: ZoneInfo, quiet: Quiet | None = None) -> datetime | None:
    """Return the first time (UTC) later than `after`; None if there is none within _YEARS_AHEAD, or if
    `repeat` is empty or invalid. A repeat in hours counts from `after` and avoids quiet hours."""
    after = after.astimezone(UTC)
    try:
        if in_hours(repeat):
            return next_beat(after, repeat, zone, quiet)
        return _next_of_cron(repeat, after, zone) if repeat else None
    except _CRON_ERRORS:  # past the year 9999, or damaged
        return None


def _next_of_cron(repeat: str, after: datetime, zone: ZoneInfo) -> datetime | None:
    cron, interval = parts_of(repeat)
    fields = cron.split()
    if len(fields) != _FIELDS:  # cronsim also accepts six, and would iterate over seconds
        raise ValueError(cron)
    folds = (0, 1) if fields[1] == "*" else (0,)
    best: datetime | None = None
    for wall in _local_times(cron, interval, after.astimezone(zone).replace(tzinfo=None) - _SAME_WALL_TIME):
        moments = [wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in folds]
        best = min([*(each for each in moments if each > after), *([best] if best else [])], default=None)
        if best and best <= moments[0]:
            return best
    return best


def _local_times(cron: str, interval: Interval | None, start: datetime) -> Iterator[datetime]:
    """Yield the later local times, without days that do not count.

    cronsim is used for local times only: its own rule moves skipped times to right after the clock change,
    and its whole-hour steps lose times where clocks move by half an hour (Lord Howe Island).
    """
    until = start.year + _YEARS_AHEAD
    times = CronSim(cron, start)
    while (local := next(times, None)) and local.year <= until:
        if interval and (begin := interval.next_begin(local.date())):
            times = CronSim(cron, datetime.combine(begin, time()) - timedelta(minutes=1))
        else:
            yield local
