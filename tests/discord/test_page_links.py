"""The pages of the web that an answer rests on, as they stand below it."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.answer import final_pages, stored_state
from cc_bot.discord.pages.page import FACTS_CHARACTERS, Facts, Page
from cc_bot.domain import Locale, Message
from cc_bot.domain.message import ToolCall
from cc_bot.texts import texts
from tests.discord.cases import check

LINE = re.compile(r"\d\. \[(?:[^\]\\\n]|\\.)+\]\(<https://[^<>()\[\]\\`|*\s]+>\)( · [^\n]*)?")


def call(url: str, title: str) -> ToolCall:
    return ToolCall("1", "read_page", "{}", json.dumps({"url": url, "title": title, "text": "…"}))


def page(*calls: ToolCall, text: str = "雨です。", locale: Locale = Locale.JA) -> Page:
    answer = Message("assistant", text, tool_calls=calls)
    return final_pages(stored_state(answer), texts(locale))[-1]


def line(url: str, title: str) -> str:
    [only] = page(call(url, title)).facts.sources
    return only


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
        for locale in Locale:
            sources = page(*calls, locale=locale).facts.sources
            assert [line[:6] for line in sources] == [f"{n}. [題{n - 1}" for n in range(1, 6)]
            assert sources[-1].endswith(f"4.example{texts(locale).answer.more_pages.format(count=3)}")

    def test_lead_to_one_address_whatever_that_and_its_title_hold(self) -> None:
        at = "https://a.example/"
        check(
            (line(f"{at}x", ""), f"1. [a.example](<{at}x>)"),
            *(
                (line(url, "題").partition(" · ")[0], f"1. [題](<{shown}>)")
                for url, shown in (
                    (f"{at}p)](https://b.example/login", f"{at}p%29%5D%28https://b.example/login"),
                    (f"{at}x>)[y](<z", f"{at}x%3E%29%5By%5D%28%3Cz"),
                    (f"{at}||a|| **b** `c` \\", f"{at}%7C%7Ca%7C%7C%20%2A%2Ab%2A%2A%20%60c%60%20%5C"),
                    (f"{at}a__b__~~c~~?d_e=~f&g=%28", f"{at}a%5F%5Fb%5F%5F%7E%7Ec%7E%7E?d_e=~f&g=%28"),
                    ("https://[2606:4700::1111]:443/[1]", "https://[2606:4700::1111]:443/%5B1%5D"),
                )
            ),
        )
        for title in ("://", ":x:////", "::////", "https://", "https://x://://"):
            assert "://" not in line(f"{at}x", title).replace(f"<{at}x>", "")

    @given(
        st.text(max_size=120),
        st.text(st.sampled_from("](<>)[`*_\\\n :/.ahtps日"), max_size=60),
        st.text(st.sampled_from("](<>)[`*_~|\\ :/.ahtps%"), max_size=60),
    )
    def test_cannot_be_more_than_one(self, title: str, marks: str, path: str) -> None:
        for each in (title, marks, f"x](<https://evil.example/>) {marks}", f"https://bank.example/{title}"):
            shown = line("https://a.example/x", each)
            assert LINE.fullmatch(shown), shown
            assert "://" not in shown.replace("<https://a.example/x>", "")
            assert len(shown) < 200
        assert LINE.fullmatch(line(f"https://a.example/{path}", "題"))

    def test_fit_below_an_answer_however_long_they_are(self) -> None:
        calls = [call(f"https://{'a' * 60}{n}.example/{'b' * 1900}", "[" * 300) for n in range(8)]
        facts = page(*calls).facts
        assert len(facts.sources) == 5
        assert len(facts.description) < FACTS_CHARACTERS
        assert facts.description.count("\n") >= 4

    def test_are_read_back_as_they_stand_and_are_plain_where_no_embed_may_be(self) -> None:
        shown = page(call("https://a.example/x", "題[1]_a"), call("https://b.example/", ""))
        for notices in ((), ("✂️ 切れました。",), ("一", "二", "三")):
            facts = Facts(("💾 覚えました: 猫",), notices, sources=shown.facts.sources)
            read = Facts.read(facts.embeds())
            assert (read.receipts, read.notices, read.sources) == (facts.receipts, notices, facts.sources)
        assert shown.without_embeds().facts.labels()[0] == "1. 題[1]_a · a.example"
