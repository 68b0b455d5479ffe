"""Text on a terminal: what is safe to print, where its lines end, what it can't pass for, and Markdown as it
grows."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderResult
from rich.containers import Lines
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownContext, Paragraph, TableDataElement
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text

from cc_bot.domain.kinsoku import graphemes, units
from cc_bot.domain.message import spell_out
from cc_bot.domain.text import printable

# ---- printable -------------------------------------------------------------------------------------------
# Text that is safe to print: what models, files and users wrote never moves the cursor, nor does it turn
# around what stands after it in the line.


def one_line(text: str, limit: int = 200) -> str:
    """Return the text on one line of at most `limit` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


# ---- line breaks -----------------------------------------------------------------------------------------


def break_offsets(text: str, width: int) -> list[int]:
    """Return where to cut one line of text (no line feeds) so that each piece takes at most `width` cells.

    Blanks at the end of a piece do not count. A grapheme wider than `width` has a piece of its own.
    """
    offsets = []
    column = 0
    start = 0
    for unit in units(text):
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


def fold_offsets(line: str, width: int) -> list[int]:
    """Return where to cut a line that has to stay as it is, such as code: wherever it is full."""
    return _fold(line, width)[:-1]


def _fold(unit: str, width: int) -> list[int]:
    """Return where to cut what is too long for a line, and last the column at which it ends."""
    cuts, column, position = [], 0, 0
    for grapheme in graphemes(unit):
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


def wrap_text(text: str, style: str = "") -> Group:
    """Return the text for `Console.print`, which would melt a bare Text into one of its own kind."""
    return Group(WrappedText(text, style=style))


# ---- facts -----------------------------------------------------------------------------------------------
# The lines in which the program itself says what was done, and how an answer ended.
#
# Each begins with a mark in the first column. A line of a model's words that begins with a sign of any kind
# is moved two columns to the right, so none begins like a fact, however alike its signs look; letters, digits
# and punctuation, Markdown's too, stay where they are. Escape sequences are gone by then (`printable`).

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
            rows = console.render_lines(wrap_text(line, style=self._style), room, pad=False)
            for number, row in enumerate(rows):
                yield Segment(others if number else first, console.get_style("cyan"))
                yield from row
                yield Segment.line()


def set_apart(words: str, *, at_line_start: bool = True) -> str:
    """Return a model's words so that no line of them begins like a fact."""

    def margin(match: re.Match[str]) -> str:
        starts_line = match.start() or at_line_start
        return MARGIN + match[0] if starts_line and _begins_like_a_fact(words, match) else match[0]

    return _LINE_STARTS.sub(margin, words)


def begins_like_a_fact(line: str) -> bool:
    """Return whether a line of a model's words has to be moved to the right."""
    match = _LINE_STARTS.match(line)
    return match is not None and _begins_like_a_fact(line, match)


def _begins_like_a_fact(words: str, match: re.Match[str]) -> bool:
    first = words[match.end()]
    if len(match[1]) >= len(MARGIN) and match[1][: len(MARGIN)].isascii():
        return False
    return not (first.isascii() or ord(first) in _FRAMES or unicodedata.category(first)[0] in "LNP")


# ---- markdown --------------------------------------------------------------------------------------------
# A block (a paragraph, a list, a piece of code) may change its look until the next one has begun: a table's
# columns widen, a star turns out to be bold. So only blocks that are over are `settled` and printed for good;
# the last one stays `open` and is drawn anew with each piece of text. Each block is rendered by itself, which
# makes the outcome the same however the text was cut into pieces.

Line = list[Segment]


