"""What may stand on a canvas: how much of it, and in which letters. What breaks a limit is refused with a
sentence for the model, and never cut: it would believe that all of it is up."""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from cc_bot.domain.canvas import Card, Chart, ChartKind, Element, Series, Text
from cc_bot.domain.message import is_blank

MAX_ELEMENTS: Final = 10
"""Of what one turn sees. A public one does not count what it does not see, so that with ten private elements
there may be ten public ones."""
MAX_TITLE: Final = 100
MAX_CONTENT: Final = 1000
MAX_LABELS: Final = 24
MAX_SERIES: Final = 6
MAX_NAME: Final = 40
"""Characters of a chart's label, and of the name of a series."""
MAX_ID: Final = 32
LARGEST: Final = 1e15
"""Up to here a float counts whole numbers one by one, and an axis can be labelled."""

ID: Final = re.compile(rf"[a-z0-9-]{{1,{MAX_ID}}}")

_BREAKS: Final = re.compile("\r\n|[\r\n\v\f\x85\u2028\u2029]")
_TURNS: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Change the direction of what follows, also beyond the text that they stand in."""


class CanvasRefused(Exception):
    """The canvas can't be changed that way. The message is for the model."""


def clean_text(text: str) -> str:
    """The text without control characters but line feeds; halves of surrogate pairs are gone too."""
    return "".join(
        each
        for each in _TURNS.sub("", _BREAKS.sub("\n", text)).replace("\t", " ")
        if each == "\n" or unicodedata.category(each) not in ("Cc", "Cs")
    ).strip()


def clean_line(text: str) -> str:
    """The same on one line."""
    return " ".join(clean_text(text).split())


def card(id_: str, title: str, content: str) -> Card:
    return Card(id_, _title(title, "title"), _content(content))


def text(id_: str, title: str, content: str) -> Text:
    return Text(id_, _content(content), _short(title, "title", MAX_TITLE))


def chart(id_: str, title: str, kind: ChartKind, labels: Sequence[str], series: Iterable[Series]) -> Chart:
    series = tuple(series)
    _count(labels, "labels", MAX_LABELS)
    _count(series, "series", MAX_SERIES)
    if kind == "pie" and len(series) > 1:
        raise CanvasRefused("A pie takes one series.")
    lines = tuple(_series(each, len(labels), named=len(series) > 1) for each in series)
    if kind == "pie" and (min(lines[0].values) < 0 or not any(lines[0].values)):
        raise CanvasRefused("A pie takes numbers from 0 up, and not 0 alone.")
    names = tuple(_title(label, "label", MAX_NAME) for label in labels)
    return Chart(id_, _title(title, "title"), kind, names, lines)


def checked(element: Element) -> Element:
    """The element as it would have been drawn. Raises CanvasRefused for one that would not."""
    if not ID.fullmatch(element.id):
        raise CanvasRefused(f"id: {MAX_ID} characters at most, of a-z, 0-9 and -.")
    match element:
        case Card(id_, title, content):
            made: Element = card(id_, title, content)
        case Text(id_, content, title):
            made = text(id_, title, content)
        case Chart(id_, title, kind, labels, series):
            made = chart(id_, title, kind, labels, series)
    return replace(made, visibility=element.visibility, tainted=element.tainted)


def _series(series: Series, length: int, *, named: bool) -> Series:
    name = (_title if named else _short)(series.name, "name", MAX_NAME)
    if len(series.values) != length:
        raise CanvasRefused(f"Each series needs one number for each of the {length} labels.")
    if not all(math.isfinite(number) and abs(number) <= LARGEST for number in series.values):
        raise CanvasRefused(f"values: numbers from {-LARGEST:.0e} to {LARGEST:.0e}.")
    return Series(name, tuple(float(number) + 0.0 for number in series.values))  # and no negative zero


def _content(content: str) -> str:
    cleaned = clean_text(content)
    if is_blank(cleaned):
        raise CanvasRefused("content: there is nothing in it.")
    if len(cleaned) > MAX_CONTENT:
        raise CanvasRefused(f"content: {MAX_CONTENT} characters at most; these are {len(cleaned)}.")
    return cleaned


def _title(title: str, name: str, limit: int = MAX_TITLE) -> str:
    cleaned = _short(title, name, limit)
    if is_blank(cleaned):
        raise CanvasRefused(f"{name}: there is nothing in it.")
    return cleaned


def _short(title: str, name: str, limit: int) -> str:
    cleaned = clean_line(title)
    if len(cleaned) > limit:
        raise CanvasRefused(f"{name}: {limit} characters at most; these are {len(cleaned)}.")
    return cleaned


def _count(things: Sequence[object], name: str, limit: int) -> None:
    if not 1 <= len(things) <= limit:
        raise CanvasRefused(f"{name}: from 1 to {limit}; these are {len(things)}.")
