"""Interprets a reminder's words as its first time and its repeat, in cron form (repeats.py).

`毎朝8時`, `隔週の火曜 10時`, `毎月第2水曜`, `明日9時と18時`, `every weekday at 9`, `every other friday`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import (
    InputError,
    NoSuchTime,
    RepeatNotUnderstood,
    RepeatTooOften,
    SeveralTimes,
    WhenNotUnderstood,
)
from cc_bot.domain.holidays import cron_of
from cc_bot.domain.repeats import check_repeat, count_from, in_hours, next_time
from cc_bot.domain.when import MAX_LENGTH, USUAL_MINUTE_OF_DAY, ReadTime, read_moments
from cc_bot.domain.when_words import MIDNIGHT, TimeWords, Unit, find_times, normalize, read, read_beginning

MAX_AT_ONCE: Final = 5
"""Schedules per text."""
MAX_HOURS: Final = 168
"""Of a repeat that is counted in hours."""
Planned = tuple[datetime, str]
"""The first time (UTC), and the repeat as stored; empty for once."""

_CRON: Final = re.compile(
    r"\A[\d*][\d*/,\-#a-z]*+(?:\s++[\d*/,\-#a-z]++){4}(?:\s++every\s[\w\s-]{1,40})?", re.ASCII
)
_ONCE: Final = re.compile(r"(?:繰り?返し)?(?:なし|しない)|1[回度](?:だけ|のみ)?|none|no|never|once|-")
_TODAY: Final = re.compile(r"今日|本日|きょう|today")
_BEGINNINGS: Final = {
    "来週": "来週の月曜",
    "再来週": "再来週の月曜",
    "来月": "来月1日",
    "来年": "来年1月1日",
    "next week": "next monday",
}
"""A repeat that begins next week begins on its first day."""
_STARTING: Final = re.compile(r"\b(?:starting|beginning|from)\b(?: (?:on|at|from)\b)?")
_LOOKS_REPEATED: Final = re.compile(
    r"毎(?![度回])|ごと|おき(?![るてまた])|隔[日週月年]|\d[回度]|平日"
    r"|\b(?:every|each|hourly|daily|weekly|monthly|yearly|twice|repeat\w*|[a-z]+days)\b"
)
_AMBIGUOUS: Final = re.compile(r"\d(?:日|週間?|か月|年)おき|\bevery second\b")
"""Every 3 or every 4 days? The second Tuesday of a month, or every other Tuesday?"""

_MAX_SPLIT: Final = 60
"""Characters at either end in which a time is searched."""
_ANY_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)
_GOES_ON: Final = re.compile(
    r"[間中以前過す半分末毎も\d]|ごと|おき(?!る)|まで|[かやと](?=[今明来翌次月火水木金土日朝昼夕夜晩\d])"
    r"|\s?(?:or|and)\b|'"
    r"|[\s,(]{0,4}(?:until|till|through|except|excluding|unless|but|from|starting|beginning|between)\b"
    r"|[\s,(]{0,4}(?:to \d|for (?:the next )?(?:\d+|an?) (?:day|week|month|year|time)s?\b)"
    r"|[\s,(]{0,4}(?:(?:utc|gmt|jst|kst|ist|bst|ce?st|ces?t|[emp][sd]t|cdt"
    r"|(?:eastern|central|pacific) time)\b"
    r"|(?:europe|america|asia|africa|australia|pacific|atlantic)/|(?:日本|現地|標準)時)"
    r"|[\s、,(]{0,4}(?:[祝祭休平土日月火水木金]\S{0,5}?)?(?:を?は?除|以外)|[\s、,(]{0,4}年末まで"
)
"""Text after which the match was only part of a longer expression: `3日`間, `1時間`以内, `明日`か明後日,
`every friday` until christmas, `毎日9時`(祝日を除く)."""
_JOIN: Final = re.compile(
    r"から[\s、,]{0,4}|[\s,]{0,4}\b(?:starting|beginning|from)\s(?:(?:on|at|from)\b\s?)?"
)
"""Between a repeat and its beginning: `明日`から`毎日8時`, `every 3 days` starting `tomorrow`."""
_NEAR: Final = 12
"""Characters after から in which a repeat belongs to the beginning before it."""
_IN_WORD: Final = re.compile(
    r"(?:(?<![今明毎翌])[朝昼夕夜晩]|^[月火水木金土日]{2,7})[^にのは、,\s月火水木金土日]$"
)
"""As in 昼寝, 夕飯 and 水木さん; 毎朝 is a word of its own."""
_CLINGS: Final = re.compile(
    r"[\d第隔先毎数約週再:/.〜~-]$|[\d後日時分朝昼夜晩曜]と$"
    r"|\b(?:and|or|until|till|through|except|excluding|from|to|between|starting|beginning)\s$"
)
"""Text that a time may not follow: `第6`金曜."""
_LINK: Final = re.compile(
    r"^(?:に?なったら|に|の|は|から|[、,:：\s]|(?:to|about|of|that)\s){1,8}", re.IGNORECASE
)

_AFTER_TIME: Final = "にのは、, 　"


def parse_schedules(when: str, repeat: str, now: datetime, zone: ZoneInfo) -> tuple[Planned, ...]:
    """Parse a time and a repeat; several schedules if one can't express it (`明日9時と18時`). Either text may
    contain the repeat. A `when` beside a `repeat` gives its beginning, and the day and time of day that
    `repeat` omits.

    Raises WhenNotUnderstood (including NoSuchTime), WhenPassed or WhenTooFar; RepeatNotUnderstood or
    RepeatTooOften; SeveralTimes for more than MAX_AT_ONCE, and for one repeat with several beginnings.
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
    if len(planned) > (1 if is_once else MAX_AT_ONCE):
        raise SeveralTimes
    return tuple((due, "") for due, _ in planned) if is_once else planned


