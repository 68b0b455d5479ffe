"""The slices of a pie. More than eight cannot be told apart, so the smallest go together into one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MOST: Final = 8


@dataclass(frozen=True, slots=True)
class Slice:
    label: str
    value: float
    others: bool = False
    """Whether it holds what is too small for a slice of its own."""


def slices(labels: Sequence[str], values: Sequence[float], others: str) -> list[Slice]:
    """In the order they were given, the rest last; `others` is its label, with the parameter `count`."""
    every = [Slice(label, value) for label, value in zip(labels, values, strict=True)]
    if len(every) <= MOST:
        return every
    by_size = sorted(range(len(every)), key=lambda place: -every[place].value)
    kept, rest = sorted(by_size[: MOST - 1]), by_size[MOST - 1 :]
    together = sum(every[place].value for place in rest)
    return [*(every[place] for place in kept), Slice(others.format(count=len(rest)), together, others=True)]


def percent(value: float, total: float) -> str:
    """A share of the whole; one that is there but too small for a number says so."""
    share = value / total if total else 0.0
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"
