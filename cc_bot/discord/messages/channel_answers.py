"""Answers in a channel or thread: one answer to the waiting questions of one user, as a reply to the newest.

The answer's message is posted and recorded before the model is asked, so that a crash continues the same
message. `Mentions` decides which questions wait.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import structlog

from cc_bot.discord.delivery.asking import ShownTurn, TurnRunner
from cc_bot.discord.delivery.deliveries import Deliveries, Delivery
from cc_bot.discord.delivery.live import for_channel
from cc_bot.discord.delivery.outlets import DirectMessages, MessageReplies
from cc_bot.discord.delivery.refusals import REFUSALS, is_gone
from cc_bot.discord.delivery.reply import Reply, Sent, sent_messages
from cc_bot.discord.gate import SeenRoles
from cc_bot.discord.pages.answer import AnswerState, final_pages, stored_state, unanswered_page, with_controls
from cc_bot.discord.pages.custom_ids import base36
from cc_bot.discord.pages.page import Page
from cc_bot.discord.places import Recent
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import AnswerInUse
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import PendingTurn
from cc_bot.log import begin_turn
from cc_bot.stores import Mention, Stores, channel_turn

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
    deliveries: Deliveries
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
            turn.delivery.turn = replace(turn.row, calls=served[-1].calls)
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
        delivery = Delivery(self.deliveries, row)
        return ShownTurn(delivery, recipient, role_ids=roles, place=key, mentions=tuple(questions))

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
        ids = turn.message_ids
        self._posted.update(dict.fromkeys(ids, answer_id))
        waiting = await self.stores.ledger.note_answer(key, turn.mentions, answer_id)
        for question_id in ids:
            del self._posted[question_id]
        turn.running.withdraw(ids - waiting)

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
