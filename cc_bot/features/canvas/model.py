"""The canvas, changed by `apply_command` only. Elements of private turns are visible only in private."""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Final, Literal

from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.message import Visibility, is_blank

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


def kind_of(element: Element) -> str:
    return type(element).__name__.lower()


@dataclass(frozen=True, slots=True)
class Canvas:
    """Elements, oldest first, and their layout."""

    elements: tuple[Element, ...] = ()
    mode: Mode = "list"
    focus: str = ""

    def visible_in(self, visibility: Visibility) -> "Canvas":
        """Return the visible elements; as a list if the focused one is hidden."""
        if visibility == "private":
            return self
        public = tuple(each for each in self.elements if each.visibility == "public")
        if self.mode == "focus" and all(each.id != self.focus for each in public):
            return Canvas(public)
        return replace(self, elements=public)

    def element(self, id_: str) -> Element | None:
        return next((each for each in self.elements if each.id == id_), None)

    @property
    def shown_elements(self) -> tuple[Element, ...]:
        focused = tuple(each for each in self.elements if self.mode == "focus" and each.id == self.focus)
        return focused or self.elements

    @property
    def empty(self) -> bool:
        return not self.elements

    @property
    def tainted(self) -> bool:
        """True if an element was drawn in a turn that had read others' text."""
        return any(each.tainted for each in self.elements)


@dataclass(frozen=True, slots=True)
class UpdateCard:
    """None leaves a field as it is."""

    id: str
    title: str | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveElement:
    id: str


@dataclass(frozen=True, slots=True)
class SetMode:
    mode: Literal["clear", "list", "board", "focus"]  # `clear` removes everything and resets to `list`
    focus: str = ""


# An added element's id is replaced if empty or taken.
CanvasCommand = Element | UpdateCard | RemoveElement | SetMode


@dataclass(frozen=True, slots=True)
class Drawn:
    command: CanvasCommand
    visibility: Visibility
    tainted: bool = False  # the model had read others' text


# Violations are refused with a sentence for the model, never cut silently.

MAX_ELEMENTS: Final = 10  # visible in a turn: ten private and ten public ones may coexist
MAX_TITLE: Final = 100
MAX_CONTENT: Final = 1000
MAX_LABELS: Final = 31
MAX_SERIES: Final = 6
MAX_NAME: Final = 40
MAX_ID: Final = 32
MAX_VALUE: Final = 1e15
_BREAKS: Final = re.compile("\r\n|[\r\n\v\f\x85\u2028\u2029]")
_DIRECTION_CHANGES: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")


class CanvasRefused(Exception):
    """Raised with a message for the model."""


def clean_text(text: str) -> str:
    """Remove lone surrogates and control characters except line feeds."""
    return "".join(
        each
        for each in _DIRECTION_CHANGES.sub("", _BREAKS.sub("\n", text)).replace("\t", " ")
        if each == "\n" or unicodedata.category(each) not in ("Cc", "Cs")
    ).strip()


def clean_line(text: str) -> str:
    return " ".join(clean_text(text).split())


def _clean(element: Element) -> Element:
    match element:
        case Card() | Text():
            title = _check(
                clean_line(element.title), "title", MAX_TITLE, may_be_blank=isinstance(element, Text)
            )
            content = _check(clean_text(element.content), "content", MAX_CONTENT)
            return replace(element, title=title, content=content)
        case Chart(_, title, kind, labels, series):
            _count(labels, "labels", MAX_LABELS)
            _count(series, "series", MAX_SERIES)
            if kind == "pie" and len(series) > 1:
                raise CanvasRefused("A pie takes one series.")
            lines = tuple(_series(each, len(labels), named=len(series) > 1) for each in series)
            if kind == "pie" and (min(lines[0].values) < 0 or not any(lines[0].values)):
                raise CanvasRefused("A pie takes numbers from 0 up, and not 0 alone.")
            names = tuple(_check(clean_line(label), "label", MAX_NAME) for label in labels)
            title = _check(clean_line(title), "title", MAX_TITLE)
            return replace(element, title=title, labels=names, series=lines)


def _series(series: Series, length: int, *, named: bool) -> Series:
    name = _check(clean_line(series.name), "name", MAX_NAME, may_be_blank=not named)
    if len(series.values) != length:
        raise CanvasRefused(f"Each series needs one number for each of the {length} labels.")
    if not all(math.isfinite(number) and abs(number) <= MAX_VALUE for number in series.values):
        raise CanvasRefused(f"values: numbers from {-MAX_VALUE:.0e} to {MAX_VALUE:.0e}.")
    return Series(name, tuple(float(number) + 0.0 for number in series.values))  # and no negative zero


