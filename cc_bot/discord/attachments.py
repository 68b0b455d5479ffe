"""Downloads the files of questions at once, as Discord's URLs expire."""

import asyncio
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Protocol

import aiohttp
import hikari

from cc_bot.assistant.files import read_files
from cc_bot.context import recordings
from cc_bot.context.attachments import is_called_document, size_limit, too_large
from cc_bot.discord.held_files import HeldFiles
from cc_bot.domain.errors import AttachmentNotFetched, InputError, forget_frames
from cc_bot.domain.message import Attachment, Message, is_recording
from cc_bot.domain.turn import AskedFile, FilesLeftOut, ScansShown
from cc_bot.proxy import proxy_for
from cc_bot.reading.reader import DocumentReader

TIMEOUT_S = 20.0
MAX_BYTES = 20 * 2**20
"""All files of one message, of which Discord allows ten; recordings have one recording's size in addition."""
NOT_READ = "[not shown, it could not be read: {name}]"
"""Tells the model of a file that it can't see, beside others."""
_LONGEST_NAME = 100


class _File(Protocol):
    """A file as Discord describes it, such as hikari's attachments."""

    @property
    def filename(self) -> str: ...

    @property
    def media_type(self) -> str | None: ...

    @property
    def size(self) -> int: ...

    @property
    def url(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Fetched:
    files: tuple[Attachment, ...] = ()
    left_out: tuple[str, ...] = ()
    """Names of unreadable files."""

    @property
    def events(self) -> Iterator[FilesLeftOut | ScansShown]:
        """Yield what the user is told about them."""
        if self.left_out:
            yield FilesLeftOut(self.left_out)
        yield from scans_among(self.files)


def scans_among(files: Iterable[Attachment]) -> Iterator[ScansShown]:
    """Yield what the user is told about scans, if any."""
    scans = {file.name: file.document.pictured for file in files if file.document and file.document.is_scan}
    if scans:
        yield ScansShown(tuple(scans), max(scans.values()))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A file as described in a stored question."""

    file: AskedFile

    @property
    def filename(self) -> str:
        return self.file.name

    @property
    def media_type(self) -> str | None:
        return self.file.media_type

    @property
    def size(self) -> int:
        return self.file.size

    @property
    def url(self) -> str:
        return self.file.url


def forwards_of(message: hikari.PartialMessage) -> Sequence[hikari.messages.MessageSnapshot]:
    return message.message_snapshots or ()


def files_of(message: hikari.PartialMessage) -> tuple[hikari.Attachment, ...]:
    """List a message's files, and those it forwards."""
    forwarded = (file for snapshot in forwards_of(message) for file in snapshot.attachments)
    return (*(message.attachments or ()), *forwarded)


def asked_files(message: hikari.PartialMessage) -> tuple[AskedFile, ...]:
    """List what is needed to download a message's files again."""
    own_words = is_voice_message(message)
    return tuple(asked_file(file, own_words=own_words) for file in files_of(message))


def asked_file(file: hikari.Attachment, *, own_words: bool = False) -> AskedFile:
    return AskedFile(file.filename, str(file.url), file.size, file.media_type, own_words)


def is_voice_message(message: hikari.PartialMessage) -> bool:
    """Return whether it is a voice message, which has one recording and nothing else."""
    return bool((message.flags or hikari.MessageFlag.NONE) & hikari.MessageFlag.IS_VOICE_MESSAGE)


async def fetch_bytes(url: str, limit_bytes: int) -> bytes:
    """Download a file up to a size. Raises AttachmentNotFetched."""
    return (await _fetch_file(url, limit_bytes)).getvalue()


async def _fetch_file(url: str, limit_bytes: int) -> io.BytesIO:
    """Download into a temporary file, which needs no second copy in memory. Not with hikari's `read`, which
    leaves its session open on failures."""
    file = io.BytesIO()
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),
            aiohttp.ClientSession(raise_for_status=True) as session,
            session.get(url, proxy=proxy_for(url)) as response,
        ):
            async for some in response.content.iter_any():
                file.write(some)
                if file.tell() > limit_bytes:
                    raise AttachmentNotFetched
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
        raise AttachmentNotFetched from error
    file.seek(0)
    return file


