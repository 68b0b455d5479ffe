"""Japanese line breaking (kinsoku). Widths are in the unit of the caller's `measure`."""

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
NOT_FIRST_IN_MESSAGE: Final = CONTINUING_SOUNDS + "、。，．」』）〕］｝〉》】〙〗｣｡､"
"""The rest of a split message does not start with these."""
NOT_FIRST_IN_LINE: Final = NOT_FIRST_IN_MESSAGE + "・：；！？‼⁇⁈⁉…‥—―–〜～゛゜％‰℃′″”’!?.,:;)]}%"
"""A line after a line break does not start with these."""
NOT_LAST: Final = "（〔［｛〈《「『【〘〖｢“‘([{＃＠￥＄£€$#@"
"""A line or message before a break does not end with these."""

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
    if after[0] in NOT_FIRST_IN_LINE or before[-1] in NOT_LAST:
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
            lines[-1:] = _split_at_width(lines[-1], max_width, measure)
    return lines


def balance_lines(text: str, max_width: float, measure: Measure) -> list[str]:
    """Return as few lines as possible, about equally long. Japanese lines preferably end
    before brackets and after hiragana."""
    best = wrap_label(text, max_width, measure)
    width = max(1.0, widest_unit(text, measure))
    while width < max_width:
        lines = wrap_label(text, width, measure)
        if len(lines) <= len(best) and (len(lines) < len(best) or _roughness(lines) < _roughness(best)):
            best = lines
        width *= 1.05
    return best


def _roughness(lines: list[str]) -> tuple[int, float]:
    cost = sum(_break_cost(one[-1], other[0]) for one, other in pairwise(lines) if one and other)
    return cost, max(map(width_in_cells, lines)) - min(map(width_in_cells, lines))


def _break_cost(before: str, after: str) -> int:
    if after in NOT_LAST or (before in NOT_FIRST_IN_LINE and before not in CONTINUING_SOUNDS):
        return 0
    first, second = (re.split("[ -]", unicodedata.name(each, ""))[0] for each in (before, after))
    return 2 if first == second else 0 if first == "HIRAGANA" else 1


def shorten_to_width(text: str, max_width: float, measure: Measure) -> str:
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


def _split_at_width(text: str, max_width: float, measure: Measure) -> list[str]:
    lines = [""]
    for grapheme in graphemes(text):
        if lines[-1] and measure(lines[-1] + grapheme.rstrip()) > max_width:
            lines.append("")
        lines[-1] += grapheme
    return lines
