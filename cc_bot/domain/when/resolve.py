"""Resolves times and repeats in Japanese, English or ISO 8601 to datetimes, and to repeats as stored.

A time without a day is today's or, once that has passed, tomorrow's. `明日3時` and `at 3` are in the
afternoon (for the night: `朝3時`, `3am`, `3:00`). `next friday` and 来週の金曜 are in the week that begins
next Monday. A time that occurs twice means the first in the future.
"""

import calendar
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import (
    InputError,
    NoSuchTime,
    RepeatAmbiguous,
    RepeatNotUnderstood,
    RepeatTooOften,
    SeveralTimes,
    WhenNotUnderstood,
    WhenPassed,
    WhenTooFar,
)
from cc_bot.domain.when.grammar import (
    MINUTES_PER_DAY,
    NAMED_DAYS,
    NOON,
    ClockTime,
    TimeWords,
    Unit,
    is_inside_word,
    normalize,
    parse,
)
from cc_bot.domain.when.repeats import MAX_HOURS, anchor_interval, check_repeat, is_hour_based, next_time

MAX_YEARS_AHEAD: Final = 10
DEFAULT_MINUTE_OF_DAY: Final = 9 * 60  # if only a day is named
AFTERNOON_UNTIL: Final = 7 * 60
"""After 5:00, `5時` is this afternoon. From 7時 on, tomorrow may be meant."""
MAX_LENGTH: Final = 200
MAX_SCHEDULES: Final = 5
_MAX_AGE_OF_REPEAT: Final = timedelta(days=366 * 150)  # a birthday may be long ago
_ISO: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?P<offset>\s?z|[+-]\d{2}:?\d{2})?", re.ASCII
)


@dataclass(frozen=True, slots=True, order=True)
class ResolvedTime:
    moment: datetime
    has_time: bool  # True if the text names a time of day or a number of hours


def read_moments(text: str, now: datetime, zone: ZoneInfo, *, allow_past: bool = False) -> list[ResolvedTime]:
    """Return a moment for each day and time of day. Raises WhenPassed, WhenTooFar, or WhenNotUnderstood, also
    for a repeat; its subclass NoSuchTime for a date or time that does not exist."""
    if len(text) > MAX_LENGTH or len(written := normalize(text)) > MAX_LENGTH:  # ㍿ becomes four characters
        raise WhenNotUnderstood
    try:
        if iso := _ISO.fullmatch(written):
            found = [_iso_moment(written, iso, now, zone)]
        elif (words := parse(written)).is_repeated:
            raise WhenNotUnderstood
        else:
            found = resolve_moments(words, now.astimezone(UTC), zone, allow_past=allow_past)
        furthest = now + timedelta(days=366 * MAX_YEARS_AHEAD)
        earliest = now - _MAX_AGE_OF_REPEAT if allow_past else now
    except NoSuchTime as error:
        raise NoSuchTime(when=text) from error
    except (ValueError, OverflowError) as error:
        raise WhenNotUnderstood from error
    if any(each.moment <= earliest for each in found):
        raise WhenPassed
    if any(each.moment > furthest for each in found):
        raise WhenTooFar(limit=MAX_YEARS_AHEAD)
    return found


def day_choices(words: TimeWords, today: date) -> list[list[date]]:
    """Return candidates for each named day. The user means the first candidate that is not over."""
    named = words.day_kinds - {"every"}
    if named <= {"span"}:
        return [[today, today + timedelta(days=1)]]
    if named == {"day"}:
        return [[today + timedelta(days=days)] for days in words.days]
    if named <= {"weekday", "week"}:
        return _days_of_week(words, today)
    if named <= {"named", "year"} or named <= {"monthday", "nth", "month", "year", "weekday"}:
        return _days_of_months(words, today)
    raise WhenNotUnderstood


def _iso_moment(written: str, iso: re.Match[str], now: datetime, zone: ZoneInfo) -> ResolvedTime:
    try:
        moment = datetime.fromisoformat(written.upper().replace(" Z", "Z"))
        return ResolvedTime(
            moment.astimezone(UTC) if iso["offset"] else _to_utc(moment, now, zone), has_time=True
        )
    except ValueError as error:
        raise NoSuchTime from error


