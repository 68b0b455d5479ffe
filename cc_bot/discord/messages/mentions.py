"""Answers mentions; the waiting questions of each channel are in the database.

Users are answered separately, several at once per channel; what one user asks in the meantime is answered
together. The next process continues after a crash or restart."""

import asyncio
import contextlib
import zlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Final

import hikari
import structlog

from cc_bot.discord.delivery.answers import TurnRunner
from cc_bot.discord.delivery.live import for_channel
from cc_bot.discord.delivery.outlets import DirectMessages, MessageReplies
from cc_bot.discord.delivery.reply import REFUSALS, Reply, Sent, is_gone, sent_messages
from cc_bot.discord.delivery.turns import ShownTurn
from cc_bot.discord.gate import Gate, SeenRoles, error_of
from cc_bot.discord.gateway import EVERYWHERE
from cc_bot.discord.pages.answer import AnswerState, final_pages, stored_state, unanswered_page, with_controls
from cc_bot.discord.pages.custom_ids import base36
from cc_bot.discord.pages.page import Page
from cc_bot.discord.places import Recent
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.access import Refusal
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import AnswerInUse, CcBotError, StorageError
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import PendingTurn
from cc_bot.log import begin_turn
from cc_bot.stores import Mention, Stores, TurnLedger, asked_in, channel_turn
from cc_bot.texts import explain

_log = structlog.get_logger(__name__)

MAX_BATCH = 10
"""Questions per answer; the others are answered next."""
MAX_BATCH_CHARACTERS = 6000
"""Of these together; the same as the limit of one question."""
MAX_TEXT_HASHES = 1000


def next_batch(waiting: Sequence[Mention]) -> Sequence[Mention]:
    """Return the oldest waiting questions to answer together, at least one."""
    characters = 0
    for count, mention in enumerate(waiting[:MAX_BATCH]):
        characters += len(mention.question.content)
        if count and characters > MAX_BATCH_CHARACTERS:
            return waiting[:count]
    return waiting[:MAX_BATCH]


def id_of(question: Message) -> int:
    if question.discord_id is None:
        raise ValueError("a question in a channel has a Discord id")
    return question.discord_id


