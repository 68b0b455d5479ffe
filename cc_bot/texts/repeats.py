"""A repeat in the words of a person: `0 9 * * 1-5` is 平日 9:00, or every weekday at 9:00.

What is said so reads back as the same repeat (domain/repeat_words): who changes a reminder may copy it.
"""

import re
from collections.abc import Sequence
from typing import Final

from cc_bot.domain.repeats import Interval, parts_of
from cc_bot.domain.when_words import SMALL_HOURS
from cc_bot.texts import Texts
from cc_bot.texts.reminder import RepeatTexts

_NAMES: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_HOURS: Final = re.compile(r"every (\d+)h")
_EVERY_SO_MANY: Final = re.compile(r"\*/(\d+)")
_NTH: Final = re.compile(r"\A(?:(?P<day>\w++)#(?P<nth>[1-5])|(?P<last>[0-6])L)\Z")
_LISTED_AT_MOST: Final = 4
"""Times of a day; of more that are equally far apart, it is told how far."""
_IN_EVERY_MONTH: Final = 28


def described(repeat: str, words: Texts) -> str:
    """Fits into 「…にお知らせします」 and `I'll remind you …`. What no words are kept for is told as cron."""
    phrases = words.repeat
    if match := _HOURS.fullmatch(repeat):
        return _hours(phrases, int(match[1]))
    try:
        cron, interval = parts_of(repeat)
        return _in_words(phrases, cron.split(), interval)
    except (ValueError, IndexError, TypeError):
        return phrases.by_cron.format(cron=repeat)


def _in_words(phrases: RepeatTexts, fields: Sequence[str], interval: Interval | None) -> str:
    """Raises ValueError or IndexError where there are no words."""
    minute, hour, *of_days = fields
    past = int(minute)
    if interval is None and of_days == ["*"] * 3 and (told := _through_the_day(phrases, hour, past)):
        return told
    days = _days(phrases, *of_days) if interval is None else _days_apart(phrases, interval, *of_days)
    times = [_time(phrases, each, past) for each in _numbers(hour)]
    return phrases.at.format(days=days, times=_joined(phrases, times))


def _through_the_day(phrases: RepeatTexts, hour: str, past: int) -> str | None:
    """What comes so many hours apart; None for all else."""
    if hour == "*":
        return phrases.hourly_at.format(minute=past) if past else phrases.hourly
    if match := _EVERY_SO_MANY.fullmatch(hour):
        return _hours(phrases, int(match[1]), past=past)
    hours = _numbers(hour)
    apart = 24 // len(hours)
    if len(hours) <= _LISTED_AT_MOST or hours != list(range(hours[0], 24, apart)):
        return None
    return _hours(phrases, apart, first=hours[0], past=past)


def _days(phrases: RepeatTexts, day: str, month: str, weekday: str) -> str:
    if day == "*" and (nth_days := _nth_days(phrases, weekday)):
        return _by_nth_days(phrases, nth_days, month)
    if (day, month, weekday) == ("*", "*", "*"):
        return phrases.daily
    match (day, month, weekday):
        case ("*", "*", _):
            return _of_week(phrases, _numbers(weekday.replace("7", "0")))
        case ("L", "*", "*"):
            return phrases.month_end
        case (_, "*", "*"):
            return phrases.monthly.format(days=_of_month(phrases, day))
        case (_, _, "*"):
            return phrases.yearly.format(**_of_year(phrases, day, month))
        case _:
            raise ValueError(weekday)


def _by_nth_days(phrases: RepeatTexts, nth_days: str, month: str) -> str:
    if month == "*":
        return phrases.by_nth_day.format(days=nth_days)
    return phrases.yearly_by_nth_day.format(month=_month(phrases, month), days=nth_days)


def _of_year(phrases: RepeatTexts, day: str, month: str) -> dict[str, str]:
    only = phrases.leap_years if (int(day), int(month)) == (29, 2) else ""
    return {"month": _month(phrases, month), "day": phrases.counted[int(day) - 1] + only}


