"""Malicious or damaged documents: each is refused in time, and the reader goes on."""

import asyncio
import struct
import zipfile
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import DocumentTooLong, DocumentUnreadable, InputError
from cc_bot.features.documents.reader import DocumentReader
from tests import documents
from tests.reading.confinement import UNCONFINED

pytestmark = pytest.mark.slow

IN_TIME_S = 20.0


def word(xml: str) -> bytes:
    return documents.zipped({"word/document.xml": xml})


def bomb(name: str, size: int) -> bytes:
    """Return a part of an archive that decompresses to so many bytes."""
    written = BytesIO()
    with (
        zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open(name, "w", force_zip64=True) as part,
    ):
        for _ in range(size // 2**20):
            part.write(bytes(2**20))
    return written.getvalue()


def lying(data: bytes, size: int) -> bytes:
    """Return the archive with a wrong size of its only part."""
    at = data.index(b"PK\x01\x02") + 24
    return data[:at] + struct.pack("<I", size) + data[at + 4 :]


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(12))
    + "]><w><p><t>&m;</t></p></w>"
)
OUTSIDE = '<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><w><p><t>&x;</t></p></w>'
FAR_CELL = documents.excel({"a": [["x"]]})


def objects(count: int, *, pages: int = 1) -> bytes:
    """Return a PDF whose pages all draw the same objects."""
    drawn = b"0 0 m 9 9 l S " * count
    stream = b"4 0 obj<</Length %d>>stream\n%s\nendstream endobj\n" % (len(drawn), drawn)
    return _PDF + b"3 0 R " * pages + b"]/Count %d>>endobj\n" % pages + _PAGE + stream + _END


def many_pages(count: int) -> bytes:
    kids = b" ".join(b"3 0 R" for _ in range(count))
    return _PDF + kids + b"]/Count " + str(count).encode() + b">>endobj\n" + _PAGE + _END


_PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids["
_PAGE = b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R>>endobj\n"
_END = b"trailer<</Root 1 0 R>>\n%%EOF"

HOSTILE = {
    "laughs": word(LAUGHS),
    "a file of ours": word(OUTSIDE),
    "nested": word("<a>" * 100_000 + "</a>" * 100_000),
    "no end": word("<w><p>" * 50_000),
    "millions of elements": word(f"<w>{'<p/>' * 900_000}</w>"),
    "an archive that unfolds": bomb("word/document.xml", 600 * 2**20),
    "one that lies": lying(bomb("word/document.xml", 300 * 2**20), 100),
    "one of sheets": bomb("xl/workbook.xml", 300 * 2**20),
    "entries": documents.zipped({"word/document.xml": "<w/>", **{f"{n}": "" for n in range(6000)}}),
    "many pages": many_pages(5000),
    "rows": documents.excel({"a": [["x", "y"]] * 60_000}),
}


class TestHostile:
    @pytest.mark.parametrize("name", HOSTILE)
    async def test_is_refused_with_a_sentence_in_time(self, name: str) -> None:
        with pytest.raises((DocumentTooLong, DocumentUnreadable)):
            await asyncio.wait_for(DocumentReader(unconfined=UNCONFINED).read(HOSTILE[name]), IN_TIME_S)

    async def test_cell_far_out_takes_no_memory(self) -> None:
        sheet = zipfile.ZipFile(BytesIO(FAR_CELL))
        parts = {name: sheet.read(name) for name in sheet.namelist()}
        name = "xl/worksheets/sheet1.xml"
        far = b'<row r="1048576"><c r="XFD1048576"><v>7</v></c></row></sheetData>'
        parts[name] = parts[name].replace(b"</sheetData>", far)
        with pytest.raises((DocumentTooLong, DocumentUnreadable)):
            await DocumentReader(unconfined=UNCONFINED).read(documents.zipped(parts))


SEEDS = [
    documents.pdf(["日本語のページ", "二枚目"], outline=[("章", 1)]),
    documents.word(["# 題", "本文", [["a", "b"], ["c", "d"]]]),
    documents.excel({"表": [["a", 1], ["b", 2.5]]}),
    documents.powerpoint([("題", "文")], "注"),
    documents.opendocument("<text:h>題</text:h><text:p>文</text:p>"),
    documents.epub([("章", "<p>文</p>")]),
    "a,b\nc,d\n".encode("cp932"),
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return a document with some bytes changed, removed or repeated."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 12))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(("other", "gone", "twice", "new"))):
            case "other":
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=4))
            case "gone":
                del data[at : at + draw(st.integers(1, 200))]
            case "twice":
                data[at:at] = data[at : at + draw(st.integers(1, 200))]
            case _:
                data[at:at] = draw(
                    st.sampled_from((b"\xff" * 8, b"<" * 9, b"\\'", b"PK\x03\x04", b"/Kids[", b"\0" * 40))
                )
    return bytes(data)


async def check(data: bytes) -> None:
    """Check that data is read or refused, and that the event loop is never blocked meanwhile."""
    try:
        found = await asyncio.wait_for(DocumentReader(unconfined=UNCONFINED).read(data), IN_TIME_S)
    except InputError:
        return
    assert found.document.parts


class TestAnything:
    @given(damaged())
    async def test_is_read_or_refused(self, data: bytes) -> None:
        await check(data)
