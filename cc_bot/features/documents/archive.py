"""Untrusted zip files and their XML, read within limits. Entities are not expanded."""

import io
import posixpath
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from cc_bot.features.documents import DocumentRefused

MAX_BYTES = 96 * 2**20
MAX_ENTRIES = 5000
_PIECE_BYTES = 2**16

_ENTRY = b"PK\x01\x02"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Documents use no others; the memory of others can't be limited."""


class Archive:
    def __init__(self, data: bytes) -> None:
        """Raises DocumentRefused."""
        if data.count(_ENTRY) > MAX_ENTRIES:  # zipfile would make an object of each
            raise DocumentRefused("too_long")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise DocumentRefused("unreadable") from error
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
        """Decompress a part. Raises DocumentRefused, also if it is missing."""
        data = bytearray()
        for piece in self.pieces(name):
            data += piece
            if len(data) > max_bytes:
                raise DocumentRefused("too_long")
        return bytes(data)

    def pieces(self, name: str) -> Iterator[bytes]:
        """Decompress a part in pieces. Raises DocumentRefused, also if it is missing."""
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
    """Resolve a reference from one part to another."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(name), target)).lstrip("/")


MAX_ELEMENTS = 400_000
MAX_DEPTH = 200


@dataclass(slots=True)
class Element:
    """Names have no namespaces; only used attributes are kept."""

    name: str
    attributes: dict[str, str]
    children: "list[Element | str]" = field(default_factory=list)

    def elements(self) -> "Iterator[Element]":
        return (child for child in self.children if not isinstance(child, str))

    def all(self, *names: str) -> "Iterator[Element]":
        """Yield the elements of these names at any depth, in order."""
        for child in self.elements():
            if child.name in names:
                yield child
            yield from child.all(*names)

    def outermost(self, *names: str) -> "Iterator[Element]":
        """Yield the elements of these names that are in none of the others."""
        for child in self.elements():
            if child.name in names:
                yield child
            else:
                yield from child.outermost(*names)

    def first(self, name: str) -> "Element | None":
        return next(self.all(name), None)

    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


def parse(pieces: Iterable[bytes], leaving_out: frozenset[str] = frozenset()) -> Element:
    """Parse XML, skipping some elements. Raises DocumentRefused."""
    reading = _Reading(leaving_out)
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text
    parser.EntityDeclHandler = reading.refuse
    try:
        for piece in pieces:
            parser.Parse(piece)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise DocumentRefused("unreadable") from error
    return reading.root


_READ = frozenset(
    [
        *("id", "Id", "type", "Type", "val", "styleId", "c", "Target", "TargetMode"),
        *("full-path", "href", "idref", "number-columns-repeated"),
    ]
)
_NO_ATTRIBUTES: dict[str, str] = {}
"""Shared, as dictionaries would take most of the memory."""


def _attributes(found: dict[str, str]) -> dict[str, str]:
    named = ((key.rpartition("}")[2], value) for key, value in found.items())
    return {name: value for name, value in named if name in _READ} or _NO_ATTRIBUTES


class _Reading:
    def __init__(self, leaving_out: frozenset[str]) -> None:
        self.root = Element("", {})
        self._path = [self.root]
        self._leaving_out = leaving_out
        self._within_left_out = 0
        self._elements = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = sys.intern(name.rpartition("}")[2])
        if self._within_left_out or name in self._leaving_out:
            self._within_left_out += 1
            return
        self._elements += 1
        if self._elements > MAX_ELEMENTS or len(self._path) > MAX_DEPTH:
            raise DocumentRefused("too_long" if self._elements > MAX_ELEMENTS else "unreadable")
        element = Element(name, _attributes(attributes))
        self._path[-1].children.append(element)
        self._path.append(element)

    def end(self, _: str) -> None:
        if self._within_left_out:
            self._within_left_out -= 1
        else:
            self._path.pop()

    def text(self, text: str) -> None:
        if not self._within_left_out:
            self._path[-1].children.append(text)

    def refuse(self, *_: object) -> None:
        raise DocumentRefused("unreadable")
