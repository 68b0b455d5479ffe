"""What an answer may say was removed, and how its sentences are read for that."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["memory", "reminder"]

NEAR: Final = 40
"""Characters between what was removed and the word that says so, at most."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a turn is about."""

    about: frozenset[Kind] = frozenset()
    removal: bool = False
    """Whether something is to be removed, whatever it is."""
    asks_back: bool = False
    """Whether somebody wants to know what was done, and does not ask for anything to be done."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What an answer, or a sentence of it, says was removed."""

    named: frozenset[Kind] = frozenset()
    unsure: frozenset[Kind] = frozenset()
    """By words that often mean something else: タイマー may be one of a program."""
    unnamed: bool = False
    """Whether it says so of something that it does not name."""

    def untrue(self, removed: Collection[str], wish: Wish) -> frozenset[Kind]:
        """The kinds of which nothing was removed after all. What is not named may be whatever was,
        and やめました anything where nothing is to be removed."""
        if wish.asks_back:
            return frozenset()
        claimed = self.named | (self.unsure if wish.removal else self.unsure & wish.about)
        if self.unnamed and wish.removal and not removed:
            claimed |= wish.about
        return claimed.difference(removed)


def claims_of(found: Collection[str], *, unnamed: bool) -> Claims:
    """What the groups of a pattern that were found mean."""
    kinds: tuple[Kind, ...] = ("memory", "reminder")
    return Claims(
        frozenset(kind for kind in kinds if kind in found),
        frozenset(kind for kind in kinds if f"maybe_{kind}" in found),
        unnamed,
    )


def last_named(names: re.Pattern[str], before: str, beside: Callable[[bool, str], bool]) -> frozenset[str]:
    """The groups that stand before a verb as what was removed: the last one, and those that are named in one
    breath with it. `beside` is told whether it is the last one, and what follows it."""
    found = list(names.finditer(before))
    if not found or not beside(True, before[found[-1].end() :]):
        return frozenset()
    return frozenset(
        match.lastgroup or "" for match in found if match is found[-1] or beside(False, before[match.end() :])
    )