def parse_schedule(when: str, repeat: str, now: datetime, zone: ZoneInfo) -> Planned:
    """Parse one schedule. Raises SeveralTimes for more, and the errors of `parse_schedules`."""
    planned = parse_schedules(when, repeat, now, zone)
    if len(planned) > 1:
        raise SeveralTimes
    return planned[0]


def looks_repeated(text: str) -> bool:
    """Return whether a text mentions a repeat, even one that is not understood."""
    return len(text) <= MAX_LENGTH and _LOOKS_REPEATED.search(normalize(text)) is not None


def is_ambiguous(text: str) -> bool:
    """Return whether a repeat has two common readings."""
    return len(text) <= MAX_LENGTH and _AMBIGUOUS.search(normalize(text)) is not None


def split_when(written: str) -> tuple[str, str]:
    """Split a text into the time at its beginning or else its end, and the rest: `明日9時に薬を飲む`.

    Raises WhenNotUnderstood without a time, and RepeatNotUnderstood for an unknown repeat.
    """
    text = written.strip()
    first, last = normalize(text[:_MAX_SPLIT]), normalize(text[-_MAX_SPLIT:])
    end = _beginning_of(first)
    if end and not _GOES_ON.match(first, end) and not _IN_WORD.search(first[: end + 1]):
        at = next(at for at in range(len(text)) if len(normalize(text[: at + 1])) >= end) + 1
        if _means_time(text[:at]):
            return text[:at].rstrip(_AFTER_TIME), _LINK.sub("", text[at:])
    for begin, stop in _joined_times(last):
        if stop == len(last) and not _CLINGS.search(last[:begin]):
            at = (
                next(at for at in range(len(text), 0, -1) if len(normalize(text[at - 1 :])) >= stop - begin)
                - 1
            )
            if _means_time(text[at:]):
                return text[at:].rstrip(_AFTER_TIME), text[:at].rstrip(" 　、,").removesuffix(" on")
    raise RepeatNotUnderstood if looks_repeated(text[:_MAX_SPLIT]) else WhenNotUnderstood


