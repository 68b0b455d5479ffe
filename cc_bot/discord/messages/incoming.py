"""A message of Discord as the model is to read it, and whom it is meant for. Nothing is sent or looked up."""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import hikari
import structlog

from cc_bot.discord.attachments import MAX_BYTES, Fetched, fetch_attachments, on_one_line, with_files
from cc_bot.discord.pages.custom_ids import AnswerButton, StopButton, parse_custom_id
from cc_bot.domain.errors import AttachmentNotFetched, InputError
from cc_bot.domain.message import Message, is_blank
from cc_bot.domain.text import shorten
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
    """Return whether there is nothing to read: no text, no files, nothing beside them, or nothing that
    Discord shows the bot."""
    beside = (
        message.embeds or message.poll or message.stickers or any(map(_says_something, _forwards(message)))
    )
    return is_blank(message.content or "") and not (message.attachments or beside)


def asks_nothing(message: hikari.Message, bot: hikari.User) -> bool:
    """Return whether it only calls the bot, and points at nothing either."""
    is_reply = message.type is hikari.MessageType.REPLY
    return not (is_reply or files_of(message)) and is_blank(text_of(message, bot))


def text_of(message: hikari.PartialMessage, bot: hikari.User) -> str:
    """Return what it says and shows beside that, with names instead of Discord's codes for people and
    commands.

    The bot's own name is left out where it only calls it: at the beginning and at the end.
    """
    typed = typed_text_of(message, bot)
    return "\n".join(filter(None, (typed, *_beside(message, bot))))


def typed_text_of(message: hikari.PartialMessage, bot: hikari.User) -> str:
    """Return what its author has typed, written in the same way."""
    text = _without_calls((message.content or "").strip(), int(bot.id))
    return _with_names(text, message.user_mentions or {}, bot)


def files_of(message: hikari.PartialMessage) -> tuple[hikari.Attachment, ...]:
    """List its files, and those of what it forwards."""
    forwarded = (file for snapshot in _forwards(message) for file in snapshot.attachments)
    return (*(message.attachments or ()), *forwarded)


def names_others(message: hikari.PartialMessage, bot_id: int) -> bool:
    """Return whether what it says, as `content_of` has it, holds words that its author did not choose: names
    of people that it mentions and of files, what pages say that it links to, what it forwards."""
    shows_others = message.embeds or files_of(message) or _forwards(message)
    return bool(shows_others) or any(user_id != bot_id for user_id in message.user_mentions or ())


def content_of(message: hikari.PartialMessage, bot: hikari.User, *, quoting: bool = False) -> str:
    """Return what a channel's archive keeps of it: what it says, and the names of its files.

    `quoting`: the bot's message that it replies to is not in the archive, so the beginning of that stands
    before it. Nothing is ever quoted of other people: what they delete must be gone.
    """
    answer = reply_target(message, int(bot.id)) if quoting else None
    quote = quotation(answer.content or "") if answer else ""
    called = f"@{bot.username}" if message.referenced_message and not files_of(message) else ""
    files = [f"{FILE_NOTE}{on_one_line(file.filename)}]" for file in files_of(message)]
    return "\n".join(filter(None, (quote, text_of(message, bot) or called, *files)))


def quotation(said: str, characters: int = QUOTED_CHARACTERS) -> str:
    """The beginning of what the bot said, as a quotation: without whom it calls, and without small print; and
    with names instead of codes for commands, whose ids the model has no use for."""
    text = without_mentions(_CALL.sub("", said))
    lines = [line for line in text.splitlines() if not line.startswith(_SMALL_PRINT)]
    text = "\n".join(lines).strip()
    cut = text[:characters] + ("…" if len(text) > characters else "")
    return _quoted(cut)


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


def _with_names(text: str, people: Mapping[hikari.Snowflake, hikari.User], bot: hikari.User) -> str:
    """Write names instead of codes for people and commands."""

    def named(mention: re.Match[str]) -> str:
        user = bot if int(mention[1]) == bot.id else people.get(hikari.Snowflake(mention[1]))
        return f"@{on_one_line(user.display_name or user.username)}" if user else mention[0]

    return without_mentions(_USER.sub(named, text)).strip()


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


