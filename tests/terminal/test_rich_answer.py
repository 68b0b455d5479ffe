import io
import time
from contextlib import suppress

import pytest
from rich.console import Console

from cc_bot.domain import (
    Done,
    Locale,
    Message,
    Notice,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    Usage,
)
from cc_bot.domain.message import Status
from cc_bot.terminal.rich import RichAnswer
from cc_bot.texts import texts
from tests.terminal.screen import Screen

PARAGRAPHS = [f"段落 {number}: これは画面より長い回答の一部です。" for number in range(30)]
CODE = ["```", *(f"line_{number} = {number}" for number in range(30)), "```"]


def done(content: str, status: Status = "complete", *, first: bool = False) -> Done:
    return Done(Message("assistant", content, status=status), Usage(), first)


class Terminal:
    """A console whose output a screen takes in, redrawn only when a test says so."""

    def __init__(self, width: int = 40, height: int = 10) -> None:
        self.output = io.StringIO()
        self.console = Console(file=self.output, force_terminal=True, width=width, height=height)

    @property
    def screen(self) -> Screen:
        return Screen(self.console.width, self.console.height).feed(self.output.getvalue())

    def show(self, *events: TurnEvent, locale: Locale = Locale.JA, redraw: bool = True) -> list[str]:
        """The lines that stand there after the events of one answer."""
        with RichAnswer(self.console, texts(locale)) as answer:
            for event in events:
                answer.show(event)
                if redraw:
                    answer.redraw()
        return [line for line in self.screen.lines if line]


class TestAnswer:
    @pytest.mark.parametrize("width", [40, 80])
    @pytest.mark.parametrize("text", ["\n\n".join(PARAGRAPHS), "\n".join(CODE)], ids=["paragraphs", "code"])
    def test_what_is_longer_than_the_screen_stands_there_once_and_whole(self, width: int, text: str) -> None:
        deltas = [TextDelta(text[start : start + 11]) for start in range(0, len(text), 11)]
        streamed = Terminal(width).show(*deltas, done(text))
        at_once = Terminal(width).show(TextDelta(text), done(text), redraw=False)
        assert streamed == at_once
        assert len(streamed) >= 30

    def test_nothing_but_the_answer_is_left(self) -> None:
        assert Terminal().show(TextDelta("答えは"), TextDelta("**42**です。"), done("x")) == [
            "答えは42です。"
        ]

    def test_what_came_before_an_error_stays(self) -> None:
        terminal = Terminal()
        with suppress(RuntimeError), RichAnswer(terminal.console, texts(Locale.JA)) as answer:
            answer.show(TextDelta("ここまで"))
            raise RuntimeError
        assert terminal.screen.lines[0] == "ここまで"

    def test_a_tool_is_shown_between_the_words_before_and_after_it(self) -> None:
        shown = Terminal().show(
            TextDelta("調べます。"),
            ToolStarted("1", "recall"),
            ToolFinished("1", "recall", ok=True),
            TextDelta("3月15日です。"),
            done("x"),
        )
        assert shown == ["調べます。", "◆ メモリを探しました", "3月15日です。"]

    def test_calls_of_one_tool_in_a_row_are_told_once(self) -> None:
        shown = Terminal().show(
            ToolFinished("1", "recall", ok=True),
            ToolFinished("2", "recall", ok=True),
            TextDelta("3月15日です。"),
            done("x"),
        )
        assert shown == ["◆ メモリを探しました", "3月15日です。"]

    def test_a_tool_that_failed_says_so(self) -> None:
        assert Terminal().show(ToolFinished("1", "recall", ok=False), done("x")) == [
            "◆ recall はうまくいきませんでした"
        ]


class TestNotes:
    @pytest.mark.parametrize("locale", list(Locale))
    @pytest.mark.parametrize("width", [40, 80])
    def test_each_way_to_end_has_its_line(self, locale: Locale, width: int) -> None:
        words = texts(locale)

        def note(ending: Done) -> str:
            joined = "".join(Terminal(width).show(ending, locale=locale))
            return joined.replace(" ", "").replace("◆", "", 1)

        assert note(done("x", "stopped")) == words.answer.stopped.replace(" ", "")
        assert note(done("", "stopped")) == words.answer.stopped_empty.replace(" ", "")
        assert note(done("x", "cut")) == words.terminal.cut.replace(" ", "")
        assert note(done("")) == words.answer.no_words.replace(" ", "")
        assert note(done("x", first=True)) == words.answer.help_hint.replace(" ", "")
        assert note(done("x")) == ""


class TestStatusLine:
    def drawn(self, *events: TurnEvent, elapsed: float = 0, locale: Locale = Locale.EN) -> str:
        """The moving line after these events."""
        now = [time.monotonic()]
        terminal = Terminal()
        with RichAnswer(terminal.console, texts(locale), clock=lambda: now[0]) as answer:
            for event in events:
                answer.show(event)
            now[0] += elapsed
            answer.redraw()
            return next(line for line in reversed(terminal.screen.lines) if line)

    def test_tells_how_long_it_takes(self) -> None:
        assert "Thinking…  Ctrl-C stops" in self.drawn()
        assert "Thinking… (12 s)  Ctrl-C stops" in self.drawn(elapsed=12.3)
        assert "考えています…（12秒）" in self.drawn(elapsed=12.3, locale=Locale.JA)

    def test_tells_what_is_waited_for(self) -> None:
        assert "earlier question" in self.drawn(Notice("queued"))
        assert "That model is busy" in self.drawn(Notice("fallback"))
        assert "Thinking" in self.drawn(Notice("queued"), Notice("started"))
        assert "Saving to memory" in self.drawn(TextDelta("One moment."), ToolStarted("1", "remember"))

    def test_stands_under_the_words_while_they_come(self) -> None:
        assert self.drawn(TextDelta("Hello")).endswith("Ctrl-C stops")
        assert "Thinking" not in self.drawn(TextDelta("Hello"))
