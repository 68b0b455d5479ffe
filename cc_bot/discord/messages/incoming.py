"""A message of Discord as the model is to read it, and whom it is meant for. Nothing is sent or looked up."""

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import hikari
import structlog

from cc_bot.discord.attachments import (
    MAX_BYTES,
    Fetched,
    asked_files,
    fetch_asked,
    is_voice_message,
    on_one_line,
    with_files,
)
from cc_bot.discord.pages.answer import without_heard
from cc_bot.discord.pages.custom_ids import AnswerButton, StopButton, parse_custom_id
from cc_bot.domain.errors import AttachmentNotFetched, InputError
from cc_bot.domain.message import Message, is_blank
from cc_bot.domain.turn import AskedFile
from cc_bot.texts.naming import without_mentions

QUOTED_CHARACTERS = 300
"""Of an answer that is replied to and that the channel's conversation does not hold."""
ORDINARY: Final = frozenset({hikari.MessageType.DEFAULT, hikari.MessageType.REPLY})
"""What people write; the other types tell of pins, boosts, new threads, and of commands."""
FILE_NOTE = "[file: "
"""What a line begins with that names a file."""

_USER = re.compile(r"<@!?(\d+)>")
_CALL = re.compile(r"\A<@!?\d+>\s*")
_SMALL_PRINT = "-# "


def is_from_person(message: hikari.Message) -> bool:
    """Return whether somebody wrote it: no bot, no webhook, not Discord itself."""
    return not (message.author.is_bot or message.author.is_system or message.webhook_id)


def is_addressed(message: hikari.PartialMessage, bot_id: int) -> bool:
    """Return whether it mentions the bot or replies to it. Discord counts a reply as a mention, unless its
    author switched that off."""
    return bot_id in (message.user_mentions or ())


def is_for_others(message: hikari.Message, bot_id: int) -> bool:
    """Return whether it mentions somebody else, or replies to somebody else."""
    if message.mentions_everyone or message.role_mention_ids or {*(message.user_mentions or ())} - {bot_id}:
        return True
    return message.type is hikari.MessageType.REPLY and reply_target(message, bot_id) is None


def reply_target(message: hikari.PartialMessage, bot_id: int) -> hikari.PartialMessage | None:
    """The bot's message that this one replies to."""
    referenced = message.referenced_message
    if not referenced or not referenced.author or referenced.author.id != bot_id:
        return None
    return referenced


def owner_of(message: hikari.PartialMessage) -> int | None:
    """Return whose session the answer belongs to that this message of the bot shows, as far as its buttons
    tell.

    Discord tells whose command a message answers, and not which command that was: it may be no answer at all.
    """
    for row in message.components or ():
        for component in row.components if isinstance(row, hikari.ActionRowComponent) else ():
            custom_id = component.custom_id if isinstance(component, hikari.ButtonComponent) else None
            button = parse_custom_id(custom_id or "")
            if isinstance(button, StopButton | AnswerButton):
                return button.user_id
    return None


def is_withheld(message: hikari.PartialMessage) -> bool:
    """Return whether there is nothing to read: no text and no files, or none that Discord shows the bot."""
    return is_blank(message.content or "") and not message.attachments


def asks_nothing(message: hikari.Message, bot: hikari.User) -> bool:
    """Return whether it only calls the bot, and points at nothing either."""
    is_reply = message.type is hikari.MessageType.REPLY
    return not (is_reply or message.attachments) and is_blank(text_of(message, bot))


def text_of(message: hikari.PartialMessage, bot: hikari.User) -> str:
    """Return what it says, with names instead of Discord's codes for people and commands.

    The bot's own name is left out where it only calls it: at the beginning and at the end.
    """
    text = _without_calls((message.content or "").strip(), int(bot.id))
    people = message.user_mentions or {}

    def named(mention: re.Match[str]) -> str:
        user = bot if int(mention[1]) == bot.id else people.get(hikari.Snowflake(mention[1]))
        return f"@{on_one_line(user.display_name or user.username)}" if user else mention[0]

    return without_mentions(_USER.sub(named, text)).strip()


