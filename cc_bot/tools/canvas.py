"""The model's hands on the canvas: put up, change, take down, lay out.

They draw on the turn's draft, and await nothing: what a model asks for at once is done in that order. Their
schemas are part of every request, so they say no more than a model needs; it hears of a limit when it breaks
one.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    CanvasCommand,
    CanvasRefused,
    ChartKind,
    RemoveElement,
    Series,
    SetMode,
    ShowText,
    UpdateCard,
)
from cc_bot.tools.registry import (
    PROPOSED,
    InvalidToolCall,
    ToolContext,
    must_propose,
    tool,
)


def _as_text(value: object) -> object:
    """`2026` is meant as "2026"."""
    return str(value) if isinstance(value, int | float) else value


def _as_texts(values: object) -> object:
    return [_as_text(value) for value in values] if isinstance(values, list) else values


class _Line(BaseModel):
    name: str = ""
    values: list[float]


def _as_lines(series: object) -> object:
    """Models leave out the list around one series, or all but its numbers."""
    if isinstance(series, dict):
        return [series]
    if isinstance(series, list) and series and not any(isinstance(each, dict | list) for each in series):
        return [{"values": series}]
    return series


_SERIES_SCHEMA: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "values": {"type": "array", "items": {"type": "number"}},
        },
        "required": ["name", "values"],
    },
}

Id = Annotated[str, BeforeValidator(_as_text)]
Lines = Annotated[list[_Line], BeforeValidator(_as_lines), WithJsonSchema(_SERIES_SCHEMA)]
Labels = Annotated[list[str], BeforeValidator(_as_texts)]


@tool(writes=True, about="canvas")
async def canvas_add_card(
    context: ToolContext,
    title: str,
    content: str,
    id: Id | None = None,  # noqa: A002 - what the spec and models call it
) -> Mapping[str, Any]:
    """Put a card on the canvas, which stays in the user's sight: what they want shown, or will look at again.
    The result tells its id."""
    return _added(context, AddCard(title, content, id or ""))


@tool(writes=True, about="canvas")
async def canvas_show_text(
    context: ToolContext,
    content: str,
    title: str | None = None,
    id: Id | None = None,  # noqa: A002 - as above
) -> Mapping[str, Any]:
    """Put a text on the canvas."""
    return _added(context, ShowText(content, title or "", id or ""))


@tool(writes=True, about="canvas")
async def canvas_add_chart(
    context: ToolContext,
    *,
    title: str,
    kind: ChartKind,
    labels: Labels,
    series: Lines,
    id: Id | None = None,  # noqa: A002 - as above
) -> Mapping[str, Any]:
    """Put a chart on the canvas: a value for each label; a pie takes one series."""
    lines = tuple(Series(each.name, tuple(each.values)) for each in series)
    return _added(context, AddChart(title, kind, tuple(labels), lines, id or ""))


@tool(writes=True, about="canvas")
async def canvas_update_card(
    context: ToolContext,
    id: Id,  # noqa: A002 - as above
    title: str | None = None,
    content: str | None = None,
) -> Mapping[str, Any]:
    """Change a card or text; of a chart, its title."""
    return _up(context, _draw(context, UpdateCard(id, title or None, content or None)))


@tool(writes=True, about="canvas")
async def canvas_remove_element(context: ToolContext, id: Id) -> Mapping[str, Any]:  # noqa: A002 - as above
    """Take one element off the canvas."""
    return _up(context, _draw(context, RemoveElement(id)))


@tool(writes=True, about="canvas")
async def canvas_set_mode(
    context: ToolContext,
    mode: Literal["clear", "list", "board", "focus"],
    focus: Annotated[Id | None, Field(description="The id of that element.")] = None,
) -> Mapping[str, Any]:
    """Lay out the canvas: list, board (cards side by side) or focus (one element alone); or clear it."""
    return _up(context, _draw(context, SetMode(mode, focus or "")))


def _draw(context: ToolContext, command: CanvasCommand) -> Canvas:
    if context.canvas is None:
        raise InvalidToolCall("There is no canvas here.")
    propose = must_propose(context, lambda: False)
    try:
        return context.canvas.apply(command, propose=propose)
    except CanvasRefused as refused:
        raise InvalidToolCall(str(refused)) from None


def _added(context: ToolContext, command: AddCard | ShowText | AddChart) -> Mapping[str, Any]:
    return _told(context, {"id": _draw(context, command).elements[-1].id})


def _up(context: ToolContext, canvas: Canvas) -> Mapping[str, Any]:
    return _told(context, {"up": [each.id for each in canvas.elements]})


def _told(context: ToolContext, drawn: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**drawn, **PROPOSED} if context.tainted else drawn