def resolve_moments(
    words: TimeWords, now: datetime, zone: ZoneInfo, *, allow_past: bool = False
) -> list[ResolvedTime]:
    """Raises as `read_moments`; ValueError or OverflowError outside the calendar."""
    local = now.astimezone(zone)
    current = ClockTime(local.hour * 60 + local.minute)
    clocks: list[ClockTime | None] = [current if each.is_now else each for each in words.clocks]
    if "shift" in words.kinds or words.day_kinds == {"span"}:
        if len(clocks) > 1 or words.day_kinds - {"shift", "span"}:
            raise WhenNotUnderstood
        return [_resolve_shift(words, clocks[0] if clocks else None, now, zone)]
    if "span" in words.kinds:
        raise WhenNotUnderstood
    found = set[ResolvedTime]()
    for choice, clock in product(day_choices(words, local.date()), clocks or [None]):
        local_times = _local_times(words, choice, clock, local.date())
        moments = [_to_utc(local_time, now, zone) for local_time in local_times]
        moment = next((each for each in moments if each > now), moments[-1] if allow_past else None)
        if moment is None:
            raise WhenPassed
        found.add(ResolvedTime(moment, has_time=clock is not None))
    return sorted(found)


def _local_times(
    words: TimeWords, days: list[date], clock: ClockTime | None, today: date
) -> Iterator[datetime]:
    minute = clock.minute_of_day() if clock else DEFAULT_MINUTE_OF_DAY
    is_today, has_no_day = words.days == [0], not words.day_kinds
    if minute is None or (clock is None and (has_no_day or is_today)):
        raise WhenNotUnderstood  # today without a time
    if clock is None:
        clock = ClockTime(minute)
    if clock.part == "late" and not (has_no_day or is_today) and minute >= MINUTES_PER_DAY:
        raise WhenNotUnderstood  # 金曜の深夜1時: the night before or after?
    if minute >= MINUTES_PER_DAY and (has_no_day or (is_today and clock.part == "night")):
        yield _local_time(today, minute - MINUTES_PER_DAY)  # this night may have begun yesterday
    for day in days:
        if day != today:
            yield _local_time(day, clock.minute_of_later_day() or minute)
            continue
        yield _local_time(day, minute)
        if clock.may_be_afternoon(AFTERNOON_UNTIL):
            yield _local_time(day, minute + NOON)


def _to_utc(local_time: datetime, now: datetime, zone: ZoneInfo) -> datetime:
    """Return the first of two equal local times, or the second if the first has passed."""
    first, second = (local_time.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    return second if first <= now < second else first


def _local_time(day: date, minute: int) -> datetime:
    return datetime(day.year, day.month, day.day) + timedelta(minutes=minute)  # noqa: DTZ001 - local


def _resolve_shift(words: TimeWords, clock: ClockTime | None, now: datetime, zone: ZoneInfo) -> ResolvedTime:
    """Hours count elapsed time. Days and months follow the calendar."""
    months, days, seconds = words.shift
    if not (any(words.shift) or "shift" in words.kinds) or (seconds and clock):
        raise WhenNotUnderstood
    local = now.astimezone(zone)
    year, month = add_months(local.date(), months)
    day = min(local.day, calendar.monthrange(year, month)[1])
    local_time = local.replace(year=year, month=month, day=day, tzinfo=None, fold=0) + timedelta(days=days)
    if clock and (minute := clock.minute_of_later_day()) is not None:
        local_time = _local_time(local_time.date(), minute)
    elif not (months or days):
        return ResolvedTime(now + timedelta(seconds=seconds), has_time=True)
    return ResolvedTime(
        _to_utc(local_time, now, zone) + timedelta(seconds=seconds), has_time=bool(seconds or clock)
    )


def _days_of_week(words: TimeWords, today: date) -> list[list[date]]:
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


def _days_of_months(words: TimeWords, today: date) -> list[list[date]]:
    begin, end = today, date.max
    if "year" in words.kinds:
        if not (words.month_number or words.named_day):
            raise WhenNotUnderstood
        begin, end = (date(named_year(words, today), *day) for day in ((1, 1), (12, 31)))
    elif not words.month_number and (words.month is not None or 0 in words.monthdays):
        year, month = add_months(today, words.month or 0)  # 月末 on that very day is today
        begin, end = date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])
    number = words.month_number or "*"
    if words.named_day:
        crons = [NAMED_DAYS[words.named_day]]
    elif words.nth and not words.monthdays and not words.weekdays:
        crons = [f"* {number} {_cron_nth(*each)}" for each in words.nth]
    elif words.nth or not (words.monthdays or words.month):
        raise WhenNotUnderstood
    else:
        crons = [f"{day or 'L'} {number} *" for day in words.monthdays or [min(today.day, end.day)]]
    found = [_next_days(cron, begin, end) for cron in crons]
    if words.weekdays and any(words.weekdays != [days[0].weekday()] for days in found):
        raise NoSuchTime
    return found


