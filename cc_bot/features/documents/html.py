"""Reads the text of a web page, without menus, advertisements and scripts."""

import logging
import re
from collections.abc import Iterator
from contextlib import suppress

import lxml.html
import trafilatura
from justext.utils import get_stoplist  # type: ignore[import-untyped]
from trafilatura import external
from trafilatura.settings import use_config

from cc_bot.features.documents import MAX_CHARACTERS, normalize_text
from cc_bot.files import decode_declared

MAX_TITLE_LENGTH = 200
MIN_ARTICLE_CHARACTERS = 80
"""If the article is shorter, the whole page is used. trafilatura's default, 250 characters, is as much as one
to three Japanese paragraphs."""
_CHARSET_SEARCH_BYTES = 2048
_BLANKS = re.compile(r"\s++")
_CHARSET_DECLARATION = re.compile(
    rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_.:-]{2,40}+)", re.IGNORECASE
)
_XML_DECLARATION = re.compile(r"\A\s{0,99}+<\?xml[^>]{0,300}+>")
"""Removed, since lxml refuses a str that declares an encoding."""

MAX_ELEMENTS = 20_000
"""With more elements or tables the whole page is used: finding the article would take too long."""
MAX_TABLES = 1000
_SKIPPED_TAGS = ("head", "script", "style", "template", "noscript", "title")
_INLINE_TAGS = frozenset(
    (
        *("a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em"),
        *("font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "rp", "rt", "ruby"),
        *("s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt"),
        *("u", "var", "wbr"),
    )
)


_STOPLISTS = ("Dutch", "English", "French", "German", "Italian", "Portuguese", "Spanish")
"""The lists of all languages would take 36 MB. There is no list for Japanese."""

# Loaded here, since the sandbox forbids the library's lazy loading.
_SETTINGS = use_config()
_SETTINGS.set("DEFAULT", "MIN_EXTRACTED_SIZE", str(MIN_ARTICLE_CHARACTERS))
_STOPWORDS = tuple(word for each in _STOPLISTS for word in get_stoplist(each))
external.JT_STOPLIST = _STOPWORDS  # type: ignore[assignment]  # its type is None


def read_page(data: bytes, server_encoding: str = "") -> tuple[str, str]:
    """Return title and text. `server_encoding` is the charset named in the Content-Type header."""
    logging.disable()  # trafilatura would log errors of the page
    declaration = _CHARSET_DECLARATION.search(data[:_CHARSET_SEARCH_BYTES])
    text = decode_declared(data, server_encoding, declaration[1].decode("ascii") if declaration else "")
    html = _XML_DECLARATION.sub("", data.decode("utf-8", "replace") if text is None else text)
    tree = _parse(html)
    if tree is None:
        return "", ""
    title = str(tree.xpath("string(//title)") or tree.xpath("string(//h1)"))
    title, text = normalize_text(" ".join(title[:2000].split()))[:MAX_TITLE_LENGTH], ""
    if tree.xpath(f"count(//*) <= {MAX_ELEMENTS} and count(//table) <= {MAX_TABLES}"):
        tree = None  # frees memory
        with suppress(MemoryError):
            text = (
                trafilatura.extract(html, output_format="markdown", include_comments=False, config=_SETTINGS)
                or trafilatura.html2txt(html)
                or ""
            )
    if not text and tree is None:
        tree = _parse(html)
    return title, normalize_text((text or "".join(_all_text(tree)))[:MAX_CHARACTERS])


def _parse(html: str) -> lxml.html.HtmlElement | None:
    try:
        return lxml.html.document_fromstring(html)
    except (lxml.etree.LxmlError, ValueError, AssertionError) as error:
        if getattr(error, "code", 0) == lxml.etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from None
        return None


def _all_text(tree: lxml.html.HtmlElement) -> Iterator[str]:
    walk = lxml.etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        is_skipped = element.tag in _SKIPPED_TAGS
        if event in ("start", "end") and element.tag not in _INLINE_TAGS:
            yield "\n"
        if event == "start" and is_skipped:
            walk.skip_subtree()
        # A comment is skipped, but not the text after it (`tail`).
        text = (None if is_skipped else element.text) if event == "start" else element.tail
        yield _BLANKS.sub(" ", text or "")
