"""What is on a canvas, in one line an element, as the model is told on every turn.

Values are JSON strings: however a title reads, it stays on its line and within its quotes. Long ones are cut:
this tells what is up, and every token of it is paid for again with each question.
"""

import json
from typing import Final

from cc_bot.domain.canvas import Canvas, Card, Chart, Element, Text

SHOWN: Final = 80
"""Characters of a content."""


def canvas_lines(canvas: Canvas) -> str:
    lines = [_line(each) for each in canvas.elements]
    if canvas.mode != "list":
        focus = f" focus={_quoted(canvas.focus)}" if canvas.focus else ""
        lines.append(f"mode={_quoted(canvas.mode)}{focus}")
    return "\n".join(lines)


def _line(element: Element) -> str:
    match element:
        case Card(id_, title, content):
            kind, told = "card", {"title": title, "content": content}
        case Text(id_, content, title):
            kind, told = "text", {"title": title, "content": content} if title else {"content": content}
        case Chart(id_, title, type_):
            kind, told = "chart", {"title": title, "type": type_}
    values = ", ".join(f"{name}={_quoted(value)}" for name, value in told.items())
    return f"- [{kind}] id={_quoted(id_)}: {values}"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    cut = line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
    return json.dumps(cut, ensure_ascii=False)
