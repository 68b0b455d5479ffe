"""The index terms of a note.

Japanese: pairs of adjacent characters, and single kanji; pairs are nearly words, and need no dictionary.
Other languages: stemmed words, and numbers with their units. Kana are loosened, so that spelling variants
match.

Two kinds of terms are derived, marked by a prefix that no other term has: ideas that the note mentions
(=ペット) and pairs of the kana that its kanji may be read as (~しゆ).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import add
from typing import Final

from cc_bot.search.folding import KANJI, fold, joined_numbers, loosen, read
from cc_bot.search.lexicon import lexicon
from cc_bot.search.readings import readings

TERMS_VERSION: Final = 2
"""Increase it whenever the same text gives other terms: stored terms of other versions are rebuilt.
tests/search/test_terms_version.py checks it."""

READ: Final = "~"
"""The prefix of terms from readings of kanji."""

_CJK: Final = rf"{KANJI}ぁ-ゖ\uac00-\ud7a3"
_CHUNK: Final = re.compile(rf"([{_CJK}]+)|(\d[\d.]*)(?=([{KANJI}]?))|([^\s\d{_CJK}]+)")
_KANJI: Final = re.compile(f"[{KANJI}]")

# Kanji with their okurigana (食べ), but without a likely particle (犬の).
_KANJI_WORD: Final = re.compile(rf"[{KANJI}]+(?:[ぁ-ゖ](?<![のはがをにでともへや]))?")
_MAX_READ_LENGTH: Final = 6
_READINGS: Final = 4


def document_terms(content: str, tags: Sequence[str] = ()) -> Mapping[str, int]:
    """Count the terms of a note and its tags. No term has white space or control characters."""
    return Counter(listed_terms(content, tags))


def listed_terms(content: str, tags: Sequence[str] = ()) -> list[str]:
    """Return the terms of a note and its tags, with repetitions."""
    terms: list[str] = []
    for text in (content, *tags):
        folded = fold(text)
        line = read(folded)
        terms += joined_numbers(folded)
        terms += plain_terms(line.text)
        terms += lexicon().terms(line)
        terms += read_terms(line.text)
    return terms


def read_terms(text: str) -> set[str]:
    """Return pairs of the kana that the kanji of a line may be read as."""
    return set().union(*map(_read_terms, _KANJI_WORD.findall(text)))


def _read_terms(word: str) -> tuple[str, ...]:
    return _known_terms(word) if len(word) <= _MAX_READ_LENGTH else ()


@lru_cache(maxsize=4096)  # words recur across notes, and reading them takes half the time
def _known_terms(word: str) -> tuple[str, ...]:
    return tuple({READ + pair for kana in readings(word, _READINGS) for pair in pairs(loosen(kana))})


def plain_terms(text: str) -> list[str]:
    """Return the terms of the text as written, of a line or a part of one."""
    terms: list[str] = []
    for run, number, counted, word in _CHUNK.findall(text):
        if run:
            terms += pairs(run)
            terms += _KANJI.findall(run)
        elif number:
            terms.append(number)
            if counted:
                terms.append(number + counted)
        else:
            terms.append(word)
    return terms


def pairs(run: str) -> list[str]:
    """Return the pairs of adjacent characters; a single kana is its own term."""
    if len(run) == 1 and not _KANJI.match(run):
        return [run]
    return list(map(add, run, run[1:]))