def _beginning_of(folded: str) -> int:
    """Return where the time at the beginning of a normalized text ends; 0 if there is none."""
    try:
        words, end = read_beginning(folded)
        if words.seen and (join := _JOIN.match(folded, end)):
            more, more_end = read_beginning(folded, join.end())
            if more.seen and (words.is_repeated or more.is_repeated):
                return more_end
            if looks_repeated(folded[join.end() : join.end() + _NEAR]):
                return 0
    except InputError:
        return 0
    return end if words.seen else 0


def _joined_times(folded: str) -> Iterator[tuple[int, int]]:
    """Yield where the times of a normalized text begin and end, each repeat together with its beginning; none
    for once after a repeat: `every monday except holidays at 18`."""
    first, before, repeats = 0, 0, False
    for begin, end, words in find_times(folded):
        joined = before and _JOIN.fullmatch(folded, before, begin)
        first = first if joined else begin
        if joined or words.is_repeated or not repeats:
            yield first, end
        before, repeats = end, repeats or words.every is not None or words.plural


def _means_time(words: str) -> bool:
    try:
        parse_schedules(words, "", _ANY_DAY, ZoneInfo("UTC"))
    except NoSuchTime:
        return True
    except (WhenNotUnderstood, RepeatNotUnderstood):
        return False
    except InputError:  # over, or too often: the user gets that error
        return True
    return True


def _plan(when: str, now: datetime, zone: ZoneInfo) -> tuple[Planned, ...]:
    start, repeat = _parts(normalize(when[:MAX_LENGTH]))
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


def _parts(written: str) -> tuple[str, str]:
    """Split `明日から毎日9時` and `every 3 days starting tomorrow` into beginning and repeat."""
    start, since, repeat = written.partition("から")
    if not since:
        repeat, *starts = _STARTING.split(written, maxsplit=1)
        start = "".join(starts)
    return start.strip(), repeat.strip(" ,、")


def _plan_from(when: str, repeat: str, now: datetime, zone: ZoneInfo) -> tuple[Planned, ...]:
    start = _start(_BEGINNINGS.get(when, when), now, zone)
    local = start.moment.astimezone(zone)
    begin = local if start.timed else datetime.combine(local.date(), time(), zone)
    repeats = _read_repeat(repeat, local)
    if all(map(in_hours, repeats)) and start.moment > now:
        return tuple((start.moment, each) for each in repeats)
    return _first_times(repeats, now, zone, begin.astimezone(UTC) - timedelta(seconds=1))


def _start(when: str, now: datetime, zone: ZoneInfo) -> ReadTime:
    if _TODAY.fullmatch(when.strip()):
        when = now.astimezone(zone).date().isoformat()  # alone it has no time of day
    try:
        start, *others = read_moments(when, now, zone, over=True)
    except NoSuchTime:
        raise
    except WhenNotUnderstood:
        if looks_repeated(when):  # two repeats: ambiguous
            raise RepeatNotUnderstood from None
        raise
    if others:
        raise SeveralTimes
    return start


def _first_times(
    repeats: list[str], now: datetime, zone: ZoneInfo, begin: datetime | None = None
) -> tuple[Planned, ...]:
    """Return each repeat's first future time. Intervals of days are counted from the very first one."""
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


# ---- words to cron ---------------------------------------------------------------------------------------


def _read_repeat(text: str, start: datetime | None) -> list[str]:
    if len(text) > MAX_LENGTH or len(written := normalize(text)) > 2 * MAX_LENGTH:
        raise RepeatNotUnderstood
    if _CRON.fullmatch(written):
        return [check_repeat(text)]
    try:
        return repeats_of(read(written), start)
    except NoSuchTime:
        raise
    except WhenNotUnderstood:
        raise RepeatNotUnderstood from None


