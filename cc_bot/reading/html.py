"""A page of the web as readable text: what it is about, without menus, advertisements and scripts."""

import logging
import re
from collections.abc import Iterator
from contextlib import suppress

import lxml.html
import trafilatura
from justext.utils import get_stoplist  # type: ignore[import-untyped]
from trafilatura import external
from trafilatura.settings import use_config

from cc_bot.encodings import decode_declared
from cc_bot.reading.content import MAX_CHARACTERS, normalised

LONGEST_TITLE = 200
LITTLE = "80"
"""Characters of an article below which the whole page is taken for it. The library's own number, 250, is one
of alphabets: in Japanese that is a paragraph or three."""
_DECLARED_WITHIN = 2048
_BLANKS = re.compile(r"\s++")
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_.:-]{2,40}+)", re.IGNORECASE
)
_XML_DECLARATION = re.compile(r"\A\s{0,99}+<\?xml[^>]{0,300}+>")
"""lxml refuses text that says how its bytes were encoded."""

MOST_ELEMENTS = 20_000
"""Of a page whose article is looked for, and MOST_TABLES of those: with more of them that takes too long, of
tables in the square of their number. Such a page is told as it stands."""
MOST_TABLES = 1000
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
"""Those of all languages, which the library takes otherwise, are 180,000 words: 36 MB. Japanese has none."""

# The library reads these files when it needs them; in the sandbox it could not.
_SETTINGS = use_config()
_SETTINGS.set("DEFAULT", "MIN_EXTRACTED_SIZE", LITTLE)
_WORDS = tuple(word for each in _STOPLISTS for word in get_stoplist(each))
external.JT_STOPLIST = _WORDS  # type: ignore[assignment]  # it says None


def read_page(data: bytes, declared: str = "") -> tuple[str, str]:
    """Return the title and the text of a page. `declared` is the encoding that its server named, if any."""
    logging.disable()  # a library says there what it thinks of the page
    html = _XML_DECLARATION.sub("", decode_page(data, declared))
    tree = _parse(html)
    if tree is None:
        return "", ""
    title, text = _title(tree), ""
    if _is_quickly_read(tree):
        tree = None  # its memory is for the trees of the library
        with suppress(MemoryError):
            text = _article(html)
    if not text and tree is None:
        tree = _parse(html)
    return title, normalised((text or "".join(_plain(tree)))[:MAX_CHARACTERS])


def _parse(html: str) -> lxml.html.HtmlElement | None:
    """Return the page's tree; None if there is nothing in it. Raises MemoryError."""
    try:
        return lxml.html.document_fromstring(html)
    except (lxml.etree.LxmlError, ValueError, AssertionError) as error:
        if getattr(error, "code", 0) == lxml.etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from None
        return None


def _is_quickly_read(tree: lxml.html.HtmlElement) -> bool:
    return bool(tree.xpath(f"count(//*) <= {MOST_ELEMENTS} and count(//table) <= {MOST_TABLES}"))


def _article(html: str) -> str:
    article = trafilatura.extract(html, output_format="markdown", include_comments=False, config=_SETTINGS)
    return article or trafilatura.html2txt(html) or ""


def _plain(tree: lxml.html.HtmlElement) -> Iterator[str]:
    """Yield all text that a screen would show, with a line for each block and each cell of a table."""
    walk = lxml.etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        unread = element.tag in _NO_TEXT
        if event in ("start", "end") and element.tag not in _WITHIN_A_LINE:
            yield "\n"
        if event == "start" and unread:
            walk.skip_subtree()
        # What a comment says is no text of the page; what stands behind one is.
        said = (None if unread else element.text) if event == "start" else element.tail
        yield _BLANKS.sub(" ", said or "")


def _title(tree: lxml.html.HtmlElement) -> str:
    found = tree.xpath("string(//title)") or tree.xpath("string(//h1)")
    return normalised(" ".join(str(found)[:2000].split()))[:LONGEST_TITLE]


def decode_page(data: bytes, declared: str = "") -> str:
    """Return the text of a page: as its server or the page itself says that it is encoded, if that may be,
    else as it seems to be."""
    named = _DECLARED.search(data[:_DECLARED_WITHIN])
    text = decode_declared(data, declared, named[1].decode("ascii") if named else "")
    return data.decode("utf-8", "replace") if text is None else text