def _days_apart(phrases: RepeatTexts, interval: Interval, day: str, month: str, weekday: str) -> str:
    """Likewise, of what has some days, weeks or months between."""
    count = interval.count
    match (interval.unit, day, month, weekday):
        case ("days", "*", "*", "*"):
            return phrases.days_apart.format(count=count)
        case ("weeks", "*", "*", _):
            return _weeks_apart(phrases, count, _numbers(weekday.replace("7", "0")))
        case ("months", _, "*", _):
            return _months_apart(phrases, count, day, weekday)
        case ("months", _, _, _) if count % 12 == 0:
            return _years_apart(phrases, count // 12, day, month, weekday)
        case _:
            raise ValueError(interval)


def _weeks_apart(phrases: RepeatTexts, count: int, numbers: Sequence[int]) -> str:
    if numbers == [1, 2, 3, 4, 5]:
        return phrases.weeks_apart_workdays.format(count=count)
    return phrases.weeks_apart.format(count=count, days=_weekdays(phrases, numbers))


def _months_apart(phrases: RepeatTexts, count: int, day: str, weekday: str) -> str:
    if (day, weekday) == ("L", "*"):
        return phrases.months_apart_end.format(count=count)
    if day == "*" and (nth_days := _nth_days(phrases, weekday)):
        return phrases.months_apart_by_nth_day.format(count=count, days=nth_days)
    if weekday != "*":
        raise ValueError(weekday)
    return phrases.months_apart.format(count=count, days=_of_month(phrases, day))


def _years_apart(phrases: RepeatTexts, count: int, day: str, month: str, weekday: str) -> str:
    if day == "*" and (nth_days := _nth_days(phrases, weekday)):
        name = _month(phrases, month)
        return phrases.years_apart_by_nth_day.format(count=count, month=name, days=nth_days)
    if weekday != "*":
        raise ValueError(weekday)
    return phrases.years_apart.format(count=count, **_of_year(phrases, day, month))


def _of_week(phrases: RepeatTexts, numbers: Sequence[int]) -> str:
    if numbers in ([1, 2, 3, 4, 5], [0, 6]):
        return phrases.workdays if len(numbers) == 5 else phrases.weekends
    return phrases.weekly.format(days=_weekdays(phrases, numbers))


def _weekdays(phrases: RepeatTexts, numbers: Sequence[int]) -> str:
    from_monday = sorted(numbers, key=lambda number: number or 7)
    return _joined(phrases, [phrases.weekdays[number] for number in from_monday])


def _of_month(phrases: RepeatTexts, field: str) -> str:
    numbers = _numbers(field)
    told = _joined(phrases, [phrases.counted[number - 1] for number in numbers])
    return told + (phrases.some_months if numbers[-1] > _IN_EVERY_MONTH else "")


def _nth_days(phrases: RepeatTexts, field: str) -> str | None:
    """第2水曜・第4水曜; None where it is another kind of weekdays."""
    found = [_NTH.match(each) for each in field.split(",")]
    told = [
        phrases.last_day.format(day=phrases.weekdays[int(match["last"])])
        if match["last"]
        else phrases.nth_day.format(
            nth=_nth(phrases, int(match["nth"])), day=phrases.weekdays[_number(match["day"])]
        )
        for match in found
        if match
    ]
    return _joined(phrases, told) if len(told) == len(found) else None


def _month(phrases: RepeatTexts, field: str) -> str:
    return phrases.months[int(field) - 1]


def _nth(phrases: RepeatTexts, number: int) -> str:
    """`2` in 第2月曜, `2nd` in English."""
    return phrases.counted[number - 1].removesuffix("日")


def _time(phrases: RepeatTexts, hour: int, minute: int) -> str:
    """`at 3:05` is in the afternoon, `at 03:05` at night (domain/when)."""
    told = phrases.small_hour.format(hour=hour) if 1 <= hour < SMALL_HOURS // 60 else str(hour)
    return f"{told}:{minute:02}"


def _hours(phrases: RepeatTexts, hours: int, *, first: int = 0, past: int = 0) -> str:
    if first or past:
        return phrases.hours_apart_from.format(hours=hours, time=_time(phrases, first, past))
    return phrases.hourly if hours == 1 else phrases.hours_apart.format(hours=hours)


def _numbers(field: str) -> list[int]:
    """Those of a list with ranges, such as `1-3,5` or `MON-WED,FRI`."""
    found = set[int]()
    for part in field.split(","):
        first, _, last = part.partition("-")
        found.update(range(_number(first), _number(last or first) + 1))
    return sorted(found)


def _number(text: str) -> int:
    return _NAMES.index(text) if text in _NAMES else int(text)


def _joined(phrases: RepeatTexts, parts: list[str]) -> str:
    *most, last = parts
    return f"{phrases.comma.join(most)}{phrases.last_comma}{last}" if most else last
