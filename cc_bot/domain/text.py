"""The writing of any text, whatever it is about: cut to fit where it is shown, and made one."""

import re
from typing import Final

_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Directions of writing that hold beyond what they are meant for: UAX #9, section 2."""
_HALVES: Final = re.compile("[\ud800-\udfff]")

_BREAKS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROLS: Final = re.compile("[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
"""But for the tabulator and what breaks a line."""

_TO_HIRAGANA: Final = {code: code - 0x60 for code in range(ord("ァ"), ord("ヶ") + 1)}
_DIGITS: Final = {"〇": 0, "零": 0} | {kanji: digit for digit, kanji in enumerate("一二三四五六七八九", 1)}

_SIGN: Final = re.compile("^[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]+ ?")


def shorten(text: str, limit: int) -> str:
    """The text in at most `limit` characters; an ellipsis, counted too, says where it went on."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def one_line(text: str) -> str:
    """Write a text without line breaks, and without marks that turn what stands after it in the line
    around."""
    return " ".join(_TURNING.sub("", text).split())


def without_controls(text: str) -> str:
    """Return the text without what is no part of it: control characters, which nobody sees and PostgreSQL
    does not take (NUL), and marks that turn what stands after them around. Line breaks of all kinds become
    line feeds. What joins and varies signs stays, since emoji are made with it."""
    return _CONTROLS.sub("", _TURNING.sub("", _BREAKS.sub("\n", text)))


def printable(text: str) -> str:
    """Return what a terminal can show of it: without controls, and without halves of surrogate pairs."""
    return _HALVES.sub("", without_controls(text))


def without_sign(text: str) -> str:
    """Return a sentence without the emoji that it begins with on Discord, for where a font may lack it."""
    return _SIGN.sub("", text)


def hiragana(text: str) -> str:
    """The text with its katakana as hiragana; everything else, and the long vowel sign, as it is."""
    return text.translate(_TO_HIRAGANA)


def in_digits(numerals: str) -> str:
    """A number of kanji: one below a hundred with 十, or a row of digits of any length (二十三, 二〇二六).

    Raises KeyError for what is neither.
    """
    if "十" in numerals:
        tens, _, ones = numerals.partition("十")
        return str((_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0))
    return "".join(str(_DIGITS[digit]) for digit in numerals).lstrip("0") or "0"


def format_size(count: int) -> str:
    """Return bytes, as people say them: `12.3 MB`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count / 1000:.0f} kB"
