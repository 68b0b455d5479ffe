"""OpenDocument text and slides, and EPUB."""

from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import unquote

from cc_bot.reading.archive import Archive, Element, beside, parse
from cc_bot.reading.content import MAX_COLUMNS, Content, DocumentRefused, RunningText, as_table

_UNREAD = frozenset({"automatic-styles", "annotation", "tracked-changes", "ruby-text", "font-face-decls"})


def read_opendocument(archive: Archive) -> Content:
    """Read the text or slides. Raises DocumentRefused."""
    root = parse(archive.pieces("content.xml"), _UNREAD)
    slides = list(root.all("page"))
    content = Content("opendocument", "slide" if slides else "part")
    for slide in slides:
        content.add("\n".join(text for _, text in _paragraphs(slide)))
    if not slides:
        running = RunningText(content)
        for heading, text in _paragraphs(root):
            running.add(text, heading=heading)
        running.end_part()
    return content


def _paragraphs(parent: Element) -> Iterator[tuple[bool, str]]:
    """Yield each paragraph or table, and whether it is a heading."""
    for child in parent.elements():
        if child.name in {"p", "h"}:
            yield child.name == "h", "".join(_letters(child)).strip()
        elif child.name == "list-item":
            for _, text in _paragraphs(child):
                yield False, f"- {text}"
        elif child.name == "table":
            yield False, as_table(_cells(row) for row in child.all("table-row"))
        else:
            yield from _paragraphs(child)


def _cells(row: Element) -> list[str]:
    cells = list[str]()
    for cell in row.elements():
        if cell.name in {"table-cell", "covered-table-cell"}:
            text = " ".join(text for _, text in _paragraphs(cell)) if cell.name == "table-cell" else ""
            cells += [text] * min(_number(cell.attributes.get("number-columns-repeated", "1")), MAX_COLUMNS)
    return cells[:MAX_COLUMNS]


def _letters(element: Element) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, str):
            yield child
        elif child.name == "s":
            yield " " * min(_number(child.attributes.get("c", "1")), 100)
        elif child.name in {"tab", "line-break"}:
            yield "\t" if child.name == "tab" else "\n"
        elif child.name == "note":
            body = child.first("note-body")
            yield f" ({' '.join(text for _, text in _paragraphs(body))})" if body else ""
        else:
            yield from _letters(child)


def _number(written: str) -> int:
    return int(written) if written.isascii() and written.isdigit() and len(written) < 6 else 1


def read_epub(archive: Archive) -> Content:
    """Read the chapters in reading order. Raises DocumentRefused."""
    if archive.has("META-INF/rights.xml"):
        raise DocumentRefused("locked")
    content = Content("epub", "part")
    for name in _chapters(archive):
        if archive.has(name):
            _read_page(archive.read(name), content)
    return content


def _chapters(archive: Archive) -> Iterator[str]:
    found = parse(archive.pieces("META-INF/container.xml")).first("rootfile")
    name = found.attributes.get("full-path", "") if found else ""
    package = parse(archive.pieces(name))
    pages = {item.attributes.get("id"): item.attributes.get("href", "") for item in package.all("item")}
    for each in package.all("itemref"):
        if href := pages.get(each.attributes.get("idref")):
            yield beside(name, unquote(href))


def _read_page(data: bytes, content: Content) -> None:
    page = _Page()
    page.feed(data.decode("utf-8-sig", "replace"))
    page.close()
    running = RunningText(content)
    for heading, text in page.ended():
        running.add(text, heading=heading)
    running.end_part()


_BLOCKS = frozenset(
    [
        *("p", "div", "section", "article", "header", "footer", "li", "dt", "dd", "blockquote", "pre"),
        *("figcaption", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "br", "hr", "body"),
    ]
)
_HEADINGS = frozenset({"h1", "h2", "h3"})
_SILENT = frozenset({"script", "style", "head", "svg"})
_READINGS = frozenset({"rt", "rp"})
"""Readings of kanji. The next element in `ruby`, or its end, closes them."""


class _Page(HTMLParser):
    """Reads HTML, valid or not, as paragraphs."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._found: list[tuple[bool, str]] = []
        self._text: list[str] = []
        self._heading = False
        self._silent = 0
        self._reading = False

    def ended(self) -> list[tuple[bool, str]]:
        self._end_block()
        return self._found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._reading = tag in _READINGS or (self._reading and tag not in {"rb", "ruby", *_BLOCKS})
        if tag in _SILENT:
            self._silent += 1
        elif tag in _BLOCKS:
            self._end_block()
            self._heading = tag in _HEADINGS
        elif tag in {"td", "th"} and self._text:
            self._text.append(" | ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _BLOCKS:
            self._end_block()

    def handle_endtag(self, tag: str) -> None:
        self._reading = self._reading and tag not in {"ruby", *_READINGS, *_BLOCKS}
        if tag in _SILENT:
            self._silent = max(self._silent - 1, 0)
        elif tag in _BLOCKS:
            self._end_block()

    def handle_data(self, data: str) -> None:
        if not (self._silent or self._reading):
            self._text.append(data)

    def _end_block(self) -> None:
        text = " ".join("".join(self._text).split())
        if text:
            self._found.append((self._heading, text))
        self._text, self._heading = [], False
