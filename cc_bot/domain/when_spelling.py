"""One spelling for what tells a time: `十分後` is `10分後`, `six pm` is `6 pm`, and `令和8年` is `2026年`."""

import re
import unicodedata
from typing import Final

_NUMERALS: Final = re.compile(
    r"(?<![〇零一二三四五六七八九十])(?:[〇零一二三四五六七八九]?十[〇零一二三四五六七八九]?|[〇零一二三四五六七八九]++)"
    r"(?=[時分秒日月週年か回度])"
)
"""Those that are a number, looked for once in each run: 十十時 stays as it is, which nobody understands."""
_DIGITS: Final = {numeral: digit for digit, numeral in enumerate("〇一二三四五六七八九")} | {"零": 0}
_MONTHS_LONG: Final = re.compile(r"(?<=[\d〇一二三四五六七八九十])\s?[かヶケヵカ個箇]月")
_NTH: Final = re.compile(r"(?<=第)[一二三四五](?![十一二三四五六七八九])")
ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925}
"""The year before the first of each."""
_ERA_YEAR: Final = re.compile(rf"(?P<era>{'|'.join(ERAS)})\s?(?P<reign>\d{{1,2}}|元)年")
_HOURS: Final = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_HOUR_IN_WORDS: Final = re.compile(
    rf"\b(?:(?:{'|'.join(_HOURS)})(?= ?[ap]\.?m\b| o'clock\b)"
    rf"|(?:(?<=half past )|(?<=quarter past )|(?<=quarter to ))(?:{'|'.join(_HOURS)})\b)"
)


def normalized(text: str) -> str:
    """In one form: half width, small letters, digits."""
    plain = unicodedata.normalize("NFKC", text).casefold().strip()
    plain = _MONTHS_LONG.sub("か月", plain)
    plain = _NTH.sub(lambda match: str(_DIGITS[match[0]]), plain)
    plain = _HOUR_IN_WORDS.sub(lambda match: str(_HOURS.index(match[0]) + 1), plain)
    plain = _NUMERALS.sub(lambda match: str(_number(match[0])), plain.replace("’", "'"))
    return _ERA_YEAR.sub(lambda match: f"{year_of(match['era'], match['reign'])}年", plain)


def year_of(era: str, reign: str) -> int:
    """The year of a reign, which counts from 元: 令和8年 is 2026."""
    return ERAS[era] + (1 if reign == "元" else int(reign))


def _number(numerals: str) -> int:
    """二十三: up to 99."""
    if "十" not in numerals:
        return int("".join(str(_DIGITS[numeral]) for numeral in numerals))
    tens, _, ones = numerals.partition("十")
    return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)
