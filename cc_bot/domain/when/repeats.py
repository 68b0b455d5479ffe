"""Repeats as stored: a five-field cron expression in the user's time zone, or `every 6h`, in elapsed hours.

An interval may follow cron (`0 10 * * 2 every 2 weeks from 2026-11-24`); its weeks begin on Monday. A time
that a clock change skips moves later by the length of the change. If a time occurs twice, the first counts
(RFC 5545, section 3.3.5), except in an hourly repeat.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from cc_bot.domain.errors import RepeatNotUnderstood, RepeatTooOften

MIN_HOURS: Final = 1
MAX_HOURS: Final = 168

_CRON_FIELDS: Final = 5
_HOUR_REPEAT: Final = re.compile(r"every ([0-9]{1,3})h")
_INTERVAL: Final = re.compile(
    r"every (?P<count>\d{1,3}) (?P<unit>days|weeks|months)(?: from (?P<since>\d{4}-\d{2}-\d{2}))?"
)
Unit = Literal["days", "weeks", "months"]
_MAX_COUNT: Final[dict[Unit, int]] = {"days": 366, "weeks": 104, "months": 120}
_YEARS_AHEAD: Final = 50
_SEARCH_MARGIN: Final = timedelta(hours=3)  # longer than any clock change
_CRON_ERRORS: Final = (CronSimError, ValueError, TypeError, AssertionError, OverflowError)
"""cronsim also raises these besides its own."""


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Minutes after local midnight; `until` may be smaller than `since`."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class Interval:
    count: int
    unit: Unit
    since: date | None = None  # a day of the first period; None: not set yet

    def __str__(self) -> str:
        every = f"every {self.count} {self.unit}"
        return every if self.since is None else f"{every} from {self.since.isoformat()}"

    def next_period_start(self, day: date) -> date | None:
        """Return the first day of the next period in which the repeat is due; None if `day` is in one."""
        if self.since is None:
            return None
        if day < self.since:
            return self.since
        number = self._period_number(day)
        missing = (self._period_number(self.since) - number) % self.count
        if not missing:
            return None
        if self.unit == "months":
            return date((number + missing) // 12, (number + missing) % 12 + 1, 1)
        return date.fromordinal((number + missing) * 7 + 1 if self.unit == "weeks" else number + missing)

    def _period_number(self, day: date) -> int:
        if self.unit == "months":
            return day.year * 12 + day.month - 1
        return (day.toordinal() - 1) // 7 if self.unit == "weeks" else day.toordinal()


def split_repeat(repeat: str) -> tuple[str, Interval | None]:
    """Return the cron expression and its interval. Raises ValueError."""
    fields = repeat.split()
    cron, rest = " ".join(fields[:_CRON_FIELDS]), " ".join(fields[_CRON_FIELDS:]).lower()
    if not rest:
        return cron, None
    found = _INTERVAL.fullmatch(rest)
    unit = next((each for each in _MAX_COUNT if found and each == found["unit"]), None)
    if found is None or unit is None or not 1 <= int(found["count"]) <= _MAX_COUNT[unit]:
        raise ValueError(repeat)
    since = date.fromisoformat(found["since"]) if found["since"] else None
    return cron, Interval(int(found["count"]), unit, since) if int(found["count"]) > 1 else None


def check_repeat(text: str) -> str:
    """Return a cron expression with its interval as stored. Raises RepeatNotUnderstood or RepeatTooOften."""
    try:
        cron, interval = split_repeat(text)
    except ValueError as error:
        raise RepeatNotUnderstood from error
    cron = cron.upper()
    if next_time(cron, datetime(2024, 1, 1, tzinfo=UTC), ZoneInfo("UTC")) is None:
        raise RepeatNotUnderstood
    if not cron.split()[0].isdecimal():
        raise RepeatTooOften
    return f"{cron} {interval}" if interval else cron


def anchor_interval(repeat: str, day: date) -> str:
    """Return the repeat. If its interval has no start date, it starts on `day`."""
    if is_hour_based(repeat):
        return repeat
    cron, interval = split_repeat(repeat)
    return f"{cron} {replace(interval, since=interval.since or day)}" if interval else cron


def is_hour_based(repeat: str) -> bool:
    return repeat.startswith("every ")


def parse_hours(repeat: str) -> int:
    """Parse `every 6h`. Raises ValueError."""
    found = _HOUR_REPEAT.fullmatch(repeat)
    hours = int(found[1]) if found else 0
    if not MIN_HOURS <= hours <= MAX_HOURS:
        raise ValueError(repeat)
    return hours


def is_quiet(moment: datetime, zone: ZoneInfo, quiet: QuietHours | None) -> bool:
    """Return whether a moment is in the quiet hours, which do not include their end."""
    if quiet is None:
        return False
    local = moment.astimezone(zone)
    minute = local.hour * 60 + local.minute
    if quiet.since <= quiet.until:
        return quiet.since <= minute < quiet.until
    return minute >= quiet.since or minute < quiet.until


def next_time(
    repeat: str, after: datetime, zone: ZoneInfo, quiet: QuietHours | None = None
) -> datetime | None:
    """Return the first time (UTC) later than `after`; None if there is none in 50 years, or if `repeat` is
    empty or invalid. A repeat in hours counts from `after` and avoids quiet hours."""
    after = after.astimezone(UTC)
    try:
        if is_hour_based(repeat):
            return _next_hour_based(repeat, after, zone, quiet)
        return _next_by_cron(repeat, after, zone) if repeat else None
    except _CRON_ERRORS:  # the repeat is invalid, or the next time would be after the year 9999
        return None


def _next_hour_based(repeat: str, after: datetime, zone: ZoneInfo, quiet: QuietHours | None) -> datetime:
    moment = after + timedelta(hours=parse_hours(repeat))
    if quiet is None or not is_quiet(moment, zone, quiet):
        return moment
    midnight = datetime.combine(moment.astimezone(zone).date(), time())
    ends = [
        (midnight + timedelta(days=days, minutes=quiet.until)).replace(tzinfo=zone, fold=fold).astimezone(UTC)
        for days in range(3)
        for fold in (0, 1)
    ]
    return min(end for end in ends if end >= moment and not is_quiet(end, zone, quiet))


def _next_by_cron(repeat: str, after: datetime, zone: ZoneInfo) -> datetime | None:
    cron, interval = split_repeat(repeat)
    fields = cron.split()
    if len(fields) != _CRON_FIELDS:  # cronsim also accepts six, and would iterate over seconds
        raise ValueError(cron)
    folds = (0, 1) if fields[1] == "*" else (0,)
    best: datetime | None = None
    for local in _local_times(cron, interval, after.astimezone(zone).replace(tzinfo=None) - _SEARCH_MARGIN):
        moments = [local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in folds]
        best = min([*(each for each in moments if each > after), *([best] if best else [])], default=None)
        if best and best <= moments[0]:
            return best
    return best


def _local_times(cron: str, interval: Interval | None, start: datetime) -> Iterator[datetime]:
    """Yield times without a zone. With a zone, cronsim would move skipped times to the end of the clock
    change, and lose times where clocks move by half an hour (Lord Howe Island)."""
    until = start.year + _YEARS_AHEAD
    times = CronSim(cron, start)
    while (local := next(times, None)) and local.year <= until:
        if interval and (begin := interval.next_period_start(local.date())):
            times = CronSim(cron, datetime.combine(begin, time()) - timedelta(minutes=1))
        else:
            yield local
