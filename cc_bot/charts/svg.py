"""Draws charts as SVG. Horizontal lengths are percentages, so a chart fills its column while its text keeps
its size. The pages' policy forbids inline styles, so colours are classes of `canvas.css`; dashes, shapes and
hatches tell series apart, too. The browser's font is unknown, so text widths are generous estimates."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import count
from typing import Final

from cc_bot.charts.table import format_alike, format_exactly, format_percent, format_ticks, make_slices
from cc_bot.domain.chart import Chart, Series, parse_numbers
from cc_bot.domain.kinsoku import balance_lines, graphemes, is_wide, shorten_to_width, widest_unit, wrap_label
from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.answer import ChartTexts

_Pair = tuple[float, float]  # start and end, x and y, or width and height
_GAP: Final = 8
_TITLE_SIZE: Final = 18
_WIDE_LETTERS: Final = frozenset("ABCDEFGHKMNOPQRSTUVWXYZmw%@&—")
_UNWRITABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def width_of(text: str, size: float = 14) -> float:
    """Return the width in the widest of the usual fonts."""
    ems = (1.0 if is_wide(each) else 0.78 if each in _WIDE_LETTERS else 0.58 for each in graphemes(text))
    return size * sum(ems)


@dataclass(frozen=True, slots=True)
class Layout:
    """Lengths in units: a CSS pixel of a page, two pixels of a picture."""

    width: int  # the minimum: a page stretches the chart
    height: int  # approximate
    size: int = 14  # of text, as in `canvas.css`
    small: int = 13  # the text size of numbers
    margin: int = 0
    is_picture: bool = False  # includes the title

    @property
    def line(self) -> int:
        return self.size + 4

    def width_of(self, text: str) -> float:
        return width_of(text, self.size)

    def width_of_number(self, text: str) -> float:
        return width_of(text, self.small)


PAGE_LAYOUTS: Final = (Layout(280, 220), Layout(480, 290))
PICTURE_LAYOUT: Final = Layout(376, 272, size=15, small=15, margin=12, is_picture=True)


def chart_html(chart: Chart, locale: Locale) -> str:
    """Return a narrow and a wide drawing: `canvas.css` shows the one that fits, as wide as its column."""
    drawings = "".join(chart_svg(chart, locale, layout) for layout in PAGE_LAYOUTS)
    return f'<div class="charts">{drawings}</div>'


def chart_svg(chart: Chart, locale: Locale, layout: Layout = PAGE_LAYOUTS[-1]) -> str:
    drawing = _Drawing(f"svg-{chart.id}-{layout.width}", layout)
    if layout.is_picture:
        title = shorten_to_width(chart.title, layout.width, lambda text: width_of(text, _TITLE_SIZE))
        drawing.write(title, 0, _TITLE_SIZE, kind="title")
        drawing.bottom = _TITLE_SIZE + 1.5 * _GAP
    if chart.series and chart.labels:
        if chart.kind == "pie":
            _draw_pie(drawing, chart, locale)
        elif _is_upright(chart, layout):
            _draw_upright(drawing, chart, locale)
        else:
            _draw_rows(drawing, chart, locale)
    return drawing.svg(chart.title)


def _escape(text: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", text))


def _number(value: float, decimals: int = 1) -> str:
    return f"{round(value, decimals) + 0.0:.{decimals}f}".rstrip("0").rstrip(".")  # and no negative zero


@dataclass(slots=True)
class _Drawing:
    name: str
    layout: Layout
    bottom: float = 0.0  # the lowest point drawn so far
    parts: list[str] = field(default_factory=list)

    def across(self, x: float) -> str:
        return f"{_number(100 * x / self.layout.width, 2)}%"

    def add(self, tag: str, title: str = "", content: str = "", /, **attributes: float | str) -> None:
        written = ""
        for name, value in attributes.items():
            text = _escape(value) if isinstance(value, str) else _number(value)
            written += f' {name.strip("_").replace("_", "-")}="{text}"'
        inner = f"<title>{_escape(title)}</title>" if title else _escape(content)
        self.parts.append(f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>")

    def add_path(self, d: str, title: str = "", at: _Pair | None = None, /, **more: float | str) -> None:
        """Draw a path that is stretched with the chart, or a shape of fixed size at the point `at`."""
        position = 'viewBox="0 0 {width} 100" width="100%" height="100" preserveAspectRatio="none"'
        if at is not None:
            position = f'x="{self.across(at[0])}" y="{_number(at[1])}"'
        self.parts.append(f'<svg {position.format(width=self.layout.width)} overflow="visible">')
        self.add("path", title, d=d, **more)
        self.parts.append("</svg>")

    def write(
        self, text: str, x: float, y: float, anchor: str = "start", *, kind: str = "label", dx: float = 0
    ) -> None:
        """`y` is the baseline; `dx` is not stretched."""
        more: dict[str, float | str] = {"dx": dx} if dx else {}
        at = self.across(x)
        self.add("text", "", text, class_=f"chart-{kind}", x=at, y=y, text_anchor=anchor, **more)

    def write_line(self, text: str, x: float = 0, anchor: str = "start") -> None:
        """Write a line below everything drawn so far; an empty text adds no line."""
        if text:
            text = shorten_to_width(text, self.layout.width, self.layout.width_of_number)
            self.write(text, x, self.bottom + self.layout.small, anchor, kind="number")
            self.bottom += self.layout.line

    def svg(self, title: str) -> str:
        layout, name = self.layout, _escape(f"{self.name}-title")
        height = math.ceil(self.bottom) + 4
        inner, size = "".join(self.parts), f'width="100%" height="{height}"'
        if layout.is_picture:
            margin, height = layout.margin, max(height, layout.height)
            outer = f"{layout.width + 2 * margin} {height + 2 * margin}"
            size = f'viewBox="{-margin} {-margin} {outer}"'
            inner = f'<svg width="{layout.width}" height="{height}" overflow="visible">{inner}</svg>'
        return (
            f'<svg class="chart chart-{layout.width}" {size} role="img" aria-labelledby="{name}">'
            f'<title id="{name}">{_escape(title)}</title>{inner}</svg>'
        )


_DASHES: Final = ("", "7 3", "2 3", "9 3 2 3", "4 3", "12 4")
# Disc, square, triangle, diamond, triangle, cross.
_POINTS: Final = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-4-4h8v8h-8z",
    "m0-4.8l4.8 8.8h-9.6z",
    "m0-5.2l5.2 5.2l-5.2 5.2l-5.2-5.2z",
    "m0 4.8l4.8-8.8h-9.6z",
    "m-1.6-5.2h3.2v3.6h3.6v3.2h-3.6v3.6h-3.2v-3.6h-3.6v-3.2h3.6z",
)
_DOT: Final = "m-2-2h4v4h-4z"
_HATCHES: Final = ("", "M0 0L6 6", "M0 6L6 0", "M0 3H6", "M3 0V6", "M0 3H6M3 0V6")
_MIN_HATCHED_WIDTH: Final = 4
_SWATCH: Final = 24
_FILLED: Final = ("bar", "stacked", "area")


def _fill(drawing: _Drawing, series: int) -> dict[str, str]:
    return {"fill": f"url(#{drawing.name}-{series + 1})"} if series else {"class_": "series-1"}


def _draw_bar(drawing: _Drawing, at: int, title: str, corner: _Pair, size: _Pair) -> None:
    (x, y), (width, height) = corner, size
    fill = _fill(drawing, at) if width >= _MIN_HATCHED_WIDTH else {"class_": f"series-{at + 1}"}
    across = {"x": drawing.across(x), "width": drawing.across(max(0.5, width))}
    drawing.add("rect", title, **fill, **across, y=y, height=max(0.5, height))


def _draw_grid_line(drawing: _Drawing, tick: float, start: _Pair, end: _Pair, cut: str = "") -> None:
    """`cut`: the tooltip of a dashed line, where the axis begins or ends away from zero."""
    kind = "chart-cut" if cut else "chart-zero" if tick == 0 else "chart-grid"
    xs = {"x1": drawing.across(start[0]), "x2": drawing.across(end[0])}
    drawing.add("line", cut, class_=kind, **xs, y1=start[1], y2=end[1])


def _draw_legend(drawing: _Drawing, chart: Chart) -> None:
    if len(chart.series) == 1:
        return
    if chart.kind in _FILLED:
        patterns = "".join(
            f'<pattern id="{_escape(f"{drawing.name}-{at + 1}")}" width="6" height="6"'
            f' patternUnits="userSpaceOnUse"><path class="series-{at + 1}" d="M0 0H6V6H0Z"/>'
            f'<path class="chart-hatch" d="{_HATCHES[at]}"/></pattern>'
            for at in range(1, len(chart.series))
        )
        drawing.parts.append(f"<defs>{patterns}</defs>")
    layout = drawing.layout
    x, y = 0.0, drawing.bottom
    drawing.parts.append('<g class="chart-legend">')
    for at, series in enumerate(chart.series):
        name = shorten_to_width(series.name, layout.width - _SWATCH, layout.width_of)
        width = _SWATCH + layout.width_of(name)
        if x and x + width > layout.width:
            x, y = 0.0, drawing.bottom
        middle = y + layout.line / 2
        if chart.kind in _FILLED:
            drawing.add("rect", **_fill(drawing, at), x=drawing.across(x), y=middle - 6, width=16, height=12)
        else:
            if chart.kind == "line":
                _draw_stroke(drawing, at, "M0 0h20", (x, middle))
            drawing.add_path("M10 0" + _POINTS[at], "", (x, middle), class_=f"series-{at + 1}")
        drawing.write(name, x, y + layout.size, dx=_SWATCH)
        drawing.bottom = y + layout.line
        x += width + 2 * _GAP
    drawing.parts.append("</g>")
    drawing.bottom += _GAP


def _draw_stroke(drawing: _Drawing, series: int, d: str, at: _Pair | None = None) -> None:
    dashes = {"stroke_dasharray": _DASHES[series]} if _DASHES[series] else {}
    drawing.add_path(d, "", at, class_=f"chart-line series-{series + 1}", **dashes)


def _tooltip(chart: Chart, at: int, index: int) -> str:
    series = chart.series[at]
    named = f"{chart.labels[index]} / {series.name}" if len(chart.series) > 1 else chart.labels[index]
    return f"{named}: {format_exactly(series.values[index])}"


def _value_title(chart: Chart) -> str:
    """Return the title of the value axis, or else the name of a single series."""
    name = chart.series[0].name if len(chart.series) == 1 else ""
    return chart.y_title or (name if name != chart.title else "")


_AXIS_STEPS: Final = 4
_STEP_SIZES: Final = (1, 2, 2.5, 5, 10)
_SMALLEST: Final = 1e-200
_SMALLEST_SCALED: Final = 1e-9


@dataclass(frozen=True, slots=True)
class _Axis:
    ticks: tuple[float, ...]
    written: tuple[str, ...]

    def share(self, value: float) -> float:
        """Return a position along the axis, from 0 to 1."""
        return (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])


def _make_axis(values: Sequence[float], locale: Locale, *, from_zero: bool = False) -> _Axis:
    """The axis includes zero if the values are near it. Whole values get whole ticks."""
    low, high = min(values), max(values)
    size = max(abs(low), abs(high))
    whole = all(value == int(value) for value in values)
    if size < _SMALLEST:
        low, high, size = 0.0, 1.0, 1.0
    if from_zero or high - low < size * 1e-9 or high - low > size / 2:
        low, high = min(low, 0.0), max(high, 0.0)
    raw = (high - low) / _AXIS_STEPS
    magnitude = 10.0 ** math.floor(math.log10(raw))
    sizes = [each * magnitude for each in _STEP_SIZES if each * magnitude >= raw * (1 - 1e-9)]
    step = next(each for each in [*sizes, 1.0] if not whole or each == int(each))
    indices = range(math.floor(low / step), math.ceil(high / step) + 1)
    ticks = tuple(index * step for index in indices)
    written = format_ticks(ticks, locale) if size >= _SMALLEST_SCALED else [f"{tick:.3g}" for tick in ticks]
    return _Axis(ticks, tuple(written))


def _spans(chart: Chart) -> list[list[_Pair]]:
    """Return the start and end of each value on the value axis, by series."""
    stacked = chart.kind in ("stacked", "area")
    rows = []
    sums = [[0.0, 0.0] for _ in chart.labels]  # of positive and of negative values
    for series in chart.series:
        row = []
        for value, label_sums in zip(series.values, sums, strict=True):
            start = label_sums[value < 0] if stacked else 0.0 if chart.kind == "bar" else value
            label_sums[value < 0] += value
            row.append((start, start + value if stacked else value))
        rows.append(row)
    return rows


def _value_axis(chart: Chart, spans: Sequence[Sequence[_Pair]], locale: Locale) -> _Axis:
    values = [value for row in spans for span in row for value in span]
    return _make_axis(values, locale, from_zero=chart.kind in _FILLED)


def _number_rows(chart: Chart, locale: Locale) -> list[list[str]]:
    """Return the numbers to write beside the values, by series; of stacked bars their sums; or none."""
    rows = [series.values for series in chart.series]
    if chart.kind == "scatter" or (len(rows) > 1 and chart.kind == "area"):
        return []
    if len(rows) > 1 and chart.kind == "stacked":
        if min(map(min, rows)) < 0:
            return []
        rows = [tuple(map(math.fsum, zip(*rows, strict=True)))]
    count, written = len(chart.labels), format_alike([value for row in rows for value in row], locale)
    return [written[at : at + count] for at in range(0, len(written), count)]


def _only_highest(numbers: list[list[str]], ends: Sequence[float]) -> list[list[str]]:
    """Return blanks but for the number of the highest bar; nothing if bars stand side by side."""
    highest = ends.index(max(ends))
    rows = numbers if len(numbers) == 1 else []
    return [[each if at == highest else "" for at, each in enumerate(row)] for row in rows]


def _widest(layout: Layout, rows: Sequence[Sequence[str]]) -> float:
    return max((layout.width_of_number(number) for row in rows for number in row), default=0)


# Charts with a vertical value axis, and labels below.

_MAX_LINES: Final = 3
_MAX_STEP: Final = 3  # write at least every third label in full, or else shorten the labels
_BAR_SHARE: Final = 0.76  # of a label's slot
_MAX_BAR: Final = 48
_MIN_BAR: Final = 4
_MIN_UPRIGHT_BAR: Final = 1.5
_MIN_PLOT: Final = 110
_MIN_SLOT_OF_POINT: Final = 14
_USUAL_GUTTER: Final = 48
_MAX_DATE_LENGTH: Final = 11  # or of a number


def _is_upright(chart: Chart, layout: Layout) -> bool:
    """Return whether bars and labels fit side by side. Labels that are dates or numbers may be left out."""
    if chart.kind not in ("bar", "stacked"):
        return True
    if all(len(each) <= _MAX_DATE_LENGTH and re.search(r"\d", each) for each in chart.labels):
        return True
    slot = (layout.width - _USUAL_GUTTER) / len(chart.labels)
    widest = max(map(layout.width_of, chart.labels))
    return _bar_width(chart, layout) >= _MIN_BAR and widest + _GAP / 2 <= slot


def _bar_width(chart: Chart, layout: Layout) -> float:
    bars = len(chart.labels) * (len(chart.series) if chart.kind == "bar" else 1)
    return (layout.width - _USUAL_GUTTER) * _BAR_SHARE / bars


def _bar_size(chart: Chart, slot: float) -> float:
    return min(slot * _BAR_SHARE / (len(chart.series) if chart.kind == "bar" else 1), _MAX_BAR)


def _place_labels(
    labels: Sequence[str], centres: Sequence[float], layout: Layout, *, max_step: int, max_lines: int
) -> list[tuple[list[str], float]]:
    """Return lines and centre of every label, or of each nth label if they would overlap; or no labels."""
    slot = abs(centres[1] - centres[0]) if len(centres) > 1 else layout.width / 2
    for step in range(1, max_step + 1):
        room = slot * (2 * step + 1) / 3 - _GAP / 2  # the last label may be moved to the left
        chosen = [[label] for label in labels[::step]]
        if max_lines > 1 and room > 3 * layout.size:
            chosen = [balance_lines(label, room, layout.width_of) for label in labels[::step]]
        widths = [max(map(layout.width_of, lines)) for lines in chosen]
        is_whole = max_lines == 1 or max(widest_unit(label, layout.width_of) for label in labels) <= room
        if max(widths) <= room and max(map(len, chosen)) <= max_lines and is_whole:
            placed = zip(chosen, centres[::step], widths, strict=True)
            return [(lines, max(w / 2, min(layout.width - w / 2, x))) for lines, x, w in placed]
    return []


def _right_edge(layout: Layout, gutter: float, count: int, width_of_ends: float) -> float:
    """Return where the grid ends: numbers at the ends of lines begin after the middle of the last slot."""
    half = 0.5 / count  # of a slot, as a share of all
    room = width_of_ends + _GAP if width_of_ends else 0
    return min(layout.width, (layout.width - room - gutter * half) / (1 - half))


def _draw_upright(drawing: _Drawing, chart: Chart, locale: Locale) -> None:
    layout = drawing.layout
    if chart.kind == "bar" and _bar_width(chart, layout) < _MIN_UPRIGHT_BAR:
        drawing.write_line(texts(locale)[ChartTexts].bars_as_lines)
        chart = replace(chart, kind="line")
    spans = _spans(chart)
    axis = _value_axis(chart, spans, locale)
    gutter = max(map(layout.width_of_number, axis.written)) + _GAP
    numbers, is_bars = _number_rows(chart, locale), chart.kind in ("bar", "stacked")
    ends = [] if is_bars else [row[-1] for row in numbers]
    right = _right_edge(layout, gutter, len(chart.labels), _widest(layout, [ends]))
    slot = (right - gutter) / len(chart.labels)
    if chart.kind == "scatter":
        positions = parse_numbers(chart.labels) or tuple(map(float, range(len(chart.labels))))
        below = _make_axis(positions, locale)
        right -= layout.width_of(below.written[-1]) / 2
        centres, marked = (
            [gutter + below.share(each) * (right - gutter) for each in some]
            for some in (positions, below.ticks)
        )
        labels = _place_labels(below.written, marked, layout, max_step=len(marked), max_lines=1)
    else:
        centres = [gutter + (index + 0.5) * slot for index in range(len(chart.labels))]
        short = [shorten_to_width(each, (right - gutter) / 2, layout.width_of) for each in chart.labels]
        labels = _place_labels(
            chart.labels, centres, layout, max_step=_MAX_STEP, max_lines=_MAX_LINES
        ) or _place_labels(short, centres, layout, max_step=len(short), max_lines=1)
    if is_bars and _widest(layout, numbers) > (slot if len(numbers) < 2 else _bar_size(chart, slot)):
        numbers = _only_highest(numbers, [end for _, end in spans[-1]])
    _draw_legend(drawing, chart)
    drawing.write_line(_value_title(chart))
    top = drawing.bottom + layout.line
    height = max((len(lines) for lines, _ in labels), default=0) * layout.line
    gap = _GAP + (layout.line if is_bars and numbers and axis.ticks[0] < 0 else 0)
    plot = max(_MIN_PLOT, layout.height - top - gap - height - (layout.line if chart.x_title else 0))
    bottom = top + plot

    def height_of(value: float) -> float:
        return bottom - axis.share(value) * plot

    for tick, written in zip(axis.ticks, axis.written, strict=True):
        y = height_of(tick)
        is_cut = tick == axis.ticks[0] > 0 or tick == axis.ticks[-1] < 0
        title = texts(locale)[ChartTexts].cut_axis if is_cut else ""
        _draw_grid_line(drawing, tick, (gutter, y), (right, y), title)
        drawing.write(written, gutter - 6, y + layout.small / 3, "end", kind="number")
    heights = [[(height_of(start), height_of(end)) for start, end in row] for row in spans]
    if is_bars:
        _draw_bars(drawing, chart, centres, heights, slot)
        _write_bar_numbers(drawing, numbers, centres, heights, _bar_size(chart, slot))
    else:
        _draw_lines(drawing, chart, centres, heights)
        _write_line_ends(drawing, ends, centres[-1], [row[-1][1] for row in heights], (top, bottom))
    drawing.bottom = bottom + gap
    for lines, x in labels:
        if len(labels) < len(chart.labels):
            drawing.add_path("M0 0v5", "", (x, bottom), class_="chart-zero")
        for at, line in enumerate(lines):
            drawing.write(line, x, drawing.bottom + layout.size + at * layout.line, "middle")
    drawing.bottom += height
    drawing.write_line(chart.x_title, layout.width, "end")


def _write_bar_numbers(
    drawing: _Drawing,
    numbers: Sequence[Sequence[str]],
    centres: Sequence[float],
    heights: Sequence[Sequence[_Pair]],
    size: float,
) -> None:
    for at, row in enumerate(numbers):
        shift = (at - (len(numbers) - 1) / 2) * size
        for text, x, (zero, y) in zip(row, centres, heights[at - len(numbers)], strict=True):
            baseline = y - 6 if y <= zero else y + drawing.layout.small + 3
            middle = min(x + shift, drawing.layout.width - drawing.layout.width_of_number(text) / 2)
            if text:
                drawing.write(text, middle, baseline, "middle", kind="number")


def _write_line_ends(
    drawing: _Drawing, ends: Sequence[str], x: float, heights: Sequence[float], limits: _Pair
) -> None:
    """Numbers that would cover each other are moved apart, between the limits."""
    small, (top, lowest) = drawing.layout.small, limits
    rows = sorted(zip(heights, ends, count(1), strict=False), reverse=True)
    for above, (end, number, series) in zip(reversed(range(len(rows))), rows, strict=True):
        y = min(max(end, top + above * small), lowest)
        drawing.write(number, x, y + small / 3, kind=f"number series-{series}", dx=_GAP)
        lowest = y - small


def _draw_lines(
    drawing: _Drawing, chart: Chart, centres: Sequence[float], heights: Sequence[Sequence[_Pair]]
) -> None:
    crowded = len(centres) * _MIN_SLOT_OF_POINT > drawing.layout.width and chart.kind != "scatter"
    dot = crowded or (chart.kind == "area" and len(centres) > 1)
    for at, row in enumerate(heights):
        lower, upper = (
            [f"{_number(x)} {_number(span[end])}" for x, span in zip(centres, row, strict=True)]
            for end in (0, 1)
        )
        if chart.kind == "area":
            path = "L".join(upper + lower[::-1])
            drawing.add_path(f"M{path}Z", **_fill(drawing, at), fill_opacity=0.7)
        elif chart.kind == "line" and len(upper) > 1:
            _draw_stroke(drawing, at, "M" + "L".join(upper))
    for at, row in enumerate(heights):
        for index, (x, (_, y)) in enumerate(zip(centres, row, strict=True)):
            shape = f"M0 0{_DOT if dot else _POINTS[at]}"
            drawing.add_path(shape, _tooltip(chart, at, index), (x, y), class_=f"series-{at + 1}")


def _draw_bars(
    drawing: _Drawing, chart: Chart, centres: Sequence[float], heights: Sequence[Sequence[_Pair]], slot: float
) -> None:
    stacked = chart.kind == "stacked"
    beside = 1 if stacked else len(chart.series)
    size = _bar_size(chart, slot)
    for at, row in enumerate(heights):
        for index, (x, span) in enumerate(zip(centres, row, strict=True)):
            left = x + ((0 if stacked else at) - beside / 2) * size
            top, height = min(span), max(span) - min(span) - stacked
            corner, width = (left, top), size - min(1, size / 4)
            _draw_bar(drawing, at, _tooltip(chart, at, index), corner, (width, height))


# Bars in rows, with labels to the left.

_MAX_LABEL_SHARE: Final = 0.36
_MAX_ROW: Final = 30
_MAX_PICTURE_ROWS: Final = 12  # a picture is shown as large as its height allows


def _draw_rows(drawing: _Drawing, chart: Chart, locale: Locale) -> None:
    layout, count = drawing.layout, _MAX_PICTURE_ROWS
    if layout.is_picture and len(chart.labels) > count:
        note = texts(locale)[ChartTexts].first_rows
        drawing.write_line(note.format(count=count, total=len(chart.labels)))
        rows = tuple(Series(each.name, each.values[:count]) for each in chart.series)
        chart = replace(chart, labels=chart.labels[:count], series=rows)
    spans = _spans(chart)
    axis = _value_axis(chart, spans, locale)
    _draw_legend(drawing, chart)
    drawing.write_line(chart.x_title)
    share = layout.width * _MAX_LABEL_SHARE
    if layout.is_picture:
        labels = [[shorten_to_width(label, share, layout.width_of)] for label in chart.labels]
    else:
        labels = [balance_lines(label, share, layout.width_of) for label in chart.labels]
    gutter = max(layout.width_of(line) for label in labels for line in label) + _GAP
    top, grid = drawing.bottom, len(drawing.parts)
    bars = 1 if chart.kind == "stacked" else len(chart.series)
    gap = 3 if layout.is_picture else _GAP
    fair = (layout.height - top - 2 * layout.line) / len(labels) - gap
    size = max(18 if bars == 1 else 4 if layout.is_picture else 9, min(fair, _MAX_ROW) / bars)
    numbers = _number_rows(chart, locale) if size >= layout.small + 2 else []
    room = _widest(layout, numbers) + _GAP
    first, last = (layout.width_of_number(axis.written[end]) / 2 for end in (0, -1))
    left = max(gutter + (room if axis.ticks[0] < 0 else 4), first)
    right = layout.width - max(room, last)

    def position_of(value: float) -> float:
        return left + axis.share(value) * (right - left)

    for index, lines in enumerate(labels):
        row_top = drawing.bottom
        label_height, bar_height = len(lines) * layout.line, size * bars
        for at, line in enumerate(lines):
            baseline = row_top + max(0, bar_height - label_height) / 2 + layout.size + at * layout.line
            drawing.write(line, gutter - _GAP, baseline, "end")
        y = row_top + max(0, label_height - bar_height) / 2
        for at, row in enumerate(spans):
            start, end = sorted(map(position_of, row[index]))
            row_y = y if chart.kind == "stacked" else y + at * size
            width = end - start - (chart.kind == "stacked")
            _draw_bar(drawing, at, _tooltip(chart, at, index), (start, row_y), (width, size - 1))
            if at >= len(spans) - len(numbers):
                anchor, x, dx = ("start", end, 4) if row[index][1] >= row[index][0] else ("end", start, -4)
                number, baseline = numbers[at - len(spans)][index], row_y + size / 2 + layout.small / 3
                drawing.write(number, x, baseline, anchor, kind="number", dx=dx)
        drawing.bottom = row_top + max(label_height, bar_height) + gap
    xs, bottom, behind = [position_of(tick) for tick in axis.ticks], drawing.bottom, _Drawing("", layout)
    for tick, x in zip(axis.ticks, xs, strict=True):
        _draw_grid_line(behind, tick, (x, top), (x, bottom))
    drawing.parts[grid:grid] = behind.parts
    step = math.ceil((max(map(layout.width_of_number, axis.written)) + _GAP) / abs(xs[1] - xs[0]))
    for at in range(axis.ticks.index(0) % step, len(xs), step):
        drawing.write(axis.written[at], xs[at], bottom + layout.small + 2, "middle", kind="number")
    drawing.bottom += layout.line
    drawing.write_line(_value_title(chart), layout.width, "end")


# Slices run clockwise from the top, in the order of the list beside them.

_MAX_RADIUS: Final = 110
_MIN_BESIDE: Final = 360
_MIN_SHARE_WITH_PERCENT: Final = 0.07


def _draw_pie(drawing: _Drawing, chart: Chart, locale: Locale) -> None:
    layout = drawing.layout
    values = [max(0.0, value) for value in chart.series[0].values]
    slices = make_slices(chart.labels, values, texts(locale)[ChartTexts].others)
    drawing.write_line(_value_title(chart))
    beside = layout.width >= _MIN_BESIDE
    radius = min(_MAX_RADIUS, layout.width * (0.24 if beside else 0.36))
    left = 2 * radius + 24 if beside else 0.0
    room = layout.width - left
    lines = [wrap_label(part.label, room - 18, layout.width_of) for part in slices]
    total = sum(values)
    shares = [part.value / total if total else 0.0 for part in slices]
    alike = format_alike([part.value for part in slices], locale)
    percents = [format_percent(part.value, total) for part in slices]
    numbers = [f"{text} ({percent})" for text, percent in zip(alike, percents, strict=True)]
    for label, number in zip(lines, numbers, strict=True):
        if layout.width_of(label[-1]) + _GAP + layout.width_of_number(number) > room - 18:
            label.append("")  # for the number
    list_height = sum(len(label) * layout.line + 4 for label in lines)
    top = drawing.bottom + 4
    height = max(list_height, 2 * radius, layout.height - top if layout.is_picture else 0)
    centre = (radius if beside else layout.width / 2, top + (height / 2 if beside else radius))
    start = 0.0
    for at, (part, share) in enumerate(zip(slices, shares, strict=True)):
        title = "\n".join(_tooltip(chart, 0, index) for index in part.indices)
        path = _slice_path(radius, start, start + share)
        drawing.add_path(path, title, centre, class_=f"chart-slice slice-{at + 1}")
        if share >= _MIN_SHARE_WITH_PERCENT:
            dx, dy = _on_circle(radius * 0.66, start + share / 2)
            baseline = centre[1] + dy + layout.size / 3
            drawing.write(percents[at], centre[0], baseline, "middle", kind="percent", dx=dx)
        start += share
    y = top + ((height - list_height) / 2 if beside else 2 * radius + 2 * _GAP)
    for at, (label, number) in enumerate(zip(lines, numbers, strict=True)):
        kind = f"chart-slice slice-{at + 1}"
        drawing.add("rect", class_=kind, x=drawing.across(left), y=y + 3, width=12, height=12)
        for line in label:
            drawing.write(line, left, y + layout.size, dx=18)
            y += layout.line
        drawing.write(number, left + room, y - layout.line + layout.size, "end", kind="number")
        y += 4
    drawing.bottom = max(top + height if beside else 0, y)


def _on_circle(radius: float, share: float) -> _Pair:
    turn = 2 * math.pi * share
    return radius * math.sin(turn), -radius * math.cos(turn)


def _slice_path(radius: float, start: float, end: float) -> str:
    def point(share: float) -> str:
        return " ".join(f"{each:.2f}" for each in _on_circle(radius, share))

    arc, large = f"A{_number(radius)} {_number(radius)} 0", int(end - start > 0.5)
    if end - start > 0.9999:
        return f"M{point(0)}{arc} 1 1 {point(0.5)}{arc} 1 1 {point(0)}Z"
    return f"M0 0L{point(start)}{arc} {large} 1 {point(end)}Z"