def names_others(message: hikari.PartialMessage, bot_id: int) -> bool:
    """Return whether what it says, as `content_of` has it, holds names that its author did not choose: of
    people that it mentions, and of files; a voice message's is Discord's."""
    has_files = bool(message.attachments) and not is_voice_message(message)
    return has_files or any(user_id != bot_id for user_id in message.user_mentions or ())


def content_of(message: hikari.PartialMessage, bot: hikari.User, *, quoting: bool = False) -> str:
    """Return what a channel's archive keeps of it: what it says, and the names of its files.

    `quoting`: the bot's message that it replies to is not in the archive, so the beginning of that stands
    before it. Nothing is ever quoted of other people: what they delete must be gone.
    """
    answer = reply_target(message, int(bot.id)) if quoting else None
    quote = quotation(answer.content or "") if answer else ""
    called = f"@{bot.username}" if message.referenced_message and not message.attachments else ""
    files = [f"{FILE_NOTE}{on_one_line(file.filename)}]" for file in message.attachments or ()]
    return "\n".join(filter(None, (quote, text_of(message, bot) or called, *files)))


def quotation(said: str, characters: int = QUOTED_CHARACTERS) -> str:
    """The beginning of what the bot said, as a quotation: without whom it calls, and without small print; and
    with names instead of codes for commands, whose ids the model has no use for."""
    text = without_mentions(without_heard(_CALL.sub("", said)))
    lines = [line for line in text.splitlines() if not line.startswith(_SMALL_PRINT)]
    text = "\n".join(lines).strip()
    cut = text[:characters] + ("…" if len(text) > characters else "")
    return "\n".join(f"> {line}" for line in cut.splitlines())


def to_message(message: hikari.Message, bot: hikari.User, *, quoting: bool = False) -> Message:
    """The message as a channel's archive keeps it."""
    return Message(
        "assistant" if message.author.id == bot.id else "user",
        content_of(message, bot, quoting=quoting),
        author_id=int(message.author.id),
        author_name=name_of_author(message),
        discord_id=int(message.id),
        created_at=message.timestamp,
        tainted=names_others(message, int(bot.id)) or _is_named_by_others(message),
    )


def name_of_author(message: hikari.Message) -> str:
    """Return what its author is called where they wrote it."""
    user = message.member or message.author
    return user.display_name or user.username


def _is_named_by_others(message: hikari.Message) -> bool:
    """Return whether its author has a nickname in this server: who looks after the server may have chosen
    it."""
    return bool(message.member and message.member.nickname)


def _without_calls(text: str, bot_id: int) -> str:
    """Take off the bot's mentions at both ends. The end is taken off piece by piece: an expression that looks
    for it from every space of a long run would take minutes for a message full of them."""
    text = re.sub(rf"\A(?:<@!?{bot_id}>[\s,、:：]*)+", "", text)
    calls = (f"<@{bot_id}>", f"<@!{bot_id}>")
    while text.endswith(calls):
        text = text[: text.rindex("<")].rstrip()
    return text


def file_names(content: str) -> list[str]:
    """The names of the files of a message, as the archive keeps them."""
    lines = (line for line in content.splitlines() if line.startswith(FILE_NOTE) and line.endswith("]"))
    return [line[len(FILE_NOTE) : -1] for line in lines]


# ---- question files --------------------------------------------------------------------------------------
# The files of questions in channels. They go to the model with the question's own turn and are not stored.
#
# What Discord said of them is kept in memory while the question waits; after a restart, or when an answer is
# made anew, it is asked for once more. Files that can't go along are left out, and those who read the answer
# are told so, as is the model. A question of which no file can go along is refused, unless others are
# answered with it: nobody should wait for somebody else's mistake.

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
    def __init__(self, rest: hikari.api.RESTClient) -> None:
        self._rest = rest
        self._told: OrderedDict[int, Sequence[AskedFile]] = OrderedDict()

    def note(self, message: hikari.Message) -> None:
        """A question came with these files."""
        if message.attachments:
            self._told[int(message.id)] = asked_files(message)
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
                left_out += file_names(question.content)
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
        return await fetch_asked(told, room_bytes, heard=bool(question.heard))


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
