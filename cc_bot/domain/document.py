"""A document: its text in numbered parts, so that answers can cite them."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

DocumentKind = Literal["pdf", "word", "excel", "powerpoint", "opendocument", "rtf", "epub", "csv"]
Unit = Literal["page", "slide", "part"]
"""A part is a range of a sheet, or about a page of a format without pages."""

MEDIA_TYPES: Final[dict[DocumentKind, str]] = {
    "pdf": "application/pdf",
    "word": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "excel": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "powerpoint": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "opendocument": "application/vnd.oasis.opendocument.text",
    "rtf": "application/rtf",
    "epub": "application/epub+zip",
    "csv": "text/csv",
}


@dataclass(frozen=True, slots=True)
class DocumentPart:
    name: str
    """The sheet and its rows; usually empty."""
    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    title: str
    part: int


@dataclass(frozen=True, slots=True)
class Document:
    kind: DocumentKind
    unit: Unit
    parts: tuple[DocumentPart, ...]
    headings: tuple[Heading, ...] = ()
    pictured: int = 0
    """For a scan without text: how many of its first pages are attached as pictures."""

    @property
    def is_scan(self) -> bool:
        return self.pictured > 0

    def mark(self, number: int) -> str:
        """Return the heading of a part, numbered from 1."""
        name = self.parts[number - 1].name
        return f"[{self.unit} {number}{': ' if name else ''}{name}]"

    def marked(self, numbers: Iterable[int]) -> str:
        """Return the text of parts, each below its heading."""
        return "\n".join(f"{self.mark(number)}\n{self.parts[number - 1].text}" for number in numbers)


def document_to_json(document: Document) -> str:
    return json.dumps(asdict(document), ensure_ascii=False, separators=(",", ":"))


def document_from_json(stored: str) -> Document:
    fields: dict[str, Any] = json.loads(stored)
    parts = tuple(DocumentPart(**part) for part in fields.pop("parts"))
    headings = tuple(Heading(**heading) for heading in fields.pop("headings"))
    return Document(parts=parts, headings=headings, **fields)
