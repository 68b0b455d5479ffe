"""Containers: zip archives (Office, OpenDocument, EPUB) and OLE files (Excel before 2007)."""

from cc_bot.reading.archive import Archive
from cc_bot.reading.content import Content, DocumentRefused
from cc_bot.reading.office import read_epub, read_opendocument, read_powerpoint, read_word

try:
    from cc_bot.reading.spreadsheet import read_spreadsheet
except ImportError:  # the extra is not installed

    def read_spreadsheet(data: bytes) -> Content:  # noqa: ARG001 - it takes what the other takes
        raise DocumentRefused("not_installed")


_MAX_TYPE_BYTES = 1000
_MAIN_STREAMS = ("Workbook", "Book", "WordDocument", "PowerPoint Document")
_NAME_BYTES = 64


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
    """Read an Excel 97 file. Raises DocumentRefused."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise DocumentRefused("locked")
    match _main_stream(data):
        case "Workbook" | "Book":
            try:
                return read_spreadsheet(data)
            except DocumentRefused as refused:
                raise DocumentRefused(
                    "old_format" if str(refused) == "unreadable" else str(refused)
                ) from refused
        case "":
            raise DocumentRefused("not_supported")
        case _:
            raise DocumentRefused("old_format")


def _main_stream(data: bytes) -> str:
    """The first known stream name decides; those of embedded files come later."""
    places = {name: data.find(name.encode("utf-16-le").ljust(_NAME_BYTES, b"\0")) for name in _MAIN_STREAMS}
    return min((name for name, place in places.items() if place >= 0), key=places.__getitem__, default="")
