"""A time as people write it, in Japanese or English, or in ISO 8601: the moment that is meant.

`10分後`, `明日9時`, `来週の金曜18:00`, `12月3日の正午`, `in 10 minutes`, `tomorrow at 9am`, `dec 3 noon`.
What is named without a day is today's or, once that has passed, tomorrow's; `明日3時` and `at 3` are in the
afternoon (the night is named: `朝3時`, `3am`, `3:00`). A date without a year is the next one; `12/3` is in
December. `next friday` and 来週の金曜 are of the week that begins next Monday. What clocks leave out is as
much later; of a time that there is twice, the first is meant that is still to come.
"""

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import NoSuchTime, WhenNotUnderstood, WhenPassed, WhenTooFar
from cc_bot.domain.holidays import day_named, nth_weekday
from cc_bot.domain.when_words import MIDNIGHT, NOON, SMALL_HOURS, TimeWords, normalize, read

FURTHEST_YEARS: Final = 10
USUAL_MINUTE_OF_DAY: Final = 9 * 60
"""After midnight: when a day is named alone."""
AFTERNOON_UNTIL: Final = 7 * 60
"""Minutes after noon: `5時` is this afternoon's once that of the morning is over; 7時 may be tomorrow's."""
_A_LIFE: Final = timedelta(days=366 * 150)
"""As long ago as what repeats may have begun: a birthday."""
LONGEST: Final = 200
"""Characters; whatever is longer is no time, and is matched with nothing."""

_LISTED: Final = re.compile(r"と|及び|[、,&]|\band\b")
_NUMBER: Final = re.compile(r"\d{1,2}")
_CLOCK: Final = frozenset({"clock", "part"})
_ISO: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?P<time>[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?P<offset>\s?z|[+-]\d{2}:?\d{2})?)?"
)


@dataclass(frozen=True, slots=True)
class ReadTime:
    """The moment that a text means."""

    moment: datetime
    """UTC."""
    timed: bool
    """Whether the text names a time of day, or so many hours; else it is the usual one of the day."""


def parse_when(text: str, now: datetime, zone: ZoneInfo) -> datetime:
    """The moment (UTC) that a text means to somebody in this time zone.

    Raises WhenNotUnderstood, and NoSuchTime as one of those; WhenPassed or WhenTooFar.
    """
    return read_when(text, now, zone).moment


def read_when(text: str, now: datetime, zone: ZoneInfo, *, over: bool = False) -> ReadTime:
    """Read what a text means, as `parse_when` does, with what it is known by. `over`: a day that is over is
    meant as well, as the beginning of what repeats."""
    written = _written(text)
    try:
        meant = _meant(written, now.astimezone(UTC), zone, over=over)
        furthest = now + timedelta(days=366 * FURTHEST_YEARS)
    except (ValueError, OverflowError) as error:
        raise WhenNotUnderstood from error
    if meant.moment <= (now - _A_LIFE if over else now):
        raise WhenPassed
    if meant.moment > furthest:
        raise WhenTooFar(limit=FURTHEST_YEARS)
    return meant


def parse_several(text: str, now: datetime, zone: ZoneInfo) -> list[datetime]:
    """The moments of a list: `明日9時と18時`, `monday and tuesday at 9`. What one leaves out is that of the
    others. Raises what parse_when does; WhenNotUnderstood for what is no list."""
    first, *others = (part.strip() for part in _LISTED.split(_written(text)))
    saids = [read(first), *(read(clock_alone(part)) for part in others)]
    if len(saids) < 2 or any(said.shift or not said.seen for said in saids):
        raise WhenNotUnderstood
    clocks = [said for said in saids if said.seen & _CLOCK]
    moments = set[datetime]()
    day: TimeWords | None = None
    for said in saids:
        day = said if said.seen - _CLOCK else day
        clock = said if said.seen & _CLOCK else next(iter(clocks), said)
        moments.add(_first_to_come(_joined(day, clock), now.astimezone(UTC), zone).moment)
    if len(moments) < 2:
        raise WhenNotUnderstood
    return sorted(moments)


def clock_alone(part: str) -> str:
    """A later part of a list, which may be no more than a number: `at 9 and 18`."""
    return f"at {part}" if _NUMBER.fullmatch(part) else part


