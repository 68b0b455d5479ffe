"""Tools that draw on the canvas. They never await, so that parallel calls apply in order."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from cc_bot.chat.consent import changed_line, check_unchanged, describe, needs_approval, on_one_line, propose
from cc_bot.chat.tools import InvalidToolCall, ToolContext, ToolOutcome, succeeded, tool
from cc_bot.domain.chart import Chart, ChartKind, Series
from cc_bot.domain.proposal import ProposalLine
from cc_bot.features.canvas.drawing import CanvasDraft
from cc_bot.features.canvas.model import (
    Canvas,
    CanvasCommand,
    Card,
    CommandRefused,
    Element,
    RemoveElement,
    SetMode,
    Text,
    UpdateCard,
)
from cc_bot.features.canvas.texts import CanvasProposalTexts
from cc_bot.texts import Texts, texts
from cc_bot.texts.proposal import ProposalTexts


class _SeriesInput(BaseModel):
    name: str = ""
    values: list[float]


def _as_series_list(series: object) -> object:
    if isinstance(series, dict):
        return [series]
    if isinstance(series, list) and series and not any(isinstance(each, dict | list) for each in series):
        return [{"values": series}]
    return series


_SERIES_SCHEMA: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "values": {"type": "array", "items": {"type": "number"}}},
        "required": ["name", "values"],
    },
}

Id = Annotated[str, Field(coerce_numbers_to_str=True)]
SeriesList = Annotated[list[_SeriesInput], BeforeValidator(_as_series_list), WithJsonSchema(_SERIES_SCHEMA)]
Labels = list[Annotated[str, Field(coerce_numbers_to_str=True)]]


@tool(writes=True, subject="canvas")
async def canvas_add_card(
    context: ToolContext,
    title: str,
    content: str,
    id: Id | None = None,  # noqa: A002 - what the spec and models call it
) -> ToolOutcome:
    """Put a card on the canvas, which stays in the user's sight: what they want shown, or will look at again.
    The result tells its id."""
    return _draw(context, "canvas_add_card", Card(id or "", title, content))


@tool(writes=True, subject="canvas")
async def canvas_show_text(
    context: ToolContext,
    content: str,
    title: str | None = None,
    id: Id | None = None,  # noqa: A002 - as above
) -> ToolOutcome:
    """Put a text on the canvas."""
    return _draw(context, "canvas_show_text", Text(id or "", content, title or ""))


@tool(writes=True, subject="canvas")
async def canvas_add_chart(
    context: ToolContext,
    *,
    title: str,
    kind: ChartKind,
    labels: Labels,
    series: SeriesList,
    x_title: str | None = None,
    y_title: str | None = None,
    id: Id | None = None,  # noqa: A002 - as above
) -> ToolOutcome:
    """Put a chart on the canvas: a value for each label; a pie takes one series, scatter numbers as labels.
    Axis titles name what is counted and its unit."""
    chart_series = tuple(Series(each.name, tuple(each.values)) for each in series)
    chart = Chart(id or "", title, kind, tuple(labels), chart_series)
    chart = replace(chart, x_title=x_title or "", y_title=y_title or "")
    return _draw(context, "canvas_add_chart", chart)


@tool(writes=True, subject="canvas")
async def canvas_update_card(
    context: ToolContext,
    id: Id,  # noqa: A002 - as above
    title: str | None = None,
    content: str | None = None,
) -> ToolOutcome:
    """Change a card or text; of a chart, its title."""
    return _draw(context, "canvas_update_card", UpdateCard(id, title or None, content or None))


@tool(writes=True, subject="canvas")
async def canvas_remove_element(context: ToolContext, id: Id) -> ToolOutcome:  # noqa: A002 - as above
    """Take one element off the canvas."""
    return _draw(context, "canvas_remove_element", RemoveElement(id))


@tool(writes=True, subject="canvas")
async def canvas_set_mode(
    context: ToolContext,
    mode: Literal["clear", "list", "board", "focus"],
    focus: Annotated[Id | None, Field(description="The id of that element.")] = None,
) -> ToolOutcome:
    """Lay out the canvas: list, board (cards side by side) or focus (one element alone); or clear it."""
    return _draw(context, "canvas_set_mode", SetMode(mode, focus or ""))


def _draw(context: ToolContext, tool_name: str, command: CanvasCommand) -> ToolOutcome:
    """Apply or propose a command. In both cases later calls see the changed canvas."""
    draft = context.canvas
    if not isinstance(draft, CanvasDraft):
        raise InvalidToolCall("There is no canvas here.")
    before = draft.canvas
    expected = _expected_values(draft, command, approved=context.approved_values is not None)
    check_unchanged(context, **expected)
    must_propose = needs_approval(context, lambda: False)
    try:
        canvas = draft.apply(command, propose=must_propose)
    except CommandRefused as refused:
        raise InvalidToolCall(str(refused)) from None
    fields: dict[str, Any] = {"up": [each.id for each in canvas.elements]}
    if isinstance(command, Element):
        command = replace(command, id=canvas.elements[-1].id)
        fields = {"id": command.id}
    if not must_propose:
        return succeeded(fields)
    words = texts(context.locale)
    shown = describe(words[CanvasProposalTexts].draw, *_describe_command(command, before, words))
    fields_of_turn = ("visibility", "tainted")
    arguments = {name: value for name, value in asdict(command).items() if name not in fields_of_turn}
    return propose(context, tool_name, arguments, shown, expected=expected, result=fields)


def _expected_values(draft: CanvasDraft, command: CanvasCommand, *, approved: bool) -> Mapping[str, object]:
    """Return values that must be equal at approval. An approved `clear` must not remove hidden elements."""
    canvas = draft.canvas
    match command:
        case UpdateCard(id_) | RemoveElement(id_):
            element = canvas.find(id_)
            return {"element": asdict(element) if element else None}
        case SetMode("clear"):
            elements = [asdict(each) for each in canvas.elements]
            return {"elements": elements, "hides": approved and draft.hides_elements}
        case _:
            return {}


def _describe_command(command: CanvasCommand, canvas: Canvas, words: Texts) -> Iterator[ProposalLine]:
    sentences, drawing = words[ProposalTexts], words[CanvasProposalTexts]
    match command:
        case Card(_, title, content):
            yield _title_line(drawing.draw_card, title, content)
        case Text(_, content, title):
            yield _title_line(drawing.draw_titled_text if title else drawing.draw_text, title, content)
        case Chart(_, title, kind):
            yield _title_line(drawing.draw_chart[kind], title, command)
        case UpdateCard(id_, title, content):
            old = canvas.find(id_)
            yield _title_line(drawing.draw_update, _name(id_, canvas))
            if title is not None:
                before = on_one_line(old.title if old else "") or None
                yield from changed_line(sentences.title_field, before, on_one_line(title), words)
            if content is not None:
                yield ProposalLine(sentences.old_text, below=_content(old))
                yield ProposalLine(sentences.new_text, below=content)
        case RemoveElement(id_):
            yield _removal_line(id_, canvas, words)
        case SetMode("clear"):
            yield ProposalLine(drawing.draw_clear)
            yield from (_removal_line(each.id, canvas, words) for each in canvas.elements)
        case SetMode(mode, focus):
            yield _title_line(drawing.layout[mode], _name(focus, canvas))


def _title_line(template: str, title: str, below: str | Chart | None = None) -> ProposalLine:
    return ProposalLine(template, {"title": on_one_line(title)}, below)


def _removal_line(id_: str, canvas: Canvas, words: Texts) -> ProposalLine:
    return _title_line(words[CanvasProposalTexts].draw_remove, _name(id_, canvas), _content(canvas.find(id_)))


def _name(id_: str, canvas: Canvas) -> str:
    element = canvas.find(id_)
    return (element.title if element else "") or id_


def _content(element: Element | None) -> str | Chart | None:
    return element if element is None or isinstance(element, Chart) else element.content
