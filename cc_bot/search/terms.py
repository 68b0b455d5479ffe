"""The terms of a note: what its search index holds of it.

Of Japanese, pairs of neighbouring characters and single kanji: a pair is nearly a word, and needs no
dictionary that has to know it. Of other languages words without their endings, and numbers, with what they
count as well. The kana are loosened, so that a note is found however its words are spelt.

Two kinds of terms stand for more than what is written, and begin with a sign that no other term has: ideas
that the note speaks of (=ペット) and pairs of the kana that its kanji may be read as (~しゆ).
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
"""To be raised whenever other terms come of the same text; what is stored is made anew where it differs.
tests/search/test_terms_version.py tells when that is so."""

READ: Final = "~"
"""Begins the terms of kana that stand for kanji."""

_CJK: Final = rf"{KANJI}ぁ-ゖ\uac00-\ud7a3"
_CHUNK: Final = re.compile(rf"([{_CJK}]+)|(\d[\d.]*)(?=([{KANJI}]?))|([^\s\d{_CJK}]+)")
_KANJI: Final = re.compile(f"[{KANJI}]")

# A word of kanji, with the kana that belongs to it (食べ) unless that is more likely a particle (犬の).
_KANJI_WORD: Final = re.compile(rf"[{KANJI}]+(?:[ぁ-ゖ](?<![のはがをにでともへや]))?")
_LONGEST_READ: Final = 6
_READINGS: Final = 4


def document_terms(content: str, tags: Sequence[str] = ()) -> Mapping[str, int]:
    """Count how often a note has each term, its tags too. No term has white space or control characters."""
    return Counter(listed_terms(content, tags))


def listed_terms(content: str, tags: Sequence[str] = ()) -> list[str]:
    """The same, each as often as the note has it."""
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
    """Pairs of the kana that the kanji of a line may be read as."""
    return set().union(*map(_read_terms, _KANJI_WORD.findall(text)))


def _read_terms(word: str) -> tuple[str, ...]:
    return _known_terms(word) if len(word) <= _LONGEST_READ else ()


@lru_cache(maxsize=4096)  # most words of a note stand in many: reading one anew costs as much as all the rest
def _known_terms(word: str) -> tuple[str, ...]:
    return tuple({READ + pair for kana in readings(word, _READINGS) for pair in pairs(loosen(kana))})


def plain_terms(text: str) -> list[str]:
    """The terms of what is written in a line, or in a part of one."""
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
    """Pair each two neighbouring characters; a character of kana that stands alone is its own term."""
    if len(run) == 1 and not _KANJI.match(run):
        return [run]
    return list(map(add, run, run[1:]))
