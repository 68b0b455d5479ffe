"""What the views write of answers, memories, canvases and how far a job is: in a pipe, and at every width."""

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from rich.cells import cell_len
from rich.console import Console

from cc_bot.assistant import Assistant
from cc_bot.domain import (
    Done,
    Locale,
    Memory,
    Message,
    Notice,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    Usage,
)
from cc_bot.domain.canvas import Canvas, Card, Chart, Mode, Series, Text
from cc_bot.domain.message import ToolCall
from cc_bot.llm.offline import OfflineModel
from cc_bot.stores import Stores
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.rich import RichView, bars
from cc_bot.terminal.runner import COMMANDS, Runner
from cc_bot.terminal.view import MemoryPage
from cc_bot.texts import texts
from tests.scripted_model import only
from tests.terminal.program import TOOLS, chat_of, profile
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

    def answered(self, locale: Locale, *events: TurnEvent) -> list[str]:
        with self.view.answer(texts(locale)) as answer:
            for event in events:
                answer.show(event)
        return self.out.getvalue().splitlines()


@pytest.fixture(params=[40, 80, 120])
def rich(request: pytest.FixtureRequest) -> Rich:
    return Rich(request.param)


@pytest.fixture
def plain() -> Iterator[Plain]:
    plain = Plain()
    yield plain
    assert "\x1b" not in plain.out.getvalue() + plain.err.getvalue()


class TestMemories:
    def test_are_shown_whole_at_every_width_with_the_date_of_their_users_time_zone(self, rich: Rich) -> None:
        rich.view.memories(PAGE, texts(Locale.JA))
        shown = "".join(rich.lines)
        for word in ("12", "くらし", "#ゴミ", "#曜日", "3", "一般", "peanuts", "--before 3", "2026-03-15"):
            assert word in shown
        assert "…" not in shown
        assert all(cell_len(line) <= rich.console.width for line in rich.lines)

    def test_are_one_line_each_in_a_pipe(self, plain: Plain) -> None:
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
        for name in (*COMMANDS, "Alt+Enter", "/メモリ 追加"):
            assert name in shown
        assert all(cell_len(line) <= rich.console.width for line in rich.lines)


class TestSentences:
    def test_are_as_they_stand_and_errors_go_to_a_stream_of_their_own(self, plain: Plain) -> None:
        plain.view.say("覚えました")
        plain.view.complain("見つかりません")
        assert (plain.out.getvalue(), plain.err.getvalue()) == ("覚えました\n", "見つかりません\n")
        rich = Rich(40)
        rich.view.say("[bold]これ[/bold] :smile:")
        assert rich.lines[0] == "[bold]これ[/bold] :smile:"


class TestPlainAnswer:
    def test_is_its_text_and_a_line_end(self, plain: Plain) -> None:
        pieces = [TextDelta(each) for each in ("\n 答えは", " ", "\n\n42です。 \n\n")]
        plain.answered(Locale.JA, *pieces, Done(Message("assistant", "x"), Usage()))
        assert plain.out.getvalue() == "答えは \n\n42です。\n"

    def test_tells_tools_once_in_lines_of_their_own(self, plain: Plain) -> None:
        waiting = (Notice("queued"), Notice("started"))
        used: tuple[TurnEvent, ...] = (
            ToolStarted("1", "recall"),
            *(ToolFinished(str(n), "recall", ok=True) for n in range(3)),
        )
        events: tuple[TurnEvent, ...] = (
            TextDelta("One moment."),
            TextDelta("\n\n"),
            *used,
            TextDelta("Nothing."),
            *used[:2],
        )
        line = "◆ Looked through your memories"
        assert plain.answered(Locale.EN, *waiting, *events) == ["One moment.", line, "Nothing.", line]
        assert "Waiting" in plain.err.getvalue()

    def test_has_the_pages_that_it_rests_on_below_it(self) -> None:
        def call(url: str, title: str) -> ToolCall:
            told = {"url": url, "title": title, "text": "…"}
            return ToolCall("1", "read_page", "{}", json.dumps(told))

        calls = tuple(call(f"https://{n}.example/a", f"題\n{n}") for n in range(6))
        for locale, more in ((Locale.JA, "（ほか1件）"), (Locale.EN, " (and 1 more)")):
            said = Plain().answered(
                locale,
                TextDelta("雨です。"),
                Done(Message("assistant", "雨です。", tool_calls=calls), Usage()),
            )
            assert said[-5:-1] == [f"◆ {n + 1}. 題 {n}  https://{n}.example/a" for n in range(4)]
            assert said[-1] == f"◆ 5. 題 4  https://4.example/a{more}"
        untitled = Message("assistant", "雨です。", tool_calls=(call("https://a.example/", ""),))
        assert Plain().answered(Locale.JA, Done(untitled, Usage()))[-1] == "◆ 1. https://a.example/"


