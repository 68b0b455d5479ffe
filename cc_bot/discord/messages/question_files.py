"""The files of questions in channels. They go to the model with the question's own turn and are not stored.

What Discord said of them is kept in memory while the question waits; after a restart, or when an answer is
made anew, it is asked for once more. Files that can't go along are left out, and those who read the answer
are told so, as is the model. A question of which no file can go along is refused, unless others are
answered with it: nobody should wait for somebody else's mistake.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import hikari
import structlog

from cc_bot.discord.attachments import MAX_BYTES, AttachmentFetcher, Fetched, asked_files, with_files
from cc_bot.discord.incoming import FILE_NOTE
from cc_bot.domain.errors import AttachmentNotFetched, InputError
from cc_bot.domain.message import Message
from cc_bot.domain.turn import AskedFile

_log = structlog.get_logger(__name__)

REMEMBERED = 200
"""Messages with files."""
NOT_SHOWN = "[these files are not shown: {reason}]"
"""What the model reads below the names of files that are left out."""


@dataclass(frozen=True, slots=True)
class Attached:
    """Questions with their files."""

    questions: tuple[Message, ...]
    left_out: tuple[str, ...] = ()
    """The names of the files that the model is not shown."""


class QuestionFiles:
    def __init__(self, rest: hikari.api.RESTClient, files: AttachmentFetcher) -> None:
        self._rest = rest
        self._fetcher = files
        self._told: OrderedDict[int, Sequence[AskedFile]] = OrderedDict()

    def note(self, message: hikari.Message) -> None:
        """A question came with these files."""
        if files := asked_files(message):
            self._told[int(message.id)] = files
            while len(self._told) > REMEMBERED:
                self._told.popitem(last=False)

    async def attach(self, place_id: int, questions: Sequence[Message], *, again: bool = False) -> Attached:
        """The questions, each with its files; `again`: as Discord has them now, for they were edited.

        Raises an InputError when there is one question and the model can't have any of its files; of several
        questions, which share the limit of bytes, such files are left out.
        """
        attached, left_out, room_bytes = list[Message](), list[str](), MAX_BYTES
        for question in questions:
            try:
                fetched = await self._files(place_id, question, room_bytes, again)
            except InputError as error:
                if len(questions) == 1:
                    raise
                _log.info("file_left_out", error=type(error).__name__)
                attached.append(_without_files(question, "too large, or of no kind that can be read"))
                left_out += _file_names(question.content)
            else:
                room_bytes -= sum(len(file.data) for file in fetched.files)
                attached.append(with_files(question, fetched))
                left_out += fetched.left_out
        return Attached(tuple(attached), tuple(left_out))

    async def _files(self, place_id: int, question: Message, room_bytes: int, again: bool) -> Fetched:
        if FILE_NOTE not in question.content or question.discord_id is None:
            return Fetched()
        told = None if again else self._told.get(question.discord_id)
        if told is None:
            try:
                told = asked_files(await self._rest.fetch_message(place_id, question.discord_id))
            except hikari.HTTPError as error:
                raise AttachmentNotFetched from error
        return await self._fetcher.fetch_asked(told, room_bytes, heard=bool(question.heard))


def any_files(questions: Sequence[Message]) -> bool:
    """Return whether any of the questions came with files."""
    return any(FILE_NOTE in question.content for question in questions)


def without_files(questions: Sequence[Message]) -> tuple[Message, ...]:
    """The questions, with a word on the files that the model did not take; as they are without any. It is
    told what recordings say, and takes that."""
    if all(file.is_recording for question in questions for file in question.attachments):
        return tuple(questions)
    return tuple(map(_without_refused, questions))


def _without_refused(question: Message) -> Message:
    recordings = tuple(file for file in question.attachments if file.is_recording)
    if recordings and recordings == question.attachments:
        return question
    return replace(_without_files(question, "the model refused them"), attachments=recordings)


def _without_files(question: Message, reason: str) -> Message:
    """The question as it is, or with a word on what becomes of its files."""
    if FILE_NOTE not in question.content:
        return question
    note = NOT_SHOWN.format(reason=reason)
    return replace(question, content=f"{question.content}\n{note}", attachments=())


def _file_names(content: str) -> list[str]:
    """The names of the files of a message, as the archive keeps them."""
    lines = (line for line in content.splitlines() if line.startswith(FILE_NOTE) and line.endswith("]"))
    return [line[len(FILE_NOTE) : -1] for line in lines]
