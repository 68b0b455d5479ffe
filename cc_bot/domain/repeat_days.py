"""The days on which something comes again, as people say them: `月・水・金`, `第2・第4水曜`, `the 1st`.

What is told are the three fields of a cron expression that mean days: day, month, weekday.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cc_bot.domain.errors import RepeatNotUnderstood
from cc_bot.domain.holidays import NAMED_DAY, cron_of
from cc_bot.domain.rhythms import Unit
from cc_bot.domain.when_words import MONTH_EN, NTH_WORDS, WEEKDAY_EN, month_of, weekday_of


@dataclass(frozen=True, slots=True)
class Days:
    fields: str
    unit: Unit
    """The time in which they come once: weekdays in a week, the 3rd in a month."""
    alone: bool = False
    """Whether they come again even if nothing says how often: `weekdays`, but not `monday`."""


_Read = Callable[[re.Match[str]], Days]
_EVERY: Final = r"\b(?:(?:every|each|on)\s){0,2}"
_AND: Final = r"(?>(?:,|/|\s|&|and\b){0,6})"
_WEEKDAYS_EN: Final = rf"{WEEKDAY_EN}(?:{_AND}{WEEKDAY_EN}){{0,13}}"
_TO_EN: Final = r"\s?(?:to|through|thru|-|~|–)\s?"
_W: Final = "[月火水木金土日]"
_NTH_ONE_JA: Final = (
    rf"(?:第\s?[1-5](?:[・、,と]第?\s?[1-5]|第\s?[1-5]){{0,4}}|最終|最後の|最初の)の?{_W}曜日?"
)
_NTH_JA: Final = rf"{_NTH_ONE_JA}(?:[・、,と]\s?{_NTH_ONE_JA}){{0,4}}"
_ORDINAL_EN: Final = r"(?:first|second|third|fourth|fifth|last|[1-5](?:st|nd|rd|th))"
_NTH_ONE_EN: Final = rf"{_ORDINAL_EN}(?:{_AND}{_ORDINAL_EN}){{0,4}} {WEEKDAY_EN}"
_NTH_EN: Final = rf"{_NTH_ONE_EN}(?:{_AND}{_NTH_ONE_EN}){{0,4}}"
_DAYS_EN: Final = rf"\d{{1,2}}(?:st|nd|rd|th)?(?:{_AND}(?:the )?\d{{1,2}}(?:st|nd|rd|th)){{0,11}}"
_ALL_MONTHS: Final = r"(?P<skips> ?\((?:ない月はお休み|when there is one)\))?"
_LEAP: Final = r"(?: ?\((?:うるう年だけ|leap years only)\))?"


def find_days(written: str) -> tuple[Days | None, str]:
    """The days, and the text without the words that say so."""
    for pattern, read in _DAYS:
        if match := pattern.search(written):
            return read(match), f"{written[: match.start()]} {written[match.end() :]}"
    return None, written


def _fixed(fields: str, unit: Unit, *, alone: bool = True) -> _Read:
    return lambda _: Days(fields, unit, alone)


def _cron_weekday(name: str) -> int:
    """Cron's week begins with Sunday: 0."""
    return (weekday_of(name) + 1) % 7


def _weekdays(match: re.Match[str]) -> Days:
    names = re.findall(rf"{_W}|{WEEKDAY_EN}", re.sub("曜日?", "", match["days"]))
    numbers = sorted({_cron_weekday(name) for name in names})
    plural = re.search(r"days\b", match[0]) is not None
    each = re.match(r"every|each", match[0]) is not None
    return Days(f"* * {','.join(map(str, numbers))}", "weeks", len(names) > 1 or plural or each)


def _weekday_range(match: re.Match[str]) -> Days:
    first, last = weekday_of(match["first"]), weekday_of(match["last"])
    if first == last:
        raise RepeatNotUnderstood
    numbers = sorted((first + ahead + 1) % 7 for ahead in range((last - first) % 7 + 1))
    fields = "1-5" if numbers == [1, 2, 3, 4, 5] else ",".join(map(str, numbers))
    return Days(f"* * {fields}" if len(numbers) < 7 else "* * *", "weeks", alone=True)


def _nth_weekdays(match: re.Match[str]) -> Days:
    """第2・第4水曜, the second wednesday and the last friday."""
    groups = re.findall(rf"{_NTH_ONE_JA}|{_NTH_ONE_EN}", match["days"])
    found = sorted({each for group in groups for each in _nth_in(group)})
    month = _month(match)
    fields = ",".join(f"{day}L" if nth == 0 else f"{day}#{nth}" for day, nth in found)
    japanese = re.search("曜", match["days"]) is not None
    return Days(f"* {month} {fields}", "months" if month == "*" else "years", alone=japanese and month == "*")


