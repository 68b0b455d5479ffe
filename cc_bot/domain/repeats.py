"""When what repeats comes next.

A repeat is a cron expression of five fields, counted where its user is; or `every 6h`, which is counted in
hours that pass. Cron knows no "every other Tuesday": how many days, weeks or months there are from one to the
next then stands behind it, with the day that they are counted from: `0 10 * * 2 every 2 weeks from
2026-11-24`. So what reads cron alone still sees the right times of the right days. Weeks begin on Monday.

When clocks are put forward, a time that is left out comes as much later; when they are put
back, a time that there is twice is the first one (both as RFC 5545, section 3.3.5, has it). Only what comes
every hour comes in each hour that passes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from cc_bot.domain.errors import RepeatNotUnderstood, RepeatTooOften
from cc_bot.domain.heartbeat import next_beat
from cc_bot.domain.schedule import Quiet

Unit = Literal["days", "weeks", "months"]

_FIELDS: Final = 5
_INTERVAL: Final = re.compile(
    r"\Aevery (?P<count>\d{1,3}) (?P<unit>days|weeks|months)(?: from (?P<since>\d{4}-\d{2}-\d{2}))?\Z"
)
_MOST: Final[dict[Unit, int]] = {"days": 366, "weeks": 104, "months": 120}
_YEARS_AHEAD: Final = 50
"""How far the next time is looked for: cronsim looks so far, too."""
_SAME_WALL_TIME: Final = timedelta(hours=3)
"""Further back than any clock is put: what is on the wall then is over."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Which of the days of a cron expression count: those of every so many days, weeks or months."""

    count: int
    unit: Unit
    since: date | None = None
    """A day of the first of them; None as long as it is not known when it begins."""

    def __str__(self) -> str:
        every = f"every {self.count} {self.unit}"
        return every if self.since is None else f"{every} from {self.since.isoformat()}"

    def from_day(self, day: date) -> "Interval":
        return self if self.since else Interval(self.count, self.unit, day)

    def next_begin(self, day: date) -> date | None:
        """The first day, from this one on, of the days, weeks or months that count; None where the day itself
        is one of them."""
        if self.since is None:
            return None
        if day < self.since:
            return self.since
        number = _number_of(day, self.unit)
        missing = (_number_of(self.since, self.unit) - number) % self.count
        return _begin_of(number + missing, self.unit) if missing else None


def _number_of(day: date, unit: Unit) -> int:
    """The day's, week's or month's, counted from whenever calendars begin."""
    match unit:
        case "days":
            return day.toordinal()
        case "weeks":
            return (day.toordinal() - 1) // 7  # 1 January of the year 1 was a Monday
        case "months":
            return day.year * 12 + day.month - 1


def _begin_of(number: int, unit: Unit) -> date:
    match unit:
        case "days":
            return date.fromordinal(number)
        case "weeks":
            return date.fromordinal(number * 7 + 1)
        case "months":
            return date(number // 12, number % 12 + 1, 1)


def parts_of(repeat: str) -> tuple[str, Interval | None]:
    """The cron expression, and what stands behind it. Raises ValueError."""
    fields = repeat.split()
    cron, rest = " ".join(fields[:_FIELDS]), " ".join(fields[_FIELDS:]).lower()
    if not rest:
        return cron, None
    found = _INTERVAL.match(rest)
    count = int(found["count"]) if found else 0
    unit: Unit | None = next((each for each in _MOST if found and found["unit"] == each), None)
    if found is None or unit is None or not 1 <= count <= _MOST[unit]:
        raise ValueError(repeat)
    since = date.fromisoformat(found["since"]) if found["since"] else None
    return cron, Interval(count, unit, since) if count > 1 else None


def check_repeat(text: str) -> str:
    """A cron expression, with or without what may stand behind it, in the form that is stored; a day to count
    from may still be missing. Raises as check_cron does."""
    try:
        cron, interval = parts_of(text)
        whole = check_cron(cron)
        if interval is None:
            return whole
    except ValueError as error:
        raise RepeatNotUnderstood from error
    return f"{whole} {interval}"


def begun_on(repeat: str, day: date) -> str:
    """The repeat, counted from this day on, if it has to be counted and tells no day itself."""
    if in_hours(repeat):
        return repeat
    cron, interval = parts_of(repeat)
    return f"{cron} {interval.from_day(day)}" if interval else repeat


def check_cron(expression: str) -> str:
    """The expression in the form that is stored. Raises RepeatNotUnderstood for what is none or never comes,
    and RepeatTooOften for what comes more than once an hour."""
    fields = expression.upper().split()
    if len(fields) != _FIELDS:
        raise RepeatNotUnderstood
    cron = " ".join(fields)
    try:
        next(CronSim(cron, datetime(2024, 1, 1)), None)  # noqa: DTZ001 - what is on the wall
    except (CronSimError, ValueError, TypeError, AssertionError) as error:
        raise RepeatNotUnderstood from error  # not all of cronsim's refusals are its own errors
    if next_time(cron, datetime(2024, 1, 1, tzinfo=UTC), ZoneInfo("UTC")) is None:
        raise RepeatNotUnderstood
    if not re.fullmatch(r"\d+", fields[0]):
        raise RepeatTooOften
    return cron


def in_hours(repeat: str) -> bool:
    """Whether a repeat is counted in hours that pass: that of a heartbeat."""
    return repeat.startswith("every ")


def next_time(repeat: str, after: datetime, zone: ZoneInfo, quiet: Quiet | None = None) -> datetime | None:
    """The first time (UTC) later than `after`; None where there is none in the years to come, for what does
    not repeat, and for what is no repeat. What is counted in hours counts from `after` on and keeps out of
    quiet hours."""
    after = after.astimezone(UTC)
    try:
        if in_hours(repeat):
            return next_beat(after, repeat, zone, quiet)
        return _next_of_cron(repeat, after, zone) if repeat else None
    except (CronSimError, ValueError, TypeError, AssertionError, OverflowError):
        # past the year 9999, or damaged: not all of cronsim's refusals are its own errors
        return None


def _next_of_cron(repeat: str, after: datetime, zone: ZoneInfo) -> datetime | None:
    cron, interval = parts_of(repeat)
    fields = cron.split()
    if len(fields) != _FIELDS:  # cronsim takes six too, and would go through the seconds of hours
        raise ValueError(cron)
    hourly = fields[1] == "*"
    best: datetime | None = None
    for wall in _walls(cron, interval, after.astimezone(zone).replace(tzinfo=None) - _SAME_WALL_TIME):
        moments = [moment for moment in _moments(wall, zone, both=hourly) if moment > after]
        best = min([*moments, *([best] if best else [])], default=None)
        if best and best <= _at(wall, zone):
            return best
    return best


def _walls(cron: str, interval: Interval | None, start: datetime) -> Iterator[datetime]:
    """What a clock shows at each time after this one. Days that do not count are skipped together."""
    until = start.year + _YEARS_AHEAD
    walls = CronSim(cron, start)
    while (wall := next(walls, None)) and wall.year <= until:
        if interval and (begin := interval.next_begin(wall.date())):
            walls = CronSim(cron, datetime.combine(begin, time()) - timedelta(minutes=1))
        else:
            yield wall


def _moments(wall: datetime, zone: ZoneInfo, *, both: bool) -> Iterator[datetime]:
    yield _at(wall, zone)
    if both:
        yield _at(wall.replace(fold=1), zone)


def _at(wall: datetime, zone: ZoneInfo) -> datetime:
    return wall.replace(tzinfo=zone).astimezone(UTC)
