"""Answers mentions. Those that wait for an answer are stored in the database.

One turn answers a user's waiting questions, as a reply to the newest. The answer's first message is recorded
before the model is asked, so that after a crash the next process continues in that message.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.chat.changes import read_changes
from cc_bot.chat.stores.ledger import Mention, TurnLedger, channel_turn_id, parse_channel_turn_id
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.settings import UserRecord
from cc_bot.concurrency import KeyedLock, Tasks
from cc_bot.discord.agents import SelectedAgent
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.live import texts_for_channel
from cc_bot.discord.delivery.outlets import DmFallback
from cc_bot.discord.delivery.receipts import ReceiptUpdater
from cc_bot.discord.delivery.reply import (
    DISCORD_REFUSALS,
    DiscordReply,
    SentMessage,
    is_unknown_message,
    sent_messages,
)
from cc_bot.discord.delivery.turns import DiscordTurn
from cc_bot.discord.gate import Gate, SeenRoles, error_of_refusal
from cc_bot.discord.locations import LruCache
from cc_bot.discord.pages.answer import AnswerState, final_pages, stored_state, unanswered_page, used_button
from cc_bot.discord.pages.cards import Card
from cc_bot.discord.pages.page import Page, change_last_text
from cc_bot.domain.access import Refusal
from cc_bot.domain.errors import AnswerInUse, StorageError
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import PendingTurn
from cc_bot.log import bind_turn_id, log_failure
from cc_bot.texts import Texts, explain
from cc_bot.texts.answer import MentionTexts, UnfinishedTexts

_log = structlog.get_logger(__name__)

MAX_BATCH = 10
MAX_BATCH_CHARACTERS = 6000  # the same as the limit of one question
MAX_QUESTION_AGE: Final = timedelta(hours=1)
MAX_EDIT_AGE: Final = timedelta(minutes=10)
MAX_CONCURRENT_USERS: Final = 5  # per channel, where Discord allows five new messages in five seconds
RETRY_S: Final = 30.0
IN_USE_RETRY_S: Final = 1.0
TYPING_INTERVAL_S: Final = 9.0  # Discord shows the indicator for ten seconds


def next_batch(waiting: Sequence[Mention]) -> Sequence[Mention]:
    """Return the oldest questions, as many as one turn answers."""
    characters = 0
    for count, mention in enumerate(waiting[:MAX_BATCH]):
        characters += len(mention.question.content)
        if count and characters > MAX_BATCH_CHARACTERS:
            return waiting[:count]
    return waiting[:MAX_BATCH]


def discord_id_of(message: Message) -> int:
    if message.discord_id is None:
        raise ValueError("a message in a channel has a Discord id")
    return message.discord_id


@dataclass(frozen=True, slots=True)
class WaitingUser:
    id: int
    key: ChannelKey
    record: UserRecord  # read with the questions


@dataclass(eq=False, slots=True)
class MentionAnswerer:
    """Answers a user's questions. After a StorageError or hikari error the questions still wait."""

    stores: Stores
    answers: Answers
    roles: SeenRoles
    _unrecorded_answer_ids: dict[int, int] = field(default_factory=dict)  # by question, until recorded
    _answered_text_hashes: LruCache[int, int] = field(default_factory=LruCache)  # by question

    async def answer(self, user: WaitingUser, waiting: Sequence[Mention]) -> bool:
        """Answer the next questions. Returns False if they still wait and must be tried again."""
        bind_turn_id()
        turn, reply = await self._begin_turn(user, waiting)
        turn.on_first_message = partial(self._record_first_message, user.key, turn)
        try:
            return await self._deliver(user.key, turn, reply)
        except DISCORD_REFUSALS as error:
            await self._mark_unreachable(turn, error)
            await self.stores.ledger.mark_failed(user.key, turn.mentions)
            return True

    async def post_sentence(
        self, user: WaitingUser, waiting: Sequence[Mention], sentence: Callable[[Texts], str]
    ) -> None:
        """Post a sentence instead of an answer, with receipts of what the interrupted turn changed."""
        turn, reply = await self._begin_turn(user, waiting)
        words = turn.recipient.words
        page = unanswered_page(sentence(words), turn.entry.calls, texts_for_channel(words))
        card, updater = Card(user.id, changes=read_changes(turn.entry.calls)), self._receipt_updater
        try:
            await reply.show((page, *card.pages(words)))
            await updater.record_shown(card, reply, words)
        except DISCORD_REFUSALS as error:
            await self._mark_unreachable(turn, error)
        await self.stores.ledger.mark_failed(user.key, turn.mentions)

    async def answer_edit(self, user: WaitingUser, question: Message, *, reopen_failed: bool) -> bool:
        """Answer an edited mention again. Returns False if its answer is in use: try again later.
        `reopen_failed`: also answer a question whose turn failed."""
        ledger = self.stores.ledger
        answer_message_id = await ledger.get_answer_message_id(discord_id_of(question))
        newest = await self.stores.channels.get_newest_answer(user.key, user.id)
        if answer_message_id is not None and reopen_failed:
            await ledger.reopen(user.key, user.id, answer_message_id)
        if answer_message_id is not None and newest is not None and newest.discord_id == answer_message_id:
            questions = await ledger.list_questions(answer_message_id)
            hashes = self._answered_text_hashes  # an answer made after the edit is not outdated
            is_outdated = any(hashes.get(discord_id_of(each)) != hash(each.content) for each in questions)
            if is_outdated and not await self._replace_answer(user, newest, questions):
                return False
        await ledger.mark_edit_processed(user.key, question)
        return True

    async def _replace_answer(self, user: WaitingUser, answer: Message, questions: Sequence[Message]) -> bool:
        try:
            await self.answers.assistant.approvals.check_none_in_flight(user.id, answer.id or 0)
        except AnswerInUse:  # an approved call is running, and the message has the button to stop it
            return False
        bind_turn_id()
        turn = await self._make_turn(user, questions)
        turn.answer_message_id, turn.question_was_edited = discord_id_of(answer), True
        turn.replaced_pages, turn.replaced_card = await self._render_stored(turn, answer)
        turn.inherited = tuple(each for each in turn.replaced_card.changes if each.state != "undone")
        reply = self._make_reply(user.key, turn, await self._list_messages(discord_id_of(answer)))
        return await self._deliver(user.key, turn, reply)

    async def _deliver(self, key: ChannelKey, turn: DiscordTurn, reply: DiscordReply) -> bool:
        """Returns False if the questions have to be tried again."""
        with self.answers.running_turns.track(turn):
            state = await self.answers.show(turn, reply)
        if state.stored:
            for question in turn.mentions:
                self._answered_text_hashes[discord_id_of(question)] = hash(question.content)
        if turn.is_withdrawn:
            await self._delete_withdrawn(key, turn, reply, state)
            return True
        if turn.is_left_to_next_process:
            return False
        if state.stored or turn.question_was_edited:
            await self._record_pages(key, reply, is_shown=not state.unshown)
        elif not state.unshown:
            failed_answer_id = (await reply.message_ids())[0] if state.failure else None
            await self.stores.ledger.mark_failed(key, turn.mentions, failed_answer_id)
        return not state.unshown

    async def show_stored(self, user: WaitingUser) -> None:
        key = user.key
        for answer in await self.stores.ledger.list_unshown(key):
            questions = await self.stores.ledger.list_questions(discord_id_of(answer))
            if all(question.author_id != user.id for question in questions):
                continue
            turn = await self._make_turn(user, questions)
            reply = self._make_reply(key, turn, await self._list_messages(discord_id_of(answer)))
            try:
                (pages, card), words = await self._render_stored(turn, answer), turn.recipient.words
                await reply.show((*pages, *card.pages(words)))
                await self._receipt_updater.record_shown(card, reply, words)
            except DISCORD_REFUSALS as error:
                if is_unknown_message(error):
                    await self._delete_withdrawn(key, turn, reply)
                    continue
                await self._mark_unreachable(turn, error)
            await self._record_pages(key, reply, is_shown=True)

    async def _begin_turn(
        self, user: WaitingUser, waiting: Sequence[Mention]
    ) -> tuple[DiscordTurn, DiscordReply]:
        """Return the next turn; interrupted ones come first."""
        if interrupted_id := max((each.nonce_question_id or 0 for each in waiting), default=0):
            interrupted = [each for each in waiting if each.nonce_question_id == interrupted_id]
            turn = await self._make_turn(user, [each.question for each in interrupted])
            turn.entry = replace(turn.entry, calls=interrupted[-1].calls)
            recorded_ids = [each.shown_in for each in interrupted if each.shown_in]
            unrecorded_id = self._unrecorded_answer_ids.get(discord_id_of(turn.mentions[0]))
            answer_id = recorded_ids[0] if recorded_ids else unrecorded_id
            sent = await self._list_messages(answer_id) if answer_id else ()
            return turn, self._make_reply(user.key, turn, sent, interrupted_id)
        turn = await self._make_turn(user, [each.question for each in next_batch(waiting)])
        await self.stores.ledger.begin_answer(user.key, turn.mentions, turn.entry.question_id or 0)
        return turn, self._make_reply(user.key, turn)

    async def _make_turn(self, user: WaitingUser, questions: Sequence[Message]) -> DiscordTurn:
        answers, key, newest_id = self.answers, user.key, discord_id_of(questions[-1])
        typed = "\n".join(question.typed_text for question in questions)  # without quotes and transcripts
        recipient = await answers.recipients.for_author(key.location_id, user.id, typed, user.record.settings)
        agent = await answers.agent_selector.for_mentions(key, user.record.agents)
        session = SessionKey(user.id, key.location_id)
        guild_id = answers.recipients.guilds.by_channel.get(key.location_id)
        entry = PendingTurn(
            channel_turn_id(newest_id),
            session,
            "mention",
            "public",
            answers.recipients.clock(),
            guild_id=guild_id,
            question_id=newest_id,
        )
        return DiscordTurn(
            answers.running_turns,
            entry,
            recipient,
            SelectedAgent(session, agent),
            role_ids=self.roles.get((guild_id, user.id)),
            channel=key,
            mentions=tuple(questions),
        )

    def _make_reply(
        self, key: ChannelKey, turn: DiscordTurn, sent: Sequence[SentMessage] = (), nonce_question_id: int = 0
    ) -> DiscordReply:
        question_id, recipient = nonce_question_id or turn.entry.question_id or 0, turn.recipient
        link = self.answers.recipients.guilds.link(key.location_id, question_id)
        dm_fallback = DmFallback(recipient.user_id, recipient.words[UnfinishedTexts].elsewhere_note(link))
        return self.answers.replies.make_reply(key.location_id, question_id, sent, dm_fallback=dm_fallback)

    async def _list_messages(self, answer_id: int) -> tuple[SentMessage, ...]:
        return sent_messages((answer_id, *await self.stores.channels.list_pages(answer_id)))

    async def _record_first_message(self, key: ChannelKey, turn: DiscordTurn, answer_id: int) -> None:
        """Withdraws the turn if its questions were deleted meanwhile."""
        question_ids = frozenset(map(discord_id_of, turn.mentions))
        self._unrecorded_answer_ids.update(dict.fromkeys(question_ids, answer_id))
        existing_ids = await self.stores.ledger.set_mention_answer(key, turn.mentions, answer_id)
        for question_id in question_ids:
            del self._unrecorded_answer_ids[question_id]
        turn.handle_deletion(question_ids - existing_ids)

    async def _mark_unreachable(self, turn: DiscordTurn, error: Exception) -> None:
        location_id = turn.entry.key.channel_id
        _log.warning("answer_not_allowed", location=location_id, error=type(error).__name__)
        await self.answers.replies.mark_unreachable(location_id, turn.entry.question_id or 0)

    async def _record_pages(self, key: ChannelKey, reply: DiscordReply, *, is_shown: bool) -> None:
        answer_id, *further_ids = await reply.message_ids()
        if further_ids:
            await self.stores.channels.add_pages(key.location_id, answer_id, further_ids)
        if is_shown:
            await self.stores.ledger.mark_shown(key, answer_id)

    async def _delete_withdrawn(
        self, key: ChannelKey, turn: DiscordTurn, reply: DiscordReply, state: AnswerState | None = None
    ) -> None:
        """Delete a withdrawn answer, and mark its questions as failed, except those from before a reset."""
        due = await self.stores.ledger.list_due(key)
        reset_ids = {discord_id_of(each.question) for each in due if each.is_before_reset}
        others = [question for question in turn.mentions if discord_id_of(question) not in reset_ids]
        await self.stores.ledger.mark_failed(key, others)
        await self.answers.withdraw(turn, reply, state)

    async def _render_stored(self, turn: DiscordTurn, answer: Message) -> tuple[tuple[Page, ...], Card]:
        """Return an answer's texts and card."""
        words, user_id = texts_for_channel(turn.recipient.words), turn.recipient.user_id
        proposals = await self.stores.proposals.list_for_answer(user_id, answer.id) if answer.id else ()
        heard = "\n".join(question.heard for question in turn.mentions if question.heard)
        state = stored_state(answer, proposals, heard=heard)
        buttons = used_button(state, words, user_id)
        pages = change_last_text(final_pages(state, words), lambda page: replace(page, buttons=buttons))
        shown_ids = await self.stores.channels.list_pages(discord_id_of(answer))
        inherited = await self._receipt_updater.changes_to_inherit(user_id, shown_ids)
        card = Card(user_id, changes=inherited, proposals=proposals).with_changes(state.receipts)
        return pages, await self._receipt_updater.with_current_changes(card)

    @property
    def _receipt_updater(self) -> ReceiptUpdater:
        return self.answers.running_turns.receipt_updater