def _nth_in(group: str) -> list[tuple[int, int]]:
    japanese = re.search(rf"({_W})曜", group)
    name = japanese[1] if japanese else group.rsplit(maxsplit=1)[-1]
    day = _cron_weekday(name)
    said = re.findall(r"[1-5]|最終|最後の|最初の|first|second|third|fourth|fifth|last", group)
    return [(day, int(each) if each.isdecimal() else NTH_WORDS[each]) for each in said]


def _month(match: re.Match[str]) -> str:
    found = match.groupdict()
    if name := found.get("name"):
        return str(month_of(name))
    return str(int(found["month"])) if found.get("month") else "*"


def _of_month(match: re.Match[str]) -> Days:
    """The 31st is the month's last day, if not said otherwise: rent that is due then is due in June, too."""
    numbers = sorted({int(number) for number in re.findall(r"\d+", match["days"])})
    if not all(1 <= number <= 31 for number in numbers):
        raise RepeatNotUnderstood
    written = ["L" if number == 31 and not match["skips"] else str(number) for number in numbers]
    return Days(f"{','.join(written)} * *", "months")


def _of_year(match: re.Match[str]) -> Days:
    return Days(f"{int(match['day'])} {_month(match)} *", "years")


def _named(match: re.Match[str]) -> Days:
    if (fields := cron_of(match["named"])) is None:
        raise RepeatNotUnderstood
    return Days(fields, "years")


_TH: Final = r"(?:st|nd|rd|th)?\b(?!:)"
_DAYS: Final[list[tuple[re.Pattern[str], _Read]]] = [
    (re.compile(pattern), read)
    for pattern, read in (
        (rf"(?:(?P<month>\d{{1,2}})月の?)?(?P<days>{_NTH_JA})", _nth_weekdays),
        (
            rf"{_EVERY}(?:the )?(?P<days>{_NTH_EN})(?: (?:of|in) (?:every |each )?(?P<name>{MONTH_EN}))?",
            _nth_weekdays,
        ),
        (r"月初め?|初日", _fixed("1 * *", "months", alone=False)),
        (r"月末日?|(?<![週年])末日?|最終日", _fixed("L * *", "months", alone=False)),
        (
            r"(?:on )?the (?:last day|end)\b(?: of\b)?|\bmonth[- ]end\b",
            _fixed("L * *", "months", alone=False),
        ),
        (rf"(?P<month>\d{{1,2}})(?:月|/)(?P<day>\d{{1,2}})日?(?!\d){_LEAP}", _of_year),
        (rf"(?:on )?(?P<name>{MONTH_EN})\s?(?P<day>\d{{1,2}}){_TH}{_LEAP}", _of_year),
        (rf"(?:on )?(?:the )?(?P<day>\d{{1,2}}){_TH} (?:of )?(?P<name>{MONTH_EN}){_LEAP}", _of_year),
        (rf"(?P<named>{NAMED_DAY})", _named),
        (
            rf"(?P<days>(?<!\d)\d{{1,2}}(?:日?[・、,と]\s?\d{{1,2}}(?=[日・、,と])){{0,11}}日)(?!間|おき|ごと){_ALL_MONTHS}",
            _of_month,
        ),
        (rf"(?:on )?the (?P<days>{_DAYS_EN})\b(?!:){_ALL_MONTHS}", _of_month),
        (r"(?<!次の)(?<!今度の)平日", _fixed("* * 1-5", "weeks")),
        (rf"{_EVERY}(?:weekdays?|(?:working|business|work) ?days?)\b", _fixed("* * 1-5", "weeks")),
        (r"(?<![今来の])週末", _fixed("* * 0,6", "weeks")),
        (rf"{_EVERY}(?:the )?weekends?\b", _fixed("* * 0,6", "weeks")),
        (
            rf"(?P<first>{_W})曜?日?(?:から|~|〜|-|–|ー)(?P<last>{_W})(?:曜日?|(?![月日]))(?:まで)?",
            _weekday_range,
        ),
        (rf"{_EVERY}(?P<first>{WEEKDAY_EN}){_TO_EN}(?P<last>{WEEKDAY_EN})", _weekday_range),
        (rf"(?P<days>(?:{_W}(?:曜日?)?[・、,/と\s]{{0,6}}){{1,14}})(?!\d*[日月])", _weekdays),
        (rf"{_EVERY}(?P<days>{_WEEKDAYS_EN})", _weekdays),
    )
]