def _joined(day: TimeWords | None, clock: TimeWords) -> TimeWords:
    """The day of one and the time of the other."""
    if day is None or day is clock:
        return clock
    seen = (day.seen - _CLOCK) | (clock.seen & _CLOCK)
    return replace(
        clock,
        days=day.days,
        date=day.date,
        named=day.named,
        year_named=day.year_named,
        nth=day.nth,
        weekday=day.weekday,
        strictly=day.strictly,
        week=day.week,
        month=day.month,
        year=day.year,
        part=clock.part or day.part,
        seen=seen,
    )


def _written(text: str) -> str:
    if len(text) > LONGEST or len(written := normalize(text)) > LONGEST:  # ㍿ becomes four characters
        raise WhenNotUnderstood
    return written


def _meant(written: str, now: datetime, zone: ZoneInfo, *, over: bool) -> ReadTime:
    if (iso := _ISO.fullmatch(written)) and iso["time"]:
        try:
            moment = datetime.fromisoformat(written.upper().replace(" Z", "Z"))
        except ValueError as error:
            raise NoSuchTime from error
        return ReadTime(
            moment.astimezone(UTC) if iso["offset"] else _on_the_wall(moment, now, zone), timed=True
        )
    said = read(written)
    if said.shift:
        return ReadTime(_shifted(said, now, zone), timed=bool(said.shift[2] or said.seen & _CLOCK))
    return _first_to_come(said, now, zone, over=over)


def _first_to_come(said: TimeWords, now: datetime, zone: ZoneInfo, *, over: bool = False) -> ReadTime:
    local = now.astimezone(zone)
    if said.as_now:
        said = replace(said, minute=local.hour * 60 + local.minute)
    past: datetime | None = None
    for wall in _walls(said, local.date()):
        moment = _on_the_wall(wall, now, zone)
        if moment > now:
            return ReadTime(moment, timed=bool(said.seen & _CLOCK))
        past = moment
    if past and over:
        return ReadTime(past, timed=bool(said.seen & _CLOCK))
    raise WhenPassed


def _walls(said: TimeWords, today: date) -> Iterator[datetime]:
    """Yield what a clock may show then, in the order in which it does."""
    minute = said.minute_of_day()
    if minute is None:
        if not (said.seen - {"part"}) or said.days == 0 or said.part in ("late", "small_hours"):
            raise WhenNotUnderstood  # today, but when?
        minute = USUAL_MINUTE_OF_DAY
    unnamed = not (said.seen - {"clock", "part"})
    if not unnamed and said.days != 0 and said.part == "late" and minute < SMALL_HOURS:
        raise WhenNotUnderstood  # 金曜の深夜1時: the night before, or the one after?
    if minute >= MIDNIGHT and (unnamed or (said.days == 0 and said.part == "night")):
        yield _at(today, minute - MIDNIGHT)  # it is that night already
    for day in candidate_days(said, today):
        if day != today:
            yield _at(day, minute if unnamed else said.minute_of_some_day() or minute)
            continue
        yield _at(day, minute)
        if said.in_doubt(AFTERNOON_UNTIL):
            yield _at(day, minute + NOON)
    if said.days == 0 and said.part in ("late", "small_hours"):  # of tonight, then
        yield _at(today, minute + MIDNIGHT)


def _on_the_wall(wall: datetime, now: datetime, zone: ZoneInfo) -> datetime:
    """Return when a clock shows this; the second time on the night when it is put back, if the first is
    over."""
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return second if first <= now < second else first


def _at(day: date, minute: int) -> datetime:
    """Return what a clock shows then, on the day or in the night after it."""
    return datetime(day.year, day.month, day.day) + timedelta(minutes=minute)  # noqa: DTZ001 - likewise


def _shifted(said: TimeWords, now: datetime, zone: ZoneInfo) -> datetime:
    """Return the moment so much later. Hours are hours that pass; days and months are counted on the
    calendar."""
    months, days, seconds = said.shift or (0, 0, 0)
    if said.seen - {"shift", "clock", "part"} or (seconds and said.seen != {"shift"}):
        raise WhenNotUnderstood
    local = now.astimezone(zone)
    if said.as_now:
        said = replace(said, minute=None)  # so it is without the words
    year, month = _months_on(local.date(), months)
    day = min(local.day, calendar.monthrange(year, month)[1])
    wall = local.replace(year=year, month=month, day=day, tzinfo=None, fold=0) + timedelta(days=days)
    if (minute := said.minute_of_some_day()) is not None:
        wall = _at(wall.date(), minute)
    elif not (months or days):
        return now + timedelta(seconds=seconds)
    return _on_the_wall(wall, now, zone) + timedelta(seconds=seconds)


