"""The canvas, changed by `apply_edit` only. Elements of private turns are visible only in private turns."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Final, Literal

from cc_bot.domain.chart import MAX_VALUE, Chart, Series, parse_numbers
from cc_bot.domain.message import Visibility, is_blank
from cc_bot.domain.text import printable

Mode = Literal["list", "board", "focus"]  # stacked, side by side, or one element


@dataclass(frozen=True, slots=True)
class Card:
    id: str
    title: str
    content: str
    _: KW_ONLY
    visibility: Visibility = "public"
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    id: str
    content: str
    title: str = ""
    _: KW_ONLY
    visibility: Visibility = "public"
    tainted: bool = False


Element = Card | Text | Chart


def element_type(element: Element) -> str:
    return type(element).__name__.lower()


@dataclass(frozen=True, slots=True)
class Canvas:
    """Elements, oldest first, and their layout."""

    elements: tuple[Element, ...] = ()
    mode: Mode = "list"
    focus: str = ""  # an element's id, in mode `focus`

    def visible_in(self, visibility: Visibility) -> "Canvas":
        """Return the canvas without hidden elements; in mode `list` if the focused element is hidden."""
        if visibility == "private":
            return self
        public = tuple(each for each in self.elements if each.visibility == "public")
        if self.mode == "focus" and all(each.id != self.focus for each in public):
            return Canvas(public)
        return replace(self, elements=public)

    def find(self, id_: str) -> Element | None:
        return next((each for each in self.elements if each.id == id_), None)

    @property
    def shown_elements(self) -> tuple[Element, ...]:
        focused = tuple(each for each in self.elements if self.mode == "focus" and each.id == self.focus)
        return focused or self.elements

    @property
    def is_empty(self) -> bool:
        return not self.elements

    @property
    def tainted(self) -> bool:
        """Return whether a turn that had read others' text drew an element."""
        return any(each.tainted for each in self.elements)


@dataclass(frozen=True, slots=True)
class UpdateCard:
    id: str
    title: str | None = None  # None: unchanged
    content: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveElement:
    id: str


@dataclass(frozen=True, slots=True)
class SetMode:
    mode: Literal["clear", "list", "board", "focus"]  # `clear` removes everything and resets to `list`
    focus: str = ""


# An Element is added; its id is replaced if empty or taken.
CanvasCommand = Element | UpdateCard | RemoveElement | SetMode


@dataclass(frozen=True, slots=True)
class Edit:
    command: CanvasCommand
    visibility: Visibility
    tainted: bool = False  # whether the model had read others' text


# Commands beyond these limits are refused: nothing is cut silently.

MAX_ELEMENTS: Final = 10  # visible in a turn: a public turn does not count private elements
MAX_TITLE_LENGTH: Final = 100
MAX_CONTENT_LENGTH: Final = 1000
MAX_LABELS: Final = 62
MAX_SERIES: Final = 6
MAX_NAME_LENGTH: Final = 40
MAX_ID_LENGTH: Final = 32


class CommandRefused(Exception):
    """Raised with a message for the model."""


def clean_text(text: str) -> str:
    return printable(text).replace("\t", " ").strip()


_BOX: Final = re.compile(r"^( {0,12})(?:[-*+] |(\d{1,9}[.)] ))\[([ xX])\] ", re.M)


def draw_boxes(text: str, boxes: str) -> str:
    """Replace the boxes of check lists by the first of two signs or, if they are checked, the second."""
    return _BOX.sub(lambda item: f"{item[1]}{item[2] or ''}{boxes[item[3] != ' ']} ", text)


def clean_line(text: str) -> str:
    return " ".join(clean_text(text).split())


def _clean(element: Element) -> Element:
    match element:
        case Card() | Text():
            title = _check_length(
                clean_line(element.title), "title", MAX_TITLE_LENGTH, may_be_blank=isinstance(element, Text)
            )
            content = _check_length(clean_text(element.content), "content", MAX_CONTENT_LENGTH)
            return replace(element, title=title, content=content)
        case Chart(_, title, kind, labels, series, x_title=x_title, y_title=y_title):
            _check_count(labels, "labels", MAX_LABELS)
            _check_count(series, "series", MAX_SERIES)
            if kind == "pie" and len(series) > 1:
                raise CommandRefused("A pie takes one series.")
            series = tuple(_clean_series(each, len(labels), needs_name=len(series) > 1) for each in series)
            if kind == "pie" and (min(series[0].values) < 0 or not any(series[0].values)):
                raise CommandRefused("A pie takes numbers from 0 up, and not 0 alone.")
            if kind == "area" and len(series) > 1 and min(min(each.values) for each in series) < 0:
                raise CommandRefused("Areas are stacked: they take numbers from 0 up.")
            labels = tuple(_check_length(clean_line(label), "label", MAX_NAME_LENGTH) for label in labels)
            if kind == "scatter" and parse_numbers(labels) is None:
                raise CommandRefused("A scatter chart takes numbers as labels.")
            title = _check_length(clean_line(title), "title", MAX_TITLE_LENGTH)
            x_title, y_title = (
                _check_length(clean_line(each), "axis title", MAX_NAME_LENGTH, may_be_blank=True)
                for each in (x_title, y_title)
            )
            return replace(
                element, title=title, labels=labels, series=series, x_title=x_title, y_title=y_title
            )


