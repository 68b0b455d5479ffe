"""Reads PDFs with PDFium, which is fast and correct for Japanese. A scan's first pages become pictures."""

import io
from collections.abc import Iterator, Sequence
from itertools import groupby

import pypdfium2
from PIL import Image

from cc_bot.features.documents import MAX_HEADINGS, MAX_PARTS, Content, DocumentRefused

MAX_PICTURES = 5
_PICTURE_PIXELS = 1400  # of the longer side; models hardly use more
_JPEG_QUALITY = 75
_MIN_PICTURE_SHARE = 0.3  # of a page's area
_MIN_CHARACTERS_PER_PAGE = 15
_MIN_COLUMN_CHARACTERS = 4
_MAX_BOXES = 6  # characters of a line whose positions are compared

Image.preinit()  # loads Pillow's formats, which the sandbox would forbid later


def read_pdf(data: bytes) -> Content:
    """Raises DocumentRefused."""
    content = Content("pdf", "page")
    document = _open(data)
    if len(document) > MAX_PARTS:
        raise DocumentRefused("too_long")
    try:
        for index in range(len(document)):
            content.add_part(_page_text(document, index))
        for title, number in _read_outline(document):
            content.add_heading(title, number)
        if _is_scan(document, [text for _, text in content.parts]):
            count = min(MAX_PICTURES, len(document))
            document.close()
            content.pictures += (_render_page(data, index) for index in range(count))
    except pypdfium2.PdfiumError as error:
        raise DocumentRefused("unreadable") from error
    return content


def _is_scan(document: pypdfium2.PdfDocument, texts: Sequence[str]) -> bool:
    characters = sum(map(len, texts))
    if characters >= _MIN_CHARACTERS_PER_PAGE * len(texts):
        return False
    return not characters or any(_has_picture(document[n]) for n in range(min(MAX_PICTURES, len(texts))))


def _has_picture(page: pypdfium2.PdfPage) -> bool:
    width, height = page.get_size()
    for item in page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = item.get_bounds()
        if (right - left) * (top - bottom) > _MIN_PICTURE_SHARE * width * height:
            return True
    return False


def _open(data: bytes) -> pypdfium2.PdfDocument:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise DocumentRefused("locked" if "password" in str(error).lower() else "unreadable") from error
    if not len(document):
        raise DocumentRefused("unreadable")
    return document


def _page_text(document: pypdfium2.PdfDocument, index: int) -> str:
    try:
        page = document[index]
        text_page = page.get_textpage()
        text = _sort_lines(text_page, text_page.get_text_range(errors="ignore"))
    except pypdfium2.PdfiumError:
        return ""
    page.close()
    return text


def _sort_lines(page: pypdfium2.PdfTextPage, text: str) -> str:
    """Put vertical lines from right to left: PDFium returns them from left to right."""
    offset, lines = 0, list[tuple[float | None, str]]()
    for line in text.split("\r\n"):
        lines.append((_column_left(page, offset, len(line)), line))
        offset += len(line) + 2
    groups = (list(group) for _, group in groupby(lines, lambda line: line[0] is not None))
    ordered = (line for group in groups for line in sorted(group, key=lambda line: -(line[0] or 0)))
    return "\n".join(line for _, line in ordered)


def _column_left(page: pypdfium2.PdfTextPage, first: int, characters: int) -> float | None:
    """Return the left edge of a vertical line; None for a horizontal one."""
    if characters < _MIN_COLUMN_CHARACTERS or first + characters > page.count_chars():
        return None
    boxes = (page.get_charbox(index) for index in range(first, first + min(characters, _MAX_BOXES)))
    boxes_of_letters = [box for box in boxes if box[2] > box[0]]
    if len(boxes_of_letters) < 2:
        return None
    (left, _, _, top), (last_left, _, _, last_top) = boxes_of_letters[0], boxes_of_letters[-1]
    return float(left) if top - last_top > 2 * abs(last_left - left) + 1 else None


def _read_outline(document: pypdfium2.PdfDocument) -> Iterator[tuple[str, int]]:
    for count, item in enumerate(document.get_toc(max_depth=3)):
        destination = item.get_dest()
        index = destination.get_index() if destination else None
        if index is not None:
            yield item.get_title(), index + 1
        if count >= MAX_HEADINGS:
            return


def _render_page(data: bytes, index: int) -> bytes:
    document = _open(data)  # a document keeps rendered pages until closed
    page = document[index]
    scale = _PICTURE_PIXELS / max(*page.get_size(), 1)
    jpeg = io.BytesIO()
    page.render(scale=scale).to_pil().save(jpeg, "JPEG", quality=_JPEG_QUALITY)
    document.close()
    return jpeg.getvalue()
