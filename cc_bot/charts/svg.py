"""Charts as SVG, for pages and pictures. The pages' policy forbids inline styles, so colours are classes of
`canvas.css`; series differ without them, too. The font is unknown, so text widths are generous estimates."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Final

from cc_bot.charts.table import Slice, format_alike, format_exactly, format_percent, format_ticks, make_slices
from cc_bot.domain.chart import Chart, parse_numbers
from cc_bot.domain.kinsoku import balance_lines, graphemes, is_wide, shorten_to_width, widest_unit, wrap_label
from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.answer import ChartTexts

_Span = tuple[float, float]
_GAP: Final = 8
_BROAD: Final = frozenset("ABCDEFGHKMNOPQRSTUVWXYZmw%@&—")
_UNWRITABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def width_of(text: str, size: float = 14) -> float:
    """Return the greatest width in usual fonts."""
    ems = (1.0 if is_wide(each) else 0.78 if each in _BROAD else 0.58 for each in graphemes(text))
    return size * sum(ems)


@dataclass(frozen=True, slots=True)
class Layout:
    """Lengths in units: a CSS pixel of a page, two pixels of a picture."""

    width: int
    height: int  # exceeded if there is much to write
    size: int = 14  # of text
    small: int = 13  # of numbers
    margin: int = 0
    has_title: bool = False

    @property
    def line(self) -> int:
        return self.size + 4

    def width_of(self, text: str) -> float:
        return width_of(text, self.size)

    def width_of_number(self, text: str) -> float:
        return width_of(text, self.small)


PAGE_LAYOUTS: Final = (Layout(300, 230), Layout(360, 250), Layout(430, 270), Layout(640, 320))
PICTURE_LAYOUT: Final = Layout(376, 272, size=15, small=15, margin=12, has_title=True)


def chart_html(chart: Chart, locale: Locale) -> str:
    """Return a drawing for each width: `canvas.css` shows the one that fits, so that text keeps its size."""
    drawings = "".join(chart_svg(chart, locale, layout) for layout in PAGE_LAYOUTS)
    return f'<div class="charts">{drawings}</div>'


def chart_svg(chart: Chart, locale: Locale, layout: Layout = PAGE_LAYOUTS[-1]) -> str:
    """Return the chart; its title is the accessible name."""
    drawing = _Drawing(f"svg-{chart.id}-{layout.width}", layout)
    if layout.has_title:
        _write_title(drawing, chart.title)
    if chart.series and chart.labels:
        if chart.kind == "pie":
            _draw_pie(drawing, chart, locale)
        elif chart.kind in ("bar", "stacked") and not _is_upright(chart, layout):
            _draw_rows(drawing, chart, locale)
        else:
            _draw_upright(drawing, chart, locale)
    return drawing.svg(chart.title)


def _escape(text: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", text))


def _number(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")  # and no negative zero


@dataclass(slots=True)
class _Drawing:
    """`bottom` is the lowest point drawn so far."""

    name: str
    layout: Layout
    bottom: float = 0.0
    parts: list[str] = field(default_factory=list)

    def add(self, tag: str, title: str = "", content: str = "", **attributes: float | str) -> None:
        written = ""
        for name, value in attributes.items():
            text = _escape(value) if isinstance(value, str) else _number(value)
            written += f' {name.strip("_").replace("_", "-")}="{text}"'
        inner = f"<title>{_escape(title)}</title>" if title else _escape(content)
        self.parts.append(f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>")

    def write(self, text: str, x: float, y: float, *, anchor: str = "start", number: bool = False) -> None:
        """`y` is the baseline."""
        kind, size = ("chart-number", self.layout.small) if number else ("chart-label", self.layout.size)
        self.add("text", content=text, class_=kind, x=x, y=y, text_anchor=anchor, font_size=size)

    def write_line(self, text: str, x: float = 0, anchor: str = "start") -> None:
        """Write below everything; skip an empty text."""
        if text:
            text = shorten_to_width(text, self.layout.width, self.layout.width_of_number)
            self.write(text, x, self.bottom + self.layout.small, anchor=anchor, number=True)
            self.bottom += self.layout.line

    def svg(self, title: str) -> str:
        name, margin = _escape(f"{self.name}-title"), self.layout.margin
        width, height = self.layout.width + 2 * margin, math.ceil(self.bottom) + 4 + 2 * margin
        if self.layout.has_title:
            height = max(height, self.layout.height + 4 + 2 * margin)
        return (
            f'<svg class="chart chart-{self.layout.width}" width="{width}" height="{height}"'
            f' viewBox="{-margin} {-margin} {width} {height}" role="img" aria-labelledby="{name}">'
            f'<title id="{name}">{_escape(title)}</title>{"".join(self.parts)}</svg>'
        )


_TITLE_SIZE: Final = 18
_MAX_TITLE_LINES: Final = 2


def _write_title(drawing: _Drawing, title: str) -> None:
    def measure(text: str) -> float:
        return width_of(text, _TITLE_SIZE)

    width = drawing.layout.width
    lines = wrap_label(shorten_to_width(title, width * (_MAX_TITLE_LINES - 0.2), measure), width, measure)
    for line in lines if title else ():
        y = drawing.bottom + _TITLE_SIZE
        drawing.add("text", content=line, class_="chart-label", x=0, y=y, font_size=_TITLE_SIZE)
        drawing.bottom += _TITLE_SIZE + 5
    drawing.bottom += _GAP if title else 0


_DASHES: Final = ("", "7 3", "2 3", "9 3 2 3", "4 3", "12 4")
_POINTS: Final = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
    "m-4-4h8v8h-8",
    "m0-4.8l4.8 8.8h-9.6",
    "m0-5.2l5.2 5.2l-5.2 5.2l-5.2-5.2",
    "m0 4.8l4.8-8.8h-9.6",
    "m-1.6-5.2h3.2v3.6h3.6v3.2h-3.6v3.6h-3.2v-3.6h-3.6v-3.2h3.6",
)
_DOT: Final = "m-2-2h4v4h-4"
_HATCHES: Final = ("", "M0 0L6 6", "M0 6L6 0", "M0 3H6", "M3 0V6", "M0 3H6M3 0V6")
_MIN_HATCHED: Final = 4
_SWATCH: Final = 24
_FILLED: Final = ("bar", "stacked", "area")


def _draw_point(drawing: _Drawing, at: int, title: str, x: float, y: float, *, dot: bool = False) -> None:
    """Draw a disc, square, triangle, diamond, triangle or cross; or a dot."""
    path = f"M{_number(x)} {_number(y)}{_DOT if dot else _POINTS[at]}Z"
    drawing.add("path", title, class_=f"series-{at + 1}", d=path)


def _fill(drawing: _Drawing, series: int) -> dict[str, str]:
    return {"fill": f"url(#{drawing.name}-{series + 1})"} if series else {"class_": "series-1"}


def _draw_bar(drawing: _Drawing, at: int, title: str, corner: _Span, size: _Span) -> None:
    (x, y), (width, height) = corner, size
    fill = _fill(drawing, at) if width >= _MIN_HATCHED else {"class_": f"series-{at + 1}"}
    drawing.add("rect", title, **fill, x=x, y=y, width=max(0.5, width), height=max(0.5, height))


def _draw_grid_line(drawing: _Drawing, tick: float, path: str) -> None:
    drawing.add("path", class_="chart-zero" if tick == 0 else "chart-grid", d=path)


def _draw_hatches(drawing: _Drawing, count: int) -> None:
    patterns = "".join(
        f'<pattern id="{_escape(f"{drawing.name}-{at + 1}")}" width="6" height="6"'
        f' patternUnits="userSpaceOnUse"><path class="series-{at + 1}" d="M0 0H6V6H0Z"/>'
        f'<path class="chart-hatch" d="{_HATCHES[at]}"/></pattern>'
        for at in range(1, count)
    )
    drawing.parts.append(f"<defs>{patterns}</defs>")


def _draw_legend(drawing: _Drawing, chart: Chart) -> None:
    if len(chart.series) == 1:
        return
    if chart.kind in _FILLED:
        _draw_hatches(drawing, len(chart.series))
    layout = drawing.layout
    x, y = 0.0, drawing.bottom
    for at, series in enumerate(chart.series):
        lines = wrap_label(series.name, layout.width - _SWATCH, layout.width_of)
        width = _SWATCH + max(map(layout.width_of, lines))
        if x and x + width > layout.width:
            x, y = 0.0, drawing.bottom
        middle = y + layout.line / 2
        if chart.kind in _FILLED:
            _draw_bar(drawing, at, "", (x + 2, middle - 6), (14, 12))
        else:
            if chart.kind == "line":
                _draw_stroke(drawing, at, f"M{_number(x)} {_number(middle)}h20")
            _draw_point(drawing, at, "", x + 10, middle)
        for line, text in enumerate(lines):
            drawing.write(text, x + _SWATCH, y + line * layout.line + layout.size)
        drawing.bottom = max(drawing.bottom, y + len(lines) * layout.line)
        x += width + 2 * _GAP
    drawing.bottom += _GAP


def _draw_stroke(drawing: _Drawing, at: int, d: str) -> None:
    dashes = {"stroke_dasharray": _DASHES[at]} if _DASHES[at] else {}
    drawing.add("path", class_=f"chart-line series-{at + 1}", d=d, **dashes)


def _tooltip(chart: Chart, at: int, index: int) -> str:
    series = chart.series[at]
    named = f"{chart.labels[index]} / {series.name}" if len(chart.series) > 1 else chart.labels[index]
    return f"{named}: {format_exactly(series.values[index])}"


def _value_title(chart: Chart) -> str:
    """Return the title of the values' axis; of a single series, its name."""
    [name] = [each.name for each in chart.series] if len(chart.series) == 1 else [""]
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
    """Include zero if it is near. Whole numbers have no ticks between them."""
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


