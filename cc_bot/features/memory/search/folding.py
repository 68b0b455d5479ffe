"""Normalizes texts for comparison.

`fold` is for exact matches. `loosen`, for index terms, also treats as equal katakana and hiragana, small and
large kana, and long and short vowels (サーバー, サーバ).
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from cc_bot.domain.text import hiragana, kanji_to_digits

_SMALL_TO_LARGE: Final = str.maketrans("ぁぃぅぇぉっゃゅょゎゕゖ", "あいうえおつやゆよわかけ")
_LARGE_WITHOUT_MARKS: Final = _SMALL_TO_LARGE | str.maketrans("", "", "ー・")

# Sounds of loan words that are spelled in several ways: ヴァイオリン, バイオリン; ウィスキー, ウイスキー.
_LOAN_SOUNDS: Final = {
    "ゔぁ": "ば", "ゔぃ": "び", "ゔぇ": "べ", "ゔぉ": "ぼ", "ゔ": "ぶ", "ぢ": "じ", "づ": "ず", "でぃ": "じ",
    "てぃ": "ち", "とぅ": "つ", "どぅ": "ず", "ふぉ": "ほ", "しぇ": "せ", "じぇ": "ぜ",
}  # fmt: skip
_LOAN_SOUND: Final = re.compile("|".join(sorted(_LOAN_SOUNDS, key=len, reverse=True)))

# う and お that only lengthen a vowel. Not after の, と, も and よ, where う or お may begin a word.
_LONG_VOWEL: Final = re.compile("(?<=[おこそほろごぞどぼぽょ])[うお]|(?<=ゅ)う")

_VARIANT_LINES: Final = (
    files("cc_bot.features.memory.search").joinpath("kanji_variants.txt").read_text(encoding="utf-8")
)
_CURRENT_FORMS: Final = {
    **{ord(old): kanji[0] for kanji in _VARIANT_LINES.partition("\n")[2].split() for old in kanji[1:]},
    **dict.fromkeys((*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)), ""),
}
"""From old to current forms of kanji. Removes variation selectors (辻󠄀, 葛󠄀城)."""

_BEFORE_ITERATION_MARKS: Final = re.compile("([ぁ-ゖァ-ヺ])([ゝゞヽヾ]++)")
_PHONE_OR_POSTCODE: Final = re.compile(
    r"(?<![\d-])(?:0\d{1,3}[-‐-―−ー() ]{1,2}\d{1,4}[-‐-―−ー() ]\d{3,4}|\d{3}[-‐-―−ー]\d{4})(?![\d-])"
)

_NUMBER_BEFORE_COUNTER: Final = re.compile(
    "(?:(?<![〇一-鿿])|(?<=[年月時]))"
    "(?:[〇一二三四五六七八九]++|"
    "[一二三四五六七八九]?十[一二三四五六七八九]?)"
    "(?=[月日年時分歳才人回個円階本枚匹台冊杯番号級週度泊目])"
)


def fold(text: str) -> str:
    """Normalize by NFKC and casefold: ｶﾌｪ becomes カフェ, and STRASSE equals straße."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def loosen(folded: str) -> str:
    """Write folded kana as large hiragana with short vowels."""
    short = _LONG_VOWEL.sub("", hiragana(folded))
    return _LOAN_SOUND.sub(lambda match: _LOAN_SOUNDS[match[0]], short).translate(_LARGE_WITHOUT_MARKS)


def convert_kanji_numbers(folded: str) -> str:
    """Write numbers before a counter in digits: 三月十五日 becomes 3月15日; 三重県 stays."""
    return _NUMBER_BEFORE_COUNTER.sub(lambda match: kanji_to_digits(match[0]), folded)


def extract_numbers(folded: str) -> list[str]:
    """Return the phone numbers and postal codes, without separators: 0312345678."""
    return [re.sub(r"\D", "", number) for number in _PHONE_OR_POSTCODE.findall(folded)]


def join_numbers(folded: str) -> str:
    """Join phone numbers and postal codes: 03-1234-5678 becomes 0312345678; 2026-11-29 stays."""
    return _PHONE_OR_POSTCODE.sub(lambda match: re.sub(r"\D", "", match[0]), folded)


def spell_out_iteration_marks(text: str) -> str:
    """Replace iteration marks: こゝろ becomes こころ, and みすゞ みすず."""
    return _BEFORE_ITERATION_MARKS.sub(_spell_out, text)


