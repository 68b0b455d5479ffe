"""Commands that a page is sent of a canvas, under the names that the model's tools have.

A page begins with all of a canvas (`fill`) and goes on with what changes (`changes`). Each element comes with
its `html`, which is made here: the page writes nothing of a model's by itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any, Final

from cc_bot.charts.svg import chart_svg
from cc_bot.charts.table import format_exactly
from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    CanvasCommand,
    CanvasRefused,
    Card,
    Chart,
    Drawn,
    Element,
    RemoveElement,
    SetMode,
    ShowText,
    Text,
    UpdateCard,
    reduce,
)
from cc_bot.texts import Texts
from cc_bot.web.markdown import to_html

Command = Mapping[str, Any]
"""Ready for JSON."""
CLEAR: Final[Command] = {"command": "canvas_set_mode", "mode": "clear"}


def fill(canvas: Canvas, revision: int, words: Texts) -> list[Command]:
    """Return what shows a canvas to a page that shows anything else. An element in focus has to be there
    first."""
    before, after = ([], [_mode(canvas)]) if canvas.mode == "focus" else ([_mode(canvas)], [])
    elements = [_added(each, words) for each in canvas.elements]
    return [CLEAR, *before, *elements, *after, _shown(revision)]


def changes(old: Canvas, new: Canvas, revision: int, words: Texts) -> list[Command]:
    """Return what makes the old canvas the new one, as little as there is; all of the new one where that is
    not reached by commands alone, another order say."""
    drawn = [*_steps(old, new)]
    if _replay(old, drawn) != new:
        return fill(new, revision, words)
    return [*(_written(each, new, words) for each in drawn), _shown(revision)]


def body_of(element: Element, words: Texts) -> str:
    """Return an element's body as HTML: Markdown, or a chart with its numbers below."""
    match element:
        case Card() | Text():
            return to_html(element.content)
        case Chart():
            return chart_svg(element, words.locale) + _numbers(element, words)


def _numbers(chart: Chart, words: Texts) -> str:
    heads = "".join(f'<th scope="col" class="number">{escape(each.name)}</th>' for each in chart.series)
    rows = []
    for at, label in enumerate(chart.labels):
        cells = "".join(f'<td class="number">{format_exactly(each.values[at])}</td>' for each in chart.series)
        rows.append(f'<tr><th scope="row">{escape(label)}</th>{cells}</tr>')
    named = any(each.name for each in chart.series)
    head = f"<thead><tr><td></td>{heads}</tr></thead>" if named else ""
    table = f"<table><caption>{escape(chart.title)}</caption>{head}<tbody>{''.join(rows)}</tbody></table>"
    return (
        f'<details class="numbers"><summary>{escape(words.web.numbers)}</summary>'
        f'<div class="scroll" tabindex="0">{table}</div></details>'
    )


def _steps(old: Canvas, new: Canvas) -> Iterator[Drawn]:
    """Yield what the model could have done: take down, change, put up, lay out."""
    before = {each.id: each for each in old.elements}
    after = {each.id: each for each in new.elements}
    stay = {id_ for id_ in before.keys() & after.keys() if _can_become(before[id_], after[id_])}
    for element in old.elements:
        if element.id not in stay:
            yield Drawn(RemoveElement(element.id), element.visibility)
    for element in old.elements:
        if element.id in stay and element != after[element.id]:
            changed = after[element.id]
            yield Drawn(_change(element, changed), changed.visibility, changed.tainted)
    for element in new.elements:
        if element.id not in stay:
            yield Drawn(_adding(element), element.visibility, element.tainted)
    left = _mode_left(old, stay)
    if (new.mode, new.focus) != left:
        shown = after[new.focus].visibility if new.focus else "private"
        yield Drawn(SetMode(new.mode, new.focus), shown)


def _mode_left(old: Canvas, stay: set[str]) -> tuple[str, str]:
    """Return how it is laid out once what does not stay is taken down."""
    return (old.mode, old.focus) if not old.focus or old.focus in stay else ("list", "")


def _can_become(old: Element, new: Element) -> bool:
    """Return whether a change can make one the other: what is private or tainted stays so."""
    if type(old) is not type(new) or old.tainted > new.tainted:
        return False
    if old.visibility == "private" and new.visibility == "public":
        return False
    if isinstance(old, Chart) and isinstance(new, Chart):
        return replace(old, title="", visibility="public", tainted=False) == replace(
            new, title="", visibility="public", tainted=False
        )
    return True


def _change(old: Element, new: Element) -> CanvasCommand:
    if isinstance(new, Chart) or isinstance(old, Chart):
        return UpdateCard(new.id, new.title)
    return UpdateCard(new.id, new.title, new.content)


def _adding(element: Element) -> CanvasCommand:
    match element:
        case Card(id_, title, content):
            return AddCard(title, content, id_)
        case Text(id_, content, title):
            return ShowText(content, title, id_)
        case Chart(id_, title, kind, labels, series):
            return AddChart(title, kind, labels, series, id_)


def _replay(canvas: Canvas, drawn: Sequence[Drawn]) -> Canvas | None:
    try:
        for each in drawn:
            canvas = reduce(canvas, each)
    except CanvasRefused:
        return None
    return canvas


def _written(drawn: Drawn, new: Canvas, words: Texts) -> Command:
    """Return a step as it is sent."""
    match drawn.command:
        case AddCard(id=id_) | ShowText(id=id_) | AddChart(id=id_):
            return _added(_element(new, id_), words)
        case UpdateCard(id_, title, content):
            body = {} if content is None else {"content": content}
            return {
                "command": "canvas_update_card",
                "id": id_,
                "title": title,
                **body,
                "visibility": drawn.visibility,
                "html": body_of(_element(new, id_), words),  # a chart's title stands in its picture too
            }
        case RemoveElement(id_):
            return {"command": "canvas_remove_element", "id": id_, "visibility": drawn.visibility}
        case SetMode():
            return {**_mode(new), "visibility": drawn.visibility}


def _element(canvas: Canvas, id_: str) -> Element:
    found = canvas.element(id_)
    if found is None:
        raise LookupError(id_)
    return found


def _added(element: Element, words: Texts) -> Command:
    """Return what puts an element up."""
    about: dict[str, Any] = {"id": element.id, "title": element.title}
    match element:
        case Card():
            about = {"command": "canvas_add_card", **about, "content": element.content}
        case Text():
            about = {"command": "canvas_show_text", **about, "content": element.content}
        case Chart():
            series = [{"name": each.name, "values": list(each.values)} for each in element.series]
            what = {"kind": element.kind, "labels": list(element.labels), "series": series}
            about = {"command": "canvas_add_chart", **about, **what}
    return {**about, "visibility": element.visibility, "html": body_of(element, words)}


def _mode(canvas: Canvas) -> Command:
    focus = {"focus": canvas.focus, "visibility": "private"} if canvas.focus else {}
    return {"command": "canvas_set_mode", "mode": canvas.mode, **focus}


def _shown(revision: int) -> Command:
    return {"command": "canvas_shown", "revision": revision}
