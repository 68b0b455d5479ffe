"""Untrusted zip files, read part by part within limits."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator

from cc_bot.reading.content import DocumentRefused

MAX_BYTES = 96 * 2**20
"""All decompressed parts."""
MAX_ENTRIES = 5000
_PIECE_BYTES = 2**16

_ENTRY = b"PK\x01\x02"
"""Signature of a directory entry."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Documents use no others; the memory of other methods can't be limited."""


class Archive:
    def __init__(self, data: bytes) -> None:
        """Read the directory. Raises DocumentRefused."""
        if data.count(_ENTRY) > MAX_ENTRIES:  # zipfile would make an object of each
            raise DocumentRefused("too_long")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise DocumentRefused("unreadable") from error
        self.names = self._zip.namelist()
        self._left_bytes = MAX_BYTES
        infos = self._zip.infolist()
        if any(info.flag_bits & 1 for info in infos):
            raise DocumentRefused("locked")
        if any(info.compress_type not in _METHODS for info in infos):
            raise DocumentRefused("unreadable")

    def has(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def check_size(self, *beginnings: str) -> None:
        """Raise DocumentRefused if the declared sizes of these parts are too large together."""
        infos = (info for info in self._zip.infolist() if info.filename.startswith(beginnings))
        if sum(info.file_size for info in infos) > MAX_BYTES:
            raise DocumentRefused("too_long")

    def read(self, name: str, max_bytes: int = MAX_BYTES) -> bytes:
        """Decompress a part. Raises DocumentRefused, also if there is no such part."""
        data = bytearray()
        for piece in self.pieces(name):
            data += piece
            if len(data) > max_bytes:
                raise DocumentRefused("too_long")
        return bytes(data)

    def pieces(self, name: str) -> Iterator[bytes]:
        """Decompress a part in pieces. Raises DocumentRefused, also if there is no such part."""
        info = self._zip.NameToInfo.get(name)
        if info is None:
            raise DocumentRefused("unreadable")
        try:
            with self._zip.open(info) as part:
                while piece := part.read(_PIECE_BYTES):
                    self._left_bytes -= len(piece)
                    if self._left_bytes < 0:
                        raise DocumentRefused("too_long")
                    yield piece
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, EOFError, ValueError) as error:
            raise DocumentRefused("unreadable") from error


def beside(name: str, target: str) -> str:
    """Return the name of a part that another one refers to, within the archive."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(name), target)).lstrip("/")
