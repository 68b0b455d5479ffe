"""The offline model puts up what it is asked for in plain words: the canvas can be tried without a key."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.llm.model import ToolSchema
from tests.llm.offline_partner import BOTH, Partner

CANVAS = tuple(
    ToolSchema(name, "", {"type": "object"})
    for name in ("canvas_add_card", "canvas_show_text", "canvas_add_chart", "canvas_set_mode")
)


def user(*, broken: frozenset[str] = frozenset()) -> Partner:
    return Partner((*BOTH, *CANVAS), broken)


def chart(kind: str, title: str, **values: float) -> tuple[str, dict[str, Any]]:
    series = [{"name": title, "values": list(values.values())}]
    return "canvas_add_chart", {"title": title, "kind": kind, "labels": list(values), "series": series}


class TestText:
    @pytest.mark.parametrize(
        ("said", "content"),
        [
            ("キャンバスに「牛乳を買う」と表示してください", "牛乳を買う"),
            ("水曜は在宅勤務、とキャンバスに書いておいて", "水曜は在宅勤務"),
            ("牛乳と卵をキャンバスに貼ってくれる？", "牛乳と卵"),
            ('put "buy milk" on the canvas', "buy milk"),
            ("Could you show the gate code 4471 on my canvas, please?", "the gate code 4471"),
        ],
    )
    async def test_is_put_up_without_the_command(self, said: str, content: str) -> None:
        partner = user()
        await partner.say(said)
        assert partner.calls == [("canvas_show_text", {"content": content})]

    async def test_said_before_is_put_up_on_request(self) -> None:
        partner = user()
        await partner.say("テントは4人用です")
        await partner.say("それをキャンバスに出して")
        assert partner.calls[-1] == ("canvas_show_text", {"content": "テントは4人用です"})

    @pytest.mark.parametrize("said", ["キャンバスに出して", "put it on the canvas"])
    async def test_that_is_missing_is_asked_for(self, said: str) -> None:
        partner = user()
        answer = await partner.say(said)
        assert "キャンバスに出して」" in answer or "on the canvas”" in answer
        assert partner.calls == []


class TestCard:
    @pytest.mark.parametrize(
        ("said", "title", "content"),
        [
            ("買うもの：牛乳、卵をキャンバスに出して", "買うもの", "牛乳、卵"),
            ("キャンバスに買うものを出して\n- 牛乳\n- 卵", "買うもの", "- 牛乳\n- 卵"),
            ("買うものをキャンバスに表示して：牛乳、卵", "買うもの", "牛乳、卵"),
            ("Put shopping list: milk, eggs on the canvas", "shopping list", "milk, eggs"),
        ],
    )
    async def test_has_the_heading_as_its_title(self, said: str, title: str, content: str) -> None:
        partner = user()
        await partner.say(said)
        assert partner.calls == [("canvas_add_card", {"title": title, "content": content})]


class TestChart:
    @pytest.mark.parametrize(
        ("said", "drawn"),
        [
            (
                "りんご120、みかん80、ぶどう45を棒グラフにしてキャンバスに出して",
                chart("bar", "グラフ", りんご=120, みかん=80, ぶどう=45),
            ),
            (
                "今月の支出：家賃 78,000円、食費 4.2万円を円グラフでキャンバスに出して",
                chart("pie", "今月の支出", 家賃=78000, 食費=42000),
            ),
            (
                "気温の折れ線グラフをキャンバスに表示して：1月 -0.4度、2月 1.5度",
                chart("line", "気温", **{"1月": -0.4, "2月": 1.5}),
            ),
            ("りんご120個とみかん80個のグラフを作って", chart("bar", "グラフ", りんご=120, みかん=80)),
            (
                "put a pie chart of rent 1,780, food 420 and books 90.5 on the canvas",
                chart("pie", "Chart", rent=1780, food=420, books=90.5),
            ),
            ("draw a bar chart of 12 apples and 8 oranges", chart("bar", "Chart", apples=12, oranges=8)),
        ],
    )
    async def test_is_drawn_of_the_numbers_in_the_request(
        self, said: str, drawn: tuple[str, dict[str, Any]]
    ) -> None:
        partner = user()
        await partner.say(said)
        assert partner.calls == [drawn]

    async def test_without_numbers_is_explained(self) -> None:
        partner = user()
        assert "名前と数" in await partner.say("グラフをキャンバスに出して")
        assert partner.calls == []


class TestCanvas:
    @pytest.mark.parametrize(
        "said", ["キャンバスを空にして", "キャンバスを消してください", "Please clear the canvas."]
    )
    async def test_is_cleared(self, said: str) -> None:
        partner = user()
        assert await partner.say(said)
        assert partner.calls == [("canvas_set_mode", {"mode": "clear"})]

    @pytest.mark.parametrize(
        ("said", "command"),
        [("キャンバスに何が出てる？", "/キャンバス 表示"), ("What's on the canvas?", "/canvas show")],
    )
    async def test_that_is_asked_for_has_a_command(self, said: str, command: str) -> None:
        assert command in await user().say(said)

    @pytest.mark.parametrize(
        "said",
        ["絵をキャンバスに描くのが好きです。", "I put paint on the canvas yesterday.", "グラフは苦手です。"],
    )
    async def test_is_not_heard_in_other_talk(self, said: str) -> None:
        partner = user()
        await partner.say(said)
        assert [name for name, _ in partner.calls if name.startswith("canvas")] == []

    async def test_on_which_nothing_could_be_put_is_not_claimed(self) -> None:
        broken = user(broken=frozenset({"canvas_show_text"}))
        assert "出せませんでした" in await broken.say("牛乳をキャンバスに出して")

    async def test_that_is_not_there_is_not_used(self) -> None:
        partner = Partner()
        assert "使えません" in await partner.say("牛乳をキャンバスに出して")
        assert partner.calls == []

    @given(st.text("りんご12、,。：:\n キャンバスにを出してグラフ円put on the canvas", max_size=60))
    async def test_gets_an_answer_whatever_is_asked(self, said: str) -> None:
        assert await user().say(said)