@dataclass(eq=False, slots=True)
class MentionQueue:
    """Answers the waiting mentions of all channels, a few users at a time in each channel."""

    mention_answerer: MentionAnswerer
    gate: Gate
    _channel_locks: KeyedLock = field(default_factory=KeyedLock)
    _queued_channels: set[ChannelKey] = field(default_factory=set)
    _served_users: set[tuple[ChannelKey, int]] = field(default_factory=set)  # user ids in channels
    _crowded_channels: set[ChannelKey] = field(default_factory=set)  # users wait for other users there
    _typing_channels: set[ChannelKey] = field(default_factory=set)
    _tasks: Tasks = field(default_factory=Tasks)
    _retried_question_ids: set[int] = field(default_factory=set)  # retried with the button
    _closed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def _ledger(self) -> TurnLedger:
        return self.mention_answerer.stores.ledger

    async def resume(self, serves: Callable[[int], Awaitable[bool]]) -> None:
        """Answer the waiting mentions of the channels that this process serves."""
        for key in await self._ledger.list_channels():
            if await serves(key.location_id):
                self.wake(key)

    def wake(self, key: ChannelKey) -> None:
        if key not in self._queued_channels and not self._closed.is_set():
            self._queued_channels.add(key)
            self._tasks.start(self._serve_channel(key))

    async def handle_edit(self, message_id: int) -> None:
        """Answer an edited mention again, in the background. Does nothing for other messages."""
        if key := await self._ledger.get_mention_channel(message_id):
            self.wake(key)

    async def ask_again(self, turn_id: str, user_id: int, answer_id: int) -> bool:
        """Answer a failed turn's questions again. Returns False if they are gone or waiting."""
        key = await self._ledger.get_mention_channel(parse_channel_turn_id(turn_id) or 0)
        reopened = await self._ledger.reopen(key, user_id, answer_id) if key else frozenset[int]()
        if key and reopened:
            self._retried_question_ids |= reopened
            self.wake(key)
        return bool(reopened)

    def close(self) -> None:
        self._closed.set()

    async def finish(self) -> None:
        """After `close`, wait until running answers are recorded. Cancelling the wait cancels the answers."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve_channel(self, key: ChannelKey) -> None:
        async with self._channel_locks.hold(key):
            self._queued_channels.discard(key)
            try:
                due, user_records = await self._ledger.list_due_with_authors(key)
            except StorageError as error:
                self._retry_later(key, error, RETRY_S)
                return
            by_user = defaultdict[int, list[Mention]](list)
            for mention in due:
                by_user[mention.question.author_id].append(mention)
            served_ids = {user_id for channel, user_id in self._served_users if channel == key}
            next_ids = [user_id for user_id in by_user if user_id not in served_ids]
            next_ids = next_ids[: max(0, MAX_CONCURRENT_USERS - len(served_ids))]
            for user_id in next_ids if not self._closed.is_set() else ():
                self._served_users.add((key, user_id))
                user = WaitingUser(user_id, key, user_records[user_id])
                self._tasks.start(self._serve_user(user, by_user[user_id]))
            if len(next_ids) == len(by_user):
                self._crowded_channels.discard(key)
                return
            self._crowded_channels.add(key)
            if key not in self._typing_channels:
                self._tasks.start(self._show_typing(key))

    async def _serve_user(self, user: WaitingUser, due: Sequence[Mention]) -> None:
        key, may_have_more = user.key, False
        try:
            if retry_s := await self._handle_due(user, due):
                self._retry_later(key, None, retry_s)
            else:  # one turn may have answered only some
                may_have_more = len(due) > 1 or due[0].state != "accepted"
        except (StorageError, hikari.HikariError) as error:
            self._retry_later(key, error, RETRY_S)
        except Exception:  # noqa: BLE001 - logged, and retried
            _log.error("mentions_broke", location=key.location_id, exc_info=True)
            self._retry_later(key, None, RETRY_S)
        finally:
            self._served_users.discard((key, user.id))
            if may_have_more or key in self._crowded_channels:
                self.wake(key)

    def _retry_later(self, key: ChannelKey, error: Exception | None, pause_s: float) -> None:
        if error:
            _log.warning("mentions_wait", location=key.location_id, error=type(error).__name__)
        asyncio.get_running_loop().call_later(pause_s, self.wake, key)

    async def _show_typing(self, key: ChannelKey) -> None:
        self._typing_channels.add(key)
        while key in self._crowded_channels and not self._closed.is_set():
            with log_failure("typing_not_shown", hikari.HikariError, level="info"):
                await self.mention_answerer.answers.replies.rest.trigger_typing(key.location_id)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), TYPING_INTERVAL_S)
        self._typing_channels.discard(key)

    async def _handle_due(self, user: WaitingUser, due: Sequence[Mention]) -> float:
        """Show stored answers, then answer edits, then waiting questions. Returns the seconds until a retry,
        or 0.0 if none is needed."""
        if any(each.state == "answered" for each in due):
            await self.mention_answerer.show_stored(user)
        refusal = await self.gate.find_refusal_in(user.key, user.id, user.record.access)
        # Edits first: only the newest answer can be replaced.
        edited = [each.question for each in due if each.state == "edited"]
        edits_done = [await self._answer_edit(user, each, refusal) for each in edited]
        waiting = [each for each in due if each.state == "accepted"]
        if waiting and not await self._respond(user, waiting, refusal):
            return RETRY_S
        return 0.0 if all(edits_done) else IN_USE_RETRY_S

    async def _answer_edit(self, user: WaitingUser, question: Message, refusal: Refusal | None) -> bool:
        if self._closed.is_set():
            return False
        if refusal:
            await self._ledger.mark_edit_processed(user.key, question)
            return True
        is_recent = self._age(question) <= MAX_EDIT_AGE
        return await self.mention_answerer.answer_edit(user, question, reopen_failed=is_recent)

    async def _respond(self, user: WaitingUser, waiting: Sequence[Mention], refusal: Refusal | None) -> bool:
        """Returns whether questions were answered or refused."""
        post_sentence = self.mention_answerer.post_sentence
        before_reset = [each for each in waiting if each.is_before_reset]
        too_old = [each for each in waiting if self._is_too_old(each.question)]
        if before_reset:
            await post_sentence(user, before_reset, lambda words: words[MentionTexts].reset_meanwhile)
        elif refusal and (refusal.why == "maintenance" or any(each.shown_in for each in waiting)):
            error = error_of_refusal(refusal)
            await post_sentence(user, waiting, lambda words: explain(error, words))
        elif refusal:  # the channel gets no answer
            await self._ledger.mark_failed(user.key, [each.question for each in waiting])
        elif too_old:
            await post_sentence(user, too_old, lambda words: words[MentionTexts].was_offline)
        elif self._closed.is_set() or not await self.mention_answerer.answer(user, waiting):
            return False
        else:
            self._retried_question_ids.difference_update(discord_id_of(each.question) for each in waiting)
        return True

    def _is_too_old(self, question: Message) -> bool:
        was_retried = discord_id_of(question) in self._retried_question_ids
        return self._age(question) > MAX_QUESTION_AGE and not was_retried

    def _age(self, question: Message) -> timedelta:
        now = self.mention_answerer.answers.recipients.clock()
        return now - hikari.Snowflake(discord_id_of(question)).created_at
