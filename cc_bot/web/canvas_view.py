"""A canvas as HTML, for the page and its socket."""

import json
from html import escape
from typing import Final

from cc_bot.charts.svg import chart_svg
from cc_bot.charts.table import format_exactly
from cc_bot.domain.canvas import Canvas, Card, Chart, Element, Text
from cc_bot.domain.session import SessionKey
from cc_bot.texts import Texts
from cc_bot.web.markdown import to_html
from cc_bot.web.page import make_environment, sign_forms

_ENVIRONMENT: Final = make_environment()


def canvas_message(key: SessionKey, canvas: Canvas, words: Texts) -> str:
    """Return the whole canvas as a JSON message."""
    parts = _ENVIRONMENT.get_template("canvas_parts.html").make_module({"web": words.web})

    def html(macro: str, *values: object) -> str:
        return sign_forms(getattr(parts, macro)(*values, key.channel_id, key.agent).strip(), key.user_id)

    elements = [
        {"id": each.id, "html": html("element", each, body_of(each, words))} for each in canvas.in_sight
    ]
    message = {"agent": key.agent, "mode": canvas.mode, "elements": elements, "below": html("below", canvas)}
    return json.dumps(message, ensure_ascii=False)


def body_of(element: Element, words: Texts) -> str:
    """Return an element as HTML: Markdown, or a chart with a table of its numbers."""
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