def _spell_out(match: re.Match[str]) -> str:
    kana, marks = match.groups()
    unvoiced = unicodedata.normalize("NFD", kana)[0]
    voiced = unicodedata.normalize("NFC", unvoiced + "\u3099")
    return kana + "".join(voiced if mark in "ゞヾ" else unvoiced for mark in marks)


# From the last kana of a verb or adjective to the kana that replace it in inflections.
_ENDINGS: Final = {
    "う": "わいうえおっ", "く": "かきくけこい", "ぐ": "がぎぐげごい", "す": "さしすせそ",
    "つ": "たちつてとっ", "ぬ": "なにぬねのん", "ぶ": "ばびぶべぼん", "む": "まみむめもん",
    "る": "らりるれろっ", "い": "いくかけさ",
}  # fmt: skip
_AFTER_SHORT_STEM: Final = "てたまなよ"  # 見る, 見て, 見た, 見ます, 見ない
_BEFORE_RU: Final = "いきしちにひみりぎじびえけせてねへめれげぜでべ"


def inflect(word: str) -> tuple[str, ...]:
    """Return the beginnings of a word's inflections: 飼わ, 飼い, 飼う, … for 飼う."""
    if len(word) < 2 or word[-1] not in _ENDINGS or not _is_kanji(word[0]) or _is_kanji(word[-1]):
        return (word,)
    if word.endswith("る") and len(word) > 2 and word[-2] in _BEFORE_RU:
        return (word[:-1],)
    endings = _ENDINGS[word[-1]] + (_AFTER_SHORT_STEM if word.endswith("る") and len(word) == 2 else "")
    return (word, *(word[:-1] + ending for ending in endings if ending != word[-1]))


def _is_kanji(character: str) -> bool:
    return "㐀" <= character <= "鿿" or character == "々"


_MIN_STEM_LENGTH: Final = 3
_VOWELS: Final = "aeiouy"


def stem(word: str) -> str:
    """Remove the inflection of an English word: studied, studies and studying are one term."""
    if not word.isascii():
        return word
    word = word.removesuffix("'s").replace("'", "")
    if len(word) <= _MIN_STEM_LENGTH:
        return word
    stemmed = _remove_suffix(word)
    return stemmed[:-1] if stemmed.endswith("e") and len(stemmed) > _MIN_STEM_LENGTH else stemmed


def _remove_suffix(word: str) -> str:
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "news")):
        return word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _MIN_STEM_LENGTH and any(letter in _VOWELS for letter in rest):
            is_doubled = rest[-1] == rest[-2] and rest[-1] not in "aeiouls"
            return rest[:-1] if is_doubled else rest
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
"""A pattern for a run of each script: kanji, hiragana, katakana (t), digits, letters, other (Hangul)."""
_NAMED_RUN: Final = re.compile("|".join(f"(?P<{script}>{run})" for script, run in _SCRIPTS.items()))
_RUNS: Final = re.compile("|".join((*_SCRIPTS.values(), ".")), re.DOTALL)  # or a character between runs

MAX_CACHED_LENGTH: Final = 24  # characters


class Line(NamedTuple):
    text: str
    scripts: str  # for each character of the text a key of _SCRIPTS, or a space


def parse_line(folded: str) -> Line:
    """Normalize folded text. Separators become one space; words of letters and digits are split: abc123."""
    texts: list[str] = []
    scripts: list[str] = []
    after_separator = after_word = False
    runs = _RUNS.findall(spell_out_iteration_marks(convert_kanji_numbers(folded)))
    for text, script in map(_normalize_run, runs):
        if not script:
            after_separator = True
            continue
        if texts and (after_separator or (after_word and script in "dl")):
            texts.append(" ")
            scripts.append(" ")
        texts.append(text)
        scripts.append(script * len(text))
        after_separator, after_word = False, script in "dl"
    return Line("".join(texts), "".join(scripts))


_NORMALIZERS: Final[Mapping[str, Callable[[str], str]]] = {
    "k": lambda kanji: kanji.translate(_CURRENT_FORMS),
    "h": loosen,
    "t": loosen,
    "l": stem,
}


def _normalize_run(run: str) -> tuple[str, str]:
    """Return the normalized run and its script; for a separator the script is empty."""
    return _normalize_cached(run) if len(run) <= MAX_CACHED_LENGTH else _normalize_uncached(run)


def _normalize_uncached(run: str) -> tuple[str, str]:
    match = _NAMED_RUN.match(run)
    script = (match and match.lastgroup) or ""
    return _NORMALIZERS[script](run) if script in _NORMALIZERS else run, script


_normalize_cached: Final = lru_cache(maxsize=1024)(_normalize_uncached)
