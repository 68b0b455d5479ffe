"""Links in a model's words: they can be followed, and Discord makes no previews for them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.page import messages, without_previews
from cc_bot.discord.pages.split import MESSAGE_LIMIT, utf16_length

MARKS = ["`", "``", "```", "```py\n", "**", "__", "||", "~~", "\\", "\n", " ", "。"]
BRACKETS = ["[", "](", "(", ")", "<", ">"]
WORDS = ["http://", "HTTPS://", "discord.gg/a", "x.example/p", "https://evil.example", "猫", "😀", "（", "@"]
LINKS_ALONE = [
    "http://a " * 900,
    "discord.gg/a " * 600,
    "```\n" + "http://a\n" * 600 + "```",
    "`*` http://a " * 600,
    "http://" + "a" * 6000,
    "https://discord.gg/" + "猫" * 3000,
]
IN_BRACKETS = r"(?:[^\s<>()]|\([^\s<>()]*\)|\()*+>"
LINK = re.compile(rf"(?<![<\\])<(?P<safe>(?:https?|discord|steam)://{IN_BRACKETS})", re.IGNORECASE)
ADDRESS = re.compile(r"(?:https?|discord|steam)://(?=[^\s<>])", re.IGNORECASE)
INVITE = re.compile(r"discord\.gg/[^\s<>)]", re.IGNORECASE)
atoms = st.sampled_from([*MARKS, *BRACKETS, *WORDS])


def previewed(message: str) -> list[str]:
    """What Discord may make previews of: an address that does not begin right behind an angle bracket, or one
    whose bracket is not closed before a Markdown link could end (at a `)` that was not opened); and invites
    outside of such brackets."""
    safe = {link.start("safe") for link in LINK.finditer(message)}
    addresses = (found for found in ADDRESS.finditer(message) if found.start() not in safe)
    return [message[found.start() :] for found in addresses] + INVITE.findall(LINK.sub(" ", message))


BRACKETED = {
    "見て https://example.com。次へ": "見て <https://example.com>。次へ",
    "See https://example.com/a?b=c#d.": "See <https://example.com/a?b=c#d>.",
    "[ここ](https://x.example/a_(b))": "[ここ](<https://x.example/a_(b)>)",
    "[https://a.example](https://b.example)": "[<https://a.example>](<https://b.example>)",
    "**https://x.example**": "**<https://x.example>**",
    "||https://x.example||": "||<https://x.example>||",
    "https://ja.example/wiki/猫 です": "<https://ja.example/wiki/猫> です",
    "HTTPS://x.example": "<HTTPS://x.example>",
    "discord.gg/a か https://discord.gg/a": "<https://discord.gg/a> か <https://discord.gg/a>",
    "https://（@evil.example": "<https://（@evil.example>",
    "https://a.example。https://b.example": "<https://a.example>。<https://b.example>",
    "\\`https://evil.example`": "\\`<https://evil.example>`",
    "\\https://a.example": "\\ <https://a.example>",  # or the bracket would be escaped
    "````\\<https://a.example>": "````\\< <https://a.example>>",
    "<https://a.example b>": "< <https://a.example> b>",
    "[a](http://b/)http://evil/": "[a](<http://b/>)<http://evil/>",
    "[a](<http://b/)http://evil/>)": "[a](< <http://b/>)<http://evil/>>)",
    "http://)http://evil": "<http://>)<http://evil>",
    "https://a.example/https://b.example": "<https://a.example/https%3A//b.example>",
    "<https://a.example/https://b.example>": "<https://a.example/https%3A//b.example>",
}
WITHOUT_PREVIEW = [
    "https は約束ごとです: http と書きます",
    "<https://example.com>",
    "[ここ](<https://example.com>)",
    "`curl https://example.com`",
    "```sh\ncurl -O https://example.com/a.tar.gz\n```",
    "**太字** と `git clone https://example.com/a_b.git` です",
]
NO_CODE = [
    "**`a** https://evil.example `",  # the bold text ends within the code
    "[a`b](https://x.example)`c https://evil.example`",  # and so does the link
    "``a` https://evil.example `",  # these ticks open none
    "`a\nhttps://evil.example`",
    "````\n```\nhttps://evil.example\n````",
    "~~~\nhttps://evil.example\n~~~",  # no fence to Discord
    "||`x|| https://evil.example`",
    "```\nhttps://evil.example",  # a fence that is not closed
]


class TestLink:
    def test_has_brackets_around_it(self) -> None:
        """But for what is code to Discord, and what only looks like code."""
        assert {written: without_previews(written) for written in BRACKETED} == BRACKETED
        assert [without_previews(written) for written in WITHOUT_PREVIEW] == WITHOUT_PREVIEW
        assert [each for each in NO_CODE if "<https://evil.example>" not in without_previews(each)] == []


class TestMessages:
    @given(st.lists(atoms, max_size=60).map("".join))
    def test_have_no_link_out_of_brackets_and_lose_nothing(self, text: str) -> None:
        """Neither without code nor with ticks that close nothing."""
        for without_code in (text.replace("`", ""), "````" + text):
            shown = without_previews(without_code)
            assert not previewed(shown), shown
        kept = [each for each in text if each not in "<> "]
        rest = iter(without_previews(text).replace("%3A", ":"))
        assert all(each in rest for each in kept)

    @pytest.mark.parametrize("text", LINKS_ALONE)
    def test_of_links_alone_fit(self, text: str) -> None:
        for message in messages(text, limit=1700):
            assert 0 < utf16_length(message) <= MESSAGE_LIMIT
            assert message == without_previews(message)

    def test_split_a_text_as_ever_where_there_is_no_link(self) -> None:
        pieces = messages("これは長い回答の一文です。" * 400, limit=1700)
        assert "".join(pieces) == "これは長い回答の一文です。" * 400
