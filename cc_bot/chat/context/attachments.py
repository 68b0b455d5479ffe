"""The files of a question: images, recordings, documents and text.

The bytes decide what a file is. Its name and claimed type only limit its size before it is fetched.
"""

import mimetypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePath
from typing import Protocol

from cc_bot.chat.context import recordings
from cc_bot.chat.context.recordings import Sound, probe_audio
from cc_bot.domain import errors
from cc_bot.domain.message import MEDIA_TYPES, Attachment, Document, DocumentKind, detect_image_type
from cc_bot.features.memory.errors import ImportNotUnderstood
from cc_bot.features.memory.files import PortableMemory, parse_memories
from cc_bot.files import decode_text

CountTokens = Callable[[str], float]


@dataclass(frozen=True, slots=True)
class ReadDocument:
    document: Document
    pictures: tuple[bytes, ...] = ()


class DocumentSource(Protocol):
    """Reads documents. The feature `documents` implements it."""

    def queue_slot(self) -> AbstractAsyncContextManager[None]:
        """Wait for a slot, and keep it in the block. Raises DocumentReaderBusy after too long."""

    async def read_without_queue(self, file: BytesIO) -> ReadDocument:
        """Read a document without waiting. Raises DocumentLocked, DocumentTooLong, DocumentOldFormat,
        DocumentsNotInstalled, DocumentsNotConfined, AttachmentNotSupported or DocumentUnreadable."""


MAX_IMAGE_BYTES = 8 * 2**20
MAX_TEXT_BYTES = 256 * 2**10
"""The limit of the file, and of its text in UTF-8: some 90,000 Japanese characters."""

_TEXT_TYPES = frozenset({"application/json", "application/xml", "application/javascript", "image/svg+xml"})
MAX_DOCUMENT_BYTES = 20 * 2**20
MAX_DOCUMENT_TOKENS = 12_000  # in a prompt, for one document
MAX_DOCUMENTS_TOKENS = 36_000  # in a prompt, for all documents of a question
MAX_TABLE_BYTES = 16 * 2**10
"""Some 5,000 tokens. A longer file of separated values is read as a document."""

