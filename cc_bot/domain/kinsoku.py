"""Kinsoku: what a line of Japanese neither begins nor ends with.

Japanese writes no spaces, so a line may end nearly everywhere, but not before what closes or lengthens, nor
after what opens (JIS X 4051; Requirements for Japanese Text Layout of the W3C, 3.1.7 and 3.1.8). A Latin word
stays whole.
"""

import unicodedata
from collections.abc import Iterator
from typing import Final

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies

SOUNDS: Final = (
    "ーゝゞヽヾ々〻ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶㇰㇱㇲㇳㇴㇵㇶㇷㇸㇹㇺㇻㇼㇽㇾㇿｧｨｩｪｫｬｭｮｯｰﾞﾟ"
)
"""What belongs to the character before it."""
NEVER_FIRST: Final = SOUNDS + "、。，．」』）〕］｝〉》】〙〗｣｡､"
"""What no piece of prose starts with."""
NOT_FIRST_IN_LINE: Final = NEVER_FIRST + "・：；！？‼⁇⁈⁉…‥—―–〜～゛゜％‰℃′″”’!?.,:;)]}%"
"""What no line starts with that goes on from another one."""
NEVER_LAST: Final = "（〔［｛〈《「『【〘〖｢“‘([{＃＠￥＄£€$#@"
"""What no piece of prose ends with."""

_NOT_FIRST: Final = frozenset(NOT_FIRST_IN_LINE)
_NOT_LAST: Final = frozenset(NEVER_LAST)
_GRAPHEMES: Final = regex.compile(r"\X")


def graphemes(text: str) -> list[str]:
    """Return the characters as a reader counts them."""
    return list(_GRAPHEMES.findall(text))


def is_wide(grapheme: str) -> bool:
    """Return whether it takes two columns of a terminal, as East Asian characters and emoji do."""
    return "\ufe0f" in grapheme or unicodedata.east_asian_width(grapheme[0]) in "WF"


def units(text: str) -> Iterator[str]:
    """Yield the pieces between which a line may end: a Latin word, or a character with what clings to it."""
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
