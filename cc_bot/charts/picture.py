"""Charts drawn with matplotlib, which only this module knows; import it late, for it takes a second.

matplotlib gives everything its room. What it can't do is decided here: whether labels, which may be long and
Japanese, are wrapped, left out, turned or beside lying bars. Series differ in colour, and lines in the shape
of their points too; bars begin at zero, so that their lengths are as their numbers are.
"""

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.ticker import Formatter, MaxNLocator

from cc_bot.charts.labels import balance, shorten, widest_unit
from cc_bot.charts.table import format_short, percent, scale, slices
from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.locale import Locale
from cc_bot.texts import texts

# ---- look ------------------------------------------------------------------------------------------------
# Colours that keep apart for the colour-blind and that stand out from their ground.
#
# The ground is a dark one of the picture's own: no colour reads well on both Discord's dark and its light
# background, while a dark card sits well on either. Series have the colours of Okabe and Ito, "Color
# Universal Design" (2008), without the dark blue, which would drown in it.

GROUND: Final = "#1E1F22"
INK: Final = "#F2F3F5"
SOFT: Final = "#B5BAC1"
"""For what is read second: numbers along an axis."""
LINES: Final = "#3F4147"
SERIES: Final = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00")
SLICES: Final = (*SERIES, "#E8E8E8", "#8B8F98")
"""One for each slice of a pie, the grey one last: it is that of what has no slice of its own."""

WIDTH: Final = 800
HEIGHT: Final = 450
_DPI: Final = 100
_EDGE: Final = 18
"""Pixels that stay empty all around."""
_SIZE: Final = 20
"""Pixels of an em. A phone shows the picture at half its size or less."""
_SMALL: Final = 17
_LINE: Final = 26
"""Pixels from one line of text to the next."""


@cache
def _font() -> FT2Font:
    """Return the Japanese font (IPAexGothic), found without loading its package, which would change all of
    matplotlib. Its sizes are in pixels."""
    spec = find_spec("matplotlib_fontja")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("matplotlib_fontja", name="matplotlib_fontja")
    font = FT2Font(str(Path(spec.origin).parent / "fonts" / "ipaexg.ttf"))
    font.set_size(_SIZE, 72)  # 72 to the inch: a point is a pixel
    return font


def _points(pixels: float) -> float:
    return pixels * 72 / _DPI


def _set_look() -> None:
    mpl.rcdefaults()  # an operator's own matplotlibrc is for other pictures
    fontManager.addfont(str(_font().fname))
    mpl.rcParams.update(
        {
            "text.parse_math": False,  # what stands between two `$` is money
            "text.color": INK,
            "font.family": _font().family_name,
            "font.size": _points(_SIZE),
            "legend.fontsize": _points(_SIZE),
            "xtick.labelsize": _points(_SIZE),
            "ytick.labelsize": _points(_SIZE),
            "xtick.labelcolor": INK,
            "ytick.labelcolor": INK,
            "xtick.major.size": 0,
            "ytick.major.size": 0,
            "xtick.major.pad": _points(8),
            "ytick.major.pad": _points(10),
            "figure.figsize": (WIDTH / _DPI, HEIGHT / _DPI),
            "figure.dpi": _DPI,
            "figure.facecolor": GROUND,
            "figure.constrained_layout.use": True,
            "figure.constrained_layout.w_pad": _EDGE / _DPI,
            "figure.constrained_layout.h_pad": _EDGE / _DPI,
            "axes.facecolor": "none",
            "axes.axisbelow": True,
            "axes.prop_cycle": cycler(color=SERIES, marker=list("os^Dvp")),
            "grid.color": LINES,
            "grid.linewidth": 1,
            "lines.linewidth": 2.2,
            "lines.markersize": 6,
            "legend.frameon": False,
            "legend.handlelength": 0.8,
            "legend.handleheight": 0.8,
            "legend.handletextpad": 0.5,
            "legend.borderpad": 0,
            "legend.borderaxespad": _EDGE / _SIZE,
            "legend.labelspacing": 0.3,
            "legend.columnspacing": 1.2,
            "axes.spines.left": False,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.spines.bottom": False,
        }
    )


_set_look()

# ---- picture ---------------------------------------------------------------------------------------------


def png(chart: Chart, locale: Locale) -> bytes | None:
    """Return the chart, or None where a label of it cannot be written at all. One at a time; see `draw`."""
    written = _make_writable(chart)
    if written is None:
        return None
    figure = Figure()
    FigureCanvasAgg(figure)
    (_draw_pie if chart.kind == "pie" else _draw_axis)(figure, written, locale)
    out = BytesIO()
    # Without its maker, equal charts are equal files.
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _make_writable(chart: Chart) -> Chart | None:
    named = chart.series if len(chart.series) > 1 else ()
    words = (*chart.labels, *(series.name for series in named))
    if any(word.strip() and not _writable(word) for word in words):
        return None
    return replace(
        chart,
        labels=tuple(map(_writable, chart.labels)),
        series=tuple(Series(_writable(series.name), series.values) for series in chart.series),
    )


