"""The tools for the canvas, called as models call them: also sloppily."""

from dataclasses import replace
from typing import Any

import pytest

from cc_bot.chat.tools import ToolContext
from cc_bot.domain.chart import Chart, Series
from cc_bot.features.canvas.drawing import CanvasDraft
from cc_bot.features.canvas.model import Canvas, Card, Text
from tests.tools.conftest import call, result_of, told

HIDDEN = Card("salary", "給料日", "25日", visibility="private")


@pytest.fixture
def context(context: ToolContext) -> ToolContext:
    return replace(context, canvas=CanvasDraft(Canvas(), "public"))


def draft_of(context: ToolContext) -> CanvasDraft:
    assert isinstance(context.canvas, CanvasDraft)
    return context.canvas


async def draw(context: ToolContext, name: str, **arguments: Any) -> dict[str, Any]:
    return await told(context, f"canvas_{name}", **arguments)


async def refused(context: ToolContext, name: str, **arguments: Any) -> str:
    before = draft_of(context).canvas
    outcome = await call(context, f"canvas_{name}", **arguments)
    assert not outcome.ok
    assert draft_of(context).canvas == before
    return str(result_of(outcome)["error"])


class TestDrawing:
    async def test_puts_up_cards_texts_and_charts(self, context: ToolContext) -> None:
        assert await draw(context, "add_card", title="猫", content="モチ") == {"id": "card-1"}
        assert await draw(context, "show_text", content="本文", id="Story!") == {"id": "story"}
        series = [{"name": "東京", "values": [1, 2.5]}]
        chart = {"title": "売上", "kind": "bar", "labels": ["1月", "2月"], "series": series}
        assert await draw(context, "add_chart", **chart) == {"id": "chart-1"}
        assert draft_of(context).canvas.elements == (
            Card("card-1", "猫", "モチ"),
            Text("story", "本文"),
            Chart("chart-1", "売上", "bar", ("1月", "2月"), (Series("東京", (1.0, 2.5)),)),
        )

    async def test_changes_lays_out_and_takes_down(self, context: ToolContext) -> None:
        for title in ("猫", "犬"):
            await draw(context, "add_card", title=title, content="…")
        both = {"up": ["card-1", "card-2"]}
        assert await draw(context, "update_card", id="card-1", content="ミケ") == both
        assert await draw(context, "set_mode", mode="focus", focus="card-1") == both
        assert await draw(context, "remove_element", id="card-2") == {"up": ["card-1"]}
        assert draft_of(context).canvas == Canvas((Card("card-1", "猫", "ミケ"),), "focus", "card-1")
        assert await draw(context, "set_mode", mode="clear") == {"up": []}
        assert draft_of(context).canvas == Canvas()


class TestRefusal:
    async def test_tells_the_limit(self, context: ToolContext) -> None:
        long = await refused(context, "add_card", title="t", content="あ" * 1001)
        assert "1000 characters at most" in long
        for _ in range(10):
            await draw(context, "show_text", content="x")
        assert "full" in await refused(context, "add_card", title="t", content="c")


class TestPrivateElement:
    @pytest.fixture
    def context(self, context: ToolContext) -> ToolContext:
        return replace(context, canvas=CanvasDraft(Canvas((HIDDEN,)), "public"))

    async def test_is_named_by_no_result_in_public(self, context: ToolContext) -> None:
        assert await draw(context, "set_mode", mode="board") == {"up": []}
        assert await draw(context, "add_card", title="t", content="c") == {"id": "card-1"}
        assert await draw(context, "update_card", id="card-1", title="u") == {"up": ["card-1"]}
        errors = {
            await refused(context, "update_card", id="salary", title="x"),
            await refused(context, "remove_element", id="salary"),
            await refused(context, "set_mode", mode="focus", focus="salary"),
        }
        assert errors == {"No such element is up. Up are: card-1."}
        assert draft_of(context).canvas.elements == (Card("card-1", "u", "c"),)
