"""What the views write of answers, memories, canvases and how far a job is: in a pipe, and at every width."""

import io
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
from cc_bot.domain.canvas import Canvas, Card, Chart, Series, Text
from cc_bot.llm.offline import OfflineModel
from cc_bot.stores import Stores
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.rich import RichView
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
SHOPPING: Final = Card("card-1", "買い物", "- 牛乳\n- **たまご**\x1b[31m")
SECRET: Final = Text("text-1", "金庫の番号は上の段", visibility="private")
SPENDING: Final = Chart("chart-1", "支出", "bar", ("食費", "本"), (Series("円", (12000.0, 3000.0)),))
EVERYTHING: Final = (SHOPPING, SECRET, SPENDING)


class Plain:
    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        self.view = PlainView(self.out, self.err)

    def answered(self, locale: Locale, *events: TurnEvent) -> list[str]:
        with self.view.answer(texts(locale)) as answer:
            for event in events:
                answer.show(event)
        return self.out.getvalue().splitlines()


@pytest.fixture
def plain() -> Iterator[Plain]:
    plain = Plain()
    yield plain
    assert "\x1b" not in plain.out.getvalue() + plain.err.getvalue()


async def test_memories_a_canvas_and_help_are_whole_at_every_width(stores: Stores) -> None:
    for width in (40, 120):
        view = RichView(Console(file=(out := io.StringIO()), width=width))
        view.memories(PAGE, texts(Locale.JA))
        view.canvas(Canvas(EVERYTHING, "board"), texts(Locale.JA))
        view.say("[bold]これ[/bold] :smile:")
        await Runner(chat_of(stores, profile(Locale.JA), view)).run("/help")
        lines = out.getvalue().splitlines()
        assert max(map(cell_len, lines)) <= width
        assert "\x1b[31m" not in out.getvalue()
        shown = " ".join(" ".join(lines).split())
        for words in (
            *("12", "くらし", "#曜日", "peanuts", "--before 3", "2026-03-15", "買い物", "🔒", "金庫の番号"),
            *("支出", "12,000 ███", "[bold]これ[/bold] :smile:", *COMMANDS, "Alt+Enter", "/メモリ 追加"),
        ):
            assert words in shown


class TestPlainAnswer:
    def test_is_its_text_with_tools_once_in_lines_of_their_own(self, plain: Plain) -> None:
        used = [ToolFinished(str(n), "recall", ok=True) for n in range(3)]
        words = [TextDelta(each) for each in ("\n One", " ", "moment.", "\n\n")]
        waiting = Notice("queued"), Notice("started")
        last = TextDelta("Nothing. \n\n"), Done(Message("assistant", "x"), Usage())
        plain.answered(Locale.EN, *waiting, *words, ToolStarted("1", "recall"), *used, *last)
        assert plain.out.getvalue() == "One moment.\n◆ Looked through your memories\nNothing.\n"
        assert "Waiting" in plain.err.getvalue()


async def test_a_canvas_is_drawn_shown_and_taken_down_in_a_chat(stores: Stores) -> None:
    chat = Talk(stores, answering=Assistant(stores, only(OfflineModel()), TOOLS))
    assert "何も出ていません" in await chat.say("/canvas")
    drawn = await chat.say("支出：家賃 78000、食費 42000 を円グラフでキャンバスに出して")
    assert "◆ キャンバスを扱いました\nキャンバスに出しました。" in drawn
    shown = "■ 支出\n78,000 65% ████████████ 家賃\n42,000 35% ██████▌      食費\n\n"
    assert await chat.say("/canvas") == shown
    assert "空にしました" in await chat.say("/canvas clear")
    assert "もう何も出ていません" in await chat.say("/canvas clear")