def _spans(chart: Chart) -> list[list[_Span]]:
    """Return from where to where each value is drawn, by series."""
    if chart.kind in ("line", "scatter"):
        return [[(value, value) for value in series.values] for series in chart.series]
    if chart.kind == "bar":
        return [[(0.0, value) for value in series.values] for series in chart.series]
    rows = []
    sums = [[0.0, 0.0] for _ in chart.labels]  # of positive and of negative values
    for series in chart.series:
        row = []
        for value, label_sums in zip(series.values, sums, strict=True):
            start = label_sums[value < 0]
            label_sums[value < 0] += value
            row.append((start, start + value))
        rows.append(row)
    return rows


def _value_axis(chart: Chart, spans: Sequence[Sequence[_Span]], locale: Locale) -> _Axis:
    values = [value for row in spans for span in row for value in span]
    return _make_axis(values, locale, from_zero=chart.kind in _FILLED)


# Everything with the values upwards, and labels below.

_MAX_LINES: Final = 3
_MAX_STEP: Final = 3  # of labels that are written in full
_GROUP: Final = 0.76
_MAX_BAR: Final = 48
_MIN_BAR: Final = 4
_MIN_PLOT: Final = 110
_MIN_SLOT_OF_POINT: Final = 14
_USUAL_GUTTER: Final = 48
_MAX_ORDERED: Final = 11  # characters of a date or number


