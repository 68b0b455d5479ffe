"""Texts that are looked for in other texts: few or thousands of them, folded, wherever they stand."""

from collections.abc import Iterable
from typing import Final

from cc_bot.search.folding import fold

_FEW: Final = 32
"""So many are found faster by looking for one after the other."""
_START: Final = 4
"""Characters by which one of many is looked up; shorter ones as a whole."""


class Sought:
    """A set of texts that may stand in others. Blank ones stand nowhere."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = {folded for text in texts if (folded := fold(text).strip())}
        self._by_start: dict[int, dict[str, list[str]]] = {}
        for text in self._texts:
            start = text[:_START]
            self._by_start.setdefault(len(start), {}).setdefault(start, []).append(text)

    def within(self, text: str) -> bool:
        """Whether one of them stands in this text, but for width and case."""
        if not self._texts:
            return False
        folded = fold(text)
        if len(self._texts) <= _FEW:
            return any(sought in folded for sought in self._texts)
        return any(
            any(folded.startswith(sought, place) for sought in starts.get(folded[place : place + length], ()))
            for length, starts in self._by_start.items()
            for place in range(len(folded) - length + 1)
        )
