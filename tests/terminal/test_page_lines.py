"""The pages of the web that an answer rests on, in a terminal."""

import io
import json

import pytest

from cc_bot.domain import Done, Locale, Message, TextDelta, Usage
from cc_bot.domain.message import ToolCall
from cc_bot.domain.turn import ToolFinished, ToolStarted
from cc_bot.terminal.plain import PlainView
from cc_bot.texts import texts


def lines(locale: Locale, *calls: ToolCall) -> list[str]:
    out = io.StringIO()
    with PlainView(out, io.StringIO()).answer(texts(locale)) as answer:
        answer.show(ToolStarted("1", "read_page"))
        answer.show(ToolFinished("1", "read_page", ok=True))
        answer.show(TextDelta("雨です。"))
        answer.show(Done(Message("assistant", "雨です。", tool_calls=calls), Usage()))
    return out.getvalue().splitlines()


def call(url: str, title: str) -> ToolCall:
    return ToolCall("1", "read_page", "{}", json.dumps({"url": url, "title": title, "text": "…"}))


class TestPages:
    @pytest.mark.parametrize(
        ("locale", "read", "more"),
        [(Locale.JA, "ページを読みました", "（ほか1件）"), (Locale.EN, "Read the page", " (and 1 more)")],
    )
    def test_stand_below_the_answer_by_number_and_address(self, locale: Locale, read: str, more: str) -> None:
        calls = [call(f"https://{n}.example/a", f"題\n{n}") for n in range(6)]
        said = lines(locale, *calls)
        assert said[0].endswith(read)
        assert said[-5:-1] == [f"◆ {n + 1}. 題 {n}  https://{n}.example/a" for n in range(4)]
        assert said[-1] == f"◆ 5. 題 4  https://4.example/a{more}"

    def test_without_a_title_are_addresses_alone(self) -> None:
        assert lines(Locale.JA, call("https://a.example/", ""))[-1] == "◆ 1. https://a.example/"