SHOPPING: Final = Card("card-1", "買い物", "- 牛乳\n- **たまご**\x1b[31m")
SECRET: Final = Text("text-1", "金庫の番号は上の段", visibility="private")
SPENDING: Final = Chart("chart-1", "支出", "bar", ("食費", "本"), (Series("円", (12000.0, 3000.0)),))
EVERYTHING: Final = (SHOPPING, SECRET, SPENDING)


class TestCanvas:
    @pytest.mark.parametrize("mode", ["list", "board"])
    def test_is_shown_whole_at_every_width(self, rich: Rich, mode: Mode) -> None:
        rich.view.canvas(Canvas(EVERYTHING, mode), texts(Locale.JA))
        shown = "\n".join(rich.lines)
        for words in ("買い物", "牛乳", "たまご", "🔒", "金庫の番号", "支出", "12,000 ███", "食費", "本"):
            assert words in shown
        assert max(map(cell_len, rich.lines)) <= rich.console.width
        assert "\x1b[31m" not in shown

    def test_has_titles_contents_and_tables_in_a_pipe(self, plain: Plain) -> None:
        plain.view.canvas(Canvas(EVERYTHING), texts(Locale.JA))
        assert plain.out.getvalue() == (
            "■ 買い物\n- 牛乳\n- **たまご**[31m\n\n"
            "■ 🔒\n金庫の番号は上の段\n\n"
            "■ 支出\n12,000 ████████████ 食費\n 3,000 ███          本\n\n"
        )
        plain.view.canvas(Canvas((SHOPPING, SPENDING), "focus", "card-1"), texts(Locale.EN))
        assert plain.out.getvalue().endswith("Also up: 支出\n")

    async def test_is_drawn_shown_and_taken_down_in_a_chat(self, stores: Stores) -> None:
        chat = Talk(stores, answering=Assistant(stores, only(OfflineModel()), TOOLS))
        assert "何も出ていません" in await chat.say("/canvas")
        drawn = await chat.say("支出：家賃 78000、食費 42000 を円グラフでキャンバスに出して")
        assert "◆ キャンバスを扱いました\nキャンバスに出しました。" in drawn
        shown = "■ 支出\n78,000 65% ████████████ 家賃\n42,000 35% ██████▌      食費\n\n"
        assert await chat.say("/canvas") == shown
        assert "空にしました" in await chat.say("/canvas clear")
        assert "もう何も出ていません" in await chat.say("/canvas clear")


class TestBars:
    NAMES: Final = {"copying": "コピーしています…", "checking": "中身を確かめています…"}

    def test_leave_the_terminal_to_others_during_a_stage_without_a_name(self) -> None:
        console = Console(file=(written := io.StringIO()), force_terminal=True, width=60)
        with bars(self.NAMES, console) as progress:
            progress("copying", 0, 2**22)
            progress("waiting", 0, 0)
            stopped = written.tell()
            console.print("実行しますか？")
            assert written.getvalue()[stopped:] == "実行しますか？\n"
            progress("checking", 0, 0)
        assert self.NAMES["checking"] in written.getvalue()[stopped:]
