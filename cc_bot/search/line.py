"""A text as one line of terms' raw material: its runs of one kind of writing, loosened.

Japanese puts no space between words, but it changes its writing from word to word: kanji, hiragana, katakana,
letters, digits. Where the writing changes, a word most often ends; so no dictionary is needed to find what a
text is made of. The line keeps what stood side by side so, and has a space wherever anything else stood.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from cc_bot.search.folding import in_digits, loosen
from cc_bot.search.stems import stem

KANJI: Final = "々〆㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff"
_WRITING: Final = {
    "k": rf"[{KANJI}]+",
    "h": r"[ぁ-ゖ][ぁ-ゖー]*",
    "t": r"[ァ-ヺー]+(?:・[ァ-ヺー]+)*",
    "d": r"\d+(?:\.\d+)*",
    "l": rf"(?:(?![{KANJI}ぁ-ゖァ-ヺー\uac00-\ud7a3])[^\W\d_])+(?:'[a-z]+)?",
    "o": r"[\uac00-\ud7a3]+",
}
"""Pieces of one kind: kanji, hiragana, katakana, digits, letters, others."""
_PIECE: Final = re.compile("|".join(f"(?P<{sign}>{written})" for sign, written in _WRITING.items()))
_PIECES: Final = re.compile("|".join((*_WRITING.values(), ".")), re.DOTALL)  # also each sign between them

LONGEST_KNOWN: Final = 24
"""Characters of a piece that is worth knowing again: what runs on for longer is no word, and thousands of it
would stay in memory for ever."""


class Line(NamedTuple):
    """`text` and `kinds` have the same length; `kinds` has k, h, t, d, l, o or a space for each character."""

    text: str
    kinds: str


class _Piece(NamedTuple):
    """One of a text, as it stands in lines."""

    text: str
    kinds: str
    sign: str
    """Of its kind; empty for what is none, and only parts others."""


def read(folded: str) -> Line:
    """The line of a folded text. Words of letters stand stemmed in it, with a space on each side of two."""
    texts: list[str] = []
    kinds: list[str] = []
    parted = spaced = False
    for text, kind, sign in map(_piece, _PIECES.findall(in_digits(folded))):
        if not sign:
            parted = True
            continue
        if texts and (parted or (spaced and sign in "dl")):
            texts.append(" ")
            kinds.append(" ")
        texts.append(text)
        kinds.append(kind)
        parted, spaced = False, sign in "dl"
    return Line("".join(texts), "".join(kinds))


def _piece(written: str) -> _Piece:
    return _known_piece(written) if len(written) <= LONGEST_KNOWN else _new_piece(written)


@lru_cache(maxsize=8192)  # most words of a note stand in many: to look one up takes a tenth of reading it
def _known_piece(written: str) -> _Piece:
    return _new_piece(written)


def _new_piece(written: str) -> _Piece:
    match = _PIECE.match(written)
    sign = (match and match.lastgroup) or ""
    text = loosen(written) if sign in {"h", "t"} else stem(written) if sign == "l" else written
    return _Piece(text, sign * len(text), sign)
