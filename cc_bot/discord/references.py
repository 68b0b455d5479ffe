"""Reads what a question refers to: replied and linked messages, a picture above, a menu command's message.

References that the author or the bot may not read are reported as not shown, as if they did not exist.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

import hikari
import structlog

from cc_bot.chat.context.tokens import YOU, with_author
from cc_bot.chat.stores.channels import ReadableMessage
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.turn import Emit
from cc_bot.discord.attachments import AttachmentFetcher, FetchedFiles, asked_file, asked_files, files_of
from cc_bot.discord.delivery.reply import is_unknown_message
from cc_bot.discord.incoming import (
    FILE_NOTE,
    ORDINARY_TYPES,
    contains_foreign_text,
    has_no_visible_content,
    name_of_author,
    replied_message_id,
    text_of,
    text_with_file_names,
    without_small_print,
)
from cc_bot.discord.interactions import Answerable, is_bot_dm, is_guild_install, message_link, retry
from cc_bot.discord.locations import Locations, LruCache, may_read
from cc_bot.domain.errors import AttachmentNotFetched, ChosenMessageHidden, ConversationNotShown, InputError
from cc_bot.domain.message import (
    FORWARD_NAME,
    Attachment,
    ChannelKey,
    Message,
    Reference,
    ReferenceKind,
    typed_part,
)
from cc_bot.domain.text import Locale, shorten
from cc_bot.domain.turn import AskedAbout, FilesLeftOut, MessagesRead, ReplyWithheld
from cc_bot.texts import texts
from cc_bot.texts.answer import AnswerTexts

_log = structlog.get_logger(__name__)

TARGET_TTL_S: Final = 3600.0  # Discord does not report deletions in channels that the bot is not in
MAX_CACHED: Final = 200
MAX_REPLY_CHAIN: Final = 3
MAX_LINKS: Final = 5
MAX_LINKS_REPORTED: Final = 10  # links after the first MAX_LINKS are reported as not shown
MAX_PICTURE_AGE: Final = timedelta(minutes=5)
MAX_PICTURE_DISTANCE: Final = 25
TIMEOUT_S: Final = 15.0  # then the question is asked without references
RETRY_PAUSES_S: Final = (1.0,)
MAX_MESSAGES: Final = 200  # of a conversation to summarize
MAX_CHARACTERS: Final = 24_000  # in the same; 18,000 tokens of Japanese
MAX_CHARACTERS_EACH: Final = 1000

_TYPES_READ: Final = ORDINARY_TYPES | {hikari.MessageType.CHAT_INPUT, hikari.MessageType.CONTEXT_MENU_COMMAND}
_ChannelAccess = dict[tuple[int, int], bool]  # by guild and channel: whether author and bot may read it
_CONTINUE_QUESTIONS: Final = frozenset(texts(locale)[AnswerTexts].continue_question for locale in Locale)
_LINK: Final = re.compile(
    r"https?://(?:(?:www|canary|ptb)\.)?discord(?:app)?\.com/channels/(@me|\d{1,19})/(\d{1,19})/(\d{1,19})"
)
_MENTIONS_PICTURE: Final = re.compile(
    r"写真|画像|写メ|イラスト|スクショ|スクリーンショット|こ[のれ]|こちら|上の|さっきの|今の"
    r"|\b(?:this|that|these|above|pictures?|photos?|images?|screenshots?|drawings?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class MenuTarget:
    message: hikari.Message
    interaction_id: int
    may_be_fetched: bool  # True if the bot is in the channel, and the message is not ephemeral


@dataclass(eq=False, slots=True)
class MessageCache:
    now_s: Callable[[], float] = time.monotonic
    _targets: LruCache[tuple[int, int], tuple[MenuTarget, float]] = field(
        default_factory=lambda: LruCache(MAX_CACHED)
    )
    _messages: LruCache[int, hikari.PartialMessage] = field(default_factory=lambda: LruCache(MAX_CACHED))

    def put_files_and_replied(self, message: hikari.PartialMessage) -> None:
        if message.message_snapshots or message.attachments:
            self._messages[int(message.id)] = message
        if message.referenced_message:
            self._messages[int(message.referenced_message.id)] = message.referenced_message

    def get(self, message_id: int) -> hikari.PartialMessage | None:
        return self._messages.get(message_id)

    def discard(self, message_id: int) -> None:
        self._messages.discard(message_id)

    def clear(self) -> None:
        self._messages = LruCache(MAX_CACHED)

    def put_target(self, user_id: int, target: MenuTarget) -> None:
        self._targets[user_id, int(target.message.id)] = target, self.now_s()

    def get_target(self, user_id: int, message_id: int) -> MenuTarget | None:
        target, cached_at_s = self._targets.get((user_id, message_id)) or (None, 0.0)
        if self.now_s() - cached_at_s < TARGET_TTL_S:
            return target
        self._targets.discard((user_id, message_id))
        return None


def is_bot_present(interaction: Answerable) -> bool:
    return is_bot_dm(interaction) or (interaction.guild_id is not None and is_guild_install(interaction))


def is_finished(message: hikari.Message) -> bool:
    """Return whether a message is by a user or a bot, and no longer shows "thinking"."""
    return message.type in _TYPES_READ and hikari.MessageFlag.LOADING not in message.flags


@dataclass(frozen=True, slots=True)
class QuestionLocation:
    channel_id: int
    guild_id: int | None
    id: int  # the id of the question's message or interaction


@dataclass(frozen=True, slots=True)
class _Resolution:
    reference: Reference
    message_id: int | None = None
    replied_id: int | None = None  # the message that this one replies to
    is_withheld: bool = False  # Discord does not give the bot its content
    left_out_files: tuple[str, ...] = ()


def _not_shown(kind: ReferenceKind) -> _Resolution:
    return _Resolution(Reference(kind, is_visible=False))


@dataclass(eq=False, slots=True)
class References:
    rest: hikari.api.RESTClient
    stores: Stores
    may_bot_read: Callable[[ChannelKey, int], Awaitable[bool]]  # whether the access rules allow it in a guild
    locations: Locations
    files: AttachmentFetcher
    bot: Callable[[], hikari.User]
    reads_all_messages: bool
    cache: MessageCache = field(default_factory=MessageCache)

    async def resolve(
        self, question: Message, location: QuestionLocation, emit: Emit, text_with_links: str = ""
    ) -> Message:
        """Return the question with its references. The links in `text_with_links`, if set, replace its own.
        Raises StorageError, ChosenMessageHidden and ConversationNotShown."""
        if question.reference_kind == "since":
            return await self._read_conversation(question, location, emit)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                replied = await self._read_reply_chain(question, location)
                links = typed_part(text_with_links) or question.typed_text
                linked = await self._read_links(links, question.author_id, location)
                pictures = () if replied or linked else await self._read_picture_above(question, location)
        except TimeoutError:
            _log.warning("references_not_read", error="TimeoutError")
            if question.reference_kind == "menu":
                raise ChosenMessageHidden from None
            reply = () if question.reply_to is None else (Reference("reply", is_visible=False),)
            return replace(question, references=reply)
        resolved = (*replied, *linked, *pictures)
        if replied:
            question = replace(question, reply_to=replied[0].message_id or question.reply_to)
        if left_out := tuple(name for each in resolved for name in each.left_out_files):
            emit(FilesLeftOut(left_out))
        is_withheld = any(each.is_withheld for each in resolved)
        if is_withheld and await self.stores.settings.claim_daily_menu_hint(question.author_id):
            emit(ReplyWithheld())
        if question.reference_kind == "menu" and question.visibility == "public":
            emit(AskedAbout(message_link(location.guild_id, location.channel_id, question.reply_to)))
        return replace(question, references=tuple(each.reference for each in resolved))

    async def resolve_again(
        self, user_id: int, answer_id: int, location: QuestionLocation, emit: Emit
    ) -> Sequence[Reference]:
        """Return the references of a stored answer's question. Raises like `resolve`."""
        question = await self.stores.sessions.get_question(user_id, answer_id)
        if question is None:
            return ()
        first = await self.find_question(user_id, answer_id)
        return (await self.resolve(question, location, emit, first.content if first else "")).references

    async def find_question(self, user_id: int, answer_id: int) -> Message | None:
        """Return an answer's question. A request to continue counts as the question that it continues."""
        question = await self.stores.sessions.get_question(user_id, answer_id)
        while question and question.id and question.content in _CONTINUE_QUESTIONS:
            question = await self.stores.sessions.get_question(user_id, question.id)
        return question

    async def fetch_forwards(self, location_id: int, ids: Sequence[int]) -> FetchedFiles:
        fetched_forwards = list[FetchedFiles]()
        for message_id in ids:
            message = self.cache.get(message_id) or await self._fetch(location_id, message_id)
            if message is None:
                continue
            fetched = await self._fetch_files(message)
            content = "\n".join((text_of(message, self.bot()), *fetched.unread_notes))
            text = Attachment(FORWARD_NAME, "text/plain", content.encode())
            files = tuple(replace(file, source_id=message_id) for file in (text, *fetched.files))
            fetched_forwards.append(FetchedFiles(files, fetched.left_out))
        return FetchedFiles.merge(fetched_forwards)

    async def fetch_files_of(self, question: Message, location_id: int, max_bytes: int) -> FetchedFiles:
        """Fetch the files of a question in a channel. Raises InputError if none can be read."""
        if FILE_NOTE not in question.content or question.discord_id is None:
            return FetchedFiles()
        message = self.cache.get(question.discord_id)
        try:
            message = message or await self.rest.fetch_message(location_id, question.discord_id)
        except hikari.HTTPError as error:
            raise AttachmentNotFetched from error
        return await self.files.fetch(asked_files(message), max_bytes, skip_recordings=bool(question.heard))

    async def _read_reply_chain(self, question: Message, location: QuestionLocation) -> Sequence[_Resolution]:
        if question.reference_kind == "menu":
            return (await self._read_target(question, location),)
        chain, next_id = list[_Resolution](), question.reply_to
        while next_id is not None and len(chain) < MAX_REPLY_CHAIN:
            kind: ReferenceKind = "reply_of_reply" if chain else "reply"
            chain.append(await self._read_replied(kind, next_id, question.author_id, location))
            next_id = chain[-1].replied_id
        return chain

    async def _read_replied(
        self, kind: ReferenceKind, message_id: int, author_id: int, location: QuestionLocation
    ) -> _Resolution:
        """A message from before the channel's reset is shown only if it belongs to the author's session."""
        archived, reset_id = await self.stores.channels.get_if_readable(
            message_id, location.channel_id, author_id
        )
        is_from_own_session = archived is not None and archived.user_id == author_id
        if location.guild_id and message_id <= reset_id and not is_from_own_session:
            return _not_shown(kind)
        if archived:
            needs_files = kind == "reply" or FILE_NOTE in archived.message.content
            if archived.message.role == "assistant" or not needs_files:
                return _from_archive(kind, archived, author_id)
        message = self.cache.get(message_id)
        message = message or await self._fetch(location.channel_id, message_id, stored=archived is not None)
        resolved = await self._resolve_message(kind, message, author_id, location)
        archived_name = archived.message.author_name if archived and resolved.reference.author_name else ""
        if not archived_name:
            return resolved
        return replace(resolved, reference=replace(resolved.reference, author_name=archived_name))

    async def _fetch(
        self, location_id: int, message_id: int, *, stored: bool = False
    ) -> hikari.Message | None:
        """`stored`: if Discord no longer knows the message, delete it from the archive."""
        try:
            return await retry(lambda: self.rest.fetch_message(location_id, message_id), RETRY_PAUSES_S)
        except hikari.NotFoundError as error:
            if stored and is_unknown_message(error):
                await self.stores.channels.delete((message_id,), location_id=location_id)
        except hikari.HikariError as error:
            _log.info("reference_not_read", error=type(error).__name__)
        return None

    async def _resolve_message(
        self,
        kind: ReferenceKind,
        message: hikari.PartialMessage | None,
        author_id: int,
        location: QuestionLocation,
    ) -> _Resolution:
        if message is None or not message.author:
            return _not_shown(kind)
        bot = self.bot()
        is_by_bot, replied_id = message.author.id == bot.id, replied_message_id(message)
        if has_no_visible_content(message):
            is_withheld = not (is_by_bot or self.reads_all_messages or location.guild_id is None)
            return replace(_not_shown(kind), replied_id=replied_id, is_withheld=is_withheld)
        fetched = await self._fetch_files(message)
        is_tainted = message.author.id != author_id or contains_foreign_text(message, int(bot.id))
        if is_by_bot and (notification := await self.stores.archive.get_notification(int(message.id))):
            owner_id, sent = notification
            is_tainted = owner_id != author_id or sent.tainted
        reference = Reference(
            kind,
            "\n".join((_shown_text(message, bot), *fetched.unread_notes)),
            "" if is_by_bot else name_of_author(message),
            int(message.author.id),
            fetched.files,
            tainted=is_tainted,
        )
        return _Resolution(reference, int(message.id), replied_id, left_out_files=fetched.left_out)

    async def _fetch_files(self, message: hikari.PartialMessage) -> FetchedFiles:
        files = [asked_file(file) for file in files_of(message)]
        try:
            return await self.files.fetch(files)
        except InputError as error:
            _log.info("file_left_out", error=type(error).__name__)
            return FetchedFiles(left_out=tuple(file.name for file in files))

    async def _read_links(
        self, text: str, author_id: int, location: QuestionLocation
    ) -> Sequence[_Resolution]:
        links = list(dict.fromkeys(_LINK.findall(text)))
        readable = _ChannelAccess()
        resolved = [await self._read_link(link, readable, author_id, location) for link in links[:MAX_LINKS]]
        return [*resolved, *[_not_shown("link")] * len(links[MAX_LINKS:MAX_LINKS_REPORTED])]

    async def _read_link(
        self, link: Sequence[str], readable: _ChannelAccess, author_id: int, location: QuestionLocation
    ) -> _Resolution:
        guild, channel, message = link
        if guild == "@me" or int(message) == location.id or location.guild_id not in (None, int(guild)):
            return _not_shown("link")
        guild_id, channel_id = int(guild), int(channel)
        if (guild_id, channel_id) not in readable:
            readable[guild_id, channel_id] = await self._may_read(author_id, guild_id, channel_id)
        if not readable[guild_id, channel_id]:
            return _not_shown("link")
        fetched = await self._fetch(channel_id, int(message))
        return await self._resolve_message("link", fetched, author_id, location)

    async def _may_read(self, author_id: int, guild_id: int, channel_id: int) -> bool:
        try:
            channel = await retry(lambda: self.rest.fetch_channel(channel_id), RETRY_PAUSES_S)
            location = await self.locations.get(channel_id, channel)
            if location.guild_id != guild_id or not await self.may_bot_read(location.key, guild_id):
                return False
            return await retry(lambda: may_read(self.rest, guild_id, channel, author_id), RETRY_PAUSES_S)
        except hikari.HikariError as error:
            _log.info("reference_not_read", error=type(error).__name__)
            return False

    async def _read_target(self, question: Message, location: QuestionLocation) -> _Resolution:
        """Prefer the interaction's message, then a fetched, then a cached one. Raises ChosenMessageHidden."""
        message_id = question.reply_to or 0
        target = self.cache.get_target(question.author_id, message_id)
        message = target.message if target else None
        if target is None or (target.interaction_id != location.id and target.may_be_fetched):
            try:
                message = _prefer_visible(
                    await self.rest.fetch_message(location.channel_id, message_id), target
                )
            except hikari.NotFoundError:
                message = None
            except hikari.HikariError as error:
                _log.info("reference_not_read", error=type(error).__name__)
        if message is None or has_no_visible_content(message):
            raise ChosenMessageHidden
        return await self._resolve_message("menu", message, question.author_id, location)

    async def _read_conversation(self, question: Message, location: QuestionLocation, emit: Emit) -> Message:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                messages = await self._fetch_conversation(question, location)
                more = len(messages) > MAX_MESSAGES + 1
                readable = [message for message in messages[: MAX_MESSAGES + 1] if is_finished(message)]
                lines, counts = self._transcript(readable, more=more)
                has_target = bool(readable) and readable[0].id == question.reply_to
                files = (await self._fetch_files(readable[0])).files if has_target else ()
        except TimeoutError:
            raise ConversationNotShown from None
        if not lines:
            raise ConversationNotShown
        first = next(message for message in readable if not has_no_visible_content(message))
        is_by_bot = first.author.id == self.bot().id
        name, author_id = "" if is_by_bot else name_of_author(first), int(first.author.id)
        readable_files = tuple(file for file in files if not file.is_recording)
        reference = Reference("since", "\n".join(lines), name, author_id, readable_files)
        if counts:
            emit(counts)
        return replace(question, references=(reference,))

    async def _fetch_conversation(
        self, question: Message, location: QuestionLocation
    ) -> Sequence[hikari.Message]:
        """Return the menu's message and those after it, oldest first, at most one more than the limit."""
        first_id = question.reply_to or 0
        author_id, guild_id = question.author_id, location.guild_id
        if guild_id is not None and not await self._may_read(author_id, guild_id, location.channel_id):
            raise ConversationNotShown
        try:
            found = await self.rest.fetch_messages(location.channel_id, after=first_id - 1).limit(
                MAX_MESSAGES + 2
            )
        except hikari.HikariError as error:
            _log.info("conversation_not_read", error=type(error).__name__)
            raise ConversationNotShown from error
        target, messages = self.cache.get_target(author_id, first_id), sorted(found, key=lambda m: m.id)
        if messages and messages[0].id == first_id:
            return (_prefer_visible(messages[0], target), *messages[1:])
        return (target.message, *messages) if target and not target.may_be_fetched else messages

    def _transcript(
        self, readable: Sequence[hikari.Message], *, more: bool
    ) -> tuple[Sequence[str], MessagesRead | None]:
        """Return a line per message, and the counts unless all messages are in the lines."""
        lines, total, characters_left, bot = list[str](), 0, MAX_CHARACTERS, self.bot()
        for message in readable:
            line = ""
            if not has_no_visible_content(message):
                is_by_bot = message.author.id == bot.id
                name, author_id = (YOU, 0) if is_by_bot else (name_of_author(message), int(message.author.id))
                line = with_author(name, author_id, shorten(_shown_text(message, bot), MAX_CHARACTERS_EACH))
            characters_left -= len(line)
            if characters_left < 0:
                more = True
                break
            total += 1
            lines.extend(filter(None, (line,)))
        counts = MessagesRead(len(lines), total, more)
        return lines, counts if more or counts.read < total else None

    async def _read_picture_above(
        self, question: Message, location: QuestionLocation
    ) -> Sequence[_Resolution]:
        is_about_picture = _MENTIONS_PICTURE.search(question.content) and not question.attachments
        if not (is_about_picture and self.reads_all_messages and location.guild_id is not None):
            return ()
        since = hikari.Snowflake(location.id).created_at - MAX_PICTURE_AGE
        try:
            above = await self.rest.fetch_messages(location.channel_id, before=location.id).limit(
                MAX_PICTURE_DISTANCE
            )
        except hikari.HikariError as error:
            _log.info("reference_not_read", error=type(error).__name__)
            return ()
        for message in above:
            is_recent = message.author.id == question.author_id and message.created_at > since
            if is_recent and any((file.media_type or "").startswith("image/") for file in files_of(message)):
                return (await self._resolve_message("picture_above", message, question.author_id, location),)
        return ()


def _shown_text(message: hikari.PartialMessage, bot: hikari.User) -> str:
    is_by_bot = message.author and message.author.id == bot.id
    return (is_by_bot and without_small_print(message.content or "")) or text_with_file_names(message, bot)


def _from_archive(kind: ReferenceKind, archived: ReadableMessage, author_id: int) -> _Resolution:
    message, is_by_bot = archived.message, archived.message.role == "assistant"
    is_by_author = archived.user_id == author_id if is_by_bot else message.author_id == author_id
    reference = Reference(
        kind,
        message.content,
        "" if is_by_bot else message.author_name,
        message.author_id,
        tainted=message.tainted or not is_by_author,
    )
    return _Resolution(reference, message.discord_id, message.reply_to)


def _prefer_visible(message: hikari.Message, target: MenuTarget | None) -> hikari.Message:
    """If Discord withholds the fetched text, return the menu's message, unless it was edited since."""
    if target is None or not has_no_visible_content(message):
        return message
    return target.message if target.message.edited_timestamp == message.edited_timestamp else message


def text_if_linking(text: str) -> str:
    return text if _LINK.search(text) else ""