def _is_upright(chart: Chart, layout: Layout) -> bool:
    """Return whether bars have room side by side. Of dates and numbers, some labels may be left out."""
    room = layout.width - _USUAL_GUTTER
    bars = len(chart.labels) * (len(chart.series) if chart.kind == "bar" else 1)
    if all(len(each) <= _MAX_ORDERED and re.search(r"\d", each) for each in chart.labels):
        return True
    if room * _GROUP / bars < _MIN_BAR:
        return False
    slot = room / len(chart.labels)
    centres = [_USUAL_GUTTER + (at + 0.5) * slot for at in range(len(chart.labels))]
    return bool(_place_labels(chart.labels, centres, layout, max_step=1))


_Label = tuple[list[str], float]  # lines, and their centre


def _place_labels(
    labels: Sequence[str], centres: Sequence[float], layout: Layout, *, max_step: int, may_wrap: bool = True
) -> list[_Label]:
    """Return every label, or every second, or every third …, that none touches another; or no label."""
    slot = abs(centres[1] - centres[0]) if len(centres) > 1 else layout.width / 2
    for step in range(1, max_step + 1):
        chosen, xs = labels[::step], centres[::step]
        room = slot * step - _GAP
        lines = [[label] for label in chosen]
        if any(layout.width_of(label) > room + _GAP / 2 for label in chosen):
            widest = max(widest_unit(label, layout.width_of) for label in chosen)
            if not may_wrap or room < max(3 * layout.size, widest):
                continue
            lines = [balance_lines(label, room, layout.width_of) for label in chosen]
        if max(map(len, lines)) <= _MAX_LINES and _are_apart(lines, xs, layout):
            return list(zip(lines, xs, strict=True))
    return []


def _are_apart(labels: Sequence[Sequence[str]], centres: Sequence[float], layout: Layout) -> bool:
    widths = [max(map(layout.width_of, lines)) for lines in labels]
    xs = [_inside(x, width, layout) for x, width in zip(centres, widths, strict=True)]
    ends = [(x - width / 2, x + width / 2) for x, width in zip(xs, widths, strict=True)]
    return all(end + _GAP / 2 <= start for (_, end), (start, _) in pairwise(ends))


