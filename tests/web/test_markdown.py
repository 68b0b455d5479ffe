"""Markdown in a page: what is shown of it, and what is not made of it, whoever wrote it."""

import sys
from html.parser import HTMLParser
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.web.markdown import to_html

TAGS = frozenset(
    {"a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"}
    | {"s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
)
LINK = {"href", "rel", "target", "title"}


class Looked(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]


def link(url: str, text: str) -> str:
    return f'<a href="{url}" rel="noopener noreferrer nofollow" target="_blank">{text}</a>'


class TestText:
    def test_keeps_its_lines(self) -> None:
        assert to_html("牛乳\nパン\n\n卵") == "<p>牛乳<br />\nパン</p>\n<p>卵</p>\n"

    def test_has_lists_tables_and_what_is_struck_out(self) -> None:
        tags = Looked(to_html("- a\n  1. b\n\n|x|y|\n|-|:-:|\n|1|2|\n\n~~c~~\n\n```\nd\n```")).tags
        assert {"ul", "ol", "li", "table", "th", "td", "s", "pre", "code"} <= set(tags)

    def test_has_headings_below_those_of_the_page(self) -> None:
        assert Looked(to_html("# a\n## b\n### c\n##### d\n\ne\n===")).tags == ["h3", "h4", "h5", "h6", "h3"]

    @pytest.mark.parametrize(
        ("text", "html"),
        [
            ("これは**大切**です", "これは<strong>大切</strong>です"),
            ("**「大切」**です", "<strong>「大切」</strong>です"),
            ("これは**（注）**です", "これは<strong>（注）</strong>です"),
            ("~~「古い」~~もの", "<s>「古い」</s>もの"),
            ("snake_case_name と 3 * 4 * 5", "snake_case_name と 3 * 4 * 5"),
        ],
    )
    def test_is_emphasized_in_japanese(self, text: str, html: str) -> None:
        assert to_html(text) == f"<p>{html}</p>\n"


class TestLink:
    @pytest.mark.parametrize(
        ("text", "html"),
        [
            ("[ここ](https://example.com/a?b=1&c=2)", link("https://example.com/a?b=1&amp;c=2", "ここ")),
            ("<http://example.com>", link("http://example.com", "http://example.com")),
            (
                "見て:https://example.com/a_b。次",
                f"見て:{link('https://example.com/a_b', 'https://example.com/a_b')}。次",
            ),
            ("(https://example.com)", f"({link('https://example.com', 'https://example.com')})"),
            ("`https://example.com`", "<code>https://example.com</code>"),
            ("![海の写真](https://example.com/a.png)", link("https://example.com/a.png", "海の写真")),
            (
                "![](https://example.com/a.png)",
                link("https://example.com/a.png", "https://example.com/a.png"),
            ),
            ("[![海](https://a.example/a.png)](https://b.example)", link("https://b.example", "海")),
        ],
    )
    def test_leads_to_another_page_that_learns_nothing(self, text: str, html: str) -> None:
        assert to_html(text) == f"<p>{html}</p>\n"

    @pytest.mark.parametrize(
        "url",
        [
            *("javascript:alert(1)", "JaVaScript:alert(1)", "data:text/html,x", "data:image/png;base64,AA"),
            *("vbscript:x", "file:///etc/passwd", "//evil.example", "/web/logout", "#top", "https:///x"),
            *(
                "mailto:a@example.com",
                "java&#115;cript:alert(1)",
                "&#x6A;avascript:alert(1)",
                "ftp://a.example",
            ),
        ],
    )
    def test_of_another_kind_is_text(self, url: str) -> None:
        for text in (f"[x]({url})", f"<{url}>", f"![x]({url})", f"[x]\n\n[x]: {url}"):
            assert set(Looked(to_html(text)).tags) <= {"p", "br"}


class TestInjected:
    @pytest.mark.parametrize(
        "text",
        [
            *(
                "<script>alert(1)</script>",
                "<img src=x onerror=alert(1)>",
                "a <b onclick=x>b</b>",
                "<!-- x -->",
            ),
            *("<style>*{}</style>", "<svg/onload=alert(1)>", "<a href='javascript:x'>a</a>", "<div\nid=x>"),
            *(
                '[a](https://example.com "\\"onmouseover=alert(1) x=")',
                "[a](https://example.com/\"onclick='x)",
            ),
            *(
                "```<script>\nx\n```",
                '```"onclick=x\nx\n```',
                "|<script>|\n|-|\n|<b>|",
                "# <h1 id=x>",
                "|a|b|\n|:-:|-:|\n|1|2|",
            ),
        ],
    )
    def test_html_is_text(self, text: str) -> None:
        self.check(text)

    @given(
        st.lists(st.sampled_from([*"[]()<>!*_~`#|-\n\"'&: a漢", "https://a.example", "javascript:"])).map(
            "".join
        )
    )
    def test_nothing_makes_other_tags_than_markdown_has(self, text: str) -> None:
        self.check(text)

    def check(self, text: str) -> None:
        looked = Looked(to_html(text))
        assert set(looked.tags) <= TAGS
        for tag, name, value in looked.attributes:
            match tag, name:
                case "a", "href":
                    assert (value or "").lower().startswith(("http://", "https://"))
                case "a", _:
                    assert name in LINK
                case ("code" | "th" | "td", "class") | ("ol", "start"):
                    pass
                case _:
                    pytest.fail(f"{tag} has {name}")


class TestDeepText:
    @pytest.mark.parametrize(
        "piece",
        [
            "[",
            ">",
            "> ",
            "- ",
            "*",
            "**a",
            "[a](",
            "![",
            "`",
            "<",
            "_a",
            "~~",
            "|",
            "  - \n",
            "((",
            "&",
            "\\",
        ],
    )
    def test_takes_no_longer_than_another(self, piece: str) -> None:
        calls = 0

        def count(frame: FrameType, event: str, arg: object) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count)
        try:
            to_html((piece * 1000)[:1000])
        finally:
            sys.setprofile(None)
        assert calls < 200_000
