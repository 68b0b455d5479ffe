"""Prints a chat: Markdown and colours in a terminal, plain text in a pipe. Lines break by Japanese rules."""

import re
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from getpass import getpass
from itertools import accumulate
from typing import Any, ClassVar, Final, TextIO
from zoneinfo import ZoneInfo

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType, RenderResult
from rich.containers import Lines
from rich.live import Live
from rich.markdown import Markdown, MarkdownContext, Paragraph, TableDataElement
from rich.padding import Padding
from rich.panel import Panel
from rich.segment import Segment, SegmentLines
from rich.table import Column, Table
from rich.text import Text
from rich.theme import Theme

from cc_bot.charts.table import text_table
from cc_bot.chat.changes import change_handlers
from cc_bot.chat.reply import Caller, Reply
from cc_bot.domain import turn
from cc_bot.domain.change import Change, add_change
from cc_bot.domain.chart import Chart
from cc_bot.domain.fences import put_fences_on_own_lines
from cc_bot.domain.kinsoku import wrap
from cc_bot.domain.message import show_invisible
from cc_bot.domain.text import one_line, printable, shorten
from cc_bot.domain.tool_calls import MAX_LINKS, is_server_tool, list_sources
from cc_bot.features.memory.texts import ReceiptTexts
from cc_bot.texts import Texts
from cc_bot.texts.answer import AnswerTexts, CanvasChangeTexts, UnfinishedTexts
from cc_bot.texts.cli import TerminalTexts


def short_line(content: str, limit: int = 200) -> str:
    return shorten(one_line(printable(content)), limit)


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


_TYPED: Final = re.compile(
    r"(?<![\w/.:「“])/[a-z]+(?: (?:add|list|search|delete|undo|resume|show|clear|export|erase|memory)\b)?"
    r"(?: --[a-z]+ \w+| \d+)*(?![\w/])|OPENAI_API_KEY=\S+|\A\d/\d(?=  )"
)
"""Commands, a setting, and the numbers of steps."""


def wrap_text(content: str, style: str = "", *, cut: bool = False) -> Group:
    """Return a group: `Console.print` would turn a bare WrappedText into a Text. `cut`: to one line."""
    text_class = Text if cut else WrappedText
    text = text_class(printable(content), style=style, no_wrap=cut, overflow="ellipsis" if cut else None)
    text.highlight_regex(_TYPED, "cyan")
    return Group(text)


# Only a notice has a symbol in the first column: lines of the model that begin with one are indented.

MARK: Final = "◆"
MARGIN: Final = "  "
BAR: Final = f"{MARGIN}│ "

_LINE_STARTS: Final = re.compile(r"(?:\A|(?<=[\n\u2028\u2029]))([^\S\n\u2028\u2029]*)(?=\S)")
_LINE_ENDS: Final = re.compile("[\n\u2028\u2029]")
_BOX_CHARACTERS: Final = range(0x2500, 0x25A0)  # of tables and quotations


@dataclass(frozen=True, slots=True)
class Quoted:
    """User text within a notice, with a bar before each row."""

    text: str


Notice = str | Quoted


def _split_notice(notice: Notice) -> tuple[Sequence[str], str, str]:
    """Return the lines, the prefix of each line, and the prefix of its continuation rows."""
    if isinstance(notice, Quoted):
        return _LINE_ENDS.split(show_invisible(notice.text)), BAR, BAR
    return notice.splitlines(), f"{MARK} ", MARGIN


def notice_lines(notice: Notice) -> str:
    lines, prefix, _ = _split_notice(notice)
    return "\n".join(prefix + line for line in lines)


@dataclass(frozen=True, slots=True)
class StyledNotice:
    notice: Notice
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines, prefix, continuation = _split_notice(self.notice)
        room = options.update(width=max(1, options.max_width - len(prefix) - 1))  # the mark may be wide
        for line in lines:
            rows = console.render_lines(wrap_text(line, style=self.style), room, pad=False)
            for number, row in enumerate(rows):
                yield Segment(continuation if number else prefix, console.get_style("cyan"))
                yield from row
                yield Segment.line()


def indent_symbols(content: str, *, at_line_start: bool = True) -> str:
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
    return not (first.isascii() or ord(first) in _BOX_CHARACTERS or unicodedata.category(first)[0] in "LNP")


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
    """Keeps line breaks, and shows HTML as text."""

    elements: ClassVar = {
        **Markdown.elements,
        "paragraph_open": _Paragraph,
        "heading_open": _Heading,
        "td_open": _Cell,
        "th_open": _Cell,
    }

    def __init__(self, markup: str) -> None:
        super().__init__(put_fences_on_own_lines(printable(markup)), hyperlinks=False, code_theme="ansi_dark")
        _adapt_to_chat(self.parsed)


