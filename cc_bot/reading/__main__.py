"""Read one document from standard input, and answer on standard output: its length in four bytes, then JSON.

The answer is `{"kind", "unit", "parts": [[name, text]], "headings": [[title, part]], "pictures": [base64]}`,
or `{"error": …}`. What the bytes are decides what reads them; only that library is loaded, before the sandbox
closes. With the argument `page` they are a page of the web below a line that names its kind (`html`, `json`
or `text`) and its encoding, and the answer is `{"title", "text"}`.
"""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from cc_bot.reading.content import Content, DocumentRefused
from cc_bot.reading.sandbox import enter

MAX_BYTES = 20 * 2**20
PAGE = "page"
PAGE_CPU_S = 8
MAX_PAGE_CHARACTERS = 50_000
"""Of a page's text; a model is shown no more than a third of it."""

_ZIP, _OLE = (b"PK\x03\x04", b"PK\x05\x06"), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PDF_WITHIN = 1024
"""Readers look for `%PDF-` in so many bytes; printers put words of their own before it."""


def main() -> None:
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    answering = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no part of the answer
    answer = _answer(data, of_page=sys.argv[1:] == [PAGE])
    sent = len(answer).to_bytes(4, "big") + answer
    while sent:
        sent = sent[os.write(answering, sent) :]


def _answer(data: bytes, *, of_page: bool) -> bytes:
    import json  # noqa: PLC0415 - everything is loaded before the sandbox closes

    told: dict[str, object]
    try:
        told = _read_page(data) if of_page else _read(data)
    except DocumentRefused as refused:
        told = {"error": str(refused)}
    except (MemoryError, RecursionError):
        told = {"error": "too_long"}
    except ImportError:
        told = {"error": "not_installed"}
    return json.dumps(told).encode()


def _read(data: bytes) -> dict[str, object]:
    read = _reader_of(data)
    enter()
    content = read()
    if content.is_empty and not content.pictures:
        raise DocumentRefused("unreadable")
    return _told(content)


def _read_page(data: bytes) -> dict[str, object]:
    head, _, page = data.partition(b"\n")
    kind, _, encoding = head.decode("ascii", "replace").partition(" ")
    read = import_module(f"cc_bot.reading.{'html' if kind == 'html' else 'plain'}").read_page
    enter(cpu_s=PAGE_CPU_S)
    title, text = read(page, encoding)
    if not text:
        raise DocumentRefused("unreadable")
    return {"title": title, "text": text[:MAX_PAGE_CHARACTERS]}


def _told(content: Content) -> dict[str, object]:
    from base64 import b64encode  # noqa: PLC0415 - as above

    pictures = [b64encode(picture).decode() for picture in content.pictures]
    return {
        "kind": content.kind,
        "unit": content.unit,
        "parts": content.parts,
        "headings": content.headings,
        "pictures": pictures,
    }


def _reader_of(data: bytes) -> Callable[[], Content]:
    """Return what reads these bytes, with its library loaded. Raises DocumentRefused and ImportError."""
    if len(data) > MAX_BYTES:
        raise DocumentRefused("too_long")
    if b"%PDF-" in data[:_PDF_WITHIN]:
        return _with("pypdfium2", "pdf", "read_pdf", data, also=("PIL.Image", "PIL.JpegImagePlugin"))
    if data.startswith(_ZIP):
        return _reader_of_archive(data)
    if data.startswith(_OLE):
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise DocumentRefused("locked")
        if "Book".encode("utf-16-le") not in data and "Workbook".encode("utf-16-le") not in data:
            raise DocumentRefused("not_supported")
        return _with("python_calamine", "spreadsheet", "read_spreadsheet", data)
    if data.startswith(b"{\\rtf"):
        return _with("", "rtf", "read_rtf", data)
    return _with("", "separated", "read_separated", data)


def _reader_of_archive(data: bytes) -> Callable[[], Content]:
    from cc_bot.reading.archive import Archive  # noqa: PLC0415 - nothing else needs it

    archive = Archive(data)
    claimed = archive.read("mimetype").strip() if archive.has("mimetype") else b""
    if claimed.startswith(b"application/vnd.oasis.opendocument.spreadsheet") or (
        archive.has("xl/workbook.xml") or archive.has("xl/workbook.bin")
    ):
        archive.check_size("xl/", "content.xml")
        return _with("python_calamine", "spreadsheet", "read_spreadsheet", data)
    if archive.has("word/document.xml"):
        return _with("", "office", "read_word", archive)
    if archive.has("ppt/presentation.xml"):
        return _with("", "office", "read_powerpoint", archive)
    if claimed.startswith(b"application/vnd.oasis.opendocument.") and archive.has("content.xml"):
        return _with("", "books", "read_opendocument", archive)
    if archive.has("META-INF/container.xml"):
        return _with("", "books", "read_epub", archive)
    raise DocumentRefused("not_supported")


def _with(
    library: str, module: str, function: str, read: object, also: tuple[str, ...] = ()
) -> Callable[[], Content]:
    if library and find_spec(library) is None:
        raise DocumentRefused("not_installed")
    for name in also:
        import_module(name)
    found = getattr(import_module(f"cc_bot.reading.{module}"), function)
    return lambda: found(read)


if __name__ == "__main__":
    main()
