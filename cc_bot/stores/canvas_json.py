"""A canvas in its column: a JSON object with a list of elements. Invalid elements are skipped, so that a
damaged row does not block a conversation; valid ones are within all limits."""

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from cc_bot.domain.canvas import (
    MAX_ELEMENTS,
    Canvas,
    CanvasRefused,
    Card,
    Chart,
    Element,
    Mode,
    Text,
    check_element,
)

EMPTY_CANVAS: Final = '{"elements":[]}'

_TYPES: Final[Mapping[str, TypeAdapter[Card] | TypeAdapter[Text] | TypeAdapter[Chart]]] = {
    "card": TypeAdapter(Card),
    "text": TypeAdapter(Text),
    "chart": TypeAdapter(Chart),
}
_MODES: Final[Mapping[str, Mode]] = {"list": "list", "board": "board", "focus": "focus"}


def canvas_to_json(canvas: Canvas) -> str:
    """Return a canonical JSON text; `EMPTY_CANVAS` for an unused canvas."""
    state: dict[str, Any] = {"elements": [_to_fields(each) for each in canvas.elements]}
    if canvas.mode != "list":
        state["mode"] = canvas.mode
    if canvas.focus:
        state["focus"] = canvas.focus
    return json.dumps(state, ensure_ascii=False, separators=(",", ":"))


def canvas_from_json(stored: str) -> Canvas:
    try:
        state = json.loads(stored)
    except (ValueError, RecursionError):
        return Canvas()
    if not isinstance(state, dict) or not isinstance(fields := state.get("elements"), list):
        return Canvas()
    elements = dict[str, Element]()
    for each in fields:
        if (element := _element(each)) and len(elements) < 2 * MAX_ELEMENTS:
            elements.setdefault(element.id, element)
    shown, mode, focus = tuple(elements.values()), _mode(state.get("mode")), state.get("focus")
    if mode != "focus":
        return Canvas(shown, mode)
    return Canvas(shown, mode, focus) if isinstance(focus, str) and focus in elements else Canvas(shown)


def _mode(stored: object) -> Mode:
    return _MODES.get(stored, "list") if isinstance(stored, str) else "list"


def _to_fields(element: Element) -> dict[str, Any]:
    match element:
        case Card():
            fields: dict[str, Any] = {
                "type": "card",
                "id": element.id,
                "title": element.title,
                "content": element.content,
            }
        case Text():
            fields = {"type": "text", "id": element.id, "title": element.title, "content": element.content}
        case Chart():
            series = [{"name": each.name, "values": list(each.values)} for each in element.series]
            fields = {
                "type": "chart",
                "id": element.id,
                "title": element.title,
                "kind": element.kind,
                "labels": list(element.labels),
                "series": series,
            }
    if element.visibility != "public":
        fields["visibility"] = element.visibility
    if element.tainted:
        fields["tainted"] = True
    return fields


def _element(fields: Any) -> Element | None:
    """Return the element; None if it is invalid."""
    if not isinstance(fields, dict) or not isinstance(type_ := fields.get("type"), str):
        return None
    try:
        return check_element(_TYPES[type_].validate_python(fields))
    except (KeyError, ValidationError, CanvasRefused):
        return None