_PDF = b"%PDF-"
_PDF_MAX_OFFSET = 1024  # some printers put other bytes before it
_DOCUMENT_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06", b"{\\rtf", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
"""Archives (Office, books), RTF, and older Office files."""
_TABLE_ENDINGS = frozenset({".csv", ".tsv"})
_DOCUMENT_ENDINGS = _TABLE_ENDINGS | frozenset(
    [
        *(".pdf", ".docx", ".docm", ".dotx", ".xlsx", ".xlsm", ".xlsb", ".xls", ".pptx", ".pptm", ".ppsx"),
        *(".odt", ".ods", ".odp", ".epub"),
        *(".doc", ".ppt", ".rtf"),  # refused with advice
    ]
)

_PROBED_BYTES = 4096
_MAX_NAME_LENGTH = 100


def get_max_bytes(content_type: str | None, name: str) -> int:
    if has_document_type(content_type, name):
        return MAX_DOCUMENT_BYTES
    claimed = (content_type or mimetypes.guess_type(name)[0] or "").partition(";")[0].strip().lower()
    if claimed.startswith(("audio/", "video/")):  # a recording in WebM or MP4 may be called either
        return recordings.MAX_BYTES
    is_text = claimed.startswith("text/") or claimed in _TEXT_TYPES
    return MAX_TEXT_BYTES if is_text else MAX_IMAGE_BYTES  # an unknown type may be an image


def has_document_type(content_type: str | None, name: str) -> bool:
    ending = PurePath(name).suffix.lower()
    return ending in _DOCUMENT_ENDINGS or (not ending and content_type in MEDIA_TYPES.values())


def too_large(limit_bytes: int) -> errors.InputError:
    mebibytes, kibibytes = limit_bytes >> 20, limit_bytes >> 10
    return errors.AttachmentTooLarge(limit=f"{mebibytes} MB" if mebibytes else f"{kibibytes} KB")


def read_attachment(name: str, data: bytes) -> Attachment:
    """Return an image or recording unchanged, and text (UTF-8, UTF-16, Shift_JIS, EUC-JP or ISO-2022-JP) as
    UTF-8. Raises AttachmentTooLarge, RecordingTooLong, RecordingEmpty and AttachmentNotSupported."""
    if sound := probe_audio(data):
        return _recording(name, sound, data)
    media_type = detect_image_type(data)
    if media_type is not None:
        if len(data) > MAX_IMAGE_BYTES:
            raise too_large(MAX_IMAGE_BYTES)
        return Attachment(name, media_type, data)
    if is_document(name, data) or (len(data) > MAX_TEXT_BYTES and b"\0" in data[:_PROBED_BYTES]):
        raise errors.AttachmentNotSupported
    if len(data) > MAX_TEXT_BYTES:
        raise too_large(MAX_TEXT_BYTES)
    text = decode_text(data)
    if text is None or not text.strip():
        raise errors.AttachmentNotSupported
    encoded = text.encode()
    if len(encoded) > MAX_TEXT_BYTES:
        raise too_large(MAX_TEXT_BYTES)
    return Attachment(name, "text/plain", encoded)


def _recording(name: str, sound: Sound, data: bytes) -> Attachment:
    if len(data) > recordings.MAX_BYTES:
        raise too_large(recordings.MAX_BYTES)
    if sound.seconds is not None and sound.seconds < recordings.MIN_LENGTH_S:
        raise errors.RecordingEmpty
    if (sound.seconds or 0) > recordings.MAX_LENGTH_S:
        raise errors.RecordingTooLong(minutes=recordings.MAX_LENGTH_S // 60)
    return Attachment(name, sound.content_type, data, seconds=sound.seconds or 0.0)


def is_document(name: str, data: bytes) -> bool:
    """Return whether the bytes are a document, or separated values too long to show whole."""
    if detect_image_type(data) is not None:
        return False
    if data.startswith(_DOCUMENT_BEGINNINGS) or _PDF in data[:_PDF_MAX_OFFSET]:
        return True
    return PurePath(name).suffix.lower() in _TABLE_ENDINGS and len(data) > MAX_TABLE_BYTES


def document_files(name: str, source: ReadDocument) -> tuple[Attachment, ...]:
    """Return the document with its text, and the pages of a scan as pictures."""
    document = source.document
    pages = (
        Attachment(f"{name} ({document.unit} {number})", "image/jpeg", picture)
        for number, picture in enumerate(source.pictures, 1)
    )
    return (Attachment(name, MEDIA_TYPES[document.kind], b"", document), *pages)


def as_prompt_texts(attachments: Sequence[Attachment], count_tokens: CountTokens) -> Iterator[str]:
    """Yield a question's text files and documents, which share a budget of tokens."""
    count = sum(attachment.document is not None for attachment in attachments)
    max_tokens = min(MAX_DOCUMENT_TOKENS, MAX_DOCUMENTS_TOKENS // max(count, 1))
    for attachment in attachments:
        if not (attachment.is_image or attachment.is_recording):
            yield as_prompt_text(attachment, count_tokens, max_tokens)


def as_prompt_text(
    attachment: Attachment, count_tokens: CountTokens, max_tokens: float = MAX_DOCUMENT_TOKENS
) -> str:
    """Return a text file or document in a code fence that is longer than any inside."""
    name = _shown_name(attachment.name)
    if attachment.document is not None:
        return _document_text(name, attachment.document, count_tokens, max_tokens)
    return f'The user attached the file "{name}":\n{_fenced(attachment.data.decode())}'


def _fenced(text: str) -> str:
    longest_run = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest_run + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}\n{text}{end}{fence}"


# A prompt shows all of a document, or else its table of contents, its first parts and its last part.

_KIND_NAMES: Mapping[DocumentKind, str] = {
    "pdf": "PDF",
    "word": "Word",
    "excel": "spreadsheet",
    "powerpoint": "PowerPoint",
    "opendocument": "OpenDocument",
    "epub": "EPUB",
    "csv": "CSV",
}


def _document_text(name: str, document: Document, count_tokens: CountTokens, max_tokens: float) -> str:
    count, unit = len(document.parts), document.unit
    intro = (
        f'The user attached the document "{name}" ({_KIND_NAMES[document.kind]}, {_count_units(count, unit)})'
    )
    if document.is_scan:
        return (
            f"{intro}: a scan without text. Pictures show its first "
            f"{_count_units(document.pictured, unit)}, and nothing else of it can be read."
        )
    if _count_fitting_parts(document, max_tokens, count_tokens) == count:
        text = document.text_with_labels(range(1, count + 1))
        return f"{intro}. Name the {unit} that you answer from.\n{_fenced(text)}"
    contents = _list_contents(document, max_tokens / 8, count_tokens)
    last = _cut(document.text_with_labels((count,)), max_tokens / 8, count_tokens)
    left_tokens = max_tokens - count_tokens(contents) - count_tokens(last)
    first = min(_count_fitting_parts(document, left_tokens, count_tokens), count - 1)
    if first:
        beginning = document.text_with_labels(range(1, first + 1))
        shown = f"the first {_count_units(first, unit)}"
    else:
        beginning = _cut(document.text_with_labels((1,)), left_tokens, count_tokens)
        shown = f"the beginning of its first {unit}"
    excerpt = "\n".join(filter(None, (contents, beginning, _LEFT_OUT, last)))
    return (
        f"{intro}. It is too long to be shown whole. Here are {'its table of contents, ' if contents else ''}"
        f"{shown} and {unit} {count}. The rest is left out: look it up with read_file before you answer "
        f"from it. Name the {unit} that you answer from.\n{_fenced(excerpt)}"
    )


_LEFT_OUT = "[…]"


def _count_units(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'}"


def _count_fitting_parts(document: Document, max_tokens: float, count_tokens: CountTokens) -> int:
    for number in range(1, len(document.parts) + 1):
        max_tokens -= count_tokens(document.text_with_labels((number,))) + 1
        if max_tokens < 0:
            return number - 1
    return len(document.parts)


def _list_contents(document: Document, max_tokens: float, count_tokens: CountTokens) -> str:
    """Return the headings, or else the names of parts, as many as fit."""
    titles = [f"{each.title}: {document.unit} {each.part}" for each in document.headings]
    if not titles:
        titles = [document.part_label(n).strip("[]") for n, part in enumerate(document.parts, 1) if part.name]
    return _cut("\n".join(("[contents]", *titles)), max_tokens, count_tokens) if titles else ""


def _cut(text: str, max_tokens: float, count_tokens: CountTokens) -> str:
    cut = text
    while cut and count_tokens(cut) > max_tokens:
        cut = cut[: len(cut) // 2]
    return cut if len(cut) == len(text) else f"{cut.rstrip()}\n{_LEFT_OUT}"


def _shown_name(name: str) -> str:
    printable = "".join(character for character in name if character.isprintable() and character not in '"`')
    return printable.strip()[:_MAX_NAME_LENGTH] or "file"


def read_memory_file(data: bytes) -> list[PortableMemory]:
    """Read JSON in UTF-8, or a text in any known encoding. Raises ImportNotUnderstood or TooManyToImport."""
    try:
        text: str | None = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = None
    if not (text or "").lstrip().startswith("{"):
        text = decode_text(data)
    if text is None:
        raise ImportNotUnderstood
    return parse_memories(text)
