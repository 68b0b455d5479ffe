"""One answer at a terminal, as it grows.

What will not change any more is printed and scrolls away like any output. Only the block that is being
written and the line under it are drawn anew, and never more of them than the screen can hold: what a
terminal has scrolled out of sight can't be taken back, and would stand there twice.
"""

import time
from collections.abc import Callable, Sequence
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.segment import SegmentLines
from rich.text import Text

from cc_bot.domain.events import (
    CallsResumed,
    CanvasChanged,
    Done,
    FilesLeftOut,
    MemoriesRecalled,
    MemoryChanged,
    Notice,
    NotRemoved,
    NotSaved,
    ScheduleChanged,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEvent,
)
from cc_bot.terminal.facts import FactLines
from cc_bot.terminal.markdown import GrowingMarkdown, Line
from cc_bot.terminal.printable import one_line
from cc_bot.terminal.schedule_lines import change_line
from cc_bot.terminal.view import MemoryNotes, canvas_note, notes, tool_line, waiting_line
from cc_bot.texts import Texts

REDRAWS_PER_SECOND = 10
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SHOW_SECONDS_AFTER = 2
"""Before that a number is noise."""


class RichAnswer:
    """Draws while it is entered; when it is left, everything that was shown stands there for good."""

    def __init__(self, console: Console, texts: Texts, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._texts = texts
        self._clock = clock
        self._began = clock()
        self._markdown = GrowingMarkdown(console)
        self._memories = MemoryNotes(texts)
        self._open: Sequence[Line] = ()
        self._drawn_at = 0.0
        self._doing: str | None = None
        self._told: str | None = None
        """The last tool line, while no word has followed: several calls of one tool are told once."""
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
        for line in self._memories.take():
            self._console.print(FactLines(line), end="")
        self._live.stop()

    def show(self, event: TurnEvent) -> None:
        match event:
            case TextDelta(text):
                self._doing = self._told = None
                self._settle(self._markdown.add(text))
                self._redraw_open()
            case ToolStarted(_, name):
                self._doing = _doing(name, self._texts)
            case ToolFinished(_, name, ok):
                self._doing = None
                self._settle(self._markdown.end())
                line, style = tool_line(name, ok, self._texts), "dim" if ok else "yellow"
                if line != self._told:
                    self._console.print(FactLines(line, style), end="")
                self._told = line
            case MemoryChanged() | MemoriesRecalled() | NotSaved() | NotRemoved():
                self._memories.add(event)
            case FilesLeftOut() | CallsResumed():
                pass  # here files are read when they are attached, and a turn that is killed is over
            case CanvasChanged(canvas):
                self._settle(self._markdown.end())
                self._console.print(FactLines(canvas_note(canvas, self._texts)), end="")
            case ScheduleChanged(change):
                self._settle(self._markdown.end())
                self._console.print(FactLines(change_line(change, self._texts)), end="")
            case Notice():
                self._doing = waiting_line(event, self._texts)
            case Done():
                self._settle(self._markdown.end())
                for note in (*self._memories.take(), *notes(event, self._texts)):
                    self._console.print(FactLines(note), end="")

    def redraw(self) -> None:
        """Draw the moving part now instead of at the next tick."""
        self._live.refresh()

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
        if self._open and self._doing is None:
            words = ""
        elif self._doing is not None:
            words = self._doing
        elif elapsed >= SHOW_SECONDS_AFTER:
            words = self._texts.answer.going_on_for.format(
                activity=self._texts.answer.thinking, seconds=int(elapsed)
            )
        else:
            words = self._texts.answer.thinking
        frame = SPINNER[int(elapsed * REDRAWS_PER_SECOND) % len(SPINNER)]
        line = Text(no_wrap=True, overflow="ellipsis")  # a second line would not be counted as one
        line.append(f"{frame} {words}  " if words else f"{frame} ", style="cyan")
        line.append(self._texts.terminal.interrupt, style="dim")
        return line


def _doing(name: str, texts: Texts) -> str:
    return texts.answer.tool_line(one_line(name))
