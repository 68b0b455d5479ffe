"""Downloads the files of questions before Discord's URLs expire, within limits of memory."""

import asyncio
import io
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

import aiohttp
import hikari
import structlog

from cc_bot.chat.context import recordings
from cc_bot.chat.context.attachments import (
    DocumentSource,
    document_files,
    get_max_bytes,
    has_document_type,
    is_document,
    read_attachment,
    too_large,
)
from cc_bot.concurrency import KeyedLock
from cc_bot.domain.errors import (
    AttachmentNotFetched,
    DocumentReaderBusy,
    DocumentsNotInstalled,
    InputError,
    TranscriptionUnavailable,
    drop_tracebacks,
)
from cc_bot.domain.message import Attachment, Message
from cc_bot.domain.turn import AskedFile, FilesLeftOut, ScansShown
from cc_bot.proxy import proxy_for

_log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class _Reservation:
    user_id: int
    size_bytes: int = 0


_reservation: ContextVar[_Reservation | None] = ContextVar("reservation", default=None)


@dataclass(eq=False, slots=True)
class FileBudget:
    max_user_bytes: int = 24 * 2**20
    max_bytes: int = 32 * 2**20
    wait_s: float = 60.0
    _bytes_by_user: Counter[int] = field(default_factory=Counter)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _readers: KeyedLock = field(default_factory=KeyedLock)

    @asynccontextmanager
    async def use_for(self, user_id: int) -> AsyncIterator[None]:
        """Within the block, `reserve` counts for this user. Releases the reservations at the block's end."""
        reservation = _Reservation(user_id)
        token = _reservation.set(reservation)
        try:
            yield
        finally:
            _reservation.reset(token)
            if reservation.size_bytes:
                self._bytes_by_user[user_id] -= reservation.size_bytes
                self._bytes_by_user += Counter()  # removes users without files
                async with self._changed:
                    self._changed.notify_all()

    async def reserve(self, size_bytes: int) -> None:
        """Wait for room. Any size fits if nothing else is reserved. Raises DocumentReaderBusy."""
        reservation = _reservation.get()
        if reservation is None or size_bytes <= 0:
            return
        try:
            async with asyncio.timeout(self.wait_s), self._changed:
                await self._changed.wait_for(lambda: self._has_room(reservation, size_bytes))
                reservation.size_bytes += size_bytes
                self._bytes_by_user[reservation.user_id] += size_bytes
        except TimeoutError as error:
            _log.warning("files_wait", size=size_bytes)
            raise DocumentReaderBusy from error

    def wait_for_earlier_file(self) -> AbstractAsyncContextManager[object]:
        reservation = _reservation.get()
        return nullcontext() if reservation is None else self._readers.hold(reservation.user_id)

    def _has_room(self, reservation: _Reservation, size_bytes: int) -> bool:
        user_bytes, all_bytes = self._bytes_by_user[reservation.user_id], self._bytes_by_user.total()
        own_bytes = reservation.size_bytes
        return (user_bytes + size_bytes <= self.max_user_bytes or user_bytes == own_bytes) and (
            all_bytes + size_bytes <= self.max_bytes or all_bytes == own_bytes
        )


TIMEOUT_S = 20.0
MAX_BYTES = 20 * 2**20  # for a message's files except recordings, which have their own limit
_MAX_NAME_LENGTH = 100


@dataclass(frozen=True, slots=True)
class FetchedFiles:
    files: tuple[Attachment, ...] = ()
    left_out: tuple[str, ...] = ()  # names

    @classmethod
    def merge(cls, parts: Iterable["FetchedFiles"]) -> "FetchedFiles":
        fetched = tuple(parts)
        left_out = tuple(name for part in fetched for name in part.left_out)
        return cls(tuple(file for part in fetched for file in part.files), left_out)

    @property
    def unread_notes(self) -> Sequence[str]:
        return [f"[not shown, it could not be read: {on_one_line(name)}]" for name in self.left_out]

    @property
    def events(self) -> Iterator[FilesLeftOut | ScansShown]:
        if self.left_out:
            yield FilesLeftOut(self.left_out)
        documents = {file.name: file.document for file in self.files if file.document}
        if scans := {name: each.pictured for name, each in documents.items() if each.is_scan}:
            yield ScansShown(tuple(scans), max(scans.values()))


def forwards_of(message: hikari.PartialMessage) -> Sequence[hikari.messages.MessageSnapshot]:
    return message.message_snapshots or ()


def files_of(message: hikari.PartialMessage) -> tuple[hikari.Attachment, ...]:
    forwarded = (file for snapshot in forwards_of(message) for file in snapshot.attachments)
    return (*(message.attachments or ()), *forwarded)


def asked_files(message: hikari.PartialMessage) -> tuple[AskedFile, ...]:
    own_words = is_voice_message(message)
    return tuple(asked_file(file, own_words=own_words) for file in files_of(message))


def asked_file(file: hikari.Attachment, *, own_words: bool = False) -> AskedFile:
    return AskedFile(file.filename, str(file.url), file.size, file.media_type, own_words)


