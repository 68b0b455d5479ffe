"""Untrusted Markdown as safe HTML: HTML stays text, links are http or https, and pictures are links."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from cc_bot.domain.kinsoku import is_wide

_LINK_ATTRIBUTES: Final = {"rel": "noopener noreferrer nofollow", "target": "_blank"}
# ASCII only: in Japanese no space follows a URL.
_URL: Final = re.compile(r"https?://[!#-;=?-_a-z~]+", re.IGNORECASE)
_URL_PUNCTUATION: Final = ".,;:!?'*_~)]}"
_MAX_DEPTH: Final = 12  # of nested lists and quotations


_TASK: Final = re.compile(r"\[([ xX])\] ")
# Takes the line's number and whether its box is checked; returns HTML.
RenderCheckbox = Callable[[int, bool], str]


def to_html(text: str, render_checkbox: RenderCheckbox | None = None) -> str:
    """Keep line breaks, make `h3` the highest heading, and `[ ]` at the start of a list item a checkbox."""
    return str(_markdown().render(text, {"render_checkbox": render_checkbox}))


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("zero", renderer_cls=_Renderer)
    markdown.inline = _Inline()
    markdown.configure("commonmark", {"html": False, "breaks": True, "maxNesting": _MAX_DEPTH})
    markdown.enable(["table", "strikethrough"])
    markdown.disable("html_block")
    markdown.disable("html_inline")
    markdown.validateLink = _is_web_url  # type: ignore[method-assign]  # the library's own way to set it
    # Shown encoded, as letters of other scripts may look like Latin ones.
    markdown.normalizeLinkText = lambda url: url  # type: ignore[method-assign, assignment]
    markdown.core.ruler.push("adapt_to_page", _adapt_to_page)
    return markdown


def _is_web_url(url: str) -> bool:
    return re.match("https?://[^/]", url, re.IGNORECASE) is not None


class _InlineState(StateInline):
    """Finds Japanese emphasis: `**「大切」**です` is strong without a space after it."""

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803 - the library's names
        scanned = super().scanDelims(start, canSplitWord)
        before = self.src[start - 1] if start else " "
        end = start + scanned.length
        after = self.src[end] if end < self.posMax else " "
        if not canSplitWord or not (is_wide(before) or is_wide(after)):
            return scanned
        return Scanned(not after.isspace(), not before.isspace(), scanned.length)


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _InlineState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _Renderer(RendererHTML):
    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        tokens[idx].attrs |= _LINK_ATTRIBUTES
        return self.renderToken(tokens, idx, options, env)

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Render a link to the picture; inside another link, only the picture's alternative text."""
        url = str(tokens[idx].attrs["src"])
        words = self.renderInlineAsText(tokens[idx].children or [], options, env) or url
        depth = sum(token.nesting for token in tokens[:idx] if token.type in ("link_open", "link_close"))
        return self.render([_text(words)] if depth else _link(url, _text(words)), options, env)


def _adapt_to_page(state: StateCore) -> None:
    for at, token in enumerate(state.tokens):
        if state.tokens[max(0, at - 2)].type == "list_item_open" and token.type == "inline":
            _draw_checkbox(token, state.tokens[at - 2], state.env.get("render_checkbox"))
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"
        if style := token.attrs.pop("style", None):  # the page's policy forbids inline styles
            token.attrSet("class", str(style).replace("text-align:", "align-"))
        if token.type == "inline" and token.children:
            token.children = list(_with_links(token.children))


def _draw_checkbox(token: Token, item: Token, render_checkbox: RenderCheckbox | None) -> None:
    first = token.children[0] if token.children else None
    task = _TASK.match(first.content) if first and first.type == "text" else None
    if not task or not first or not token.children or not token.map:
        return
    first.content, is_checked = first.content[task.end() :], task[1] != " "
    item.attrJoin("class", "task")
    box = _text("☑ " if is_checked else "☐ ")
    if render_checkbox:
        box = Token("html_inline", "", 0, content=render_checkbox(token.map[0], is_checked))
    token.children.insert(0, box)


def _with_links(tokens: Sequence[Token]) -> Iterator[Token]:
    depth = 0
    for token in tokens:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        if depth or token.type != "text":
            yield token
        else:
            yield from _split_at_urls(token.content)


def _split_at_urls(text: str) -> Iterator[Token]:
    end = 0
    for found in _URL.finditer(text):
        url = found[0].rstrip(_URL_PUNCTUATION)
        if _is_web_url(url):
            yield _text(text[end : found.start()])
            yield from _link(url, _text(url))
            end = found.start() + len(url)
    yield _text(text[end:])


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _link(url: str, text: Token) -> list[Token]:
    attrs: dict[str, Any] = {"href": url}
    return [Token("link_open", "a", 1, attrs=attrs), text, Token("link_close", "a", -1)]
