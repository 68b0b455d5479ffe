"""Facts in a terminal: the lines in which the program itself says what was done, and how an answer ended.

Each begins with a mark in the first column. A line of a model's words that begins with a sign of any kind is
moved two columns to the right, so none begins like a fact, however alike its signs look; letters, digits and
punctuation, Markdown's too, stay where they are. Escape sequences are gone by then (markdown.py).
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment

from cc_bot.domain.message import written_out
from cc_bot.terminal.line_breaks import wrapped

MARK: Final = "◆"
"""No letter, digit or punctuation mark looks like it."""
MARGIN: Final = "  "
BAR: Final = "│ "
"""Stands after the margin before each row of a quotation."""

_LINE_STARTS: Final = re.compile(r"(?:\A|(?<=[\n\u2028\u2029]))([^\S\n\u2028\u2029]*)(?=\S)")
_LINE_ENDS: Final = re.compile("[\n\u2028\u2029]")
_FRAMES: Final = range(0x2500, 0x25A0)
"""Box drawing and block elements: what tables and quotations are made of here."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text within what the program states, whole and as it stands. No row of it passes for a fact: before
    each stands a bar."""

    text: str

    @property
    def lines(self) -> Sequence[str]:
        return _LINE_ENDS.split(written_out(self.text))


Stated = str | Quoted
"""A fact, or what it is about."""


def stated_lines(stated: Sequence[Stated]) -> str:
    """Facts and quotations for a pipe."""
    return "\n".join(_stated_lines(stated))


def _stated_lines(stated: Sequence[Stated]) -> Iterator[str]:
    for each in stated:
        if isinstance(each, Quoted):
            yield from (f"{MARGIN}{BAR}{line}" for line in each.lines)
        else:
            yield fact_lines(each)


def fact_lines(text: str) -> str:
    """A fact for a pipe: the mark stands before each of its lines."""
    return "\n".join(f"{MARK} {line}" for line in text.splitlines())


class FactLines:
    """A fact at a terminal; where it takes several rows, the others are indented."""

    def __init__(self, text: str, style: str = "dim") -> None:
        self._text = text
        self._style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.update(width=max(1, options.max_width - len(MARGIN) - 1))  # the mark may be wide
        for line in self._text.splitlines():
            rows = console.render_lines(wrapped(line, style=self._style), room, pad=False)
            for number, row in enumerate(rows):
                yield Segment(f"{MARK} " if not number else MARGIN, console.get_style("cyan"))
                yield from row
                yield Segment.line()


class QuotedLines:
    """A quotation at a terminal."""

    def __init__(self, quoted: Quoted) -> None:
        self._quoted = quoted

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        before = f"{MARGIN}{BAR}"
        room = options.update(width=max(1, options.max_width - len(before) - 1))  # the bar may be wide
        for line in self._quoted.lines:
            for row in console.render_lines(wrapped(line), room, pad=False):
                yield Segment(before, console.get_style("cyan"))
                yield from row
                yield Segment.line()


def kept_apart(words: str, *, at_line_start: bool = True) -> str:
    """A model's words, of which no line begins like a fact."""

    def margin(match: re.Match[str]) -> str:
        starts_line = match.start() or at_line_start
        return MARGIN + match[0] if starts_line and _begins_like_a_fact(words, match) else match[0]

    return _LINE_STARTS.sub(margin, words)


def begins_like_a_fact(line: str) -> bool:
    """Whether a line of a model's words has to be moved to the right."""
    match = _LINE_STARTS.match(line)
    return match is not None and _begins_like_a_fact(line, match)


def _begins_like_a_fact(words: str, match: re.Match[str]) -> bool:
    first = words[match.end()]
    if len(match[1]) >= len(MARGIN) and match[1][: len(MARGIN)].isascii():
        return False
    return not (first.isascii() or ord(first) in _FRAMES or unicodedata.category(first)[0] in "LNP")
