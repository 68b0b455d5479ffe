"""Where the words of a picture stand, in pixels; what they look like is picture.py's business.

Labels below an axis stay upright as long as they can: on one line, then some of them left out where they run
in an order (dates), then on up to three lines, and only then turned.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cc_bot.charts.lettering import Measure, balanced, shortened, widest_unit

TURNED: Final = 60
"""Degrees."""
_GAP: Final = 8.0
_MOST_LINES: Final = 3
_MANY: Final = 8
_LEAST_LEFT: Final = 4
"""So many labels stay at least."""
_CLOSER: Final = 0.85
"""Turned labels may stand closer than lines of a text."""
_LONGEST_TURNED: Final = 170.0
_LONGEST_NAME: Final = 330.0


@dataclass(frozen=True, slots=True)
class Below:
    """The labels of an axis, one for each place on it; empty where there is no room for one."""

    labels: tuple[str, ...]
    height: float
    turned: bool = False


def upright(labels: Sequence[str], slot: float, measure: Measure, line: float) -> Below | None:
    """Whole and upright, each within its slot; None where they are too long for that."""
    room = slot - _GAP
    if all(measure(label) <= room for label in labels):
        return Below(tuple(labels), line)
    if any(widest_unit(label, measure) > room for label in labels) or room < 3 * line:
        return None
    wrapped = [balanced(label, room, measure) for label in labels]
    most = max(map(len, wrapped))
    return Below(tuple(map("\n".join, wrapped)), most * line) if most <= _MOST_LINES else None


def thinned(labels: Sequence[str], slot: float, measure: Measure, line: float) -> Below | None:
    """All labels, or every second, third …, upright; None where they are too few or too long for that."""
    step = math.ceil((max(map(measure, labels)) + 1.5 * _GAP) / slot)
    if len(labels) <= _MANY or len(labels) / step < _LEAST_LEFT:
        return None
    return Below(tuple(label if not place % step else "" for place, label in enumerate(labels)), line)


def turned(labels: Sequence[str], slot: float, measure: Measure, line: float, *, left: float) -> Below:
    """Turned, and shortened to the room there is; `left` is how much of it is before the first slot."""
    rise, run = math.sin(math.radians(TURNED)), math.cos(math.radians(TURNED))
    step = math.ceil(line * _CLOSER / (slot * rise))
    cut = [
        shortened(label, min(_LONGEST_TURNED, (left + (place + 0.5) * slot - line * rise) / run), measure)[0]
        if not place % step
        else ""
        for place, label in enumerate(labels)
    ]
    return Below(tuple(cut), max(map(measure, cut)) * rise + line * run, turned=True)


@dataclass(frozen=True, slots=True)
class Name:
    """An entry of the legend: its row, from the top, and where its sign begins."""

    text: str
    row: int
    x: float


def legend(names: Sequence[str], room: float, measure: Measure, sign: float) -> Iterator[Name]:
    """The names of the series one after the other, in rows; each has a sign of so many pixels before it."""
    row, x = 0, 0.0
    for name in names:
        text = shortened(name, _LONGEST_NAME, measure)[0]
        wide = sign + measure(text)
        if x and x + wide > room:
            row, x = row + 1, 0.0
        yield Name(text, row, x)
        x += wide + 3 * _GAP
