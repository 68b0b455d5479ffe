"""Markdown as it is read in a terminal, and as it grows.

A block (a paragraph, a list, a piece of code) may change its look until the next one has begun: a table's
columns widen, a star turns out to be bold. So only blocks that are over are `settled` and printed for good;
the last one stays `open` and is drawn anew with each piece of text. Each block is rendered by itself, which
makes the outcome the same however the text was cut into pieces.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar, Final

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownContext, Paragraph, TableDataElement
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text

from cc_bot.terminal.facts import MARGIN, begins_like_a_fact
from cc_bot.terminal.line_breaks import WrappedText, fold_offsets

# ---- printable -------------------------------------------------------------------------------------------
# Text that is safe to print: what models, files and users wrote never moves the cursor, nor does it turn
# around what stands after it in the line.

# C0 without tab and line feed, DEL, C1 (a terminal takes U+009B for ESC [), and halves of surrogate pairs.
_CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
_TURNS: Final = "\u202a-\u202e\u2066-\u2069"
"""Directions of writing that hold beyond what they are meant for: UAX #9, section 2."""
_UNSAFE: Final = re.compile(f"[{_CONTROLS}{_TURNS}]")


def printable(text: str) -> str:
    """The text with every control character gone but tab and line feed, and without what turns it around."""
    return _UNSAFE.sub("", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 200) -> str:
    """The text on one line of at most `limit` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


# ---- markdown --------------------------------------------------------------------------------------------

Line = list[Segment]


class _Code(CodeBlock):
    """Without a background: it has to read well on light terminals and be copied without blanks."""

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
    """What a model writes for a chat: a line end is a line end, and HTML is text like any other."""

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
        _as_chat(self.parsed)


def _as_chat(tokens: list[Any]) -> None:
    shown_as = {"softbreak": "hardbreak", "html_inline": "text", "html_block": "code_block"}
    for token in tokens:
        token.type = shown_as.get(token.type, token.type)
        _as_chat(token.children or [])


class GrowingMarkdown:
    """A text that comes in pieces, as lines of at most `width` cells."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._open = ""
        self._begun = False

    def add(self, text: str) -> list[Line]:
        """Take the next piece; the lines that it settled."""
        self._open += printable(text)
        if "\n" not in text:
            return []
        *settled, self._open = self._blocks()
        return [line for block in settled for line in self._settle(block)]

    def open_lines(self) -> list[Line]:
        """The block that may still change, as it looks now."""
        return self._spaced(self._open)

    def end(self) -> list[Line]:
        """The last lines; after that a new text may begin."""
        blocks = _split(self._open)
        self._open = ""
        return [line for block in blocks for line in self._settle(block)]

    def _blocks(self) -> list[str]:
        """Every block that is over, and the rest.

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
        """The block's lines, after an empty one unless it is the first."""
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
            _trimmed(line) for line in self._console.render_lines(ChatMarkdown(block), options, pad=False)
        ]


def _split(text: str) -> list[str]:
    """The text cut where its top-level blocks begin."""
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


def _trimmed(line: Line) -> Line:
    """The line without the blanks at its end, which would come along when it is copied."""
    trimmed = [*line]
    while trimmed and not trimmed[-1].text.strip():
        trimmed.pop()
    if trimmed:
        text, style, _ = trimmed.pop()
        trimmed.append(Segment(text.rstrip(), style))
    return trimmed
