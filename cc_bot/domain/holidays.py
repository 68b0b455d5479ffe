"""Days that have a name: 元日, 成人の日, クリスマスイブ, New Year's Eve. On which day of a year each is.

Where Parliament moves a holiday for one year, the day is the one that it has in every other year.
"""

import re
from datetime import date, timedelta
from typing import Final

_NTH_WEEKDAYS: Final = {
    "成人の日": (1, 2, 0),
    "母の日": (5, 2, 6),
    "父の日": (6, 3, 6),
    "海の日": (7, 3, 0),
    "敬老の日": (9, 3, 0),
    "スポーツの日": (10, 2, 0),
    "mother's day": (5, 2, 6),
    "father's day": (6, 3, 6),
    "thanksgiving": (11, 4, 3),
}
"""Month, which one, weekday (0: Monday)."""
_FIXED: Final = {
    **dict.fromkeys(("元日", "元旦", "new year's day", "new years day"), (1, 1)),
    **dict.fromkeys(("バレンタインデー", "バレンタイン", "valentine's day", "valentines day"), (2, 14)),
    **dict.fromkeys(("ひな祭り", "ひなまつり", "雛祭り"), (3, 3)),
    **dict.fromkeys(("こどもの日", "子どもの日", "子供の日"), (5, 5)),
    **dict.fromkeys(("ハロウィン", "ハロウィーン", "halloween"), (10, 31)),
    **dict.fromkeys(("クリスマスイブ", "クリスマス・イブ", "クリスマスイヴ", "christmas eve"), (12, 24)),
    **dict.fromkeys(("クリスマス", "christmas day", "christmas", "xmas"), (12, 25)),
    **dict.fromkeys(("大晦日", "大みそか", "おおみそか", "new year's eve", "new years eve"), (12, 31)),
    "建国記念の日": (2, 11),
    "建国記念日": (2, 11),
    "天皇誕生日": (2, 23),
    "ホワイトデー": (3, 14),
    "エイプリルフール": (4, 1),
    "昭和の日": (4, 29),
    "憲法記念日": (5, 3),
    "みどりの日": (5, 4),
    "七夕": (7, 7),
    "山の日": (8, 11),
    "文化の日": (11, 3),
    "勤労感謝の日": (11, 23),
}
_EQUINOXES: Final = {"春分の日": (3, 20.8431), "秋分の日": (9, 23.2488)}
"""Month, and the day with its part at the turn of 1979 to 1980."""
NAMES: Final = sorted((*_NTH_WEEKDAYS, *_FIXED, *_EQUINOXES), key=len, reverse=True)
"""The longest first: クリスマス is not taken out of クリスマスイブ."""
NAMED_DAY: Final = "|".join(re.escape(name) + r"(?![a-z])" * name.isascii() for name in NAMES)
"""A pattern of the names as `normalize` leaves them."""


def day_named(name: str, year: int) -> date:
    """Return the day of a holiday. Raises KeyError for what is no name, and ValueError outside the
    calendar."""
    if name in _FIXED:
        return date(year, *_FIXED[name])
    if name in _NTH_WEEKDAYS:
        month, nth, weekday = _NTH_WEEKDAYS[name]
        return nth_weekday(year, month, nth, weekday)
    month, day = _EQUINOXES[name]
    years = year - 1980  # the usual approximation, right from 1980 to 2099
    return date(year, month, int(day + 0.242194 * years) - years // 4)


def cron_of(name: str) -> str | None:
    """Day, month and weekday as cron has them; None for the days that cron can't find."""
    if name in _FIXED:
        month, day = _FIXED[name]
        return f"{day} {month} *"
    if name in _NTH_WEEKDAYS:
        month, nth, weekday = _NTH_WEEKDAYS[name]
        return f"* {month} {(weekday + 1) % 7}#{nth}"
    return None


def nth_weekday(year: int, month: int, nth: int, weekday: int) -> date:
    """The n-th Monday (weekday 0) of a month; 0 is its last. Raises ValueError where it has none."""
    first = date(year, month, 1)
    day = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * ((nth or 5) - 1))
    if day.month != month and not nth:
        day -= timedelta(days=7)
    if day.month != month:
        raise ValueError(nth)
    return day