@dataclass(eq=False, slots=True)
class ChannelAnswers:
    stores: Stores
    runner: TurnRunner
    replies: MessageReplies
    roles: SeenRoles
    _told: set[int] = field(default_factory=set)
    """Questions whose authors were told that there is no answer; not yet recorded."""
    _posted: dict[int, int] = field(default_factory=dict)
    """By question, the message of an answer not yet recorded."""
    _read: Recent[int, int] = field(default_factory=partial(Recent[int, int], MAX_TEXT_HASHES))
    """Hashes of the questions' texts when last answered: the answer may already cover an edit."""

    async def answer(self, key: ChannelKey, waiting: Sequence[Mention]) -> bool:
        """Answer the waiting questions of one user, interrupted ones first.

        Returns whether they are done: not if the process stops, or the answer could not be shown. Raises
        StorageError, and hikari's errors if Discord is unavailable; then the questions wait, too.
        """
        if await self._give_up_told(key, waiting):
            return True
        begin_turn()
        turn, reply = await self._begin(key, waiting)
        try:
            with self.runner.running.track(turn):
                state = await self.runner.show(turn, reply, opened=partial(self._note_opened, key, turn))
        except REFUSALS as error:
            await self._mark_unreachable(turn, error)
            await self._give_up(key, turn.mentions)
            return True
        self._note_read(turn.mentions)
        if turn.withdrawn:
            await self._forget(key, turn, reply, state)
        elif turn.postponed:
            return False
        elif state.stored:
            await self._note_pages(key, reply, shown=not state.unseen)
        elif not state.unseen:
            failed_in = (await reply.message_ids())[0] if state.failure else None
            await self._give_up(key, turn.mentions, failed_in)
        return turn.withdrawn or not state.unseen

    async def say(
        self, key: ChannelKey, waiting: Sequence[Mention], sentence: Callable[[Recipient], str]
    ) -> None:
        """Post a sentence instead of an answer, with the side effects of a process that died. Raises as
        `answer`."""
        if await self._give_up_told(key, waiting):
            return
        turn, reply = await self._begin(key, waiting)
        recipient = turn.recipient
        words = for_channel(recipient.words)
        page = unanswered_page(sentence(recipient), turn.row.calls, words, recipient.user_id, "public")
        try:
            await reply.show((page,))
        except REFUSALS as error:
            await self._mark_unreachable(turn, error)
        await self._give_up(key, turn.mentions)

    async def remake(self, key: ChannelKey, question: Message, *, again: bool = False) -> bool:
        """Answer an edited question again in place, if its answer is its author's newest and was given to an
        older text. `again`: a question whose answer failed waits again. Returns whether that is done: not
        while a tool of the answer is running, if the process stops, or if it could not be shown. Raises as
        `answer`."""
        answer_id = await self.stores.ledger.get_answer_message(id_of(question))
        newest = await self.stores.channels.get_newest_answer(key, question.author_id)
        if answer_id is not None and again:
            await self.stores.ledger.reopen(key, question.author_id, answer_id)
        if answer_id is not None and newest is not None and newest.discord_id == answer_id:
            questions = await self.stores.ledger.list_questions(answer_id)
            if (
                questions
                and any(self._read.get(id_of(each)) != hash(each.content) for each in questions)
                and not await self._remake(key, newest, questions)
            ):
                return False
        await self.stores.ledger.mark_read(key, question)
        return True

    async def _remake(self, key: ChannelKey, answer: Message, questions: Sequence[Message]) -> bool:
        try:
            calls, user_id = self.runner.assistant.approvals, questions[0].author_id
            await calls.check_none_in_flight(user_id, answer.id or 0)
        except AnswerInUse:  # a new answer would remove the Stop button of its tool
            return False
        begin_turn()
        answer_id, turn = id_of(answer), await self._turn(key, questions)
        before = await self._pages_of(turn, answer)
        reply = self._reply(key, turn, await self._messages_of(answer_id))
        with self.runner.running.track(turn):
            state = await self.runner.show(turn, reply, answer_id=answer_id, before=before, again=True)
        if turn.withdrawn:
            await self._forget(key, turn, reply, state)
        else:
            await self._note_pages(key, reply, shown=not state.unseen)
        if state.stored:
            self._note_read(turn.mentions)
        return not (turn.postponed or state.unseen)

    async def show_stored(self, key: ChannelKey, user_id: int) -> None:
        """Show a user's stored answers whose end was not shown. Raises as `answer`."""
        for answer in await self.stores.ledger.list_unshown(key):
            questions = await self.stores.ledger.list_questions(id_of(answer))
            if all(question.author_id != user_id for question in questions):
                continue
            turn = await self._turn(key, questions)
            reply = self._reply(key, turn, await self._messages_of(id_of(answer)))
            try:
                pages = await self._pages_of(turn, answer)
                await reply.show(pages)
                if receipts := self.runner.running.receipts:
                    await receipts.record(reply, pages[-1].receipts, turn.recipient.words)
            except REFUSALS as error:
                if is_gone(error):  # a user deleted one of its messages
                    await self._forget(key, turn, reply)
                    continue
                await self._mark_unreachable(turn, error)
            await self._note_pages(key, reply, shown=True)

    async def _begin(self, key: ChannelKey, waiting: Sequence[Mention]) -> tuple[ShownTurn, Reply]:
        """Return the turn to answer now, first one begun before a crash or a database error, and its
        reply."""
        if begun_as := max((each.begun_as or 0 for each in waiting), default=0):
            served = [each for each in waiting if each.begun_as == begun_as]
            turn = await self._turn(key, [each.question for each in served])
            turn.row = replace(turn.row, calls=served[-1].calls)
            shown_in = next(filter(None, (each.shown_in for each in served)), None)
            answer_id = shown_in or self._posted.get(id_of(turn.mentions[0]))
            sent = await self._messages_of(answer_id) if answer_id else ()
            return turn, self._reply(key, turn, sent, begun_as)
        turn = await self._turn(key, [each.question for each in next_batch(waiting)])
        await self.stores.ledger.begin_answer(key, turn.mentions, turn.row.question_id or 0)
        return turn, self._reply(key, turn)

    async def _turn(self, key: ChannelKey, questions: Sequence[Message]) -> ShownTurn:
        typed, user_id = "\n".join(question.typed for question in questions), questions[-1].author_id
        recipient = await self.runner.recipients.of_author_in(key.place_id, user_id, typed)
        guild_id = self.runner.recipients.guilds.guild_of(key.place_id)
        row = PendingTurn(
            channel_turn(id_of(questions[-1])),
            SessionKey(user_id, key.place_id),
            "mention",
            "public",
            self.runner.recipients.clock(),
            guild_id=guild_id,
            question_id=id_of(questions[-1]),
        )
        roles = self.roles.of(guild_id, user_id)
        mentions = tuple(questions)
        return ShownTurn(self.runner.running, row, recipient, role_ids=roles, place=key, mentions=mentions)

    def _reply(
        self, key: ChannelKey, turn: ShownTurn, sent: Sequence[Sent] = (), newest_id: int = 0
    ) -> Reply:
        question_id, recipient = newest_id or turn.row.question_id or 0, turn.recipient
        link = self.runner.recipients.guilds.link(key.place_id, question_id)
        asker = DirectMessages(recipient.user_id, recipient.words.unfinished.late_note(link))
        texts = "\n".join(question.content for question in turn.mentions)
        edition = base36(zlib.crc32(texts.encode()))  # the same in the next process
        return self.replies.to(key.place_id, question_id, sent, edition=edition, asker=asker)

    async def _messages_of(self, answer_id: int) -> tuple[Sent, ...]:
        return sent_messages((answer_id, *await self.stores.channels.list_pages(answer_id)))

    async def _note_opened(self, key: ChannelKey, turn: ShownTurn, answer_id: int) -> None:
        """Record the answer's message. Withdraws questions that were deleted first."""
        ids = frozenset(map(id_of, turn.mentions))
        self._posted.update(dict.fromkeys(ids, answer_id))
        waiting = await self.stores.ledger.note_answer(key, turn.mentions, answer_id)
        for question_id in ids:
            del self._posted[question_id]
        turn.withdraw(ids - waiting)

    def _note_read(self, questions: Sequence[Message]) -> None:
        for question in questions:
            self._read[id_of(question)] = hash(question.content)

    async def _mark_unreachable(self, turn: ShownTurn, error: Exception) -> None:
        place_id = turn.row.key.channel_id
        _log.warning("answer_not_allowed", place=place_id, error=type(error).__name__)
        await self.replies.mark_unreachable(place_id, turn.row.question_id or 0)

    async def _give_up(
        self, key: ChannelKey, questions: Sequence[Message], failed_in: int | None = None
    ) -> None:
        """Stop the questions from waiting, in this process even if the database fails."""
        ids = frozenset(map(id_of, questions))
        self._told.update(ids)
        await self.stores.ledger.give_up(key, questions, failed_in)
        self._told.difference_update(ids)

    async def _give_up_told(self, key: ChannelKey, waiting: Sequence[Mention]) -> bool:
        """Remove questions whose authors were told. Returns whether there were any."""
        told = [each.question for each in waiting if id_of(each.question) in self._told]
        if told:
            await self._give_up(key, told)
        return bool(told)

    async def _note_pages(self, key: ChannelKey, reply: Reply, *, shown: bool) -> None:
        answer_id, *pages = await reply.message_ids()
        if pages:
            await self.stores.channels.add_pages(key.place_id, answer_id, pages)
        if shown:
            await self.stores.ledger.mark_shown(key, answer_id)

    async def _forget(
        self, key: ChannelKey, turn: ShownTurn, reply: Reply, state: AnswerState | None = None
    ) -> None:
        """Delete a withdrawn answer, and tell its author what was done. Questions dropped by a concurrent
        reset stay: their authors are told next."""
        due = await self.stores.ledger.list_due(key)
        left_behind = {id_of(each.question) for each in due if each.left_behind}
        unwanted = [question for question in turn.mentions if id_of(question) not in left_behind]
        await self.stores.ledger.give_up(key, unwanted)
        await self.stores.channels.delete(await reply.message_ids(), place_id=key.place_id)
        await reply.try_to_remove()
        if state:
            await self.replies.say_effects(turn.row.question_id or 0, turn.recipient, state)

    async def _pages_of(self, turn: ShownTurn, answer: Message) -> tuple[Page, ...]:
        words, user_id = for_channel(turn.recipient.words), turn.recipient.user_id
        left = await self.stores.proposals.list_for_answer(user_id, answer.id) if answer.id else ()
        heard = "\n".join(question.heard for question in turn.mentions if question.heard)
        state = stored_state(answer, left, heard=heard)
        *pages, last = final_pages(state, words)
        last = with_controls(last, state, words, user_id)
        receipts = self.runner.running.receipts
        last = await receipts.with_current_state(last, words) if receipts else last
        return (*pages, last)


