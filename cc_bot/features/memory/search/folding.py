"""Text normalization for comparison.

`fold` is for exact matches. `loosen`, for terms, also merges spelling variants: katakana and hiragana, small
and large kana, long vowels (サーバー, サーバ).
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from cc_bot.domain.text import hiragana, kanji_to_digits

_SMALL_TO_LARGE: Final = str.maketrans("ぁぃぅぇぉっゃゅょゎゕゖ", "あいうえおつやゆよわかけ")
_WITHOUT_MARKS: Final = _SMALL_TO_LARGE | str.maketrans("", "", "ー・")

# Loan sounds with several spellings: ヴァイオリン, バイオリン; ウィスキー, ウイスキー.
_BORROWED: Final = {
    "ゔぁ": "ば", "ゔぃ": "び", "ゔぇ": "べ", "ゔぉ": "ぼ", "ゔ": "ぶ", "ぢ": "じ", "づ": "ず", "でぃ": "じ",
    "てぃ": "ち", "とぅ": "つ", "どぅ": "ず", "ふぉ": "ほ", "しぇ": "せ", "じぇ": "ぜ",
}  # fmt: skip
_BORROWED_SOUND: Final = re.compile("|".join(sorted(_BORROWED, key=len, reverse=True)))

# う and お that only lengthen a vowel. After の, と, も and よ they may begin a word.
_LONG_VOWEL: Final = re.compile("(?<=[おこそほろごぞどぼぽょ])[うお]|(?<=ゅ)う")

_VARIANTS: Final = (
    files("cc_bot.features.memory.search").joinpath("kanji_variants.txt").read_text(encoding="utf-8")
)
_CURRENT_FORMS: Final = {
    **{ord(old): forms[0] for forms in _VARIANTS.partition("\n")[2].split() for old in forms[1:]},
    **dict.fromkeys((*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)), ""),
}
"""Old forms of kanji and their current ones. Also drops variation selectors: 辻󠄀, 葛󠄀城."""

_REPEATED: Final = re.compile("([ぁ-ゖァ-ヺ])([ゝゞヽヾ]++)")
_PHONE_OR_POSTCODE: Final = re.compile(
    r"(?<![\d-])(?:0\d{1,3}[-‐-―−ー() ]{1,2}\d{1,4}[-‐-―−ー() ]\d{3,4}|\d{3}[-‐-―−ー]\d{4})(?![\d-])"
)

_COUNTED_NUMBER: Final = re.compile(
    "(?:(?<![〇一-鿿])|(?<=[年月時]))"
    "(?:[〇一二三四五六七八九]++|"
    "[一二三四五六七八九]?十[一二三四五六七八九]?)"
    "(?=[月日年時分歳才人回個円階本枚匹台冊杯番号級週度泊目])"
)


def fold(text: str) -> str:
    """Normalize by NFKC and casefold: ｶﾌｪ becomes カフェ, and STRASSE equals straße."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def loosen(folded: str) -> str:
    """Write folded kana as hiragana, small ones large and long vowels short."""
    short = _LONG_VOWEL.sub("", hiragana(folded))
    return _BORROWED_SOUND.sub(lambda match: _BORROWED[match[0]], short).translate(_WITHOUT_MARKS)


def counters_in_digits(folded: str) -> str:
    """Write counted numbers in digits: 三月十五日 becomes 3月15日; 三重県 stays."""
    return _COUNTED_NUMBER.sub(lambda match: kanji_to_digits(match[0]), folded)


def joined_numbers(folded: str) -> list[str]:
    """Return phone numbers and postal codes in folded text without separators: 0312345678."""
    return [re.sub(r"\D", "", written) for written in _PHONE_OR_POSTCODE.findall(folded)]


def join_numbers(folded: str) -> str:
    """Join phone numbers and postal codes: 03-1234-5678 becomes 0312345678; 2026-11-29 stays."""
    return _PHONE_OR_POSTCODE.sub(lambda match: re.sub(r"\D", "", match[0]), folded)


def spell_out_repeats(text: str) -> str:
    """Replace iteration marks: こゝろ becomes こころ, and みすゞ みすず."""
    return _REPEATED.sub(_repeat, text)


def _repeat(match: re.Match[str]) -> str:
    plain = unicodedata.normalize("NFD", match[1])[0]
    voiced = unicodedata.normalize("NFC", plain + "\u3099")
    return match[1] + "".join(voiced if mark in "ゞヾ" else plain for mark in match[2])