def _next_days(cron: str, begin: date, end: date) -> list[date]:
    """Return the first two days of cron's day fields. Raises NoSuchTime."""
    found, after = list[date](), datetime.combine(begin, time(), UTC) - timedelta(seconds=1)
    while len(found) < 2 and (moment := next_time(f"0 0 {cron}", after, _UTC)) and moment.date() <= end:
        found.append(moment.date())
        after = moment
    if not found:
        raise NoSuchTime
    return found


def named_year(words: TimeWords, today: date) -> int:
    return words.year_number or today.year + (words.year or 0)


def add_months(day: date, months: int) -> tuple[int, int]:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return year, month + 1


ScheduledTime = tuple[datetime, str]  # the first time (UTC), and the repeat as stored; empty: none

_CRON: Final = re.compile(
    r"\A[\d*][\d*/,\-#a-z]*+(?:\s++[\d*/,\-#a-z]++){4}(?:\s++every\s[\w\s-]{1,40})?", re.ASCII
)
_ONCE: Final = re.compile(r"(?:繰り?返し)?(?:なし|しない)|1[回度](?:だけ|のみ)?|none|no|never|once|-")
_TODAY: Final = re.compile(r"今日|本日|きょう|today")
_NEXT: Final = re.compile(r"再?来([週月年])|next week")
_FIRST_DAY: Final = {"週": "の月曜", "月": "1日", "年": "1月1日"}
"""`来週から`: a repeat begins on the first day of the week."""
_STARTING: Final = re.compile(r"\b(?:starting|beginning|from)\b(?: (?:on|at|from)\b)?")
_LOOKS_REPEATED: Final = re.compile(
    r"毎(?![度回])|ごと|おき(?![るてまた])|隔[日週月年]|\d[回度]|平日"
    r"|\b(?:every|each|hourly|daily|weekly|monthly|yearly|twice|repeat\w*|[a-z]+days)\b"
)
_AMBIGUOUS: Final = re.compile(r"\d(?:日|週間?|か月|年)おき|\bevery second\b")
"""3日おき: every third or every fourth day."""

_MAX_TIME_LENGTH: Final = 60
_SAMPLE_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)
_UTC: Final = ZoneInfo("UTC")
_AFTER_PART: Final = re.compile(
    r"[間中以前過す半分末毎も\d]|ごと|おき(?!る)|まで|[かやと](?=[今明来翌次月火水木金土日朝昼夕夜晩\d])"
    r"|\s?(?:or|and)\b|'"
    r"|[\s,(]{0,4}(?:until|till|through|except|excluding|unless|but|from|starting|beginning|between)\b"
    r"|[\s,(]{0,4}(?:to \d|for (?:the next )?(?:\d+|an?) (?:day|week|month|year|time)s?\b)"
    r"|[\s,(]{0,4}(?:(?:utc|gmt|jst|kst|ist|bst|ce?st|ces?t|[emp][sd]t|cdt"
    r"|(?:eastern|central|pacific) time)\b"
    r"|(?:europe|america|asia|africa|australia|pacific|atlantic)/|(?:日本|現地|標準)時)"
    r"|[\s、,(]{0,4}(?:[祝祭休平土日月火水木金]\S{0,5}?)?(?:を?は?除|以外)|[\s、,(]{0,4}年末まで"
    r"|から.{0,12}(?:毎|ごと|隔)|の?(?:深夜|夜中|未明|明け方)"
)
"""What follows a match that is only part of an expression: `3日`間, `明日`か明後日, `毎日9時`(祝日を除く)."""
_LIMITED: Final = re.compile(
    r"\b(?:until|till|except|excluding|unless)\b|[\d時日月年末回]まで|以外|[をは]除"
    r"|\bfor (?:the next )?(?:\d{1,9}|an?) (?:day|week|month|year)s?\b"
)
"""A limit that a repeat can't have: `every friday at 18` swim until christmas."""
_INSIDE_WORD: Final = re.compile(
    r"(?:(?<![今明毎翌])[朝昼夕夜晩]|^[月火水木金土日]{2,7})[^にのは、,\s月火水木金土日]$"
)
"""Parts of words: 昼寝, 夕飯, 水木さん."""
_BEFORE_PART: Final = re.compile(
    r"[\d第隔先毎数約週再:/.〜~-]$|[\d後日時分朝昼夜晩曜]と$"
    r"|\b(?:and|or|until|till|through|except|excluding|from|to|between|starting|beginning)\s$"
)
"""What precedes a match that is only part of an expression: 第6`金曜`."""
_INCOMPLETE_END: Final = re.compile(r"[\s、,にのは毎]$|\b(?:on|the|of|by|about|around|please)$")
_PARTICLES: Final = re.compile(
    r"^(?:に?なったら|に|の|は|から|[、,:：\s]|(?:to|about|of|that)\s){1,8}", re.IGNORECASE
)


