"""A repeat as people write it, in Japanese or English, or as cron: the repeat that is meant, as stored.

`毎朝8時`, `平日9時`, `隔週の火曜 10時`, `毎月第2水曜`, `every weekday at 9`, `every other friday`.
It is read in three steps: how often (rhythms), on which days (repeat_days), at which times. What is left over
then was not understood, and nothing is.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import (
    NoSuchTime,
    RepeatNotUnderstood,
    RepeatTooOften,
    SeveralTimes,
    WhenNotUnderstood,
)
from cc_bot.domain.repeat_days import find_days
from cc_bot.domain.repeats import begun_on, check_repeat, in_hours, next_time
from cc_bot.domain.rhythms import Rhythm, find_rhythm, sounds_repeated
from cc_bot.domain.when import LONGEST, USUAL_MINUTE_OF_DAY, Meant, clock_alone, parse_several, read_when
from cc_bot.domain.when_spelling import normalized
from cc_bot.domain.when_words import MIDNIGHT, SMALL_HOURS, read

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
    """All that is meant: several where no single schedule can be it (`明日9時と18時`, `毎日9時と18時半`).
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
    if len(repeat) <= LONGEST and _ONCE.fullmatch(normalized(repeat)):
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
    """Likewise, of what is one schedule. Raises SeveralTimes for all else."""
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
    written = normalized(when)
    start, since, repeat = written.partition("から")
    if not since:
        repeat, *starts = _STARTING.split(written, maxsplit=1)
        start = starts[0] if starts else ""
    if not start.strip() or not sounds_repeated(repeat) or sounds_repeated(start):
        return None
    start = start.strip()
    return _BEGINNINGS.get(start, start), repeat.strip(" ,、")


def _is_repeated(when: str) -> bool:
    return len(when) <= LONGEST and sounds_repeated(normalized(when))


def _from(start: Meant, repeat: str, now: datetime, zone: ZoneInfo) -> tuple[Planned, ...]:
    """From the time on that is named; from the beginning of the day, where only that is."""
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
        repeat = begun_on(each, first.astimezone(zone).date())
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
    if len(written := re.sub(r"毎(?=[朝晩夕夜昼])", "毎日", normalized(text))) > 2 * LONGEST:
        raise RepeatNotUnderstood
    rhythm, rest = find_rhythm(written)
    if rhythm and rhythm.unit == "minutes":
        _minutes(rest)
        raise RepeatTooOften
    if rhythm and rhythm.unit == "hours":
        return [_hours_apart(rhythm.count, rest, start)]
    days, rest = find_days(rest)
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
    return [
        check_repeat(each) for each in _with_clock(_with_day(fields, start), _minutes(rest), rhythm, start)
    ]


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
    """What stands behind cron (repeats.py)."""
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