def _inside(centre: float, width: float, layout: Layout) -> float:
    return max(width / 2, min(layout.width - width / 2, centre))


def _draw_upright(drawing: _Drawing, chart: Chart, locale: Locale) -> None:
    layout = drawing.layout
    spans = _spans(chart)
    axis = _value_axis(chart, spans, locale)
    gutter = max(map(layout.width_of_number, axis.written)) + _GAP
    right = float(layout.width)
    slot = (right - gutter) / len(chart.labels)
    if chart.kind == "scatter":
        positions = parse_numbers(chart.labels) or tuple(map(float, range(len(chart.labels))))
        below = _make_axis(positions, locale)
        right -= layout.width_of(below.written[-1]) / 2
        centres, marked = (
            [gutter + below.share(each) * (right - gutter) for each in some]
            for some in (positions, below.ticks)
        )
        labels = _place_labels(below.written, marked, layout, max_step=len(marked), may_wrap=False)
    else:
        centres = [gutter + (index + 0.5) * slot for index in range(len(chart.labels))]
        short = [shorten_to_width(each, (right - gutter) / 2, layout.width_of) for each in chart.labels]
        labels = _place_labels(chart.labels, centres, layout, max_step=_MAX_STEP) or _place_labels(
            short, centres, layout, max_step=len(short)
        )
    numbers = format_alike(chart.series[0].values, locale)
    is_bars = chart.kind in ("bar", "stacked")
    if not is_bars or len(chart.series) > 1 or max(map(layout.width_of_number, numbers)) > slot - 2:
        numbers = []
    _draw_legend(drawing, chart)
    drawing.write_line(_value_title(chart))
    top = drawing.bottom + (layout.line if numbers else layout.line / 2)
    height = max((len(lines) for lines, _ in labels), default=0) * layout.line
    gap = _GAP + (layout.line if numbers and axis.ticks[0] < 0 else 0)
    plot = max(_MIN_PLOT, layout.height - top - gap - height - (layout.line if chart.x_title else 0))
    bottom = top + plot

    def height_of(value: float) -> float:
        return bottom - axis.share(value) * plot

    for tick, written in zip(axis.ticks, axis.written, strict=True):
        y = height_of(tick)
        start = f"M{_number(gutter)} {_number(y)}"
        if tick == axis.ticks[0] > 0 or tick == axis.ticks[-1] < 0:  # marked by a wave
            waves = "q3-5 6 0t6 0" * int((right - gutter) / 12)
            drawing.add("path", texts(locale)[ChartTexts].cut_axis, class_="chart-cut", d=start + waves)
        else:
            _draw_grid_line(drawing, tick, f"{start}H{_number(right)}")
        drawing.write(written, gutter - 6, y + layout.small / 3, anchor="end", number=True)
    heights = [[(height_of(start), height_of(end)) for start, end in row] for row in spans]
    if is_bars:
        _draw_bars(drawing, chart, centres, heights, slot)
        for text, x, (zero, y) in zip(numbers, centres, heights[0], strict=False):
            baseline = y - 5 if y <= zero else y + layout.small + 3
            drawing.write(text, x, baseline, anchor="middle", number=True)
    else:
        _draw_lines(drawing, chart, centres, heights)
    drawing.bottom = bottom + gap
    for lines, x in labels:
        if len(labels) < len(chart.labels):
            drawing.add("path", class_="chart-zero", d=f"M{_number(x)} {_number(bottom)}v5")
        for at, line in enumerate(lines):
            inside = _inside(x, layout.width_of(line), layout)
            drawing.write(line, inside, drawing.bottom + layout.size + at * layout.line, anchor="middle")
    drawing.bottom += height
    drawing.write_line(chart.x_title, layout.width, "end")


