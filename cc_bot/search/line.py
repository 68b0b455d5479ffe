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
_PIECE: Final = re.compile(
    rf"(?P<kanji>[{KANJI}]+)"
    r"|(?P<hiragana>[ぁ-ゖ]+ー*[ぁ-ゖー]*)"
    r"|(?P<katakana>[ァ-ヺー]+(?:・[ァ-ヺー]+)*)"
    r"|(?P<digits>\d+(?:\.\d+)*)"
    rf"|(?P<letters>(?:(?![{KANJI}ぁ-ゖァ-ヺー\uac00-\ud7a3])[^\W\d_])+(?:'[a-z]+)?)"
    r"|(?P<other>[\uac00-\ud7a3]+)"
)

_SIGN: Final = {"kanji": "k", "hiragana": "h", "katakana": "t", "digits": "d", "letters": "l", "other": "o"}


class Line(NamedTuple):
    """`text` and `kinds` have the same length; `kinds` has k, h, t, d, l, o or a space for each character."""

    text: str
    kinds: str


def read(folded: str) -> Line:
    """The line of a folded text. Words of letters stand stemmed in it, with a space on each side of two."""
    texts: list[str] = []
    kinds: list[str] = []
    end, spaced = 0, True
    for match in _PIECE.finditer(in_digits(folded)):
        kind = match.lastgroup or ""
        sign = _SIGN[kind]
        if texts and (match.start() != end or (sign in "dl" and spaced)):
            texts.append(" ")
            kinds.append(" ")
        piece = _as_term(kind, match[0])
        texts.append(piece)
        kinds.append(sign * len(piece))
        end, spaced = match.end(), sign in "dl"
    return Line("".join(texts), "".join(kinds))


@lru_cache(maxsize=4096)  # particles, endings and everyday words come again and again
def _as_term(kind: str, piece: str) -> str:
    if kind in {"hiragana", "katakana"}:
        return loosen(piece)
    return stem(piece) if kind == "letters" else piece
