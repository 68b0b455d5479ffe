"""`Assistant.ask` and what goes with it: the one way from a question to a stored answer.

Between turns nothing of a conversation is kept here: each turn reads its session, asks the model with no
transaction open, and writes the turn in one short commit.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial

import structlog

from cc_bot.assistant.calibration import Calibration
from cc_bot.assistant.channel_prompts import ChannelPrompts
from cc_bot.assistant.channel_turns import ChannelTurns, user_of
from cc_bot.assistant.endings import Endings
from cc_bot.assistant.prompts import Prompts
from cc_bot.assistant.queue import TurnQueue, lines_of
from cc_bot.assistant.rounds import Draft, RoundEvent, Rounds
from cc_bot.assistant.session_turns import SessionTurns
from cc_bot.assistant.stop import Stop, until_stopped
from cc_bot.assistant.tool_context import tool_context
from cc_bot.assistant.turn import Turn, TurnOptions
from cc_bot.assistant.underway import TurnsUnderway
from cc_bot.context.prompt import PromptStyle
from cc_bot.domain.agent import Agent
from cc_bot.domain.channel import ChannelKey
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import (
    CcBotError,
    EmptyQuestion,
    QuestionTooLong,
)
from cc_bot.domain.events import CanvasChanged, Notice, NotSaved, TurnEvent
from cc_bot.domain.message import Message
from cc_bot.domain.session import SessionKey
from cc_bot.llm.model import ChatModel
from cc_bot.stores import Stores
from cc_bot.summaries import Summaries
from cc_bot.tools.registry import ToolRegistry

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
        models: Callable[[tuple[str, ...]], ChatModel] | None = None,
    ) -> None:
        """`model_name` is the model that is asked first, as its answers name it. Without `summaries` none are
        made, and none are shown to the model. `models` gives the chain of an agent that has its own; without,
        all agents are played by `model`."""
        self._stores = stores
        self._model = model
        self._models = models
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
        self._underway = TurnsUnderway()
        self._endings = Endings(stores.settings)

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
        await self._underway.drain(grace_s)

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
        lines = lines_of(key, user_id)
        waits = self._queue.would_wait(lines)
        if waits:
            yield Notice("queued")
        try:
            async with self._queue.turn(lines, stop):
                with self._underway.entered(stop):
                    if waits:
                        yield Notice("started")
                    turn, draft = await begin(), Draft()
                    async with aclosing(self._answer(turn, draft, stop)) as events:
                        async for event in events:
                            yield event
                    ended = await self._endings.end(turn, draft, stop, closing=self._queue.closed)
        except CcBotError as error:
            _log.warning("turn_failed", error=type(error).__name__, seconds=_since(began))
            raise
        done = ended.done
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
            if ended.canvas is not None:
                yield CanvasChanged(ended.canvas.seen(turn.visibility))
            yield done
        finally:  # whoever asked has the answer by now
            if ended.messages:
                turn.look_back(ended.messages, draft.history_tokens)

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
            canvas=turn.canvas is not None,
            schedule=turn.key is not None,
            allowed=options.agent.tools,
        )
        context = tool_context(turn, self._stores, self._clock)
        prompt = await turn.prompt(offered)
        rounds = Rounds(self._model_of(options.agent), self._tools, offered, context)
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

    def _model_of(self, agent: Agent) -> ChatModel:
        return self._models(agent.models) if self._models and agent.models else self._model


def _check(message: Message) -> None:
    if not message.content.strip() and not message.attachments:
        raise EmptyQuestion
    if len(message.content) > MAX_QUESTION_CHARACTERS:
        raise QuestionTooLong(limit=MAX_QUESTION_CHARACTERS, length=len(message.content))


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)
