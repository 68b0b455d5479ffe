"""The times at which something that repeats comes.

A repeat is a cron expression of five fields, counted where its user is; or `every 6h`, which is counted in
hours that pass. Cron knows no "every other Tuesday": how many days, weeks or months there are from one to the
next then stands behind it, with the day that they are counted from: `0 10 * * 2 every 2 weeks from
2026-11-24`. So what reads cron alone still sees the right times of the right days. Weeks begin on Monday.

When clocks are put forward, a time that is left out comes as much later; when they are put
back, a time that there is twice is the first one (both as RFC 5545, section 3.3.5, has it). Only what comes
every hour comes in each hour that passes.

Cron with something behind it was chosen over an iCalendar rule, which would say the same in a language that
nothing else here is written in, with a library of its own.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from cc_bot.domain.errors import (
    NoSuchTime,
    RepeatNotUnderstood,
    RepeatTooOften,
    SeveralTimes,
    WhenNotUnderstood,
)
from cc_bot.domain.repeat_days import Days, find_days
from cc_bot.domain.rhythms import Rhythm, find_rhythm, sounds_repeated
from cc_bot.domain.schedule import Quiet, next_beat
from cc_bot.domain.when import LONGEST, USUAL_MINUTE_OF_DAY, ReadTime, clock_alone, parse_several, read_when
from cc_bot.domain.when_words import MIDNIGHT, SMALL_HOURS, normalize, read

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
    """The choice among the days of a cron expression: those of every so many days, weeks or months."""

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


def count_from(repeat: str, day: date) -> str:
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
    """Return whether a repeat is counted in hours that pass: that of a heartbeat."""
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
    """Yield what a clock shows at each time after this one. Days that do not count are skipped together."""
    until = start.year + _YEARS_AHEAD
    walls = CronSim(cron, start)
    while (wall := next(walls, None)) and wall.year <= until:
        if interval and (begin := interval.next_begin(wall.date())):
            walls = CronSim(cron, datetime.combine(begin, time()) - timedelta(minutes=1))
        else:
            yield wall


def _moments(wall: datetime, zone: ZoneInfo, *, both: bool) -> Iterator[datetime]:
    """Yield the moments at which clocks show this. cronsim is asked only for what is on the wall. Its own
    rule has a time that is left out come as soon as clocks have moved, and counts in whole hours: it loses
    times where they move by half of one (3:00 of `0 */3 * * *`, on Lord Howe Island in April)."""
    yield _at(wall, zone)
    if both:
        yield _at(wall.replace(fold=1), zone)


def _at(wall: datetime, zone: ZoneInfo) -> datetime:
    return wall.replace(tzinfo=zone).astimezone(UTC)


# ---- repeat words ----------------------------------------------------------------------------------------
# A repeat as people write it, in Japanese or English, or as cron: the repeat that is meant, as stored.
#
# `毎朝8時`, `平日9時`, `隔週の火曜 10時`, `毎月第2水曜`, `every weekday at 9`, `every other friday`.
# It is read in three steps: how often (rhythms), on which days (repeat_days), at which times. What is left
# over then was not understood, and nothing is.

DAILY: Final = "* * *"
MOST_AT_ONCE: Final = 5
"""Schedules that one text makes."""
MOST_HOURS: Final = 168
"""Between two times that are counted in hours."""
Planned = tuple[datetime, str]
"""The first time (UTC), and the repeat as it is stored; empty for what comes once."""

_CRON: Final = re.compile(
    r"\A[\d*/,\-#a-z]++(?:\s++[\d*/,\-#a-z]++){4}(?:\s++every\s[\w\s-]{1,40})?", re.IGNORECASE | re.ASCII
)
_DAILY_PART: Final = re.compile(r"毎(?=[朝晩夕夜昼])")
_WEEKDAY_LIKE: Final = re.compile(r"(?<![\d・平土末])[月火水木金土日](?![曜・日末初])")
"""毎朝`水`やり: among other words, a weekday is written with 曜."""
_HAS_STARS_OR_DIGITS: Final = re.compile(r"^[\d*]")
_ONCE: Final = re.compile(
    r"(?:繰り?返し(?:は)?)?(?:なし|無し|しない|ない|1回(?:だけ|のみ|きり)?|1度(?:だけ)?|不要)|none|no|never|once|off|-"
)
_LISTED: Final = re.compile(r"と|及び|[,、&・/]|\band\b|(?<=[朝昼夕夜晩])(?=[朝昼夕夜晩])")
_PAST_THE_HOUR: Final = re.compile(
    r"(?P<ja>\d{1,2})分\s?に?|(?:at )?(?P<en>\d{1,2}) (?:minutes )?past(?: the hour)?"
)
_BEGINNINGS: Final = {
    "来週": "来週の月曜",
    "再来週": "再来週の月曜",
    "来月": "来月1日",
    "再来月": "再来月1日",
    "来年": "来年1月1日",
    "next week": "next monday",
}
"""What begins next week does so on its first day."""
_TODAY: Final = re.compile(r"今日|本日|きょう|today", re.IGNORECASE)
_STARTING: Final = re.compile(r"\b(?:starting|beginning|from)\b(?: (?:on|at|from)\b)?")
_FROM: Final = re.compile(r"\(|\)|から|開始|\b(?:from|starting(?: at| from)?|beginning)\b")


def parse_repeat(text: str, *, start: datetime | None = None) -> str:
    """The repeat that a text means; `start`, where its user is, tells the day and time that the text leaves
    out. One that is counted from its first day does not tell that day yet (`repeats.begun_on`).

    Raises RepeatNotUnderstood, RepeatTooOften, or SeveralTimes for what only several repeats can be.
    """
    repeats = _parse_repeats(text, start)
    if len(repeats) > 1:
        raise SeveralTimes
    return repeats[0]


def parse_schedules(when: str, repeat: str, now: datetime, zone: ZoneInfo) -> tuple[Planned, ...]:
    """Read all that is meant: several where no single schedule can be it (`明日9時と18時`).
    What repeats may be said in either; a `when` beside a `repeat` tells when it begins, and the day and time
    where `repeat` tells none.

    Raises what `parse_when` and `parse_repeat` raise; SeveralTimes for more than MOST_AT_ONCE, and for one
    repeat with several beginnings.
    """
    planned = _planned(when, repeat, now, zone)
    if len(planned) > MOST_AT_ONCE:
        raise SeveralTimes
    return planned


def _planned(when: str, repeat: str, now: datetime, zone: ZoneInfo) -> tuple[Planned, ...]:
    if len(repeat) <= LONGEST and _ONCE.fullmatch(normalize(repeat)):
        first, *others = sorted(moment for moment, _ in _once_or_again(when, now, zone))
        if others:
            raise SeveralTimes
        return ((first, ""),)
    if not repeat.strip():
        return _once_or_again(when, now, zone)
    if not when.strip():
        return _first_times(_parse_repeats(repeat, None), now, zone)
    if _TODAY.fullmatch(when.strip()):
        when = now.astimezone(zone).date().isoformat()  # alone it does not tell when
    try:
        start = read_when(when, now, zone, over=True)
    except NoSuchTime:
        raise
    except WhenNotUnderstood:
        if _is_repeated(when):  # two repeats: which of them?
            raise RepeatNotUnderstood from None
        parse_several(when, now, zone)
        raise SeveralTimes from None
    return _from(start, repeat, now, zone)


def parse_schedule(when: str, repeat: str, now: datetime, zone: ZoneInfo) -> Planned:
    """Read what is one schedule. Raises SeveralTimes for all else, and what `parse_schedules` raises."""
    planned = parse_schedules(when, repeat, now, zone)
    if len(planned) > 1:
        raise SeveralTimes
    return planned[0]


def _once_or_again(when: str, now: datetime, zone: ZoneInfo) -> tuple[Planned, ...]:
    try:
        return ((read_when(when, now, zone).moment, ""),)
    except NoSuchTime:
        raise
    except WhenNotUnderstood as error:
        try:
            return _first_times(_parse_repeats(when, None), now, zone)
        except RepeatNotUnderstood:
            if found := _begun(when):
                return _planned(*found, now, zone)
            if _is_repeated(when):
                raise
        try:
            return tuple((moment, "") for moment in parse_several(when, now, zone))
        except WhenNotUnderstood:
            raise error from None


def _begun(when: str) -> tuple[str, str] | None:
    """`明日から毎日9時`, `every 3 days starting tomorrow`: the beginning and the repeat; None for others."""
    if len(when) > LONGEST:
        return None
    written = normalize(when)
    start, since, repeat = written.partition("から")
    if not since:
        repeat, *starts = _STARTING.split(written, maxsplit=1)
        start = starts[0] if starts else ""
    if not start.strip() or not sounds_repeated(repeat) or sounds_repeated(start):
        return None
    start = start.strip()
    return _BEGINNINGS.get(start, start), repeat.strip(" ,、")


def _is_repeated(when: str) -> bool:
    return len(when) <= LONGEST and sounds_repeated(normalize(when))


def _from(start: ReadTime, repeat: str, now: datetime, zone: ZoneInfo) -> tuple[Planned, ...]:
    """Repeat from the time on that is named; from the beginning of the day, where only that is."""
    local = start.moment.astimezone(zone)
    begin = local if start.timed else datetime.combine(local.date(), time(), zone)
    repeats = _parse_repeats(repeat, local)
    if all(map(in_hours, repeats)) and start.moment > now:
        return tuple((start.moment, each) for each in repeats)
    return _first_times(repeats, now, zone, begin.astimezone(UTC) - timedelta(seconds=1))


def _first_times(
    repeats: list[str], now: datetime, zone: ZoneInfo, begin: datetime | None = None
) -> tuple[Planned, ...]:
    """The first time of each that is still to come. Days between two are counted from its very first one."""
    planned: list[Planned] = []
    for each in repeats:
        first = next_time(each, begin or now, zone)
        if first is None:
            raise RepeatNotUnderstood
        repeat = count_from(each, first.astimezone(zone).date())
        due = first if first > now else next_time(repeat, now, zone)
        if due is None:
            raise RepeatNotUnderstood
        planned.append((due, repeat))
    return tuple(sorted(planned))


def _parse_repeats(text: str, start: datetime | None) -> list[str]:
    if len(text) > LONGEST:
        raise RepeatNotUnderstood
    if _CRON.fullmatch(text.strip()) and _HAS_STARS_OR_DIGITS.match(text.strip()):
        return [check_repeat(text)]
    if len(written := _DAILY_PART.sub("毎日", normalize(text))) > 2 * LONGEST:
        raise RepeatNotUnderstood
    rhythm, rest = find_rhythm(written)
    if rhythm and rhythm.unit == "minutes":
        _minutes(rest)
        raise RepeatTooOften
    if rhythm and rhythm.unit == "hours":
        return [_hours_apart(rhythm.count, rest, start)]
    days, rest = find_days(rest)
    fields, rhythm = _fields(rhythm, days, start)
    return [check_repeat(each) for each in _with_clock(fields, _minutes(rest), rhythm, start)]


def repeats_among(written: str, start: datetime) -> list[str]:
    """Return the repeats that a text, as `normalize` left it, speaks of among other words. `start`, where its
    user is, tells the time of day, and the day that the text leaves out."""
    rhythm, rest = find_rhythm(_DAILY_PART.sub("毎日", written))
    try:
        if rhythm and rhythm.unit == "hours":
            return [_hours_apart(rhythm.count, "", start)]
        fields, rhythm = _fields(rhythm, find_days(_WEEKDAY_LIKE.sub(" ", rest))[0], start)
        found = [check_repeat(each) for each in _with_clock(fields, set(), rhythm, start)]
    except (RepeatNotUnderstood, RepeatTooOften):
        return []
    return [count_from(each, start.date()) for each in found]


def _fields(rhythm: Rhythm | None, days: Days | None, start: datetime | None) -> tuple[str, Rhythm]:
    """Return the days of cron for a rhythm and the days that are named. Raises RepeatNotUnderstood."""
    if rhythm is None and days and days.alone:
        rhythm = Rhythm(days.unit)
    if rhythm is None:
        raise RepeatNotUnderstood
    if days is None:
        fields = {"days": DAILY, "weeks": "* * ?", "months": "? * *", "years": "? ? *"}[rhythm.unit]
    elif days.unit == rhythm.unit or (days.unit == "weeks" and rhythm == Rhythm("days")):
        fields = days.fields
    else:
        raise RepeatNotUnderstood
    return _with_day(fields, start), rhythm


def _with_day(fields: str, start: datetime | None) -> str:
    """The days, with those that nothing but the first day tells."""
    if "?" not in fields:
        return fields
    if start is None:
        raise RepeatNotUnderstood
    day, month, weekday = fields.split()
    if day == "?":
        day = "L" if start.day == 31 else str(start.day)
        if month == "?":
            day, month = str(start.day), str(start.month)
    return f"{day} {month} {start.isoweekday() % 7 if weekday == '?' else weekday}"


def _with_clock(days: str, times: set[int], rhythm: Rhythm, start: datetime | None) -> list[str]:
    """The whole expressions: one for each minute of an hour, for cron has no 9:00 and 18:30 in one."""
    minutes = times or {USUAL_MINUTE_OF_DAY if start is None else start.hour * 60 + start.minute}
    if max(minutes) >= MIDNIGHT and (days, rhythm.count) != (DAILY, 1):
        raise RepeatNotUnderstood  # the night after Monday is on a Tuesday
    hours = defaultdict[int, set[int]](set)
    for each in minutes:
        hours[each % 60].add(each // 60 % 24)
    every = _interval(rhythm)
    return [f"{past} {_listed(of_day)} {days}{every}" for past, of_day in sorted(hours.items())]


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, sorted(numbers)))


def _interval(rhythm: Rhythm) -> str:
    """Return what stands behind cron: see `Repeat`."""
    count, unit = rhythm.count, rhythm.unit
    if count < 1:
        raise RepeatNotUnderstood
    if unit == "years":
        count, unit = count * 12, "months"
    return "" if rhythm.count == 1 else f" every {count} {unit}"


def _hours_apart(hours: int, rest: str, start: datetime | None) -> str:
    """Cron begins anew at midnight: what does not divide a day is counted in hours that pass."""
    if hours == 1 and (past := _PAST_THE_HOUR.fullmatch(rest.strip(" ,、"))):
        return check_repeat(f"{int(past['ja'] or past['en'])} * {DAILY}")
    from_when, named = _FROM.subn(" ", rest)
    times = _minutes(from_when)
    if not 1 <= hours <= MOST_HOURS or len(times) > 1 or (times and (24 % hours or not named)):
        raise RepeatNotUnderstood
    if 24 % hours:
        return f"every {hours}h"
    usual = USUAL_MINUTE_OF_DAY if hours == 24 else 0
    begin = min(times, default=usual if start is None else start.hour * 60 + start.minute)
    return check_repeat(f"{begin % 60} {_hours_from(begin // 60 % 24, hours)} {DAILY}")


def _hours_from(begin: int, apart: int) -> str:
    """Cron's field of the hours that are so far apart, this one among them."""
    if apart in (1, 24):
        return "*" if apart == 1 else str(begin)
    first = begin % apart
    return _listed(range(first, 24, apart)) if first else f"*/{apart}"


def _minutes(rest: str) -> set[int]:
    """Minutes after midnight of the times that are named."""
    found = set[int]()
    for number, part in enumerate(_LISTED.split(rest)):
        try:
            said = read(clock_alone(part.strip()) if number else part.strip())
            minute = said.minute_of_some_day()
        except (WhenNotUnderstood, ValueError) as error:
            raise RepeatNotUnderstood from error
        if said.seen - {"clock", "part"} or said.as_now:
            raise RepeatNotUnderstood
        if minute is not None:
            found.add(minute + MIDNIGHT * (said.part == "late" and minute < SMALL_HOURS))
    return found
