"""Wraps labels into lines at spaces or beside Japanese characters, following kinsoku, in units of the
caller's measure. A Latin word is split only if it is longer than a line."""

import unicodedata
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from cc_bot.domain.kinsoku import NEVER_LAST, NOT_FIRST_IN_LINE, SOUNDS, graphemes, is_wide, units

TokenBudget = Callable[[str], float]

MORE: Final = "…"
_NOT_AT_START: Final = frozenset(NOT_FIRST_IN_LINE)
_SOUNDS: Final = frozenset(SOUNDS)
_NOT_AT_END: Final = frozenset(NEVER_LAST)


def cells(text: str) -> int:
    """Return the width in terminal columns."""
    return sum(2 if is_wide(each) else 1 for each in graphemes(text))


def wrap_label(text: str, room: float, measure: TokenBudget) -> list[str]:
    """Return lines of at most `room` width, unless a single character is wider."""
    lines = [""]
    for unit in units(text):
        if not lines[-1] or measure(lines[-1] + unit.rstrip()) <= room:
            lines[-1] += unit
        else:
            lines.append(unit)
        if measure(lines[-1].rstrip()) > room:
            lines[-1:] = _cut(lines[-1].rstrip(), room, measure)
    return [line.strip() for line in lines]


def balance(text: str, room: float, measure: TokenBudget) -> list[str]:
    """Return as few lines as possible, broken between words if possible, else equally long. In Japanese,
    words begin at brackets and after hiragana."""
    best = wrap_label(text, room, measure)
    narrower = max(1.0, widest_unit(text, measure))
    while narrower < room:
        tried = wrap_label(text, narrower, measure)
        if len(tried) <= len(best) and (len(tried) < len(best) or _roughness(tried) < _roughness(best)):
            best = tried
        narrower *= 1.05
    return best


def _roughness(lines: list[str]) -> tuple[int, float]:
    parted = sum(_parting_cost(one[-1], other[0]) for one, other in pairwise(lines) if one and other)
    return parted, max(map(cells, lines)) - min(map(cells, lines))


def _parting_cost(before: str, after: str) -> int:
    if after in _NOT_AT_END or before in _NOT_AT_START - _SOUNDS:
        return 0
    scripts = (_script(before), _script(after))
    return 2 if scripts[0] == scripts[1] else 0 if scripts[0] == "HIRAGANA" else 1


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").split(" ")[0]
    return name.partition("-")[0]


def shorten(text: str, room: float, measure: TokenBudget) -> str:
    """Return the text on one line, with an ellipsis if cut."""
    if measure(text) <= room:
        return text
    kept = ""
    for grapheme in graphemes(text):
        if measure(kept + grapheme + MORE) > room:
            break
        kept += grapheme
    return kept.rstrip() + MORE


def widest_unit(text: str, measure: TokenBudget) -> float:
    """Return the least width that splits no word."""
    return max((measure(unit.rstrip()) for unit in units(text)), default=0.0)


def _cut(text: str, room: float, measure: TokenBudget) -> list[str]:
    lines = [""]
    for grapheme in graphemes(text):
        if lines[-1] and measure(lines[-1] + grapheme) > room:
            lines.append("")
        lines[-1] += grapheme
    return lines
