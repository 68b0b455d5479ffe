"""Decides to which conversation a new message belongs, and whether it is stored and answered."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.chat.assistant import MAX_QUESTION_CHARACTERS
from cc_bot.chat.stores.opening import Stores
from cc_bot.concurrency import cancel_tasks
from cc_bot.discord.agents import SelectedAgent
from cc_bot.discord.attachments import asked_files
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.outlets import DmFallback, MessageReplies
from cc_bot.discord.delivery.turns import DiscordTurn
from cc_bot.discord.gate import Gate, error_of_refusal
from cc_bot.discord.incoming import (
    ORDINARY_TYPES,
    answer_owner,
    contains_foreign_text,
    has_no_visible_content,
    is_addressed,
    is_empty_question,
    is_for_others,
    is_forward,
    is_from_person,
    name_of_author,
    quotation,
    replied_bot_message,
    replied_message_id,
    text_of,
    text_with_file_names,
    to_message,
    typed_text_of,
)
from cc_bot.discord.interactions import message_link, retry, roles_of
from cc_bot.discord.locations import LruCache
from cc_bot.discord.messages.mentions import MAX_EDIT_AGE, MentionQueue
from cc_bot.discord.recipients import DATABASE_TIMEOUT_S, Recipient, Recipients
from cc_bot.discord.references import References
from cc_bot.domain.errors import CcBotError, StorageError
from cc_bot.domain.message import ChannelKey, Message, is_blank
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import AskedQuestion, PendingTurn
from cc_bot.log import bind_turn_id
from cc_bot.texts import Texts, explain
from cc_bot.texts.answer import MentionTexts, UnfinishedTexts

_log = structlog.get_logger(__name__)

MAX_FORWARD_AGE: Final = timedelta(minutes=10)
ASK_DELAY: Final = timedelta(minutes=1)
SEARCH_LIMIT: Final = 10  # messages above a question that are searched for forwards
StartNext = Callable[[], None]  # lets the channel's next message be handled


@dataclass(eq=False, slots=True)
class Forwards:
    """Forwards in DMs that wait for a question. After ASK_DELAY, the bot asks what to do with them."""

    references: References
    replies: MessageReplies
    recipients: Recipients
    _waiting: defaultdict[int, dict[int, datetime]] = field(default_factory=lambda: defaultdict(dict))
    """By DM: when each forward arrived."""
    _ask_tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)  # by DM
    _known_channels: LruCache[int, None] = field(default_factory=LruCache)  # all forwards there are known
    _claimed_by: dict[int, int] = field(default_factory=dict)  # questions being answered, by forward
    _never_ask_about: set[int] = field(default_factory=set)
    _started_at: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._started_at = self.recipients.clock()

    def add(self, message: hikari.Message) -> None:
        channel_id = int(message.channel_id)
        self.references.cache.put_files_and_replied(message)
        self._known_channels[channel_id] = None
        self._waiting[channel_id][int(message.id)] = message.created_at
        self._cancel_asking(channel_id)
        if int(message.id) not in self._never_ask_about:
            self._ask_tasks[channel_id] = asyncio.create_task(self._ask_what_to_do(message))

    def skip_asking_about(self, forward_ids: Iterable[int]) -> None:
        self._never_ask_about.update(forward_ids)

    async def claim_for_message(self, question: hikari.Message) -> tuple[int, ...]:
        """Claim the waiting forwards. Returns them, with the forward that the question replies to."""
        if question.guild_id is not None:
            return ()
        waiting = await self.claim(int(question.channel_id), int(question.author.id), int(question.id))
        replied = question.referenced_message
        if not replied or not replied.author or replied.author.id != question.author.id:
            return waiting
        self.references.cache.put_files_and_replied(question)
        replied_ids = (int(replied.id),) if replied.message_snapshots else ()
        return tuple(sorted({*waiting, *replied_ids}))

    async def claim(self, channel_id: int, user_id: int, question_id: int) -> tuple[int, ...]:
        """Claim the waiting forwards, oldest first. After `release_claims`, unanswered ones wait again."""
        since = hikari.Snowflake(question_id).created_at - MAX_FORWARD_AGE
        if channel_id not in self._known_channels and since < self._started_at:
            await self._find_above(channel_id, user_id, question_id, since)
        self._known_channels[channel_id] = None
        waiting = self._waiting.get(channel_id)
        if not waiting:
            return ()
        self._cancel_asking(channel_id)
        answered_ids = await self.replies.channels.find_stored_or_forwarded([*waiting])
        for id_, arrived_at in [*waiting.items()]:
            if arrived_at <= since or id_ in answered_ids:
                del waiting[id_]
        forward_ids = tuple(sorted(waiting.keys() - self._claimed_by.keys()))
        self._claimed_by.update(dict.fromkeys(forward_ids, question_id))
        return forward_ids

    def release_claims(self, question_id: int) -> None:
        self._claimed_by = {id_: other for id_, other in self._claimed_by.items() if other != question_id}

    def forget(self, message_ids: Iterable[int]) -> None:
        for channel_id, waiting in self._waiting.items():
            for message_id in waiting.keys() & {*message_ids}:
                del waiting[message_id]
                if not waiting:
                    self._cancel_asking(channel_id)

    async def close(self) -> None:
        await cancel_tasks(*self._ask_tasks.values())

    def _cancel_asking(self, channel_id: int) -> None:
        if task := self._ask_tasks.pop(channel_id, None):
            task.cancel()

    async def _find_above(self, channel_id: int, user_id: int, question_id: int, since: datetime) -> None:
        try:
            above = await self.replies.rest.fetch_messages(channel_id, before=question_id).limit(SEARCH_LIMIT)
        except hikari.HikariError as error:
            _log.info("forwards_not_looked_up", error=type(error).__name__)
            return
        for message in above:
            if message.author.id == user_id:
                if not message.message_snapshots or message.created_at <= since:
                    break
                self.references.cache.put_files_and_replied(message)
                self._waiting[channel_id][int(message.id)] = message.created_at

    async def _ask_what_to_do(self, message: hikari.Message) -> None:
        age = self.recipients.clock() - message.created_at
        await asyncio.sleep(max(0.0, (ASK_DELAY - age).total_seconds()))
        channel_id = int(message.channel_id)
        try:
            if await self.replies.channels.find_stored_or_forwarded((int(message.id),)):  # answered already
                return
            recipient = await self.recipients.for_author(channel_id, int(message.author.id))
            await self.replies.post_sentence(
                channel_id, int(message.id), recipient.words[MentionTexts].ask_about_forward
            )
        except (StorageError, hikari.HikariError) as error:
            _log.warning("user_not_told", error=type(error).__name__)


MAX_QUOTED_CHARACTERS = 1000
MAX_CACHED_QUOTES = 1000
LOCATE_PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, *(30.0,) * 9)  # five minutes in all


@dataclass(eq=False, slots=True)
class ProactiveMessageQuotes:
    stores: Stores
    bot: Callable[[], hikari.OwnUser]
    _quotes: LruCache[int, str] = field(default_factory=lambda: LruCache(MAX_CACHED_QUOTES))
    """By the id of the replying message, whose edits get the same quotation."""

    async def get_replied_text(self, message: hikari.PartialMessage) -> str | None:
        """Return the text of the author's reminder or heartbeat that the message replies to."""
        replied = replied_bot_message(message, int(self.bot().id))
        if replied is None or not message.author:
            return None
        notification = await self.stores.archive.get_notification(int(replied.id))
        if notification is None:
            return None
        owner_id, sent = notification
        return sent.content if owner_id == message.author.id else None

    async def quote(self, message: hikari.PartialMessage, text: str) -> str:
        """Quote the reminder or heartbeat that a message answers, before its text. In a DM, a message that
        replies to nothing answers the last one."""
        quoted = self._quotes.get(int(message.id)) or await self.get_replied_text(message)
        if quoted is None and message.guild_id is None and message.author and not message.referenced_message:
            user_id, channel_id = int(message.author.id), int(message.channel_id)
            last = await self.stores.archive.get_last_notification(user_id, channel_id)
            quoted = last.content if last else None
        if quoted is None:
            return text
        self._quotes[int(message.id)] = quoted
        return _with_quotation(quoted, text)

    async def quote_last(self, user_id: int, channel_id: int, text: str) -> str:
        last = await self.stores.archive.get_last_notification(user_id, channel_id)
        return _with_quotation(last.content, text) if last else text


