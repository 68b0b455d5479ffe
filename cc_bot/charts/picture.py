"""Charts as PNG: the SVG of the pages on a dark background, which looks right on both of Discord's."""

import struct
import unicodedata
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.text import Locale

WIDTH: Final = 800
GROUND: Final = "#1E1F22"
_MARGIN: Final = 10
_NEEDED: Final = ("resvg_py", "pylopdf_fonts_jp")
_COLOURS: Final = ("#56B4E9", "#E69F00", "#22B893", "#F0E442", "#DD92BD", "#F07850", "#E0E0E0", "#8B8F98")
"""The dark colours of `canvas.css`, distinct for the colour-blind."""
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


def draw(chart: Chart, locale: Locale) -> bytes | None:
    """Return the chart as a PNG, without its title. The first takes 0.1 s: not on the loop. None without the
    extra `charts`, or if the font has no character of a label."""
    if not all(map(find_spec, _NEEDED)):
        return None
    import resvg_py  # noqa: PLC0415 - of an extra

    from cc_bot.charts.svg import chart_svg  # noqa: PLC0415 - 30 ms, for the first chart

    named = chart.series if len(chart.series) > 1 else ()
    words = (*chart.labels, *(series.name for series in named))
    if any(word.strip() and not _writable(word) for word in words):
        return None
    written = replace(
        chart,
        labels=tuple(map(_writable, chart.labels)),
        series=tuple(Series(_writable(series.name), series.values) for series in chart.series),
    )
    svg = chart_svg(written, locale, margin=_MARGIN)
    return resvg_py.svg_to_bytes(
        svg_string=svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1),
        style_sheet=_STYLE,
        background=GROUND,
        width=WIDTH,
        skip_system_fonts=True,
        font_files=[str(_font())],
        font_family="Noto Sans JP",
    )


@cache
def _font() -> Path:
    from pylopdf_fonts_jp import sans_path  # noqa: PLC0415 - of an extra

    return sans_path()


@cache
def _characters() -> frozenset[int]:
    """Return the font's code points, from format 12 of its `cmap` table."""
    font = _font().read_bytes()
    (tables,) = struct.unpack_from(">H", font, 4)
    entries = (struct.unpack_from(">4s4xL", font, 12 + 16 * at) for at in range(tables))
    cmap = next(offset for tag, offset in entries if tag == b"cmap")
    (subtables,) = struct.unpack_from(">H", font, cmap + 2)
    starts = [cmap + struct.unpack_from(">L", font, cmap + 8 + 8 * at)[0] for at in range(subtables)]
    start = next(each for each in starts if struct.unpack_from(">H", font, each) == (12,))
    (groups,) = struct.unpack_from(">L", font, start + 12)
    ranges = struct.iter_unpack(">LLL", font[start + 16 : start + 16 + 12 * groups])
    return frozenset(code for first, last, _ in ranges for code in range(first, last + 1))


def _writable(text: str) -> str:
    composed = " ".join(unicodedata.normalize("NFC", text).split())
    return " ".join("".join(each for each in composed if ord(each) in _characters()).split())
