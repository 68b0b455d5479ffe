"""Containers: zip archives (Office, OpenDocument, EPUB) and OLE files (Excel before 2007)."""

from cc_bot.reading.archive import Archive
from cc_bot.reading.books import read_epub, read_opendocument
from cc_bot.reading.content import Content, DocumentRefused
from cc_bot.reading.office import read_powerpoint, read_word

try:
    from cc_bot.reading.spreadsheet import read_spreadsheet
except ImportError:  # the extra is not installed

    def read_spreadsheet(data: bytes) -> Content:  # noqa: ARG001 - it takes what the other takes
        raise DocumentRefused("not_installed")


_MAX_TYPE_BYTES = 1000


def read_package(data: bytes) -> Content:
    """Read a zip archive. Raises DocumentRefused."""
    archive = Archive(data)
    claimed = archive.read("mimetype", _MAX_TYPE_BYTES).strip() if archive.has("mimetype") else b""
    if claimed.startswith(b"application/vnd.oasis.opendocument.spreadsheet") or (
        archive.has("xl/workbook.xml") or archive.has("xl/workbook.bin")
    ):
        archive.check_size("xl/", "content.xml")
        return read_spreadsheet(data)
    if archive.has("word/document.xml"):
        return read_word(archive)
    if archive.has("ppt/presentation.xml"):
        return read_powerpoint(archive)
    if claimed.startswith(b"application/vnd.oasis.opendocument.") and archive.has("content.xml"):
        return read_opendocument(archive)
    if archive.has("META-INF/container.xml"):
        return read_epub(archive)
    raise DocumentRefused("not_supported")


def read_ole(data: bytes) -> Content:
    """Read an Excel file from before 2007. Raises DocumentRefused."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise DocumentRefused("locked")
    if "Book".encode("utf-16-le") in data or "Workbook".encode("utf-16-le") in data:
        try:
            return read_spreadsheet(data)
        except DocumentRefused as refused:
            raise DocumentRefused("old_format" if str(refused) == "unreadable" else str(refused)) from refused
    if "WordDocument".encode("utf-16-le") in data or "PowerPoint Document".encode("utf-16-le") in data:
        raise DocumentRefused("old_format")
    raise DocumentRefused("not_supported")
