"""A chart as text, for where there is no picture: narrow enough for a phone, and readable in any font.

Numbers and bars come first and the label last: a Japanese character is not exactly two columns wide in the
fonts that Discord writes code in, so nothing that should stand in a column may come after one.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from cc_bot.charts.lettering import cells, in_lines
from cc_bot.charts.numbers import exact
from cc_bot.charts.shares import percent
from cc_bot.domain.canvas import Chart, Series

PHONE: Final = 32
"""Columns of a code block on a phone that is held upright."""
_LEAST_LABEL: Final = 8
_LONGEST_BAR: Final = 12
_SHORTEST_BAR: Final = 4


def table(chart: Chart, width: int = PHONE) -> str:
    """The chart without its title, in lines of at most `width` columns: values, a bar for each, the labels.

    Several series stand side by side as far as there is room, and below each other beyond that. Labels and
    names are as the chart has them: whoever puts the table between fences sees to what is in it.
    """
    if not chart.series:
        return ""
    if len(chart.series) == 1:
        return "\n".join(_with_bars(chart, chart.series[0], width))
    return "\n\n".join("\n".join(_side_by_side(chart.labels, some, width)) for some in _fitting(chart, width))


def _with_bars(chart: Chart, series: Series, width: int) -> Iterator[str]:
    heads = _right_aligned([exact(value) for value in series.values])
    if chart.kind == "pie":
        shares = _right_aligned([percent(value, sum(series.values)) for value in series.values])
        heads = [f"{head} {share}" for head, share in zip(heads, shares, strict=True)]
    longest = min(_LONGEST_BAR, width - max(map(len, heads), default=0) - 2 - _LEAST_LABEL)
    bars = _bars(series.values, longest) if longest >= _SHORTEST_BAR else [""] * len(heads)
    for head, bar, label in zip(heads, bars, chart.labels, strict=True):
        yield from _row(f"{head} {bar} " if bar else f"{head} ", label, width)


def _bars(values: Sequence[float], longest: int) -> list[str]:
    """A bar of half columns for each; what is below zero is drawn hollow."""
    largest = max(map(abs, values), default=0)
    bars = []
    for value in values:
        halves = round(abs(value) / largest * longest * 2) if largest else 0
        full, half = ("█", "▌") if value >= 0 else ("░", "░")
        bars.append((full * (halves // 2) + half * (halves % 2)).ljust(longest))
    return bars


def _fitting(chart: Chart, width: int) -> Iterator[list[Series]]:
    """The series in groups whose columns leave room for the labels."""
    group: list[Series] = []
    taken = 0
    for series in chart.series:
        column = max(len(exact(value)) for value in series.values) + 1 if series.values else 1
        if group and taken + column > width - _LEAST_LABEL:
            yield group
            group, taken = [], 0
        group.append(series)
        taken += column
    yield group


def _side_by_side(labels: Sequence[str], group: Sequence[Series], width: int) -> Iterator[str]:
    """Names have no room above their columns: letters stand there, and are explained first."""
    letters = [chr(ord("A") + place) for place in range(len(group))]
    columns = [
        _right_aligned([letter, *(exact(value) for value in series.values)])
        for letter, series in zip(letters, group, strict=True)
    ]
    if len(group) == 1:
        yield from in_lines(group[0].name, width, cells)
        columns = [_right_aligned([exact(value) for value in group[0].values])]
    else:
        for letter, series in zip(letters, group, strict=True):
            yield from _row(f"{letter} ", series.name, width)
        yield " ".join(column.pop(0) for column in columns)
    for numbers, label in zip(zip(*columns, strict=True), labels, strict=True):
        yield from _row(" ".join(numbers) + " ", label, width)


def _row(head: str, label: str, width: int) -> Iterator[str]:
    first, *rest = in_lines(label, max(2, width - len(head)), cells)
    yield (head + first).rstrip()
    yield from (" " * len(head) + line for line in rest)


def _right_aligned(numbers: Sequence[str]) -> list[str]:
    room = max(map(len, numbers), default=0)
    return [number.rjust(room) for number in numbers]
