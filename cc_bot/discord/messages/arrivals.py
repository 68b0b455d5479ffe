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
from cc_bot.discord.agents import SelectedAgent
from cc_bot.discord.attachments import asked_files
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.outlets import DmFallback, MessageReplies
from cc_bot.discord.delivery.turns import ShownTurn
from cc_bot.discord.gate import Gate, error_of
from cc_bot.discord.incoming import (
    ORDINARY,
    asks_nothing,
    contains_foreign_text,
    content_of,
    has_no_visible_content,
    is_addressed,
    is_for_others,
    is_forward,
    is_from_person,
    name_of_author,
    owner_of,
    quotation,
    reply_target,
    reply_to,
    text_of,
    to_message,
    typed_text_of,
)
from cc_bot.discord.interactions import message_link, retry, roles_of
from cc_bot.discord.messages.mentions import EDIT_WITHIN, Mentions
from cc_bot.discord.places import LruCache
from cc_bot.discord.recipients import DATABASE_TIMEOUT_S, Recipient, Recipients
from cc_bot.discord.references import References
from cc_bot.domain.errors import CcBotError, StorageError
from cc_bot.domain.message import ChannelKey, Message, is_blank
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import AskedQuestion, PendingTurn
from cc_bot.log import begin_turn
from cc_bot.texts import Texts, explain
from cc_bot.texts.answer import MentionTexts, UnfinishedTexts

_log = structlog.get_logger(__name__)

WAITS: Final = timedelta(minutes=10)
ASKED_AFTER: Final = timedelta(minutes=1)
LOOKED_AT: Final = 10


@dataclass(eq=False, slots=True)
class Forwards:
    references: References
    replies: MessageReplies
    recipients: Recipients
    _waiting: defaultdict[int, dict[int, datetime]] = field(default_factory=lambda: defaultdict(dict))
    """By DM, when each forward arrived."""
    _asking: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _known: LruCache[int, None] = field(default_factory=LruCache)
    _taken: dict[int, int] = field(default_factory=dict)
    _asked: set[int] = field(default_factory=set)
    _began: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.recipients.clock()

    def wait(self, message: hikari.Message) -> None:
        channel_id = int(message.channel_id)
        self.references.targets.note(message)
        self._known[channel_id] = None
        self._waiting[channel_id][int(message.id)] = message.created_at
        self._stop_asking(channel_id)
        if int(message.id) not in self._asked:
            self._asking[channel_id] = asyncio.create_task(self._ask_what_to_do(message))

    def note_asked(self, ids: Iterable[int]) -> None:
        """Do not ask about forwards that the last run had a question about."""
        self._asked.update(ids)

    async def take_for(self, question: hikari.Message) -> tuple[int, ...]:
        """Return the forwards that a message is about: the one replied to, and those from `take`."""
        if question.guild_id is not None:
            return ()
        waiting = await self.take(int(question.channel_id), int(question.author.id), int(question.id))
        replied = question.referenced_message
        if not replied or not replied.author or replied.author.id != question.author.id:
            return waiting
        self.references.targets.note(question)
        own = (int(replied.id),) if replied.message_snapshots else ()
        return tuple(sorted({*waiting, *own}))

    async def take(self, channel_id: int, user_id: int, question_id: int) -> tuple[int, ...]:
        """Oldest first. If the answer is not stored by `release`, they wait for the next question."""
        since = hikari.Snowflake(question_id).created_at - WAITS
        if channel_id not in self._known and since < self._began:
            await self._look_up(channel_id, user_id, question_id, since)
        self._known[channel_id] = None
        waiting = self._waiting.get(channel_id)
        if not waiting:
            return ()
        self._stop_asking(channel_id)
        stored = await self.replies.channels.find_known([*waiting])
        for id_ in [id_ for id_, came in waiting.items() if came <= since or id_ in stored]:
            del waiting[id_]
        taken = tuple(sorted(waiting.keys() - self._taken.keys()))
        self._taken.update(dict.fromkeys(taken, question_id))
        return taken

    def release(self, question_id: int) -> None:
        self._taken = {id_: of for id_, of in self._taken.items() if of != question_id}

    def forget(self, message_ids: Iterable[int]) -> None:
        for channel_id, waiting in self._waiting.items():
            for message_id in waiting.keys() & {*message_ids}:
                del waiting[message_id]
                if not waiting:
                    self._stop_asking(channel_id)

    async def close(self) -> None:
        asking = [*self._asking.values()]
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def _stop_asking(self, channel_id: int) -> None:
        if task := self._asking.pop(channel_id, None):
            task.cancel()

    async def _look_up(self, channel_id: int, user_id: int, question_id: int, since: datetime) -> None:
        try:
            above = await self.replies.rest.fetch_messages(channel_id, before=question_id).limit(LOOKED_AT)
        except hikari.HikariError as error:
            _log.info("forwards_not_looked_up", error=type(error).__name__)
            return
        for message in above:
            if message.author.id == user_id:
                if not message.message_snapshots or message.created_at <= since:
                    break
                self.references.targets.note(message)
                self._waiting[channel_id][int(message.id)] = message.created_at

    async def _ask_what_to_do(self, message: hikari.Message) -> None:
        passed = self.recipients.clock() - message.created_at
        await asyncio.sleep(max(0.0, (ASKED_AFTER - passed).total_seconds()))
        channel_id = int(message.channel_id)
        try:
            if await self.replies.channels.find_known((int(message.id),)):
                return  # answered before a restart
            recipient = await self.recipients.for_author(channel_id, int(message.author.id))
            await self.replies.say(
                channel_id, int(message.id), recipient.words[MentionTexts].ask_about_forward
            )
        except (StorageError, hikari.HikariError) as error:
            _log.warning("user_not_told", error=type(error).__name__)


