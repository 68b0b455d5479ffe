import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.message import Visibility
from cc_bot.features.canvas.model import (
    MAX_ELEMENTS,
    Canvas,
    CanvasCommand,
    Card,
    CommandRefused,
    Edit,
    RemoveElement,
    SetMode,
    Text,
    UpdateCard,
    apply_edit,
    apply_edits,
)
from tests.domain.canvases import DRAWINGS

MILK = Card("", "買い物", "牛乳")
SALES = Chart("", "売上", "bar", ("1月", "2月"), (Series("東京", (1, 2.5)), Series("大阪", (3, -4))))


def draw(*commands: CanvasCommand, canvas: Canvas = Canvas(), visibility: Visibility = "public") -> Canvas:
    for command in commands:
        canvas = apply_edit(canvas, Edit(command, visibility))
    return canvas


def refusal(command: CanvasCommand, canvas: Canvas = Canvas(), visibility: Visibility = "public") -> str:
    with pytest.raises(CommandRefused) as refused:
        draw(command, canvas=canvas, visibility=visibility)
    return str(refused.value)


def hidden(*commands: CanvasCommand, canvas: Canvas = Canvas()) -> Canvas:
    return draw(*commands, canvas=canvas, visibility="private")


def ids(canvas: Canvas) -> list[str]:
    return [each.id for each in canvas.elements]


class TestAdding:
    def test_puts_each_kind_at_the_end_under_an_id_of_its_own(self) -> None:
        assert draw(MILK, Text("", "長い話", "物語"), SALES).elements == (
            *(Card("card-1", "買い物", "牛乳"), Text("text-1", "長い話", "物語")),
            Chart("chart-1", "売上", "bar", ("1月", "2月"), SALES.series),
        )
        assert ids(draw(*[replace(MILK, id="a")] * 3)) == ["a", "a-2", "a-3"]
        assert ids(draw(*[replace(MILK, id="x" * 32)] * 2)) == ["x" * 32, f"{'x' * 30}-2"]

    def test_makes_an_id_of_what_the_model_wants(self) -> None:
        made = {"Weather Today!": "weather-today", "--x__y--": "x-y", "天気": "card-1", "x" * 50: "x" * 32}
        assert {wanted: ids(draw(replace(MILK, id=wanted))) for wanted in made} == {
            wanted: [id_] for wanted, id_ in made.items()
        }
        named = draw(replace(MILK, id="Weather Today"))
        assert draw(RemoveElement("Weather Today"), canvas=named) == Canvas()

    def test_keeps_lines_and_joined_letters_and_drops_control_characters(self) -> None:
        [card] = draw(Card("", " 買い\n物\x1b[31m ", "牛乳\r\n\x07卵\u2028パン\u202e\ud83d\t。\n\n")).elements
        assert card == Card("card-1", "買い 物[31m", "牛乳\n卵\nパン 。")
        for text in ("👨‍👩‍👧 家族", "क्षि", "か\u3099"):
            assert draw(Card("", "t", text)).elements == (Card("card-1", "t", text),)


class TestLimit:
    def test_of_text_and_of_elements_is_told(self) -> None:
        told: dict[CanvasCommand, str] = {
            Card("", "あ" * 101, "x"): "title: 100 characters at most; these are 101.",
            Card("", "x", "あ" * 1001): "content: 1000 characters at most; these are 1001.",
            Text("", "x", "x" * 101): "title: 100 characters",
            Card("", " \u200b", "x"): "title: there is nothing in it.",
            Text("", "\u200b\u3164"): "content: there is nothing in it.",
        }
        assert [command for command, said in told.items() if said not in refusal(command)] == []
        most = Card("", "あ" * 100, "あ" * 1000), Text("", "x" * 1000), Card("", "x" + " " * 200, "x")
        assert len(draw(*most).elements) == 3
        assert "10 elements at most" in refusal(SALES, draw(*[MILK] * MAX_ELEMENTS))

    def test_of_charts_is_told(self) -> None:
        told: list[tuple[dict[str, Any], str]] = [
            ({"labels": ()}, "labels: from 1 to 62; these are 0."),
            ({"labels": ("x",) * 63}, "labels: from 1 to 62; these are 63."),
            ({"series": (Series("x", (1, 2)),) * 7}, "series: from 1 to 6; these are 7."),
            ({"labels": ("x", "y" * 41)}, "label: 40 characters"),
            ({"series": (Series("x" * 41, (1, 2)),)}, "name: 40 characters"),
            ({"series": (Series("", (1, 2)), Series("x", (1, 2)))}, "name: there is nothing in it."),
            ({"series": (Series("x", (1,)),)}, "one number for each of the 2 labels"),
            ({"series": (Series("x", (1, math.nan)),)}, "values: numbers from"),
            ({"series": (Series("x", (1, 1e16)),)}, "values: numbers from"),
            ({"kind": "pie"}, "A pie takes one series."),
            ({"kind": "pie", "series": (Series("x", (1, -1)),)}, "A pie takes numbers from 0 up"),
            ({"kind": "pie", "series": (Series("x", (0, 0)),)}, "A pie takes numbers from 0 up"),
            ({"kind": "area"}, "Areas are stacked"),
            ({"kind": "scatter"}, "A scatter chart takes numbers as labels."),
            ({"y_title": "円" * 41}, "axis title: 40 characters"),
        ]
        assert [each for each in told if each[1] not in refusal(replace(SALES, **each[0]))] == []
        most = tuple(Series(f"系列{number}", (1e15,) * 62) for number in range(6))
        assert len(draw(Chart("", "大", "line", ("月" * 40,) * 62, most)).elements) == 1
        assert len(draw(Chart("", "一", "pie", ("x",), (Series("", (1,)),))).elements) == 1


