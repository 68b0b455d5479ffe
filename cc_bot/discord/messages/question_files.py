"""The files of questions in channels. They go to the model with the question's own turn and are not stored.

What Discord said of them is kept in memory while the question waits; after a restart, or when an answer is
made anew, it is asked for once more. Files that can't go along are left out, and those who read the answer
are told so, as is the model. A question of which no file can go along is refused.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import hikari

from cc_bot.discord.attachments import MAX_BYTES, AttachmentFetcher, Fetched, asked_files, with_files
from cc_bot.discord.incoming import FILE_NOTE
from cc_bot.domain.errors import AttachmentNotFetched
from cc_bot.domain.message import Message
from cc_bot.domain.turn import AskedFile

REMEMBERED = 200
"""Messages with files."""


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

        Raises an InputError when the model can't have any of the files of one of them.
        """
        attached, left_out, room_bytes = list[Message](), list[str](), MAX_BYTES
        for question in questions:
            fetched = await self._files(place_id, question, room_bytes, again)
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
