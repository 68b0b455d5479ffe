"""A page of the web as readable text: what it is about, without menus, advertisements and scripts."""

import codecs
import logging
import re

import lxml.html
import trafilatura
from trafilatura.settings import use_config

from cc_bot.domain.encodings import decode_text
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

# What servers write, where Python means something else by it, or has no such name: the Encoding Standard.
_NAMES = {
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis", "sjis", "windows-31j", "ms_kanji"), "cp932"),
    **dict.fromkeys(("x-euc-jp",), "euc_jp"),
    **dict.fromkeys(("iso-8859-1", "latin1", "us-ascii", "ascii"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "unicode": "utf-16",
}
_KNOWN = re.compile(
    r"utf[_-]?8|utf[_-]?16(?:[_-]?[lb]e)?|cp932|euc_(?:jp|kr)|iso2022_jp\w*|iso8859[_-]\d{1,2}|cp125\d|gb18030|big5\w*"
    r"|koi8[_-][ru]"
)
"""Encodings of texts, by Python's own names: it also calls some things so that are none."""


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
    names = (declared, named[1].decode("ascii") if named else "")
    encodings = [encoding for name in names if (encoding := _encoding(name))]
    if not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        for encoding in encodings:
            try:
                return data.decode(encoding)
            except UnicodeError:
                continue
    guessed = decode_text(data)
    return guessed if guessed is not None else data.decode(encodings[0] if encodings else "utf-8", "replace")


def _encoding(name: str) -> str:
    """Return Python's own name of an encoding; empty where it is none of texts."""
    name = name.strip().strip("\"'").lower()
    try:
        found = codecs.lookup(_NAMES.get(name, name)).name if name.isascii() and len(name) < 40 else ""
    except (LookupError, ValueError):
        return ""
    return found if _KNOWN.fullmatch(found) else ""
