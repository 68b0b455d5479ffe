"""Where lines may end. Japanese has no blanks between words, so a line may end after almost any character:
only not before one that closes (。」ゃー) nor after one that opens (「（). A Latin word stays whole.

The rule is kinsoku shori in its plain form: Requirements for Japanese Text Layout (W3C), 3.1.7 and 3.1.8.
"""

from collections.abc import Iterator
from typing import Any, Final

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies
from rich.cells import cell_len
from rich.console import Group
from rich.containers import Lines
from rich.text import Text

NOT_AT_START: Final = frozenset(
    "、。，．・：；？！ー〜～）］｝」』】〉》〕’”々ゝゞヽヾ…‥"
    "ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶ"
    ",.:;!?)]}%"
)
NOT_AT_END: Final = frozenset("（［｛「『【〈《〔‘“([{#$¥￥")

_GRAPHEMES: Final = regex.compile(r"\X")


def break_offsets(text: str, width: int) -> list[int]:
    """Where to cut one line of text (no line feeds) so that each piece takes at most `width` cells.

    Blanks at the end of a piece do not count. A grapheme wider than `width` has a piece of its own.
    """
    offsets = []
    column = 0
    start = 0
    for unit in _units(text):
        size = cell_len(unit.rstrip())
        if column and column + size > width:
            offsets.append(start)
            column = 0
        if size > width:
            *cuts, column = _fold(unit, width)
            offsets += [start + cut for cut in cuts]
        else:
            column += cell_len(unit)
        start += len(unit)
    return offsets


def _units(text: str) -> Iterator[str]:
    """The text in pieces that are not parted: a Latin word, or a character with what clings to it."""
    unit = ""
    for grapheme in _GRAPHEMES.findall(text):
        if unit and _parted(unit[-1], unit, grapheme):
            yield unit
            unit = ""
        unit += grapheme
    if unit:
        yield unit


def _parted(last: str, unit: str, grapheme: str) -> bool:
    if grapheme.isspace():
        return False
    if last.isspace():
        return True
    if grapheme in NOT_AT_START or last in NOT_AT_END:
        return False
    return _is_wide(grapheme) or _is_wide(unit[-1:])


def _is_wide(text: str) -> bool:
    return cell_len(text) > 1


def fold_offsets(line: str, width: int) -> list[int]:
    """Where to cut a line that has to stay as it is, such as code: wherever it is full."""
    return _fold(line, width)[:-1]


def _fold(unit: str, width: int) -> list[int]:
    """Where to cut what is too long for a line, and last the column at which it ends."""
    cuts, column, position = [], 0, 0
    for grapheme in _GRAPHEMES.findall(unit):
        size = cell_len(grapheme)
        if column and column + size > width and not grapheme.isspace():
            cuts.append(position)
            column = 0
        column += size
        position += len(grapheme)
    return [*cuts, column]


class WrappedText(Text):
    """Text whose lines end where a reader of Japanese expects it."""

    def wrap(self, console: Any, width: int, **options: Any) -> Lines:
        if self.no_wrap or options.get("no_wrap"):
            return super().wrap(console, width, **options)
        lines = Lines()
        for line in self.split(allow_blank=True):
            line.expand_tabs(options.get("tab_size", 8))
            pieces = line.divide(break_offsets(line.plain, width))
            for piece in pieces:
                piece.rstrip()
            if justify := options.get("justify") or self.justify:
                pieces.justify(console, width, justify=justify, overflow="fold")
            lines.extend(pieces)
        return lines


def wrapped(text: str, style: str = "") -> Group:
    """The text for `Console.print`, which would melt a bare Text into one of its own kind."""
    return Group(WrappedText(text, style=style))
