"""A pie, and beside it what its slices are: in the same order, clockwise from the top.

The order and the shares written in the slices tell them apart for whoever does not see the colours.
"""

import math
from itertools import accumulate
from typing import Final

from matplotlib.patches import Wedge

from cc_bot.charts import colours
from cc_bot.charts.lettering import shortened
from cc_bot.charts.picture import font
from cc_bot.charts.picture.sheet import EDGE, HEIGHT, LINE, SIGN, SMALL, WIDTH, Sheet
from cc_bot.charts.table import percent, short, slices
from cc_bot.domain.canvas import Chart
from cc_bot.domain.locale import Locale
from cc_bot.texts import texts

_RADIUS: Final = HEIGHT / 2 - EDGE
_MIDDLE: Final = EDGE + _RADIUS
_LIST: Final = 2 * (EDGE + _RADIUS) + 20
"""Where the list of slices begins."""
_HIGHEST_ROW: Final = 92
_TWO_LINES_FROM: Final = 80
_ROOM_FOR_A_SHARE: Final = 0.06


def draw_pie(sheet: Sheet, chart: Chart, locale: Locale) -> None:
    """One series without negative numbers, of which one at least is more than nothing."""
    parts = slices(chart.labels, chart.series[0].values, texts(locale).chart.others)
    total = sum(part.value for part in parts)
    _draw_slices(sheet, [part.value / total for part in parts])
    row = min(_HIGHEST_ROW, 2 * _RADIUS / len(parts))
    y = (HEIGHT - row * len(parts)) / 2
    for part, colour in zip(parts, colours.SLICES, strict=False):
        lines = shortened(
            part.label, WIDTH - EDGE - _LIST - SIGN, font.width, most_lines=2 if row >= _TWO_LINES_FROM else 1
        )
        numbers_at = y + row / 2 + len(lines) * LINE / 2
        sheet.sign(_LIST + 8, numbers_at - len(lines) * LINE, colour)
        sheet.write("\n".join(lines), _LIST + SIGN, numbers_at - LINE * (len(lines) + 1) / 2)
        shown = f"{short(part.value, locale)}  ({percent(part.value, total)})"
        sheet.write(shown, _LIST + SIGN, numbers_at, size=SMALL, colour=colours.SOFT)
        y += row


def _draw_slices(sheet: Sheet, shares: list[float]) -> None:
    axes = sheet.plot(EDGE, EDGE, EDGE + 2 * _RADIUS, EDGE + 2 * _RADIUS)
    axes.set_xlim(-1, 1)
    axes.set_ylim(-1, 1)
    ends = list(accumulate(shares))
    for share, end, colour in zip(shares, ends, colours.SLICES, strict=False):
        wedge = Wedge((0, 0), 1, 90 - 360 * end, 90 - 360 * (end - share), facecolor=colour)
        if share < 1:
            wedge.set(edgecolor=colours.GROUND, linewidth=2)
        axes.add_patch(wedge)
        if share >= _ROOM_FOR_A_SHARE:
            angle = 2 * math.pi * (end - share / 2)
            outwards = 0.68 * _RADIUS if share < 1 else 0
            x = _MIDDLE + outwards * math.sin(angle)
            y = _MIDDLE - outwards * math.cos(angle)
            sheet.write(percent(share, 1), x, y, align="center", colour=colours.GROUND)
