"""Plain text and its language."""

import re
from enum import StrEnum
from typing import Final


class Locale(StrEnum):
    JA = "ja"
    EN = "en"

    @classmethod
    def from_tag(cls, tag: str) -> "Locale":
        """Return Japanese for its BCP 47 tags (`ja`, `ja-JP`), else English."""
        return cls.JA if tag.lower().replace("_", "-").split("-")[0] == "ja" else cls.EN


def guess_language(text: str) -> Locale | None:
    """Guess the language of a user's text by its letters; None if unclear: kanji alone may be Chinese."""
    words = (word for word in text.split() if "://" not in word and not word.startswith(("@", "<", ":")))
    letters = [character for word in words for character in word if character.isalpha()]
    if any("ぁ" <= letter <= "ヿ" or "ｦ" <= letter <= "ﾟ" for letter in letters):
        return Locale.JA
    return Locale.EN if any(map(str.isascii, letters)) and max(letters) < "\u2e80" else None


_BIDI_MARKS: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Bidirectional marks also reorder the text after them (UAX #9)."""
_SURROGATES: Final = re.compile("[\ud800-\udfff]")

_LINE_BREAKS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROLS: Final = re.compile("[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")  # all but tab and line breaks

_TO_HIRAGANA: Final = {code: code - 0x60 for code in range(ord("ァ"), ord("ヶ") + 1)}
_DIGITS: Final = {"〇": 0, "零": 0} | {kanji: digit for digit, kanji in enumerate("一二三四五六七八九", 1)}

_LEADING_EMOJI: Final = re.compile(
    "^[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]+ ?"
)


class Count(int):
    """A number in a sentence: `{count}` is "1,234", `{count:memory|memories}` is "1,234 memories"."""

    def __format__(self, nouns: str) -> str:
        one, _, several = nouns.partition("|")
        return f"{int(self):,} {one if self == 1 else several}".rstrip()

    def __str__(self) -> str:
        return f"{self}"


def shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def contains_words(text: str, words: str) -> bool:
    """Return whether a text has all of the words, in any order and case."""
    text = text.casefold()
    return all(word in text for word in words.casefold().split())


def one_line(text: str) -> str:
    return " ".join(_BIDI_MARKS.sub("", text).split())


def remove_controls(text: str) -> str:
    """Remove control characters and bidirectional marks, but not joiners, which emoji need."""
    return _CONTROLS.sub("", _BIDI_MARKS.sub("", _LINE_BREAKS.sub("\n", text)))


def printable(text: str) -> str:
    return _SURROGATES.sub("", remove_controls(text))


def remove_leading_emoji(text: str) -> str:
    """For fonts without emoji."""
    return _LEADING_EMOJI.sub("", text)


def hiragana(text: str) -> str:
    return text.translate(_TO_HIRAGANA)


def kanji_to_digits(numerals: str) -> str:
    """Convert a kanji number below a hundred (二十三), or a row of kanji digits (二三). Raises KeyError."""
    if "十" in numerals:
        tens, _, ones = numerals.partition("十")
        return str((_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0))
    return "".join(str(_DIGITS[digit]) for digit in numerals).lstrip("0") or "0"


def format_size(byte_count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if byte_count >= size:
            return f"{byte_count / size:.1f} {unit}"
    return f"{byte_count / 1000:.0f} kB"
