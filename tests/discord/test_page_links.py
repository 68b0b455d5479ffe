"""The pages of the web that an answer rests on, as they stand below it."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.answer import AnswerState, advance, final_pages, stored_state, streaming_pages
from cc_bot.discord.pages.custom_ids import StopButton
from cc_bot.discord.pages.page import FACTS_CHARACTERS, Facts, Page
from cc_bot.domain import Locale, Message
from cc_bot.domain.message import ToolCall
from cc_bot.domain.turn import ToolStarted
from cc_bot.texts import texts

JA, EN = texts(Locale.JA), texts(Locale.EN)
LINE = re.compile(r"\d\. \[(?:[^\]\\\n]|\\.)+\]\(<https://[^<>()\[\]\\`|*\s]+>\)( · [^\n]*)?")


def call(url: str, title: str) -> ToolCall:
    return ToolCall("1", "read_page", "{}", json.dumps({"url": url, "title": title, "text": "…"}))


def page(*calls: ToolCall, text: str = "雨です。", locale: Locale = Locale.JA) -> Page:
    answer = Message("assistant", text, tool_calls=calls)
    return final_pages(stored_state(answer), texts(locale))[-1]


class TestReading:
    @pytest.mark.parametrize(
        ("tool", "japanese", "english"),
        [
            ("read_page", "🌐 ページを読んでいます…", "🌐 Reading the page…"),
            ("web_search", "🔎 ウェブで調べています…", "🔎 Searching the web…"),
        ],
    )
    def test_is_told_while_it_goes_on(self, tool: str, japanese: str, english: str) -> None:
        state = advance(AnswerState(), ToolStarted("1", tool))
        for words, line in ((JA, japanese), (EN, english)):
            [shown] = streaming_pages(state, words, StopButton(5, "t"))
            assert line in shown.content


class TestLinks:
    def test_are_of_what_was_fetched_and_never_of_the_models_words(self) -> None:
        said = "[1] https://made.example/ 1. [偽](<https://made.example/>)"
        shown = page(call("https://www.news.example/a?b=(c)", "明日の天気"), text=said)
        assert shown.facts.sources == (
            "1. [明日の天気](<https://www.news.example/a?b=%28c%29>) · news.example",
        )
        assert page(text=said).facts.sources == ()

    def test_are_five_and_the_number_of_the_others(self) -> None:
        calls = [call(f"https://{n}.example/", f"題{n}") for n in range(8)]
        for locale, more in ((Locale.JA, "（ほか3件）"), (Locale.EN, " (and 3 more)")):
            sources = page(*calls, locale=locale).facts.sources
            assert [line[:6] for line in sources] == [f"{n}. [題{n - 1}" for n in range(1, 6)]
            assert sources[-1].endswith(f"4.example{more}")

    def test_have_a_host_in_place_of_a_title(self) -> None:
        assert page(call("https://a.example/x", "")).facts.sources == (
            "1. [a.example](<https://a.example/x>)",
        )

    @pytest.mark.parametrize("title", ["://", ":x:////", "::////", "https://", "https://x://://"])
    def test_have_no_title_that_is_what_an_address_begins_with(self, title: str) -> None:
        [line] = page(call("https://a.example/x", title)).facts.sources
        assert "://" not in line.replace("<https://a.example/x>", "")

    @given(st.text(max_size=120), st.text(st.sampled_from("](<>)[`*_\\\n :/.ahtps日"), max_size=60))
    def test_have_a_title_that_cannot_be_more_than_one(self, title: str, marks: str) -> None:
        for each in (title, marks, f"x](<https://evil.example/>) {marks}", f"https://bank.example/{title}"):
            [line] = page(call("https://a.example/x", each)).facts.sources
            assert LINE.fullmatch(line), line
            assert "://" not in line.replace("<https://a.example/x>", "")
            assert len(line) < 200

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            (
                "https://a.example/p)](https://b.example/login",
                "https://a.example/p%29%5D%28https://b.example/login",
            ),
            ("https://a.example/x>)[y](<z", "https://a.example/x%3E%29%5By%5D%28%3Cz"),
            (
                "https://a.example/||a|| **b** `c` \\",
                "https://a.example/%7C%7Ca%7C%7C%20%2A%2Ab%2A%2A%20%60c%60%20%5C",
            ),
            (
                "https://a.example/a__b__~~c~~?d_e=~f&g=%28",
                "https://a.example/a%5F%5Fb%5F%5F%7E%7Ec%7E%7E?d_e=~f&g=%28",
            ),
            ("https://[2606:4700::1111]:443/[1]", "https://[2606:4700::1111]:443/%5B1%5D"),
        ],
    )
    def test_lead_to_one_address_whatever_that_holds(self, url: str, shown: str) -> None:
        [line] = page(call(url, "題")).facts.sources
        assert line.startswith(f"1. [題](<{shown}>) · ")

    @given(st.text(st.sampled_from("](<>)[`*_~|\\ :/.ahtps%"), max_size=60))
    def test_have_an_address_that_cannot_be_more_than_one(self, path: str) -> None:
        [line] = page(call(f"https://a.example/{path}", "題")).facts.sources
        assert LINE.fullmatch(line), line

    def test_fit_below_an_answer_however_long_they_are(self) -> None:
        calls = [call(f"https://{'a' * 60}{n}.example/{'b' * 1900}", "[" * 300) for n in range(8)]
        facts = page(*calls).facts
        assert len(facts.sources) == 5
        assert len(facts.description) < FACTS_CHARACTERS
        assert facts.description.count("\n") >= 4

    @pytest.mark.parametrize("notices", [(), ("✂️ 切れました。",), ("一", "二", "三")])
    def test_are_read_back_as_they_stand(self, notices: tuple[str, ...]) -> None:
        shown = page(call("https://a.example/x", "題[1]"), call("https://b.example/", "")).facts
        facts = Facts(("💾 覚えました: 猫",), notices, sources=shown.sources)
        read = Facts.read(facts.embeds())
        assert (read.receipts, read.notices, read.sources) == (facts.receipts, facts.notices, facts.sources)

    def test_are_plain_where_no_embed_may_be(self) -> None:
        shown = page(call("https://a.example/x", "題[1]_a")).without_embeds()
        assert shown.facts.labels() == ("1. 題[1]_a · a.example",)
