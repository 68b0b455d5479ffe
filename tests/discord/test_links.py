"""Links in a model's words have no previews; those below an answer are of what was fetched."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.answer import final_pages, stored_state
from cc_bot.discord.pages.markdown import split_messages, without_previews
from cc_bot.discord.pages.page import MAX_FACTS_CHARACTERS, Page
from cc_bot.discord.pages.split import MESSAGE_LIMIT, utf16_length
from cc_bot.domain.message import Message, ToolCall
from cc_bot.domain.text import Locale
from cc_bot.texts import texts

MARKS = ["`", "``", "```", "```py\n", "**", "__", "||", "~~", "\\", "\n", " ", "。"]
BRACKETS = ["[", "](", "(", ")", "<", ">"]
WORDS = ["http://", "HTTPS://", "discord.gg/a", "x.example/p", "https://evil.example", "猫", "😀", "（", "@"]
LINKS_ALONE = [
    *("http://a " * 900, "discord.gg/a " * 600, "```\n" + "http://a\n" * 600 + "```", "`*` http://a " * 600),
    *("http://" + "a" * 6000, "https://discord.gg/" + "猫" * 3000),
]
IN_BRACKETS = r"(?:[^\s<>()]|\([^\s<>()]*\)|\()*+>"
LINK = re.compile(rf"(?<![<\\])<(?P<safe>(?:https?|discord|steam)://{IN_BRACKETS})", re.IGNORECASE)
ADDRESS = re.compile(r"(?:https?|discord|steam)://(?=[^\s<>])", re.IGNORECASE)
INVITE = re.compile(r"discord\.gg/[^\s<>)]", re.IGNORECASE)
atoms = st.sampled_from([*MARKS, *BRACKETS, *WORDS])


def previewed(message: str) -> list[str]:
    safe = {link.start("safe") for link in LINK.finditer(message)}
    addresses = (found for found in ADDRESS.finditer(message) if found.start() not in safe)
    return [message[found.start() :] for found in addresses] + INVITE.findall(LINK.sub(" ", message))


BRACKETED = {
    "見て https://example.com。次へ": "見て <https://example.com>。次へ",
    "[ここ](https://x.example/a_(b))": "[ここ](<https://x.example/a_(b)>)",
    "[https://a.example](https://b.example)": "[<https://a.example>](<https://b.example>)",
    "**https://x.example**": "**<https://x.example>**",
    "https://ja.example/wiki/猫 です": "<https://ja.example/wiki/猫> です",
    "discord.gg/a か https://discord.gg/a": "<https://discord.gg/a> か <https://discord.gg/a>",
    "https://（@evil.example": "<https://（@evil.example>",
    "\\`https://evil.example`": "\\`<https://evil.example>`",
    "\\https://a.example": "\\ <https://a.example>",  # or the bracket would be escaped
    "<https://a.example b>": "< <https://a.example> b>",
    "[a](<http://b/)http://evil/>)": "[a](< <http://b/>)<http://evil/>>)",
    "[a](http://b/)http://evil/": "[a](<http://b/>)<http://evil/>",
    "https://a.example/https://b.example": "<https://a.example/https%3A//b.example>",
}
WITHOUT_PREVIEW = [
    "https は約束ごとです: http と書きます",
    "[ここ](<https://example.com>)",
    "```sh\ncurl -O https://example.com/a.tar.gz\n```",
    "**太字** と `git clone https://example.com/a_b.git` です",
]
NO_CODE = [
    "**`a** https://evil.example `",  # the bold text ends within the code
    "[a`b](https://x.example)`c https://evil.example`",  # and so does the link
    "``a` https://evil.example `",  # these ticks open none
    *("`a\nhttps://evil.example`", "````\n```\nhttps://evil.example\n````", "||`x|| https://evil.example`"),
    "~~~\nhttps://evil.example\n~~~",  # no fence to Discord
    "```\nhttps://evil.example",  # a fence that is not closed
]


class TestLink:
    def test_has_brackets_around_it(self) -> None:
        """But for what is code to Discord, and what only looks like code."""
        assert {written: without_previews(written) for written in BRACKETED} == BRACKETED
        assert [without_previews(written) for written in WITHOUT_PREVIEW] == WITHOUT_PREVIEW
        assert [each for each in NO_CODE if "<https://evil.example>" not in without_previews(each)] == []

    @given(st.lists(atoms, max_size=60).map("".join))
    def test_is_never_out_of_brackets_and_nothing_is_lost(self, text: str) -> None:
        """Neither without code nor with ticks that close nothing."""
        for without_code in (text.replace("`", ""), "````" + text):
            shown = without_previews(without_code)
            assert not previewed(shown), shown
        kept = [each for each in text if each not in "<> "]
        rest = iter(without_previews(text).replace("%3A", ":"))
        assert all(each in rest for each in kept)

    @pytest.mark.parametrize("text", LINKS_ALONE)
    def test_beside_nothing_but_links_fits_its_messages(self, text: str) -> None:
        for message in split_messages(text, limit=1700):
            assert 0 < utf16_length(message) <= MESSAGE_LIMIT
            assert message == without_previews(message)


SOURCE = re.compile(r"\d\. \[(?:[^\]\\\n]|\\.)+\]\(<https://[^<>()\[\]\\`|*\s]+>\)( · [^\n]*)?")


def call(url: str, title: str) -> ToolCall:
    return ToolCall("1", "read_page", "{}", json.dumps({"url": url, "title": title, "text": "…"}))


def page(*calls: ToolCall, text: str = "雨です。") -> Page:
    return final_pages(stored_state(Message("assistant", text, tool_calls=calls)), texts(Locale.JA))[-1]


def line(url: str, title: str) -> str:
    [only] = page(call(url, title)).facts.lines
    return only


class TestLinksBelow:
    def test_are_of_what_was_fetched_and_never_of_the_models_words(self) -> None:
        said = "[1] https://made.example/ 1. [偽](<https://made.example/>)"
        shown = page(call("https://www.news.example/a?b=(c)", "明日の天気"), text=said)
        expected = "1. [明日の天気](<https://www.news.example/a?b=%28c%29>) · news.example"
        assert shown.facts.lines == (expected,)
        assert page(text=said).facts.lines == ()

    def test_lead_to_one_address_whatever_that_and_its_title_hold(self) -> None:
        at = "https://a.example/"
        assert line(f"{at}x", "") == f"1. [a.example](<{at}x>)"
        for url, shown in (
            (f"{at}p)](https://b.example/login", f"{at}p%29%5D%28https://b.example/login"),
            (f"{at}x>)[y](<z", f"{at}x%3E%29%5By%5D%28%3Cz"),
            (f"{at}||a|| **b** `c` \\", f"{at}%7C%7Ca%7C%7C%20%2A%2Ab%2A%2A%20%60c%60%20%5C"),
            (f"{at}a__b__~~c~~?d_e=~f&g=%28", f"{at}a%5F%5Fb%5F%5F%7E%7Ec%7E%7E?d_e=~f&g=%28"),
            ("https://[2606:4700::1111]:443/[1]", "https://[2606:4700::1111]:443/%5B1%5D"),
        ):
            assert line(url, "題").partition(" · ")[0] == f"1. [題](<{shown}>)"
        for title in ("://", ":x:////", "https://x://://"):
            assert "://" not in line(f"{at}x", title).replace(f"<{at}x>", "")

    @given(
        st.text(max_size=120),
        st.text(st.sampled_from("](<>)[`*_\\\n :/.ahtps日"), max_size=60),
        st.text(st.sampled_from("](<>)[`*_~|\\ :/.ahtps%"), max_size=60),
    )
    def test_cannot_be_more_than_one(self, title: str, marks: str, path: str) -> None:
        for each in (title, marks, f"x](<https://evil.example/>) {marks}", f"https://bank.example/{title}"):
            shown = line("https://a.example/x", each)
            assert SOURCE.fullmatch(shown), shown
            assert "://" not in shown.replace("<https://a.example/x>", "")
            assert len(shown) < 200
        assert SOURCE.fullmatch(line(f"https://a.example/{path}", "題"))

    def test_fit_below_an_answer_however_long_they_are(self) -> None:
        calls = [call(f"https://{'a' * 60}{n}.example/{'b' * 1900}", "[" * 300) for n in range(8)]
        facts = page(*calls).facts
        assert (len(facts.lines), facts.shorten().count("\n") >= 4) == (5, True)
        assert len(facts.shorten()) < MAX_FACTS_CHARACTERS
