"""The bot's side of reading documents: starts the process and validates its answer."""

import asyncio
import base64
import binascii
import io
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, get_args

import structlog

from cc_bot.domain.document import MEDIA_TYPES, Document, DocumentPart, Heading, Unit
from cc_bot.domain.errors import (
    AttachmentNotSupported,
    DocumentLocked,
    DocumentOldFormat,
    DocumentsNotConfined,
    DocumentsNotInstalled,
    DocumentsWait,
    DocumentTooLong,
    DocumentUnreadable,
    InputError,
)
from cc_bot.reading.process import ask_process, reading_command

TIMEOUT_S: Final = 18.0
"""Per document: the user is told within 20 s. The process has 15 s of processor time."""
WAITS_S: Final = 60.0
"""For documents before: then the user is told within 80 s."""
AT_A_TIME: Final = 1
READ_BY_EXTRA: Final = ("pypdfium2", "PIL", "python_calamine")
"""Libraries of the extra `documents`; without them everything but PDF and Excel is read."""
_MAX_PICTURES: Final = 5

_log = structlog.get_logger(__name__)

_ERRORS: Final[Mapping[str, type[InputError]]] = {
    "unreadable": DocumentUnreadable,
    "locked": DocumentLocked,
    "too_long": DocumentTooLong,
    "old_format": DocumentOldFormat,
    "not_installed": DocumentsNotInstalled,
    "not_confined": DocumentsNotConfined,
    "not_supported": AttachmentNotSupported,
}


@dataclass(frozen=True, slots=True)
class ReadDocument:
    document: Document
    pictures: tuple[bytes, ...] = ()
    """JPEGs of a scan's first pages."""


class DocumentReader:
    """Reads documents one at a time, each in a process of its own."""

    def __init__(
        self,
        command: Sequence[str] = (),
        *,
        unconfined: bool = False,
        timeout_s: float = TIMEOUT_S,
        at_a_time: int = AT_A_TIME,
        waits_s: float = WAITS_S,
    ) -> None:
        """`command`: speaks the protocol of `cc_bot.reading`; by default that program, with `unconfined` even
        without a sandbox."""
        self._command = tuple(command) or reading_command(unconfined=unconfined)
        self._timeout_s = timeout_s
        self._waits_s = waits_s
        self._turns = asyncio.Semaphore(at_a_time)

    async def read(self, data: bytes) -> ReadDocument:
        """Read a document in turn. Raises as `turn` and `read_now`."""
        async with self.turn():
            return await self.read_now(io.BytesIO(data))

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, held inside the block. Raises DocumentsWait if it takes too long."""
        try:
            async with asyncio.timeout(self._waits_s):
                await self._turns.acquire()
        except TimeoutError as error:
            _log.warning("document_not_read", error="DocumentsWait")
            raise DocumentsWait from error
        try:
            yield
        finally:
            self._turns.release()

    async def read_now(self, file: io.BytesIO) -> ReadDocument:
        """Read a document now. Raises DocumentLocked, DocumentTooLong, DocumentOldFormat,
        DocumentsNotInstalled, DocumentsNotConfined, AttachmentNotSupported or DocumentUnreadable."""
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await ask_process(self._command, file)
            return _document(json.loads(answer))
        except (TimeoutError, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            _log.warning("document_not_read", error=type(error).__name__)
            raise DocumentUnreadable from error


def _document(answer: Mapping[str, Any]) -> ReadDocument:
    """Build a document from an answer. Raises the InputError that it names, and ValueError, KeyError or
    TypeError if it is invalid."""
    if "error" in answer:
        _refuse(str(answer["error"]))
    parts = tuple(DocumentPart(_text(name), _text(text)) for name, text in answer["parts"])
    headings = tuple(Heading(_text(title), _number(part, len(parts))) for title, part in answer["headings"])
    kind, unit = answer["kind"], answer["unit"]
    if kind not in MEDIA_TYPES or unit not in get_args(Unit):
        raise ValueError
    pictures = tuple(_jpeg(picture) for picture in answer["pictures"][:_MAX_PICTURES])
    return ReadDocument(Document(kind, unit, parts, headings, len(pictures)), pictures)


def _refuse(error: str) -> None:
    refusal = _ERRORS.get(error, DocumentUnreadable)
    if refusal is DocumentsNotInstalled:
        _log.warning("documents_not_installed", extra="documents", mend="make documents")
    if refusal is DocumentsNotConfined:
        _log.warning("documents_not_confined", mend="CC_BOT_READ_UNCONFINED=on")
    raise refusal


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError
    return text.encode("utf-8", "ignore").decode()


def _number(part: object, parts: int) -> int:
    if not isinstance(part, int):
        raise TypeError
    return min(max(part, 1), max(parts, 1))


def _jpeg(encoded: object) -> bytes:
    if not isinstance(encoded, str):
        raise TypeError
    try:
        data = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise ValueError from error
    if not data.startswith(b"\xff\xd8\xff"):
        raise ValueError
    return data
