"""Reads untrusted zip files and their XML, with limits. XML that declares entities is refused."""

import io
import posixpath
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from cc_bot.features.documents import DocumentRefused

MAX_BYTES = 96 * 2**20  # of all decompressed entries
MAX_ENTRIES = 5000
_CHUNK_BYTES = 2**16

_ENTRY_SIGNATURE = b"PK\x01\x02"
_ALLOWED_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others take unlimited memory


class Archive:
    def __init__(self, data: bytes) -> None:
        """Raises DocumentRefused."""
        if data.count(_ENTRY_SIGNATURE) > MAX_ENTRIES:  # zipfile makes an object for each entry
            raise DocumentRefused("too_long")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise DocumentRefused("unreadable") from error
        self._remaining_bytes = MAX_BYTES
        infos = self._zip.infolist()
        if any(info.flag_bits & 1 for info in infos):
            raise DocumentRefused("locked")
        if any(info.compress_type not in _ALLOWED_METHODS for info in infos):
            raise DocumentRefused("unreadable")

    def has(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def check_size(self, *prefixes: str) -> None:
        """Raise DocumentRefused if entries with these prefixes declare too many bytes together."""
        infos = (info for info in self._zip.infolist() if info.filename.startswith(prefixes))
        if sum(info.file_size for info in infos) > MAX_BYTES:
            raise DocumentRefused("too_long")

    def read(self, name: str, max_bytes: int = MAX_BYTES) -> bytes:
        """Raises DocumentRefused, also for a missing entry."""
        data = bytearray()
        for chunk in self.chunks(name):
            data += chunk
            if len(data) > max_bytes:
                raise DocumentRefused("too_long")
        return bytes(data)

    def chunks(self, name: str) -> Iterator[bytes]:
        """Decompress an entry. Raises DocumentRefused, also for a missing entry."""
        info = self._zip.NameToInfo.get(name)
        if info is None:
            raise DocumentRefused("unreadable")
        try:
            with self._zip.open(info) as file:
                while chunk := file.read(_CHUNK_BYTES):
                    self._remaining_bytes -= len(chunk)
                    if self._remaining_bytes < 0:
                        raise DocumentRefused("too_long")
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, EOFError, ValueError) as error:
            raise DocumentRefused("unreadable") from error


def resolve_name(name: str, target: str) -> str:
    """Return the name of the entry to which `target` in entry `name` refers."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(name), target)).lstrip("/")


MAX_ELEMENTS = 400_000
MAX_DEPTH = 200


@dataclass(slots=True)
class Element:
    """An XML element without namespaces, with only _USED_ATTRIBUTES."""

    name: str
    attributes: dict[str, str]
    children: "list[Element | str]" = field(default_factory=list)

    def child_elements(self) -> "Iterator[Element]":
        return (child for child in self.children if not isinstance(child, str))

    def find_all(self, *names: str) -> "Iterator[Element]":
        for child in self.child_elements():
            if child.name in names:
                yield child
            yield from child.find_all(*names)

    def find_outermost(self, *names: str) -> "Iterator[Element]":
        """Yield elements that are not inside another such element."""
        for child in self.child_elements():
            if child.name in names:
                yield child
            else:
                yield from child.find_outermost(*names)

    def find(self, name: str) -> "Element | None":
        return next(self.find_all(name), None)

    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


def parse_xml(chunks: Iterable[bytes], skipped: frozenset[str] = frozenset()) -> Element:
    """Raises DocumentRefused."""
    builder = _TreeBuilder(skipped)
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.EntityDeclHandler = builder.refuse
    try:
        for chunk in chunks:
            parser.Parse(chunk)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise DocumentRefused("unreadable") from error
    return builder.root


_USED_ATTRIBUTES = frozenset(
    [*("id", "Id", "type", "Type", "val", "styleId", "Target", "TargetMode"), *("full-path", "href", "idref")]
)
_NO_ATTRIBUTES: dict[str, str] = {}  # shared to save memory


def _select_attributes(attributes: dict[str, str]) -> dict[str, str]:
    local = ((name.rpartition("}")[2], value) for name, value in attributes.items())
    return {name: value for name, value in local if name in _USED_ATTRIBUTES} or _NO_ATTRIBUTES


class _TreeBuilder:
    def __init__(self, skipped: frozenset[str]) -> None:
        self.root = Element("", {})
        self._path = [self.root]
        self._skipped = skipped
        self._skipped_depth = 0
        self._element_count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        name = sys.intern(name.rpartition("}")[2])
        if self._skipped_depth or name in self._skipped:
            self._skipped_depth += 1
            return
        self._element_count += 1
        if self._element_count > MAX_ELEMENTS:
            raise DocumentRefused("too_long")
        if len(self._path) > MAX_DEPTH:
            raise DocumentRefused("unreadable")
        element = Element(name, _select_attributes(attributes))
        self._path[-1].children.append(element)
        self._path.append(element)

    def end(self, _: str) -> None:
        if self._skipped_depth:
            self._skipped_depth -= 1
        else:
            self._path.pop()

    def text(self, text: str) -> None:
        if not self._skipped_depth:
            self._path[-1].children.append(text)

    def refuse(self, *_: object) -> None:
        raise DocumentRefused("unreadable")