def parse_schedules(when: str, repeat: str, now: datetime, zone: ZoneInfo) -> tuple[ScheduledTime, ...]:
    """Parse a time and a repeat. Returns several schedules for several times (`明日9時と18時`).

    With a repeat, `when` is its beginning, and gives the day and time that the repeat omits. Raises as
    `read_moments`, and RepeatNotUnderstood, RepeatTooOften or SeveralTimes.
    """
    if len(repeat) > MAX_LENGTH:
        raise RepeatNotUnderstood
    is_once = _ONCE.fullmatch(normalize(repeat)) is not None
    if is_once or not repeat.strip():
        planned = _plan(when, now, zone)
    elif when.strip():
        planned = _plan_from(when, repeat, now, zone)
    else:
        planned = _first_times(_read_repeat(repeat, None), now, zone)
    if len(planned) > (1 if is_once else MAX_SCHEDULES):
        raise SeveralTimes
    return tuple((due, "") for due, _ in planned) if is_once else planned


def parse_schedule(when: str, repeat: str, now: datetime, zone: ZoneInfo) -> ScheduledTime:
    """Raises as `parse_schedules`."""
    planned, *others = parse_schedules(when, repeat, now, zone)
    if others:
        raise SeveralTimes
    return planned


def looks_repeated(text: str) -> bool:
    """Return whether a text mentions a repeat, even one that is not understood."""
    return len(text) <= MAX_LENGTH and _LOOKS_REPEATED.search(normalize(text)) is not None


def _repeat_error(text: str) -> type[InputError]:
    ambiguous = len(text) <= MAX_LENGTH and _AMBIGUOUS.search(normalize(text))
    return RepeatAmbiguous if ambiguous else RepeatNotUnderstood


def split_when(written: str) -> tuple[str, str]:
    """Split a text into its time, at the beginning or else the end, and the rest: `明日9時に薬を飲む`. Raises
    WhenNotUnderstood without a time, and RepeatNotUnderstood for an unknown or limited repeat."""
    text = written.strip()
    ends = range(min(len(text), _MAX_TIME_LENGTH), 0, -1)
    end = next((at for at in ends if not _INCOMPLETE_END.search(text[:at]) and _is_time(text, 0, at)), 0)
    if (
        end
        and not _AFTER_PART.match(normalize(f"x{text[end : end + _MAX_TIME_LENGTH]}"), 1)
        and (text[end : end + 1].isspace() or not _INSIDE_WORD.search(normalize(text[: end + 1])))
    ):
        return _check_rest(text[:end], _PARTICLES.sub("", text[end:]))
    begins = range(max(len(text) - _MAX_TIME_LENGTH, 0), len(text))
    begins_of_word = (at for at in begins if text[at].strip(" \n　、,と"))
    begin = next((at for at in begins_of_word if _is_time(text, at, len(text))), len(text))
    if begin < len(text) and not _BEFORE_PART.search(normalize(f"{text[:begin]}x")[:-1]):
        return _check_rest(text[begin:].strip("にのは、, 　"), text[:begin].rstrip(" 　、,"))
    beginning = text[:_MAX_TIME_LENGTH]
    raise _repeat_error(beginning) if looks_repeated(beginning) else WhenNotUnderstood


