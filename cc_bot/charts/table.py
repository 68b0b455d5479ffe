"""A chart as text. Labels come last: Discord's Japanese characters are not exactly two columns wide."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.kinsoku import width_in_cells, wrap_label
from cc_bot.domain.text import Locale

# Numbers are shortened in the units of the language: 1,250万 in Japanese, 12.5M in English.

_PLAIN_BELOW: Final = 100_000
_UNITS: Final = {
    Locale.JA: ((1e12, "兆"), (1e8, "億"), (1e4, "万")),
    Locale.EN: ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")),
}
_WRITTEN_OUT_BELOW: Final = 1e15
_SMALLEST_WRITTEN_OUT: Final = 1e-5


def format_exactly(value: float) -> str:
    """Return all digits of an integer, else ten; four digits of very large and very small numbers."""
    if abs(value) >= _WRITTEN_OUT_BELOW or 0 < abs(value) < _SMALLEST_WRITTEN_OUT:
        return f"{value:.4g}"
    if value == int(value):
        return f"{int(value):,}"
    return _format(value, max(0, 10 - len(str(int(abs(value))))))


def _format_plain(value: float) -> str:
    if abs(value) >= _WRITTEN_OUT_BELOW:
        return f"{value:.3g}"
    return _format(value, 2 if abs(value) >= 1 else 4)


def format_alike(values: Sequence[float], locale: Locale) -> list[str]:
    """Return short numbers in one unit, which suits small numbers, too; tiny ones have no unit."""
    sizes = [abs(value) for value in values if value]
    if not sizes or not _PLAIN_BELOW <= max(sizes) < _WRITTEN_OUT_BELOW:
        return [*map(_format_plain, values)]
    factor, unit = _unit(min(max(sizes), min(sizes) * 10), locale)
    decimals = 2 if max(sizes) < factor * 10 else 1 if min(sizes) < factor * 100 else 0
    return [
        _format(value / factor, decimals) + unit if abs(value) >= 0.1 * factor else _format_plain(value)
        for value in values
    ]


_MAX_DECIMALS: Final = 3


def format_ticks(ticks: Sequence[float], locale: Locale) -> list[str]:
    """Return numbers in one unit, with enough decimals to tell them apart."""
    size = max(map(abs, ticks), default=0.0)
    factor, unit = (1.0, "") if size < _PLAIN_BELOW else _unit(size, locale)
    if size >= _WRITTEN_OUT_BELOW * 10:
        return [f"{tick:.3g}" for tick in ticks]
    step = min((abs(b - a) for a, b in pairwise(ticks)), default=size) / factor
    decimals = 0 if step <= 0 else max(0, 1 - math.floor(math.log10(step)))
    if decimals > _MAX_DECIMALS and unit:
        factor, unit, decimals = 1.0, "", decimals - round(math.log10(factor))
    written = [_format(tick / factor, max(0, min(15, decimals))) for tick in ticks]
    return [number + unit if number != "0" else number for number in written]


def _unit(size: float, locale: Locale) -> tuple[float, str]:
    return next((unit for unit in _UNITS[locale] if size >= unit[0]), (1.0, ""))


def _format(value: float, decimals: int) -> str:
    written = f"{value:,.{decimals}f}"
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


MAX_SLICES: Final = 7  # more can't be told apart


@dataclass(frozen=True, slots=True)
class Slice:
    label: str
    value: float
    indices: tuple[int, ...]


def make_slices(labels: Sequence[str], values: Sequence[float], others: str) -> list[Slice]:
    """Combine the smallest into a last slice if there are more than MAX_SLICES. `others`: its label."""
    every = [Slice(label, value, (at,)) for at, (label, value) in enumerate(zip(labels, values, strict=True))]
    if len(every) <= MAX_SLICES:
        return every
    by_size = sorted(every, key=lambda each: -each.value)
    largest, rest = by_size[: MAX_SLICES - 1], by_size[MAX_SLICES - 1 :]
    indices = tuple(sorted(each.indices[0] for each in rest))
    bundled = Slice(others.format(count=len(rest)), sum(each.value for each in rest), indices)
    return [*sorted(largest, key=lambda each: each.indices), bundled]


def format_percent(value: float, total: float) -> str:
    """Return a share of the whole; `<1%` if it is too small."""
    share = value / total if total else 0.0
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


PHONE_COLUMNS: Final = 32  # of a code block on an upright phone
_MIN_LABEL: Final = 8
_USUAL_BAR: Final = 12
_MIN_BAR: Final = 4


def text_table(chart: Chart, width: int = PHONE_COLUMNS) -> str:
    """Return unescaped lines of values, bars and labels, at most `width` columns wide, without the title."""
    if not chart.series:
        return ""
    titles = wrap_label(" / ".join(filter(None, (chart.y_title, chart.x_title))), width, width_in_cells)
    if len(chart.series) == 1:
        tables = ["\n".join(_bar_rows(chart, chart.series[0], width))]
    elif width >= 2 * PHONE_COLUMNS:
        series = ((wrap_label(each.name, width, width_in_cells), each) for each in chart.series)
        tables = ["\n".join((*name, *_bar_rows(chart, each, width))) for name, each in series]
    else:
        groups = _column_groups(chart, width)
        tables = ["\n".join(_series_rows(chart.labels, some, width)) for some in groups]
    return "\n".join([*filter(None, titles), "\n\n".join(tables)])


def _bar_rows(chart: Chart, series: Series, width: int) -> Iterator[str]:
    heads = _align_right([format_exactly(value) for value in series.values])
    if chart.kind == "pie":
        shares = _align_right([format_percent(value, sum(series.values)) for value in series.values])
        heads = [f"{head} {share}" for head, share in zip(heads, shares, strict=True)]
    longest = min(max(_USUAL_BAR, width // 3), width - max(map(len, heads), default=0) - 2 - _MIN_LABEL)
    largest = max((abs(value) for each in chart.series for value in each.values), default=0)
    bars = _bars(series.values, longest, largest) if longest >= _MIN_BAR else [""] * len(heads)
    for head, bar, label in zip(heads, bars, chart.labels, strict=True):
        yield from _row(f"{head} {bar} " if bar else f"{head} ", label, width)


def _bars(values: Sequence[float], longest: int, largest: float) -> list[str]:
    bars = []
    for value in values:
        halves = round(abs(value) / largest * longest * 2) if largest else 0
        full, half = ("█", "▌") if value >= 0 else ("░", "░")
        bars.append((full * (halves // 2) + half * (halves % 2)).ljust(longest))
    return bars


def _column_groups(chart: Chart, width: int) -> Iterator[list[Series]]:
    """Yield groups whose columns leave room for the labels."""
    group: list[Series] = []
    taken = 0
    for series in chart.series:
        column = max(len(format_exactly(value)) for value in series.values) + 1 if series.values else 1
        if group and taken + column > width - _MIN_LABEL:
            yield group
            group, taken = [], 0
        group.append(series)
        taken += column
    yield group


def _series_rows(labels: Sequence[str], group: Sequence[Series], width: int) -> Iterator[str]:
    """Name the columns by letters, as the series' names don't fit above them."""
    letters = [chr(ord("A") + index) for index in range(len(group))]
    columns = [
        _align_right([letter, *(format_exactly(value) for value in series.values)])
        for letter, series in zip(letters, group, strict=True)
    ]
    if len(group) == 1:
        yield from wrap_label(group[0].name, width, width_in_cells)
        columns = [_align_right([format_exactly(value) for value in group[0].values])]
    else:
        for letter, series in zip(letters, group, strict=True):
            yield from _row(f"{letter} ", series.name, width)
        yield " ".join(column.pop(0) for column in columns)
    for numbers, label in zip(zip(*columns, strict=True), labels, strict=True):
        yield from _row(" ".join(numbers) + " ", label, width)


def _row(head: str, label: str, width: int) -> Iterator[str]:
    first, *rest = wrap_label(label, max(2, width - len(head)), width_in_cells)
    yield (head + first).rstrip()
    yield from (" " * len(head) + line for line in rest)


def _align_right(numbers: Sequence[str]) -> list[str]:
    room = max(map(len, numbers), default=0)
    return [number.rjust(room) for number in numbers]