# ---- typing indicator ------------------------------------------------------------------------------------
# The typing indicator, for users who wait while others in the channel are answered.


INTERVAL_S = 9.0
"""Discord shows the indicator for ten seconds, or until the bot posts."""


class TypingSigns:
    def __init__(self, rest: hikari.api.RESTClient) -> None:
        self._rest = rest
        self._typing: dict[ChannelKey, asyncio.Task[None]] = {}
        self._closed = asyncio.Event()

    def begin(self, key: ChannelKey, wanted: Callable[[], Awaitable[bool]]) -> None:
        """Show the indicator while `wanted`, which may raise StorageError."""
        if key not in self._typing and not self._closed.is_set():
            self._typing[key] = asyncio.create_task(self._type(key, wanted))

    def close(self) -> None:
        self._closed.set()

    async def finish(self) -> None:
        """Wait after `close` until no request is in flight."""
        await asyncio.gather(*self._typing.values())

    async def _type(self, key: ChannelKey, wanted: Callable[[], Awaitable[bool]]) -> None:
        try:
            while not self._closed.is_set() and await wanted():
                await self._show(key)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closed.wait(), INTERVAL_S)
        except StorageError as error:
            _log.info("typing_ended", error=type(error).__name__)
        finally:
            del self._typing[key]

    async def _show(self, key: ChannelKey) -> None:
        try:
            await self._rest.trigger_typing(key.place_id)
        except hikari.HikariError as error:
            _log.info("typing_not_shown", error=type(error).__name__)


