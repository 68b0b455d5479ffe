"""Resolves a time written in Japanese, English or ISO 8601 to a moment.

`10分後`, `明日9時`, `来週の金曜18:00`, `12月3日の正午`, `in 10 minutes`, `tomorrow at 9am`, `dec 3 noon`. A
time without a day is today's or, once that has passed, tomorrow's; `明日3時` and `at 3` are in the afternoon
(for the night: `朝3時`, `3am`, `3:00`). A date without a year is the next one; `12/3` is in December. `next
friday` and 来週の金曜 are in the week that begins next Monday. A time skipped by a clock change is that much
later; of one that occurs twice, the first in the future is meant.
"""

import calendar
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import NoSuchTime, WhenNotUnderstood, WhenPassed, WhenTooFar
from cc_bot.domain.holidays import day_named, nth_weekday
from cc_bot.domain.when_words import MIDNIGHT, NOON, Clock, TimeWords, normalize, read

FURTHEST_YEARS: Final = 10
USUAL_MINUTE_OF_DAY: Final = 9 * 60
"""After midnight; the default if only a day is named."""
AFTERNOON_UNTIL: Final = 7 * 60
"""Minutes after noon: once 5:00 has passed, `5時` is this afternoon; 7時 may be tomorrow's."""
MAX_LENGTH: Final = 200
"""Characters; a longer text is rejected."""
_A_LIFE: Final = timedelta(days=366 * 150)
"""How long ago a repeat may have begun: a birthday."""
_ISO: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?P<offset>\s?z|[+-]\d{2}:?\d{2})?", re.ASCII
)


@dataclass(frozen=True, slots=True, order=True)
class ReadTime:
    moment: datetime
    """UTC."""
    timed: bool
    """Whether the text names a time of day or a number of hours."""


def parse_when(text: str, now: datetime, zone: ZoneInfo) -> datetime:
    """Return the moment (UTC) that a text means in this time zone.

    Raises WhenNotUnderstood (including NoSuchTime), WhenPassed or WhenTooFar.
    """
    return read_when(text, now, zone).moment


def read_when(text: str, now: datetime, zone: ZoneInfo, *, over: bool = False) -> ReadTime:
    """Like `parse_when`, with details; with `over`, past days are allowed. Raises WhenNotUnderstood for
    several times and for repeats."""
    found = read_moments(text, now, zone, over=over)
    if len(found) > 1:
        raise WhenNotUnderstood
    return found[0]


def read_moments(text: str, now: datetime, zone: ZoneInfo, *, over: bool = False) -> list[ReadTime]:
    """Return the moments that a text means, in order: one for each day and time of day. Raises as
    `parse_when`; WhenNotUnderstood for repeats."""
    if len(text) > MAX_LENGTH or len(written := normalize(text)) > MAX_LENGTH:  # ㍿ becomes four characters
        raise WhenNotUnderstood
    try:
        if iso := _ISO.fullmatch(written):
            found = [_iso_moment(written, iso, now, zone)]
        elif (words := read(written)).is_repeated:
            raise WhenNotUnderstood
        else:
            found = moments_of(words, now.astimezone(UTC), zone, over=over)
        furthest = now + timedelta(days=366 * FURTHEST_YEARS)
        earliest = now - _A_LIFE if over else now
    except (ValueError, OverflowError) as error:
        raise WhenNotUnderstood from error
    if any(each.moment <= earliest for each in found):
        raise WhenPassed
    if any(each.moment > furthest for each in found):
        raise WhenTooFar(limit=FURTHEST_YEARS)
    return found


def day_choices(words: TimeWords, today: date) -> list[list[date]]:
    """Return the candidate days of each named day, in order: the first that is not over is meant. Raises
    WhenNotUnderstood or NoSuchTime."""
    named = words.named_days - {"every"}
    if named <= {"span"}:
        return [[today, today + timedelta(days=1)]]
    if named == {"day"}:
        return [[today + timedelta(days=days)] for days in words.days]
    if named <= {"weekday", "week"}:
        return _of_week(words, today)
    if named <= {"named", "year"} and words.named:
        years = [today.year, today.year + 1] if "year" not in words.seen else [year_of(words, today)]
        return [[day_named(words.named, year) for year in years]]
    if named <= {"monthday", "nth", "month", "year", "weekday"}:
        return _of_months(words, today)
    raise WhenNotUnderstood


def _iso_moment(written: str, iso: re.Match[str], now: datetime, zone: ZoneInfo) -> ReadTime:
    try:
        moment = datetime.fromisoformat(written.upper().replace(" Z", "Z"))
        return ReadTime(moment.astimezone(UTC) if iso["offset"] else _to_utc(moment, now, zone), timed=True)
    except ValueError as error:
        raise NoSuchTime from error


def moments_of(words: TimeWords, now: datetime, zone: ZoneInfo, *, over: bool = False) -> list[ReadTime]:
    """Return the moments that parsed words mean, later than now, or also past ones with `over`.

    Raises WhenNotUnderstood, NoSuchTime or WhenPassed; ValueError or OverflowError outside the calendar.
    """
    local = now.astimezone(zone)
    clocks: list[Clock | None] = []
    for clock in words.clocks:
        clocks.append(Clock(local.hour * 60 + local.minute) if clock.as_now else clock)
    if "shift" in words.seen or words.named_days == {"span"}:
        if len(clocks) > 1 or words.named_days - {"shift", "span"}:
            raise WhenNotUnderstood
        return [_shifted(words, clocks[0] if clocks else None, now, zone)]
    if "span" in words.seen:
        raise WhenNotUnderstood
    found = {
        _first_to_come(words, choice, clock, now, zone, over=over)
        for choice in day_choices(words, local.date())
        for clock in clocks or [None]
    }
    return sorted(found)


