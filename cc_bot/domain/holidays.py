"""Dates of named days: 元日, 成人の日, クリスマスイブ, New Year's Eve.

Holidays that Parliament moves for a single year keep their usual date.
"""

import re
from datetime import date, timedelta
from typing import Final

_DAYS: Final = {
    "1/1": "元日 元旦 new_year's_day",
    "1/2#0": "成人の日",  # the second Monday (0) of January
    "2/11": "建国記念の日 建国記念日",
    "2/14": "バレンタインデー バレンタイン valentine's_day",
    "2/23": "天皇誕生日",
    "3/3": "ひな祭り ひなまつり 雛祭り",
    "3/14": "ホワイトデー",
    "3/equinox": "春分の日",
    "4/1": "エイプリルフール",
    "4/29": "昭和の日",
    "5/3": "憲法記念日",
    "5/4": "みどりの日",
    "5/5": "こどもの日 子どもの日 子供の日",
    "5/2#6": "母の日 mother's_day",
    "6/3#6": "父の日 father's_day",
    "7/7": "七夕",
    "7/3#0": "海の日",
    "8/11": "山の日",
    "9/3#0": "敬老の日",
    "9/equinox": "秋分の日",
    "10/2#0": "スポーツの日",
    "10/31": "ハロウィン ハロウィーン halloween",
    "11/3": "文化の日",
    "11/4#3": "thanksgiving",
    "11/23": "勤労感謝の日",
    "12/24": "クリスマスイブ クリスマス・イブ クリスマスイヴ christmas_eve",
    "12/25": "クリスマス christmas_day christmas xmas",
    "12/31": "大晦日 大みそか おおみそか new_year's_eve new_years_eve",
}
_DAY_OF: Final = {name.replace("_", " "): day for day, names in _DAYS.items() for name in names.split()}
NAMES: Final = sorted(_DAY_OF, key=len, reverse=True)
NAMED_DAY: Final = "|".join(re.escape(name) + r"(?![a-z])" * name.isascii() for name in NAMES)
"""A pattern of the names as `normalize` writes them."""
_EQUINOXES: Final = {3: 20.8431, 9: 23.2488}
"""By month: the day in 1980, with its fraction."""


def day_named(name: str, year: int) -> date:
    """Return a holiday's date. Raises KeyError for an unknown name, and ValueError outside the calendar."""
    month, _, day = _DAY_OF[name].partition("/")
    if day == "equinox":  # the usual approximation, right from 1980 to 2099
        years = year - 1980
        return date(year, int(month), int(_EQUINOXES[int(month)] + 0.242194 * years) - years // 4)
    if "#" in day:
        nth, _, weekday = day.partition("#")
        return nth_weekday(year, int(month), int(nth), int(weekday))
    return date(year, int(month), int(day))


def cron_of(name: str) -> str | None:
    """Return cron's day, month and weekday; None for the equinoxes."""
    month, _, day = _DAY_OF[name].partition("/")
    if day == "equinox":
        return None
    nth, is_nth, weekday = day.partition("#")
    return f"* {month} {(int(weekday) + 1) % 7}#{nth}" if is_nth else f"{day} {month} *"


def nth_weekday(year: int, month: int, nth: int, weekday: int) -> date:
    """Return the n-th Monday (weekday 0) of a month; n = 0: the last. Raises ValueError if there is none."""
    first = date(year, month, 1)
    day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * ((nth or 5) - 1))
    if day.month != month and not nth:
        day -= timedelta(days=7)
    if day.month != month:
        raise ValueError(nth)
    return day
