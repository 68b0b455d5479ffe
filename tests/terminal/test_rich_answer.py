"""An answer as it grows on a screen: what stands there at the end, and the line that moves below it."""

import io
from contextlib import suppress

from rich.console import Console

from cc_bot.domain import Done, Locale, Message, TextDelta, ToolFinished, ToolStarted, TurnEvent, Usage
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

    def show(self, *events: TurnEvent, redraw: bool = True) -> list[str]:
        """The lines that stand there after the events of one answer."""
        with RichAnswer(self.console, texts(Locale.JA)) as answer:
            for event in events:
                answer.show(event)
                if redraw:
                    answer.redraw()
        return [line for line in self.screen.lines if line]


class TestAnswer:
    def test_that_is_longer_than_the_screen_stands_there_once_and_whole(self) -> None:
        for text in ("\n\n".join(PARAGRAPHS), "\n".join(CODE)):
            for width in (40, 80):
                deltas = [TextDelta(text[start : start + 11]) for start in range(0, len(text), 11)]
                streamed = Terminal(width).show(*deltas, done(text))
                assert streamed == Terminal(width).show(TextDelta(text), done(text), redraw=False)
                assert len(streamed) >= 30

    def test_stays_as_far_as_it_came_before_an_error(self) -> None:
        terminal = Terminal()
        with suppress(RuntimeError), RichAnswer(terminal.console, texts(Locale.JA)) as answer:
            answer.show(TextDelta("ここまで"))
            raise RuntimeError
        assert terminal.screen.lines[0] == "ここまで"

    def test_ends_in_each_way_with_its_line(self) -> None:
        words, used = texts(Locale.JA), (ToolStarted("1", "recall"), ToolFinished("1", "recall", ok=True))
        shown = Terminal().show(TextDelta("**調べ**ます。"), *used, TextDelta("3月15日です。"), done("x"))
        assert shown == ["調べます。", "◆ メモリを探しました", "3月15日です。"]
        for ending, note in (
            (done("x", "stopped"), words.answer.stopped),
            (done("x", "cut"), words.terminal.cut),
            (done(""), words.answer.no_words),
            (done("x", first=True), words.answer.help_hint),
            (done("x"), ""),
        ):
            joined = "".join(Terminal().show(ending)).replace("◆", "", 1)
            assert joined.replace(" ", "") == note.replace(" ", "")
