"""Kinsoku: where Japanese lines may break (JIS X 4051; W3C, Requirements for Japanese Text Layout, 3.1.7 and
3.1.8): nearly everywhere, but not before closing or lengthening characters, nor after opening ones.
"""

import unicodedata
from collections.abc import Iterator
from typing import Final

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies

SOUNDS: Final = (
    "ーゝゞヽヾ々〻ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶㇰㇱㇲㇳㇴㇵㇶㇷㇸㇹㇺㇻㇼㇽㇾㇿｧｨｩｪｫｬｭｮｯｰﾞﾟ"
)
"""They belong to the character before."""
NEVER_FIRST: Final = SOUNDS + "、。，．」』）〕］｝〉》】〙〗｣｡､"
"""No piece of prose starts with these."""
NOT_FIRST_IN_LINE: Final = NEVER_FIRST + "・：；！？‼⁇⁈⁉…‥—―–〜～゛゜％‰℃′″”’!?.,:;)]}%"
"""No continued line starts with these."""
NEVER_LAST: Final = "（〔［｛〈《「『【〘〖｢“‘([{＃＠￥＄£€$#@"
"""No piece of prose ends with these."""

_NOT_FIRST: Final = frozenset(NOT_FIRST_IN_LINE)
_NOT_LAST: Final = frozenset(NEVER_LAST)
_GRAPHEMES: Final = regex.compile(r"\X")


def graphemes(text: str) -> list[str]:
    return list(_GRAPHEMES.findall(text))


def is_wide(grapheme: str) -> bool:
    return "\ufe0f" in grapheme or unicodedata.east_asian_width(grapheme[0]) in "WF"


def units(text: str) -> Iterator[str]:
    """Yield the pieces between which a line may break."""
    unit, last = "", ""
    for grapheme in _GRAPHEMES.findall(text):
        if unit and _may_part(last, grapheme):
            yield unit
            unit = ""
        unit += grapheme
        last = grapheme
    if unit:
        yield unit


def _may_part(before: str, after: str) -> bool:
    if after.isspace():
        return False
    if before.isspace():
        return True
    if after[0] in _NOT_FIRST or before[-1] in _NOT_LAST:
        return False
    return is_wide(before) or is_wide(after)
