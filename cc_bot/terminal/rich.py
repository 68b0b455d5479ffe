"""The view for a person at a terminal: Markdown, colours, and a line that tells what is going on."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TypeVar

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.segment import SegmentLines
from rich.table import Table
from rich.text import Text

from cc_bot.charts import table
from cc_bot.domain.canvas import Canvas, Chart, Element
from cc_bot.domain.text import printable
from cc_bot.terminal.markdown import (
    ChatMarkdown,
    GrowingMarkdown,
    Line,
    Stated,
    StatedLines,
    WrappedText,
    one_line,
    wrap_text,
)
from cc_bot.terminal.view import (
    AnswerView,
    Manual,
    MemoryPage,
    category_name,
    element_title,
    others_line,
    tag_words,
)
from cc_bot.texts import Texts

# ---- tables ----------------------------------------------------------------------------------------------
# Memories and commands in columns, or one under the other where there is no room (a phone over ssh).

NARROW = 72
"""Cells; below that columns would be too narrow to read."""


def memory_table(page: MemoryPage, texts: Texts, width: int) -> RenderableType:
    return _memory_list(page, texts) if width < NARROW else _memory_columns(page, texts)


def _memory_columns(page: MemoryPage, texts: Texts) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim", expand=True)
    table.add_column(texts.terminal.memory_number, justify="right", no_wrap=True)
    table.add_column(texts.terminal.memory_text, ratio=1)
    table.add_column(texts.memory.category, max_width=16)
    table.add_column(texts.memory.tags, max_width=20)
    table.add_column(texts.terminal.memory_date, no_wrap=True)
    for memory in page.memories:
        table.add_row(
            Text(str(memory.number), style="cyan"),
            WrappedText(f"{page.marks(memory)} {printable(memory.content)}".strip()),
            WrappedText(category_name(memory, texts)),
            WrappedText(tag_words(memory)),
            Text(page.date(memory), style="dim"),
        )
    return table


def _memory_list(page: MemoryPage, texts: Texts) -> Group:
    parts = []
    for memory in page.memories:
        head = WrappedText(f"#{memory.number}", style="cyan")
        head.append(f"  {'  '.join(map(one_line, page.about(memory, texts)))}", style="dim")
        parts.append(_with_text_below(head, printable(memory.content)))
    return Group(*parts)


def _with_text_below(head: WrappedText, text: str) -> Group:
    return Group(head, Padding(WrappedText(text), (0, 0, 0, 2), expand=False))


def manual_table(manuals: Sequence[Manual], width: int) -> RenderableType:
    if width < 100:
        return Group(
            *(_with_text_below(WrappedText(usage, style="cyan"), summary) for usage, summary in manuals)
        )
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column()
    for usage, summary in manuals:
        table.add_row(WrappedText(usage), WrappedText(summary))
    return table


# ---- canvas panels ---------------------------------------------------------------------------------------

_ABREAST = 3
_FRAME = 4
"""Cells that a panel's border and the blank within it take from a line."""