def is_voice_message(message: hikari.PartialMessage) -> bool:
    return bool((message.flags or hikari.MessageFlag.NONE) & hikari.MessageFlag.IS_VOICE_MESSAGE)


async def fetch_bytes(url: str, limit_bytes: int) -> bytes:
    """Raises AttachmentNotFetched."""
    return (await _fetch_file(url, limit_bytes)).getvalue()


async def _fetch_file(url: str, limit_bytes: int) -> io.BytesIO:
    """Raises AttachmentNotFetched. hikari's own download would leave a session open after a failure."""
    file = io.BytesIO()
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),
            aiohttp.ClientSession(raise_for_status=True) as session,
            session.get(url, proxy=proxy_for(url)) as response,
        ):
            async for chunk in response.content.iter_any():
                file.write(chunk)
                if file.tell() > limit_bytes:
                    raise AttachmentNotFetched
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
        raise AttachmentNotFetched from error
    file.seek(0)
    return file


@dataclass(eq=False, slots=True)
class AttachmentFetcher:
    documents: DocumentSource | None
    file_budget: FileBudget = field(default_factory=FileBudget)
    can_transcribe: bool = True  # False if the feature `voice` was removed

    async def fetch(
        self, files: Sequence[AskedFile], room_bytes: int = MAX_BYTES, *, skip_recordings: bool = False
    ) -> FetchedFiles:
        """Download and read files, except unreadable and too large ones. Raises DocumentReaderBusy, and if no
        file can be read, the first InputError."""
        wanted = [file for file in files if not (skip_recordings and file.is_recording)]
        fits = _find_fitting(wanted, room_bytes)
        downloads = (file for file, each_fits in zip(wanted, fits, strict=True) if each_fits)
        await self.file_budget.reserve(sum(file.size for file in downloads if not _is_called_document(file)))
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._fetch_or_explain(file, fits=each_fits))
                for file, each_fits in zip(wanted, fits, strict=True)
            ]
        read, left_out, problem = list[Attachment](), list[str](), None
        for file, task in zip(wanted, tasks, strict=True):
            outcome = task.result()
            if isinstance(outcome, InputError):
                left_out.append(file.name)
                problem = problem or outcome
            else:
                read += (
                    replace(part, is_voice_message=part.is_recording and file.own_words) for part in outcome
                )
        if problem and not read:
            raise problem
        return FetchedFiles(tuple(read), tuple(left_out))

    @property
    def _reader(self) -> DocumentSource:
        if self.documents is None:
            raise DocumentsNotInstalled
        return self.documents

    async def _fetch_or_explain(self, file: AskedFile, *, fits: bool) -> tuple[Attachment, ...] | InputError:
        try:
            limit = get_max_bytes(file.media_type, file.name)
            if file.size > limit:
                raise too_large(limit)
            if not fits:
                return too_large(MAX_BYTES)
            if _is_called_document(file):  # not downloaded before it can be read, to save memory
                async with self.file_budget.wait_for_earlier_file(), self._reader.queue_slot():
                    return await self._read(file, has_waited=True)
            return await self._read(file)
        except InputError as error:
            return drop_tracebacks(error)

    async def _read(self, file: AskedFile, *, has_waited: bool = False) -> tuple[Attachment, ...]:
        fetched = await _fetch_file(file.url, get_max_bytes(file.media_type, file.name))
        async with nullcontext() if has_waited else self.file_budget.wait_for_earlier_file():
            data = fetched.getvalue()
            if not is_document(file.name, data):
                # Measuring or decoding takes up to 0.5 s.
                read = await asyncio.to_thread(read_attachment, file.name, data)
                if read.is_recording and not self.can_transcribe:
                    raise TranscriptionUnavailable
                return (read,)
            del data  # a copy; the document is read from the file
            async with nullcontext() if has_waited else self._reader.queue_slot():
                return document_files(file.name, await self._reader.read_without_queue(fetched))


def _find_fitting(files: Sequence[AskedFile], room_bytes: int) -> list[bool]:
    fits, left_bytes = list[bool](), {"recordings": recordings.MAX_BYTES, "others": room_bytes}
    for file in files:
        kind = "recordings" if file.is_recording else "others"
        fits.append(file.size <= left_bytes[kind])
        left_bytes[kind] -= file.size if fits[-1] else 0
    return fits


def _is_called_document(file: AskedFile) -> bool:
    return has_document_type(file.media_type, file.name)


def with_files(question: Message, fetched: FetchedFiles) -> Message:
    return replace(
        question,
        content="\n".join((question.content, *fetched.unread_notes)),
        attachments=tuple(_with_unique_names((*question.attachments, *fetched.files))),
    )


def _with_unique_names(files: Sequence[Attachment]) -> Iterator[Attachment]:
    """Number files with equal names, since the model requests files by name."""
    seen = Counter[str]()
    for file in files:
        seen[file.name] += 1
        number = seen[file.name]
        stem, dot, ending = file.name.rpartition(".")
        numbered = f"{stem} ({number}).{ending}" if dot else f"{file.name} ({number})"
        yield file if number == 1 else replace(file, name=numbered)


def on_one_line(name: str) -> str:
    return " ".join(name.split())[:_MAX_NAME_LENGTH]