def _adapt_to_chat(tokens: list[Any]) -> None:
    shown_as = {"softbreak": "hardbreak", "html_inline": "text", "html_block": "code_block"}
    for token in tokens:
        token.type = shown_as.get(token.type, token.type)
        _adapt_to_chat(token.children or [])


@dataclass(frozen=True, slots=True)
class ModelText:
    """Text of a model; lines that look like notices are indented."""

    markup: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.update(width=max(1, options.max_width - len(MARGIN)))
        rows = console.render_lines(ChatMarkdown(self.markup), room, pad=False)
        has_text = [bool("".join(segment.text for segment in row).strip()) for row in rows]
        if not any(has_text):
            return
        for row in rows[has_text.index(True) : len(rows) - has_text[::-1].index(True)]:
            if looks_like_notice("".join(segment.text for segment in row)):
                yield Segment(MARGIN)
            yield from _trim_end(row)
            yield Segment.line()


def _trim_end(row: list[Segment]) -> list[Segment]:
    while row and not row[-1].text.strip():
        row = row[:-1]
    return [*row[:-1], *(Segment(last.text.rstrip(), last.style) for last in row[-1:])]


Row = tuple[str, ...]  # a command or number, up to three columns of text, and details


def item_rows(reply: Reply) -> Iterator[Row]:
    for each in reply.items:
        details = ", ".join(filter(None, (*each.details, each.problem)))
        labels = " ".join(filter(None, (each.repeat, *each.labels)))
        yield f"#{each.number}", each.time, short_line(each.text), labels, details


def note_lines(reply: Reply) -> Iterator[str]:
    yield from reply.notes
    yield from (f"  {action.label}: {action.command}" for action in reply.actions if action.command)


MAX_RECEIPT_CHARACTERS: Final = 60
CHART_COLUMNS: Final = 72


def change_line(change: Change, texts: Texts) -> str:
    shown, caller = change_handlers()[change.what], Caller(0, texts.locale, ZoneInfo("UTC"), texts)
    line = shown.format_line(change, caller, limit=MAX_RECEIPT_CHARACTERS, public=False, numbered=True)
    undo = shown.make_undo(change, texts)
    return f"{line} ({undo.label}: {undo.command})" if undo else line


def canvas_line(canvas: turn.CanvasChanged, texts: Texts) -> str:
    return texts[CanvasChangeTexts].emptied if canvas.empty else texts[CanvasChangeTexts].changed_in_terminal


class AnswerView:
    def __init__(self, output: "PlainView | _LiveOutput", texts: Texts) -> None:
        self._output = output
        self._texts = texts
        self._receipts: tuple[Change, ...] = ()
        self._notices: list[tuple[str, bool]] = []  # shown below the answer, with whether something failed
        self._recalled_numbers: tuple[int, ...] = ()

    def show(self, event: turn.TurnEvent) -> None:  # noqa: PLR0912 - one case per event
        words, output, below = self._texts, self._output, self._notices.append
        match event:
            case turn.TextDelta(text):
                output.write(text)
            case turn.ToolStarted(_, name):
                output.show_activity(words[AnswerTexts].tool_line(short_line(name)))
            case turn.ToolFinished(_, name, ok, awaits_approval):
                output.show_activity(None)
                if is_server_tool(name) and not awaits_approval:  # the model tells how our tools went
                    sentence = words[TerminalTexts].tool_used if ok else words[TerminalTexts].tool_failed
                    below((sentence.format(name=short_line(name)), not ok))
            case turn.MemoriesRecalled(numbers=numbers):
                self._recalled_numbers = tuple(dict.fromkeys((*self._recalled_numbers, *numbers)))
            case turn.ToolsUnavailable():
                below((words[ReceiptTexts].no_tools, False))
            case turn.ServerCallInterrupted():
                below((words[UnfinishedTexts].server_outcome_unknown, True))
            case turn.ImagesShown(images):
                below((words[TerminalTexts].images_given.format(count=len(images)), False))
            case turn.CanvasChanged() as canvas:
                below((canvas_line(canvas, words), False))
            case Change() as change:
                self._receipts = add_change(self._receipts, change)
            case turn.Notice(kind="queued", ahead=ahead):
                output.show_activity(words[AnswerTexts].waiting_line(ahead))
            case turn.Notice(kind=kind):
                texts = words[AnswerTexts]
                output.show_activity({"fallback": texts.fallback, "thinking": texts.thinking}.get(kind))
            case turn.Done():
                self.end()
                self._show_end(event)
            case _:
                pass  # other events concern files and messages on Discord

    def end(self) -> None:
        """Show receipts and notices. Called also if the turn failed."""
        words = self._texts[ReceiptTexts]
        for receipt in self._receipts:
            self._output.show_notice(change_line(receipt, self._texts))
        deleted = {each.number for each in self._receipts if each.kind == "deleted"}
        if recalled := [f"#{number}" for number in self._recalled_numbers if number not in deleted]:
            self._output.show_notice(words.used_here.format(numbers=", ".join(recalled)))
        for notice, failed in self._notices:
            self._output.show_notice(notice, failed=failed)
        self._receipts, self._recalled_numbers = (), ()
        self._notices.clear()

    def _show_end(self, done: turn.Done) -> None:
        words, answer, show_notice = self._texts, done.answer, self._output.show_notice
        pages = list_sources(answer.tool_calls)
        for number, page in enumerate(pages[:MAX_LINKS], 1):
            show_notice(f"{number}. {short_line(page.title, MAX_RECEIPT_CHARACTERS)}  {page.url}")
        if len(pages) > MAX_LINKS:
            show_notice(words[AnswerTexts].more_pages.format(count=len(pages) - MAX_LINKS).strip())
        if answer.status == "stopped":
            has_something = answer.content or answer.tool_calls
            show_notice(words[AnswerTexts].stopped if has_something else words[AnswerTexts].stopped_empty)
        elif answer.status == "cut":
            show_notice(words[TerminalTexts].cut)
        elif not answer.content:
            show_notice(words[AnswerTexts].no_text)


