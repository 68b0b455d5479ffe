"""Starts the reading process and validates its answer."""

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import structlog
from pydantic import Base64Bytes, BaseModel

from cc_bot.chat.context.attachments import DocumentSource, ReadDocument
from cc_bot.concurrency import run_in_background
from cc_bot.domain import errors
from cc_bot.domain.message import Document, DocumentKind, DocumentPart, DocumentUnit, Heading

_MAX_ANSWER_BYTES: Final = 16 * 2**20
_CHUNK_BYTES: Final = 64 * 2**10


def reading_command(*arguments: str, unconfined: bool = False) -> tuple[str, ...]:
    permission = ("unconfined",) if unconfined else ()
    return (sys.executable, "-s", "-P", "-m", "cc_bot.features.documents", *arguments, *permission)


async def run_reading_process(command: Sequence[str], file: io.BytesIO, extra: str) -> Mapping[str, Any]:
    """Have a process read a file, and return its answer. `extra`: the package's extra with the parsers.

    Raises the InputError that the answer names; OSError, ValueError or RecursionError for an invalid answer;
    TimeoutError if the processor time was used up.
    """
    answer = json.loads(await _exchange(command, file))
    if not isinstance(answer, dict):
        raise ValueError
    if error := answer.get("error"):
        if error == "not_installed":
            _log.warning(f"{extra}_not_installed", extra=extra, fix=f"make {extra}")
        if error == "not_confined":
            _log.warning(f"{extra}_not_confined", fix="CC_BOT_READ_UNCONFINED=on")
        raise _ERRORS.get(error, errors.DocumentUnreadable)
    return answer


async def _exchange(command: Sequence[str], file: io.BytesIO) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_environment(),
        cwd=sys.prefix,
    )
    try:
        async with run_in_background(_write_file(process, file)):
            return await _read_answer(process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _write_file(process: asyncio.subprocess.Process, file: io.BytesIO) -> None:
    stdin = process.stdin
    if stdin is not None:
        with suppress(OSError):
            while chunk := file.read(_CHUNK_BYTES):
                stdin.write(chunk)
                await stdin.drain()
        stdin.close()
    file.close()  # frees memory


async def _read_answer(process: asyncio.subprocess.Process) -> bytes:
    stdout = process.stdout
    if stdout is None:
        raise OSError
    try:
        length = int.from_bytes(await stdout.readexactly(4), "big")
        if length > _MAX_ANSWER_BYTES:
            raise ValueError
        return await stdout.readexactly(length)
    except asyncio.IncompleteReadError as error:  # a limit or a parser ended the process
        cpu_time_spent = sys.platform != "win32" and await process.wait() == -signal.SIGXCPU
        raise (TimeoutError if cpu_time_spent else OSError) from error


def _environment() -> Mapping[str, str]:
    """Return a minimal environment without secrets: the process reads untrusted files."""
    windows = {"SYSTEMROOT": os.path.expandvars("%SYSTEMROOT%")} if sys.platform == "win32" else {}
    return {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONIOENCODING": "utf-8", **windows}


TIMEOUT_S: Final = 18.0  # the process has 15 s of processor time
QUEUE_TIMEOUT_S: Final = 60.0
MAX_CONCURRENT_READS: Final = 1
EXTRA_MODULES: Final = ("pypdfium2", "PIL", "python_calamine")
"""Libraries of the extra `documents`, for PDF and Excel."""
_MAX_PICTURES: Final = 5

_log = structlog.get_logger(__name__)

_ERRORS: Final[Mapping[str, type[errors.InputError]]] = {
    "unreadable": errors.DocumentUnreadable,
    "locked": errors.DocumentLocked,
    "too_long": errors.DocumentTooLong,
    "old_format": errors.DocumentOldFormat,
    "not_installed": errors.DocumentsNotInstalled,
    "not_confined": errors.DocumentsNotConfined,
    "not_supported": errors.AttachmentNotSupported,
}


class DocumentReader(DocumentSource):
    """Reads documents one by one, each in its own process."""

    def __init__(self, command: Sequence[str] = (), *, unconfined: bool = False) -> None:
        self._command = tuple(command) or reading_command(unconfined=unconfined)
        self._queue = asyncio.Semaphore(MAX_CONCURRENT_READS)

    async def read(self, data: bytes) -> ReadDocument:
        """Raises DocumentReaderBusy and errors of _ERRORS."""
        async with self.queue_slot():
            return await self.read_without_queue(io.BytesIO(data))

    @asynccontextmanager
    async def queue_slot(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(QUEUE_TIMEOUT_S):
                await self._queue.acquire()
        except TimeoutError as error:
            _log.warning("document_not_read", error="DocumentReaderBusy")
            raise errors.DocumentReaderBusy from error
        try:
            yield
        finally:
            self._queue.release()

    async def read_without_queue(self, file: io.BytesIO) -> ReadDocument:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                answer = await run_reading_process(self._command, file, "documents")
            return _validate_answer(answer)
        except (TimeoutError, OSError, ValueError, RecursionError) as error:
            _log.warning("document_not_read", error=type(error).__name__)
            raise errors.DocumentUnreadable from error


class _Answer(BaseModel):
    kind: DocumentKind
    unit: DocumentUnit
    parts: list[tuple[str, str]]
    headings: list[tuple[str, int]]
    pictures: list[Base64Bytes]


def _validate_answer(answer: Mapping[str, Any]) -> ReadDocument:
    """Raises ValueError."""
    document = _Answer.model_validate(answer)
    last = max(len(document.parts), 1)
    headings = tuple(Heading(title, min(max(part, 1), last)) for title, part in document.headings)
    pictures = tuple(document.pictures[:_MAX_PICTURES])
    if not all(picture.startswith(b"\xff\xd8\xff") for picture in pictures):  # JPEG
        raise ValueError
    parts = tuple(DocumentPart(name, text) for name, text in document.parts)
    return ReadDocument(Document(document.kind, document.unit, parts, headings, len(pictures)), pictures)