def repeats_of(words: TimeWords, start: datetime | None) -> list[str]:
    """Return words as cron expressions, one for each minute of the hour: cron can't express 9:00 and 18:30 in
    one. `start` (local time) provides the day and time of day that they omit.

    Raises RepeatNotUnderstood, RepeatTooOften, or WhenNotUnderstood for a time of day.
    """
    if not words.is_repeated or words.week is not None or any(each.as_now for each in words.clocks):
        raise RepeatNotUnderstood
    count, unit = words.every or (1, words.implied_unit)
    minutes = {_minute(each.of_other_day()) for each in words.clocks}
    if unit in ("seconds", "minutes"):
        raise RepeatTooOften
    if unit == "hours":
        if minutes or words.named_days != {"every"}:
            raise RepeatNotUnderstood
        return [_hours_apart(count, start)]
    days = _days(words, unit, start)
    minutes = minutes or {USUAL_MINUTE_OF_DAY if start is None else start.hour * 60 + start.minute}
    if count < 1 or (max(minutes) >= MIDNIGHT and (days, count) != ("* * *", 1)):
        raise RepeatNotUnderstood  # the night after Monday is on a Tuesday
    hours = defaultdict[int, set[int]](set)
    for each in minutes:
        hours[each % 60].add(each // 60 % 24)
    behind = f" every {count * 12} months" if unit == "years" else f" every {count} {unit}"
    return [
        check_repeat(f"{past} {_listed(of_day)} {days}{behind if count > 1 else ''}")
        for past, of_day in sorted(hours.items())
    ]


def _minute(minute: int | None) -> int:
    if minute is None:
        raise RepeatNotUnderstood
    return minute


def _hours_apart(count: int, start: datetime | None) -> str:
    """Cron restarts at midnight, so an interval that does not divide a day is counted in elapsed hours."""
    if not 1 <= count <= MAX_HOURS:
        raise RepeatNotUnderstood
    if 24 % count:
        return f"every {count}h"
    hour, past = (start.hour, start.minute) if start else (9 if count == 24 else 0, 0)
    begin = hour % count
    hours = "*" if count == 1 else str(hour) if count == 24 else _listed(range(begin, 24, count))
    return check_repeat(f"{past} {hours if begin or count in (1, 24) else f'*/{count}'} * * *")


def _days(words: TimeWords, unit: Unit, start: datetime | None) -> str:
    named = words.named_days - {"every"}
    if unit == "days" and named == {"weekday"}:
        unit = "weeks"
    fields = None
    match unit:
        case "days" if not named:
            fields = "* * *"
        case "weeks" if named == {"weekday"}:
            fields = f"* * {_weekdays(words.weekdays)}"
        case "months" | "years" if "nth" in named and named <= {"nth", "month"}:
            nth = sorted(words.nth, key=lambda each: _cron_day(each[1]))
            fields = f"* {words.month_number or '*'} {','.join(_nth(*each) for each in nth)}"
        case "months" if named == {"monthday"}:
            fields = f"{_monthdays(words.monthdays)} * *"
        case "years" if named == {"month", "monthday"} and len(words.monthdays) == 1:
            fields = f"{words.monthdays[0] or 'L'} {words.month_number} *"
        case "years" if named == {"named"}:
            fields = cron_of(words.named)
        case "weeks" if start and not named:
            fields = f"* * {_cron_day(start.weekday())}"
        case "months" if start and not named:
            fields = f"{_monthdays([start.day])} * *"
        case "years" if start and not named:
            fields = f"{start.day} {start.month} *"
    if fields is None:
        raise RepeatNotUnderstood
    return fields


def _weekdays(weekdays: Iterable[int]) -> str:
    numbers = sorted({_cron_day(each) for each in weekdays})
    return {"1,2,3,4,5": "1-5", "0,1,2,3,4,5,6": "*"}.get(_listed(numbers), _listed(numbers))


def _cron_day(weekday: int) -> int:
    """Cron's week begins with Sunday: 0."""
    return (weekday + 1) % 7


def _nth(nth: int, weekday: int) -> str:
    return f"{_cron_day(weekday)}#{nth}" if nth else f"{_cron_day(weekday)}L"


def _monthdays(numbers: Iterable[int]) -> str:
    """The 31st means the last day of the month: rent due then is due in June, too."""
    return _listed({each % 31 for each in numbers} - {0}, *(["L"] if {0, 31} & {*numbers} else []))


def _listed(numbers: Iterable[int], *more: str) -> str:
    return ",".join([*map(str, sorted(numbers)), *more])