# ---- mentions --------------------------------------------------------------------------------------------

MAX_QUESTION_AGE: Final = timedelta(hours=1)
"""Older questions are not answered."""
EDIT_WITHIN: Final = timedelta(minutes=10)
"""Later edits neither add a mention nor retry a failed question."""
MAX_CONCURRENT_USERS: Final = 5
"""Per channel, where Discord allows five new messages and five edits in five seconds."""
IN_USE_RETRY_S: Final = 1.0
"""While a tool of the answer is running."""
RETRY_S: Final = 30.0
"""After the database or Discord failed, unless a new question arrives."""


@dataclass(eq=False, slots=True)
class _Channel:
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when work may be due."""
    serving: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    """Tasks by user."""
    work: asyncio.Task[None] | None = None


class Mentions:
    def __init__(
        self,
        store: TurnLedger,
        answers: ChannelAnswers,
        typing: TypingSigns,
        gate: Gate,
        clock: Clock,
        *,
        retry_s: float = RETRY_S,
    ) -> None:
        self._store = store
        self._answers = answers
        self._typing = typing
        self._gate = gate
        self._clock = clock
        self._retry_s = retry_s
        self._busy: dict[ChannelKey, _Channel] = {}
        self._asked_again: set[int] = set()
        """Questions asked again by a button: answered at any age."""
        self._closed = False

    async def resume(self, serves: Callable[[int], Awaitable[bool]] = EVERYWHERE.has) -> None:
        """Answer questions left by the last process, in the channels of this one."""
        for key in await self._store.list_places():
            if await serves(key.place_id):
                self.wake(key)

    def wake(self, key: ChannelKey) -> None:
        """Answer the waiting questions of a channel. Shows typing while others are answered."""
        if key in self._busy and self._busy[key].serving:
            self._typing.begin(key, lambda: self._store.has_unattended(key))
        self._look(key)

    async def follow_edit(self, message_id: int) -> None:
        """Answer an edited message again if it is a question. Raises StorageError."""
        key = await self._store.get_place(message_id)
        if key is not None:
            self._look(key)

    async def is_question(self, message_id: int, user_id: int) -> bool:
        """See TurnLedger. Raises StorageError."""
        return await self._store.is_question(message_id, user_id)

    async def ask_again(self, turn: str, user_id: int, answer_id: int) -> bool:
        """Answer failed questions again, in the message that shows the failure. Returns False if they are
        gone or waiting. Raises StorageError."""
        key = await self._store.get_place(asked_in(turn) or 0)
        reopened = await self._store.reopen(key, user_id, answer_id) if key else frozenset[int]()
        if key and reopened:
            self._asked_again |= reopened
            self.wake(key)
        return bool(reopened)

    def close(self) -> None:
        """Begin no more answers; the next process does."""
        self._closed = True
        for channel in self._busy.values():
            channel.woken.set()
        self._typing.close()

    async def finish(self) -> None:
        """Wait after `close` until running answers are recorded."""
        works = [each.work for each in self._busy.values() if each.work]
        serving = [task for each in self._busy.values() for task in each.serving.values()]
        await asyncio.gather(self._typing.finish(), *works, *serving)

    def _look(self, key: ChannelKey) -> None:
        channel = self._busy.get(key)
        if channel is None and not self._closed:
            channel = self._busy[key] = _Channel()
            channel.work = asyncio.create_task(self._work(key, channel))
        if channel:
            channel.woken.set()

    async def _work(self, key: ChannelKey, channel: "_Channel") -> None:
        try:
            while not self._closed:
                channel.woken.clear()
                try:
                    due = defaultdict[int, list[Mention]](list)
                    for mention in await self._store.list_due(key):
                        due[mention.question.author_id].append(mention)
                except StorageError as error:
                    _log.warning("mentions_wait", place=key.place_id, error=type(error).__name__)
                    asyncio.get_running_loop().call_later(self._retry_s, channel.woken.set)
                else:
                    if not (due or channel.serving or channel.woken.is_set()):
                        break
                    self._begin_serving(key, channel, due)
                await channel.woken.wait()
            await asyncio.gather(*channel.serving.values())
        finally:
            del self._busy[key]

    def _begin_serving(
        self, key: ChannelKey, channel: "_Channel", due: Mapping[int, Sequence[Mention]]
    ) -> None:
        for user_id, mentions in due.items():
            at_once = len(channel.serving) < MAX_CONCURRENT_USERS and not self._closed
            if at_once and user_id not in channel.serving:
                serving = self._serve(key, user_id, mentions, channel)
                channel.serving[user_id] = asyncio.create_task(serving)

    async def _serve(
        self, key: ChannelKey, user_id: int, due: Sequence[Mention], channel: "_Channel"
    ) -> None:
        after_s = self._retry_s
        try:
            after_s = await self._attend(key, user_id, due)
        except (StorageError, hikari.HikariError) as error:
            _log.warning("mentions_wait", place=key.place_id, error=type(error).__name__)
        except Exception:  # noqa: BLE001 - logged, and retried
            _log.error("mentions_broke", place=key.place_id, exc_info=True)
        finally:
            del channel.serving[user_id]
        asyncio.get_running_loop().call_later(after_s, channel.woken.set)

    async def _attend(self, key: ChannelKey, user_id: int, due: Sequence[Mention]) -> float:
        """Returns the seconds until a retry; 0 if done."""
        if any(each.state == "answered" for each in due):
            await self._answers.show_stored(key, user_id)
        remade = [await self._remake(key, each.question) for each in due if each.state == "edited"]
        if not await self._answer(key, user_id, [each for each in due if each.state == "accepted"]):
            return self._retry_s
        return 0.0 if all(remade) else IN_USE_RETRY_S

    async def _remake(self, key: ChannelKey, question: Message) -> bool:
        """Returns whether it is done. Edits come before new questions: once there is a newer answer, the
        older one stays."""
        if self._closed:
            return False
        if await self._gate.refusals_in(key, [question]):
            await self._store.mark_read(key, question)
            return True
        age = self._clock() - hikari.Snowflake(id_of(question)).created_at
        return await self._answers.remake(key, question, again=age <= EDIT_WITHIN)

    async def _answer(self, key: ChannelKey, user_id: int, waiting: Sequence[Mention]) -> bool:
        """Returns whether it is done."""
        if left_behind := [each for each in waiting if each.left_behind]:
            await self._answers.say(key, left_behind, lambda recipient: recipient.words.mention.left_behind)
        elif not waiting:
            return True
        elif refusal := (await self._gate.refusals_in(key, [each.question for each in waiting])).get(user_id):
            await self._reject(key, waiting, refusal)
        elif late := [each for each in waiting if self._is_late(each.question)]:
            await self._answers.say(key, late, lambda recipient: recipient.words.mention.away)
        else:
            done = not self._closed and await self._answers.answer(key, waiting)
            if done:
                self._asked_again.difference_update(id_of(each.question) for each in waiting)
            return done
        return True

    async def _reject(self, key: ChannelKey, waiting: Sequence[Mention], refusal: Refusal) -> None:
        """Only maintenance is announced in the channel."""
        if refusal.why == "maintenance" or any(each.shown_in for each in waiting):
            await self._answers.say(key, waiting, partial(_explain, error_of(refusal)))
        else:
            await self._store.give_up(key, [each.question for each in waiting])

    def _is_late(self, question: Message) -> bool:
        asked_at = hikari.Snowflake(id_of(question)).created_at
        return id_of(question) not in self._asked_again and self._clock() - asked_at > MAX_QUESTION_AGE


def _explain(error: CcBotError, recipient: Recipient) -> str:
    return explain(error, recipient.words)
