"""Answers in a channel or thread: one answer to the waiting questions of one user, in a reply to the newest.

The message of the answer is posted before the model is asked, and its id is recorded at once, so that after a
crash the same message is continued. `Mentions` decides which questions wait.
"""

import zlib
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import hikari
import structlog

from cc_bot.assistant import Assistant, Stop, TurnOptions
from cc_bot.assistant.turn import until_stopped
from cc_bot.discord.agents import Chooser
from cc_bot.discord.attachments import scans_among
from cc_bot.discord.delivery.forms import OpenForms
from cc_bot.discord.delivery.live import LiveAnswer, RunningTurns, for_channel
from cc_bot.discord.delivery.outlets import DirectMessages, MessageReplies
from cc_bot.discord.delivery.refusals import REFUSALS, is_gone
from cc_bot.discord.delivery.reply import Reply, Sent, sent_messages
from cc_bot.discord.delivery.withdrawals import InFlightAnswer
from cc_bot.discord.gate import SeenRoles
from cc_bot.discord.messages.question_files import Attached, QuestionFiles, any_files
from cc_bot.discord.pages.answer import (
    AnswerState,
    ask_again_button,
    final_pages,
    stored_state,
    unanswered_page,
    with_controls,
)
from cc_bot.discord.pages.custom_ids import RetryButton, base36
from cc_bot.discord.pages.page import Page
from cc_bot.discord.places import Recent
from cc_bot.discord.recipients import Recipient, Recipients
from cc_bot.discord.references import References, Standing
from cc_bot.domain.errors import AnswerInUse, Postponed, ShuttingDown, StorageError
from cc_bot.domain.limits import UsageSubject
from cc_bot.domain.message import ChannelKey, Message, ToolCall
from cc_bot.domain.turn import FilesLeftOut, TurnEvent
from cc_bot.log import begin_turn
from cc_bot.stores import Stores, channel_turn

_log = structlog.get_logger(__name__)

# ---- channel question ------------------------------------------------------------------------------------
# Questions of one user in a channel that get one answer.

MAX_BATCH = 10
"""Questions of one answer; the others are answered next."""
MAX_BATCH_CHARACTERS = 6000
"""Of these questions together: as many as one question may have."""
MAX_TEXT_HASHES = 1000


@dataclass(slots=True)
class ChannelQuestion:
    """Questions of one user that get one answer."""

    key: ChannelKey
    questions: Sequence[Message]
    recipient: Recipient
    calls: tuple[ToolCall, ...] = ()
    """What a process that died did for them."""
    postponed: bool = False

    @property
    def turn(self) -> str:
        """The name of the turn in the ledger."""
        return channel_turn(self.newest_id)

    @property
    def newest_id(self) -> int:
        return id_of(self.questions[-1])

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(map(id_of, self.questions))

    @property
    def edition(self) -> str:
        """A hash of the questions' texts, the same in the next process."""
        return base36(zlib.crc32("\n".join(question.content for question in self.questions).encode()))

    def among(self, ids: Collection[int]) -> tuple[Message, ...]:
        """Return those of its questions with these ids."""
        return tuple(question for question in self.questions if id_of(question) in ids)


def next_batch(waiting: Sequence[Message]) -> Sequence[Message]:
    """Return the oldest waiting questions that are answered together, at least one."""
    characters = 0
    for count, question in enumerate(waiting[:MAX_BATCH]):
        characters += len(question.content)
        if count and characters > MAX_BATCH_CHARACTERS:
            return waiting[:count]
    return waiting[:MAX_BATCH]


def id_of(question: Message) -> int:
    if question.discord_id is None:
        raise ValueError("a question in a channel has a Discord id")
    return question.discord_id