def _clean_series(series: Series, length: int, *, needs_name: bool) -> Series:
    name = _check_length(clean_line(series.name), "name", MAX_NAME_LENGTH, may_be_blank=not needs_name)
    if len(series.values) != length:
        raise CommandRefused(f"Each series needs one number for each of the {length} labels.")
    if not all(math.isfinite(number) and abs(number) <= MAX_VALUE for number in series.values):
        raise CommandRefused(f"values: numbers from {-MAX_VALUE:.0e} to {MAX_VALUE:.0e}.")
    return Series(name, tuple(float(number) + 0.0 for number in series.values))  # and no negative zero


def _check_length(text: str, name: str, limit: int, *, may_be_blank: bool = False) -> str:
    if is_blank(text) and not may_be_blank:
        raise CommandRefused(f"{name}: there is nothing in it.")
    if len(text) > limit:
        raise CommandRefused(f"{name}: {limit} characters at most; these are {len(text)}.")
    return text


def _check_count(things: Sequence[object], name: str, limit: int) -> None:
    if not 1 <= len(things) <= limit:
        raise CommandRefused(f"{name}: from 1 to {limit}; these are {len(things)}.")


# Public turns change only public elements, but `clear` removes all. Private turns make elements private.

_NOT_IN_SLUGS: Final = re.compile("[^a-z0-9]+")


def apply_edit(canvas: Canvas, edit: Edit) -> Canvas:
    """Raises CommandRefused."""
    match edit.command:
        case Card() | Text() | Chart() as element:
            return _add(canvas, element, edit)
        case UpdateCard(id_, title, content):
            old = _find(canvas, id_, edit.visibility)
            new = replace(
                _update(old, title, content), visibility=edit.visibility, tainted=old.tainted or edit.tainted
            )
            return replace(canvas, elements=tuple(new if each is old else each for each in canvas.elements))
        case RemoveElement(id_):
            removed = _find(canvas, id_, edit.visibility)
            others = replace(canvas, elements=tuple(each for each in canvas.elements if each is not removed))
            return replace(others, mode="list", focus="") if canvas.focus == removed.id else others
        case SetMode() as command:
            return _set_mode(canvas, command, edit.visibility)


def apply_edits(canvas: Canvas, edits: Iterable[Edit]) -> Canvas:
    """Skip edits that no longer apply. If an added element gets another id, later edits use the new id."""
    new_ids: dict[str, str] = {}
    for each in edits:
        command = _replace_ids(each.command, new_ids)
        try:
            after = apply_edit(canvas, replace(each, command=command))
        except CommandRefused:
            continue
        if isinstance(command, Element) and command.id:
            new_ids[command.id] = after.elements[-1].id
        canvas = after
    return canvas


def _set_mode(canvas: Canvas, command: SetMode, visibility: Visibility) -> Canvas:
    if command.mode == "clear":
        return Canvas()
    if command.mode == "focus":
        return replace(canvas, mode="focus", focus=_find(canvas, command.focus, visibility).id)
    return replace(canvas, mode=command.mode, focus="")


def _replace_ids(command: CanvasCommand, new_ids: dict[str, str]) -> CanvasCommand:
    match command:
        case UpdateCard(id_) | RemoveElement(id_) if id_ in new_ids:
            return replace(command, id=new_ids[id_])
        case SetMode(focus=focus) if focus in new_ids:
            return replace(command, focus=new_ids[focus])
        case _:
            return command


def _add(canvas: Canvas, element: Element, edit: Edit) -> Canvas:
    if len(canvas.visible_in(edit.visibility).elements) >= MAX_ELEMENTS:
        raise CommandRefused(f"The canvas is full: {MAX_ELEMENTS} elements at most. Remove one first.")
    element = replace(element, id=_free_id(canvas, element.id, element_type(element)))
    element = replace(_clean(element), visibility=edit.visibility, tainted=edit.tainted)
    return replace(canvas, elements=(*canvas.elements, element))


def _update(element: Element, title: str | None, content: str | None) -> Element:
    if title is None and content is None:
        raise CommandRefused("Say what to change: title, content, or both.")
    if title is not None:
        element = replace(element, title=title)
    if content is not None:
        if isinstance(element, Chart):
            raise CommandRefused("Of a chart the title alone can be changed: remove it and add it again.")
        element = replace(element, content=content)
    return _clean(element)


def _find(canvas: Canvas, id_: str, visibility: Visibility) -> Element:
    visible = canvas.visible_in(visibility)
    found = visible.find(id_) or visible.find(_slugify(id_))
    if found is None:
        ids = ", ".join(each.id for each in visible.elements)
        raise CommandRefused(f"No such element is up. Up are: {ids}." if ids else "The canvas is empty.")
    return found


def _free_id(canvas: Canvas, proposed_id: str, default: str) -> str:
    taken = {each.id for each in canvas.elements}
    base = _slugify(proposed_id)
    if base and base not in taken:
        return base
    number = 2 if base else 1
    while (numbered := f"{(base or default)[: MAX_ID_LENGTH - len(f'-{number}')]}-{number}") in taken:
        number += 1
    return numbered


def _slugify(text: str) -> str:
    return _NOT_IN_SLUGS.sub("-", text.casefold())[: MAX_ID_LENGTH + 1].strip("-")[:MAX_ID_LENGTH].strip("-")
