"""References of a question: the message that it replies to and those above, linked messages, and the picture
right above it; or the message of a menu command, and those after it.

Only the id of the message replied to is stored. Messages that the author or the bot may not read are reported
as not shown, whether they exist or not.
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
from cc_bot.chat.stores.channels import Said
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.turn import Emit
from cc_bot.discord.attachments import AttachmentFetcher, Fetched, asked_file, asked_files, files_of
from cc_bot.discord.delivery.reply import is_gone
from cc_bot.discord.incoming import (
    FILE_NOTE,
    ORDINARY,
    contains_foreign_text,
    content_of,
    has_no_visible_content,
    name_of_author,
    reply_to,
    text_of,
    without_small_print,
)
from cc_bot.discord.interactions import Answerable, is_bot_dm, message_link, retry
from cc_bot.discord.places import LruCache, Places, may_read
from cc_bot.domain.errors import AttachmentNotFetched, ConversationNotShown, InputError, TargetNotShown
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

KEPT_S: Final = 3600.0
"""Elsewhere the bot is not notified of deletions."""
MAX_CACHED: Final = 200
CHAIN: Final = 3
LINKS: Final = 5
LINKS_TOLD: Final = 10
"""Reported to the model as not shown."""
PICTURE_WITHIN: Final = timedelta(minutes=5)
PICTURE_AMONG: Final = 25
TIMEOUT_S: Final = 15.0
"""Then the question is asked without references."""
RETRY_PAUSES_S: Final = (1.0,)
FOLLOWING: Final = 200
FOLLOWING_CHARACTERS: Final = 24_000
"""18,000 tokens of Japanese."""
FOLLOWING_EACH: Final = 1000

_SAID: Final = ORDINARY | {hikari.MessageType.CHAT_INPUT, hikari.MessageType.CONTEXT_MENU_COMMAND}
_GO_ON: Final = frozenset(texts(locale)[AnswerTexts].continue_question for locale in Locale)
_LINK: Final = re.compile(
    r"https?://(?:(?:www|canary|ptb)\.)?discord(?:app)?\.com/channels/(@me|\d{1,19})/(\d{1,19})/(\d{1,19})"
)
_POINTS_AT_PICTURE: Final = re.compile(
    r"写真|画像|写メ|イラスト|スクショ|スクリーンショット|こ[のれ]|こちら|上の|さっきの|今の"
    r"|\b(?:this|that|these|above|pictures?|photos?|images?|screenshots?|drawings?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Target:
    """A menu command's message, as Discord sent it."""

    message: hikari.Message
    interaction_id: int
    may_be_fetched: bool
    """True if the bot is in its channel, and it is not ephemeral."""


@dataclass(eq=False, slots=True)
class Targets:
    """Messages that came with others, kept in memory, never stored.

    Those of menu commands are kept per user, as the bot may see their content only there. Others save
    requests.
    """

    now_s: Callable[[], float] = time.monotonic
    _kept: LruCache[tuple[int, int], tuple[Target, float]] = field(
        default_factory=lambda: LruCache(MAX_CACHED)
    )
    _brought: LruCache[int, hikari.PartialMessage] = field(default_factory=lambda: LruCache(MAX_CACHED))

    def note(self, message: hikari.PartialMessage) -> None:
        """Cache a message with forwards or files, and the one that it replies to."""
        if message.message_snapshots or message.attachments:
            self._brought[int(message.id)] = message
        if message.referenced_message:
            self._brought[int(message.referenced_message.id)] = message.referenced_message

    def get_brought(self, message_id: int) -> hikari.PartialMessage | None:
        return self._brought.get(message_id)

    def forget(self, message_id: int) -> None:
        self._brought.discard(message_id)

    def forget_brought(self) -> None:
        self._brought = LruCache(MAX_CACHED)

    def keep(self, user_id: int, target: Target) -> None:
        self._kept[user_id, int(target.message.id)] = target, self.now_s()

    def get(self, user_id: int, message_id: int) -> Target | None:
        """None after KEPT_S."""
        target, at_s = self._kept.get((user_id, message_id)) or (None, 0.0)
        if self.now_s() - at_s < KEPT_S:
            return target
        self._kept.discard((user_id, message_id))
        return None


def is_present(interaction: Answerable) -> bool:
    """Return whether the bot itself is in the channel."""
    by_guild = hikari.ApplicationIntegrationType.GUILD_INSTALL in interaction.authorizing_integration_owners
    return is_bot_dm(interaction) or (interaction.guild_id is not None and by_guild)


def is_said(message: hikari.Message) -> bool:
    """Return whether it is a user's or bot's message that no longer shows "thinking"."""
    return message.type in _SAID and hikari.MessageFlag.LOADING not in message.flags


@dataclass(frozen=True, slots=True)
class QuestionLocation:
    place_id: int
    guild_id: int | None
    id: int