# ---- channel assistant -----------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class ChannelAssistant:
    """Asks the model for answers in channels."""

    assistant: Assistant
    chooser: Chooser
    recipients: Recipients
    roles: SeenRoles
    files: QuestionFiles
    references: References
    forms: OpenForms
    bot: Callable[[], hikari.OwnUser]

    async def question(self, key: ChannelKey, questions: Sequence[Message]) -> ChannelQuestion:
        """Return one user's questions, with the user's language. Raises StorageError."""
        typed = "\n".join(question.typed for question in questions)
        recipient = await self.recipients.of_author_in(key.place_id, questions[-1].author_id, typed)
        return ChannelQuestion(key, questions, recipient)

    def payer_of(self, asked: ChannelQuestion) -> UsageSubject:
        guild_id, user_id = self.recipients.guilds.guild_of(asked.key.place_id), asked.recipient.user_id
        return UsageSubject(user_id, guild_id or 0, self.roles.of(guild_id, user_id))

    async def follow(
        self,
        asked: ChannelQuestion,
        in_flight: InFlightAnswer,
        stop: Stop,
        live: LiveAnswer,
        *,
        again: bool = False,
    ) -> None:
        """Ask the model, and feed the answer to `live`. `again`: the answer replaces the stored one."""
        in_flight.begin(stop)
        questions = asked.questions if again else asked.among(in_flight.questions)
        options = await self._options(asked, in_flight.answer_id)
        options = replace(options, asker=self.forms.asker(live.reply, asked.recipient))
        attached = await self._attach(asked.key.place_id, questions, stop, again=again)
        if attached.left_out:
            live.feed(FilesLeftOut(attached.left_out))
        for event in scans_among(file for question in attached.questions for file in question.attachments):
            live.feed(event)
        pointing = [await self._resolve(asked.key, question, live) for question in attached.questions]
        try:
            await live.follow(self._turn(asked.key, pointing, options, stop, again=again))
        except ShuttingDown as error:
            asked.postponed = True
            if again:
                raise
            raise Postponed from error

    async def _attach(
        self, place_id: int, questions: Sequence[Message], stop: Stop, *, again: bool
    ) -> Attached:
        """Return the questions with their files, without any if it is stopped meanwhile. Raises as
        `QuestionFiles.attach`."""
        attaching = self.files.attach(place_id, questions, again=again)
        if not any_files(questions):
            return await attaching  # without a task it is queued at once
        return await until_stopped(attaching, stop) or Attached(tuple(questions))

    async def _resolve(self, key: ChannelKey, question: Message, live: LiveAnswer) -> Message:
        """Return a question with what it points at. Raises StorageError."""
        guild_id = self.recipients.guilds.guild_of(key.place_id)
        at = Standing(key.place_id, guild_id, id_of(question))
        pointed = await self.references.resolve(question, at)
        for event in pointed.events:
            live.feed(event)
        return pointed.question

    def _turn(
        self,
        key: ChannelKey,
        questions: Sequence[Message],
        options: TurnOptions,
        stop: Stop,
        *,
        again: bool,
    ) -> AsyncGenerator[TurnEvent, None]:
        if again:
            answer_id = options.answer_discord_id or 0
            return self.assistant.regenerate(key, answer_id, options, stop, questions=questions)
        return self.assistant.ask(key, questions, options, stop)

    async def _options(self, asked: ChannelQuestion, answer_id: int | None) -> TurnOptions:
        recipient, place_id = asked.recipient, asked.key.place_id
        guild_id = self.recipients.guilds.guild_of(place_id)
        thread = await self.chooser.places.title_of(asked.key)
        return TurnOptions(
            recipient.locale,
            recipient.timezone,
            bot_id=int(self.bot().id),
            answer_discord_id=answer_id,
            memory_paused=recipient.memory_paused,
            link=self.recipients.guilds.link(place_id, answer_id),
            agent=await self.chooser.in_channel(asked.key),
            guild_id=guild_id,
            channel_id=asked.key.channel_id,
            thread_title=thread.text,
            thread_owner_id=thread.owner_id,
            role_ids=self.roles.of(guild_id, recipient.user_id),
            entry=asked.turn,
            earlier_calls=asked.calls,
        )