def _draw_lines(
    drawing: _Drawing, chart: Chart, centres: Sequence[float], heights: Sequence[Sequence[_Span]]
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
            drawing.add("path", **_fill(drawing, at), fill_opacity=0.7, d=f"M{path}Z")
        elif chart.kind == "line" and len(upper) > 1:
            _draw_stroke(drawing, at, "M" + "L".join(upper))
    for at, row in enumerate(heights):
        for index, (x, (_, y)) in enumerate(zip(centres, row, strict=True)):
            _draw_point(drawing, at, _tooltip(chart, at, index), x, y, dot=dot)


def _draw_bars(
    drawing: _Drawing, chart: Chart, centres: Sequence[float], heights: Sequence[Sequence[_Span]], slot: float
) -> None:
    stacked = chart.kind == "stacked"
    beside = 1 if stacked else len(chart.series)
    size = min(slot * _GROUP / beside, _MAX_BAR)
    for at, row in enumerate(heights):
        for index, (x, span) in enumerate(zip(centres, row, strict=True)):
            left = x + ((0 if stacked else at) - beside / 2) * size
            top, height = min(span), max(span) - min(span) - stacked
            corner, width = (left, top), size - min(1, size / 4)
            _draw_bar(drawing, at, _tooltip(chart, at, index), corner, (width, height))


# Bars in rows, with labels to the left or above.

_MAX_BESIDE_SHARE: Final = 0.36
_MAX_BESIDE_LINES: Final = 2
_MAX_ROW: Final = 30
_MAX_TALL_ROWS: Final = 6  # of a picture, which is shown as large as its height allows


def _draw_rows(drawing: _Drawing, chart: Chart, locale: Locale) -> None:
    layout = drawing.layout
    spans = _spans(chart)
    axis = _value_axis(chart, spans, locale)
    _draw_legend(drawing, chart)
    drawing.write_line(chart.x_title)
    tall = layout.has_title and len(chart.labels) > _MAX_TALL_ROWS
    gap, share = 3 if tall else _GAP, layout.width * _MAX_BESIDE_SHARE
    if tall:
        labels = [[shorten_to_width(label, share, layout.width_of)] for label in chart.labels]
    else:
        labels = [balance_lines(label, share, layout.width_of) for label in chart.labels]
    beside = max(map(len, labels)) <= _MAX_BESIDE_LINES
    if not beside:
        labels = [wrap_label(label, layout.width, layout.width_of) for label in chart.labels]
    gutter = max(layout.width_of(line) for label in labels for line in label) + _GAP if beside else 0.0
    single = len(chart.series) == 1
    written = format_alike(chart.series[0].values, locale) if single else [""] * len(labels)
    room = max(map(layout.width_of_number, written)) + _GAP
    first, last = (layout.width_of_number(axis.written[end]) / 2 for end in (0, -1))
    left = max(gutter + (room if axis.ticks[0] < 0 else 4), first)
    right = layout.width - max(room, last)

    def position_of(value: float) -> float:
        return left + axis.share(value) * (right - left)

    top = drawing.bottom
    grid = len(drawing.parts)
    bars = 1 if chart.kind == "stacked" else len(chart.series)
    label_space = 0 if beside else max(map(len, labels)) * layout.line
    fair = (layout.height - top - 2 * layout.line) / len(labels) - gap - label_space
    size = max(18 if bars == 1 else 4 if tall else 9, min(fair, _MAX_ROW) / bars)
    for index, lines in enumerate(labels):
        row_top = drawing.bottom
        label_height, bar_height = len(lines) * layout.line, size * bars
        middle = max(0, bar_height - label_height) / 2 if beside else 0
        for at, line in enumerate(lines):
            baseline = row_top + middle + layout.size + at * layout.line
            drawing.write(line, gutter - _GAP if beside else 0, baseline, anchor="end" if beside else "start")
        y = row_top + (max(0, label_height - bar_height) / 2 if beside else label_height + 2)
        for at, row in enumerate(spans):
            start, end = sorted(map(position_of, row[index]))
            row_y = y if chart.kind == "stacked" else y + at * size
            width = end - start - (chart.kind == "stacked")
            _draw_bar(drawing, at, _tooltip(chart, at, index), (start, row_y), (width, size - 1))
        if single:
            anchor, x = ("start", end + 4) if chart.series[0].values[index] >= 0 else ("end", start - 4)
            drawing.write(written[index], x, y + size / 2 + layout.small / 3, anchor=anchor, number=True)
        drawing.bottom = max(row_top + label_height, y + bar_height) + gap
    _draw_axis_below(drawing, axis, [position_of(tick) for tick in axis.ticks], (top, drawing.bottom), grid)
    drawing.write_line(_value_title(chart), layout.width, "end")


def _draw_axis_below(
    drawing: _Drawing, axis: _Axis, xs: Sequence[float], span: tuple[float, float], grid: int
) -> None:
    """Write every tick, or every second …, beginning at zero."""
    layout, (top, bottom) = drawing.layout, span
    lines = _Drawing(drawing.name, layout)
    for tick, x in zip(axis.ticks, xs, strict=True):
        _draw_grid_line(lines, tick, f"M{_number(x)} {_number(top)}V{_number(bottom)}")
    drawing.parts[grid:grid] = lines.parts
    widest = max(map(layout.width_of_number, axis.written)) + _GAP
    step = math.ceil(widest / abs(xs[1] - xs[0]))
    for at in range(axis.ticks.index(0) % step, len(xs), step):
        drawing.write(axis.written[at], xs[at], bottom + layout.small + 2, anchor="middle", number=True)
    drawing.bottom = bottom + layout.line


# Slices run clockwise from the top, in the order of their list.

_MAX_RADIUS: Final = 110
_MAX_LIST: Final = 260
_MIN_BESIDE: Final = 360
_MIN_SHARE_WITH_PERCENT: Final = 0.07


def _draw_pie(drawing: _Drawing, chart: Chart, locale: Locale) -> None:
    """Draw only the list if all values are zero."""
    layout = drawing.layout
    values = [max(0.0, value) for value in chart.series[0].values]
    slices = make_slices(chart.labels, values, texts(locale)[ChartTexts].others)
    drawing.write_line(_value_title(chart))
    beside = layout.width >= _MIN_BESIDE
    top = drawing.bottom + 4
    radius = min(_MAX_RADIUS, layout.width * (0.24 if beside else 0.32))
    left = 2 * radius + 24 if beside else 0.0
    room = min(layout.width - left, _MAX_LIST)
    list_height = _draw_list(_Drawing("", layout), slices, (left, 0, room), locale)
    height = max(list_height, 2 * radius, layout.height - top if layout.has_title else 0)
    centre = (radius if beside else layout.width / 2, top + (height / 2 if beside else radius))
    drawing.bottom = top + height
    list_top = top + (height - list_height) / 2 if beside else top + 2 * radius + 2 * _GAP
    total, angle, percents = sum(values), 0.0, list[tuple[str, float, float]]()
    for at, part in enumerate(slices):
        share = part.value / total if total else 0.0
        title = "\n".join(_tooltip(chart, 0, index) for index in part.indices)
        path = _slice_path(centre, radius, angle, angle + share)
        drawing.add("path", title, class_=f"chart-slice slice-{at + 1}", d=path)
        if share >= _MIN_SHARE_WITH_PERCENT:
            x, y = _on_circle(centre, radius * 0.66, angle + share / 2)
            percents.append((format_percent(part.value, total), x, y + layout.size / 3))
        angle += share
    for percent, x, y in percents:
        drawing.write(percent, x, y, anchor="middle")
    drawing.bottom = max(
        drawing.bottom, list_top + _draw_list(drawing, slices, (left, list_top, room), locale)
    )


def _draw_list(
    drawing: _Drawing, slices: Sequence[Slice], box: tuple[float, float, float], locale: Locale
) -> float:
    """Return its height."""
    layout, (left, top, room) = drawing.layout, box
    written = format_alike([each.value for each in slices], locale)
    total = sum(each.value for each in slices)
    y = top
    for at, part in enumerate(slices):
        drawing.add("rect", class_=f"chart-slice slice-{at + 1}", x=left, y=y + 3, width=12, height=12)
        lines = wrap_label(part.label, room - 18, layout.width_of)
        number = f"{written[at]} ({format_percent(part.value, total)})"
        for line in lines:
            drawing.write(line, left + 18, y + layout.size)
            y += layout.line
        if layout.width_of(lines[-1]) + _GAP + layout.width_of_number(number) > room - 18:
            y += layout.line
        drawing.write(number, left + room, y - layout.line + layout.size, anchor="end", number=True)
        y += 4
    return y - top


def _on_circle(centre: _Span, radius: float, share: float) -> _Span:
    turn = 2 * math.pi * share
    return centre[0] + radius * math.sin(turn), centre[1] - radius * math.cos(turn)


def _slice_path(centre: _Span, radius: float, start: float, end: float) -> str:
    def point(share: float) -> str:
        return " ".join(f"{each:.2f}" for each in _on_circle(centre, radius, share))

    arc, large = f"A{_number(radius)} {_number(radius)} 0", int(end - start > 0.5)
    if end - start > 0.9999:
        return f"M{point(0)}{arc} 1 1 {point(0.5)}{arc} 1 1 {point(0)}Z"
    return f"M{_number(centre[0])} {_number(centre[1])}L{point(start)}{arc} {large} 1 {point(end)}Z"
