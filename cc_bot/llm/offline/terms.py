"""Terms: what a text is about, as far as that can be counted."""

import re
from dataclasses import dataclass

from cc_bot.llm.offline import english, japanese
from cc_bot.llm.offline.beings import without_beings
from cc_bot.llm.offline.fold import fold, fold_kana

_MEDIUM = 0.7
_LIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Term:
    """One word that carries meaning."""

    key: str
    """Equal for every form and spelling of the word."""
    surface: str
    """As the folded text spells it."""
    at: int
    """Its offset in the folded text."""
    weight: float
    """How much it says, at most 1."""


def terms_of(text: str) -> tuple[Term, ...]:
    """The terms of a text in their order. Beings are no terms: they have to agree, not to overlap."""
    found = []
    for script, word, at in japanese.words(without_beings(fold(text))):
        term = _latin(word, at) if script == "latin" else _japanese(script, word, at)
        if term is not None:
            found.append(term)
    return tuple(found)


def _latin(word: str, at: int) -> Term | None:
    if word in english.FUNCTION_WORDS or (len(word) == 1 and word.isalpha()):
        return None
    key = english.stem(word)
    if key in english.FUNCTION_WORDS:
        return None
    return Term(key, word, at, _LIGHT if key in english.LIGHT_WORDS else 1.0)


def _japanese(script: str, word: str, at: int) -> Term:
    key = re.sub("[ぁ-ゖ]", "", word) if script == "kanji" else fold_kana(word)  # 締め切り is 締切 too
    return Term(key, word, at, _MEDIUM if script == "hiragana" or len(word) == 1 else 1.0)


def likeness(asked: str, told: str) -> float:
    """How far two keys mean the same: 1 for equal ones, 0 for strangers."""
    if asked == told:
        return 1.0
    if asked.isascii() or told.isascii():
        return 0.9 if english.same_family(asked, told) else 0.0
    shorter, longer = sorted((asked, told), key=len)
    if shorter in longer:
        return 0.5 if len(shorter) == 1 else 0.6 + 0.4 * len(shorter) / len(longer)
    return _shared_pairs(asked, told)


def _shared_pairs(one: str, other: str) -> float:
    """Dice's coefficient over pairs of characters: 電話番号 and 携帯番号 share 番号."""
    pairs = [{word[i : i + 2] for i in range(len(word) - 1)} for word in (one, other)]
    total = len(pairs[0]) + len(pairs[1])
    return 2 * len(pairs[0] & pairs[1]) / total if total else 0.0