def candidate_days(said: TimeWords, today: date) -> Iterator[date]:
    """The days that may be meant, in the order in which they come: the first that is not over is."""
    named = said.seen - {"clock", "part"}
    if named == {"day"} and said.days is not None:
        yield today + timedelta(days=said.days)
    elif not named:
        yield from (today + timedelta(days=days) for days in range(2))
    elif named <= {"weekday", "week"}:
        yield from _of_the_week(said, today)
    elif named <= {"date", "month", "year", "weekday"}:
        for day in _of_the_calendar(said, today):
            if said.weekday not in (None, day.weekday()):
                raise NoSuchTime
            yield day
    else:
        raise WhenNotUnderstood


def _of_the_week(said: TimeWords, today: date) -> Iterator[date]:
    if said.weekday is None:
        if not said.week:
            raise WhenNotUnderstood
        yield today + timedelta(weeks=said.week)
        return
    if said.week is not None:
        monday = today - timedelta(days=today.weekday())
        yield monday + timedelta(weeks=said.week, days=said.weekday)
        return
    ahead = (said.weekday - today.weekday()) % 7
    if not (said.strictly and ahead == 0):
        yield today + timedelta(days=ahead)
    yield today + timedelta(days=ahead + 7)


def _of_the_calendar(said: TimeWords, today: date) -> Iterator[date]:
    if said.named:
        yield from _with_a_name(said, today)
        return
    if said.nth:
        yield from _nth_of_the_month(said, said.nth, today)
        return
    if said.date is None:  # next month, next year: on the same day
        year, month = _months_on(today, (said.month or 0) + 12 * (said.year or 0))
        yield date(year, month, min(today.day, calendar.monthrange(year, month)[1]))
        return
    year_named, month_named, day = said.date
    if year_named is None and said.year is not None:
        year_named = today.year + said.year
    if month_named is None:
        months = (0, 1, 2) if said.month is None else (said.month,)
        candidates = [_months_on(today, each) for each in months]
        if year_named is not None:
            raise WhenNotUnderstood
    elif year_named is not None:
        candidates = [(year_named, month_named)]
    else:
        candidates = [(today.year + years, month_named) for years in range(9)]  # 29 February can be so far
    if not all(1 <= month <= 12 for _, month in candidates):
        raise NoSuchTime
    if all(day > calendar.monthrange(year, month)[1] for year, month in candidates):
        raise NoSuchTime
    for year, month in candidates:
        last = calendar.monthrange(year, month)[1]
        if day <= last:
            yield date(year, month, day or last)


def _with_a_name(said: TimeWords, today: date) -> Iterator[date]:
    """元日, 来年の成人の日."""
    if said.month is not None:
        raise WhenNotUnderstood
    if said.year is None and said.year_named is None:
        years: tuple[int, ...] = (today.year, today.year + 1)
    else:
        years = (said.year_named or today.year + (said.year or 0),)
    yield from (day_named(said.named, each) for each in years)


def _nth_of_the_month(said: TimeWords, nth: tuple[int, int], today: date) -> Iterator[date]:
    """来月の第2水曜, 12月の最終金曜. Without a month it comes again and again (repeat_words)."""
    year, month, _ = said.date or (None, None, 0)
    if said.weekday is not None or (month is None) == (said.month is None):
        raise WhenNotUnderstood
    if month is None:
        candidates = [_months_on(today, said.month or 0)]
    elif year is not None or said.year is not None:
        candidates = [(year or today.year + (said.year or 0), month)]
    else:
        candidates = [(today.year, month), (today.year + 1, month)]
    if not all(1 <= each <= 12 for _, each in candidates):
        raise NoSuchTime
    for candidate in candidates:
        try:
            yield nth_weekday(*candidate, *nth)
        except ValueError as error:
            if len(candidates) == 1:
                raise NoSuchTime from error  # no fifth one


def _months_on(day: date, months: int) -> tuple[int, int]:
    """The year and month so many months on."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return year, month + 1
