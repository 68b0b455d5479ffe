"""What a command does to a canvas: a canvas and a command go in, the next canvas comes out.

A public turn sees, names and changes public elements only. What a private turn draws or changes is private
from then on. `clear` takes everything down, whoever asks.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from cc_bot.domain import canvas_limits as limits
from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    CanvasCommand,
    Card,
    Chart,
    Drawn,
    Element,
    RemoveElement,
    SetMode,
    ShowText,
    Text,
    UpdateCard,
)
from cc_bot.domain.canvas_limits import MAX_ELEMENTS, MAX_ID, CanvasRefused
from cc_bot.domain.message import Visibility

__all__ = ["CanvasRefused", "reduce", "reduce_all"]

_OTHER: Final = re.compile("[^a-z0-9]+")

Adding = AddCard | ShowText | AddChart


def reduce(canvas: Canvas, drawn: Drawn) -> Canvas:
    """The canvas after the command; what it adds is its last element. Raises CanvasRefused."""
    match drawn.command:
        case AddCard() | ShowText() | AddChart() as adding:
            return _with(canvas, adding, drawn)
        case UpdateCard(id_, title, content):
            old = _seen(canvas, id_, drawn.visibility)
            new = replace(
                _updated(old, title, content),
                visibility=drawn.visibility,
                tainted=old.tainted or drawn.tainted,
            )
            return replace(canvas, elements=tuple(new if each is old else each for each in canvas.elements))
        case RemoveElement(id_):
            gone = _seen(canvas, id_, drawn.visibility)
            left = replace(canvas, elements=tuple(each for each in canvas.elements if each is not gone))
            return replace(left, mode="list", focus="") if canvas.focus == gone.id else left
        case SetMode() as setting:
            return _laid_out(canvas, setting, drawn.visibility)


def reduce_all(canvas: Canvas, drawn: Iterable[Drawn]) -> Canvas:
    """The canvas after commands that were given to an older state of it.

    What no longer applies is left out. Where an id is taken by now, the element gets another one, and what
    was said of it later is said of that one.
    """
    renamed: dict[str, str] = {}
    for each in drawn:
        command = _renamed(each.command, renamed)
        try:
            after = reduce(canvas, replace(each, command=command))
        except CanvasRefused:
            continue
        if isinstance(command, AddCard | ShowText | AddChart) and command.id:
            renamed[command.id] = after.elements[-1].id
        canvas = after
    return canvas


def _laid_out(canvas: Canvas, setting: SetMode, visibility: Visibility) -> Canvas:
    if setting.mode == "clear":
        return Canvas()
    if setting.mode == "focus":
        return replace(canvas, mode="focus", focus=_seen(canvas, setting.focus, visibility).id)
    return replace(canvas, mode=setting.mode, focus="")


def _renamed(command: CanvasCommand, names: dict[str, str]) -> CanvasCommand:
    match command:
        case UpdateCard(id_) | RemoveElement(id_) if id_ in names:
            return replace(command, id=names[id_])
        case SetMode(focus=focus) if focus in names:
            return replace(command, focus=names[focus])
        case _:
            return command


def _with(canvas: Canvas, adding: Adding, drawn: Drawn) -> Canvas:
    if len(canvas.seen(drawn.visibility).elements) >= MAX_ELEMENTS:
        raise CanvasRefused(f"The canvas is full: {MAX_ELEMENTS} elements at most. Remove one first.")
    match adding:
        case AddCard(title, content):
            made: Element = limits.card(_free(canvas, adding.id, "card"), title, content)
        case ShowText(content, title):
            made = limits.text(_free(canvas, adding.id, "text"), title, content)
        case AddChart(title, kind, labels, series):
            made = limits.chart(_free(canvas, adding.id, "chart"), title, kind, labels, series)
    made = replace(made, visibility=drawn.visibility, tainted=drawn.tainted)
    return replace(canvas, elements=(*canvas.elements, made))


def _updated(element: Element, title: str | None, content: str | None) -> Element:
    if title is None and content is None:
        raise CanvasRefused("Say what to change: title, content, or both.")
    match element:
        case Card(id_):
            return limits.card(id_, _or(title, element.title), _or(content, element.content))
        case Text(id_):
            return limits.text(id_, _or(title, element.title), _or(content, element.content))
        case Chart(id_, _, kind, labels, series):
            if content is not None:
                raise CanvasRefused("Of a chart the title alone can be changed: remove it and add it anew.")
            return limits.chart(id_, _or(title, element.title), kind, labels, series)


def _or(new: str | None, old: str) -> str:
    return old if new is None else new


def _seen(canvas: Canvas, id_: str, visibility: Visibility) -> Element:
    """The element of this id, as loosely as models write one."""
    seen = canvas.seen(visibility)
    found = seen.element(id_) or seen.element(_plain(id_))
    if found is None:
        ids = ", ".join(each.id for each in seen.elements)
        raise CanvasRefused(f"No such element is up. Up are: {ids}." if ids else "The canvas is empty.")
    return found


def _free(canvas: Canvas, wanted: str, kind: str) -> str:
    """The wanted id, or with a number where that is taken, be it by what the turn does not see; without one
    it is made from the kind."""
    taken = {each.id for each in canvas.elements}
    base = _plain(wanted)
    if base and base not in taken:
        return base
    number = 2 if base else 1
    while (made := f"{(base or kind)[: MAX_ID - len(f'-{number}')]}-{number}") in taken:
        number += 1
    return made


def _plain(wanted: str) -> str:
    return _OTHER.sub("-", wanted.casefold())[: MAX_ID + 1].strip("-")[:MAX_ID].strip("-")