class _Code(CodeBlock):
    """Code without a background: it has to read well on light terminals and be copied without blanks."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        syntax = Syntax("", self.lexer_name, theme="ansi_dark", background_color="default")
        width = max(1, options.max_width - 2)
        for line in syntax.highlight(str(self.text).rstrip()).split("\n", allow_blank=True):
            line.expand_tabs(4)
            for piece in line.divide(fold_offsets(line.plain, width)):
                yield Text("  ", end="").append_text(piece)
                yield Segment.line()


class _Paragraph(Paragraph):
    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self.text = WrappedText()


class _Cell(TableDataElement):
    def __init__(self, justify: JustifyMethod) -> None:
        super().__init__(justify)
        self.content = WrappedText(justify=justify)


class _Heading(Heading):
    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self.text = WrappedText()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class ChatMarkdown(Markdown):
    """Markdown that a model writes for a chat: a line end is a line end, and HTML is text like any other."""

    elements: ClassVar = {
        **Markdown.elements,
        "paragraph_open": _Paragraph,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "td_open": _Cell,
        "th_open": _Cell,
    }

    def __init__(self, markup: str) -> None:
        super().__init__(markup, hyperlinks=False)
        _adapt_to_chat(self.parsed)


def _adapt_to_chat(tokens: list[Any]) -> None:
    shown_as = {"softbreak": "hardbreak", "html_inline": "text", "html_block": "code_block"}
    for token in tokens:
        token.type = shown_as.get(token.type, token.type)
        _adapt_to_chat(token.children or [])


class GrowingMarkdown:
    """A text that comes in pieces, as lines of at most `width` cells."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._open = ""
        self._begun = False

    def add(self, text: str) -> list[Line]:
        """Take the next piece; return the lines that it settled."""
        self._open += printable(text)
        if "\n" not in text:
            return []
        *settled, self._open = self._blocks()
        return [line for block in settled for line in self._settle(block)]

    def open_lines(self) -> list[Line]:
        """Return the block that may still change, as it looks now."""
        return self._spaced(self._open)

    def end(self) -> list[Line]:
        """Return the last lines; after that a new text may begin."""
        blocks = _split(self._open)
        self._open = ""
        return [line for block in blocks for line in self._settle(block)]

    def _blocks(self) -> list[str]:
        """Return every block that is over, and the rest.

        A line that has not ended yet is left out of the decision: `2` may become `2. next item`.
        """
        whole = self._open.rfind("\n") + 1
        blocks = _split(self._open[:whole])
        return [*blocks[:-1], (blocks[-1] if blocks else "") + self._open[whole:]]

    def _settle(self, block: str) -> list[Line]:
        lines = self._spaced(block)
        self._begun = self._begun or bool(lines)
        return lines

    def _spaced(self, block: str) -> list[Line]:
        """Return the block's lines, after an empty one unless it is the first."""
        lines = self._rows(block, self._console.width)
        if any(map(_is_like_a_fact, lines)):
            lines = self._rows(block, max(1, self._console.width - len(MARGIN)))
            lines = [[Segment(MARGIN), *line] if _is_like_a_fact(line) else line for line in lines]
        while lines and not lines[0]:
            lines.pop(0)
        while lines and not lines[-1]:
            lines.pop()
        return [[], *lines] if lines and self._begun else lines

    def _rows(self, block: str, width: int) -> list[Line]:
        options = self._console.options.update(width=width)
        return [
            _trim_end(line) for line in self._console.render_lines(ChatMarkdown(block), options, pad=False)
        ]


def _split(text: str) -> list[str]:
    """Return the text cut where its top-level blocks begin."""
    rows = re.findall(r"[^\n]*\n|[^\n]+", text)  # Markdown knows no other line end
    starts = sorted(set(_starts(text)) - {0})
    edges = [0, *starts, len(rows)]
    return ["".join(rows[begin:end]) for begin, end in pairwise(edges)]


def _starts(text: str) -> Iterator[int]:
    for token in Markdown(text).parsed:
        if token.level == 0 and token.map and token.nesting >= 0:
            yield token.map[0]


def _is_like_a_fact(line: Line) -> bool:
    return begins_like_a_fact("".join(segment.text for segment in line))


def _trim_end(line: Line) -> Line:
    """Return the line without the blanks at its end, which would come along when it is copied."""
    trimmed = [*line]
    while trimmed and not trimmed[-1].text.strip():
        trimmed.pop()
    if trimmed:
        text, style, _ = trimmed.pop()
        trimmed.append(Segment(text.rstrip(), style))
    return trimmed
