"""Messages of a canvas: whatever stood before, they lead to what is shown now."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given

from cc_bot.domain import Locale
from cc_bot.domain.canvas import (
    AddCard,
    AddChart,
    Canvas,
    CanvasCommand,
    Card,
    Chart,
    Drawn,
    RemoveElement,
    Series,
    SetMode,
    ShowText,
    Text,
    UpdateCard,
    reduce,
    reduce_all,
)
from cc_bot.texts import texts
from cc_bot.web.canvas_protocol import CLEAR, Command, body_of, changes, fill
from tests.domain.canvases import DRAWINGS

MILK = Card("milk", "買い物", "牛乳と**卵**")
NOTE = Text("note", "今日は晴れ")
SALES = Chart(
    "sales", "売上", "bar", ("1月", "2月"), (Series("東京", (1.0, 2.5)), Series("大阪", (3.0, -4.0)))
)
BOTH = Canvas((MILK, NOTE))
FOCUSED = replace(BOTH, mode="focus", focus="milk")
JA, EN = texts(Locale.JA), texts(Locale.EN)


def parsed(command: Any) -> Drawn:
    """The command of a message as the program has it."""
    match command:
        case {"command": "canvas_add_card"}:
            made: CanvasCommand = AddCard(command["title"], command["content"], command["id"])
        case {"command": "canvas_show_text"}:
            made = ShowText(command["content"], command["title"], command["id"])
        case {"command": "canvas_add_chart"}:
            series = tuple(Series(each["name"], tuple(each["values"])) for each in command["series"])
            made = AddChart(
                command["title"], command["kind"], tuple(command["labels"]), series, command["id"]
            )
        case {"command": "canvas_update_card"}:
            made = UpdateCard(command["id"], command.get("title"), command.get("content"))
        case {"command": "canvas_remove_element"}:
            made = RemoveElement(command["id"])
        case {"command": "canvas_set_mode"}:
            made = SetMode(command["mode"], command.get("focus", ""))
        case _:
            raise AssertionError(command)
    return Drawn(made, command.get("visibility", "private"))


def received(canvas: Canvas, commands: Sequence[Command]) -> Canvas:
    """The canvas after what was sent; while it is filled, as many elements go up as there are."""
    *steps, shown = json.loads(json.dumps(commands))
    assert shown["command"] == "canvas_shown"
    for step in steps:
        drawn = parsed(step)
        if is_whole(commands) and isinstance(drawn.command, AddCard | ShowText | AddChart):
            [element] = reduce(Canvas(), drawn).elements
            canvas = replace(canvas, elements=(*canvas.elements, element))
        else:
            canvas = reduce(canvas, drawn)
    return canvas


def clean(canvas: Canvas) -> Canvas:
    """The canvas without what no page is told."""
    return replace(canvas, elements=tuple(replace(each, tainted=False) for each in canvas.elements))


def names(commands: Sequence[Command]) -> list[str]:
    return [each["command"] for each in commands]


def is_whole(commands: Sequence[Command]) -> bool:
    return commands[0] == CLEAR


def changed(old: Canvas, new: Canvas) -> Sequence[Command]:
    return changes(old, new, 4, JA)


class TestFill:
    def test_clears_puts_up_each_element_and_names_what_is_in_focus(self) -> None:
        commands = fill(Canvas((MILK, NOTE, SALES), "board"), 7, JA)
        assert names(commands) == [
            *("canvas_set_mode", "canvas_set_mode", "canvas_add_card", "canvas_show_text"),
            *("canvas_add_chart", "canvas_shown"),
        ]
        assert [each.get("mode") for each in commands[:2]] == ["clear", "board"]
        assert commands[-1]["revision"] == 7
        focused = fill(Canvas((MILK,), "focus", "milk"), 7, JA)
        assert names(focused) == ["canvas_set_mode", "canvas_add_card", "canvas_set_mode", "canvas_shown"]

    @given(DRAWINGS, DRAWINGS)
    def test_gives_the_canvas_whatever_was_up(self, before: list[Drawn], drawn: list[Drawn]) -> None:
        canvas = reduce_all(Canvas(), drawn)
        assert received(reduce_all(Canvas(), before), fill(canvas, 1, EN)) == clean(canvas)


class TestChanges:
    def test_name_what_changed_and_nothing_else(self) -> None:
        for old, new, expected in (
            (BOTH, BOTH, ["canvas_shown"]),
            (BOTH, Canvas((NOTE,)), ["canvas_remove_element", "canvas_shown"]),
            (FOCUSED, Canvas((NOTE,)), ["canvas_remove_element", "canvas_shown"]),
            (
                BOTH,
                Canvas((replace(MILK, content="パン"), NOTE, SALES), "board"),
                ["canvas_update_card", "canvas_add_chart", "canvas_set_mode", "canvas_shown"],
            ),
        ):
            assert names(changed(old, new)) == expected
        assert is_whole(changed(BOTH, Canvas((NOTE, MILK)))), "no command makes another order"

    def test_of_a_charts_title_name_its_picture_and_its_table_anew(self) -> None:
        commands = changed(Canvas((SALES,)), Canvas((replace(SALES, title="利益"),)))
        assert names(commands) == ["canvas_update_card", "canvas_shown"]
        assert "<caption>利益</caption>" in commands[0]["html"]
        assert "売上" not in commands[0]["html"]

    def test_make_an_element_private(self) -> None:
        commands = changed(BOTH, Canvas((replace(MILK, visibility="private"), NOTE)))
        assert (names(commands)[0], commands[0]["visibility"]) == ("canvas_update_card", "private")

    @given(DRAWINGS, DRAWINGS, DRAWINGS)
    def test_lead_from_any_canvas_to_its_next_and_to_any_other(
        self, first: list[Drawn], more: list[Drawn], other: list[Drawn]
    ) -> None:
        old = reduce_all(Canvas(), first)
        for new in (reduce_all(old, more), reduce_all(Canvas(), other)):
            assert received(clean(old), changed(old, new)) == clean(new)


class TestBody:
    def test_of_a_card_is_markdown_and_of_a_chart_a_table_without_html_of_its_words(self) -> None:
        assert body_of(MILK, JA) == "<p>牛乳と<strong>卵</strong></p>\n"
        html = body_of(SALES, JA)
        assert html.startswith("<svg ")
        assert "<caption>売上</caption>" in html
        assert '<th scope="row">2月</th><td class="number">2.5</td><td class="number">-4</td>' in html
        evil = "<img src=x onerror=alert(1)>"
        chart = Chart("a", evil, "bar", (evil,), (Series(evil, (1,)), Series(evil, (2,))))
        for element in (replace(MILK, content=evil), chart):
            assert "<img" not in body_of(element, EN)
