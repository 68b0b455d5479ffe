"""The view for a person at a terminal: Markdown, colours, and a line that tells what is going on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console

from cc_bot.domain.canvas import Canvas
from cc_bot.terminal.canvas_panels import canvas_panels
from cc_bot.terminal.facts import FactLines, Quoted, QuotedLines, Stated
from cc_bot.terminal.line_breaks import wrapped
from cc_bot.terminal.markdown import ChatMarkdown
from cc_bot.terminal.printable import printable
from cc_bot.terminal.rich_answer import RichAnswer
from cc_bot.terminal.tables import manual_table, memory_table
from cc_bot.terminal.view import AnswerView, MemoryPage, beside_focus, names_line
from cc_bot.texts import Texts


class RichView:
    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        self._console.print(wrapped(printable(text)))
        self._console.print()

    def complain(self, text: str) -> None:
        self._console.print(wrapped(printable(text), style="yellow"))
        self._console.print()

    def state(self, stated: Sequence[Stated]) -> None:
        for each in stated:
            lines = QuotedLines(each) if isinstance(each, Quoted) else FactLines(each, style="")
            self._console.print(lines, end="")
        self._console.print()

    def memories(self, page: MemoryPage, texts: Texts) -> None:
        self._console.print(wrapped(printable(page.title), style="bold"))
        self._console.print(memory_table(page, texts, self._console.width))
        if page.more:
            self._console.print(wrapped(printable(page.more), style="dim"))
        self._console.print()

    def canvas(self, canvas: Canvas, texts: Texts) -> None:
        self._console.print(canvas_panels(canvas, self._console.width))
        if others := beside_focus(canvas, texts):
            self._console.print(wrapped(printable(others), style="dim"))
        self._console.print()

    def help(self, texts: Texts) -> None:
        words = texts.terminal
        self._console.print(wrapped(words.help_title, style="bold"))
        self._console.print(manual_table(words.commands, self._console.width))
        self._console.print()
        below = (names_line(texts), words.help_keys, words.help_stored)
        self._console.print(ChatMarkdown("\n\n".join(below)))
        self._console.print()

    @contextmanager
    def answer(self, texts: Texts) -> Iterator[AnswerView]:
        with RichAnswer(self._console, texts) as answer:
            yield answer
        self._console.print()
