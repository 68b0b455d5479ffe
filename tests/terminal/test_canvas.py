"""The canvas in the terminal: the command, the panels, and the line under an answer."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from cc_bot.assistant import Assistant
from cc_bot.domain import CanvasChanged, Done, Locale, Message, TextDelta, Usage
from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    Card,
    Chart,
    Drawn,
    Mode,
    Series,
    SetMode,
    Text,
)
from cc_bot.llm.offline import OfflineModel
from cc_bot.stores import Stores
from cc_bot.terminal.plain import PlainView
from cc_bot.terminal.rich import RichView
from cc_bot.texts import texts
from tests.scripted_model import only
from tests.terminal.program import TOOLS
from tests.terminal.talk import KEY, Talk

SHOPPING = Card("card-1", "買い物", "- 牛乳\n- **たまご**\x1b[31m")
SECRET = Text("text-1", "金庫の番号は上の段", visibility="private")
SPENDING = Chart("chart-1", "支出", "bar", ("食費", "本"), (Series("円", (12000.0, 3000.0)),))
EVERYTHING = (SHOPPING, SECRET, SPENDING)


def shown(canvas: Canvas, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
    RichView(console).canvas(canvas, texts(Locale.JA))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def plain(canvas: Canvas, locale: Locale = Locale.JA) -> str:
    out = io.StringIO()
    PlainView(out, out).canvas(canvas, texts(locale))
    return out.getvalue()


class TestPanels:
    @pytest.mark.parametrize("width", [36, 80, 130])
    @pytest.mark.parametrize("mode", ["list", "board"])
    def test_show_all_of_it_at_every_width(self, width: int, mode: Mode) -> None:
        lines = shown(Canvas(EVERYTHING, mode), width)
        for words in ("買い物", "牛乳", "たまご", "🔒", "金庫の番号", "支出", "12,000 ███", "食費", "本"):
            assert words in "\n".join(lines)
        assert max(map(cell_len, lines)) <= width
        assert "\x1b[31m" not in "".join(lines)

    def test_of_a_board_stand_side_by_side_where_there_is_room(self) -> None:
        def together(width: int) -> bool:
            return any("買い物" in line and "支出" in line for line in shown(board, width))

        board = Canvas((SHOPPING, SPENDING), "board")
        assert together(100)
        assert not together(60)

    def test_of_a_focus_are_one_and_name_the_others(self) -> None:
        lines = shown(Canvas(EVERYTHING, "focus", "chart-1"), 80)
        assert "牛乳" not in "".join(lines)
        assert "ほかに: 買い物, text-1" in lines


class TestPlainText:
    def test_has_titles_contents_and_tables(self) -> None:
        assert plain(Canvas(EVERYTHING)) == (
            "■ 買い物\n- 牛乳\n- **たまご**[31m\n\n"
            "■ 🔒\n金庫の番号は上の段\n\n"
            "■ 支出\n12,000 ████████████ 食費\n 3,000 ███          本\n\n"
        )

    def test_of_a_focus_names_the_others(self) -> None:
        assert plain(Canvas((SHOPPING, SPENDING), "focus", "card-1"), Locale.EN).endswith("Also up: 支出\n")


class TestAnswers:
    @pytest.mark.parametrize(
        ("canvas", "line"),
        [
            (Canvas((SHOPPING,)), "🖼️ キャンバスを書き換えました。/canvas で見られます。"),
            (Canvas(), "🖼️ キャンバスは空になりました。"),
        ],
    )
    def test_that_changed_the_canvas_say_so_below(self, canvas: Canvas, line: str) -> None:
        out = io.StringIO()
        console = Console(file=io.StringIO(), width=80)
        for view in (PlainView(out, out), RichView(console)):
            with view.answer(texts(Locale.JA)) as answer:
                answer.show(TextDelta("出しました。"))
                answer.show(CanvasChanged(canvas))
                answer.show(Done(Message("assistant", "出しました。"), Usage()))
        assert isinstance(console.file, io.StringIO)
        for written in (out.getvalue(), console.file.getvalue()):
            assert [row.strip() for row in written.splitlines() if row.strip()] == [
                "出しました。",
                f"◆ {line}",
            ]


class TestChat:
    async def test_without_a_key_puts_up_what_is_asked_for(self, stores: Stores) -> None:
        chat = Talk(stores, answering=Assistant(stores, only(OfflineModel()), TOOLS))
        drawn = await chat.say("支出：家賃 78000、食費 42000 を円グラフでキャンバスに出して")
        assert "◆ キャンバスを扱いました\nキャンバスに出しました。" in drawn
        assert "🖼️ キャンバスを書き換えました。/canvas で見られます。" in drawn
        assert await chat.say("/canvas") == (
            "■ 支出\n78,000 65% ████████████ 家賃\n42,000 35% ██████▌      食費\n\n"
        )
        assert "🖼️ キャンバスは空になりました。" in await chat.say("キャンバスを空にして")

    async def test_shows_what_is_up_and_takes_it_down(self, chat: Talk, stores: Stores) -> None:
        assert "何も出ていません" in await chat.say("/canvas")
        await stores.sessions.open(KEY)
        await stores.canvases.draw(
            KEY,
            [
                Drawn(AddCard("買い物", "牛乳"), "public"),
                Drawn(AddChart("支出", "bar", ("食費",), (Series("円", (12000.0,)),)), "private"),
                Drawn(SetMode("board"), "public"),
            ],
        )
        up = await chat.say("/canvas")
        assert "■ 買い物\n牛乳" in up
        assert "■ 🔒 支出\n12,000" in up
        assert "空にしました" in await chat.say("/canvas clear")
        assert "もう何も出ていません" in await chat.say("/canvas clear")
        assert "何も出ていません" in await chat.say("/canvas")
