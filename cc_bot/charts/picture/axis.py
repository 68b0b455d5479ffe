"""Lines, and bars that stand or, where their labels are too long to stand below them, lie.

Bars begin at zero, so that their lengths are as their numbers are; lines show the range in which something
moves. Series differ in colour and lines in the shape of their points too.
"""

from dataclasses import dataclass
from typing import Final

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cc_bot.charts import colours, lettering
from cc_bot.charts.lettering import shortened
from cc_bot.charts.picture import font
from cc_bot.charts.picture.sheet import EDGE, HEIGHT, LINE, SIGN, SMALL, WIDTH, Sheet
from cc_bot.charts.table import scale, short
from cc_bot.domain.canvas import Chart
from cc_bot.domain.locale import Locale

_POINTS: Final = "os^Dvp"
_MOST_WRITTEN: Final = 12
"""So many bars at most have their number written at their end."""
_MOST_LYING: Final = 12
_WIDEST_BESIDE: Final = 280
"""Pixels that labels beside lying bars may take."""
_GROUP: Final = 0.75
"""How much of its place a label's group of bars takes."""
_SMALLER: Final = SMALL / font.SIZE


@dataclass(frozen=True, slots=True)
class _Scale:
    """The axis of numbers."""

    low: float
    high: float
    ticks: tuple[float, ...]
    written: tuple[str, ...]

    def at(self, value: float) -> float:
        """0 at its lower end, 1 at its upper one."""
        return (value - self.low) / (self.high - self.low)


def draw_axis(sheet: Sheet, chart: Chart, locale: Locale) -> None:
    top = _draw_legend(sheet, chart)
    scale = _scale(chart, locale)
    if chart.kind == "line":
        _draw_lines(_draw_standing(sheet, chart, scale, top), chart)
    elif _lie(chart):
        _draw_lying(sheet, chart, scale, top, locale)
    else:
        _draw_bars(sheet, chart, scale, top, locale)


def _scale(chart: Chart, locale: Locale) -> _Scale:
    values = [value for series in chart.series for value in series.values]
    low, high = min(values), max(values)
    if chart.kind == "bar":
        low, high = min(0.0, low), max(0.0, high) or (0.0 if low < 0 else 1.0)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = low - (abs(low) / 10 or 1), high + (abs(high) / 10 or 1)
    room = (high - low) * 0.1
    low = low - room if low < 0 or chart.kind == "line" else low
    high = high + room if high > 0 or chart.kind == "line" else high
    every = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    ticks = [float(tick) for tick in every if low <= tick <= high]
    return _Scale(low, high, tuple(ticks), tuple(scale(ticks, locale)))


def _draw_legend(sheet: Sheet, chart: Chart) -> float:
    """Draw it where there is more than one series, and say where it ends."""
    if len(chart.series) < 2:
        return EDGE + 4
    names = [series.name for series in chart.series]
    entries = list(lettering.legend(names, WIDTH - 2 * EDGE, font.width, SIGN))
    shapes = _POINTS if chart.kind == "line" else "s" * len(entries)
    for entry, colour, shape in zip(entries, colours.SERIES, shapes, strict=False):
        y = EDGE + LINE * (entry.row + 0.5)
        sheet.sign(EDGE + entry.x + 8, y, colour, shape)
        sheet.write(entry.text, EDGE + entry.x + SIGN, y)
    return EDGE + LINE * (entries[-1].row + 1) + 14


# ---- numbers upwards, labels below ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the plot stands on the sheet."""

    axes: Axes
    left: float
    top: float
    right: float
    bottom: float


def _draw_standing(sheet: Sheet, chart: Chart, scale: _Scale, top: float) -> _Place:
    left = EDGE + max(map(font.width, scale.written)) * _SMALLER + 12
    right = WIDTH - EDGE
    slot = (right - left) / len(chart.labels)
    below = _below(chart, slot, left)
    bottom = HEIGHT - EDGE - below.height - 8
    place = _Place(sheet.plot(left, top, right, bottom), left, top, right, bottom)
    place.axes.set_xlim(-0.5, len(chart.labels) - 0.5)
    place.axes.set_ylim(scale.low, scale.high)
    for tick, number in zip(scale.ticks, scale.written, strict=True):
        place.axes.axhline(tick, color=_line_colour(tick), linewidth=1, zorder=0, clip_on=False)
        y = bottom - scale.at(tick) * (bottom - top)
        sheet.write(number, left - 10, y, align="right", size=SMALL, colour=colours.SOFT)
    for at, label in enumerate(below.labels):
        middle = left + slot * (at + 0.5)
        if below.turned:
            sheet.write_turned(label, middle, bottom + 16, lettering.TURNED)
        else:
            lines = label.count("\n") + 1
            sheet.write(label, middle, bottom + 8 + lines * LINE / 2, align="center")
    return place


