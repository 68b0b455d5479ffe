"""The days that a text names, as far as they are near: `11月25日`, `2026-11-25`, `Nov 25`, `11/25`.

It is for noticing that the day of a note has come, so it goes by dates alone: `next Friday` meant another day
when it was written than it would now.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from cc_bot.domain.when_spelling import year_of

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY: Final = r"(?P<day>[0-9]{1,2})"
_PATTERNS: Final = tuple(
    map(
        re.compile,
        (
            rf"(?:(?P<era>令和|平成|昭和)(?P<reign>[0-9]{{1,2}}|元)年|(?<![0-9])(?P<year>[0-9]{{4}})年|(?<![0-9年]))"
            rf"\s?(?P<month>[0-9]{{1,2}})月\s?{_DAY}日",
            rf"(?<![0-9])(?P<year>[0-9]{{4}})(?P<mark>[-/.])(?P<month>[0-9]{{1,2}})(?P=mark){_DAY}(?![0-9])",
            rf"(?<![0-9/.\-])(?P<month>[0-9]{{1,2}})/{_DAY}(?![0-9/])",
            rf"\b{_MONTH}\s?{_DAY}(?![0-9])(?:st|nd|rd|th)?(?:,?\s(?P<year>[0-9]{{4}})\b)?",
            rf"(?<![0-9:]){_DAY}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s(?P<year>[0-9]{{4}})\b)?",
        ),
    )
)
_YEARLY: Final = re.compile(
    r"誕生|生まれ|うまれ|生誕|記念|命日|毎年|birthday|born|anniversary|every year|annual"
)


def days_named(text: str, today: date, *, within: int) -> tuple[date, ...]:
    """Those of the days from today until `within` days later that the text names, in their order.

    A date without a year is that of any year; so is one of a past year, in a text about birthdays and the
    like.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    yearly = _YEARLY.search(folded) is not None
    near = [today + timedelta(days=days) for days in range(within + 1)]
    named = set(_named(folded))
    return tuple(
        day
        for day in near
        if any(
            (month, number) == (day.month, day.day)
            and (year is None or year == day.year or (yearly and year < day.year))
            for year, month, number in named
        )
    )


def _named(text: str) -> Iterator[tuple[int | None, int, int]]:
    """Year, if there is one, month and day of all that looks like a date."""
    for pattern in _PATTERNS:
        for found in pattern.finditer(text):
            parts = found.groupdict()
            year = int(parts["year"]) if parts.get("year") else None
            if parts.get("era"):
                year = year_of(parts["era"], parts["reign"])
            name = parts.get("name")
            month = _MONTHS.index(name[:3]) + 1 if name else int(parts["month"])
            yield year, month, int(parts["day"])