@dataclass(frozen=True, slots=True)
class _Found:
    reference: Reference
    id: int | None = None
    reply_to: int | None = None
    withheld: bool = False
    left_out: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class References:
    rest: hikari.api.RESTClient
    stores: Stores
    may_be_read: Callable[[ChannelKey, int], Awaitable[bool]]
    """True if the operator lets the bot read a channel."""
    places: Places
    files: AttachmentFetcher
    bot: Callable[[], hikari.User]
    reads_all: bool
    targets: Targets = field(default_factory=Targets)

    async def resolve(
        self, question: Message, at: QuestionLocation, emit: Emit, links_in: str = ""
    ) -> Message:
        """Return the question with its references. Links are read from `links_in` if given. Raises
        StorageError, and TargetNotShown or ConversationNotShown if the message of a menu command can't be
        read."""
        if question.pointing == "since":
            return await self._conversation(question, at, emit)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                replied = await self._chain(question, at)
                links = typed_part(links_in) or question.typed
                linked = await self._read_links(links, question.author_id, at)
                pictures = () if replied or linked else await self._picture_above(question, at)
        except TimeoutError:
            _log.warning("references_not_read", error="TimeoutError")
            if question.pointing == "menu":
                raise TargetNotShown from None
            not_shown = () if question.reply_to is None else (Reference("reply", shown=False),)
            return replace(question, references=not_shown)
        found = (*replied, *linked, *pictures)
        if replied:
            question = replace(question, reply_to=replied[0].id or question.reply_to)
        if left_out := tuple(name for each in found for name in each.left_out):
            emit(FilesLeftOut(left_out))
        withheld = any(each.withheld for each in found)
        if withheld and await self.stores.settings.claim_menu_hint(question.author_id):
            emit(ReplyWithheld())
        if question.pointing == "menu" and question.visibility == "public":
            emit(AskedAbout(message_link(at.guild_id, at.place_id, question.reply_to)))
        return replace(question, references=tuple(each.reference for each in found))

    async def resolve_again(
        self, user_id: int, answer_id: int, at: QuestionLocation, emit: Emit
    ) -> Sequence[Reference]:
        """Return the references of the question of a session's answer. Raises as `resolve`."""
        question = await self.stores.sessions.get_question(user_id, answer_id)
        if question is None:
            return ()
        first = await self.find_question(user_id, answer_id)
        return (await self.resolve(question, at, emit, first.content if first else "")).references

    async def find_question(self, user_id: int, answer_id: int) -> Message | None:
        """Skips requests to continue its answer."""
        question = await self.stores.sessions.get_question(user_id, answer_id)
        while question and question.id and question.content in _GO_ON:
            question = await self.stores.sessions.get_question(user_id, question.id)
        return question

    async def open_forwards(self, place_id: int, ids: Sequence[int]) -> Fetched:
        opened = list[Fetched]()
        for message_id in ids:
            message = self.targets.get_brought(message_id) or await self._fetch(place_id, message_id)
            if message is None:
                continue
            found = await self._files(message)
            said = "\n".join((text_of(message, self.bot()), *found.not_read))
            text = Attachment(FORWARD_NAME, "text/plain", said.encode())
            shown = tuple(replace(file, source_id=message_id) for file in (text, *found.files))
            opened.append(Fetched(shown, found.left_out))
        return Fetched.of(opened)

    async def fetch_files_of(self, question: Message, place_id: int, room_bytes: int) -> Fetched:
        """Raises InputError if no file can be read."""
        if FILE_NOTE not in question.content or question.discord_id is None:
            return Fetched()
        message = self.targets.get_brought(question.discord_id)
        try:
            message = message or await self.rest.fetch_message(place_id, question.discord_id)
        except hikari.HTTPError as error:
            raise AttachmentNotFetched from error
        return await self.files.fetch(asked_files(message), room_bytes, heard=bool(question.heard))

    async def _chain(self, question: Message, at: QuestionLocation) -> Sequence[_Found]:
        if question.pointing == "menu":
            return (await self._asked_about(question, at),)
        found, next_id = list[_Found](), question.reply_to
        while next_id is not None and len(found) < CHAIN:
            pointing: ReferenceKind = "above" if found else "reply"
            found.append(await self._read_replied(pointing, next_id, question.author_id, at))
            next_id = found[-1].reply_to
        return found

    async def _read_replied(
        self, pointing: ReferenceKind, message_id: int, asker_id: int, at: QuestionLocation
    ) -> _Found:
        """Read a message of the question's channel, from the archive if it is complete there. Before a reset,
        only the author's own session is read."""
        said, reset_id = await self.stores.channels.get_said(message_id, at.place_id, asker_id)
        own = said is not None and said.user_id == asker_id
        if at.guild_id and message_id <= reset_id and not own:
            return _Found(Reference(pointing, shown=False))
        if said and (
            said.message.role == "assistant"
            or (pointing == "above" and FILE_NOTE not in said.message.content)
        ):
            return _as_stored(pointing, said, asker_id)
        message = self.targets.get_brought(message_id)
        message = message or await self._fetch(at.place_id, message_id, stored=said is not None)
        found = await self._read(pointing, message, asker_id, at)
        called = said.message.author_name if said and found.reference.author_name else ""
        return replace(found, reference=replace(found.reference, author_name=called)) if called else found

    async def _fetch(self, place_id: int, message_id: int, *, stored: bool = False) -> hikari.Message | None:
        """None on failure. `stored`: the archive has it in this channel, and deletes it if Discord no longer
        knows it. Never set for links."""
        try:
            return await retry(lambda: self.rest.fetch_message(place_id, message_id), RETRY_PAUSES_S)
        except hikari.NotFoundError as error:
            if stored and is_gone(error):
                await self.stores.channels.delete((message_id,), place_id=place_id)
        except hikari.HikariError as error:
            _log.info("reference_not_read", error=type(error).__name__)
        return None

    async def _read(
        self, kind: ReferenceKind, message: hikari.PartialMessage | None, asker_id: int, at: QuestionLocation
    ) -> _Found:
        if message is None or not message.author:
            return _Found(Reference(kind, shown=False))
        bot = self.bot()
        own, answers = message.author.id == bot.id, reply_to(message)
        if has_no_visible_content(message):
            withheld = not (own or self.reads_all or at.guild_id is None)
            return _Found(Reference(kind, shown=False), None, answers, withheld)
        found = await self._files(message)
        foreign = message.author.id != asker_id or contains_foreign_text(message, int(bot.id))
        if own and (posted := await self.stores.archive.get_said(int(message.id))):
            owner_id, reminder = posted
            foreign = owner_id != asker_id or reminder.tainted
        reference = Reference(
            kind,
            "\n".join((_said_by(message, bot), *found.not_read)),
            "" if own else name_of_author(message),
            int(message.author.id),
            found.files,
            tainted=foreign,
        )
        return _Found(reference, int(message.id), answers, left_out=found.left_out)

    async def _files(self, message: hikari.PartialMessage) -> Fetched:
        files = [asked_file(file) for file in files_of(message)]
        try:
            return await self.files.fetch(files)
        except InputError as error:
            _log.info("file_left_out", error=type(error).__name__)
            return Fetched(left_out=tuple(file.name for file in files))

    async def _read_links(self, text: str, asker_id: int, at: QuestionLocation) -> Sequence[_Found]:
        """The others than the first LINKS are not shown."""
        links = list(dict.fromkeys(_LINK.findall(text)))
        readable = dict[tuple[int, int], bool]()
        found = [await self._link(link, readable, asker_id, at) for link in links[:LINKS]]
        return [*found, *[_Found(Reference("link", shown=False))] * len(links[LINKS:LINKS_TOLD])]

    async def _link(
        self, link: Sequence[str], readable: dict[tuple[int, int], bool], asker_id: int, at: QuestionLocation
    ) -> _Found:
        guild, channel, message = link
        not_shown = _Found(Reference("link", shown=False))
        if guild == "@me" or int(message) == at.id or at.guild_id not in (None, int(guild)):
            return not_shown
        guild_id, channel_id = int(guild), int(channel)
        if (guild_id, channel_id) not in readable:
            readable[guild_id, channel_id] = await self._is_for(asker_id, guild_id, channel_id)
        if not readable[guild_id, channel_id]:
            return not_shown
        found = await self._read("link", await self._fetch(channel_id, int(message)), asker_id, at)
        return replace(found, reply_to=None)

    async def _is_for(self, asker_id: int, guild_id: int, channel_id: int) -> bool:
        try:
            channel = await retry(lambda: self.rest.fetch_channel(channel_id), RETRY_PAUSES_S)
            place = await self.places.get(channel_id, channel)
            if place.guild_id != guild_id or not await self.may_be_read(place.key, guild_id):
                return False
            return await retry(lambda: may_read(self.rest, guild_id, channel, asker_id), RETRY_PAUSES_S)
        except hikari.HikariError as error:
            _log.info("reference_not_read", error=type(error).__name__)
            return False

    async def _asked_about(self, question: Message, at: QuestionLocation) -> _Found:
        """Use the message as it came with this interaction, else as it is now, or as it came before if it
        can't be fetched. Raises TargetNotShown."""
        message_id = question.reply_to or 0
        target = self.targets.get(question.author_id, message_id)
        message = target.message if target else None
        if target is None or (target.interaction_id != at.id and target.may_be_fetched):
            try:
                message = _prefer_visible(await self.rest.fetch_message(at.place_id, message_id), target)
            except hikari.NotFoundError:
                message = None
            except hikari.HikariError as error:
                _log.info("reference_not_read", error=type(error).__name__)
        if message is None or has_no_visible_content(message):
            raise TargetNotShown
        return replace(await self._read("menu", message, question.author_id, at), reply_to=None)

    async def _conversation(self, question: Message, at: QuestionLocation, emit: Emit) -> Message:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                messages = await self._from(question, at)
                more = len(messages) > FOLLOWING + 1
                said = [message for message in messages[: FOLLOWING + 1] if is_said(message)]
                lines, read = self._transcript(said, more=more)
                starts = bool(said) and said[0].id == question.reply_to
                files = (await self._files(said[0])).files if starts else ()
        except TimeoutError:
            raise ConversationNotShown from None
        if not lines:
            raise ConversationNotShown
        first = next(message for message in said if not has_no_visible_content(message))
        own = first.author.id == self.bot().id
        name, author_id = "" if own else name_of_author(first), int(first.author.id)
        shown = tuple(file for file in files if not file.is_recording)  # only the question's are transcribed
        reference = Reference("since", "\n".join(lines), name, author_id, shown)
        if read:
            emit(read)
        return replace(question, references=(reference,))

    async def _from(self, question: Message, at: QuestionLocation) -> Sequence[hikari.Message]:
        """Oldest first, at most one too many."""
        first_id = question.reply_to or 0
        if at.guild_id is not None and not await self._is_for(question.author_id, at.guild_id, at.place_id):
            raise ConversationNotShown
        try:
            found = await self.rest.fetch_messages(at.place_id, after=first_id - 1).limit(FOLLOWING + 2)
        except hikari.HikariError as error:
            _log.info("conversation_not_read", error=type(error).__name__)
            raise ConversationNotShown from error
        target, messages = self.targets.get(question.author_id, first_id), sorted(found, key=lambda m: m.id)
        if messages and messages[0].id == first_id:
            return (_prefer_visible(messages[0], target), *messages[1:])
        return (target.message, *messages) if target and not target.may_be_fetched else messages

    def _transcript(
        self, said: Sequence[hikari.Message], *, more: bool
    ) -> tuple[Sequence[str], MessagesRead | None]:
        """Return a line per message, and how many were read, if not all."""
        lines, total, room, bot = list[str](), 0, FOLLOWING_CHARACTERS, self.bot()
        for message in said:
            line = ""
            if not has_no_visible_content(message):
                own = message.author.id == bot.id
                name, author_id = (YOU, 0) if own else (name_of_author(message), int(message.author.id))
                line = with_author(name, author_id, shorten(_said_by(message, bot), FOLLOWING_EACH))
            room -= len(line)
            if room < 0:
                more = True
                break
            total += 1
            lines.extend(filter(None, (line,)))
        read = MessagesRead(len(lines), total, more)
        return lines, read if more or read.read < total else None

    async def _picture_above(self, question: Message, at: QuestionLocation) -> Sequence[_Found]:
        """Read the author's newest picture above a question that refers to one, except in DMs."""
        asks = _POINTS_AT_PICTURE.search(question.content) and not question.attachments
        if not (asks and self.reads_all and at.guild_id is not None):
            return ()
        since = hikari.Snowflake(at.id).created_at - PICTURE_WITHIN
        try:
            above = await self.rest.fetch_messages(at.place_id, before=at.id).limit(PICTURE_AMONG)
        except hikari.HikariError as error:
            _log.info("reference_not_read", error=type(error).__name__)
            return ()
        for message in above:
            is_recent = message.author.id == question.author_id and message.created_at > since
            if is_recent and any((file.media_type or "").startswith("image/") for file in files_of(message)):
                return (await self._read("picture", message, question.author_id, at),)
        return ()


def _said_by(message: hikari.PartialMessage, bot: hikari.User) -> str:
    own = message.author and message.author.id == bot.id
    return (own and without_small_print(message.content or "")) or content_of(message, bot)


def _as_stored(pointing: ReferenceKind, said: Said, asker_id: int) -> _Found:
    message, own = said.message, said.message.role == "assistant"
    mine = said.user_id == asker_id if own else message.author_id == asker_id
    reference = Reference(
        pointing,
        message.content,
        "" if own else message.author_name,
        message.author_id,
        tainted=message.tainted or not mine,
    )
    return _Found(reference, message.discord_id, message.reply_to)


def _prefer_visible(message: hikari.Message, target: Target | None) -> hikari.Message:
    """Return the message from the interaction if the fetched one has no content and is unchanged."""
    if target is None or not has_no_visible_content(message):
        return message
    return target.message if target.message.edited_timestamp == message.edited_timestamp else message


def links_in(text: str) -> str:
    """Return the text if it links to a message, else an empty string."""
    return text if _LINK.search(text) else ""