QUOTED_CHARACTERS = 1000
MAX_QUOTED = 1000
PLACE_PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, *(30.0,) * 9)
"""Five minutes; only that channel waits."""


@dataclass(eq=False, slots=True)
class ProactiveMessageQuotes:
    stores: Stores
    bot: Callable[[], hikari.OwnUser]
    _answered: LruCache[int, str] = field(default_factory=lambda: LruCache(MAX_QUOTED))
    """By reply: an edit does not change the quotation."""

    async def replied_to(self, message: hikari.PartialMessage) -> str | None:
        """Return the text of the author's reminder or heartbeat that is replied to."""
        answer = reply_target(message, int(self.bot().id))
        if answer is None or not message.author:
            return None
        said = await self.stores.archive.get_said(int(answer.id))
        return said[1].content if said and said[0] == message.author.id else None

    async def quote(self, message: hikari.PartialMessage, text: str) -> str:
        """Return the text below the reminder or heartbeat replied to, or the DM's last message."""
        said = self._answered.get(int(message.id)) or await self.replied_to(message)
        if said is None and message.guild_id is None and message.author and not message.referenced_message:
            last = await self.stores.archive.get_last_notification(
                int(message.author.id), int(message.channel_id)
            )
            said = last.content if last else None
        if said is None:
            return text
        self._answered[int(message.id)] = said
        return _below(said, text)

    async def quote_last(self, user_id: int, channel_id: int, text: str) -> str:
        """The same for a question without a message."""
        last = await self.stores.archive.get_last_notification(user_id, channel_id)
        return _below(last.content, text) if last else text


def _below(said: str, text: str) -> str:
    whole = "\n".join(filter(None, (quotation(said, QUOTED_CHARACTERS), text)))
    return whole if len(whole) <= MAX_QUESTION_CHARACTERS else text


