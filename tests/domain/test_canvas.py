"""What each command does to a canvas, who may do it, and what is refused."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from cc_bot.domain.canvas import (
    MAX_ELEMENTS,
    AddCard,
    AddChart,
    Canvas,
    CanvasCommand,
    CanvasRefused,
    Card,
    Chart,
    Drawn,
    RemoveElement,
    Series,
    SetMode,
    ShowText,
    Text,
    UpdateCard,
    check_element,
    reduce,
    reduce_all,
)
from cc_bot.domain.message import Visibility
from tests.domain.canvases import DRAWINGS

MILK = AddCard("買い物", "牛乳")
SALES = AddChart("売上", "bar", ("1月", "2月"), (Series("東京", (1, 2.5)), Series("大阪", (3, -4))))


def draw(*commands: CanvasCommand, canvas: Canvas = Canvas(), visibility: Visibility = "public") -> Canvas:
    for command in commands:
        canvas = reduce(canvas, Drawn(command, visibility))
    return canvas


def refusal(command: CanvasCommand, canvas: Canvas = Canvas(), visibility: Visibility = "public") -> str:
    with pytest.raises(CanvasRefused) as refused:
        draw(command, canvas=canvas, visibility=visibility)
    return str(refused.value)


def ids(canvas: Canvas) -> list[str]:
    return [each.id for each in canvas.elements]


class TestAdding:
    def test_puts_each_kind_at_the_end(self) -> None:
        canvas = draw(MILK, ShowText("長い話", "物語"), SALES)
        assert canvas.elements == (
            Card("card-1", "買い物", "牛乳"),
            Text("text-1", "長い話", "物語"),
            Chart("chart-1", "売上", "bar", ("1月", "2月"), SALES.series),
        )

    @pytest.mark.parametrize(
        ("wanted", "made"),
        [
            ("weather-today", "weather-today"),
            ("Weather Today!", "weather-today"),
            ("--x__y--", "x-y"),
            ("天気", "card-1"),
            ("", "card-1"),
            ("x" * 50, "x" * 32),
            ("ＡＢ", "card-1"),
        ],
    )
    def test_makes_an_id_of_what_the_model_wants(self, wanted: str, made: str) -> None:
        assert ids(draw(replace(MILK, id=wanted))) == [made]

    def test_under_an_id_that_is_taken_gets_the_next_free_number(self) -> None:
        assert ids(draw(*[replace(MILK, id="a")] * 3)) == ["a", "a-2", "a-3"]
        assert ids(draw(*[replace(MILK, id="x" * 32)] * 2)) == ["x" * 32, f"{'x' * 30}-2"]
        assert ids(draw(MILK, MILK, MILK)) == ["card-1", "card-2", "card-3"]

    def test_keeps_lines_and_drops_control_characters(self) -> None:
        [card] = draw(AddCard(" 買い\n物\x1b[31m ", "牛乳\r\n\x07卵\u2028パン\u202e\ud83d\t。\n\n")).elements
        assert card == Card("card-1", "買い 物[31m", "牛乳\n卵\nパン 。")

    @pytest.mark.parametrize("text", ["👨‍👩‍👧 家族", "क्षि", "か\u3099"])
    def test_leaves_what_letters_are_joined_with(self, text: str) -> None:
        [card] = draw(AddCard("t", text)).elements
        assert card == Card("card-1", "t", text)


class TestLimit:
    @pytest.mark.parametrize(
        ("command", "said"),
        [
            (AddCard("あ" * 101, "x"), "title: 100 characters at most; these are 101."),
            (AddCard("x", "あ" * 1001), "content: 1000 characters at most; these are 1001."),
            (ShowText("x" * 1001), "content: 1000 characters"),
            (ShowText("x", "x" * 101), "title: 100 characters"),
            (AddCard(" \u200b", "x"), "title: there is nothing in it."),
            (AddCard("x", "\n\u3000\n"), "content: there is nothing in it."),
            (ShowText(""), "content: there is nothing in it."),
            (ShowText("\u200b\u3164"), "content: there is nothing in it."),
        ],
    )
    def test_of_text_is_told(self, command: CanvasCommand, said: str) -> None:
        assert said in refusal(command)

    @pytest.mark.parametrize(
        "command", [AddCard("あ" * 100, "あ" * 1000), ShowText("x" * 1000), AddCard("x" + " " * 200, "x")]
    )
    def test_is_what_may_still_stand_there(self, command: CanvasCommand) -> None:
        assert len(draw(command).elements) == 1

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"labels": ()}, "labels: from 1 to 24; these are 0."),
            ({"labels": ("x",) * 25}, "labels: from 1 to 24; these are 25."),
            ({"series": ()}, "series: from 1 to 6; these are 0."),
            ({"series": (Series("x", (1, 2)),) * 7}, "series: from 1 to 6; these are 7."),
            ({"labels": ("x", "y" * 41)}, "label: 40 characters"),
            ({"labels": ("x", " ")}, "label: there is nothing in it."),
            ({"series": (Series("x" * 41, (1, 2)),)}, "name: 40 characters"),
            ({"series": (Series("", (1, 2)), Series("x", (1, 2)))}, "name: there is nothing in it."),
            ({"series": (Series("x", (1,)),)}, "one number for each of the 2 labels"),
            ({"series": (Series("x", (1, math.nan)),)}, "values: numbers from"),
            ({"series": (Series("x", (1, -math.inf)),)}, "values: numbers from"),
            ({"series": (Series("x", (1, 1e16)),)}, "values: numbers from"),
            ({"kind": "pie"}, "A pie takes one series."),
            ({"kind": "pie", "series": (Series("x", (1, -1)),)}, "A pie takes numbers from 0 up"),
            ({"kind": "pie", "series": (Series("x", (0, 0)),)}, "A pie takes numbers from 0 up"),
            ({"title": ""}, "title: there is nothing in it."),
        ],
    )
    def test_of_charts_is_told(self, changes: dict[str, Any], said: str) -> None:
        assert said in refusal(replace(SALES, **changes))

    def test_of_charts_is_what_may_still_stand_there(self) -> None:
        series = tuple(Series(f"系列{number}", (1e15,) * 24) for number in range(6))
        [chart] = draw(AddChart("大", "line", ("月" * 40,) * 24, series)).elements
        assert isinstance(chart, Chart)
        assert chart.series == series
        assert len(draw(AddChart("一", "pie", ("x",), (Series("", (1,)),))).elements) == 1

    def test_is_ten_elements(self) -> None:
        full = draw(*[MILK] * MAX_ELEMENTS)
        assert "10 elements at most" in refusal(SALES, full)
        assert len(draw(RemoveElement("card-3"), SALES, canvas=full).elements) == MAX_ELEMENTS


class TestUpdating:
    def test_changes_what_is_named_where_it_stands(self) -> None:
        canvas = draw(MILK, MILK, ShowText("x"))
        canvas = draw(UpdateCard("card-1", content="卵"), UpdateCard("text-1", title="題"), canvas=canvas)
        assert canvas.elements == (
            Card("card-1", "買い物", "卵"),
            Card("card-2", "買い物", "牛乳"),
            Text("text-1", "x", "題"),
        )
        [_, _, text] = draw(UpdateCard("text-1", title=""), canvas=canvas).elements
        assert text == Text("text-1", "x")

    def test_of_a_chart_changes_its_title_alone(self) -> None:
        [chart] = draw(UpdateCard("chart-1", title="費用"), canvas=draw(SALES)).elements
        assert chart == replace(draw(SALES).elements[0], title="費用")
        assert "title alone" in refusal(UpdateCard("chart-1", content="x"), draw(SALES))

    def test_keeps_the_limits(self) -> None:
        assert "1000" in refusal(UpdateCard("card-1", content="x" * 1001), draw(MILK))
        assert "nothing in it" in refusal(UpdateCard("card-1", title=""), draw(MILK))
        assert "Say what to change" in refusal(UpdateCard("card-1"), draw(MILK))

    def test_finds_an_id_as_it_was_wished_for(self) -> None:
        canvas = draw(replace(MILK, id="Weather Today"))
        assert draw(RemoveElement("Weather Today"), canvas=canvas) == Canvas()

    def test_of_what_is_not_up_names_what_is(self) -> None:
        assert refusal(UpdateCard("x", title="y")) == "The canvas is empty."
        assert (
            refusal(RemoveElement("x"), draw(MILK, MILK)) == "No such element is up. Up are: card-1, card-2."
        )


class TestMode:
    def test_is_what_was_set(self) -> None:
        assert draw(MILK, SetMode("board")).mode == "board"
        assert draw(MILK, SetMode("board"), SetMode("list")) == draw(MILK)

    def test_focus_shows_an_element_that_is_there(self) -> None:
        canvas = draw(MILK, SALES, SetMode("focus", "chart-1"))
        assert (canvas.mode, canvas.focus) == ("focus", "chart-1")
        assert "Up are: card-1" in refusal(SetMode("focus"), draw(MILK))
        assert "Up are: card-1" in refusal(SetMode("focus", "x"), draw(MILK))

    def test_focus_is_on_it_for_all_who_may_see_it(self) -> None:
        canvas = draw(MILK, SALES, SetMode("focus", "chart-1"))
        assert canvas.visible_in("public") == canvas
        hidden = draw(
            replace(MILK, id="salary"), SetMode("focus", "salary"), canvas=canvas, visibility="private"
        )
        assert hidden.visible_in("private") == hidden
        assert hidden.visible_in("public") == draw(MILK, SALES)

    def test_focus_ends_with_its_element(self) -> None:
        canvas = draw(MILK, SALES, SetMode("focus", "chart-1"), RemoveElement("chart-1"))
        assert canvas == draw(MILK)
        canvas = draw(MILK, SALES, SetMode("focus", "chart-1"), RemoveElement("card-1"))
        assert (canvas.mode, canvas.focus) == ("focus", "chart-1")

    def test_clear_takes_everything_down_and_stacks_again(self) -> None:
        assert draw(MILK, SetMode("board"), SetMode("clear")) == Canvas()
        assert draw(SetMode("clear")) == Canvas()


class TestPrivateElement:
    """Drawn in a private turn; a public one does as if it were not there."""

    HIDDEN = draw(replace(MILK, id="salary"), visibility="private")

    def test_is_private_and_seen_in_private(self) -> None:
        assert [each.visibility for each in self.HIDDEN.elements] == ["private"]
        assert ids(draw(UpdateCard("salary", title="x"), canvas=self.HIDDEN, visibility="private")) == [
            "salary"
        ]

    @pytest.mark.parametrize(
        "command",
        [UpdateCard("salary", title="x"), RemoveElement("salary"), SetMode("focus", "salary")],
    )
    def test_is_neither_changed_nor_named_in_public(self, command: CanvasCommand) -> None:
        assert refusal(command, self.HIDDEN) == "The canvas is empty."
        assert refusal(command, draw(MILK, canvas=self.HIDDEN)) == "No such element is up. Up are: card-1."

    def test_gives_its_id_to_nobody_else(self) -> None:
        assert ids(draw(replace(MILK, id="salary"), canvas=self.HIDDEN)) == ["salary", "salary-2"]

    def test_takes_no_room_from_public_ones(self) -> None:
        hidden = draw(*[MILK] * MAX_ELEMENTS, visibility="private")
        both = draw(*[MILK] * MAX_ELEMENTS, canvas=hidden)
        assert len(both.elements) == 2 * MAX_ELEMENTS
        assert "full" in refusal(MILK, both)
        assert "full" in refusal(MILK, hidden, "private")

    def test_goes_with_all_others_when_a_public_turn_clears(self) -> None:
        assert draw(SetMode("clear"), canvas=self.HIDDEN) == Canvas()

    def test_is_what_a_private_turn_makes_of_a_public_one(self) -> None:
        canvas = draw(UpdateCard("card-1", content="卵"), canvas=draw(MILK), visibility="private")
        assert canvas.elements == (Card("card-1", "買い物", "卵", visibility="private"),)
        assert canvas.visible_in("public") == Canvas()

    def test_that_is_shown_alone_leaves_the_others_listed_in_public(self) -> None:
        canvas = draw(SetMode("focus", "salary"), canvas=draw(MILK, canvas=self.HIDDEN), visibility="private")
        assert canvas.visible_in("public") == draw(MILK)
        assert canvas.visible_in("private") == canvas


class TestCommandsForAnOlderCanvas:
    A = Drawn(replace(MILK, id="a"), "public")

    def test_that_no_longer_apply_are_left_out(self) -> None:
        drawn = [
            Drawn(UpdateCard("gone", title="x"), "public"),
            self.A,
            Drawn(RemoveElement("gone"), "public"),
        ]
        assert ids(reduce_all(Canvas(), drawn)) == ["a"]

    def test_follow_an_element_to_its_new_id(self) -> None:
        mine = [
            self.A,
            Drawn(UpdateCard("a", content="卵"), "public"),
            Drawn(SetMode("focus", "a"), "public"),
        ]
        canvas = reduce_all(draw(replace(MILK, id="a")), mine)
        assert canvas.elements == (Card("a", "買い物", "牛乳"), Card("a-2", "買い物", "卵"))
        assert canvas.focus == "a-2"
        assert ids(
            reduce_all(draw(replace(MILK, id="a")), [self.A, Drawn(RemoveElement("a"), "public")])
        ) == ["a"]

    @settings(max_examples=60, deadline=None)
    @given(DRAWINGS)
    def test_give_the_same_on_the_same_canvas(self, drawings: list[Drawn]) -> None:
        canvas, done = Canvas(), []
        for drawn in drawings:
            try:
                canvas = reduce(canvas, drawn)
            except CanvasRefused:
                continue
            command = drawn.command
            if isinstance(command, AddCard | ShowText | AddChart):
                command = replace(command, id=canvas.elements[-1].id)
            done.append(replace(drawn, command=command))
        assert reduce_all(Canvas(), done) == canvas


class TestWhateverIsDrawn:
    @settings(max_examples=60, deadline=None)
    @given(DRAWINGS)
    def test_keeps_every_limit(self, drawings: list[Drawn]) -> None:
        canvas = reduce_all(Canvas(), drawings)
        assert len(canvas.visible_in("public").elements) <= MAX_ELEMENTS
        assert len(canvas.elements) <= 2 * MAX_ELEMENTS
        assert len(set(ids(canvas))) == len(canvas.elements)
        assert all(check_element(each) == each for each in canvas.elements)
        assert (canvas.mode == "focus") == bool(canvas.focus)
        assert not canvas.focus or canvas.element(canvas.focus)

    @pytest.mark.slow
    @settings(max_examples=60, deadline=None)
    @given(DRAWINGS, DRAWINGS)
    def test_in_public_hangs_on_nothing_private(self, hidden: list[Drawn], drawings: list[Drawn]) -> None:
        """But for the numbers of ids, what a public turn draws is as if nothing private were there."""
        private = [replace(each, visibility="private") for each in hidden]
        public = [replace(each, visibility="public") for each in drawings]
        shared, alone = reduce_all(Canvas(), private), Canvas()
        assert shared.visible_in("public").elements == ()
        for drawn in public:
            if getattr(drawn.command, "id", "") or getattr(drawn.command, "focus", ""):
                continue
            shared, alone = reduce_all(shared, [drawn]), reduce_all(alone, [drawn])
            seen = [replace(each, id="") for each in shared.visible_in("public").elements]
            assert seen == [replace(each, id="") for each in alone.elements]

    @settings(max_examples=60, deadline=None)
    @given(DRAWINGS, DRAWINGS)
    def test_in_private_is_never_seen_in_public(self, drawings: list[Drawn], later: list[Drawn]) -> None:
        canvas = reduce_all(Canvas(), drawings)
        secret = Drawn(AddCard("SECRET-TITLE", "x", "secret-id"), "private")
        try:
            canvas = reduce(canvas, secret)
        except CanvasRefused:
            return
        for drawn in later:
            canvas = reduce_all(canvas, [drawn])
            assert "SECRET" not in str(canvas.visible_in("public"))
            assert "secret" not in str(canvas.visible_in("public"))
