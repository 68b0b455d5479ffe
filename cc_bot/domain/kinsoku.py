"""Japanese line breaking (kinsoku), and lines of labels, in units of the caller's measure."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies

CONTINUING_SOUNDS: Final = (
    "ーゝゞヽヾ々〻ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶㇰㇱㇲㇳㇴㇵㇶㇷㇸㇹㇺㇻㇼㇽㇾㇿｧｨｩｪｫｬｭｮｯｰﾞﾟ"
)
"""Each belongs to the character before it."""
NEVER_FIRST: Final = CONTINUING_SOUNDS + "、。，．」』）〕］｝〉》】〙〗｣｡､"
"""A message that continues another does not start with these."""
NOT_FIRST_IN_LINE: Final = NEVER_FIRST + "・：；！？‼⁇⁈⁉…‥—―–〜～゛゜％‰℃′″”’!?.,:;)]}%"
"""A line that continues another does not start with these."""
NEVER_LAST: Final = "（〔［｛〈《「『【〘〖｢“‘([{＃＠￥＄£€$#@"
"""A message that is continued does not end with these."""

_NOT_FIRST: Final = frozenset(NOT_FIRST_IN_LINE)
_NOT_LAST: Final = frozenset(NEVER_LAST)
_GRAPHEMES: Final = regex.compile(r"\X")


def graphemes(text: str) -> list[str]:
    return list(_GRAPHEMES.findall(text))


def is_wide(grapheme: str) -> bool:
    return "\ufe0f" in grapheme or unicodedata.east_asian_width(grapheme[0]) in "WF"


def breakable_units(text: str) -> Iterator[str]:
    """Yield the pieces between which a line may break."""
    unit, last = "", ""
    for grapheme in _GRAPHEMES.findall(text):
        if unit and _may_break(last, grapheme):
            yield unit
            unit = ""
        unit += grapheme
        last = grapheme
    if unit:
        yield unit


def _may_break(before: str, after: str) -> bool:
    if after.isspace():
        return False
    if before.isspace():
        return True
    if after[0] in _NOT_FIRST or before[-1] in _NOT_LAST:
        return False
    return is_wide(before) or is_wide(after)


Measure = Callable[[str], float]

ELLIPSIS: Final = "…"


def width_in_cells(text: str) -> int:
    return sum(2 if is_wide(each) else 1 for each in graphemes(text))


def wrap_label(text: str, max_width: float, measure: Measure) -> list[str]:
    """Return lines of at most `max_width`; only a wider single character exceeds it."""
    return [line.strip() for line in wrap(text, max_width, measure)]


def wrap(text: str, max_width: float, measure: Measure) -> list[str]:
    """As `wrap_label`, but lines keep the spaces at their ends."""
    lines = [""]
    for unit in breakable_units(text):
        if not lines[-1] or measure(lines[-1] + unit.rstrip()) <= max_width:
            lines[-1] += unit
        else:
            lines.append(unit)
        if measure(lines[-1].rstrip()) > max_width:
            lines[-1:] = _cut(lines[-1], max_width, measure)
    return lines


def balance(text: str, max_width: float, measure: Measure) -> list[str]:
    """Return as few lines as possible, about equally long. In Japanese, words begin at brackets and after
    hiragana."""
    best = wrap_label(text, max_width, measure)
    narrower = max(1.0, widest_unit(text, measure))
    while narrower < max_width:
        tried = wrap_label(text, narrower, measure)
        if len(tried) <= len(best) and (len(tried) < len(best) or _roughness(tried) < _roughness(best)):
            best = tried
        narrower *= 1.05
    return best


def _roughness(lines: list[str]) -> tuple[int, float]:
    cost = sum(_break_cost(one[-1], other[0]) for one, other in pairwise(lines) if one and other)
    return cost, max(map(width_in_cells, lines)) - min(map(width_in_cells, lines))


def _break_cost(before: str, after: str) -> int:
    if after in _NOT_LAST or before in _NOT_FIRST.difference(CONTINUING_SOUNDS):
        return 0
    first, second = (re.split("[ -]", unicodedata.name(each, ""))[0] for each in (before, after))
    return 2 if first == second else 0 if first == "HIRAGANA" else 1


def shorten(text: str, max_width: float, measure: Measure) -> str:
    if measure(text) <= max_width:
        return text
    kept = ""
    for grapheme in graphemes(text):
        if measure(kept + grapheme + ELLIPSIS) > max_width:
            break
        kept += grapheme
    return kept.rstrip() + ELLIPSIS


def widest_unit(text: str, measure: Measure) -> float:
    """Return the least width that splits no word."""
    return max((measure(unit.rstrip()) for unit in breakable_units(text)), default=0.0)


def _cut(text: str, max_width: float, measure: Measure) -> list[str]:
    lines = [""]
    for grapheme in graphemes(text):
        if lines[-1] and measure(lines[-1] + grapheme.rstrip()) > max_width:
            lines.append("")
        lines[-1] += grapheme
    return lines