# ---- channel answers -------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class ChannelAnswers:
    stores: Stores
    assistant: ChannelAssistant
    replies: MessageReplies
    running: RunningTurns
    _told: set[int] = field(default_factory=set)
    """Questions whose authors were told that there is no answer, which is not in the database yet."""
    _posted: dict[int, int] = field(default_factory=dict)
    """By question, the messages posted for answers that are not in the database yet."""
    _read: Recent[int, int] = field(default_factory=partial(Recent[int, int], MAX_TEXT_HASHES))
    """Hashes of the questions' texts when they were last answered: an edit that the answer has seen does not
    lead to another one."""

    async def answer(self, key: ChannelKey, waiting: Sequence[Message]) -> bool:
        """Answer waiting questions of one user, or first those whose answer a crash has interrupted.

        Returns whether they are done: not if the process stops meanwhile, and the questions wait for the next
        one, nor if the answer could not be shown. Raises StorageError, and hikari's errors if Discord is out
        of reach; the questions wait then, too.
        """
        if await self._give_up_told(key, waiting):
            return True
        begin_turn()
        asked, reply = await self._begin(key, waiting)
        try:
            with self.running.withdrawals.watch(asked.ids, reply, key) as in_flight:
                async with self.running.showing(
                    reply,
                    asked.recipient,
                    stop := Stop(),
                    channel_id=key.place_id,
                    opened=partial(self._note_opened, asked, in_flight),
                    payer=self.assistant.payer_of(asked),
                ) as live:
                    await self.assistant.follow(asked, in_flight, stop, live)
        except REFUSALS as error:
            await self._mark_unreachable(asked, error)
            await self._give_up(asked.key, asked.questions)
            return True
        self._note_read(asked.questions)
        return await self._settle(asked, reply, live.state, withdrawn=in_flight.withdrawn)

    async def say(
        self, key: ChannelKey, questions: Sequence[Message], sentence: Callable[[Recipient], str]
    ) -> None:
        """Post a sentence instead of an answer. Raises as `answer` does."""
        if await self._give_up_told(key, questions):
            return
        asked, reply = await self._begin(key, questions)
        try:
            await reply.show((self._sentence(asked, sentence(asked.recipient)),))
        except REFUSALS as error:
            await self._mark_unreachable(asked, error)
        await self._give_up(asked.key, asked.questions)

    async def _mark_unreachable(self, asked: ChannelQuestion, error: Exception) -> None:
        place_id = asked.key.place_id
        _log.warning("answer_not_allowed", place=place_id, error=type(error).__name__)
        await self.replies.mark_unreachable(place_id, asked.newest_id)

    def _sentence(self, asked: ChannelQuestion, sentence: str) -> Page:
        """Return a page with the sentence and what a process that died did for the questions."""
        words, user_id = for_channel(asked.recipient.words), asked.recipient.user_id
        return unanswered_page(sentence, asked.calls, words, user_id, "public")

    async def remake(self, key: ChannelKey, question: Message, *, again: bool = False) -> bool:
        """Answer an edited question again, in place, if its answer is its author's newest and was given to an
        older text. With `again` a question whose answer failed waits again. Returns whether that is done: not
        while a tool of the answer is running, nor if the process stops meanwhile, nor if it could not be
        shown. Raises as `answer`."""
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

    def _note_read(self, questions: Sequence[Message]) -> None:
        for question in questions:
            self._read[id_of(question)] = hash(question.content)

    async def _is_in_use(self, answer: Message, user_id: int) -> bool:
        """Return whether a tool of this answer is running: a new answer would remove its Stop button. Raises
        StorageError."""
        try:
            await self.assistant.assistant.approvals.check_none_underway(user_id, answer.id or 0)
        except AnswerInUse:
            return True
        return False

    async def _remake(self, key: ChannelKey, answer: Message, questions: Sequence[Message]) -> bool:
        if await self._is_in_use(answer, questions[0].author_id):
            return False
        begin_turn()
        answer_id = id_of(answer)
        asked = await self.assistant.question(key, questions)
        before = await self._pages_of(asked, answer)
        reply = self._reply(asked, await self._messages_of(answer_id))
        with self.running.withdrawals.watch(asked.ids, reply, key) as in_flight:
            in_flight.answer_id = answer_id
            async with self.running.showing(
                reply, asked.recipient, stop := Stop(), before=before, channel_id=key.place_id
            ) as live:
                await self.assistant.follow(asked, in_flight, stop, live, again=True)
        if in_flight.withdrawn:
            await self._forget(asked, reply)
            await self.replies.say_effects(asked.newest_id, asked.recipient, live.state)
        else:
            await self._note_pages(asked.key, reply, shown=not live.state.unseen)
        if live.state.stored:
            self._note_read(asked.questions)
        return not (asked.postponed or live.state.unseen)

    async def show_stored(self, key: ChannelKey, user_id: int) -> None:
        """Show a user's stored answers whose end was not shown. Raises as `answer` does."""
        for answer in await self.stores.ledger.list_unshown(key):
            questions = await self.stores.ledger.list_questions(id_of(answer))
            if all(question.author_id != user_id for question in questions):
                continue
            asked = await self.assistant.question(key, questions)
            reply = self._reply(asked, await self._messages_of(id_of(answer)))
            gone = False
            try:
                pages = await self._pages_of(asked, answer)
                await reply.show(pages)
                if self.running.receipts:
                    await self.running.receipts.record(reply, pages[-1].receipts, asked.recipient.words)
            except REFUSALS as error:
                gone = is_gone(error)
                if not gone:
                    await self._mark_unreachable(asked, error)
            if gone:  # a user deleted one of its messages meanwhile
                await self._forget(asked, reply)
            else:
                await self._note_pages(asked.key, reply, shown=True)

    async def _begin(self, key: ChannelKey, waiting: Sequence[Message]) -> tuple[ChannelQuestion, Reply]:
        """Return the waiting questions that are answered now, and their reply. First come those whose answer
        was begun before a crash or a database error."""
        if begun := await self.stores.ledger.get_begun(waiting):
            served = [question for question in waiting if id_of(question) in begun.question_ids]
            answer_id = begun.answer_id or self._posted.get(id_of(served[0]))
            asked = await self.assistant.question(key, served)
            asked.calls = await self.stores.ledger.get_calls(asked.turn, asked.recipient.user_id)
            sent = await self._messages_of(answer_id) if answer_id else ()
            return asked, self._reply(asked, sent, begun.newest_id)
        asked = await self.assistant.question(key, next_batch(waiting))
        await self.stores.ledger.begin_answer(key, asked.questions, asked.newest_id)
        return asked, self._reply(asked)

    def _reply(self, asked: ChannelQuestion, sent: Sequence[Sent] = (), newest_id: int = 0) -> Reply:
        """Return the reply. Messages that this process or an earlier one has posted are not posted again."""
        question_id, place_id = newest_id or asked.newest_id, asked.key.place_id
        link = self.assistant.recipients.guilds.link(place_id, question_id)
        recipient = asked.recipient
        asker = DirectMessages(recipient.user_id, recipient.words.unfinished.late_note(link))
        return self.replies.to(place_id, question_id, sent, edition=asked.edition, asker=asker)

    async def _messages_of(self, answer_id: int) -> tuple[Sent, ...]:
        """Return the messages that show an answer so far."""
        return sent_messages((answer_id, *await self.stores.channels.list_pages(answer_id)))

    async def _note_opened(self, asked: ChannelQuestion, in_flight: InFlightAnswer, answer_id: int) -> None:
        """Record the message of the answer. Withdraws questions that were deleted before they were
        watched."""
        in_flight.answer_id = answer_id
        self._posted.update(dict.fromkeys(asked.ids, answer_id))
        waiting = await self.stores.ledger.note_answer(asked.key, asked.questions, answer_id)
        for question_id in asked.ids:
            del self._posted[question_id]
        in_flight.withdraw(asked.ids - waiting)

    async def _settle(
        self, asked: ChannelQuestion, reply: Reply, state: AnswerState, *, withdrawn: bool
    ) -> bool:
        """Record the outcome. Returns as `answer` does."""
        if withdrawn:
            await self._forget(asked, reply)
            await self.replies.say_effects(asked.newest_id, asked.recipient, state)
            return True
        if asked.postponed:
            return False
        if state.stored:
            await self._note_pages(asked.key, reply, shown=not state.unseen)
        elif not state.unseen:
            await self._give_up(asked.key, asked.questions, await self._offer_again(asked, reply, state))
        return not state.unseen

    async def _offer_again(self, asked: ChannelQuestion, reply: Reply, state: AnswerState) -> int | None:
        """Offer to ask again after a failure, unless its tools have changed something, which would be done
        twice: then say so. Returns the message of the failure if an edit may ask again."""
        user_id, words = asked.recipient.user_id, asked.recipient.words
        if state.failure is None:
            return None
        try:
            if await self.stores.ledger.get_calls(asked.turn, user_id):
                await reply.whisper(words.mention.done_before_failure)
                return None
            if state.may_be_asked_again:
                await reply.offer(ask_again_button(RetryButton(user_id, asked.turn), words))
            return (await reply.message_ids())[0]
        except (StorageError, hikari.HikariError) as error:
            _log.info("retry_not_offered", error=type(error).__name__)
            return None

    async def _give_up(
        self, key: ChannelKey, questions: Sequence[Message], failed_in: int | None = None
    ) -> None:
        """Remove questions from those that wait. While the database fails they are not answered again."""
        ids = frozenset(map(id_of, questions))
        self._told.update(ids)
        await self.stores.ledger.give_up(key, questions, failed_in)
        self._told.difference_update(ids)

    async def _give_up_told(self, key: ChannelKey, questions: Sequence[Message]) -> bool:
        """Remove the questions whose authors were told already. Returns whether there were any."""
        told = [question for question in questions if id_of(question) in self._told]
        if told:
            await self._give_up(key, told)
        return bool(told)

    async def _note_pages(self, key: ChannelKey, reply: Reply, *, shown: bool) -> None:
        answer_id, *pages = await reply.message_ids()
        if pages:
            await self.stores.channels.add_pages(key.place_id, answer_id, pages)
        if shown:
            await self.stores.ledger.mark_shown(key, answer_id)

    async def _forget(self, asked: ChannelQuestion, reply: Reply) -> None:
        """Delete a withdrawn answer. Questions left behind by a reset in the same moment stay: their authors
        are told next."""
        left_behind = frozenset(map(id_of, await self.stores.ledger.list_left_behind(asked.key)))
        unwanted = [question for question in asked.questions if id_of(question) not in left_behind]
        await self.stores.ledger.give_up(asked.key, unwanted)
        await self.stores.channels.delete(await reply.message_ids(), place_id=asked.key.place_id)
        await reply.try_to_remove()

    async def _pages_of(self, asked: ChannelQuestion, answer: Message) -> tuple[Page, ...]:
        """Return the pages of a stored answer, with what holds now."""
        words, user_id = for_channel(asked.recipient.words), asked.recipient.user_id
        left = await self.stores.proposals.list_for_answer(user_id, answer.id) if answer.id else ()
        heard = "\n".join(question.heard for question in asked.questions if question.heard)
        state = stored_state(answer, left, heard=heard)
        *pages, last = final_pages(state, words)
        last = with_controls(last, state, words, user_id)
        last = await self.running.receipts.as_it_is(last, words) if self.running.receipts else last
        return (*pages, last)
