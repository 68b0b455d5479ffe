import io
from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from rich.cells import cell_len
from rich.console import Console

from cc_bot.domain import (
    Done,
    Locale,
    Memory,
    Message,
    Notice,
    TextDelta,
    ToolFinished,
    ToolStarted,
    Usage,
)
from cc_bot.stores import Stores
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.rich import RichView
from cc_bot.terminal.runner import COMMANDS, Runner
from cc_bot.terminal.view import MemoryPage
from cc_bot.texts import texts
from tests.terminal.program import chat_of, profile
from tests.terminal.talk import Talk

LATE_IN_LONDON = datetime(2026, 3, 14, 23, 30, tzinfo=UTC)


def memory(number: int, content: str, category: str, *tags: str) -> Memory:
    return Memory(number, 0, content, category, tags, {}, LATE_IN_LONDON, LATE_IN_LONDON, number=number)


RUBBISH = "毎週水曜日は燃えるゴミの日、第二土曜日は資源ゴミの日。朝八時までに出すこと。"
MEMORIES = [
    memory(12, RUBBISH, "くらし", "ゴミ", "曜日"),
    memory(3, "Allergic to\npeanuts\x1b[31m", "general"),
]
TOKYO = ZoneInfo("Asia/Tokyo")
PAGE = MemoryPage("あなたのメモリ（2件）", MEMORIES, TOKYO, LATE_IN_LONDON, "続きは /memory list --before 3")


class Rich:
    def __init__(self, width: int) -> None:
        self.console = Console(file=io.StringIO(), width=width)
        self.view = RichView(self.console)

    @property
    def lines(self) -> list[str]:
        assert isinstance(self.console.file, io.StringIO)
        return self.console.file.getvalue().splitlines()


class Plain:
    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        self.view = PlainView(self.out, self.err)


@pytest.fixture(params=[40, 80, 120])
def rich(request: pytest.FixtureRequest) -> Rich:
    return Rich(request.param)


@pytest.fixture
def plain() -> Iterator[Plain]:
    plain = Plain()
    yield plain
    assert "\x1b" not in plain.out.getvalue() + plain.err.getvalue()


class TestMemories:
    def test_everything_of_a_memory_is_shown_at_every_width(self, rich: Rich) -> None:
        rich.view.memories(PAGE, texts(Locale.JA))
        shown = "".join(rich.lines)
        for word in ("12", "くらし", "#ゴミ", "#曜日", "3", "一般", "peanuts", "--before 3"):
            assert word in shown
        assert "…" not in shown
        assert all(cell_len(line) <= rich.console.width for line in rich.lines)

    def test_the_date_is_that_of_the_users_time_zone(self, rich: Rich, plain: Plain) -> None:
        for view in (rich.view, plain.view):
            view.memories(PAGE, texts(Locale.JA))
        assert "2026-03-15" in "".join(rich.lines)
        assert "2026-03-15" in plain.out.getvalue()

    @pytest.mark.parametrize("locale", list(Locale))
    def test_columns_are_named_where_there_is_room_for_them(self, locale: Locale) -> None:
        rich, words = Rich(80), texts(locale)
        rich.view.memories(PAGE, words)
        heads = (
            words.terminal.memory_text,
            words.memory.category,
            words.memory.tags,
            words.terminal.memory_date,
        )
        assert any(all(head in line for head in heads) for line in rich.lines)

    def test_in_a_pipe_each_is_one_line(self, plain: Plain) -> None:
        plain.view.memories(PAGE, texts(Locale.EN))
        _, first, second, _ = plain.out.getvalue().splitlines()
        assert first.startswith("#12  2026-03-15  くらし  #ゴミ #曜日  毎週水曜日は")
        assert second == "#3  2026-03-15  general  Allergic to peanuts[31m"


class TestHelp:
    @pytest.mark.parametrize("locale", list(Locale))
    async def test_names_every_command_and_key_at_every_width(
        self, stores: Stores, rich: Rich, locale: Locale
    ) -> None:
        await Runner(chat_of(stores, profile(locale), rich.view)).run("/help")
        shown = " ".join(" ".join(rich.lines).split())
        for name in (*COMMANDS, "Alt+Enter"):
            assert name in shown
        assert "/メモリ 追加" in shown
        assert all(cell_len(line) <= rich.console.width for line in rich.lines)

    async def test_in_a_pipe_keys_are_of_no_use(self, english: Talk) -> None:
        shown = await english.say("/help")
        assert "\n  /memory search words [--category name]\n      find memories\n" in shown
        assert "Alt+Enter" not in shown


class TestSentences:
    def test_errors_go_to_a_stream_of_their_own(self, plain: Plain) -> None:
        plain.view.say("覚えました")
        plain.view.complain("見つかりません")
        assert (plain.out.getvalue(), plain.err.getvalue()) == ("覚えました\n", "見つかりません\n")

    def test_markup_in_a_sentence_is_text(self, rich: Rich) -> None:
        rich.view.say("[bold]これ[/bold] :smile:")
        assert rich.lines[0] == "[bold]これ[/bold] :smile:"


class TestPlainAnswer:
    def test_is_its_text_and_a_line_end(self, plain: Plain) -> None:
        answer = Done(Message("assistant", "x"), Usage())
        with plain.view.answer(texts(Locale.JA)) as view:
            for event in (TextDelta("\n 答えは"), TextDelta(" "), TextDelta("\n\n42です。 \n\n"), answer):
                view.show(event)
        assert plain.out.getvalue() == "答えは \n\n42です。\n"

    def test_a_tool_is_one_line_of_its_own(self, plain: Plain) -> None:
        with plain.view.answer(texts(Locale.EN)) as view:
            for event in (
                TextDelta("One moment."),
                TextDelta("\n\n"),
                ToolStarted("1", "recall"),
                ToolFinished("1", "recall", ok=True),
                TextDelta("March 15."),
            ):
                view.show(event)
        assert plain.out.getvalue() == "One moment.\n◆ Looked through your memories\nMarch 15.\n"

    def test_calls_of_one_tool_in_a_row_are_told_once(self, plain: Plain) -> None:
        with plain.view.answer(texts(Locale.EN)) as view:
            for number in range(3):
                view.show(ToolFinished(str(number), "recall", ok=True))
            view.show(TextDelta("Nothing."))
            view.show(ToolFinished("4", "recall", ok=True))
        line = "◆ Looked through your memories"
        assert plain.out.getvalue().splitlines() == [line, "Nothing.", line]

    def test_waiting_is_not_part_of_the_conversation(self, plain: Plain) -> None:
        with plain.view.answer(texts(Locale.EN)) as view:
            view.show(Notice("queued"))
            view.show(Notice("started"))
        assert plain.out.getvalue() == ""
        assert "Waiting" in plain.err.getvalue()
