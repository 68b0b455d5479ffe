"""The readable text of a web page, without menus, advertisements and scripts."""

import logging
import re
from collections.abc import Iterator
from contextlib import suppress

import lxml.html
import trafilatura
from justext.utils import get_stoplist  # type: ignore[import-untyped]
from trafilatura import external
from trafilatura.settings import use_config

from cc_bot.features.documents import MAX_CHARACTERS, normalised
from cc_bot.files import decode_declared

MAX_TITLE_LENGTH = 200
LITTLE = "80"
"""With a shorter article the whole page is used. The library's 250 characters are for alphabets: in Japanese
that is a paragraph or three."""
_DECLARED_WITHIN = 2048
_BLANKS = re.compile(r"\s++")
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_.:-]{2,40}+)", re.IGNORECASE
)
_XML_DECLARATION = re.compile(r"\A\s{0,99}+<\?xml[^>]{0,300}+>")
"""lxml refuses text that declares its encoding."""

MAX_ELEMENTS = 20_000
"""Above it, or above MAX_TABLES, finding the article takes too long (quadratic time for tables): the page is
read whole."""
MAX_TABLES = 1000
_NO_TEXT = ("head", "script", "style", "template", "noscript", "title")
_WITHIN_A_LINE = frozenset(
    (
        *("a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em"),
        *("font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "rp", "rt", "ruby"),
        *("s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt"),
        *("u", "var", "wbr"),
    )
)


_STOPLISTS = ("Dutch", "English", "French", "German", "Italian", "Portuguese", "Spanish")
"""All languages would take 36 MB. Japanese has none."""

# The library reads these files lazily, which the sandbox forbids.
_SETTINGS = use_config()
_SETTINGS.set("DEFAULT", "MIN_EXTRACTED_SIZE", LITTLE)
_WORDS = tuple(word for each in _STOPLISTS for word in get_stoplist(each))
external.JT_STOPLIST = _WORDS  # type: ignore[assignment]  # it says None


def read_page(data: bytes, declared: str = "") -> tuple[str, str]:
    """Return title and text. `declared`: the server's encoding."""
    logging.disable()  # a library says there what it thinks of the page
    named = _DECLARED.search(data[:_DECLARED_WITHIN])
    text = decode_declared(data, declared, named[1].decode("ascii") if named else "")
    html = _XML_DECLARATION.sub("", data.decode("utf-8", "replace") if text is None else text)
    tree = _parse(html)
    if tree is None:
        return "", ""
    title, text = _title(tree), ""
    if tree.xpath(f"count(//*) <= {MAX_ELEMENTS} and count(//table) <= {MAX_TABLES}"):
        tree = None  # its memory is for the trees of the library
        with suppress(MemoryError):
            text = (
                trafilatura.extract(html, output_format="markdown", include_comments=False, config=_SETTINGS)
                or trafilatura.html2txt(html)
                or ""
            )
    if not text and tree is None:
        tree = _parse(html)
    return title, normalised((text or "".join(_plain(tree)))[:MAX_CHARACTERS])


def _parse(html: str) -> lxml.html.HtmlElement | None:
    try:
        return lxml.html.document_fromstring(html)
    except (lxml.etree.LxmlError, ValueError, AssertionError) as error:
        if getattr(error, "code", 0) == lxml.etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from None
        return None


def _plain(tree: lxml.html.HtmlElement) -> Iterator[str]:
    walk = lxml.etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        unread = element.tag in _NO_TEXT
        if event in ("start", "end") and element.tag not in _WITHIN_A_LINE:
            yield "\n"
        if event == "start" and unread:
            walk.skip_subtree()
        # A comment's text is not shown; what follows it is.
        said = (None if unread else element.text) if event == "start" else element.tail
        yield _BLANKS.sub(" ", said or "")


def _title(tree: lxml.html.HtmlElement) -> str:
    found = tree.xpath("string(//title)") or tree.xpath("string(//h1)")
    return normalised(" ".join(str(found)[:2000].split()))[:MAX_TITLE_LENGTH]
