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
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import WhenNotUnderstood, WhenPassed, WhenTooFar
from cc_bot.domain.when_spelling import normalized
from cc_bot.domain.when_words import MIDNIGHT, NOON, SMALL_HOURS, Said, read

FURTHEST_YEARS: Final = 10
USUAL_MINUTE_OF_DAY: Final = 9 * 60
"""After midnight: when a day is named alone."""
AFTERNOON_UNTIL: Final = 7 * 60
"""Minutes after noon: `5時` is this afternoon's once that of the morning is over; 7時 may be tomorrow's."""
LONGEST: Final = 200
"""Characters; whatever is longer is no time, and is matched with nothing."""

_ISO: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?P<time>[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?P<offset>\s?z|[+-]\d{2}:?\d{2})?)?"
)


def parse_when(text: str, now: datetime, zone: ZoneInfo) -> datetime:
    """The moment (UTC) that a text means to somebody in this time zone.

    Raises WhenNotUnderstood, WhenPassed or WhenTooFar.
    """
    if len(text) > LONGEST or len(written := normalized(text)) > LONGEST:  # ㍿ becomes four characters
        raise WhenNotUnderstood
    try:
        moment = _moment(written, now.astimezone(UTC), zone)
        furthest = now + timedelta(days=366 * FURTHEST_YEARS)
    except (ValueError, OverflowError) as error:
        raise WhenNotUnderstood from error
    if moment <= now:
        raise WhenPassed
    if moment > furthest:
        raise WhenTooFar(limit=FURTHEST_YEARS)
    return moment


def _moment(written: str, now: datetime, zone: ZoneInfo) -> datetime:
    if (iso := _ISO.fullmatch(written)) and iso["time"]:
        moment = datetime.fromisoformat(written.upper().replace(" Z", "Z"))
        return moment.astimezone(UTC) if iso["offset"] else _on_the_wall(moment, now, zone)
    said = read(written)
    local = now.astimezone(zone)
    if said.shift:
        return _shifted(said, now, zone)
    return _first_to_come(said, local, now, zone)


def _first_to_come(said: Said, local: datetime, now: datetime, zone: ZoneInfo) -> datetime:
    for wall in _walls(said, local.date()):
        moment = _on_the_wall(wall, now, zone)
        if moment > now:
            return moment
    raise WhenPassed


def _walls(said: Said, today: date) -> Iterator[datetime]:
    """What a clock may show then, in the order in which it does."""
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
    for day in _days(said, today):
        if day != today:
            yield _at(day, minute if unnamed else said.minute_of_some_day() or minute)
            continue
        yield _at(day, minute)
        if said.in_doubt(AFTERNOON_UNTIL):
            yield _at(day, minute + NOON)
    if said.days == 0 and said.part in ("late", "small_hours"):  # of tonight, then
        yield _at(today, minute + MIDNIGHT)


def _on_the_wall(wall: datetime, now: datetime, zone: ZoneInfo) -> datetime:
    """When a clock shows this; the second time on the night when it is put back, if the first is over."""
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return second if first <= now < second else first


def _at(day: date, minute: int) -> datetime:
    """What a clock shows then, on the day or in the night after it."""
    return datetime(day.year, day.month, day.day) + timedelta(minutes=minute)  # noqa: DTZ001 - likewise


def _shifted(said: Said, now: datetime, zone: ZoneInfo) -> datetime:
    """So much later. Hours are hours that pass; days and months are counted on the calendar."""
    months, days, seconds = said.shift or (0, 0, 0)
    if said.seen - {"shift", "clock", "part"} or (seconds and said.seen != {"shift"}):
        raise WhenNotUnderstood
    local = now.astimezone(zone)
    year, month = _months_on(local.date(), months)
    day = min(local.day, calendar.monthrange(year, month)[1])
    wall = local.replace(year=year, month=month, day=day, tzinfo=None, fold=0) + timedelta(days=days)
    if (minute := said.minute_of_some_day()) is not None:
        wall = _at(wall.date(), minute)
    elif not (months or days):
        return now + timedelta(seconds=seconds)
    return _on_the_wall(wall, now, zone) + timedelta(seconds=seconds)


def _days(said: Said, today: date) -> Iterator[date]:
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
                raise WhenNotUnderstood  # there is no such day
            yield day
    else:
        raise WhenNotUnderstood


def _of_the_week(said: Said, today: date) -> Iterator[date]:
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


def _of_the_calendar(said: Said, today: date) -> Iterator[date]:
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
    if all(day > calendar.monthrange(year, month)[1] for year, month in candidates):
        raise WhenNotUnderstood
    for year, month in candidates:
        last = calendar.monthrange(year, month)[1]
        if day <= last:
            yield date(year, month, day or last)


def _months_on(day: date, months: int) -> tuple[int, int]:
    """The year and month so many months on."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return year, month + 1
