"""Charts as SVG for pages, and as PNG. The pages' policy forbids inline styles, so colours are classes of
`canvas.css`; series differ without them, too. The font is unknown, so text widths are generous estimates."""

import math
import re
import struct
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Final

from cc_bot.charts.table import format_exactly, format_percent, format_short, format_ticks, make_slices
from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.kinsoku import balance_lines, graphemes, is_wide, shorten_to_width, widest_unit, wrap_label
from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.answer import ChartTexts

WIDTH: Final = 440  # shown at seven tenths of it on a phone
SIZE: Final = 14
SMALL: Final = 13
_LINE: Final = 18
_GAP: Final = 8
_PLOT: Final = 200


def chart_svg(chart: Chart, locale: Locale, *, margin: int = 0) -> str:
    """Return the chart; its title is the accessible name. `margin`: units around it."""
    drawing = _Drawing(chart.id)
    if chart.series and chart.labels:
        match chart.kind:
            case "pie":
                _draw_pie(drawing, chart, locale)
            case "line":
                _draw_vertical(drawing, chart, locale)
            case "bar":
                too_many = len(chart.series) * len(chart.labels) > _MAX_VERTICAL_BARS
                is_vertical = not too_many and _wrap_labels_below(
                    chart.labels, _gutter(_make_axis(chart, locale))
                )
                (_draw_vertical if is_vertical else _draw_horizontal_bars)(drawing, chart, locale)
    return drawing.svg(chart.title, margin)


_BROAD: Final = frozenset("ABCDEFGHKMNOPQRSTUVWXYZmw%@&—")
_UNWRITABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def width_of(text: str, size: float = SIZE) -> float:
    """Return the greatest width in usual fonts."""
    ems = (1.0 if is_wide(each) else 0.78 if each in _BROAD else 0.58 for each in graphemes(text))
    return size * sum(ems)