def _check_rest(when: str, rest: str) -> tuple[str, str]:
    """Return both. Raises RepeatNotUnderstood if the rest limits the repeat, or repeats a single time."""
    folded = normalize(rest)
    if _LIMITED.search(folded) if looks_repeated(when) else looks_repeated(folded[-_MAX_TIME_LENGTH:]):
        raise RepeatNotUnderstood
    return when, rest


def _is_time(text: str, begin: int, end: int) -> bool:
    if is_inside_word(text, begin) or is_inside_word(text, end):
        return False
    try:
        parse_schedules(text[begin:end], "", _SAMPLE_DAY, _UTC)
    except InputError as error:  # the time does not exist, has passed or is too often
        return isinstance(error, NoSuchTime) or not isinstance(error, WhenNotUnderstood | RepeatNotUnderstood)
    return True


def _plan(when: str, now: datetime, zone: ZoneInfo) -> tuple[ScheduledTime, ...]:
    start, repeat = _split_start(normalize(when[:MAX_LENGTH]))
    if start and looks_repeated(repeat):
        return _plan_from(start, repeat, now, zone)
    try:
        return tuple((each.moment, "") for each in read_moments(when, now, zone))
    except NoSuchTime:
        raise
    except WhenNotUnderstood as error:
        try:
            return _first_times(_read_repeat(when, None), now, zone)
        except RepeatNotUnderstood:
            if looks_repeated(when):
                raise
        raise error from None


def _split_start(written: str) -> tuple[str, str]:
    """Split `明日から毎日9時` and `every 3 days starting tomorrow`."""
    start, since, repeat = written.partition("から")
    if not since:
        repeat, *starts = _STARTING.split(written, maxsplit=1)
        start = "".join(starts)
    return start.strip(), repeat.strip(" ,、")


def _plan_from(when: str, repeat: str, now: datetime, zone: ZoneInfo) -> tuple[ScheduledTime, ...]:
    start = _resolve_start(when.strip(), now, zone)
    local = start.moment.astimezone(zone)
    begin = local if start.has_time else datetime.combine(local.date(), time(), zone)
    repeats = _read_repeat(repeat, local)
    if all(map(is_hour_based, repeats)) and start.moment > now:
        return tuple((start.moment, each) for each in repeats)
    return _first_times(repeats, now, zone, begin.astimezone(UTC) - timedelta(seconds=1))


def _resolve_start(when: str, now: datetime, zone: ZoneInfo) -> ResolvedTime:
    if found := _NEXT.fullmatch(when):
        when = f"{when}{_FIRST_DAY[found[1]]}" if found[1] else "next monday"
    if _TODAY.fullmatch(when):
        when = now.astimezone(zone).date().isoformat()  # 今日 has no time of day
    try:
        start, *others = read_moments(when, now, zone, allow_past=True)
    except WhenNotUnderstood as error:
        if looks_repeated(when) and not isinstance(error, NoSuchTime):  # two repeats: ambiguous
            raise RepeatNotUnderstood from None
        raise
    if others:
        raise SeveralTimes
    return start


def _first_times(
    repeats: list[str], now: datetime, zone: ZoneInfo, begin: datetime | None = None
) -> tuple[ScheduledTime, ...]:
    """Return each repeat with its first time, from which an interval counts."""
    planned: list[ScheduledTime] = []
    for each in repeats:
        if first := next_time(each, begin or now, zone):
            repeat = anchor_interval(each, first.astimezone(zone).date())
            due = first if first > now else next_time(repeat, now, zone)
            planned += [(due, repeat)] if due else []
    if len(planned) < len(repeats):
        raise RepeatNotUnderstood
    return tuple(sorted(planned))


def _read_repeat(text: str, start: datetime | None) -> list[str]:
    if len(text) > MAX_LENGTH or len(written := normalize(text)) > 2 * MAX_LENGTH:
        raise RepeatNotUnderstood
    if _CRON.fullmatch(written):
        return [check_repeat(text)]
    try:
        return resolve_repeats(parse(written), start)
    except NoSuchTime as error:
        raise NoSuchTime(when=text) from error
    except WhenNotUnderstood:
        raise _repeat_error(written) from None


