"""Facts in a terminal: the lines in which the program itself says what was done, and how an answer ended.

Each begins with a mark in the first column. A line of a model's words that begins with a sign of any kind is
moved two columns to the right, so none begins like a fact, however alike its signs look; letters, digits and
punctuation, Markdown's too, stay where they are. Escape sequences are gone by then (markdown.py).
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment

from cc_bot.domain.message import spell_out
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
        return _LINE_ENDS.split(spell_out(self.text))


Stated = str | Quoted
"""A fact, or what it is about."""


def stated_lines(stated: Sequence[Stated]) -> str:
    """Return facts and quotations for a pipe: a mark or a bar stands before each of their lines."""
    return "\n".join(
        f"{MARGIN}{BAR}{line}" if isinstance(each, Quoted) else f"{MARK} {line}"
        for each in stated
        for line in (each.lines if isinstance(each, Quoted) else each.splitlines())
    )


class StatedLines:
    """A fact or a quotation at a terminal. Where a line of a fact takes several rows, others are indented."""

    def __init__(self, stated: Stated, style: str = "") -> None:
        self._stated = stated
        self._style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if isinstance(self._stated, Quoted):
            lines, first, others = self._stated.lines, MARGIN + BAR, MARGIN + BAR
        else:
            lines, first, others = self._stated.splitlines(), f"{MARK} ", MARGIN
        room = options.update(width=max(1, options.max_width - len(first) - 1))  # the mark may be wide
        for line in lines:
            rows = console.render_lines(wrapped(line, style=self._style), room, pad=False)
            for number, row in enumerate(rows):
                yield Segment(others if number else first, console.get_style("cyan"))
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
