"""A document as it was read: its text in numbered parts, so that an answer can say where something stands."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

DocumentKind = Literal["pdf", "word", "excel", "powerpoint", "opendocument", "rtf", "epub", "csv"]
Unit = Literal["page", "slide", "part"]
"""What its parts are called. A part is a stretch of a sheet, or about a page of what has no pages."""

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
    """Beside its number: the sheet and its rows; as a rule empty."""
    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    title: str
    part: int
    """The number of the part where it stands, from 1."""


@dataclass(frozen=True, slots=True)
class Document:
    kind: DocumentKind
    unit: Unit
    parts: tuple[DocumentPart, ...]
    headings: tuple[Heading, ...] = ()
    pictured: int = 0
    """Of a scan, which has no text: how many of its first pages are pictures beside it."""

    @property
    def is_scan(self) -> bool:
        return self.pictured > 0

    def mark(self, number: int) -> str:
        """Return what stands above a part, of which the first has number 1."""
        name = self.parts[number - 1].name
        return f"[{self.unit} {number}{': ' if name else ''}{name}]"

    def marked(self, numbers: Iterable[int]) -> str:
        """Return the text of these parts, each below its mark."""
        return "\n".join(f"{self.mark(number)}\n{self.parts[number - 1].text}" for number in numbers)


def document_to_json(document: Document) -> str:
    return json.dumps(asdict(document), ensure_ascii=False, separators=(",", ":"))


def document_from_json(stored: str) -> Document:
    fields: dict[str, Any] = json.loads(stored)
    parts = tuple(DocumentPart(**part) for part in fields.pop("parts"))
    headings = tuple(Heading(**heading) for heading in fields.pop("headings"))
    return Document(parts=parts, headings=headings, **fields)
