"""Reads documents as text in a sandboxed process: `reader` starts the program `__main__`, and this module
holds what its parsers share."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

MAX_PARTS = 1000  # pages, slides, chapters or ranges of a sheet
MAX_CHARACTERS = 1_000_000
MAX_HEADINGS = 300
MAX_NAME_LENGTH = 60
MAX_PART_CHARACTERS = 1500  # about a page
MAX_CELLS = 100_000
ROWS_PER_PART = 50


class DocumentRefused(Exception):
    """The message is a key of `_ERRORS` in `reader`, such as `too_long`."""


class Content:
    def __init__(self, kind: str, unit: str) -> None:
        """`kind` is a DocumentKind; `unit`, a DocumentUnit, names a part."""
        self.kind = kind
        self.unit = unit
        self.parts: list[tuple[str, str]] = []  # name, which may be empty, and text
        self.headings: list[tuple[str, int]] = []  # title, and the number of its part, from 1
        self.pictures: list[bytes] = []  # JPEGs of a scan's first pages
        self._characters = 0

    def add_part(self, text: str, name: str = "") -> None:
        """Raises DocumentRefused above the limits."""
        text = normalize_text(text)
        self._characters += len(text)
        if self._characters > MAX_CHARACTERS or len(self.parts) >= MAX_PARTS:
            raise DocumentRefused("too_long")
        self.parts.append((clean_name(name), text))

    def add_heading(self, title: str, part: int | None = None) -> None:
        """Without `part`, the heading belongs to the next part."""
        title = clean_name(normalize_text(title))
        if title and len(self.headings) < MAX_HEADINGS:
            self.headings.append((title, part or len(self.parts) + 1))


_COMPATIBILITY_FORMS = re.compile("[\u2e80-\u2fdf]|[\uff61-\uff9f\uffe8-\uffee]+")
_RADICALS = str.maketrans("⺠⻁⻄⻑⻘⻝⻣⻤⻨⻩⻫⻭⻯⻲", "民虎西長青食骨鬼麦黄斉歯竜亀")
"""Some PDFs have these radicals instead of characters, and Unicode normalization keeps them."""
_SOFT_HYPHEN = re.compile("\xad|[\x02\ufffe]\r?\n?")
"""PDFium reports a hyphen at a line's end as \\x02 or \\ufffe."""
_NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufeff\ufffe\uffff]|[\ud800-\udfff]")
_LINE_END = re.compile("\r\n?|[\n\x0b\x0c\u2028\u2029]")
_EMPTY_LINES = re.compile("\n{3,}")


def normalize_text(text: str) -> str:
    """Replace radicals and half-width kana, but not full-width letters and ①."""
    text = _NOT_TEXT.sub("", _LINE_END.sub("\n", _SOFT_HYPHEN.sub("", text))).translate(_RADICALS)
    text = _COMPATIBILITY_FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return _EMPTY_LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()


def clean_name(name: str) -> str:
    cleaned = "".join(each for each in name if each.isprintable() and each not in '[]"`')
    return " ".join(cleaned.split())[:MAX_NAME_LENGTH]


class PartBuilder:
    """Joins paragraphs to parts. Without pages, a part ends when full, or half full before a heading."""

    def __init__(self, content: Content, *, has_pages: bool = False) -> None:
        self._content = content
        self._has_pages = has_pages
        self._lines: list[str] = []
        self._length = 0

    @property
    def has_text(self) -> bool:
        return any(line.strip() for line in self._lines)

    def add(self, text: str, *, heading: bool = False) -> None:
        heading = heading and bool(text.strip())
        is_full = self._length >= MAX_PART_CHARACTERS // (2 if heading else 1)
        if is_full and not self._has_pages:
            self.end_part()
        if heading:
            self._content.add_heading(text)
        self._lines.append(f"## {text.strip()}" if heading else text)
        self._length += len(text)

    def end_part(self) -> None:
        if self._has_pages or self.has_text:
            self._content.add_part("\n".join(self._lines))
        self._lines, self._length = [], 0


def as_table(rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with a header. Raises DocumentRefused if it is too large."""
    escaped, cells = list[list[str]](), 0
    for row in rows:
        cells += len(row)
        if cells > MAX_CELLS:
            raise DocumentRefused("too_long")
        escaped.append([" ".join(each.split()).replace("|", "\\|") for each in row])
    width = max((len(row) for row in escaped), default=0)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in escaped]
    return "\n".join([*lines[:1], f"|{' --- |' * width}", *lines[1:]]) if width else ""


def add_sheet(content: Content, name: str, rows: Iterable[Sequence[str]]) -> None:
    """Add a sheet as ranges of rows, each with the header. Empty rows are left out."""
    content.add_heading(name)
    header: Sequence[str] | None = None
    for first, last, chunk in _row_ranges(rows):
        table = chunk if header is None else [header, *chunk]
        header = chunk[0] if header is None else header
        numbers = f"rows {first}–{last}"
        content.add_part(as_table(table), f"{name[: MAX_NAME_LENGTH - 20]}, {numbers}" if name else numbers)


def _row_ranges(rows: Iterable[Sequence[str]]) -> Iterator[tuple[int, int, list[Sequence[str]]]]:
    """Yield first and last row number, and the non-empty rows. Raises DocumentRefused."""
    cells, chunk, first, last = 0, list[Sequence[str]](), 0, 0
    for number, row in enumerate(rows, 1):
        cells += len(row) or 1
        if cells > MAX_CELLS:
            raise DocumentRefused("too_long")
        if not any(each.strip() for each in row):
            continue
        first, last = first or number, number
        chunk.append(row)
        if len(chunk) == ROWS_PER_PART:
            yield first, last, chunk
            chunk, first = [], 0
    if chunk:
        yield first, last, chunk