def _writable(text: str) -> str:
    """Return the text on one line, without what the font cannot write (emoji), which would be empty boxes."""
    composed = " ".join(unicodedata.normalize("NFC", text).split())
    return " ".join("".join(each for each in composed if _font().get_char_index(ord(each))).split())


def _width(text: str) -> float:
    """Return how many pixels it takes, at the usual size."""
    _font().set_text(text)
    return _font().get_width_height()[0] / 64


# ---- pie -------------------------------------------------------------------------------------------------
# Slices stand clockwise from the top, and in the same order beside it: the order and the shares written in
# the slices tell them apart for whoever does not see the colours.

_SIDE: Final = HEIGHT - 2 * _EDGE
"""Pixels of the square in which the pie stands."""
_LIST: Final = WIDTH - _SIDE - 3 * _EDGE - 30
"""Pixels that a label beside it may take."""
_ROOM_FOR_A_SHARE: Final = 0.06
_MOST_IN_TWO_LINES: Final = 4
_MOST_APART: Final = 6


def _draw_pie(figure: Figure, chart: Chart, locale: Locale) -> None:
    """Draw one series without negative numbers, of which one at least is more than nothing."""
    parts = slices(chart.labels, chart.series[0].values, texts(locale).chart.others)
    total = sum(part.value for part in parts)
    shares = [part.value / total for part in parts]
    whole = max(shares) == 1
    figure.set_layout_engine("none")  # it would push the list out of the picture
    axes = figure.add_axes((_EDGE / WIDTH, _EDGE / HEIGHT, _SIDE / WIDTH, _SIDE / HEIGHT))
    drawn = axes.pie(
        shares,
        colors=SLICES,
        startangle=90,
        counterclock=False,
        radius=1.25,
        autopct=lambda share: percent(share, 100) if share >= 100 * _ROOM_FOR_A_SHARE else "",
        pctdistance=0 if whole else 0.68,
        wedgeprops={"edgecolor": GROUND, "linewidth": 0 if whole else 2},
        textprops={"color": GROUND},
    )
    lines = 2 if len(parts) <= _MOST_IN_TWO_LINES else 1
    names = ["\n".join(shorten(part.label, _LIST, _width, most_lines=lines)) for part in parts]
    numbers = [f"{format_short(part.value, locale)}  ({percent(part.value, total)})" for part in parts]
    axes.legend(
        drawn[0],
        [f"{name}\n{number}" for name, number in zip(names, numbers, strict=True)],
        loc="center left",
        bbox_to_anchor=(1, 0.5),
        labelspacing=1 if len(parts) <= _MOST_APART else 0.2,
    )


# ---- axis ------------------------------------------------------------------------------------------------

_MOST_WRITTEN: Final = 12
"""So many bars at most have their number written at their end."""
_MOST_LYING: Final = 12
_GROUP: Final = 0.75
"""How much of its place a label's group of bars takes."""
_GAP: Final = 8
"""Pixels between labels at least."""
_WIDEST_BESIDE: Final = 280
"""Pixels that labels beside lying bars may take."""
_LONGEST_TURNED: Final = 170
_LONGEST_NAME: Final = 330
_SIGN: Final = 50
"""Pixels of what stands before a name in the legend, and after it."""
_MOST_LINES: Final = 3
_MANY: Final = 8
_LEAST_LEFT: Final = 4
"""So many labels stay at least where some are left out."""
_TURN: Final = 60
"""Degrees."""


def _draw_axis(figure: Figure, chart: Chart, locale: Locale) -> None:
    axes = figure.add_subplot()
    below = _wrap_labels(chart.labels)
    lying = chart.kind == "bar" and below is None and len(chart.labels) <= _MOST_LYING
    numbers: Axis = axes.xaxis if lying else axes.yaxis
    drawn = _plot_lines(axes, chart) if chart.kind == "line" else _plot_bars(axes, chart, lying=lying)
    _scale(numbers, chart, locale)
    if lying:
        _write_beside(axes, chart.labels)
    elif chart.kind == "line" and (step := _label_step(chart.labels)):
        axes.set_xticks(range(0, len(chart.labels), step), chart.labels[::step])
    elif below:
        axes.set_xticks(range(len(chart.labels)), below, linespacing=_LINE / _SIZE)
    else:
        _write_turned(axes, chart.labels)
    if lying:
        axes.set_ylim(len(chart.labels) - 0.5, -0.5)
    else:
        axes.set_xlim(-0.5, len(chart.labels) - 0.5)
    if chart.kind == "bar" and len(chart.series) == 1:
        _write_values(axes, drawn[0], chart, locale, lying=lying)
    if len(chart.series) > 1:
        _draw_legend(figure, drawn, [series.name for series in chart.series])


