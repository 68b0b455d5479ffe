"""The canvas on a terminal: a panel for each element, side by side in the mode `board` if there is room."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cc_bot.charts import table
from cc_bot.domain.canvas import Canvas, Chart, Element
from cc_bot.terminal.markdown import ChatMarkdown
from cc_bot.terminal.printable import printable
from cc_bot.terminal.tables import NARROW
from cc_bot.terminal.view import element_title

_ABREAST = 3
_FRAME = 4
"""Cells that a panel's border and the blank within it take from a line."""


def canvas_panels(canvas: Canvas, width: int) -> RenderableType:
    """What is in sight, on a terminal of so many cells."""
    elements = canvas.in_sight
    if canvas.mode != "board" or width < NARROW or len(elements) < 2:
        return Group(*(_panel(element, width) for element in elements))
    abreast = min(_ABREAST, len(elements), width // (NARROW // 2))
    return _board(elements, abreast, width)


def _board(elements: Sequence[Element], abreast: int, width: int) -> Table:
    board = Table.grid(expand=True)
    for _ in range(abreast):
        board.add_column(ratio=1)
    for start in range(0, len(elements), abreast):
        board.add_row(*(_panel(element, width // abreast) for element in elements[start : start + abreast]))
    return board


def _panel(element: Element, width: int) -> Panel:
    if isinstance(element, Chart):
        body: RenderableType = Text(printable(table(element, width - _FRAME)), overflow="fold")
    else:
        body = ChatMarkdown(printable(element.content))
    title = Text(element_title(element), style="bold")
    return Panel(body, title=title if title else None, title_align="left", border_style="dim")
