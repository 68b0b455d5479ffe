"""Charts as PNG, on a dark background, which looks right in both of Discord's themes."""

import re
import struct
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from cc_bot.charts.svg import PICTURE_LAYOUT, chart_svg
from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.kinsoku import graphemes
from cc_bot.domain.text import Locale

PICTURE_WIDTH: Final = 800
GROUND: Final = "#1E1F22"
# Joiners, variation selectors, keycaps, skin tones and tags. resvg can't draw sequences with them.
_NOT_DRAWN: Final = re.compile("[\u200d\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
EMOJI_FONTS: Final = (
    "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf",  # Debian, Ubuntu: fonts-noto-color-emoji
    "/usr/share/fonts/google-noto-color-emoji-fonts/NotoColorEmoji.ttf",  # Fedora
    "/usr/share/fonts/noto/NotoColorEmoji.ttf",  # Arch
)
_EXTRA_PACKAGES: Final = ("resvg_py", "pylopdf_fonts_jp")
# The colours of `canvas.css` in its dark theme; the colour-blind can tell them apart.
_COLOURS: Final = ("#56B4E9", "#E69F00", "#22B893", "#F0E442", "#DD92BD", "#F07850", "#E0E0E0")
_STYLE: Final = (
    f"text {{ font-size: 15px; paint-order: stroke; stroke: {GROUND}; stroke-width: 3; fill: #F2F3F5; }}"
    f".chart-number {{ fill: #B5BAC1; }} .chart-percent {{ fill: {GROUND}; stroke: none; }}"
    ".chart-title { font-size: 18px; }"
    ".chart-grid { stroke: #3F4147; } .chart-zero, .chart-cut { stroke: #B5BAC1; }"
    ".chart-cut { stroke-dasharray: 3 5; }"
    + "".join(
        f".series-{n}, .slice-{n} {{ fill: {colour}; stroke: {colour}; }}"
        for n, colour in enumerate(_COLOURS, start=1)
    )
    + f"text.chart-number {{ stroke: {GROUND}; }} rect, pattern path {{ stroke: none; }}"
    ".chart-line { fill: none; stroke-width: 2.5; stroke-linejoin: round; }"
    f".chart-slice {{ stroke: {GROUND}; stroke-width: 1.5; }}"
    f".chart-hatch {{ fill: none; stroke-width: 1.5; }} pattern .chart-hatch {{ stroke: {GROUND}; }}"
)


def can_draw_png() -> bool:
    return all(map(find_spec, _EXTRA_PACKAGES))


def draw_png(chart: Chart, locale: Locale, *, emoji_fonts: Sequence[str] = EMOJI_FONTS) -> bytes | None:
    """Return a PNG; None if the extra `charts` is not installed or a letter has no glyph. Takes 0.1 s."""
    if not can_draw_png():
        return None
    import resvg_py  # noqa: PLC0415 - of an extra

    words = (chart.title, chart.x_title, chart.y_title, *chart.labels, *(each.name for each in chart.series))
    emoji = next(filter(Path.is_file, map(Path, emoji_fonts)), None)
    drawable = {word: _make_drawable(word, emoji) for word in words}
    if None in drawable.values():
        return None
    written = {word: text or "" for word, text in drawable.items()}
    svg = chart_svg(
        replace(
            chart,
            title=written[chart.title],
            x_title=written[chart.x_title],
            y_title=written[chart.y_title],
            labels=tuple(written[label] for label in chart.labels),
            series=tuple(Series(written[each.name], each.values) for each in chart.series),
        ),
        locale,
        PICTURE_LAYOUT,
    )
    return resvg_py.svg_to_bytes(
        svg_string=svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1),
        style_sheet=_STYLE,
        background=GROUND,
        width=PICTURE_WIDTH,
        skip_system_fonts=True,
        font_files=[str(_font_path()), *([str(emoji)] if emoji else [])],
        font_family="Noto Sans JP",
    )


@cache
def _font_path() -> Path:
    from pylopdf_fonts_jp import sans_path  # noqa: PLC0415 - of an extra

    return sans_path()


@cache
def _characters(font_path: Path) -> frozenset[int]:
    """Return the font's code points, from format 12 of its `cmap` table."""
    font = font_path.read_bytes()
    (tables,) = struct.unpack_from(">H", font, 4)
    entries = (struct.unpack_from(">4s4xL", font, 12 + 16 * at) for at in range(tables))
    cmap = next(offset for tag, offset in entries if tag == b"cmap")
    (subtables,) = struct.unpack_from(">H", font, cmap + 2)
    starts = [cmap + struct.unpack_from(">L", font, cmap + 8 + 8 * at)[0] for at in range(subtables)]
    start = next(each for each in starts if struct.unpack_from(">H", font, each) == (12,))
    (groups,) = struct.unpack_from(">L", font, start + 12)
    ranges = struct.iter_unpack(">LLL", font[start + 16 : start + 16 + 12 * groups])
    return frozenset(code for first, last, _ in ranges for code in range(first, last + 1))


def _make_drawable(text: str, emoji: Path | None) -> str | None:
    """Replace emoji that no font has by their names. Returns None if a letter has no glyph."""
    composed = " ".join(unicodedata.normalize("NFC", text).split())
    letters = _characters(_font_path())
    drawable = ""
    for each in graphemes(composed):
        drawn = _NOT_DRAWN.sub("", each)
        known = letters | _characters(emoji) if emoji else letters
        if known.issuperset(map(ord, drawn)):
            drawable += drawn
        elif any(unicodedata.category(char)[0] in "LMN" for char in drawn):
            return None
        else:
            names = " ".join(unicodedata.name(char, "").lower() for char in drawn).strip()
            drawable += f"({names})" if names else ""
    return drawable