def _with_quotation(quoted: str, text: str) -> str:
    combined = "\n".join(filter(None, (quotation(quoted, MAX_QUOTED_CHARACTERS), text)))
    return combined if len(combined) <= MAX_QUESTION_CHARACTERS else text


@dataclass(eq=False, slots=True)
class MessageRouter:
    """Routes messages to the author's session or the channel's conversation, or only stores them there."""

    answers: Answers
    stores: Stores
    bot: Callable[[], hikari.OwnUser]
    quotes: ProactiveMessageQuotes
    reads_all_messages: bool
    gate: Gate
    wait_for_missed: Callable[[int], Awaitable[None]]
    mentions: MentionQueue
    forwards: Forwards
    _handled_ids: LruCache[int, None] = field(default_factory=LruCache)
    _session_message_ids: LruCache[int, None] = field(default_factory=LruCache)  # not archived
    _missed_ids: LruCache[int, None] = field(default_factory=LruCache)
    """Questions sent while the bot was offline; the channel's conversation answers them."""

    def addresses_bot(self, message: hikari.PartialMessage) -> bool:
        """A reply without a ping counts if the bot reads all messages and the reply mentions no others."""
        bot_id = int(self.bot().id)
        if is_addressed(message, bot_id):
            return True
        is_silent_reply = self.reads_all_messages and replied_bot_message(message, bot_id) is not None
        return is_silent_reply and not is_for_others(message, bot_id)

    def is_question(self, message: hikari.Message) -> bool:
        return is_from_person(message) and (message.guild_id is None or self.addresses_bot(message))

    async def find_session(self, message: hikari.PartialMessage) -> tuple[bool, SessionKey | None]:
        """Return whether the message belongs to its author's session, and the session that it replies to."""
        replied, author = replied_bot_message(message, int(self.bot().id)), message.author
        if not author:
            return False, None
        is_dm = message.guild_id is None
        if replied is None or not (is_dm or self.addresses_bot(message)):
            return is_dm, None
        key = await self.stores.channels.get_session_key(int(replied.id))
        key = key or await self.answers.side_messages.get_key(int(replied.id))
        if key and key.user_id == author.id:
            return True, key
        is_for_author = is_dm or answer_owner(replied) == author.id
        return is_for_author or await self.quotes.get_replied_text(message) is not None, None

    async def wants_answer(self, key: ChannelKey, message: hikari.Message) -> bool:
        """Return whether a message addresses the bot, or no one in a thread with an answer."""
        if not is_from_person(message):
            return False
        if self.addresses_bot(message):
            return True
        if not self.reads_all_messages or not key.thread_id or is_for_others(message, int(self.bot().id)):
            return False
        return await self.stores.channels.get_newest_answer(key) is not None

    async def content_to_store(self, message: hikari.PartialMessage) -> str:
        in_session, _ = await self.find_session(message)
        if in_session:
            return await self.quotes.quote(message, text_of(message, self.bot()))
        return text_with_file_names(message, self.bot(), quoting=await self.needs_quotation(message))

    async def needs_quotation(self, message: hikari.PartialMessage) -> bool:
        """Return whether the message replies to a message of the bot that the archive lacks."""
        replied = replied_bot_message(message, int(self.bot().id))
        return replied is not None and not await self.stores.channels.is_answer(int(replied.id))

    async def handle(self, message: hikari.Message, start_next: StartNext) -> None:
        """Store or answer a message. Raises CcBotError and hikari's errors."""
        if message.type not in ORDINARY_TYPES:
            return
        if message.guild_id is not None:
            self.answers.recipients.guilds.by_channel[int(message.channel_id)] = int(message.guild_id)
            if message.member:
                self.gate.roles[int(message.guild_id), int(message.author.id)] = roles_of(message.member)
        if not self.is_question(message):
            await self._only_store(message)
        elif self._claim(message):
            try:
                await self._handle_addressed(message, start_next)
            except hikari.HikariError:  # no reply was sent: the message may be handled again
                self._handled_ids.discard(int(message.id))
                raise

    async def is_addressed_by_edit(self, message: hikari.Message) -> bool:
        """Return whether an early edit made the message a question, and it was not handled before."""
        edited_at, message_id = message.edited_timestamp, int(message.id)
        if message.guild_id is None or not edited_at or edited_at - message.created_at > MAX_EDIT_AGE:
            return False
        if message_id in self._handled_ids or not self.is_question(message):
            return False
        return not await self.stores.ledger.is_question(message_id, int(message.author.id))

    def message_to_archive(self, message: hikari.Message) -> Message | None:
        """Return a missed message as the archive stores it; None if it is not stored."""
        bot = self.bot()
        may_read = self.reads_all_messages or (is_from_person(message) and self.addresses_bot(message))
        if (
            int(message.id) in self._session_message_ids
            or not may_read
            or message.type not in ORDINARY_TYPES
            or message.author.id == bot.id
            or has_no_visible_content(message)
        ):
            return None
        replied = message.referenced_message  # answers to commands are not in the archive
        stored = to_message(message, bot, quoting=bool(replied and replied.interaction_metadata))
        if is_empty_question(message, bot) or is_blank(stored.content):
            return None
        if self.is_question(message):
            self._missed_ids[int(message.id)] = None
        return stored

    def mark_as_session_messages(self, message_ids: Iterable[int]) -> None:
        """Neither archive nor handle questions that earlier processes accepted."""
        for message_id in message_ids:
            self._session_message_ids[message_id] = None
            self._handled_ids[message_id] = None

    async def apologize(self, message: hikari.Message) -> None:
        if self.is_question(message) and message.type in ORDINARY_TYPES and self._claim(message):
            await self._post_localized(message, lambda words: words[MentionTexts].was_offline)

    async def explain_failure(self, message: hikari.Message, error: CcBotError) -> None:
        if not self.is_question(message):
            return
        try:
            async with asyncio.timeout(DATABASE_TIMEOUT_S):
                words = (await self._recipient(message)).words
        except (CcBotError, TimeoutError):  # the database does not answer
            words = self.answers.recipients.words(self.answers.recipients.locale)
        await self._post_sentence(message, words, explain(error, words))

    async def _handle_addressed(self, message: hikari.Message, start_next: StartNext) -> None:
        if refused := await self.gate.find_refusal_of_author(message):
            await self._only_store(message, wants_answer=False)
            start_next()
            if refused.why == "maintenance" or message.guild_id is None:  # channels see no other refusal
                await self._post_localized(message, lambda words: explain(error_of_refusal(refused), words))
            return
        if is_empty_question(message, self.bot()):
            start_next()
            await self._post_localized(message, lambda words: words[MentionTexts].ask_something)
            return
        if message.guild_id is None and is_forward(message) and replied_message_id(message) is None:
            self._session_message_ids[int(message.id)] = None
            self.forwards.add(message)
            start_next()
            return
        in_session, replied_key = await self.find_session(message)
        if in_session and int(message.id) not in self._missed_ids:
            selector, user_id = self.answers.agent_selector, int(message.author.id)
            selected = await selector.for_message(message, user_id, replied_key)
            self._session_message_ids[int(message.id)] = None
            await self._answer(selected, message, start_next)
        else:
            await self._store(message)

    async def _only_store(self, message: hikari.Message, *, wants_answer: bool | None = None) -> None:
        if not self.reads_all_messages or message.guild_id is None or has_no_visible_content(message):
            return
        key = await self._key_of(message)
        if await self.gate.may_read(key, int(message.guild_id)):
            await self._store(message, wants_answer=wants_answer)
        else:
            await self.stores.channels.mark_read_to(key, int(message.id))

    async def _store(self, message: hikari.Message, *, wants_answer: bool | None = None) -> None:
        """Store a message after those missed before it. `wants_answer`: None to decide by the message."""
        key = await self._key_of(message)
        await self.wait_for_missed(int(message.channel_id))
        quoting = await self.needs_quotation(message)
        stored = to_message(message, self.bot(), quoting=quoting)
        if wants_answer is None:
            wants_answer = await self.wants_answer(key, message)
        if wants_answer:
            self.answers.references.cache.put_files_and_replied(message)
        if await self.stores.channels.add(key, stored, is_question=wants_answer) and wants_answer:
            self.mentions.wake(key)

    async def _key_of(self, message: hikari.Message) -> ChannelKey:
        return await retry(lambda: self.gate.locations.key_of(int(message.channel_id)), LOCATE_PAUSES_S)

    async def _answer(self, selected: SelectedAgent, message: hikari.Message, start_next: StartNext) -> None:
        bind_turn_id()
        running, recipient = self.answers.running_turns, await self._recipient(message)
        channel = None
        if message.guild_id is not None:
            with suppress(hikari.HTTPError):  # the channel's conversation will lack the question
                channel = await self.gate.locations.key_of(int(message.channel_id))
        self.answers.references.cache.put_files_and_replied(message)
        entry = PendingTurn(
            running.new_id(),
            selected.key,
            "message",
            "private" if message.guild_id is None else "public",
            running.clock(),
            guild_id=None if message.guild_id is None else int(message.guild_id),
            locale=recipient.locale,
            question=await self._make_question(message),
            question_id=int(message.id),
            location_id=int(message.channel_id),
        )
        await running.write(running.ledger.accept(entry))
        role_ids = roles_of(message.member)
        turn = DiscordTurn(running, entry, recipient, selected, role_ids=role_ids, channel=channel)
        try:
            await self._deliver(turn, message, start_next)
        finally:
            self.forwards.release_claims(int(message.id))

    async def _make_question(self, message: hikari.Message) -> AskedQuestion:
        bot = self.bot()
        text = text_of(message, bot)
        text_with_quote = await self.quotes.quote(message, text)
        forward_ids = await self.forwards.claim_for_message(message)
        reply_to_id = replied_message_id(message)
        if text_with_quote != text or reply_to_id in forward_ids:  # the question contains what it replies to
            reply_to_id = None
        return AskedQuestion(
            text_with_quote,
            name_of_author(message),
            asked_files(message),
            contains_foreign_text(message, int(bot.id)),
            reply_to_id,
            forward_ids,
        )

    async def _deliver(self, turn: DiscordTurn, message: hikari.Message, start_next: StartNext) -> None:
        question_id, channel_id, recipient = int(message.id), int(message.channel_id), turn.recipient
        link, entry = message_link(message.guild_id, channel_id, question_id), turn.entry
        note, running = recipient.words[UnfinishedTexts].elsewhere_note(link), self.answers.running_turns

        async def record_move(dm_id: int) -> None:
            await running.write(running.ledger.move(entry, dm_id, ()))

        dm_fallback = DmFallback(recipient.user_id, note, record_move, partial(running.record_page, entry))
        reply = self.answers.replies.make_reply(channel_id, question_id, dm_fallback=dm_fallback)

        async def record_message(answer_id: int) -> None:
            await running.write(running.ledger.set_answer_message_id(entry.id, entry.key.user_id, answer_id))
            start_next()

        turn.on_first_message = record_message
        await self.answers.deliver(turn, reply)

    async def _post_localized(self, message: hikari.Message, sentence: Callable[[Texts], str]) -> None:
        words = (await self._recipient(message)).words
        await self._post_sentence(message, words, sentence(words))

    async def _post_sentence(self, message: hikari.Message, words: Texts, sentence: str) -> None:
        channel_id, message_id = int(message.channel_id), int(message.id)
        link = message_link(message.guild_id, channel_id, message_id)
        dm_fallback = DmFallback(int(message.author.id), words[UnfinishedTexts].elsewhere_note(link))
        await self.answers.replies.post_sentence(channel_id, message_id, sentence, dm_fallback)

    async def _recipient(self, message: hikari.Message) -> Recipient:
        channel_id, user_id = int(message.channel_id), int(message.author.id)
        typed = typed_text_of(message, self.bot())
        return await self.answers.recipients.for_author(channel_id, user_id, typed)

    def _claim(self, message: hikari.Message) -> bool:
        is_new = int(message.id) not in self._handled_ids
        self._handled_ids[int(message.id)] = None
        return is_new