def _check(text: str, name: str, limit: int, *, may_be_blank: bool = False) -> str:
    if is_blank(text) and not may_be_blank:
        raise CanvasRefused(f"{name}: there is nothing in it.")
    if len(text) > limit:
        raise CanvasRefused(f"{name}: {limit} characters at most; these are {len(text)}.")
    return text


def _count(things: Sequence[object], name: str, limit: int) -> None:
    if not 1 <= len(things) <= limit:
        raise CanvasRefused(f"{name}: from 1 to {limit}; these are {len(things)}.")


# Public turns see and change public elements only, except by `clear`. Private turns make them private.

_NOT_IN_IDS: Final = re.compile("[^a-z0-9]+")


def apply_command(canvas: Canvas, drawn: Drawn) -> Canvas:
    """Return the changed canvas. Raises CanvasRefused."""
    match drawn.command:
        case Card() | Text() | Chart() as adding:
            return _add(canvas, adding, drawn)
        case UpdateCard(id_, title, content):
            old = _find(canvas, id_, drawn.visibility)
            new = replace(
                _update(old, title, content),
                visibility=drawn.visibility,
                tainted=old.tainted or drawn.tainted,
            )
            return replace(canvas, elements=tuple(new if each is old else each for each in canvas.elements))
        case RemoveElement(id_):
            removed = _find(canvas, id_, drawn.visibility)
            others = replace(canvas, elements=tuple(each for each in canvas.elements if each is not removed))
            return replace(others, mode="list", focus="") if canvas.focus == removed.id else others
        case SetMode() as setting:
            return _set_mode(canvas, setting, drawn.visibility)


def apply_commands(canvas: Canvas, drawn: Iterable[Drawn]) -> Canvas:
    """Skip commands that no longer apply. An id taken by now is replaced, also in later commands."""
    renamed: dict[str, str] = {}
    for each in drawn:
        command = _rename(each.command, renamed)
        try:
            after = apply_command(canvas, replace(each, command=command))
        except CanvasRefused:
            continue
        if isinstance(command, Element) and command.id:
            renamed[command.id] = after.elements[-1].id
        canvas = after
    return canvas


def _set_mode(canvas: Canvas, setting: SetMode, visibility: Visibility) -> Canvas:
    if setting.mode == "clear":
        return Canvas()
    if setting.mode == "focus":
        return replace(canvas, mode="focus", focus=_find(canvas, setting.focus, visibility).id)
    return replace(canvas, mode=setting.mode, focus="")


def _rename(command: CanvasCommand, names: dict[str, str]) -> CanvasCommand:
    match command:
        case UpdateCard(id_) | RemoveElement(id_) if id_ in names:
            return replace(command, id=names[id_])
        case SetMode(focus=focus) if focus in names:
            return replace(command, focus=names[focus])
        case _:
            return command


def _add(canvas: Canvas, adding: Element, drawn: Drawn) -> Canvas:
    if len(canvas.visible_in(drawn.visibility).elements) >= MAX_ELEMENTS:
        raise CanvasRefused(f"The canvas is full: {MAX_ELEMENTS} elements at most. Remove one first.")
    made = replace(adding, id=_free_id(canvas, adding.id, kind_of(adding)))
    made = replace(_clean(made), visibility=drawn.visibility, tainted=drawn.tainted)
    return replace(canvas, elements=(*canvas.elements, made))


def _update(element: Element, title: str | None, content: str | None) -> Element:
    if title is None and content is None:
        raise CanvasRefused("Say what to change: title, content, or both.")
    if title is not None:
        element = replace(element, title=title)
    if content is not None:
        if isinstance(element, Chart):
            raise CanvasRefused("Of a chart the title alone can be changed: remove it and add it again.")
        element = replace(element, content=content)
    return _clean(element)


def _find(canvas: Canvas, id_: str, visibility: Visibility) -> Element:
    visible = canvas.visible_in(visibility)
    found = visible.element(id_) or visible.element(_as_id(id_))
    if found is None:
        ids = ", ".join(each.id for each in visible.elements)
        raise CanvasRefused(f"No such element is up. Up are: {ids}." if ids else "The canvas is empty.")
    return found


def _free_id(canvas: Canvas, wanted: str, kind: str) -> str:
    taken = {each.id for each in canvas.elements}
    base = _as_id(wanted)
    if base and base not in taken:
        return base
    number = 2 if base else 1
    while (made := f"{(base or kind)[: MAX_ID - len(f'-{number}')]}-{number}") in taken:
        number += 1
    return made


def _as_id(wanted: str) -> str:
    return _NOT_IN_IDS.sub("-", wanted.casefold())[: MAX_ID + 1].strip("-")[:MAX_ID].strip("-")
