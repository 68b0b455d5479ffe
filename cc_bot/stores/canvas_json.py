"""A canvas as stored: a JSON object with a list of elements."""

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic import TypeAdapter

from cc_bot.domain.canvas import Canvas, Card, Chart, Text

EMPTY_CANVAS: Final = '{"elements":[]}'

_KINDS: Final[Mapping[str, type[Card] | type[Text] | type[Chart]]] = {
    "card": Card,
    "text": Text,
    "chart": Chart,
}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}
_ADAPTERS: Final[Mapping[str, TypeAdapter[Any]]] = {name: TypeAdapter(kind) for name, kind in _KINDS.items()}


def canvas_to_json(canvas: Canvas) -> str:
    """Return canonical JSON; `EMPTY_CANVAS` for an unused canvas."""
    elements = []
    for each in canvas.elements:
        name = _NAMES[type(each)]
        fields = _ADAPTERS[name].dump_python(each, mode="json", exclude_defaults=True)
        elements.append({"type": name, **fields})
    state: dict[str, Any] = {"elements": elements}
    if canvas.mode != "list":
        state["mode"] = canvas.mode
    if canvas.focus:
        state["focus"] = canvas.focus
    return json.dumps(state, ensure_ascii=False, separators=(",", ":"))


def canvas_from_json(stored: str) -> Canvas:
    """Return the canvas; an empty one for a damaged row, which must not block a conversation."""
    try:
        state = json.loads(stored)
        elements = tuple(_ADAPTERS[each["type"]].validate_python(each) for each in state["elements"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return Canvas()
    return Canvas(elements, state.get("mode", "list"), state.get("focus", ""))