def canvas_panels(canvas: Canvas, width: int) -> RenderableType:
    """Return what is in sight, on a terminal of so many cells."""
    elements = canvas.in_sight
    if canvas.mode != "board" or width < NARROW or len(elements) < 2:
        return Group(*(_panel(element, width) for element in elements))
    abreast = min(_ABREAST, len(elements), width // (NARROW // 2))
    board = Table.grid(expand=True)
    for _ in range(abreast):
        board.add_column(ratio=1)
    for start in range(0, len(elements), abreast):
        board.add_row(*(_panel(element, width // abreast) for element in elements[start : start + abreast]))
    return board


def _panel(element: Element, width: int) -> Panel:
    if isinstance(element, Chart):
        body: RenderableType = Text(printable(table(element, width - _FRAME)), overflow="fold")
    else:
        body = ChatMarkdown(printable(element.content))
    title = Text(element_title(element), style="bold")
    return Panel(body, title=title if title else None, title_align="left", border_style="dim")


# ---- rich answer -----------------------------------------------------------------------------------------
# What will not change any more is printed and scrolls away like any output. Only the block that is being
# written and the line under it are drawn anew, and never more of them than the screen can hold: what a
# terminal has scrolled out of sight can't be taken back, and would stand there twice.

REDRAWS_PER_SECOND = 10
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SHOW_SECONDS_AFTER = 2
"""Before that a number is noise."""


class RichAnswer(AnswerView):
    """An answer that is drawn while it is entered; when it is left, everything that was shown stands there
    for good."""

    def __init__(self, console: Console, texts: Texts, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(texts)
        self._console = console
        self._clock = clock
        self._began = clock()
        self._markdown = GrowingMarkdown(console)
        self._open: Sequence[Line] = ()
        self._drawn_at = 0.0
        self._doing: str | None = None
        self._live = Live(
            console=console,
            get_renderable=self._moving_part,
            refresh_per_second=REDRAWS_PER_SECOND,
            transient=True,
            vertical_overflow="crop",
        )

    def __enter__(self) -> "RichAnswer":
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._settle(self._markdown.end())
        self._state_memories()
        self._live.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        self._settle(self._markdown.end())
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

    def redraw(self) -> None:
        """Draw the moving part now instead of at the next tick."""
        self._live.refresh()

    def _write(self, text: str) -> None:
        self._doing = None
        self._settle(self._markdown.add(text))
        self._redraw_open()

    def _state(self, fact: str, *, failed: bool = False) -> None:
        self._settle(self._markdown.end())
        self._console.print(StatedLines(fact, "yellow" if failed else "dim"), end="")

    def _wait(self, why: str | None) -> None:
        self._doing = why

    _do = _wait

    def _settle(self, lines: list[Line]) -> None:
        if lines:
            self._console.print(SegmentLines(lines, new_lines=True), end="")
            self._open = ()

    def _redraw_open(self) -> None:
        """Render the open block, at most as often as it is drawn."""
        now = self._clock()
        if now - self._drawn_at >= 1 / REDRAWS_PER_SECOND or not self._open:
            self._drawn_at = now
            self._open = self._markdown.open_lines()

    def _moving_part(self) -> RenderableType:
        status = self._status()
        room = max(1, self._console.height - 3)
        lines = list(self._open)[-room:]
        return Group(SegmentLines(lines, new_lines=True), status) if lines else status

    def _status(self) -> RenderableType:
        elapsed = self._clock() - self._began
        told = self._texts.answer
        words = self._doing
        if words is None and self._open:
            words = ""
        elif words is None:
            words = told.thinking
            if elapsed >= SHOW_SECONDS_AFTER:
                words = told.going_on_for.format(activity=words, seconds=int(elapsed))
        frame = SPINNER[int(elapsed * REDRAWS_PER_SECOND) % len(SPINNER)]
        line = Text(no_wrap=True, overflow="ellipsis")  # a second line would not be counted as one
        line.append(f"{frame} {words}  " if words else f"{frame} ", style="cyan")
        line.append(self._texts.terminal.interrupt, style="dim")
        return line


# ---- rich view -------------------------------------------------------------------------------------------


class RichView:
    """The view for a person at a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        self._print(wrap_text(printable(text)))

    def complain(self, text: str) -> None:
        self._print(wrap_text(printable(text), style="yellow"))

    def state(self, stated: Sequence[Stated]) -> None:
        for each in stated:
            self._console.print(StatedLines(each), end="")
        self._console.print()

    def memories(self, page: MemoryPage, texts: Texts) -> None:
        table = memory_table(page, texts, self._console.width)
        more = [wrap_text(printable(page.more), style="dim")] if page.more else []
        self._print(wrap_text(printable(page.title), style="bold"), table, *more)

    def canvas(self, canvas: Canvas, texts: Texts) -> None:
        others = others_line(canvas, texts)
        below = [wrap_text(printable(others), style="dim")] if others else []
        self._print(canvas_panels(canvas, self._console.width), *below)

    def help(self, manuals: Sequence[Manual], names: str, texts: Texts) -> None:
        words = texts.terminal
        self._print(wrap_text(words.help_title, style="bold"), manual_table(manuals, self._console.width))
        self._print(ChatMarkdown("\n\n".join((names, words.help_keys, words.help_stored))))

    def _print(self, *parts: RenderableType) -> None:
        """Print each on lines of its own, and an empty line."""
        for part in parts:
            self._console.print(part)
        self._console.print()

    @contextmanager
    def answer(self, texts: Texts) -> Iterator[AnswerView]:
        with RichAnswer(self._console, texts) as answer:
            yield answer
        self._console.print()


# ---- bars ------------------------------------------------------------------------------------------------

Stage = TypeVar("Stage", bound=str)


@contextmanager
def bars(
    names: Mapping[Stage, str], console: Console | None = None, *, counted: Collection[str] = ()
) -> Iterator[Callable[[Stage, int, int], None]]:
    """Show a line for each stage, on stderr unless told otherwise, which is gone when the work is done.

    What is yielded is told the stage, how much is done, and of how much: 0 where nobody can say, and then the
    bar moves to and fro. It is bytes but for stages that are `counted`. During a stage without a name the
    terminal is left to others.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[amount]}"),
    )
    tasks = dict[Stage, TaskID]()
    with Progress(*columns, console=console or Console(stderr=True), transient=True) as shown:

        def progress(stage: Stage, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():  # what came before is done
                    shown.update(task, visible=False)
                if stage not in names:
                    shown.stop()
                    return
                tasks[stage] = shown.add_task(names[stage], total=None, amount="")
                shown.start()
            if stage in counted:
                amount = f"{done:,}/{total:,}"
            else:
                amount = f"{done / 2**20:,.1f}/{total / 2**20:,.1f} MiB" if total else ""
            shown.update(tasks[stage], completed=done, total=total or None, amount=amount)

        yield progress