# The kana that may follow the stem of a verb or adjective.
_ENDINGS: Final = {
    "う": "わいうえおっ", "く": "かきくけこい", "ぐ": "がぎぐげごい", "す": "さしすせそ",
    "つ": "たちつてとっ", "ぬ": "なにぬねのん", "ぶ": "ばびぶべぼん", "む": "まみむめもん",
    "る": "らりるれろっ", "い": "いくかけさ",
}  # fmt: skip
_AFTER_SHORT_STEM: Final = "てたまなよ"  # 見る: 見て, 見た, 見ます, 見ない
_BEFORE_RU: Final = "いきしちにひみりぎじびえけせてねへめれげぜでべ"


def forms(word: str) -> tuple[str, ...]:
    """Return the prefixes of a word's forms: 飼わ, 飼い, 飼う, … for 飼う; one without okurigana."""
    if len(word) < 2 or word[-1] not in _ENDINGS or not _is_kanji(word[0]) or _is_kanji(word[-1]):
        return (word,)
    if word.endswith("る") and len(word) > 2 and word[-2] in _BEFORE_RU:
        return (word[:-1],)
    endings = _ENDINGS[word[-1]] + (_AFTER_SHORT_STEM if word.endswith("る") and len(word) == 2 else "")
    return (word, *(word[:-1] + ending for ending in endings if ending != word[-1]))


def _is_kanji(character: str) -> bool:
    return "㐀" <= character <= "鿿" or character == "々"


_MIN_LENGTH: Final = 3
_VOWELS: Final = "aeiouy"


def stem(word: str) -> str:
    """Remove the inflection of an English word: studied, studies and studying are one term."""
    if not word.isascii():
        return word
    bare = word.removesuffix("'s").replace("'", "")
    if len(bare) <= _MIN_LENGTH:
        return bare
    stemmed = _uninflect(bare)
    return stemmed[:-1] if stemmed.endswith("e") and len(stemmed) > _MIN_LENGTH else stemmed


def _uninflect(word: str) -> str:
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "news")):
        return word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _MIN_LENGTH and any(letter in _VOWELS for letter in rest):
            doubled = rest[-1] == rest[-2] and rest[-1] not in "aeiouls"
            return rest[:-1] if doubled else rest
    return word


KANJI: Final = "々〆㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff"
_SCRIPTS: Final = {
    "k": rf"[{KANJI}][{KANJI}\ufe00-\ufe0f\U000e0100-\U000e01ef]*",
    "h": r"[ぁ-ゖ][ぁ-ゖー]*",
    "t": r"[ァ-ヺー]+(?:・[ァ-ヺー]+)*",
    "d": r"\d+(?:\.\d+)*",
    "l": rf"(?:(?![{KANJI}ぁ-ゖァ-ヺー\uac00-\ud7a3])[^\W\d_])+(?:'[a-z]+)?",
    "o": r"[\uac00-\ud7a3]+",
}
"""Kanji, hiragana, katakana, digits, letters, other (Hangul)."""
_RUN: Final = re.compile("|".join(f"(?P<{script}>{written})" for script, written in _SCRIPTS.items()))
_RUNS: Final = re.compile("|".join((*_SCRIPTS.values(), ".")), re.DOTALL)  # also each character between runs

MAX_CACHED_LENGTH: Final = 24  # longer runs are not words, and would only fill the cache


class Line(NamedTuple):
    """A normalized text with each character's script: a key of _SCRIPTS, or a space for anything else."""

    text: str
    scripts: str


def parse_line(folded: str) -> Line:
    """Parse folded text. Words of letters are stemmed, and separated by spaces."""
    texts: list[str] = []
    scripts: list[str] = []
    parted = spaced = False
    for text, script in map(_normalize_run, _RUNS.findall(spell_out_repeats(counters_in_digits(folded)))):
        if not script:
            parted = True
            continue
        if texts and (parted or (spaced and script in "dl")):
            texts.append(" ")
            scripts.append(" ")
        texts.append(text)
        scripts.append(script * len(text))
        parted, spaced = False, script in "dl"
    return Line("".join(texts), "".join(scripts))


_SPELLING: Final[Mapping[str, Callable[[str], str]]] = {
    "k": lambda kanji: kanji.translate(_CURRENT_FORMS),
    "h": loosen,
    "t": loosen,
    "l": stem,
}


def _normalize_run(written: str) -> tuple[str, str]:
    """Return a normalized run and its key in _WRITING, which is empty for a separator."""
    return _cached_run(written) if len(written) <= MAX_CACHED_LENGTH else _compute_run(written)


def _compute_run(written: str) -> tuple[str, str]:
    match = _RUN.match(written)
    script = (match and match.lastgroup) or ""
    return _SPELLING[script](written) if script in _SPELLING else written, script


_cached_run: Final = lru_cache(maxsize=1024)(_compute_run)  # a lookup takes a tenth of the time
