"""A sheet to draw on whose places are pixels, counted from the upper left."""

from typing import Any, Final, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D

from cc_bot.charts import colours
from cc_bot.charts.picture import font

WIDTH: Final = 800
HEIGHT: Final = 450
DPI: Final = 100
EDGE: Final = 18
"""What stays empty all around."""
LINE: Final = 26
"""From one line of text to the next, in the usual size."""
SMALL: Final = 17
SIGN: Final = 26
"""The coloured sign before a name, with the blank after it."""
_TO_BASELINE: Final = 0.36
"""Of an em: from the middle of a line to its baseline, so that a p and an o stand on one line."""

Align = Literal["left", "center", "right"]


class Sheet:
    def __init__(self, figure: Figure) -> None:
        self._figure = figure

    def plot(self, left: float, top: float, right: float, bottom: float) -> Axes:
        """An empty place for matplotlib to plot in."""
        box = (left / WIDTH, 1 - bottom / HEIGHT, (right - left) / WIDTH, (bottom - top) / HEIGHT)
        axes = self._figure.add_axes(box)
        axes.set_axis_off()
        return axes

    def write(
        self,
        text: str,
        x: float,
        y: float,
        *,
        size: float = font.SIZE,
        colour: str = colours.INK,
        align: Align = "left",
    ) -> None:
        """Lines of text whose middle is at the height y; `align` says what of them is at x."""
        lines = text.split("\n")
        first = y - (len(lines) - 1) / 2 * LINE + _TO_BASELINE * size
        for at, line in enumerate(lines):
            self._letter(line, x, first + at * LINE, size, color=colour, ha=align, va="baseline")

    def write_turned(self, text: str, x: float, y: float, degrees: float) -> None:
        """A line of text that ends at x and y."""
        how = {"rotation": degrees, "rotation_mode": "anchor", "ha": "right", "va": "center"}
        self._letter(text, x, y, font.SIZE, color=colours.INK, **how)

    def _letter(self, text: str, x: float, y: float, size: float, **how: Any) -> None:
        face = FontProperties(fname=str(font.path()), size=size * 72 / DPI)
        self._figure.text(x / WIDTH, 1 - y / HEIGHT, text, fontproperties=face, **how)

    def sign(self, x: float, y: float, colour: str, shape: str = "s") -> None:
        """What stands for a series or slice: one of matplotlib's markers, its middle at x and y."""
        mark = Line2D([x / WIDTH], [1 - y / HEIGHT], color=colour, marker=shape, markersize=11, linewidth=0)
        mark.set_transform(self._figure.transFigure)
        self._figure.add_artist(mark)
