"""The rhythm in which something comes again, as people say it: `毎週`, `3日ごと`, `every other`, `once a
month`."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from cc_bot.domain.holidays import NAMED_DAY
from cc_bot.domain.when_words import MONTH_EN, WEEKDAY_EN

Unit = Literal["minutes", "hours", "days", "weeks", "months", "years"]


@dataclass(frozen=True, slots=True)
class Rhythm:
    """A number of units from one time to the next."""

    unit: Unit
    count: int = 1


_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
_COUNT_JA: Final = r"(?<!\d)(?P<count>\d{1,3})"
_EACH_JA: Final = r"(?:ごと|毎(?![日週月年時])|に1[度回])"
_EVERY: Final = r"\b(?:once )?(?:every|each)"
_COUNT_EN: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_NTH_EN: Final = rf"(?P<nth>\d{{1,3}}(?=st|nd|rd|th)|{'|'.join(_ORDINALS[1:])})(?:st|nd|rd|th)?"

_WORDS: Final[tuple[tuple[str, Unit, int], ...]] = (
    (r"\d{1,4}[分秒](?:おき|ごと|毎)|毎[分秒]", "minutes", 1),
    (
        rf"{_EVERY} (?:(?:\d{{1,4}} ?)?(?:minutes?|mins?|secs?)"
        r"|\d{1,4} ?seconds?|seconds?(?! \w+day|hour))\b",
        "minutes",
        1,
    ),
    (rf"{_COUNT_JA}時間(?:おき|ごと|毎|に1[度回])", "hours", 0),
    (r"毎時(?!刻|間)", "hours", 1),
    (rf"{_COUNT_JA}日{_EACH_JA}", "days", 0),
    (r"(?<!\d)1日おき|隔日", "days", 2),  # 3日おき is every 3 or every 4 days, whomever one asks
    (r"(?<!\d)1日1[度回]|毎日(?!曜)", "days", 1),
    (rf"{_COUNT_JA}週間?{_EACH_JA}", "weeks", 0),
    (r"隔週|(?<!\d)1週間?おき", "weeks", 2),
    (r"毎週|(?<!\d)週に?1[度回]|毎(?=[月火水木金土日]曜)", "weeks", 1),
    (rf"{_COUNT_JA}か月{_EACH_JA}", "months", 0),
    (r"隔月(?!曜)|(?<!\d)1か月おき", "months", 2),
    (r"毎月(?!曜)|(?<![\dか])月に?1[度回]", "months", 1),
    (rf"{_COUNT_JA}年{_EACH_JA}", "years", 0),
    (r"隔年|(?<!\d)1年おき", "years", 2),
    (r"毎年|(?<!\d)年に?1[度回]", "years", 1),
    (rf"{_EVERY} {_COUNT_EN} ?(?:hours?|hrs?|h)\b", "hours", 0),
    (rf"{_EVERY} (?:other|second) hour\b", "hours", 2),
    (rf"{_EVERY} hour\b|\bhourly\b|\bonce an hour\b", "hours", 1),
    (rf"{_EVERY} (?:{_COUNT_EN} days?|{_NTH_EN} day)\b", "days", 0),
    (rf"{_EVERY} other day\b", "days", 2),
    (
        rf"{_EVERY} ?day\b|\bdaily\b|\bonce a day\b|{_EVERY} (?=morning|noon|afternoon|evening|night)",
        "days",
        1,
    ),
    (rf"{_EVERY} (?:{_COUNT_EN} weeks?|{_NTH_EN} week)\b", "weeks", 0),
    (rf"{_EVERY} other week\b|\bbi-?weekly\b|\bfortnightly\b|{_EVERY} fortnight\b", "weeks", 2),
    (rf"{_EVERY} other (?={WEEKDAY_EN}|weekend)|\balternate (?={WEEKDAY_EN}|weekend)", "weeks", 2),
    (rf"{_EVERY} week\b|\bweekly\b|\bonce a week\b", "weeks", 1),
    (rf"{_EVERY} (?:{_COUNT_EN} months?|{_NTH_EN} month)\b", "months", 0),
    (rf"{_EVERY} other month\b", "months", 2),
    (r"\b(?:of )?(?:every|each) month\b|\bof the month\b|\bmonthly\b|\bonce a month\b", "months", 1),
    (rf"{_EVERY} (?:{_COUNT_EN} years?|{_NTH_EN} year)\b", "years", 0),
    (rf"{_EVERY} other year\b", "years", 2),
    (
        rf"{_EVERY} year\b|\b(?:yearly|annually)\b|\bonce a year\b|{_EVERY} (?={MONTH_EN}\s?\d|{NAMED_DAY})",
        "years",
        1,
    ),
)
"""0: the words tell the count."""
_RHYTHMS: Final = [(re.compile(pattern), unit, count) for pattern, unit, count in _WORDS]
_SOUNDS_REPEATED: Final = re.compile(
    r"毎(?!度|回)|(?<!まる)ごと|おき(?![るてまた])|隔[日週月年]|繰り?返|[日週月年]に?\d[度回]|第\d.{0,6}曜|(?<!次の)(?<!今度の)平日"
    r"|曜?日?(?:から|~|〜)[月火水木金土日]曜"
    r"|\b(?:every|each|hourly|daily|weekly|fortnightly|bi-?weekly|monthly|yearly|annually|alternate)\b"
    r"|\b(?:once|twice|times) (?:a|an|per)\b|\brepeat"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun|week)days\b|\bweekends\b"
)
"""Whoever writes so does not mean one moment, whether or not it is understood."""


_IMPLIES_REPEATS: Final = re.compile(
    r"いつも|常に|毎|(?:たび|度)に?(?:\s|\d|$)|のつく|[偶奇]数|週[一二三四五六1-6](?![\d週間])"
    r"|\b(?:always|whenever|quarterly|nightly|evenings|mornings|twice|thrice)\b"
)
_IMPLIES_SEVERAL: Final = re.compile(
    r"朝[と・]?[晩夕夜昼]|昼[と・]?[晩夜]|連続|日間(?!後)|いっぱい|[~〜]\s?\d|後[とや、,・]\s?\d"
    r"|(?:今日|明日|明後日|あさって)[と・、]?(?:明日|明後日|あさって)"
    r"|\band (?:the day after|in \d)|\bfor (?:the next )?\d+ (?:day|week|month|night|morning|evening)s\b"
)
"""What no rule reads may still say that it is more than one moment, and then no model is to choose one."""


def find_rhythm(written: str) -> tuple[Rhythm | None, str]:
    """Find how often something comes, and return the text without the words that say so."""
    for pattern, unit, count in _RHYTHMS:
        if match := pattern.search(written):  # 毎朝7時と毎晩9時 says it twice
            return Rhythm(unit, count or _count(match)), pattern.sub(" ", written, count=0 if count else 1)
    return None, written


def sounds_repeated(written: str) -> bool:
    """Return whether a text, as `normalize` left it, speaks of what comes again."""
    return _SOUNDS_REPEATED.search(written) is not None


def find_implied(written: str) -> Literal["repeats", "several"] | None:
    """Return what a text that no rule read says besides, if it is about more than one moment. As `normalize`
    left it."""
    if sounds_repeated(written) or _IMPLIES_REPEATS.search(written):
        return "repeats"
    return "several" if _IMPLIES_SEVERAL.search(written) else None


def _count(match: re.Match[str]) -> int:
    found = match.groupdict()
    said = found.get("count") or found.get("nth") or ""
    if said.isdecimal():
        return int(said)
    return _NUMBERS.index(said) + 1 if said in _NUMBERS else _ORDINALS.index(said) + 1