class AttachmentFetcher:
    """Downloads the files of questions, and reads documents."""

    def __init__(self, documents: DocumentReader, held: HeldFiles | None = None) -> None:
        """`held`: limits what running answers hold."""
        self._documents = documents
        self._held = held or HeldFiles()

    async def fetch(self, attachments: Sequence[_File], room_bytes: int = MAX_BYTES) -> Fetched:
        """Download the files of a message concurrently. Unreadable files, and those without room after
        others, are left out.

        Raises AttachmentTooLarge (before downloading; also for the sum), AttachmentNotFetched and errors of
        `read_files` if none is left, and DocumentsWait if others hold too much.
        """
        fitting, left, held = list[bool](), {True: recordings.MAX_BYTES, False: room_bytes}, 0
        for attachment in attachments:
            recording = is_recording(attachment.media_type)
            fitting.append(attachment.size <= left[recording])
            left[recording] -= attachment.size if fitting[-1] else 0
            held += attachment.size if fitting[-1] and not _is_called_document(attachment) else 0
        await self._held.take(held)
        async with asyncio.TaskGroup() as group:
            fetching = [
                group.create_task(self._outcome(attachment, fits=fits))
                for attachment, fits in zip(attachments, fitting, strict=True)
            ]
        outcomes = [task.result() for task in fetching]
        files = tuple(file for outcome in outcomes if isinstance(outcome, tuple) for file in outcome)
        wrong = [
            (attachment.filename, outcome)
            for attachment, outcome in zip(attachments, outcomes, strict=True)
            if isinstance(outcome, InputError)
        ]
        if wrong and not files:
            raise wrong[0][1]
        return Fetched(files, tuple(name for name, _ in wrong))

    async def fetch_asked(
        self, files: Sequence[AskedFile], room_bytes: int = MAX_BYTES, *, heard: bool = False
    ) -> Fetched:
        """Download the files of a stored question again; without recordings if it was `heard`. Raises as
        `fetch`: Discord's URLs expire after about a day."""
        wanted = [file for file in files if not (heard and file.is_recording)]
        fetched = await self.fetch([_Asked(file) for file in wanted], room_bytes)
        spoken = {file.name for file in wanted if file.own_words}
        marked = (
            replace(file, own_words=file.is_recording and file.name in spoken) for file in fetched.files
        )
        return replace(fetched, files=tuple(marked))

    async def _outcome(self, attachment: _File, *, fits: bool) -> tuple[Attachment, ...] | InputError:
        try:
            _check_size(attachment)
            if not fits:
                return too_large(MAX_BYTES)
            if _is_called_document(attachment):  # it is in memory only while it is read
                async with self._held.reader(), self._documents.turn():
                    return await self._read(attachment, has_turn=True)
            return await self._read(attachment)
        except InputError as error:
            return forget_frames(error)

    async def _read(self, attachment: _File, *, has_turn: bool = False) -> tuple[Attachment, ...]:
        name, limit = attachment.filename, size_limit(attachment.media_type, attachment.filename)
        file = await _fetch_file(attachment.url, limit)
        async with nullcontext() if has_turn else self._held.reader():
            return await read_files(name, file, self._documents, has_turn=has_turn)


def _is_called_document(attachment: _File) -> bool:
    return is_called_document(attachment.media_type, attachment.filename)


def _check_size(attachment: _File) -> None:
    limit = size_limit(attachment.media_type, attachment.filename)
    if attachment.size > limit:
        raise too_large(limit)


def with_files(question: Message, fetched: Fetched) -> Message:
    """Return the question with its files, and a note on those the model can't see."""
    notes = (NOT_READ.format(name=on_one_line(name)) for name in fetched.left_out)
    return replace(
        question,
        content="\n".join((question.content, *notes)),
        attachments=tuple(_told_apart((*question.attachments, *fetched.files))),
    )


def _told_apart(files: Sequence[Attachment]) -> Iterator[Attachment]:
    """Number files of the same name, as the model asks for them by name."""
    seen = Counter[str]()
    for file in files:
        seen[file.name] += 1
        number = seen[file.name]
        stem, dot, ending = file.name.rpartition(".")
        numbered = f"{stem} ({number}).{ending}" if dot else f"{file.name} ({number})"
        yield file if number == 1 else replace(file, name=numbered)


def on_one_line(name: str) -> str:
    return " ".join(name.split())[:_LONGEST_NAME]