def _below(chart: Chart, slot: float, left: float) -> lettering.Below:
    found = None
    if chart.kind == "line":
        found = lettering.thinned(chart.labels, slot, font.width, LINE)
    return (
        found
        or lettering.upright(chart.labels, slot, font.width, LINE)
        or lettering.turned(chart.labels, slot, font.width, LINE, left=left - EDGE / 2)
    )


def _draw_lines(place: _Place, chart: Chart) -> None:
    for at, series in enumerate(chart.series):
        place.axes.plot(
            range(len(series.values)),
            series.values,
            color=colours.SERIES[at],
            marker=_POINTS[at],
            markersize=6,
            linewidth=2.2,
            clip_on=False,
        )


def _draw_bars(sheet: Sheet, chart: Chart, scale: _Scale, top: float, locale: Locale) -> None:
    place = _draw_standing(sheet, chart, scale, top)
    slot = (place.right - place.left) / len(chart.labels)
    for at, series in enumerate(chart.series):
        where, thick = _bars(at, chart)
        place.axes.bar(where, series.values, width=thick, color=colours.SERIES[at], linewidth=0)
    if len(chart.series) > 1 or len(chart.labels) > _MOST_WRITTEN:
        return
    written = [short(value, locale) for value in chart.series[0].values]
    if max(map(font.width, written)) * _SMALLER > slot:
        return
    for at, (value, number) in enumerate(zip(chart.series[0].values, written, strict=True)):
        y = place.bottom - scale.at(value) * (place.bottom - place.top) + (12 if value < 0 else -12)
        sheet.write(number, place.left + slot * (at + 0.5), y, align="center", size=SMALL)


def _bars(at: int, chart: Chart) -> tuple[list[float], float]:
    """Where the bars of a series stand along the labels, and how thick they are."""
    thick = _GROUP / len(chart.series)
    return [label - _GROUP / 2 + thick * (at + 0.5) for label in range(len(chart.labels))], thick


def _line_colour(tick: float) -> str:
    return colours.SOFT if tick == 0 else colours.LINES


# ---- numbers to the right, labels beside ------------------------------------------------------------------


def _lie(chart: Chart) -> bool:
    slot = (WIDTH - 2 * EDGE - 60) / len(chart.labels)
    upright = lettering.upright(chart.labels, slot, font.width, LINE)
    return upright is None and len(chart.labels) <= _MOST_LYING


def _draw_lying(sheet: Sheet, chart: Chart, scale: _Scale, top: float, locale: Locale) -> None:
    bottom = HEIGHT - EDGE - LINE - 4
    slot = (bottom - top) / len(chart.labels)
    lines = [
        shortened(label, _WIDEST_BESIDE, font.width, most_lines=max(1, min(2, int(slot // LINE))))
        for label in chart.labels
    ]
    left = EDGE + max(font.width(line) for label in lines for line in label) + 12
    right = WIDTH - EDGE - 20
    axes = sheet.plot(left, top, right, bottom)
    axes.set_xlim(scale.low, scale.high)
    axes.set_ylim(len(chart.labels) - 0.5, -0.5)
    for tick, number in zip(scale.ticks, scale.written, strict=True):
        axes.axvline(tick, color=_line_colour(tick), linewidth=1, zorder=0, clip_on=False)
        x = left + scale.at(tick) * (right - left)
        sheet.write(number, x, bottom + 4 + LINE / 2, align="center", size=SMALL, colour=colours.SOFT)
    for at, label in enumerate(lines):
        sheet.write("\n".join(label), left - 12, top + slot * (at + 0.5), align="right")
    for at, series in enumerate(chart.series):
        where, thick = _bars(at, chart)
        axes.barh(where, series.values, height=thick, color=colours.SERIES[at], linewidth=0)
    if len(chart.series) == 1:
        _write_beside(sheet, chart, scale, _Place(axes, left, top, right, bottom), locale)


def _write_beside(sheet: Sheet, chart: Chart, scale: _Scale, place: _Place, locale: Locale) -> None:
    """The numbers at the ends of lying bars; within the bar where the sheet would end."""
    slot = (place.bottom - place.top) / len(chart.labels)
    for at, value in enumerate(chart.series[0].values):
        number = short(value, locale)
        end = place.left + scale.at(value) * (place.right - place.left)
        outwards = -1 if value < 0 else 1
        wide = font.width(number) * _SMALLER + 6
        inside = not place.left <= end + outwards * wide <= WIDTH - 4
        sheet.write(
            number,
            end + (-6 if inside else 6) * outwards,
            place.top + slot * (at + 0.5),
            align="left" if (outwards > 0) != inside else "right",
            size=SMALL,
            colour=colours.GROUND if inside else colours.INK,
        )
