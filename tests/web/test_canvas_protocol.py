"""Messages of a canvas: whatever stood before, they lead to what is shown now."""

from collections.abc import Sequence
from dataclasses import replace

from cc_bot.domain import Locale
from cc_bot.domain.canvas import Canvas, Card, Chart, Series, Text
from cc_bot.texts import texts
from cc_bot.web.canvas_protocol import CLEAR, Command, body_of, changes, fill

MILK = Card("milk", "買い物", "牛乳と**卵**")
NOTE = Text("note", "今日は晴れ")
SALES = Chart(
    "sales", "売上", "bar", ("1月", "2月"), (Series("東京", (1.0, 2.5)), Series("大阪", (3.0, -4.0)))
)
BOTH = Canvas((MILK, NOTE))
FOCUSED = replace(BOTH, mode="focus", focus="milk")
JA, EN = texts(Locale.JA), texts(Locale.EN)


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
