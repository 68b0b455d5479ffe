"""A repeat in the words of a person: `0 9 * * 1-5` is 平日 9:00, or every weekday at 9:00."""

import re
from collections.abc import Sequence
from typing import Final

from cc_bot.texts import Texts
from cc_bot.texts.repeat import RepeatTexts

_NAMES: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_HOURS: Final = re.compile(r"every (\d+)h")
_EVERY_SO_MANY: Final = re.compile(r"\*/(\d+)")


def described(repeat: str, words: Texts) -> str:
    """Fits into 「…にお知らせします」 and `I'll remind you …`. What no words are kept for is told as cron."""
    phrases = words.repeat
    if match := _HOURS.fullmatch(repeat):
        return _hours(phrases, int(match[1]))
    try:
        return _in_words(phrases, repeat.split())
    except (ValueError, IndexError, TypeError):
        return phrases.by_cron.format(cron=repeat)


def _in_words(phrases: RepeatTexts, fields: Sequence[str]) -> str:
    """Raises ValueError or IndexError where there are no words."""
    minute, hour, *of_days = fields
    days, past = _days(phrases, *of_days), int(minute)
    if hour == "*" and days == phrases.daily:
        return phrases.hourly_at.format(minute=past) if past else phrases.hourly
    if (match := _EVERY_SO_MANY.fullmatch(hour)) and days == phrases.daily and not past:
        return _hours(phrases, int(match[1]))
    times = [f"{each}:{past:02}" for each in _numbers(hour)]
    return phrases.at.format(days=days, times=_joined(phrases, times))


def _days(phrases: RepeatTexts, day: str, month: str, weekday: str) -> str:
    match (day, month, weekday):
        case ("*", "*", "*"):
            return phrases.daily
        case ("*", "*", _):
            return _of_week(phrases, weekday.replace("7", "0"))
        case ("L", "*", "*"):
            return phrases.month_end
        case (_, "*", "*"):
            return phrases.monthly.format(
                day=_joined(phrases, [phrases.counted[number - 1] for number in _numbers(day)])
            )
        case (_, _, "*"):
            return phrases.yearly.format(
                month=phrases.months[int(month) - 1], day=phrases.counted[int(day) - 1]
            )
        case _:
            raise ValueError(weekday)


def _of_week(phrases: RepeatTexts, weekday: str) -> str:
    names = phrases.weekdays
    if match := re.fullmatch(r"\A(\w++)#([1-5])", weekday):
        return phrases.nth_of_month.format(nth=_nth(phrases, int(match[2])), day=names[_number(match[1])])
    if match := re.fullmatch(r"([0-6])L", weekday):
        return phrases.last_of_month.format(day=names[int(match[1])])
    numbers = _numbers(weekday)
    if numbers in ([1, 2, 3, 4, 5], [0, 6]):
        return phrases.workdays if len(numbers) == 5 else phrases.weekends
    from_monday = sorted(numbers, key=lambda number: number or 7)
    return phrases.weekly.format(days=_joined(phrases, [names[number] for number in from_monday]))


def _nth(phrases: RepeatTexts, number: int) -> str:
    """`2` in 第2月曜, `2nd` in English."""
    return phrases.counted[number - 1].removesuffix("日")


def _hours(phrases: RepeatTexts, hours: int) -> str:
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