@dataclass(eq=False, slots=True)
class Arrivals:
    answers: Answers
    stores: Stores
    bot: Callable[[], hikari.OwnUser]
    proactive: ProactiveMessageQuotes
    reads_all: bool
    gate: Gate
    wait_for: Callable[[int], Awaitable[None]]
    mentions: Mentions
    forwards: Forwards
    _attended: LruCache[int, None] = field(default_factory=LruCache)
    _personal: LruCache[int, None] = field(default_factory=LruCache)
    _missed: LruCache[int, None] = field(default_factory=LruCache)
    """Found first by catching up: they belong to the channel."""

    def is_addressed(self, message: hikari.PartialMessage) -> bool:
        """A reply without a ping counts if its content arrives and it addresses no other user."""
        bot_id = int(self.bot().id)
        if is_addressed(message, bot_id):
            return True
        is_quiet_reply = self.reads_all and reply_target(message, bot_id) is not None
        return is_quiet_reply and not is_for_others(message, bot_id)

    def is_for_bot(self, message: hikari.Message) -> bool:
        return is_from_person(message) and (message.guild_id is None or self.is_addressed(message))

    async def find_own(self, message: hikari.PartialMessage) -> tuple[bool, SessionKey | None]:
        """Return whether it belongs to a session of its author, and the session of the answer or canvas that
        it replies to."""
        answer, author = reply_target(message, int(self.bot().id)), message.author
        if not author:
            return False, None
        is_dm = message.guild_id is None
        if answer is None or not (is_dm or self.is_addressed(message)):
            return is_dm, None
        key = await self.stores.channels.get_session_key(int(answer.id))
        key = key or await self.answers.side_message.get_key(int(answer.id))
        if key and key.user_id == author.id:
            return True, key
        own = is_dm or owner_of(answer) == author.id or await self.proactive.replied_to(message) is not None
        return own, None

    async def wants_answer(self, key: ChannelKey, message: hikari.Message) -> bool:
        """True if it addresses the bot, or no other user in a thread where the bot has answered."""
        if not is_from_person(message):
            return False
        if self.is_addressed(message):
            return True
        if not self.reads_all or not key.thread_id or is_for_others(message, int(self.bot().id)):
            return False
        return await self.stores.channels.get_newest_answer(key) is not None

    async def content_of(self, message: hikari.PartialMessage) -> str:
        is_own, _ = await self.find_own(message)
        if is_own:
            return await self.proactive.quote(message, text_of(message, self.bot()))
        return content_of(message, self.bot(), quoting=await self.quotes(message))

    async def quotes(self, message: hikari.PartialMessage) -> bool:
        """Return whether the archive lacks the answer that it replies to."""
        answer = reply_target(message, int(self.bot().id))
        return answer is not None and not await self.stores.channels.is_answer(int(answer.id))

    async def take(self, message: hikari.Message, leave: Callable[[], None]) -> None:
        """Store or answer a message. Calls `leave` once later ones of the channel need not wait. Raises
        CcBotError and hikari's errors."""
        if message.type not in ORDINARY:
            return
        if message.guild_id is not None:
            self.answers.recipients.guilds.note_guild(int(message.channel_id), int(message.guild_id))
            if message.member:
                self.gate.roles[int(message.guild_id), int(message.author.id)] = roles_of(message.member)
        if not self.is_for_bot(message):
            await self._archive_other(message)
        elif self._is_new(message):
            try:
                await self._attend(message, leave)
            except hikari.HikariError:
                self._attended.discard(int(message.id))  # no reply was sent: it may be delivered again
                raise

    async def is_called_by_edit(self, message: hikari.Message) -> bool:
        """Return whether an early edit has addressed an unhandled message to the bot."""
        edited_at, message_id = message.edited_timestamp, int(message.id)
        if message.guild_id is None or not edited_at or edited_at - message.created_at > EDIT_WITHIN:
            return False
        if message_id in self._attended or not self.is_for_bot(message):
            return False
        return not await self.stores.ledger.is_question(message_id, int(message.author.id))

    def to_store(self, message: hikari.Message) -> Message | None:
        """Convert a missed message for the archive; None if it is not kept. Answers to commands are quoted
        without a look-up."""
        bot = self.bot()
        may_read = self.reads_all or (is_from_person(message) and self.is_addressed(message))
        if (
            int(message.id) in self._personal
            or not may_read
            or message.type not in ORDINARY
            or message.author.id == bot.id
            or has_no_visible_content(message)
        ):
            return None
        answer = message.referenced_message
        stored = to_message(message, bot, quoting=bool(answer and answer.interaction_metadata))
        if asks_nothing(message, bot) or is_blank(stored.content):
            return None
        if self.is_for_bot(message):
            self._missed[int(message.id)] = None
        return stored

    def note_personal(self, message_ids: Iterable[int]) -> None:
        """Keep catching up from storing the last run's personal questions."""
        for message_id in message_ids:
            self._personal[message_id] = None
            self._attended[message_id] = None

    async def apologize(self, message: hikari.Message) -> None:
        if self.is_for_bot(message) and message.type in ORDINARY and self._is_new(message):
            await self._explain(message, lambda words: words[MentionTexts].away)

    async def tell_failure(self, message: hikari.Message, error: CcBotError) -> None:
        if not self.is_for_bot(message):
            return
        try:
            async with asyncio.timeout(DATABASE_TIMEOUT_S):
                words = (await self._recipient(message)).words
        except (CcBotError, TimeoutError):  # the database may have failed
            words = self.answers.recipients.words(self.answers.recipients.locale)
        await self._say(message, words, explain(error, words))

    async def _attend(self, message: hikari.Message, leave: Callable[[], None]) -> None:
        if refused := await self.gate.refusal_of_author(message):
            await self._archive_other(message, waiting=False)
            leave()
            if refused.why == "maintenance" or message.guild_id is None:  # all that is said in a channel
                await self._explain(message, lambda words: explain(error_of(refused), words))
            return
        if asks_nothing(message, self.bot()):
            leave()
            await self._explain(message, lambda words: words[MentionTexts].ask_something)
            return
        if message.guild_id is None and is_forward(message) and reply_to(message) is None:
            self._personal[int(message.id)] = None
            self.forwards.wait(message)
            leave()
            return
        is_own, key = await self.find_own(message)
        if is_own and int(message.id) not in self._missed:
            chosen = await self.answers.chooser.for_message(message, int(message.author.id), key)
            self._personal[int(message.id)] = None
            await self._answer(chosen, message, leave)
        else:
            await self._store(message)

    async def _archive_other(self, message: hikari.Message, *, waiting: bool | None = None) -> None:
        if not self.reads_all or message.guild_id is None or has_no_visible_content(message):
            return
        key = await self._key_of(message)
        if await self.gate.may_read(key, int(message.guild_id)):
            await self._store(message, waiting=waiting)
        else:
            await self.stores.channels.mark_read_to(key, int(message.id))

    async def _store(self, message: hikari.Message, *, waiting: bool | None = None) -> None:
        """Store a message after those missed before it. `waiting`: whether to answer it; None to find out."""
        key = await self._key_of(message)
        await self.wait_for(int(message.channel_id))
        quoting = await self.quotes(message)
        stored = to_message(message, self.bot(), quoting=quoting)
        if waiting is None:
            waiting = await self.wants_answer(key, message)
        if waiting:
            self.answers.references.targets.note(message)
        if await self.stores.channels.add(key, stored, waiting=waiting) and waiting:
            self.mentions.wake(key)

    async def _key_of(self, message: hikari.Message) -> ChannelKey:
        return await retry(lambda: self.gate.places.key_of(int(message.channel_id)), PLACE_PAUSES_S)

    async def _answer(
        self, chosen: SelectedAgent, message: hikari.Message, opened: Callable[[], None]
    ) -> None:
        """A user's turns run in the order in which they are `opened`, however long their files take."""
        begin_turn()
        bot = self.bot()
        recipient = await self._recipient(message)
        said = text_of(message, bot)
        text = await self.proactive.quote(message, said)
        answers = reply_to(message) if text == said else None  # a quoted message need not be looked up
        place = None
        if message.guild_id is not None:
            with suppress(hikari.HTTPError):  # else the channel's conversation lacks the question
                place = await self.gate.places.key_of(int(message.channel_id))
        self.answers.references.targets.note(message)
        forwards = await self.forwards.take_for(message)
        asked = AskedQuestion(
            text,
            name_of_author(message),
            asked_files(message),
            contains_foreign_text(message, int(bot.id)),
            None if answers in forwards else answers,
            forwards,
        )
        running = self.answers.running
        row = PendingTurn(
            running.new_name(),
            chosen.key,
            "message",
            "private" if message.guild_id is None else "public",
            running.clock(),
            guild_id=None if message.guild_id is None else int(message.guild_id),
            locale=recipient.locale,
            question=asked,
            question_id=int(message.id),
            place_id=int(message.channel_id),
        )
        await running.write(running.ledger.accept(row))
        turn = ShownTurn(running, row, recipient, chosen, role_ids=roles_of(message.member), place=place)
        try:
            await self._show(turn, message, opened)
        finally:
            self.forwards.release(int(message.id))

    async def _show(self, turn: ShownTurn, message: hikari.Message, opened: Callable[[], None]) -> None:
        question_id, channel_id, recipient = int(message.id), int(message.channel_id), turn.recipient
        link = message_link(message.guild_id, channel_id, question_id)
        note, running, row = recipient.words[UnfinishedTexts].late_note(link), self.answers.running, turn.row

        async def note_moved(dm_id: int) -> None:
            await running.write(running.ledger.move(row, dm_id, ()))

        dm_fallback = DmFallback(recipient.user_id, note, note_moved, partial(running.note_page, row))
        reply = self.answers.replies.to(channel_id, question_id, dm_fallback=dm_fallback)

        async def note_posted(answer_id: int) -> None:
            await running.write(running.ledger.note_message(row.id, row.key.user_id, answer_id))
            opened()

        turn.on_opened = note_posted
        await self.answers.deliver(turn, reply)

    async def _explain(self, message: hikari.Message, sentence: Callable[[Texts], str]) -> None:
        words = (await self._recipient(message)).words
        await self._say(message, words, sentence(words))

    async def _say(self, message: hikari.Message, words: Texts, sentence: str) -> None:
        channel_id, message_id = int(message.channel_id), int(message.id)
        link = message_link(message.guild_id, channel_id, message_id)
        dm_fallback = DmFallback(int(message.author.id), words[UnfinishedTexts].late_note(link))
        await self.answers.replies.say(channel_id, message_id, sentence, dm_fallback)

    async def _recipient(self, message: hikari.Message) -> Recipient:
        channel_id, user_id = int(message.channel_id), int(message.author.id)
        typed = typed_text_of(message, self.bot())
        return await self.answers.recipients.for_author(channel_id, user_id, typed)

    def _is_new(self, message: hikari.Message) -> bool:
        known = int(message.id) in self._attended
        self._attended[int(message.id)] = None
        return not known
