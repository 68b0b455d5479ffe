from functools import partial
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.web.markdown import to_html
from tests.web.calls import count_calls

TAGS = frozenset(
    {"a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"}
    | {"s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
)


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


def link(url: str, text: str = "") -> str:
    return f'<a href="{url}" rel="noopener noreferrer nofollow" target="_blank">{text or url}</a>'


SHOWN = {
    "これは**大切**です": "これは<strong>大切</strong>です",
    "**「大切」**です": "<strong>「大切」</strong>です",
    "これは**（注）**です": "これは<strong>（注）</strong>です",
    "~~「古い」~~もの": "<s>「古い」</s>もの",
    "snake_case_name と 3 * 4 * 5": "snake_case_name と 3 * 4 * 5",
    "[ ] 卵": "[ ] 卵",
    "牛乳\nパン": "牛乳<br />\nパン",
    "[ここ](https://example.com/a?b=1&c=2)": link("https://example.com/a?b=1&amp;c=2", "ここ"),
    "<http://example.com>": link("http://example.com"),
    "見て:https://example.com/a_b。次": f"見て:{link('https://example.com/a_b')}。次",
    "(https://example.com)": f"({link('https://example.com')})",
    "`https://example.com`": "<code>https://example.com</code>",
    "![海の写真](https://example.com/a.png)": link("https://example.com/a.png", "海の写真"),
    "![](https://example.com/a.png)": link("https://example.com/a.png"),
    "[![海](https://a.example/a.png)](https://b.example)": link("https://b.example", "海"),
}


def test_a_text_is_emphasized_and_linked_in_japanese_below_the_headings_of_the_page() -> None:
    assert {text: to_html(text) for text in SHOWN} == {
        text: f"<p>{html}</p>\n" for text, html in SHOWN.items()
    }
    tags = Looked(to_html("- a\n  1. b\n\n|x|y|\n|-|:-:|\n|1|2|\n\n~~c~~\n\n```\nd\n```")).tags
    assert {"ul", "ol", "li", "table", "th", "td", "s", "pre", "code"} <= set(tags)
    assert Looked(to_html("# a\n## b\n### c\n##### d\n\ne\n===")).tags == ["h3", "h4", "h5", "h6", "h3"]


def test_a_task_of_a_list_is_a_box() -> None:
    assert to_html("- [ ] 卵") == '<ul>\n<li class="task">☐ 卵</li>\n</ul>\n'
    page = to_html("a\n\n1. [X] [卵](https://a.example)", lambda line, checked: f"<{line} {checked}>")
    assert f'<li class="task"><2 True>{link("https://a.example", "卵")}</li>' in page


URLS = (
    *("javascript:alert(1)", "JaVaScript:alert(1)", "java&#115;cript:alert(1)", "&#x6A;avascript:alert(1)"),
    *("data:text/html,x", "file:///etc/passwd", "https:///x", "//evil.example", "/web/logout", "#top"),
)
HTML = r"""<script>alert(1)</script>
<img src=x onerror=alert(1)>
a <b onclick=x>b</b>
<!-- x -->
<style>*{}</style>
<svg/onload=alert(1)>
<a href='javascript:x'>a</a>
[a](https://example.com "\"onmouseover=alert(1) x=")
[a](https://example.com/"onclick='x)
# <h1 id=x>""".splitlines()
BLOCKS = ("<div\nid=x>", "```<script>\nx\n```", '```"onclick=x\nx\n```', "|<script>|\n|-|\n|<b>|")


def test_a_link_to_anything_but_a_web_page_is_text() -> None:
    for url in URLS:
        for text in (f"[x]({url})", f"<{url}>", f"![x]({url})", f"[x]\n\n[x]: {url}"):
            assert set(Looked(to_html(text)).tags) <= {"p", "br"}, text


def check(text: str) -> None:
    looked = Looked(to_html(text))
    assert set(looked.tags) <= TAGS, text
    for tag, name, value in looked.attributes:
        match tag, name:
            case "a", "href":
                assert (value or "").lower().startswith(("http://", "https://"))
            case "a", _:
                assert name in {"rel", "target", "title"}
            case ("code" | "th" | "td", "class") | ("ol", "start"):
                pass
            case _:
                pytest.fail(f"{tag} has {name}")


def test_html_is_text() -> None:
    for text in (*HTML, *BLOCKS, "|a|b|\n|:-:|-:|\n|1|2|"):
        check(text)


@given(
    st.lists(st.sampled_from([*"[]()<>!*_~`#|-\n\"'&: a漢", "https://a.example", "javascript:"])).map("".join)
)
def test_nothing_makes_other_tags_than_markdown_has(text: str) -> None:
    check(text)


def test_deep_text_takes_no_longer_than_another() -> None:
    for piece in ("  - \n", "> ", "- ", "**a", "[a](", "![", "_a", "~~", "((", *"[>*`<|&\\"):
        assert count_calls(partial(to_html, (piece * 1000)[:1000])) < 300_000, piece
