"""Answers mentions; waiting questions are in the database.

A user's waiting questions are answered together, as a reply to the newest. The answer's message is recorded
before the model is asked, so that after a crash the next process continues in it.
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

from cc_bot.chat.stores.ledger import Mention, TurnLedger, channel_turn_id, parse_channel_turn_id
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.settings import VisitorState
from cc_bot.concurrency import KeyedLock, Tasks
from cc_bot.discord.agents import SelectedAgent
from cc_bot.discord.delivery.answers import Answers
from cc_bot.discord.delivery.live import texts_for_channel
from cc_bot.discord.delivery.outlets import DmFallback
from cc_bot.discord.delivery.reply import DISCORD_REFUSALS, Poster, Sent, is_gone, sent_messages
from cc_bot.discord.delivery.turns import DiscordTurn
from cc_bot.discord.gate import Gate, SeenRoles, error_of
from cc_bot.discord.locations import LruCache
from cc_bot.discord.pages.answer import AnswerState, final_pages, stored_state, unanswered_page, with_controls
from cc_bot.discord.pages.page import Page
from cc_bot.domain.access import Refusal
from cc_bot.domain.errors import AnswerInUse, StorageError
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import PendingTurn
from cc_bot.log import begin_turn
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
TYPING_S: Final = 9.0  # Discord shows the indicator for ten seconds


def next_batch(waiting: Sequence[Mention]) -> Sequence[Mention]:
    """Return the oldest questions, as many as one turn answers."""
    characters = 0
    for count, mention in enumerate(waiting[:MAX_BATCH]):
        characters += len(mention.question.content)
        if count and characters > MAX_BATCH_CHARACTERS:
            return waiting[:count]
    return waiting[:MAX_BATCH]


def id_of(message: Message) -> int:
    if message.discord_id is None:
        raise ValueError("a message in a channel has a Discord id")
    return message.discord_id


@dataclass(frozen=True, slots=True)
class WaitingUser:
    """A user with questions in a channel or thread, and the settings, limits and agents read with them."""

    id: int
    key: ChannelKey
    state: VisitorState


@dataclass(eq=False, slots=True)
class ChannelAnswers:
    """Answers a user's waiting questions. Raises StorageError and hikari's errors; then they wait."""

    stores: Stores
    answers: Answers
    roles: SeenRoles
    _unrecorded: dict[int, int] = field(default_factory=dict)  # answer ids by question, until stored
    _answered_texts: LruCache[int, int] = field(default_factory=LruCache)  # text hashes by question

    async def answer(self, user: WaitingUser, waiting: Sequence[Mention]) -> bool:
        """Answer the questions, interrupted ones first. Returns whether they are done."""
        begin_turn()
        turn, reply = await self._begin(user, waiting)
        turn.on_opened = partial(self._record_message, user.key, turn)
        try:
            return await self._deliver(user.key, turn, reply)
        except DISCORD_REFUSALS as error:
            await self._mark_unreachable(turn, error)
            await self.stores.ledger.give_up(user.key, turn.mentions)
            return True

    async def post_sentence(
        self, user: WaitingUser, waiting: Sequence[Mention], sentence: Callable[[Texts], str]
    ) -> None:
        """Post a sentence instead of an answer, with what tools have changed."""
        turn, reply = await self._begin(user, waiting)
        words = turn.recipient.words
        page = unanswered_page(sentence(words), turn.entry.calls, texts_for_channel(words), user.id, "public")
        try:
            await reply.show((page,))
        except DISCORD_REFUSALS as error:
            await self._mark_unreachable(turn, error)
        await self.stores.ledger.give_up(user.key, turn.mentions)

    async def answer_edit(self, user: WaitingUser, question: Message, *, reopen_failed: bool) -> bool:
        """Answer an edited question again in place, if its answer is the author's newest and older than the
        edit. With `reopen_failed`, a question whose answer failed waits again. Returns False to try later."""
        ledger = self.stores.ledger
        answer_id = await ledger.get_answer_message(id_of(question))
        newest = await self.stores.channels.get_newest_answer(user.key, user.id)
        if answer_id is not None and reopen_failed:
            await ledger.reopen(user.key, user.id, answer_id)
        if answer_id is not None and newest is not None and newest.discord_id == answer_id:
            questions = await ledger.list_questions(answer_id)
            changed = any(self._answered_texts.get(id_of(each)) != hash(each.content) for each in questions)
            if changed and not await self._replace_answer(user, newest, questions):
                return False
        await ledger.mark_edit_processed(user.key, question)
        return True

    async def _replace_answer(self, user: WaitingUser, answer: Message, questions: Sequence[Message]) -> bool:
        try:
            await self.answers.assistant.approvals.check_none_in_flight(user.id, answer.id or 0)
        except AnswerInUse:  # a new answer would remove the Stop button of its tool
            return False
        begin_turn()
        answer_id, turn = id_of(answer), await self._make_turn(user, questions)
        turn.message_id, turn.is_edit = answer_id, True
        turn.before = await self._render_stored(turn, answer)
        reply = self._make_reply(user.key, turn, await self._list_messages(answer_id))
        return await self._deliver(user.key, turn, reply)

    async def _deliver(self, key: ChannelKey, turn: DiscordTurn, reply: Poster) -> bool:
        """Show the answer, and record the outcome. Returns whether the questions are done."""
        with self.answers.running.track(turn):
            state = await self.answers.show(turn, reply)
        if state.stored:
            for question in turn.mentions:
                self._answered_texts[id_of(question)] = hash(question.content)
        if turn.withdrawn:
            await self._delete_withdrawn(key, turn, reply, state)
            return True
        if turn.postponed:
            return False
        if state.stored or turn.is_edit:
            await self._record_pages(key, reply, shown=not state.unshown)
        elif not state.unshown:
            failed_in = (await reply.message_ids())[0] if state.failure else None
            await self.stores.ledger.give_up(key, turn.mentions, failed_in)
        return not state.unshown

    async def show_stored(self, user: WaitingUser) -> None:
        """Show the user's answers that are stored but not completely shown."""
        key = user.key
        for answer in await self.stores.ledger.list_unshown(key):
            questions = await self.stores.ledger.list_questions(id_of(answer))
            if all(question.author_id != user.id for question in questions):
                continue
            turn = await self._make_turn(user, questions)
            reply = self._make_reply(key, turn, await self._list_messages(id_of(answer)))
            try:
                pages = await self._render_stored(turn, answer)
                await reply.show(pages)
                shown, words = pages[-1].receipts, turn.recipient.words
                await self.answers.running.receipts.record(reply, shown, words)
            except DISCORD_REFUSALS as error:
                if is_gone(error):  # a user deleted one of its messages
                    await self._delete_withdrawn(key, turn, reply)
                    continue
                await self._mark_unreachable(turn, error)
            await self._record_pages(key, reply, shown=True)

    async def _begin(self, user: WaitingUser, waiting: Sequence[Mention]) -> tuple[DiscordTurn, Poster]:
        """Make the next turn; interrupted ones come first."""
        if interrupted_id := max((each.nonce_question_id or 0 for each in waiting), default=0):
            served = [each for each in waiting if each.nonce_question_id == interrupted_id]
            turn = await self._make_turn(user, [each.question for each in served])
            turn.entry = replace(turn.entry, calls=served[-1].calls)
            shown_in = next(filter(None, (each.shown_in for each in served)), None)
            answer_id = shown_in or self._unrecorded.get(id_of(turn.mentions[0]))
            sent = await self._list_messages(answer_id) if answer_id else ()
            return turn, self._make_reply(user.key, turn, sent, interrupted_id)
        turn = await self._make_turn(user, [each.question for each in next_batch(waiting)])
        await self.stores.ledger.begin_answer(user.key, turn.mentions, turn.entry.question_id or 0)
        return turn, self._make_reply(user.key, turn)

    async def _make_turn(self, user: WaitingUser, questions: Sequence[Message]) -> DiscordTurn:
        answers, key, newest_id = self.answers, user.key, id_of(questions[-1])
        typed = "\n".join(question.typed for question in questions)  # without quotes and transcripts
        recipient = await answers.recipients.for_author(key.location_id, user.id, typed, user.state.settings)
        agent = await answers.chooser.for_mentions(key, user.state.agents)
        session = SessionKey(user.id, key.location_id)
        guild_id = answers.recipients.guilds.guild_of(key.location_id)
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
            answers.running,
            entry,
            recipient,
            SelectedAgent(session, agent),
            role_ids=self.roles.get((guild_id, user.id)),
            location=key,
            mentions=tuple(questions),
        )

    def _make_reply(
        self, key: ChannelKey, turn: DiscordTurn, sent: Sequence[Sent] = (), nonce_question_id: int = 0
    ) -> Poster:
        question_id, recipient = nonce_question_id or turn.entry.question_id or 0, turn.recipient
        link = self.answers.recipients.guilds.link(key.location_id, question_id)
        dm_fallback = DmFallback(recipient.user_id, recipient.words[UnfinishedTexts].late_note(link))
        return self.answers.replies.make_reply(key.location_id, question_id, sent, dm_fallback=dm_fallback)

    async def _list_messages(self, answer_id: int) -> tuple[Sent, ...]:
        return sent_messages((answer_id, *await self.stores.channels.list_pages(answer_id)))

    async def _record_message(self, key: ChannelKey, turn: DiscordTurn, answer_id: int) -> None:
        """Record the answer's message. Withdraws questions that were deleted meanwhile."""
        ids = frozenset(map(id_of, turn.mentions))
        self._unrecorded.update(dict.fromkeys(ids, answer_id))
        waiting = await self.stores.ledger.set_answer_message(key, turn.mentions, answer_id)
        for question_id in ids:
            del self._unrecorded[question_id]
        turn.withdraw(ids - waiting)

    async def _mark_unreachable(self, turn: DiscordTurn, error: Exception) -> None:
        location_id = turn.entry.key.channel_id
        _log.warning("answer_not_allowed", location=location_id, error=type(error).__name__)
        await self.answers.replies.mark_unreachable(location_id, turn.entry.question_id or 0)

    async def _record_pages(self, key: ChannelKey, reply: Poster, *, shown: bool) -> None:
        answer_id, *pages = await reply.message_ids()
        if pages:
            await self.stores.channels.add_pages(key.location_id, answer_id, pages)
        if shown:
            await self.stores.ledger.mark_shown(key, answer_id)

    async def _delete_withdrawn(
        self, key: ChannelKey, turn: DiscordTurn, reply: Poster, state: AnswerState | None = None
    ) -> None:
        """Delete a withdrawn answer. Questions from before a channel reset stay: `_answer` posts a notice."""
        due = await self.stores.ledger.list_due(key)
        left_behind = {id_of(each.question) for each in due if each.is_before_reset}
        unwanted = [question for question in turn.mentions if id_of(question) not in left_behind]
        await self.stores.ledger.give_up(key, unwanted)
        await self.answers.withdraw(turn, reply, state)

    async def _render_stored(self, turn: DiscordTurn, answer: Message) -> tuple[Page, ...]:
        words, user_id = texts_for_channel(turn.recipient.words), turn.recipient.user_id
        proposals = await self.stores.proposals.list_for_answer(user_id, answer.id) if answer.id else ()
        heard = "\n".join(question.heard for question in turn.mentions if question.heard)
        state = stored_state(answer, proposals, heard=heard)
        *pages, last = final_pages(state, words)
        last = with_controls(last, state, words, user_id)
        return (*pages, await self.answers.running.receipts.with_current_state(last, words))


