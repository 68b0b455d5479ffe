"""Terminal text: Japanese line breaks, notices that models can't imitate, and Markdown."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderResult
from rich.containers import Lines
from rich.markdown import Markdown, MarkdownContext, Paragraph, TableDataElement
from rich.segment import Segment
from rich.text import Text

from cc_bot.domain import text
from cc_bot.domain.fences import with_fence_lines
from cc_bot.domain.kinsoku import wrap
from cc_bot.domain.message import spell_out
from cc_bot.domain.text import printable


def one_line(content: str, limit: int = 200) -> str:
    return text.shorten(text.one_line(printable(content)), limit)


class WrappedText(Text):
    """Wraps by Japanese line-breaking rules."""

    def wrap(self, console: Any, width: int, **options: Any) -> Lines:
        lines = Lines()
        for line in self.split(allow_blank=True):
            line.expand_tabs(options.get("tab_size", 8))
            pieces = line.divide(accumulate(map(len, wrap(line.plain, width, cell_len)[:-1])))
            for piece in pieces:
                piece.rstrip()
            if justify := options.get("justify") or self.justify:
                pieces.justify(console, width, justify=justify, overflow="fold")
            lines.extend(pieces)
        return lines


def wrap_text(content: str, style: str = "") -> Group:
    """For `Console.print`, which would turn a bare WrappedText into a Text."""
    return Group(WrappedText(printable(content), style=style))


# Notices are the program's own statements, with a mark in the first column. The model's lines that begin with
# a symbol are indented, as these could imitate one. `printable` has removed escape sequences.

MARK: Final = "◆"
MARGIN: Final = "  "
BAR: Final = f"{MARGIN}│ "

_LINE_STARTS: Final = re.compile(r"(?:\A|(?<=[\n\u2028\u2029]))([^\S\n\u2028\u2029]*)(?=\S)")
_LINE_ENDS: Final = re.compile("[\n\u2028\u2029]")
_FRAMES: Final = range(0x2500, 0x25A0)
"""Box drawing and block elements, used for tables and quotations."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """User text within a notice, with a bar before each row."""

    text: str

    @property
    def lines(self) -> Sequence[str]:
        return _LINE_ENDS.split(spell_out(self.text))


Notice = str | Quoted


def notice_lines(notice: Notice) -> str:
    if isinstance(notice, Quoted):
        return "\n".join(f"{BAR}{line}" for line in notice.lines)
    return "\n".join(f"{MARK} {line}" for line in notice.splitlines())


class StyledNotice:
    def __init__(self, notice: Notice, style: str = "") -> None:
        self._style = style
        if isinstance(notice, Quoted):
            self._lines, self._first, self._others = notice.lines, BAR, BAR
        else:
            self._lines, self._first, self._others = notice.splitlines(), f"{MARK} ", MARGIN

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.update(width=max(1, options.max_width - len(self._first) - 1))  # the mark may be wide
        for line in self._lines:
            rows = console.render_lines(wrap_text(line, style=self._style), room, pad=False)
            for number, row in enumerate(rows):
                yield Segment(self._others if number else self._first, console.get_style("cyan"))
                yield from row
                yield Segment.line()


def indent_symbols(content: str, *, at_line_start: bool = True) -> str:
    """Indent lines that begin with a symbol."""

    def margin(match: re.Match[str]) -> str:
        starts_line = match.start() or at_line_start
        return MARGIN + match[0] if starts_line and _begins_with_symbol(content, match) else match[0]

    return _LINE_STARTS.sub(margin, content)


def looks_like_notice(line: str) -> bool:
    match = _LINE_STARTS.match(line)
    return match is not None and _begins_with_symbol(line, match)


def _begins_with_symbol(content: str, match: re.Match[str]) -> bool:
    first = content[match.end()]
    if len(match[1]) >= len(MARGIN) and match[1][: len(MARGIN)].isascii():
        return False
    return not (first.isascii() or ord(first) in _FRAMES or unicodedata.category(first)[0] in "LNP")


class _Paragraph(Paragraph):
    def on_enter(self, context: MarkdownContext) -> None:
        super().on_enter(context)
        self.text = WrappedText()


class _Heading(_Paragraph):
    style_name = "markdown.h3"  # bold, on the left, without a frame


class _Cell(TableDataElement):
    def __init__(self, justify: JustifyMethod) -> None:
        super().__init__(justify)
        self.content = WrappedText(justify=justify)


class ChatMarkdown(Markdown):
    """Keeps line ends, and shows HTML as text."""

    elements: ClassVar = {
        **Markdown.elements,
        "paragraph_open": _Paragraph,
        "heading_open": _Heading,
        "td_open": _Cell,
        "th_open": _Cell,
    }

    def __init__(self, markup: str) -> None:
        super().__init__(with_fence_lines(printable(markup)), hyperlinks=False, code_theme="ansi_dark")
        _adapt_to_chat(self.parsed)


def _adapt_to_chat(tokens: list[Any]) -> None:
    shown_as = {"softbreak": "hardbreak", "html_inline": "text", "html_block": "code_block"}
    for token in tokens:
        token.type = shown_as.get(token.type, token.type)
        _adapt_to_chat(token.children or [])


class ModelWords:
    """A model's text, without lines that look like notices."""

    def __init__(self, markup: str) -> None:
        self._markup = markup

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.update(width=max(1, options.max_width - len(MARGIN)))
        rows = console.render_lines(ChatMarkdown(self._markup), room, pad=False)
        shown = [bool("".join(segment.text for segment in row).strip()) for row in rows]
        if not any(shown):
            return
        for row in rows[shown.index(True) : len(shown) - shown[::-1].index(True)]:
            if looks_like_notice("".join(segment.text for segment in row)):
                yield Segment(MARGIN)
            yield from _trim_end(row)
            yield Segment.line()


def _trim_end(row: list[Segment]) -> list[Segment]:
    while row and not row[-1].text.strip():
        row = row[:-1]
    return [*row[:-1], *(Segment(last.text.rstrip(), last.style) for last in row[-1:])]
