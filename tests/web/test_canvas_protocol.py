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
    def test_clears_sets_the_mode_puts_up_each_element_and_says_which_it_is(self) -> None:
        commands = fill(Canvas((MILK, NOTE, SALES), "board"), 7, JA)
        assert names(commands) == [
            *("canvas_set_mode", "canvas_set_mode", "canvas_add_card", "canvas_show_text"),
            *("canvas_add_chart", "canvas_shown"),
        ]
        assert [each.get("mode") for each in commands[:2]] == ["clear", "board"]
        assert commands[-1]["revision"] == 7

    def test_names_what_is_in_focus_once_it_is_up(self) -> None:
        commands = fill(Canvas((MILK,), "focus", "milk"), 7, JA)
        assert names(commands) == ["canvas_set_mode", "canvas_add_card", "canvas_set_mode", "canvas_shown"]

    @given(DRAWINGS, DRAWINGS)
    def test_gives_the_canvas_whatever_was_up(self, before: list[Drawn], drawn: list[Drawn]) -> None:
        canvas = reduce_all(Canvas(), drawn)
        assert received(reduce_all(Canvas(), before), fill(canvas, 1, EN)) == clean(canvas)


class TestChanges:
    def test_name_what_changed_and_nothing_else(self) -> None:
        commands = changed(BOTH, Canvas((replace(MILK, content="パン"), NOTE, SALES), "board"))
        assert names(commands) == [
            *("canvas_update_card", "canvas_add_chart", "canvas_set_mode", "canvas_shown"),
        ]
        update = commands[0]
        assert (update["content"], update["html"]) == ("パン", "<p>パン</p>\n")

    def test_of_nothing_say_the_revision_alone(self) -> None:
        assert names(changed(BOTH, BOTH)) == ["canvas_shown"]

    def test_remove_what_is_gone(self) -> None:
        assert names(changed(BOTH, Canvas((NOTE,)))) == ["canvas_remove_element", "canvas_shown"]

    def test_remove_what_is_in_focus_and_list_the_others(self) -> None:
        commands = changed(replace(BOTH, mode="focus", focus="milk"), Canvas((NOTE,)))
        assert names(commands) == ["canvas_remove_element", "canvas_shown"]

    def test_that_no_command_makes_put_up_everything(self) -> None:
        assert is_whole(changed(BOTH, Canvas((NOTE, MILK))))

    def test_of_a_charts_title_name_its_picture_and_its_table_anew(self) -> None:
        commands = changed(Canvas((SALES,)), Canvas((replace(SALES, title="利益"),)))
        assert names(commands) == ["canvas_update_card", "canvas_shown"]
        assert "<caption>利益</caption>" in commands[0]["html"]
        assert "売上" not in commands[0]["html"]

    def test_make_an_element_private(self) -> None:
        commands = changed(BOTH, Canvas((replace(MILK, visibility="private"), NOTE)))
        assert (names(commands)[0], commands[0]["visibility"]) == ("canvas_update_card", "private")

    @given(DRAWINGS, DRAWINGS)
    def test_lead_from_any_canvas_to_its_next(self, first: list[Drawn], more: list[Drawn]) -> None:
        old = reduce_all(Canvas(), first)
        self.check(old, reduce_all(old, more))

    @given(DRAWINGS, DRAWINGS)
    def test_lead_from_any_canvas_to_any_other(self, first: list[Drawn], other: list[Drawn]) -> None:
        self.check(reduce_all(Canvas(), first), reduce_all(Canvas(), other))

    def check(self, old: Canvas, new: Canvas) -> None:
        assert received(clean(old), changed(old, new)) == clean(new)


class TestBody:
    def test_of_a_card_is_markdown_without_html(self) -> None:
        assert body_of(MILK, JA) == "<p>牛乳と<strong>卵</strong></p>\n"
        assert "<script" not in body_of(replace(MILK, content="<script>x</script>"), JA)

    def test_of_a_chart_has_its_numbers_as_a_table(self) -> None:
        html = body_of(SALES, JA)
        assert html.startswith("<svg ")
        assert "<caption>売上</caption>" in html
        assert '<th scope="row">2月</th><td class="number">2.5</td><td class="number">-4</td>' in html

    def test_of_a_chart_has_no_markup_of_its_words(self) -> None:
        evil = "<img src=x onerror=alert(1)>"
        html = body_of(Chart("a", evil, "bar", (evil,), (Series(evil, (1,)), Series(evil, (2,)))), EN)
        assert "<img" not in html
