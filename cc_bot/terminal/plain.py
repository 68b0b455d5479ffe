"""The view for pipes and files: plain text, nothing that moves.

The conversation goes to one stream (answers, results, what tools did), and what is about it to the other
(errors, waiting), so that `cc-bot chat <questions >answers` leaves a file that reads well. What the program
states has a mark at the line's start, which no line of the model's has.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Final, TextIO

from cc_bot.charts import table
from cc_bot.domain.canvas import Canvas, Chart
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
from cc_bot.terminal.facts import Stated, fact_lines, kept_apart, stated_lines
from cc_bot.terminal.markdown import one_line, printable
from cc_bot.terminal.view import (
    AnswerView,
    MemoryNotes,
    MemoryPage,
    beside_focus,
    canvas_note,
    category_name,
    change_line,
    element_title,
    names_line,
    notes,
    tag_words,
    tool_line,
    waiting_line,
)
from cc_bot.texts import Texts

TABLE: Final = 72
"""Columns of a chart's table."""


class PlainView:
    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out = out
        self._err = err
        self.complained = False
        """Whether anything could not be done."""

    def say(self, text: str) -> None:
        print(printable(text), file=self._out, flush=True)

    def complain(self, text: str) -> None:
        self.complained = True
        print(printable(text), file=self._err, flush=True)

    def state(self, stated: Sequence[Stated]) -> None:
        print(stated_lines(stated), file=self._out, flush=True)

    def memories(self, page: MemoryPage, texts: Texts) -> None:
        self.say(page.title)
        for memory in page.memories:
            about = (
                f"#{memory.number}",
                page.marks(memory),
                page.date(memory),
                category_name(memory, texts),
                tag_words(memory),
            )
            self.say(f"{'  '.join(filter(None, about))}  {one_line(memory.content, 4000)}")
        if page.more:
            self.say(page.more)

    def canvas(self, canvas: Canvas, texts: Texts) -> None:
        for element in canvas.in_sight:
            body = table(element, TABLE) if isinstance(element, Chart) else kept_apart(element.content)
            lines = [element_title(element) and f"■ {element_title(element)}", body, ""]
            self.say("\n".join(lines if lines[0] else lines[1:]))
        if others := beside_focus(canvas, texts):
            self.say(others)

    def help(self, texts: Texts) -> None:
        self.say(texts.terminal.help_title)
        for field in fields(texts.terminal.commands):
            manual = getattr(texts.terminal.commands, field.name)
            self.say(f"  {manual.usage}\n      {manual.summary}")
        self.say(names_line(texts))
        self.say(texts.terminal.help_stored)

    @contextmanager
    def answer(self, texts: Texts) -> Iterator[AnswerView]:
        answer = _PlainAnswer(self._out, self._err, texts)
        try:
            yield answer
        finally:
            answer.end()


class _PlainAnswer:
    """Writes text as it comes, but holds back blanks until a word follows: none stands at either end."""

    def __init__(self, out: TextIO, err: TextIO, texts: Texts) -> None:
        self._out = out
        self._err = err
        self._texts = texts
        self._memories = MemoryNotes(texts)
        self._blanks = ""
        self._in_line = False
        self._told: str | None = None
        """The last tool line, while no word has followed: several calls of one tool are told once."""

    def show(self, event: TurnEvent) -> None:
        match event:
            case TextDelta(text):
                self._told = None
                self._write(printable(text))
            case ToolStarted() | CallsResumed():
                pass
            case ToolFinished(_, name, ok):
                told = tool_line(name, ok, self._texts)
                if told != self._told:
                    self._line(told)
                self._told = told
            case MemoryChanged() | MemoriesRecalled() | NotSaved() | NotRemoved():
                self._memories.add(event)
            case FilesLeftOut():
                pass  # here they are read when they are attached
            case CanvasChanged(canvas):
                self._line(canvas_note(canvas, self._texts))
            case ScheduleChanged(change):
                self._line(change_line(change, self._texts))
            case Notice():
                if line := waiting_line(event, self._texts):
                    print(line, file=self._err, flush=True)
            case Done():
                for note in (*self._memories.take(), *notes(event, self._texts)):
                    self._line(note)

    def end(self) -> None:
        """Whatever comes next stands on a line of its own."""
        for line in self._memories.take():
            self._line(line)
        self.end_line()

    def end_line(self) -> None:
        if self._in_line:
            print(file=self._out, flush=True)
        self._in_line = False
        self._blanks = ""

    def _write(self, text: str) -> None:
        text = self._blanks + text if self._in_line else text.lstrip()
        words = text.rstrip()
        self._blanks = text[len(words) :]
        if words:
            at_line_start, self._in_line = not self._in_line, True
            print(kept_apart(words, at_line_start=at_line_start), end="", file=self._out, flush=True)

    def _line(self, text: str) -> None:
        self.end_line()
        print(fact_lines(text), file=self._out, flush=True)
