"""The column of a canvas: what is written there, and what is read from one that was damaged."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cc_bot.domain.canvas import Canvas, Card, Chart, Drawn, Series, Text, check_element, reduce_all
from cc_bot.stores.canvas_json import EMPTY_CANVAS, canvas_from_json, canvas_to_json
from tests.domain.canvases import DRAWINGS

CARD: dict[str, Any] = {"type": "card", "id": "a", "title": "猫", "content": "モチ"}
CHART: dict[str, Any] = {
    "type": "chart",
    "id": "c",
    "title": "売上",
    "kind": "line",
    "labels": ["1月"],
    "series": [{"name": "東京", "values": [1.5]}],
}


def read(**state: Any) -> Canvas:
    return canvas_from_json(json.dumps(state))


class TestWriting:
    def test_nothing_gives_what_the_column_starts_with(self) -> None:
        assert canvas_to_json(Canvas()) == EMPTY_CANVAS == '{"elements":[]}'

    def test_is_for_people_to_read(self) -> None:
        canvas = Canvas(
            (
                Card("a", "猫", "モチ"),
                Text("b", "長い話", visibility="private"),
                Chart("c", "売上", "line", ("1月",), (Series("東京", (1.5,)),)),
            ),
            "focus",
            "a",
        )
        text = {"type": "text", "id": "b", "title": "", "content": "長い話", "visibility": "private"}
        assert json.loads(canvas_to_json(canvas)) == {
            "elements": [CARD, text, CHART],
            "mode": "focus",
            "focus": "a",
        }
        assert "猫" in canvas_to_json(canvas)

    @settings(max_examples=60, deadline=None)
    @given(DRAWINGS)
    def test_and_reading_gives_the_same_canvas(self, drawings: list[Drawn]) -> None:
        canvas = reduce_all(Canvas(), drawings)
        assert canvas_from_json(canvas_to_json(canvas)) == canvas
        assert canvas_to_json(canvas_from_json(canvas_to_json(canvas))) == canvas_to_json(canvas)


class TestDamagedElement:
    def test_is_left_out_and_the_others_stay(self) -> None:
        damaged: list[Any] = [
            *(None, 1, "card", [], {}),
            CARD | {"type": "video"},
            CARD | {"type": ["card"]},
            CARD | {"id": "A b"},
            CARD | {"id": ""},
            CARD | {"id": 5},
            CARD | {"title": ""},
            CARD | {"content": "x" * 1001},
            CARD | {"content": None},
            CARD | {"visibility": "secret"},
            {key: value for key, value in CARD.items() if key != "content"},
            CHART | {"kind": "radar"},
            CHART | {"labels": []},
            *(CHART | {"series": [{"name": "x", "values": values}]} for values in ([1, 2], ["x"])),
            *(CHART | {"series": [{"name": "x", "values": [float(n)]}]} for n in ("nan", "inf")),
            CHART | {"series": 5},
        ]
        kept = {
            json.dumps(each): [element.id for element in read(elements=[each, CARD | {"id": "b"}]).elements]
            for each in damaged
        }
        assert {each: ids for each, ids in kept.items() if ids != ["b"]} == {}
        large = json.dumps({"elements": [CARD, CHART]}).replace("1.5", "1e999")
        assert [each.id for each in canvas_from_json(large).elements] == ["a"]


class TestDamagedMode:
    def test_is_a_list(self) -> None:
        for state in (
            {"mode": "grid"},
            {"mode": None},
            {"mode": ["board"]},
            {"mode": "focus"},
            {"mode": "focus", "focus": "gone"},
            {"mode": "focus", "focus": ["a"]},
            {"focus": "a"},
        ):
            assert read(elements=[CARD], **state) == Canvas((Card("a", "猫", "モチ"),)), state
        assert read(elements=[CARD], mode="board").mode == "board"


class TestAnyJson:
    @settings(max_examples=100, deadline=None)
    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.sampled_from(["card", "a"]),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["elements", "type", "id", "title", "content", "mode", "focus"]), inner
                )
            ),
            max_leaves=12,
        )
    )
    def test_gives_a_canvas_that_keeps_the_limits(self, value: Any) -> None:
        canvas = canvas_from_json(json.dumps({"elements": [value], "mode": value}))
        assert all(check_element(each) == each for each in canvas.elements)
        assert canvas_from_json(json.dumps(value)) is not None

    def test_private_stays_private(self) -> None:
        stored = canvas_to_json(Canvas((replace(Card("a", "猫", "モチ"), visibility="private"),)))
        assert canvas_from_json(stored).visible_in("public") == Canvas()
