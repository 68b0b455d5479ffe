"""Numbers as a reader of a chart takes them in: 1,250万 in Japanese, 12.5M in English.

Japanese counts in ten thousands and English in thousands, so that a number written for the one has to be
converted in the head by the other.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from cc_bot.domain.locale import Locale

_PLAIN_BELOW: Final = 100_000
_UNITS: Final = {
    Locale.JA: ((1e12, "兆"), (1e8, "億"), (1e4, "万")),
    Locale.EN: ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")),
}
_WRITTEN_OUT_BELOW: Final = 1e15
"""Beyond it not every integer is a float."""


_SMALLEST_WRITTEN_OUT: Final = 1e-5


def exact(value: float) -> str:
    """All of a number that matters: ten digits, or all of them where it is whole."""
    if abs(value) >= _WRITTEN_OUT_BELOW:
        return f"{value:.4g}"
    if value == int(value):
        return f"{int(value):,}"
    if abs(value) < _SMALLEST_WRITTEN_OUT:
        return f"{value:.4g}"
    return _trimmed(value, max(0, 10 - len(str(int(abs(value))))))


def short(value: float, locale: Locale) -> str:
    """A number in at most some six characters; of a long one, its first four digits."""
    size = abs(value)
    if size >= _WRITTEN_OUT_BELOW:
        return f"{value:.3g}"
    if size < _PLAIN_BELOW:
        return _trimmed(value, 2 if size >= 1 else 4)
    factor, unit = _unit(size, locale)
    scaled = value / factor
    return _trimmed(scaled, max(0, 3 - int(math.log10(abs(scaled))))) + unit


_MOST_DECIMALS: Final = 3
"""A number with a unit and more decimals than that is better written out."""


def scale(ticks: Sequence[float], locale: Locale) -> list[str]:
    """The numbers along an axis: all in one unit, and with as many decimals as tell them apart."""
    size = max(map(abs, ticks), default=0.0)
    factor, unit = (1.0, "") if size < _PLAIN_BELOW else _unit(size, locale)
    if size >= _WRITTEN_OUT_BELOW * 10:
        return [f"{tick:.3g}" for tick in ticks]
    step = min((abs(b - a) for a, b in pairwise(ticks)), default=size) / factor
    decimals = 0 if step <= 0 else max(0, 1 - math.floor(math.log10(step)))
    if decimals > _MOST_DECIMALS and unit:
        factor, unit, decimals = 1.0, "", decimals - round(math.log10(factor))
    written = [_trimmed(tick / factor, max(0, min(15, decimals))) for tick in ticks]
    return [number + unit if number != "0" else number for number in written]


def _unit(size: float, locale: Locale) -> tuple[float, str]:
    return next((unit for unit in _UNITS[locale] if size >= unit[0]), (1.0, ""))


def _trimmed(value: float, decimals: int) -> str:
    written = f"{value:,.{decimals}f}"
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return "0" if written == "-0" else written