def test_updating_changes_what_is_named_where_it_stands_and_of_a_chart_its_title_alone() -> None:
    canvas = draw(MILK, MILK, Text("", "x"))
    canvas = draw(UpdateCard("card-1", content="卵"), UpdateCard("text-1", title="題"), canvas=canvas)
    assert canvas.elements == (
        *(Card("card-1", "買い物", "卵"), Card("card-2", "買い物", "牛乳"), Text("text-1", "x", "題")),
    )
    [chart] = draw(UpdateCard("chart-1", title="費用"), canvas=draw(SALES)).elements
    assert chart == replace(draw(SALES).elements[0], title="費用")
    assert "title alone" in refusal(UpdateCard("chart-1", content="x"), draw(SALES))
    assert "1000" in refusal(UpdateCard("card-1", content="x" * 1001), draw(MILK))
    assert "Say what to change" in refusal(UpdateCard("card-1"), draw(MILK))
    up = "No such element is up. Up are: card-1, card-2."
    assert refusal(RemoveElement("x"), draw(MILK, MILK)) == up


def test_focus_shows_an_element_to_all_who_may_see_it_and_ends_with_it() -> None:
    focused = draw(MILK, SALES, SetMode("focus", "chart-1"))
    assert (focused.mode, focused.focus, focused.visible_in("public")) == ("focus", "chart-1", focused)
    for command in (SetMode("focus"), SetMode("focus", "x")):
        assert "Up are: card-1" in refusal(command, draw(MILK))
    assert draw(RemoveElement("chart-1"), canvas=focused) == draw(MILK)
    assert draw(RemoveElement("card-1"), canvas=focused).focus == "chart-1"
    private = hidden(replace(MILK, id="salary"), SetMode("focus", "salary"), canvas=focused)
    assert private.visible_in("private") == private
    assert private.visible_in("public") == draw(MILK, SALES)


class TestPrivateElement:
    """Drawn in a private turn; a public one does as if it were not there."""

    HIDDEN = hidden(replace(MILK, id="salary"))

    def test_is_neither_changed_nor_named_in_public_but_goes_with_all_others(self) -> None:
        for command in (UpdateCard("salary", title="x"), RemoveElement("salary"), SetMode("focus", "salary")):
            assert refusal(command, self.HIDDEN) == "The canvas is empty."
            up = "No such element is up. Up are: card-1."
            assert refusal(command, draw(MILK, canvas=self.HIDDEN)) == up
        assert draw(SetMode("clear"), canvas=self.HIDDEN) == Canvas()

    def test_gives_its_id_to_nobody_else_and_takes_no_room_from_public_ones(self) -> None:
        assert ids(draw(replace(MILK, id="salary"), canvas=self.HIDDEN)) == ["salary", "salary-2"]
        full = hidden(*[MILK] * MAX_ELEMENTS)
        both = draw(*[MILK] * MAX_ELEMENTS, canvas=full)
        assert len(both.elements) == 2 * MAX_ELEMENTS
        assert "full" in refusal(MILK, both)
        assert "full" in refusal(MILK, full, "private")


def test_commands_for_an_older_canvas_follow_an_element_to_its_new_id() -> None:
    up, again = draw(replace(MILK, id="a")), Edit(replace(MILK, id="a"), "public")
    commands = UpdateCard("a", content="卵"), SetMode("focus", "a")
    canvas = apply_edits(up, [again, *(Edit(command, "public") for command in commands)])
    assert canvas.elements == (Card("a", "買い物", "牛乳"), Card("a-2", "買い物", "卵"))
    assert canvas.focus == "a-2"
    assert ids(apply_edits(up, [again, Edit(RemoveElement("a"), "public")])) == ["a"]


class TestWhateverIsDrawn:
    @settings(max_examples=60, deadline=None)
    @given(DRAWINGS, DRAWINGS)
    def test_in_private_is_never_seen_in_public(self, drawings: list[Edit], later: list[Edit]) -> None:
        canvas = apply_edits(Canvas(), drawings)
        secret = Edit(Card("secret-id", "SECRET-TITLE", "x"), "private")
        try:
            canvas = apply_edit(canvas, secret)
        except CommandRefused:
            return
        for drawn in later:
            canvas = apply_edits(canvas, [drawn])
            assert "SECRET" not in str(canvas.visible_in("public"))
            assert "secret" not in str(canvas.visible_in("public"))
