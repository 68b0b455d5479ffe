"""So much time, in Japanese and English: `1時間半`, `3日`, `an hour and 30 minutes`."""

import re
from typing import Final, Literal

from cc_bot.domain.errors import WhenNotUnderstood

_WORDS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS: Final = {"a": 1.0, "an": 1.0, "one": 1.0, "half an": 0.5, "half a": 0.5, "半": 0.5} | {
    word: float(number) for number, word in enumerate(_WORDS, 2)
}
_UNITS: Final[tuple[tuple[str, Literal["months", "days", "seconds"], int], ...]] = (
    *(("時間", "seconds", 3600), ("分", "seconds", 60), ("秒", "seconds", 1)),
    *(("日", "days", 1), ("週", "days", 7), ("か月", "months", 1), ("年", "months", 12)),
    *(("mo", "months", 1), ("h", "seconds", 3600), ("m", "seconds", 60), ("s", "seconds", 1)),
    ("fortnight", "days", 14),
    *(("d", "days", 1), ("w", "days", 7), ("y", "months", 12)),
)
"""How a unit begins; the first that fits."""
_IN_WORDS: Final = rf"half an?|an?(?=\s)|one|{'|'.join(_WORDS)}"
_UNIT_JA: Final = r"(?:時間半|時間|分半|分|秒|日|週間|か月|年)"
_UNIT_EN: Final = (
    r"(?:hours?|hrs?|h|minutes?|mins?|months?|m|seconds?|secs?|s|days?|d|fortnights?|weeks?|w|years?|y)"
    r"(?![a-z])"
)
_HALF_EN: Final = r"(?: and a half)?"
_ONE_EN: Final = rf"(?:\d{{1,4}}(?:\.\d)?|{_IN_WORDS}){_HALF_EN}\s?{_UNIT_EN}{_HALF_EN}"
_ONE: Final = re.compile(
    rf"((?<!\d)\d++(?:\.\d)?|半|{_IN_WORDS})({_HALF_EN})\s?({_UNIT_JA}|{_UNIT_EN})({_HALF_EN})"
)

# What stands between two amounts is taken in one way alone, and nobody names more than a few: where a text
# goes on like that and is no time after all, there is nothing else to try.
SPAN_JA: Final = rf"(?P<span>(?:(?:\d{{1,4}}(?:\.\d)?|半)\s?{_UNIT_JA}(?>\s?と\s?|\s{{0,2}})){{1,8}})"
SPAN_EN: Final = rf"(?P<span>{_ONE_EN}(?:(?>(?:,|\s|and){{0,6}}){_ONE_EN}){{0,7}})"
_DELAY: Final = re.compile(rf"{SPAN_JA}|{SPAN_EN.replace('<span>', '<span_en>')}")


def as_delay(written: str) -> str | None:
    """`10分`, `1h30m`, as all that is said (normalized) of when: so much later. None for all else, and for
    days and more: `10日` is a date."""
    if not (match := _DELAY.fullmatch(written)):
        return None
    months, days, seconds = amounts(written)
    if months or days or not seconds:
        return None
    return f"{written}後" if match["span"] else f"in {written}"


def amounts(span: str) -> tuple[int, int, int]:
    """Months, days and seconds. Raises WhenNotUnderstood for parts of a day or month: how long are they?"""
    total = {"months": 0.0, "days": 0.0, "seconds": 0.0}
    for amount, half, unit, half_more in _ONE.findall(span):
        count = _COUNTS[amount] if amount in _COUNTS else float(amount)
        kind, size = next((kind, size) for start, kind, size in _UNITS if unit.startswith(start))
        total[kind] += (count + 0.5 * bool(half or half_more or unit.endswith("半"))) * size
    if total["months"] % 1 or total["days"] % 1:
        raise WhenNotUnderstood
    return int(total["months"]), int(total["days"]), round(total["seconds"])