class PlainView:
    """Prints the conversation to `out`, and errors and waiting lines to `err`."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self.failed = False
        self._out = out
        self._err = err
        self._pending_blanks = ""
        self._in_line = False

    def say(self, text: str) -> None:
        print(printable(text), file=self._out, flush=True)

    def show_reply(self, reply: Reply, rows: Sequence[Row] = ()) -> None:
        """`rows`: shown in place of the items."""
        lines = [f"  {'  '.join(filter(None, row))}" for row in rows or item_rows(reply)]
        start, table = ([each] if each else [] for each in (reply.title, reply.table))
        self.say("\n".join((*start, *lines, *reply.lines, *table, *note_lines(reply))))

    def show_error(self, sentence: str) -> None:
        self.failed = True
        print(printable(sentence), file=self._err, flush=True)

    def show_notices(self, notices: Sequence[Notice]) -> None:
        print("\n".join(map(notice_lines, notices)), file=self._out, flush=True)

    def show_panels(self, panels: Iterable[tuple[str, str | Chart]], below: str) -> None:
        for title, content in panels:
            body = (
                text_table(content, CHART_COLUMNS) if isinstance(content, Chart) else indent_symbols(content)
            )
            self.say(f"■ {title}\n{body}\n" if title else f"{body}\n")
        if below:
            self.say(below)

    @contextmanager
    def open_answer(self, texts: Texts) -> Iterator[AnswerView]:
        answer = AnswerView(self, texts)
        try:
            yield answer
        finally:
            answer.end()
            self._end_line()

    def _end_line(self) -> None:
        if self._in_line:
            print(file=self._out, flush=True)
        self._in_line, self._pending_blanks = False, ""

    def write(self, text: str) -> None:
        text = printable(text)
        text = self._pending_blanks + text if self._in_line else text.lstrip()
        visible = text.rstrip()
        self._pending_blanks = text[len(visible) :]
        if visible:
            at_line_start, self._in_line = not self._in_line, True
            print(indent_symbols(visible, at_line_start=at_line_start), end="", file=self._out, flush=True)

    def show_notice(self, notice: str, *, failed: bool = False) -> None:  # noqa: ARG002 - plain text has no colour
        self._end_line()
        self.show_notices([notice])

    def show_activity(self, activity: str | None) -> None:
        """`activity`: what the answer waits for, None for the model."""
        if activity:
            print(activity, file=self._err, flush=True)


REDRAWS_PER_SECOND: Final = 10
SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
ELAPSED_SHOWN_AFTER_S: Final = 2


def _wrap_lines(lines: Iterable[str], style: str = "") -> Iterator[RenderableType]:
    """Yield lines that keep their indentation where they wrap."""
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        row = wrap_text(line[indent:], style)
        yield Padding(row, (0, 0, 0, indent), expand=False) if indent else row


_AMOUNT: Final = re.compile(r"[\d,.]+(?: \S+)?")  # `1,234 tokens`


def _make_grid(rows: Iterable[Row], *, first_style: str = "cyan", cut: bool = False) -> Padding:
    """`cut`: each text to one line."""
    text_column = Column()
    styled = (Column(style=first_style, no_wrap=True), Column(), text_column, Column(), Column(style="dim"))
    used = [pair for pair in zip(styled, zip(*rows, strict=True), strict=False) if any(pair[1])]
    for column, cells in used:
        column.justify = "right" if all(map(_AMOUNT.fullmatch, cells)) else "left"
    grid = Table.grid(*([column for column, _ in used] or styled), padding=(0, 2))
    for row in zip(*(cells for _, cells in used), strict=True):
        pairs = zip(grid.columns, row, strict=True)
        grid.add_row(*(wrap_text(cell, cut=cut and column is text_column) for column, cell in pairs))
    return Padding(grid, (0, 0, 0, len(MARGIN)), expand=False)


_THEME: Final = Theme({"markdown.code": "bold cyan", "dim": "color(246)"})  # dim is too dark on black


class RichView:
    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, markup=False, emoji=False, theme=_THEME)

    def say(self, text: str, *, style: str = "") -> None:
        self._print(*_wrap_lines(text.split("\n"), style))

    def show_reply(self, reply: Reply, rows: Sequence[Row] = ()) -> None:
        notes, items = [*note_lines(reply)], [*item_rows(reply)]
        grid = _make_grid(rows) if rows else _make_grid(items, first_style="dim", cut=reply.pages > 1)
        title = _wrap_lines(filter(None, (reply.title,)), "bold")
        lines = _wrap_lines((*reply.lines, *reply.table.splitlines()))
        below = _wrap_lines([""] * bool((rows or items) and notes) + notes)
        self._print(*title, grid, *lines, *below)

    def show_error(self, sentence: str) -> None:
        self.say(sentence, style="yellow")

    def ask(self, prompt: str, *, secret: bool = False) -> str:
        with self._console.capture() as styled:  # getpass drops what is typed before it shows the prompt
            self._console.print(Text(prompt, "bold"), end="", soft_wrap=True)
        return (getpass if secret else input)(styled.get()).strip()

    def show_notices(self, notices: Sequence[Notice]) -> None:
        for each in notices:
            self._console.print(StyledNotice(each), end="")
        self._console.print()

    def show_panels(self, panels: Iterable[tuple[str, str | Chart]], below: str) -> None:
        shown = (self._panel(*each) for each in panels)
        self._print(*shown, *([wrap_text(below)] if below else []))

    def _panel(self, title: str, content: str | Chart) -> Panel:
        chart_columns = self._console.width - len("│  │")
        body: RenderableType = (
            Text(printable(text_table(content, chart_columns)), overflow="fold")
            if isinstance(content, Chart)
            else ChatMarkdown(content)
        )
        return Panel(body, title=Text(title) if title else None, title_align="left", border_style="dim")

    def _print(self, *parts: RenderableType) -> None:
        for part in parts:
            self._console.print(part)
        self._console.print()

    @contextmanager
    def open_answer(self, texts: Texts) -> Iterator[AnswerView]:
        with _LiveOutput(self._console, texts) as output:
            answer = AnswerView(output, texts)
            try:
                yield answer
            finally:
                answer.end()
        self._console.print()


class _LiveOutput:
    """Redraws the end of an answer while it streams; on exit, prints the whole answer."""

    def __init__(self, console: Console, texts: Texts) -> None:
        self._console = console
        self._texts = texts
        self._started_s = time.monotonic()
        self._parts: list[str | StyledNotice] = []
        self._activity: str | None = None
        self._live = Live(
            console=console,
            get_renderable=self._render_frame,
            refresh_per_second=REDRAWS_PER_SECOND,
            transient=True,  # scrolled-off text can't be redrawn
        )

    def __enter__(self) -> "_LiveOutput":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()
        self._console.print(self._whole_answer(), end="")

    def write(self, text: str) -> None:
        self._activity = None
        if self._parts and isinstance(self._parts[-1], str):
            self._parts[-1] += text
        else:
            self._parts.append(text)

    def show_notice(self, notice: str, *, failed: bool = False) -> None:
        self._parts.append(StyledNotice(notice, "yellow" if failed else ""))

    def show_activity(self, activity: str | None) -> None:
        self._activity = activity

    def _whole_answer(self) -> Group:
        return Group(*(ModelText(part) if isinstance(part, str) else part for part in [*self._parts]))

    def _render_frame(self) -> RenderableType:
        rows = self._console.render_lines(self._whole_answer(), pad=False) if self._parts else []
        max_rows = max(1, self._console.height - 3)
        return Group(SegmentLines(rows[-max_rows:], new_lines=True), self._status())

    def _status(self) -> Text:
        elapsed_s = time.monotonic() - self._started_s
        words = self._texts[AnswerTexts]
        activity = self._activity or ("" if self._parts else words.thinking)
        if activity and elapsed_s >= ELAPSED_SHOWN_AFTER_S:
            activity = words.activity_time.format(activity=activity, seconds=int(elapsed_s))
        spinner = SPINNER[int(elapsed_s * REDRAWS_PER_SECOND) % len(SPINNER)]
        status = f"{spinner} {activity}  " if activity else f"{spinner} "
        line = Text(status, "cyan", no_wrap=True, overflow="ellipsis")
        return line.append(self._texts[TerminalTexts].interrupt, style="dim")


View = PlainView | RichView