# ---- beside ----------------------------------------------------------------------------------------------
# What a message shows beside its text: previews of links and what bots compose, polls, stickers, and what it
# forwards. What is not its author's own stands in quotation marks, so that none of it can pass for theirs.

EMBEDS: Final = 5
EMBED_CHARACTERS: Final = 800
"""Of one embed: Discord lets it have 6,000, which would drown what is said about it."""


def _beside(message: hikari.PartialMessage, bot: hikari.User) -> Iterator[str]:
    yield from _embedded(message.embeds or ())
    if message.poll:
        yield _poll_text(message.poll)
    yield from _named_stickers(message.stickers or ())
    yield from (_forward_text(snapshot, bot) for snapshot in _forwards(message))


def _embedded(embeds: Sequence[hikari.Embed]) -> Iterator[str]:
    for embed in embeds[:EMBEDS]:
        author = embed.author.name if embed.author else None
        fields = (f"{field.name}: {field.value}" for field in embed.fields)
        footer = embed.footer.text if embed.footer else None
        said = "\n".join(filter(None, (author, embed.title, embed.description, *fields, footer)))
        if not is_blank(said):
            yield f"[embed]\n{_quoted(shorten(without_mentions(said), EMBED_CHARACTERS))}"


def _poll_text(poll: hikari.polls.Poll) -> str:
    """The question and its answers, with their votes as far as they are known."""
    results = poll.results
    votes = {each.id: each.count for each in results.answer_counts} if results else {}
    counted = [f": {votes.get(answer.answer_id, 0)}" if results else "" for answer in poll.answers]
    lines = (
        f"- {_media_text(answer.poll_media)}{count}"
        for answer, count in zip(poll.answers, counted, strict=True)
    )
    kind = "poll, closed" if results and results.is_finalized else "poll"
    return "\n".join((f"[{kind}] {_media_text(poll.question)}", *lines))


def _media_text(media: hikari.polls.PollMedia) -> str:
    return on_one_line(f"{media.emoji or ''} {media.text or ''}")


def _named_stickers(stickers: Sequence[hikari.stickers.PartialSticker]) -> Iterator[str]:
    return (f"[sticker: {on_one_line(sticker.name)}]" for sticker in stickers)


def _forwards(message: hikari.PartialMessage) -> Sequence[hikari.messages.MessageSnapshot]:
    return message.message_snapshots or ()


def _says_something(snapshot: hikari.messages.MessageSnapshot) -> bool:
    return bool(snapshot.content or snapshot.embeds or snapshot.attachments or snapshot.stickers)


def _forward_text(snapshot: hikari.messages.MessageSnapshot, bot: hikari.User) -> str:
    typed = _with_names(snapshot.content or "", snapshot.user_mentions, bot)
    said = (typed, *_embedded(snapshot.embeds), *_named_stickers(snapshot.stickers))
    return "\n".join(filter(None, ("[forwarded message]", _quoted("\n".join(filter(None, said))))))


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


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
        self._told: OrderedDict[int, Sequence[hikari.Attachment]] = OrderedDict()

    def note(self, message: hikari.Message) -> None:
        """A question came with these files."""
        if files := files_of(message):
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
                told = files_of(await self._rest.fetch_message(place_id, question.discord_id))
            except hikari.HTTPError as error:
                raise AttachmentNotFetched from error
        return await fetch_attachments(told, room_bytes)


def without_files(questions: Sequence[Message]) -> tuple[Message, ...]:
    """The questions, with a word on the files that the model did not take; as they are without any."""
    if not any(question.attachments for question in questions):
        return tuple(questions)
    return tuple(_without_files(question, "the model refused them") for question in questions)


def _without_files(question: Message, reason: str) -> Message:
    """The question as it is, or with a word on what becomes of its files."""
    if FILE_NOTE not in question.content:
        return question
    note = NOT_SHOWN.format(reason=reason)
    return replace(question, content=f"{question.content}\n{note}", attachments=())