def _plot_lines(axes: Axes, chart: Chart) -> list[Any]:
    axes.margins(y=0.1)
    return [axes.plot(series.values, clip_on=False)[0] for series in chart.series]


def _plot_bars(axes: Axes, chart: Chart, *, lying: bool) -> list[Any]:
    """Draw a group of bars for each label, with room for numbers at their ends."""
    axes.margins(0.25 if lying else 0.1)  # lying bars have theirs beside them
    thick = _GROUP / len(chart.series)
    plot = axes.barh if lying else axes.bar
    return [
        plot(
            [each + (at + 0.5) * thick - _GROUP / 2 for each in range(len(chart.labels))],
            series.values,
            thick,
        )
        for at, series in enumerate(chart.series)
    ]


class _Numbers(Formatter):
    """The numbers along an axis, as the chart's readers count."""

    def __init__(self, locale: Locale) -> None:
        self._locale = locale

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        return scale([float(value) for value in values], self._locale)


def _scale(numbers: Axis, chart: Chart, locale: Locale) -> None:
    axes = numbers.axes
    if not any(value for series in chart.series for value in series.values):
        numbers.set_view_interval(0, 1, ignore=True)
    numbers.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    numbers.set_major_formatter(_Numbers(locale))
    numbers.set_tick_params(labelcolor=SOFT, labelsize=_points(_SMALL))
    numbers.grid(visible=True)
    low, high = numbers.get_view_interval()
    if low <= 0 <= high:
        (axes.axvline if numbers is axes.xaxis else axes.axhline)(
            0, color=SOFT, linewidth=1, zorder=0.6, clip_on=False
        )


def _slot(labels: Sequence[str]) -> float:
    """Return the pixels that there are for each label below the axis, numbers beside it taken off."""
    return (WIDTH - 2 * _EDGE - 60) / len(labels)


def _wrap_labels(labels: Sequence[str]) -> Sequence[str] | None:
    """Return the labels whole and upright, each within its slot; None where they are too long for that."""
    room = _slot(labels) - _GAP
    if all(_width(label) <= room for label in labels):
        return labels
    if any(widest_unit(label, _width) > room for label in labels) or room < 3 * _LINE:
        return None
    lines = [balance(label, room, _width) for label in labels]
    return ["\n".join(each) for each in lines] if max(map(len, lines)) <= _MOST_LINES else None


def _label_step(labels: Sequence[str]) -> int | None:
    """Return every how many labels of an order, such as dates, one can stand upright on a line; None where
    they are too few or too long for that."""
    step = math.ceil((max(map(_width, labels)) + 1.5 * _GAP) / _slot(labels))
    return None if len(labels) <= _MANY or len(labels) / step < _LEAST_LEFT else step


def _write_turned(axes: Axes, labels: Sequence[str]) -> None:
    step = math.ceil(_LINE / (_slot(labels) * math.sin(math.radians(_TURN))) * 0.85)  # closer than in a text
    cut = [shorten(label, _LONGEST_TURNED, _width)[0] for label in labels[::step]]
    axes.set_xticks(
        range(0, len(labels), step), cut, rotation=_TURN, rotation_mode="anchor", ha="right", va="center"
    )


def _write_beside(axes: Axes, labels: Sequence[str]) -> None:
    most = max(1, min(2, (HEIGHT - 100) // (_LINE * len(labels))))
    lines = [shorten(label, _WIDEST_BESIDE, _width, most_lines=most) for label in labels]
    axes.set_yticks(range(len(labels)), map("\n".join, lines))


def _write_values(axes: Axes, bars: Any, chart: Chart, locale: Locale, *, lying: bool) -> None:
    """Write the numbers at the ends of bars, where there is room for all of them."""
    written = [format_short(value, locale) for value in chart.series[0].values]
    room = WIDTH if lying else _slot(chart.labels)
    if len(written) <= _MOST_WRITTEN and max(map(_width, written)) * _SMALL / _SIZE <= room:
        axes.bar_label(bars, written, padding=3, fontsize=_points(_SMALL))


def _draw_legend(figure: Figure, drawn: Sequence[Any], names: Sequence[str]) -> None:
    shown = [shorten(name, _LONGEST_NAME, _width)[0] for name in names]
    wide = [_width(name) + _SIGN for name in shown]

    def fit(rows: int) -> bool:
        columns = (wide[first : first + rows] for first in range(0, len(wide), rows))
        return sum(map(max, columns)) <= WIDTH - 2 * _EDGE

    rows = next((rows for rows in range(1, len(names)) if fit(rows)), len(names))
    figure.legend(drawn, shown, loc="outside upper left", ncols=math.ceil(len(names) / rows))
