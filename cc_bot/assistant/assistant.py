"""`Assistant.ask` and what goes with it: the one way from a question to a stored answer.

Between turns nothing of a conversation is kept here: each turn reads its session, asks the model with no
transaction open, and writes the turn in one short commit.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from functools import partial

import structlog

from cc_bot.assistant.calibration import Calibration
from cc_bot.assistant.channel_prompts import ChannelPrompts
from cc_bot.assistant.channel_turns import ChannelTurns, user_of
from cc_bot.assistant.prompts import Prompts
from cc_bot.assistant.queue import InChannels, LineId, TurnQueue
from cc_bot.assistant.rounds import Draft, RoundEvent, Rounds
from cc_bot.assistant.session_turns import SessionTurns
from cc_bot.assistant.stop import Stop, until_stopped
from cc_bot.assistant.turn import Turn, TurnOptions
from cc_bot.context.prompt import PromptStyle
from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import (
    CcBotError,
    EmptyQuestion,
    ModelSaidNothing,
    ModelUnavailable,
    QuestionTooLong,
    ShuttingDown,
    StorageError,
)
from cc_bot.domain.events import Done, Notice, NotSaved, TurnEvent
from cc_bot.domain.memory import Source
from cc_bot.domain.message import Message, Status, is_blank
from cc_bot.domain.session import SessionKey
from cc_bot.llm.model import ChatModel
from cc_bot.stores import Stores
from cc_bot.summaries import Summaries
from cc_bot.tools.registry import NOBODY, ToolContext, ToolRegistry

_log = structlog.get_logger(__name__)

MAX_QUESTION_CHARACTERS = 6000
"""The longest text that Discord lets a command option have."""
TURN_LIMIT_S = 600.0
"""No answer takes longer: an interaction token lives 900 s, and someone pays for every minute."""


class Assistant:
    """Answers questions. Parts are handed in; `close` is up to whoever made them."""

    def __init__(
        self,
        stores: Stores,
        model: ChatModel,
        tools: ToolRegistry,
        *,
        max_turns: int = 8,
        style: PromptStyle = PromptStyle(),
        clock: Clock = utc_now,
        turn_limit_s: float = TURN_LIMIT_S,
        model_name: str = "",
        summaries: Summaries | None = None,
    ) -> None:
        """`model_name` is the model that is asked first, as its answers name it. Without `summaries` none are
        made, and none are shown to the model."""
        self._stores = stores
        self._model = model
        self._tools = tools
        self._turn_limit_s = turn_limit_s
        self._clock = clock
        self._calibration = Calibration(stores.token_factors, model_name)
        recapping = summaries is not None
        prompts = Prompts(stores.sessions, self._calibration, style, clock, recapping=recapping)
        channel_prompts = ChannelPrompts(stores.blocks, self._calibration, style, clock)
        self._sessions = SessionTurns(stores.sessions, prompts, summaries)
        self._channels = ChannelTurns(stores.channels, stores.mentions, channel_prompts)
        self._queue = TurnQueue(max_turns)
        self._running: set[Stop] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    async def ask(
        self,
        key: SessionKey | ChannelKey,
        message: Message | Sequence[Message],
        options: TurnOptions,
        stop: Stop | None = None,
    ) -> AsyncGenerator[TurnEvent, None]:
        """Answer a new message in the session of a key, or messages of a channel.

        What is asked in a channel stands in its archive already; several messages get one answer, and where
        they do, no tool acts for anybody. The last event is Done; by then the turn is stored, unless it is
        temporary or nothing came. Raises InputError for a message that can't be asked, TurnError when there
        is no answer (nothing is stored then), StorageError when the answer could not be stored.
        """
        questions = (message,) if isinstance(message, Message) else tuple(message)
        for question in questions:
            _check(question)
        if isinstance(key, ChannelKey):
            user_id, begin = user_of(questions), partial(self._channels.ask, key, questions, options)
        else:
            [question] = questions
            user_id, begin = key.user_id, partial(self._sessions.ask, key, question, options)
        async with aclosing(self._run(key, user_id, begin, stop or Stop())) as events:
            async for event in events:
                yield event

    async def regenerate(
        self,
        key: SessionKey | ChannelKey,
        answer_id: int,
        options: TurnOptions,
        stop: Stop | None = None,
        *,
        questions: Sequence[Message] = (),
    ) -> AsyncGenerator[TurnEvent, None]:
        """Answer the newest question again; the new answer takes the place of the old one.

        A session's answer is named by its row and stays in the archive as `replaced`. A channel's is named by
        its message on Discord and is overwritten: its questions were edited, and what it said about their
        older text goes with that; `questions` are those with their files, which are not stored. Raises as
        `ask` does, and NotNewest when something was said since.
        """
        begin: Callable[[], Awaitable[Turn]]
        if isinstance(key, ChannelKey):
            user_id, begin = None, partial(self._channels.regenerate, key, answer_id, options, questions)
        else:
            user_id, begin = key.user_id, partial(self._sessions.regenerate, key, answer_id, options)
        async with aclosing(self._run(key, user_id, begin, stop or Stop())) as events:
            async for event in events:
                yield event

    async def check_newest(self, key: SessionKey, answer_id: int) -> None:
        """Raises NotNewest unless the answer is the newest of its session."""
        await self._sessions.check_newest(key, answer_id)

    async def drain(self, grace_s: float) -> None:
        """Take no new turns, let the running ones finish for `grace_s` seconds, then cut the rest."""
        self._queue.close()
        try:
            await asyncio.wait_for(self._idle.wait(), grace_s)
        except TimeoutError:
            for stop in self._running:
                stop.request("cut")
            await self._idle.wait()

    async def settle(self) -> None:
        """Wait for what goes on after turns: their token counts being learned."""
        await self._calibration.settle()

    async def _run(
        self,
        key: SessionKey | ChannelKey,
        user_id: int | None,
        begin: Callable[[], Awaitable[Turn]],
        stop: Stop,
    ) -> AsyncGenerator[TurnEvent, None]:
        """Wait in line, begin, answer, store; one log record for how it ended.

        From here on every record of this task and of those it starts, the model's and the front end's too,
        carries the id of the turn.
        """
        structlog.contextvars.bind_contextvars(turn=secrets.token_hex(4))
        began = time.monotonic()
        lines = _lines(key, user_id)
        waits = self._queue.would_wait(lines)
        if waits:
            yield Notice("queued")
        try:
            async with self._queue.turn(lines, stop):
                with self._entered(stop):
                    if waits:
                        yield Notice("started")
                    turn, draft = await begin(), Draft()
                    async with aclosing(self._answer(turn, draft, stop)) as events:
                        async for event in events:
                            yield event
                    done, stored = await self._end(turn, draft, stop)
        except CcBotError as error:
            _log.warning("turn_failed", error=type(error).__name__, seconds=_since(began))
            raise
        _log.info(
            "turn_done",
            status=done.answer.status,
            tools=len(done.answer.tool_calls),
            prompt_tokens=done.usage.prompt_tokens,
            cached_tokens=done.usage.cached_tokens,
            completion_tokens=done.usage.completion_tokens,
            seconds=_since(began),
        )
        learned = self._calibration.learn(draft.measured)
        if isinstance(key, ChannelKey):  # the next request is the same even if the plug is pulled now
            await learned
        try:
            yield done
        finally:  # whoever asked has the answer by now
            if stored:
                turn.look_back(stored, draft.history_tokens)

    async def _answer(
        self, turn: Turn, draft: Draft, stop: Stop
    ) -> AsyncGenerator[RoundEvent | NotSaved, None]:
        """Let the model answer into the draft until it is done, stopped, or out of time."""
        if stop.requested:
            return
        options = turn.options
        offered = self._tools.schemas(
            writing=not options.temporary,
            personal=turn.user_id is not None,
            memory=not options.memory_paused,
        )
        context = ToolContext(
            user_id=NOBODY if turn.user_id is None else turn.user_id,
            visibility=turn.visibility,
            locale=options.locale,
            timezone=options.timezone,
            memories=self._stores.memories,
            question=turn.asked.question,
            previous_answer=turn.asked.previous_answer,
            earlier=turn.asked.earlier,
            informed=turn.asked.informed,
            source=Source("model", link=options.link),
            clock=self._clock,
        )
        prompt = await turn.prompt(offered)
        rounds = Rounds(self._model, self._tools, offered, context)
        out_of_time = asyncio.get_running_loop().call_later(self._turn_limit_s, stop.request, "cut")
        try:
            async with aclosing(until_stopped(rounds.run(prompt, draft), stop)) as events:
                async for event in events:
                    yield event
        finally:
            out_of_time.cancel()
            draft.history_tokens = prompt.budget_tokens
        if draft.unkept:
            yield NotSaved()

    async def _end(self, turn: Turn, draft: Draft, stop: Stop) -> tuple[Done, tuple[Message, ...]]:
        """Store what came of the turn; with its end come the messages that were stored. An answer of which
        nothing came leaves no trace, and one without words takes no other answer's place."""
        interrupted = stop.requested and draft.status != "complete"
        status: Status = stop.status if interrupted else draft.status
        answer = draft.as_message(status, turn.visibility)
        if draft.empty or (turn.replaces and is_blank(answer.content)):
            if status == "stopped":
                return Done(answer, draft.usage), ()
            if draft.status == "complete":
                raise ModelSaidNothing
            raise ShuttingDown if self._queue.closed else ModelUnavailable
        if turn.options.temporary:
            return Done(answer, draft.usage), ()
        stored = await turn.store(answer)
        first = not turn.options.welcomed and await self._claim_welcome(turn.user_id)
        return Done(stored[-1], draft.usage, first), stored

    async def _claim_welcome(self, user_id: int | None) -> bool:
        """The answer is stored by now: trouble here must not tell its user that it is not."""
        try:
            return user_id is not None and await self._stores.settings.claim_welcome(user_id)
        except StorageError:
            _log.warning("welcome_not_claimed")
            return False

    @contextmanager
    def _entered(self, stop: Stop) -> Iterator[None]:
        """Count a turn among the running ones, for `drain`."""
        self._running.add(stop)
        self._idle.clear()
        try:
            yield
        finally:
            self._running.discard(stop)
            if not self._running:
                self._idle.set()


def _check(message: Message) -> None:
    if not message.content.strip() and not message.attachments:
        raise EmptyQuestion
    if len(message.content) > MAX_QUESTION_CHARACTERS:
        raise QuestionTooLong(limit=MAX_QUESTION_CHARACTERS, length=len(message.content))


def _lines(key: SessionKey | ChannelKey, user_id: int | None) -> tuple[LineId, ...]:
    """Where a turn waits: a session's in its user's line; a channel's in that channel's, and behind what the
    one user whom it answers asked in other channels."""
    if isinstance(key, SessionKey):
        return (key.user_id,)
    return (key,) if user_id is None else (key, InChannels(user_id))


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