def resolve_repeats(words: TimeWords, start: datetime | None) -> list[str]:
    """Return a cron expression for each minute of the hour, as a single one can't express 9:00 and 18:30.
    `start` (local time) gives the day and time of day that the words omit."""
    if not words.is_repeated or words.week is not None:
        raise RepeatNotUnderstood
    if any(each.is_now or each.minute_of_day() is None for each in words.clocks):
        raise RepeatNotUnderstood
    count, unit = words.every or (1, words.implied_unit)
    minutes = {each.minute_of_later_day() or 0 for each in words.clocks}
    if unit in ("seconds", "minutes"):
        raise RepeatTooOften
    if unit == "hours":
        if minutes or words.day_kinds != {"every"}:
            raise RepeatNotUnderstood
        return [_hourly_repeat(count, start)]
    days = _cron_days(words, unit, start)
    minutes = minutes or {DEFAULT_MINUTE_OF_DAY if start is None else start.hour * 60 + start.minute}
    if count < 1 or (max(minutes) >= MINUTES_PER_DAY and (days, count) != ("* * *", 1)):
        raise RepeatNotUnderstood  # the late hours after a Monday are on Tuesday
    hours_by_minute = defaultdict[int, set[int]](set)
    for each in minutes:
        hours_by_minute[each % 60].add(each // 60 % 24)
    interval = f" every {count * 12} months" if unit == "years" else f" every {count} {unit}"
    return [
        check_repeat(f"{minute} {_list_numbers(hours)} {days}{interval if count > 1 else ''}")
        for minute, hours in sorted(hours_by_minute.items())
    ]


def _hourly_repeat(count: int, start: datetime | None) -> str:
    """Return cron, or `every 5h` if the hours do not divide a day: cron starts again at midnight."""
    if not 1 <= count <= MAX_HOURS:
        raise RepeatNotUnderstood
    if 24 % count:
        return f"every {count}h"
    hour, minute = (start.hour, start.minute) if start else (9 if count == 24 else 0, 0)
    begin = hour % count
    hours = {1: "*", 24: str(hour)}.get(count, f"{begin}-23/{count}" if begin else f"*/{count}")
    return check_repeat(f"{minute} {hours} * * *")


def _cron_days(words: TimeWords, unit: Unit, start: datetime | None) -> str:
    named, month = words.day_kinds - {"every"}, words.month_number
    weekdays, monthdays = words.weekdays, words.monthdays
    if start and not named:
        named = {"weeks": {"weekday"}, "months": {"monthday"}, "years": {"month", "monthday"}}.get(
            unit, set()
        )
        month, weekdays, monthdays = start.month, [start.weekday()], [start.day]
    if unit == "days" and not named:
        return "* * *"
    if unit in ("days", "weeks") and named == {"weekday"}:
        return f"* * {_cron_weekdays(weekdays)}"
    if unit == "months" and named == {"monthday"}:
        last = ["L"] if {0, 31} & {*monthdays} else []  # the 31st means the last day of the month
        return f"{_list_numbers({each % 31 for each in monthdays} - {0}, *last)} * *"
    if unit in ("months", "years") and named in ({"nth"}, {"nth", "month"}):
        nth = sorted(words.nth, key=lambda each: _cron_weekday(each[1]))
        return f"* {month or '*'} {','.join(_cron_nth(*each) for each in nth)}"
    if unit == "years" and named == {"month", "monthday"} and len(monthdays) == 1:
        return f"{monthdays[0] or 'L'} {month} *"
    if unit == "years" and named == {"named"}:
        return NAMED_DAYS[words.named_day]
    raise RepeatNotUnderstood


def _cron_weekdays(weekdays: Iterable[int]) -> str:
    listed = _list_numbers({_cron_weekday(each) for each in weekdays})
    return {"1,2,3,4,5": "1-5", "0,1,2,3,4,5,6": "*"}.get(listed, listed)


def _cron_weekday(weekday: int) -> int:
    """Cron's week begins with Sunday: 0."""
    return (weekday + 1) % 7


def _cron_nth(nth: int, weekday: int) -> str:
    return f"{_cron_weekday(weekday)}#{nth}" if nth else f"{_cron_weekday(weekday)}L"


def _list_numbers(numbers: Iterable[int], *more: str) -> str:
    return ",".join([*map(str, sorted(numbers)), *more])
