"""A label in lines that fit; how wide it is says whoever writes it, a font in pixels or a terminal in cells.

A line ends at a blank or beside a Japanese character, but no line begins with what closes or lengthens; a
Latin word is parted only where it is longer than a line.
"""

import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies

from cc_bot.domain.kinsoku import NEVER_LAST, NOT_FIRST_IN_LINE, SOUNDS

Measure = Callable[[str], float]
"""The width of a text."""

MORE: Final = "…"
"""Where a label goes on that has no more room."""

_GRAPHEMES: Final = regex.compile(r"\X")
_NOT_AT_START: Final = frozenset(NOT_FIRST_IN_LINE)
_SOUNDS: Final = frozenset(SOUNDS)
_NOT_AT_END: Final = frozenset(NEVER_LAST)


def cells(text: str) -> int:
    """How many columns of a terminal the text takes; East Asian wide characters take two."""
    return sum(map(_cells, _GRAPHEMES.findall(text)))


def _cells(grapheme: str) -> int:
    if "\ufe0f" in grapheme or unicodedata.east_asian_width(grapheme[0]) in "WF":
        return 2
    return 1


def in_lines(text: str, room: float, measure: Measure) -> list[str]:
    """The text in as many lines as it takes, none wider than `room`, unless one character is."""
    lines = [""]
    for unit in _units(text):
        if not lines[-1] or measure(lines[-1] + unit.rstrip()) <= room:
            lines[-1] += unit
        else:
            lines.append(unit)
        if measure(lines[-1].rstrip()) > room:
            lines[-1:] = _cut(lines[-1].rstrip(), room, measure)
    return [line.strip() for line in lines]


def balanced(text: str, room: float, measure: Measure) -> list[str]:
    """The text in as few lines as it takes, which end between words if they can, and else are equally long.

    Japanese has no blanks between words, but brackets, and its scripts: after hiragana a new word begins.
    """
    best = in_lines(text, room, measure)
    narrower = max(1.0, widest_unit(text, measure))
    while narrower < room:
        tried = in_lines(text, narrower, measure)
        if len(tried) <= len(best) and (len(tried) < len(best) or _roughness(tried) < _roughness(best)):
            best = tried
        narrower *= 1.05
    return best


def _roughness(lines: list[str]) -> tuple[int, float]:
    """How much the line ends part what belongs together, and how unequal the lines are."""
    parted = sum(_parts_a_word(one[-1], other[0]) for one, other in pairwise(lines) if one and other)
    return parted, max(map(cells, lines)) - min(map(cells, lines))


def _parts_a_word(before: str, after: str) -> int:
    if after in _NOT_AT_END or before in _NOT_AT_START - _SOUNDS:
        return 0
    scripts = (_script(before), _script(after))
    return 2 if scripts[0] == scripts[1] else 0 if scripts[0] == "HIRAGANA" else 1


def _script(letter: str) -> str:
    """The first word of its name: HIRAGANA, KATAKANA, CJK, LATIN; the long vowel belongs to katakana."""
    name = unicodedata.name(letter, "").split(" ")[0]
    return name.partition("-")[0]


def shortened(text: str, room: float, measure: Measure, *, most_lines: int = 1) -> list[str]:
    """The text in at most so many lines; an ellipsis says where it does not end there."""
    lines = in_lines(text, room, measure)
    if len(lines) <= most_lines:
        return lines
    last = ""
    for grapheme in _GRAPHEMES.findall("".join(lines[most_lines - 1 :])):
        if measure(last + grapheme + MORE) > room:
            break
        last += grapheme
    return [*lines[: most_lines - 1], last.rstrip() + MORE]


def widest_unit(text: str, measure: Measure) -> float:
    """The room that the text needs at least, to be written without parting a word."""
    return max(measure(unit.rstrip()) for unit in _units(text))


def _units(text: str) -> Iterator[str]:
    """The pieces between which a line may end."""
    unit = ""
    for grapheme in _GRAPHEMES.findall(text):
        if unit and _may_part(unit[-1], grapheme):
            yield unit
            unit = ""
        unit += grapheme
    yield unit


def _may_part(before: str, after: str) -> bool:
    if after.isspace() or after[0] in _NOT_AT_START or before in _NOT_AT_END:
        return False
    return before.isspace() or _cells(before) == 2 or _cells(after) == 2


def _cut(text: str, room: float, measure: Measure) -> list[str]:
    """What cannot be parted well, parted wherever a line is full."""
    lines = [""]
    for grapheme in _GRAPHEMES.findall(text):
        if lines[-1] and measure(lines[-1] + grapheme) > room:
            lines.append("")
        lines[-1] += grapheme
    return lines


# ---- placing ---------------------------------------------------------------------------------------------
# Where the words of a picture stand, in pixels; what they look like is the picture's business.
#
# Labels below an axis stay upright as long as they can: on one line, then some of them left out where they
# run in an order (dates), then on up to three lines, and only then turned.

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
