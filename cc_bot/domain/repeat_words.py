"""A repeat as people write it, in Japanese or English, or as cron: the cron expression that is meant.

`毎朝8時`, `平日9時`, `毎週月曜 9:00`, `毎月3日`, `every weekday at 9`, `every monday and thursday at 6pm`.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cc_bot.domain.errors import (
    RepeatNotUnderstood,
    RepeatTooOften,
    WhenNotUnderstood,
)
from cc_bot.domain.repeats import check_cron, next_time
from cc_bot.domain.when import LONGEST, USUAL_MINUTE_OF_DAY, parse_when
from cc_bot.domain.when_spelling import normalized
from cc_bot.domain.when_words import MIDNIGHT, MONTH_EN, SMALL_HOURS, WEEKDAY_EN, month_of, read, weekday_of

DAILY: Final = "* * *"
_CRON: Final = re.compile(r"\A[\d*/,\-#a-z]++(?:\s++[\d*/,\-#a-z]++){4}", re.IGNORECASE | re.ASCII)
_HAS_STARS_OR_DIGITS: Final = re.compile(r"^[\d*]")
_EVERY: Final = r"(?:every|each)"
_WEEKDAYS_EN: Final = rf"{WEEKDAY_EN}(?:(?>(?:,|\s|&|and\b){{0,6}}){WEEKDAY_EN}){{0,13}}"
_ORDINALS: Final = {"first": "1", "second": "2", "third": "3", "fourth": "4", "last": "L"}
_TH: Final = r"(?:st|nd|rd|th)?\b"
_NTH: Final = r"(?P<nth>first|second|third|fourth|last|[1-5](?=st|nd|rd|th))(?:st|nd|rd|th)?"


def parse_repeat(text: str, *, minute: int | None = None) -> str:
    """The cron expression that a text means. `minute` (after midnight) is when, where the text tells none.

    Raises RepeatNotUnderstood or RepeatTooOften.
    """
    if len(text) > LONGEST:
        raise RepeatNotUnderstood
    if _CRON.fullmatch(text.strip()) and _HAS_STARS_OR_DIGITS.match(text.strip()):
        return check_cron(text)
    if len(written := re.sub(r"毎(?=[朝晩夕夜昼])", "毎日", normalized(text))) > 2 * LONGEST:
        raise RepeatNotUnderstood
    for pattern, days_of in _DAYS:
        if match := pattern.search(written):
            rest = f"{written[: match.start()]} {written[match.end() :]}"
            times = _minutes(rest)
            return check_cron(_with_clock(days_of(match), times, minute))
    raise RepeatNotUnderstood


def parse_schedule(when: str, repeat: str, now: datetime, zone: ZoneInfo) -> tuple[datetime, str]:
    """The first time (UTC) and the cron expression, empty for what comes once. What repeats may be said in
    either; a `when` beside a `repeat` tells the first day, and the time of day where `repeat` tells none.

    Raises what `parse_when` and `parse_repeat` raise.
    """
    if not repeat.strip():
        try:
            return parse_when(when, now, zone), ""
        except WhenNotUnderstood as error:
            try:
                return _first(parse_repeat(when), now, zone)
            except RepeatNotUnderstood:
                raise error from None
    if not when.strip():
        return _first(parse_repeat(repeat), now, zone)
    start = parse_when(when, now, zone).astimezone(zone)
    cron = parse_repeat(repeat, minute=start.hour * 60 + start.minute)
    day = datetime.combine(start.date(), time(), zone) - timedelta(seconds=1)
    return _first(cron, max(now, day.astimezone(UTC)), zone)


def _first(cron: str, after: datetime, zone: ZoneInfo) -> tuple[datetime, str]:
    if first := next_time(cron, after, zone):
        return first, cron
    raise RepeatNotUnderstood


def _with_clock(days: str, times: set[int], minute: int | None) -> str:
    """The whole expression, of the three fields that tell the days (five: those tell the time as well), and
    of the times of the day."""
    if len(days.split()) > 3:
        if times:
            raise RepeatNotUnderstood
        return days
    minutes = times or {USUAL_MINUTE_OF_DAY if minute is None else minute}
    if len({each % 60 for each in minutes}) > 1:
        raise RepeatNotUnderstood  # cron has no 9:00 and 18:30 in one
    if max(minutes) >= MIDNIGHT and days != DAILY:
        raise RepeatNotUnderstood  # the night after Monday is on a Tuesday
    hours = sorted({each // 60 % 24 for each in minutes})
    return f"{min(minutes) % 60} {','.join(map(str, hours))} {days}"


def _minutes(rest: str) -> set[int]:
    """Minutes after midnight of the times that are named."""
    found = set[int]()
    for part in re.split(r"と|及び|[,、&]|\band\b", rest):
        try:
            said = read(part)
            minute = said.minute_of_some_day()
        except (WhenNotUnderstood, ValueError) as error:
            raise RepeatNotUnderstood from error
        if said.seen - {"clock", "part"}:
            raise RepeatNotUnderstood
        if minute is not None:
            found.add(minute + MIDNIGHT * (said.part == "late" and minute < SMALL_HOURS))
    return found


# ---- the days -------------------------------------------------------------------------------------------

_Days = Callable[[re.Match[str]], str]


def _fixed(days: str) -> _Days:
    return lambda _: days


def _of_week(match: re.Match[str]) -> str:
    names = re.findall(rf"[月火水木金土日]|{WEEKDAY_EN}", re.sub("曜日?", "", match["days"]))
    numbers = sorted({(weekday_of(name) + 1) % 7 for name in names})  # cron's week begins with Sunday: 0
    return f"* * {','.join(map(str, numbers))}"


def _nth_of_month(match: re.Match[str]) -> str:
    nth = _ORDINALS.get(match["nth"], match["nth"])
    day = (weekday_of(match["day"]) + 1) % 7
    return f"* * {day}L" if nth == "L" else f"* * {day}#{nth}"


def _of_month(match: re.Match[str]) -> str:
    return f"{match['day']} * *"


def _of_year(match: re.Match[str]) -> str:
    month = match["month"]
    return f"{match['day']} {month if month.isdecimal() else month_of(month)} *"


def _each_hour(match: re.Match[str]) -> str:
    return f"{int(match.groupdict().get('minute') or 0)} * * * *"


def _hours_apart(match: re.Match[str]) -> str:
    """Only what divides a day: cron begins anew at midnight."""
    hours = int(match["hours"])
    if not hours or 24 % hours:
        raise RepeatNotUnderstood
    return {1: "0 * * * *", 24: DAILY}.get(hours, f"0 */{hours} * * *")


def _too_often(_: re.Match[str]) -> str:
    raise RepeatTooOften


_DAYS: Final[list[tuple[re.Pattern[str], _Days]]] = [
    (re.compile(pattern), days_of)
    for pattern, days_of in (
        (r"\d{1,4}分(?:おき|ごと|毎)", _too_often),
        (rf"{_EVERY} (?:\d{{1,4}} )?min(?:ute)?s?\b", _too_often),
        (r"(?P<hours>\d{1,2})時間(?:おき|ごと|毎)", _hours_apart),
        (rf"{_EVERY} (?P<hours>\d{{1,2}}) ?(?:hours?|h)\b", _hours_apart),
        (r"毎時(?:(?P<minute>\d{1,2})分)?|1時間に1[度回]", _each_hour),
        (rf"{_EVERY} hour\b|\bhourly\b", _each_hour),
        (r"毎月の?第(?P<nth>[1-5])(?P<day>[月火水木金土日])曜日?", _nth_of_month),
        (
            rf"(?:{_EVERY} |(?:on )?the )?{_NTH} (?P<day>{WEEKDAY_EN}) of (?:the|every|each) month",
            _nth_of_month,
        ),
        (r"毎月の?(?:末日?|最終日)|毎月末|\b(?:on )?the last day of (?:every|each) month", _fixed("L * *")),
        (r"毎月の?(?P<day>\d{1,2})日", _of_month),
        (rf"(?:{_EVERY} month|monthly)(?: on)? the (?P<day>\d{{1,2}}){_TH}", _of_month),
        (r"(?:on )?the (?P<day>\d{1,2})(?:st|nd|rd|th)? of (?:every|each) month", _of_month),
        (r"毎年の?(?P<month>\d{1,2})月(?P<day>\d{1,2})日", _of_year),
        (
            rf"(?:{_EVERY} year|yearly|annually)(?: on)? (?P<month>{MONTH_EN})\s?(?P<day>\d{{1,2}}){_TH}",
            _of_year,
        ),
        (rf"{_EVERY} (?P<month>{MONTH_EN})\s?(?P<day>\d{{1,2}}){_TH}", _of_year),
        (r"毎?平日(?:毎日)?", _fixed("* * 1-5")),
        (rf"(?:{_EVERY} |on )?(?:weekdays?|(?:working|business) days?)\b", _fixed("* * 1-5")),
        (r"毎?週末|(?:毎週)?土日", _fixed("* * 0,6")),
        (rf"(?:{_EVERY} |on )?weekends?\b", _fixed("* * 0,6")),
        (r"毎週の?(?P<days>(?:[月火水木金土日](?:曜日?)?[・、,と\s]{0,6}){1,14})(?!\d*[日月])", _of_week),
        (r"毎(?P<days>[月火水木金土日]曜)日?", _of_week),
        (rf"(?:(?:{_EVERY}|on|weekly)\s){{0,3}}(?P<days>{_WEEKDAYS_EN})", _of_week),
        (r"毎日", _fixed(DAILY)),
        (rf"{_EVERY} ?day\b|\bdaily\b", _fixed(DAILY)),
        (rf"{_EVERY} (?=morning|afternoon|evening|night)", _fixed(DAILY)),
    )
]
