"""Real documents, made by the libraries that people's programs use; what reads them here is none of those."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import docx
import pptx
import xlsxwriter
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

FONT = "IPAexGothic"
LINE_CHARACTERS = 36


@cache
def _register_font() -> None:
    path = files("matplotlib_fontja") / "fonts" / "ipaexg.ttf"
    pdfmetrics.registerFont(TTFont(FONT, str(path)))


def pdf(
    pages: Sequence[str],
    *,
    outline: Sequence[tuple[str, int]] = (),
    password: str = "",
    title: str = "",
    columns: int = 1,
) -> bytes:
    """A PDF with these texts, a page each; `outline` are titles with the numbers of their pages."""
    _register_font()
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=A4, encrypt=password or None)
    canvas.setTitle(title)
    for number, text in enumerate(pages, 1):
        for level_title, page in outline:
            if page == number:
                canvas.bookmarkPage(level_title)
                canvas.addOutlineEntry(level_title, level_title, 0)
        canvas.setFont(FONT, 11)
        lines = _lines(text, LINE_CHARACTERS // columns - (columns > 1))
        height = -(-len(lines) // columns) if columns > 1 else len(lines)
        for column in range(columns):
            drawn = canvas.beginText(60 + column * 250, 780)
            drawn.setFont(FONT, 11)
            drawn.setLeading(17)
            for line in lines[column * height : (column + 1) * height]:
                drawn.textLine(line)
            canvas.drawText(drawn)
        canvas.showPage()
    canvas.save()
    return written.getvalue()


def vertical_pdf(columns: Sequence[str]) -> bytes:
    """A page that is written from top to bottom, its columns from right to left."""
    font = UnicodeCIDFont("HeiseiMin-W3", isVertical=True)
    pdfmetrics.registerFont(font)
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=A4)
    canvas.setFont(font.fontName, 14)
    for number, column in enumerate(columns):
        canvas.drawString(520 - 30 * number, 780, column)
    canvas.save()
    return written.getvalue()


def scanned_pdf(pages: int = 2) -> bytes:
    """A PDF whose pages are pictures."""
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=A4)
    for number in range(pages):
        picture = io.BytesIO()
        Image.new("RGB", (300, 400), (250, 250, 240 - number * 10)).save(picture, "JPEG")
        canvas.drawImage(ImageReader(picture), 0, 0, *A4)
        canvas.showPage()
    canvas.save()
    return written.getvalue()


def word(blocks: Sequence[str | Sequence[Sequence[str]]]) -> bytes:
    """A Word file: lines that begin with `# ` are headings, lists of rows are tables."""
    document = docx.Document()
    for block in blocks:
        if isinstance(block, str):
            if block.startswith("# "):
                document.add_heading(block[2:], 1)
            else:
                document.add_paragraph(block)
            continue
        table = document.add_table(len(block), len(block[0]))
        for row, values in zip(table.rows, block, strict=True):
            for cell, value in zip(row.cells, values, strict=True):
                cell.text = value
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def excel(sheets: Mapping[str, Sequence[Sequence[object]]], *, hidden: str = "") -> bytes:
    written = io.BytesIO()
    with xlsxwriter.Workbook(written, {"in_memory": True, "default_date_format": "yyyy-mm-dd"}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
            if name == hidden:
                sheet.hide()
    return written.getvalue()


def powerpoint(slides: Sequence[tuple[str, str]], notes: str = "") -> bytes:
    """Slides with a title and a text each; the first one has the notes."""
    show = pptx.Presentation()
    for title, text in slides:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
        if notes and slide.slide_id == show.slides[0].slide_id:
            slide.notes_slide.notes_text_frame.text = notes
    written = io.BytesIO()
    show.save(written)
    return written.getvalue()


_ODT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" office:version="1.3">
<office:body><office:text>{}</office:text></office:body></office:document-content>"""


def zipped(entries: Mapping[str, str | bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return written.getvalue()


def opendocument(body: str) -> bytes:
    """An OpenDocument text with this XML in its body."""
    return zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": _ODT.format(body)})


_CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"""
_CHAPTER = """<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>book</title><style>p {{}}</style></head>
<body><h1>{}</h1>{}</body></html>"""


def epub(chapters: Sequence[tuple[str, str]]) -> bytes:
    """A book with titles and paragraphs in HTML."""
    items = "".join(f'<item id="c{n}" href="c%20{n}.xhtml"/>' for n in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    package = f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{spine}</spine></package>'
    pages = {f"OEBPS/c {n}.xhtml": _CHAPTER.format(*chapter) for n, chapter in enumerate(chapters)}
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": _CONTAINER,
            "OEBPS/book.opf": package,
            **pages,
        }
    )


def _lines(text: str, characters: int) -> list[str]:
    return [
        paragraph[at : at + characters]
        for paragraph in text.split("\n")
        for at in range(0, max(len(paragraph), 1), characters)
    ]