def _escape(text: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", text))


def _number(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")  # and no negative zero


@dataclass(slots=True)
class _Drawing:
    """`bottom` is the lowest point drawn so far."""

    name: str
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
        kind, size = ("chart-number", SMALL) if number else ("chart-label", SIZE)
        self.add("text", content=text, class_=kind, x=x, y=y, text_anchor=anchor, font_size=size)

    def svg(self, title: str, margin: int) -> str:
        name = _escape(f"svg-{self.name}-title")
        parts = "".join(self.parts)
        height = _number(math.ceil(self.bottom) + 4 + 2 * margin)
        return (
            f'<svg class="chart" viewBox="{-margin} {-margin} {WIDTH + 2 * margin} {height}" role="img"'
            f' aria-labelledby="{name}"><title id="{name}">{_escape(title)}</title>{parts}</svg>'
        )


_DASHES: Final = ("", "7 3", "2 3", "9 3 2 3", "4 3", "12 4")
_POINTS: Final = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
    "m-4-4h8v8h-8",
    "m0-4.8l4.8 8.8h-9.6",
    "m0-5.2l5.2 5.2l-5.2 5.2l-5.2-5.2",
    "m0 4.8l4.8-8.8h-9.6",
    "m-1.6-5.2h3.2v3.6h3.6v3.2h-3.6v3.6h-3.2v-3.6h-3.6v-3.2h3.6",
)
_HATCHES: Final = ("", "M0 0L6 6", "M0 6L6 0", "M0 3H6", "M3 0V6", "M0 3H6M3 0V6")
_SWATCH: Final = 24


def _point_path(at: int, x: float, y: float) -> str:
    """Return a disc, square, triangle, diamond, triangle or cross."""
    return f"M{_number(x)} {_number(y)}{_POINTS[at]}Z"


def _draw_bar(
    drawing: _Drawing, series: int, title: str, *, x: float, y: float, width: float, height: float
) -> None:
    fill = {"fill": f"url(#svg-{drawing.name}-{series + 1})"} if series else {"class_": "series-1"}
    drawing.add("rect", title, **fill, x=x, y=y, width=width, height=height)


def _draw_grid_line(drawing: _Drawing, tick: float, path: str) -> None:
    drawing.add("path", class_="chart-zero" if tick == 0 else "chart-grid", d=path)


def _draw_hatches(drawing: _Drawing, count: int) -> None:
    patterns = "".join(
        f'<pattern id="{_escape(f"svg-{drawing.name}-{at + 1}")}" width="6" height="6"'
        f' patternUnits="userSpaceOnUse"><path class="series-{at + 1}" d="M0 0H6V6H0Z"/>'
        f'<path class="chart-hatch" d="{_HATCHES[at]}"/></pattern>'
        for at in range(1, count)
    )
    drawing.parts.append(f"<defs>{patterns}</defs>")


def _draw_legend(drawing: _Drawing, chart: Chart) -> None:
    if len(chart.series) == 1:
        return
    if chart.kind == "bar":
        _draw_hatches(drawing, len(chart.series))
    x = 0.0
    y = drawing.bottom
    for at, series in enumerate(chart.series):
        lines = wrap_label(series.name, WIDTH - _SWATCH, width_of)
        width = _SWATCH + max(map(width_of, lines))
        if x and x + width > WIDTH:
            x, y = 0.0, drawing.bottom
        middle = y + _LINE / 2
        if chart.kind == "bar":
            _draw_bar(drawing, at, "", x=x + 4, y=middle - 6, width=14, height=12)
        else:
            _draw_stroke(drawing, at, f"M{_number(x)} {_number(middle)}H{_number(x + 20)}")
            drawing.add("path", class_=f"series-{at + 1}", d=_point_path(at, x + 10, middle))
        for line, text in enumerate(lines):
            drawing.write(text, x + _SWATCH, y + line * _LINE + SIZE)
        drawing.bottom = max(drawing.bottom, y + len(lines) * _LINE)
        x += width + 2 * _GAP
    drawing.bottom += _GAP


def _draw_stroke(drawing: _Drawing, at: int, d: str) -> None:
    dashes = {"stroke_dasharray": _DASHES[at]} if _DASHES[at] else {}
    drawing.add("path", class_=f"chart-line series-{at + 1}", d=d, **dashes)


def _tooltip(chart: Chart, at: int, index: int) -> str:
    series = chart.series[at]
    named = f"{chart.labels[index]} / {series.name}" if len(chart.series) > 1 else chart.labels[index]
    return f"{named}: {format_exactly(series.values[index])}"


_AXIS_STEPS: Final = 5
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


def _make_axis(chart: Chart, locale: Locale) -> _Axis:
    """Include zero for bars, so that their lengths are proportional."""
    values = [value for series in chart.series for value in series.values]
    low, high = min(values), max(values)
    size = max(abs(low), abs(high))
    if size < _SMALLEST:
        low, high, size = 0.0, 1.0, 1.0
    if chart.kind == "bar" or high - low < size * 1e-9:
        low, high = min(low, 0.0), max(high, 0.0)
    raw = (high - low) / _AXIS_STEPS
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(each * magnitude for each in _STEP_SIZES if each * magnitude >= raw * (1 - 1e-9))
    indices = range(math.floor(low / step), math.ceil(high / step) + 1)
    ticks = tuple(index * step for index in indices)
    written = format_ticks(ticks, locale) if size >= _SMALLEST_SCALED else [f"{tick:.3g}" for tick in ticks]
    return _Axis(ticks, tuple(written))


# Lines and vertical bars, with labels below.

_MAX_VERTICAL_BARS: Final = 72
_MAX_LINES: Final = 3
_MIN_LEFT: Final = 4
_GROUP: Final = 0.76
_MIN_GUTTER: Final = 44


def _gutter(axis: _Axis) -> float:
    return max(_MIN_GUTTER, max(width_of(each, SMALL) for each in axis.written) + _GAP)


def _wrap_labels_below(labels: Sequence[str], gutter: float) -> list[list[str]] | None:
    slot = (WIDTH - gutter) / len(labels)
    if all(width_of(label) <= slot - _GAP / 4 for label in labels):
        return [[label] for label in labels]
    room = slot - _GAP
    if any(widest_unit(label, width_of) > room for label in labels) or room < 3 * SIZE:
        return None
    lines = [balance_lines(label, room, width_of) for label in labels]
    return lines if max(map(len, lines)) <= _MAX_LINES else None


def _draw_vertical(drawing: _Drawing, chart: Chart, locale: Locale) -> None:
    _draw_legend(drawing, chart)
    axis = _make_axis(chart, locale)
    gutter = _gutter(axis)
    slot = (WIDTH - gutter) / len(chart.labels)
    top = drawing.bottom + _LINE
    bottom = top + _PLOT

    def height(value: float) -> float:
        return bottom - axis.share(value) * _PLOT

    for tick, written in zip(axis.ticks, axis.written, strict=True):
        _draw_grid_line(drawing, tick, f"M{_number(gutter)} {_number(height(tick))}H{WIDTH}")
        drawing.write(written, gutter - 6, height(tick) + 4, anchor="end", number=True)
    centres = [gutter + (index + 0.5) * slot for index in range(len(chart.labels))]
    heights = [[height(value) for value in series.values] for series in chart.series]
    drawing.bottom = bottom + _GAP
    if chart.kind == "line":
        _draw_lines(drawing, chart, centres, heights)
    else:
        _draw_vertical_bars(drawing, chart, locale, centres, heights, zero=height(0))
        if min(axis.ticks) < 0:
            drawing.bottom += _LINE  # for the numbers below their bars
    _write_labels_below(drawing, chart.labels, centres, gutter)


def _draw_lines(
    drawing: _Drawing, chart: Chart, centres: Sequence[float], heights: Sequence[Sequence[float]]
) -> None:
    for at, line in enumerate(heights):
        points = [f"{_number(x)} {_number(y)}" for x, y in zip(centres, line, strict=True)]
        if len(points) > 1:
            _draw_stroke(drawing, at, "M" + "L".join(points))
    for at, line in enumerate(heights):
        for index, (x, y) in enumerate(zip(centres, line, strict=True)):
            drawing.add(
                "path", _tooltip(chart, at, index), class_=f"series-{at + 1}", d=_point_path(at, x, y)
            )


def _draw_vertical_bars(
    drawing: _Drawing,
    chart: Chart,
    locale: Locale,
    centres: Sequence[float],
    heights: Sequence[Sequence[float]],
    *,
    zero: float,
) -> None:
    slot = (WIDTH - centres[0]) / (len(centres) - 0.5)
    bar_size = min(slot * _GROUP, 90) / len(chart.series)
    for at, line in enumerate(heights):
        for index, (x, y) in enumerate(zip(centres, line, strict=True)):
            _draw_bar(
                drawing,
                at,
                _tooltip(chart, at, index),
                x=x + (at - len(chart.series) / 2) * bar_size,
                y=min(y, zero),
                width=max(0.5, bar_size - min(1, bar_size / 4)),
                height=max(abs(y - zero), 0.5),
            )
    written = [format_short(value, locale) for value in chart.series[0].values]
    if len(chart.series) == 1 and max(width_of(each, SMALL) for each in written) <= slot - 2:
        for text, value, x, y in zip(written, chart.series[0].values, centres, heights[0], strict=True):
            drawing.write(text, x, y - 5 if value >= 0 else y + SMALL + 3, anchor="middle", number=True)


def _write_labels_below(
    drawing: _Drawing, labels: Sequence[str], centres: Sequence[float], gutter: float
) -> None:
    top = drawing.bottom
    if lines := _wrap_labels_below(labels, gutter):
        for x, label in zip(centres, lines, strict=True):
            for at, line in enumerate(label):
                drawing.write(line, x, top + SIZE + at * _LINE, anchor="middle")
        drawing.bottom = top + max(map(len, lines)) * _LINE
        return
    room = (WIDTH - gutter) / min(len(labels), _MIN_LEFT) - _GAP
    for text, x in _choose_labels([shorten_to_width(label, room, width_of) for label in labels], centres):
        drawing.write(text, x, top + SIZE, anchor="middle")
    drawing.bottom = top + _LINE


def _choose_labels(labels: Sequence[str], centres: Sequence[float]) -> list[tuple[str, float]]:
    for step in range(1, len(labels) + 1):
        chosen = labels[::step]
        half = [width_of(text) / 2 for text in chosen]
        xs = [max(wide, min(WIDTH - wide, x)) for x, wide in zip(centres[::step], half, strict=True)]
        ends = list(zip(xs, half, strict=True))
        if all(x + wide + _GAP <= other - its for (x, wide), (other, its) in pairwise(ends)):
            return list(zip(chosen, xs, strict=True))
    return []


# Horizontal bars, with labels to the left or above.

_MAX_BESIDE_WIDTH: Final = 150
_MAX_BESIDE_LINES: Final = 2


def _draw_horizontal_bars(drawing: _Drawing, chart: Chart, locale: Locale) -> None:
    _draw_legend(drawing, chart)
    labels = [balance_lines(label, _MAX_BESIDE_WIDTH, width_of) for label in chart.labels]
    beside = max(map(len, labels)) <= _MAX_BESIDE_LINES
    if not beside:
        labels = [wrap_label(label, WIDTH, width_of) for label in chart.labels]
    gutter = max(width_of(line) for label in labels for line in label) + _GAP if beside else 0.0
    written = [format_short(value, locale) for value in chart.series[0].values]
    room = max(width_of(each, SMALL) for each in written) + _GAP if len(chart.series) == 1 else _GAP
    negative = any(value < 0 for series in chart.series for value in series.values)
    axis = _make_axis(chart, locale)
    first, last = (width_of(axis.written[end], SMALL) / 2 for end in (0, -1))
    left = max(gutter + (room if negative else 4), first)
    right = WIDTH - max(room, last)

    def position_of(value: float) -> float:
        return left + axis.share(value) * (right - left)

    top = drawing.bottom
    grid = len(drawing.parts)
    bar_size = 18.0 if len(chart.series) == 1 else 9.0
    for index, lines in enumerate(labels):
        row_top = drawing.bottom
        for at, line in enumerate(lines):
            x = gutter - _GAP if beside else 0
            drawing.write(line, x, row_top + SIZE + at * _LINE, anchor="end" if beside else "start")
        label_height = len(lines) * _LINE
        y = row_top + (
            max(0, label_height - bar_size * len(chart.series)) / 2 if beside else label_height + 2
        )
        for at, series in enumerate(chart.series):
            value = series.values[index]
            start, end = sorted((position_of(0), position_of(value)))
            title, width = _tooltip(chart, at, index), max(0.5, end - start)
            _draw_bar(drawing, at, title, x=start, y=y + at * bar_size, width=width, height=bar_size - 1)
        if len(chart.series) == 1:
            anchor, x = ("start", end + 4) if value >= 0 else ("end", start - 4)
            drawing.write(written[index], x, y + 13, anchor=anchor, number=True)
        drawing.bottom = max(row_top + label_height, y + bar_size * len(chart.series)) + _GAP
    _draw_horizontal_axis(
        drawing, axis, [position_of(tick) for tick in axis.ticks], (top, drawing.bottom), grid
    )


def _draw_horizontal_axis(
    drawing: _Drawing, axis: _Axis, indices: Sequence[float], span: tuple[float, float], grid: int
) -> None:
    top, bottom = span
    grid_lines = _Drawing(drawing.name)
    for tick, x in zip(axis.ticks, indices, strict=True):
        _draw_grid_line(grid_lines, tick, f"M{_number(x)} {_number(top)}V{_number(bottom)}")
    drawing.parts[grid:grid] = grid_lines.parts
    end = -math.inf
    for written, x in zip(axis.written, indices, strict=True):
        half = width_of(written, SMALL) / 2
        if x - half >= max(0, end + _GAP) and x + half <= WIDTH:
            drawing.write(written, x, bottom + SMALL + 2, anchor="middle", number=True)
            end = x + half
    drawing.bottom = bottom + _LINE


# Slices run clockwise from the top, lettered as in their list.

_RADIUS: Final = 88
_CENTRE: Final = 108
_LIST: Final = 2 * _CENTRE + 40
_MIN_SHARE_WITH_LETTER: Final = 0.05


def _draw_pie(drawing: _Drawing, chart: Chart, locale: Locale) -> None:
    """Draw only the list if all values are zero."""
    values = [max(0.0, value) for value in chart.series[0].values]
    parts = make_slices(chart.labels, values, texts(locale)[ChartTexts].others)
    total = sum(values)
    angle = y = 0.0
    for at, part in enumerate(parts):
        letter = chr(ord("A") + at)
        share = part.value / total if total else 0.0
        title = "\n".join(_tooltip(chart, 0, index) for index in part.indices)
        drawing.add("path", title, class_=f"chart-slice slice-{at + 1}", d=_slice_path(angle, angle + share))
        if share >= _MIN_SHARE_WITH_LETTER:
            turn = 2 * math.pi * (angle + share / 2)
            away = _RADIUS + 12
            x, middle = _CENTRE + away * math.sin(turn), _CENTRE - away * math.cos(turn)
            drawing.write(letter, x, middle + 4, anchor="middle", number=True)
        angle += share
        drawing.add("rect", class_=f"chart-slice slice-{at + 1}", x=_LIST - 34, y=y + 3, width=12, height=12)
        drawing.write(letter, _LIST - 16, y + SIZE, number=True)
        for line in wrap_label(part.label, WIDTH - _LIST, width_of):
            drawing.write(line, _LIST, y + SIZE)
            y += _LINE
        number = f"{format_short(part.value, locale)} ({format_percent(part.value, total)})"
        drawing.write(number, _LIST, y + SMALL, number=True)
        y += _LINE + 6
    drawing.bottom = max(y, 2 * _CENTRE)


def _slice_path(start: float, end: float) -> str:
    if end - start > 0.9999:
        r = _number(_RADIUS)
        return (
            f"M{_CENTRE} {_CENTRE - _RADIUS}A{r} {r} 0 1 1 {_CENTRE} {_CENTRE + _RADIUS}"
            f"A{r} {r} 0 1 1 {_CENTRE} {_CENTRE - _RADIUS}Z"
        )
    turns = [2 * math.pi * share for share in (start, end)]
    ends = [f"{_CENTRE + _RADIUS * math.sin(t):.2f} {_CENTRE - _RADIUS * math.cos(t):.2f}" for t in turns]
    large = int(end - start > 0.5)
    return f"M{_CENTRE} {_CENTRE}L{ends[0]}A{_RADIUS} {_RADIUS} 0 {large} 1 {ends[1]}Z"


# As PNG: on a dark background, which looks right on both of Discord's.

PICTURE_WIDTH: Final = 800
GROUND: Final = "#1E1F22"
_PICTURE_MARGIN: Final = 10
_EXTRA_PACKAGES: Final = ("resvg_py", "pylopdf_fonts_jp")
# The dark colours of `canvas.css`, distinct for the colour-blind.
_COLOURS: Final = ("#56B4E9", "#E69F00", "#22B893", "#F0E442", "#DD92BD", "#F07850", "#E0E0E0", "#8B8F98")
_STYLE: Final = (
    f".chart-label, .chart-number {{ paint-order: stroke; stroke: {GROUND}; stroke-width: 3; }}"
    ".chart-label { fill: #F2F3F5; } .chart-number { fill: #B5BAC1; }"
    ".chart-grid { stroke: #3F4147; } .chart-zero { stroke: #B5BAC1; }"
    + "".join(
        f".series-{n}, .slice-{n} {{ fill: {colour}; stroke: {colour}; }}"
        for n, colour in enumerate(_COLOURS, start=1)
    )
    + "rect, pattern path { stroke: none; }"
    ".chart-line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }"
    f".chart-slice {{ stroke: {GROUND}; stroke-width: 1.5; }}"
    f".chart-hatch {{ fill: none; stroke-width: 1.5; }} pattern .chart-hatch {{ stroke: {GROUND}; }}"
)


@cache
def can_draw_png() -> bool:
    """Return whether the extra `charts` is installed."""
    return all(map(find_spec, _EXTRA_PACKAGES))


def draw_png(chart: Chart, locale: Locale) -> bytes | None:
    """Return a PNG; None without the extra `charts` or a label's glyphs. May block for 0.1 s."""
    if not can_draw_png():
        return None
    import resvg_py  # noqa: PLC0415 - of an extra

    named = chart.series if len(chart.series) > 1 else ()
    words = (*chart.labels, *(series.name for series in named))
    if any(word.strip() and not _keep_drawable(word) for word in words):
        return None
    written = replace(
        chart,
        labels=tuple(map(_keep_drawable, chart.labels)),
        series=tuple(Series(_keep_drawable(series.name), series.values) for series in chart.series),
    )
    svg = chart_svg(written, locale, margin=_PICTURE_MARGIN)
    return resvg_py.svg_to_bytes(
        svg_string=svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1),
        style_sheet=_STYLE,
        background=GROUND,
        width=PICTURE_WIDTH,
        skip_system_fonts=True,
        font_files=[str(_font_path())],
        font_family="Noto Sans JP",
    )


@cache
def _font_path() -> Path:
    from pylopdf_fonts_jp import sans_path  # noqa: PLC0415 - of an extra

    return sans_path()


@cache
def _characters() -> frozenset[int]:
    """Return the font's code points, from format 12 of its `cmap` table."""
    font = _font_path().read_bytes()
    (tables,) = struct.unpack_from(">H", font, 4)
    entries = (struct.unpack_from(">4s4xL", font, 12 + 16 * at) for at in range(tables))
    cmap = next(offset for tag, offset in entries if tag == b"cmap")
    (subtables,) = struct.unpack_from(">H", font, cmap + 2)
    starts = [cmap + struct.unpack_from(">L", font, cmap + 8 + 8 * at)[0] for at in range(subtables)]
    start = next(each for each in starts if struct.unpack_from(">H", font, each) == (12,))
    (groups,) = struct.unpack_from(">L", font, start + 12)
    ranges = struct.iter_unpack(">LLL", font[start + 16 : start + 16 + 12 * groups])
    return frozenset(code for first, last, _ in ranges for code in range(first, last + 1))


def _keep_drawable(text: str) -> str:
    composed = " ".join(unicodedata.normalize("NFC", text).split())
    return " ".join("".join(each for each in composed if ord(each) in _characters()).split())
