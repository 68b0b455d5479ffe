"""A page of the web as readable text: what it is about, without menus, advertisements and scripts."""

import logging
import re

import lxml.html
import trafilatura
from trafilatura.settings import use_config

from cc_bot.domain.encodings import decode_declared
from cc_bot.reading.content import MAX_CHARACTERS, DocumentRefused, normalised

LONGEST_TITLE = 200
LITTLE = "80"
"""Characters of an article below which the whole page is taken for it. The library's own number, 250, is one
of alphabets: in Japanese that is a paragraph or three."""
_DECLARED_WITHIN = 2048
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_.:-]{2,40}+)", re.IGNORECASE
)
_XML_DECLARATION = re.compile(r"\A\s{0,99}+<\?xml[^>]{0,300}+>")
"""lxml refuses text that says how its bytes were encoded."""

_ALL_TEXT = "//text()[not(ancestor::script or ancestor::style or ancestor::template or ancestor::title)]"


def read_html(data: bytes, declared: str = "") -> tuple[str, str]:
    """Return the title and the text of a page. `declared` is the encoding that its server named, if it did.
    Raises DocumentRefused where there is too much of it."""
    logging.disable()  # a library says there what it thinks of the page
    html = _XML_DECLARATION.sub("", decode_page(data, declared))
    try:
        tree = lxml.html.document_fromstring(html)
    except (lxml.etree.LxmlError, ValueError, AssertionError):  # there is nothing in it
        return "", ""
    title = _title(tree)
    settings = use_config()
    settings.set("DEFAULT", "MIN_EXTRACTED_SIZE", LITTLE)
    text = (
        trafilatura.extract(html, output_format="markdown", include_comments=False, config=settings)
        or trafilatura.html2txt(html)
        or "\n".join(map(str, tree.xpath(_ALL_TEXT)))
    )
    if len(text) > MAX_CHARACTERS:
        raise DocumentRefused("too_long")
    return title, normalised(text)


def _title(tree: lxml.html.HtmlElement) -> str:
    found = tree.xpath("string(//title)") or tree.xpath("string(//h1)")
    return normalised(" ".join(str(found)[:2000].split()))[:LONGEST_TITLE]


def decode_page(data: bytes, declared: str = "") -> str:
    """Return the text of a page: as its server or the page itself says that it is encoded, if that may be,
    else as it seems to be."""
    named = _DECLARED.search(data[:_DECLARED_WITHIN])
    text = decode_declared(data, declared, named[1].decode("ascii") if named else "")
    return data.decode("utf-8", "replace") if text is None else text
