"""The view for pipes and files: plain text, nothing that moves.

The conversation goes to one stream (answers, results, what tools did), and what is about it to the other
(errors, waiting), so that `cc-bot chat <questions >answers` leaves a file that reads well. What the program
states has a mark at the line's start, which no line of the model's has.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TextIO

from cc_bot.charts import table
from cc_bot.domain.canvas import Canvas, Chart
from cc_bot.domain.text import printable
from cc_bot.terminal.markdown import Stated, one_line, set_apart, stated_lines
from cc_bot.terminal.view import (
    AnswerView,
    Manual,
    MemoryPage,
    element_title,
    others_line,
)
from cc_bot.texts import Texts

TABLE: Final = 72
"""Columns of a chart's table."""


class PlainView:
    """The view for pipes and files."""

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
            about = (f"#{memory.number}", *page.about(memory, texts), one_line(memory.content, 4000))
            self.say("  ".join(about))
        if page.more:
            self.say(page.more)

    def canvas(self, canvas: Canvas, texts: Texts) -> None:
        for element in canvas.in_sight:
            body = table(element, TABLE) if isinstance(element, Chart) else set_apart(element.content)
            lines = [element_title(element) and f"■ {element_title(element)}", body, ""]
            self.say("\n".join(lines if lines[0] else lines[1:]))
        if others := others_line(canvas, texts):
            self.say(others)

    def help(self, manuals: Sequence[Manual], names: str, texts: Texts) -> None:
        self.say(texts.terminal.help_title)
        for manual in manuals:
            self.say(f"  {manual.usage}\n      {manual.summary}")
        self.say(names)
        self.say(texts.terminal.help_stored)

    @contextmanager
    def answer(self, texts: Texts) -> Iterator[AnswerView]:
        answer = _PlainAnswer(self._out, self._err, texts)
        try:
            yield answer
        finally:
            answer.end()


class _PlainAnswer(AnswerView):
    """An answer whose text is written as it comes, but for blanks before a word follows: none stands at
    either end."""

    def __init__(self, out: TextIO, err: TextIO, texts: Texts) -> None:
        super().__init__(texts)
        self._out = out
        self._err = err
        self._blanks = ""
        self._in_line = False

    def end(self) -> None:
        """Have whatever comes next stand on a line of its own."""
        self._state_memories()
        self._end_line()

    def _end_line(self) -> None:
        if self._in_line:
            print(file=self._out, flush=True)
        self._in_line = False
        self._blanks = ""

    def _write(self, text: str) -> None:
        text = printable(text)
        text = self._blanks + text if self._in_line else text.lstrip()
        words = text.rstrip()
        self._blanks = text[len(words) :]
        if words:
            at_line_start, self._in_line = not self._in_line, True
            print(set_apart(words, at_line_start=at_line_start), end="", file=self._out, flush=True)

    def _state(self, fact: str, *, failed: bool = False) -> None:  # noqa: ARG002 - it looks like any other
        self._end_line()
        print(stated_lines([fact]), file=self._out, flush=True)

    def _wait(self, why: str | None) -> None:
        if why:
            print(why, file=self._err, flush=True)
