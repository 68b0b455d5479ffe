"""English words without the endings that grammar gives them: studied, studies and studying are one term.

Lightly, that is: only the endings of inflection go, so that words of different meaning stay apart.
"""

from typing import Final

_SHORTEST: Final = 3
_VOWELS: Final = "aeiouy"


def stem(word: str) -> str:
    """The word without its ending; a word of three letters or fewer, or not in ASCII, is its own stem."""
    if not word.isascii():
        return word
    bare = word.removesuffix("'s").replace("'", "")
    if len(bare) <= _SHORTEST:
        return bare
    return _without_e(_uninflected(bare))


def _uninflected(word: str) -> str:
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
    """Without a consonant doubled before the ending: planned, planning, plan."""
    doubled = rest[-1] == rest[-2] and rest[-1] not in "aeiouls"
    return rest[:-1] if doubled else rest


def _without_e(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST else word