def _first_to_come(
    words: TimeWords, days: list[date], clock: Clock | None, now: datetime, zone: ZoneInfo, *, over: bool
) -> ReadTime:
    past: datetime | None = None
    for wall in _local_times(words, days, clock, now.astimezone(zone).date()):
        moment = _to_utc(wall, now, zone)
        if moment > now:
            return ReadTime(moment, timed=clock is not None)
        past = moment
    if past and over:
        return ReadTime(past, timed=clock is not None)
    raise WhenPassed


def _local_times(words: TimeWords, days: list[date], clock: Clock | None, today: date) -> Iterator[datetime]:
    minute = clock.of_day() if clock else USUAL_MINUTE_OF_DAY
    is_today, unnamed = words.days == [0], not words.named_days
    if minute is None or (clock is None and (unnamed or is_today)):
        raise WhenNotUnderstood  # today without a time
    if clock is None:
        clock = Clock(minute)
    if clock.part == "late" and not (unnamed or is_today) and minute >= MIDNIGHT:
        raise WhenNotUnderstood  # 金曜の深夜1時: the night before, or the one after?
    if minute >= MIDNIGHT and (unnamed or (is_today and clock.part == "night")):
        yield _at(today, minute - MIDNIGHT)  # it is that night already
    for day in days:
        if day != today:
            yield _at(day, minute if unnamed else clock.of_other_day() or minute)
            continue
        yield _at(day, minute)
        if clock.is_in_doubt(AFTERNOON_UNTIL):
            yield _at(day, minute + NOON)


def _to_utc(wall: datetime, now: datetime, zone: ZoneInfo) -> datetime:
    """Convert a local time; if it occurs twice and the first is over, the second."""
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return second if first <= now < second else first


def _at(day: date, minute: int) -> datetime:
    return datetime(day.year, day.month, day.day) + timedelta(minutes=minute)  # noqa: DTZ001 - local


def _shifted(words: TimeWords, clock: Clock | None, now: datetime, zone: ZoneInfo) -> ReadTime:
    """Return the moment shifted; hours are elapsed hours, days and months are calendar ones."""
    months, days, seconds = words.shift
    if not (any(words.shift) or "shift" in words.seen) or (seconds and clock):
        raise WhenNotUnderstood
    local = now.astimezone(zone)
    year, month = months_on(local.date(), months)
    day = min(local.day, calendar.monthrange(year, month)[1])
    wall = local.replace(year=year, month=month, day=day, tzinfo=None, fold=0) + timedelta(days=days)
    if clock and (minute := clock.of_other_day()) is not None:
        wall = _at(wall.date(), minute)
    elif not (months or days):
        return ReadTime(now + timedelta(seconds=seconds), timed=True)
    return ReadTime(_to_utc(wall, now, zone) + timedelta(seconds=seconds), timed=bool(seconds or clock))


def _of_week(words: TimeWords, today: date) -> list[list[date]]:
    if not words.weekdays:
        if not words.week:
            raise WhenNotUnderstood
        return [[today + timedelta(weeks=words.week)]]
    monday = today - timedelta(days=today.weekday())
    if words.week is not None:
        return [[monday + timedelta(weeks=words.week, days=each)] for each in words.weekdays]
    found = []
    for each in words.weekdays:
        day = monday + timedelta(days=each if each >= today.weekday() else each + 7)
        found.append([day, day + timedelta(days=7)][words.not_today and day == today :])
    return found


def _of_months(words: TimeWords, today: date) -> list[list[date]]:
    """Return the days of a month named by number, by weekday, or not at all (来月)."""
    if words.month_number:
        years = [year_of(words, today)] if "year" in words.seen else range(today.year, today.year + 9)
        months = [(year, words.month_number) for year in years]  # 29 February may be years away
    elif "year" in words.seen:
        raise WhenNotUnderstood
    else:
        months = [months_on(today, ahead) for ahead in ((0, 1, 2) if words.month is None else (words.month,))]
    if words.nth and not words.monthdays and not words.weekdays:
        return [
            _existing(partial(nth_weekday, nth=nth, weekday=weekday), months) for nth, weekday in words.nth
        ]
    if words.nth or not (words.monthdays or words.month):
        raise WhenNotUnderstood
    days = words.monthdays or [min(today.day, calendar.monthrange(*months[0])[1])]
    found = [_existing(partial(_monthday, day=day), months) for day in days]
    for choice in found:
        day = next((each for each in choice if each >= today), choice[-1])
        if words.weekdays and words.weekdays != [day.weekday()]:
            raise NoSuchTime
    return found


def _existing(day_of: Callable[[int, int], date], months: list[tuple[int, int]]) -> list[date]:
    """Return the day in each of these months that has it. Raises NoSuchTime if none has."""
    found = []
    for year, month in months:
        with suppress(ValueError):
            found.append(day_of(year, month))
    if not found:
        raise NoSuchTime
    return found


def _monthday(year: int, month: int, day: int) -> date:
    return date(year, month, day or calendar.monthrange(year, month)[1])


def year_of(words: TimeWords, today: date) -> int:
    return words.year_number or today.year + (words.year or 0)


def months_on(day: date, months: int) -> tuple[int, int]:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return year, month + 1
