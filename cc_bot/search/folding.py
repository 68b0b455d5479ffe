"""The forms in which texts are compared: what looks or reads alike becomes alike.

Two strengths, for two purposes. `fold` keeps a text readable as what it was: it decides whether a note
contains the query as written. `loosen` goes on from there, and makes one of what Japanese writers spell as
they like: katakana and hiragana, small and large kana, and long vowels with or without their mark (サーバー,
サーバ). It is for terms only, since a few different words become the same by it.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from cc_bot.domain.text import hiragana, in_digits

_SMALL_TO_LARGE: Final = str.maketrans("ぁぃぅぇぉっゃゅょゎゕゖ", "あいうえおつやゆよわかけ")
_WITHOUT_MARKS: Final = _SMALL_TO_LARGE | str.maketrans("", "", "ー・")

# Sounds that Japanese borrowed and spells in several ways: ヴァイオリン, バイオリン; ウィスキー, ウイスキー.
_BORROWED: Final = {
    "ゔぁ": "ば", "ゔぃ": "び", "ゔぇ": "べ", "ゔぉ": "ぼ", "ゔ": "ぶ", "ぢ": "じ", "づ": "ず", "でぃ": "じ",
    "てぃ": "ち", "とぅ": "つ", "どぅ": "ず", "ふぉ": "ほ", "しぇ": "せ", "じぇ": "ぜ",
}  # fmt: skip
_BORROWED_SOUND: Final = re.compile("|".join(sorted(_BORROWED, key=len, reverse=True)))

# う and お that only draw a vowel out. Not after の, と, も, よ: there they may begin a word of their own.
_LONG_VOWEL: Final = re.compile("(?<=[おこそほろごぞどぼぽょ])[うお]|(?<=ゅ)う")

# Of a run of 〇, which is no kanji here, only the beginning is one of a number: a run is looked at once.
_COUNTED: Final = re.compile(
    "(?:(?<![一-鿿])|(?<=[年月時]))"
    "(?:(?<![^一-鿿]〇)(?<!^〇)[〇一二三四五六七八九]++|"
    "[一二三四五六七八九]?十[一二三四五六七八九]?)"
    "(?=[月日年時分歳才人回個円階本枚匹台冊杯番号級週度泊目])"
)


def fold(text: str) -> str:
    """Text as it is compared: NFKC, then case. ｶﾌｪ becomes カフェ, and STRASSE and straße one word."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def loosen(folded: str) -> str:
    """Return folded text as terms are made of it: all kana hiragana, none of them small, long vowels
    short."""
    short = _LONG_VOWEL.sub("", hiragana(folded))
    return _BORROWED_SOUND.sub(lambda match: _BORROWED[match[0]], short).translate(_WITHOUT_MARKS)


def counters_in_digits(folded: str) -> str:
    """Write the counted numbers of folded text in digits: 三月十五日 becomes 3月15日, and 三重県 stays."""
    return _COUNTED.sub(lambda match: in_digits(match[0]), folded)


# ---- inflection ------------------------------------------------------------------------------------------
# The forms that a Japanese verb or adjective takes, as far as a search must know them.
#
# Only what follows the stem directly: what comes after it (〜ます, 〜ない, 〜たい) is the same for every
# word. Where a verb's class cannot be seen, the forms of both are taken: forms that no word has harm nothing.

_ENDINGS: Final = {
    "う": "わいうえおっ", "く": "かきくけこい", "ぐ": "がぎぐげごい", "す": "さしすせそ",
    "つ": "たちつてとっ", "ぬ": "なにぬねのん", "ぶ": "ばびぶべぼん", "む": "まみむめもん",
    "る": "らりるれろっ", "い": "いくかけさ",
}  # fmt: skip
_AFTER_SHORT_STEM: Final = "てたまなよ"  # 見る: 見て, 見た, 見ます, 見ない
_BEFORE_RU: Final = "いきしちにひみりぎじびえけせてねへめれげぜでべ"


def forms(word: str) -> tuple[str, ...]:
    """The beginnings by which a word's forms are known: 飼う gives 飼わ, 飼い, 飼う, … and 食べる 食べ.

    A word that does not end with kanji and okurigana is its only form.
    """
    if len(word) < 2 or word[-1] not in _ENDINGS or not _is_kanji(word[0]) or _is_kanji(word[-1]):
        return (word,)
    if word.endswith("る") and len(word) > 2 and word[-2] in _BEFORE_RU:
        return (word[:-1],)
    endings = _ENDINGS[word[-1]] + (_AFTER_SHORT_STEM if word.endswith("る") and len(word) == 2 else "")
    return (word, *(word[:-1] + ending for ending in endings if ending != word[-1]))


def _is_kanji(character: str) -> bool:
    return "㐀" <= character <= "鿿" or character == "々"


# ---- stems -----------------------------------------------------------------------------------------------
# English words without the endings that grammar gives them: studied, studies and studying are one term.
#
# Lightly, that is: only the endings of inflection go, so that words of different meaning stay apart.

_SHORTEST: Final = 3
_VOWELS: Final = "aeiouy"


def stem(word: str) -> str:
    """The word without its ending; a word of three letters or fewer, or not in ASCII, is its own stem."""
    if not word.isascii():
        return word
    bare = word.removesuffix("'s").replace("'", "")
    if len(bare) <= _SHORTEST:
        return bare
    return _without_e(_uninflect(bare))


def _uninflect(word: str) -> str:
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "news")):
        return word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _SHORTEST and any(letter in _VOWELS for letter in rest):
            return _single(rest)
    return word


def _single(rest: str) -> str:
    """Remove a consonant doubled before the ending: planned, planning, plan."""
    doubled = rest[-1] == rest[-2] and rest[-1] not in "aeiouls"
    return rest[:-1] if doubled else rest


def _without_e(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST else word


# ---- line ------------------------------------------------------------------------------------------------
# A text as one line of terms' raw material: its runs of one kind of writing, loosened.
#
# Japanese puts no space between words, but it changes its writing from word to word: kanji, hiragana,
# katakana, letters, digits. Where the writing changes, a word most often ends; so no dictionary is needed to
# find what a text is made of. The line keeps what stood side by side so, and has a space wherever anything
# else stood.

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
    """A piece of a text, as it stands in lines."""

    text: str
    kinds: str
    sign: str
    """Of its kind; empty for what is none, and only parts others."""


def read(folded: str) -> Line:
    """The line of a folded text. Words of letters stand stemmed in it, with a space on each side of two."""
    texts: list[str] = []
    kinds: list[str] = []
    parted = spaced = False
    for text, kind, sign in map(_piece, _PIECES.findall(counters_in_digits(folded))):
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