@dataclass(eq=False, slots=True)
class MentionQueue:
    """Answers the waiting mentions of all channels, for a few users at a time in each."""

    channel_answers: ChannelAnswers
    gate: Gate
    _order: KeyedLock = field(default_factory=KeyedLock)  # by channel
    _due: set[ChannelKey] = field(default_factory=set)  # their questions are about to be read
    _serving: set[tuple[ChannelKey, int]] = field(default_factory=set)  # users being answered
    _waiting: set[ChannelKey] = field(default_factory=set)  # users wait for others or an earlier answer
    _typing: set[ChannelKey] = field(default_factory=set)
    _tasks: Tasks = field(default_factory=Tasks)
    _asked_again: set[int] = field(default_factory=set)  # questions, by the button
    _closed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def _ledger(self) -> TurnLedger:
        return self.channel_answers.stores.ledger

    async def resume(self, serves: Callable[[int], Awaitable[bool]]) -> None:
        """Answer the waiting mentions of the channels that this process serves. Raises StorageError."""
        for key in await self._ledger.list_channels():
            if await serves(key.location_id):
                self.wake(key)

    def wake(self, key: ChannelKey) -> None:
        """Answer the waiting mentions of a channel, in the background."""
        if key not in self._due and not self._closed.is_set():
            self._due.add(key)
            self._tasks.start(self._serve_channel(key))

    async def follow_edit(self, message_id: int) -> None:
        """Answer a mention again, in the background. Does nothing for other messages."""
        if key := await self._ledger.get_mention_channel(message_id):
            self.wake(key)

    async def ask_again(self, turn_id: str, user_id: int, answer_id: int) -> bool:
        """Answer failed questions again, in place. Returns False if they are gone or waiting."""
        key = await self._ledger.get_mention_channel(parse_channel_turn_id(turn_id) or 0)
        reopened = await self._ledger.reopen(key, user_id, answer_id) if key else frozenset[int]()
        if key and reopened:
            self._asked_again |= reopened
            self.wake(key)
        return bool(reopened)

    def close(self) -> None:
        self._closed.set()

    async def finish(self) -> None:
        """Wait after `close` until running answers are recorded; cancels them if it is cancelled."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve_channel(self, key: ChannelKey) -> None:
        async with self._order.hold(key):
            self._due.discard(key)
            try:
                due, visitor_states = await self._ledger.list_due_with_authors(key)
            except StorageError as error:
                self._retry_later(key, error, RETRY_S)
                return
            by_user = defaultdict[int, list[Mention]](list)
            for mention in due:
                by_user[mention.question.author_id].append(mention)
            serving = {user_id for channel, user_id in self._serving if channel == key}
            next_user_ids = [user_id for user_id in by_user if user_id not in serving]
            next_user_ids = next_user_ids[: max(0, MAX_CONCURRENT_USERS - len(serving))]
            for user_id in next_user_ids if not self._closed.is_set() else ():
                self._serving.add((key, user_id))
                user = WaitingUser(user_id, key, visitor_states[user_id])
                self._tasks.start(self._serve_user(user, by_user[user_id]))
            if len(next_user_ids) == len(by_user):
                self._waiting.discard(key)
                return
            self._waiting.add(key)
            if key not in self._typing:
                self._tasks.start(self._show_typing(key))

    async def _serve_user(self, user: WaitingUser, due: Sequence[Mention]) -> None:
        key, more = user.key, False
        try:
            if after_s := await self._process(user, due):
                self._retry_later(key, None, after_s)
            else:
                more = len(due) > 1 or due[0].state != "accepted"  # perhaps only some are answered
        except (StorageError, hikari.HikariError) as error:
            self._retry_later(key, error, RETRY_S)
        except Exception:  # noqa: BLE001 - logged, and retried
            _log.error("mentions_broke", location=key.location_id, exc_info=True)
            self._retry_later(key, None, RETRY_S)
        finally:
            self._serving.discard((key, user.id))
            if more or key in self._waiting:
                self.wake(key)

    def _retry_later(self, key: ChannelKey, error: Exception | None, after_s: float) -> None:
        if error:
            _log.warning("mentions_wait", location=key.location_id, error=type(error).__name__)
        asyncio.get_running_loop().call_later(after_s, self.wake, key)

    async def _show_typing(self, key: ChannelKey) -> None:
        self._typing.add(key)
        while key in self._waiting and not self._closed.is_set():
            try:
                await self.channel_answers.answers.replies.rest.trigger_typing(key.location_id)
            except hikari.HikariError as error:
                _log.info("typing_not_shown", error=type(error).__name__)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), TYPING_S)
        self._typing.discard(key)

    async def _process(self, user: WaitingUser, due: Sequence[Mention]) -> float:
        """Returns the seconds until a retry, or 0. Edits first: new answers would bar them."""
        if any(each.state == "answered" for each in due):
            await self.channel_answers.show_stored(user)
        refusal = await self.gate.refusal_in(user.key, user.id, user.state.access)
        edited = [each.question for each in due if each.state == "edited"]
        edits_done = [await self._answer_edit(user, each, refusal) for each in edited]
        waiting = [each for each in due if each.state == "accepted"]
        if waiting and not await self._answer(user, waiting, refusal):
            return RETRY_S
        return 0.0 if all(edits_done) else IN_USE_RETRY_S

    async def _answer_edit(self, user: WaitingUser, question: Message, refusal: Refusal | None) -> bool:
        if self._closed.is_set():
            return False
        if refusal:
            await self._ledger.mark_edit_processed(user.key, question)
            return True
        is_recent = self._age(question) <= MAX_EDIT_AGE
        return await self.channel_answers.answer_edit(user, question, reopen_failed=is_recent)

    async def _answer(self, user: WaitingUser, waiting: Sequence[Mention], refusal: Refusal | None) -> bool:
        post_sentence = self.channel_answers.post_sentence
        if left_behind := [each for each in waiting if each.is_before_reset]:
            await post_sentence(user, left_behind, lambda words: words[MentionTexts].left_behind)
        elif refusal and (refusal.why == "maintenance" or any(each.shown_in for each in waiting)):
            error = error_of(refusal)
            await post_sentence(user, waiting, lambda words: explain(error, words))
        elif refusal:  # not announced in the channel
            await self._ledger.give_up(user.key, [each.question for each in waiting])
        elif late := [
            each
            for each in waiting
            if self._age(each.question) > MAX_QUESTION_AGE and id_of(each.question) not in self._asked_again
        ]:
            await post_sentence(user, late, lambda words: words[MentionTexts].away)
        else:
            done = not self._closed.is_set() and await self.channel_answers.answer(user, waiting)
            if done:
                self._asked_again.difference_update(id_of(each.question) for each in waiting)
            return done
        return True

    def _age(self, question: Message) -> timedelta:
        return self.channel_answers.answers.recipients.clock() - hikari.Snowflake(id_of(question)).created_at
