"""A turn while it is on its way, whatever kind of conversation it belongs to."""

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar
from zoneinfo import ZoneInfo

import structlog

from cc_bot.context.prompt import Built, fitting_history, shrunk_history
from cc_bot.context.tokens import part_tokens, tools_tokens
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import (
    AgentGone,
    Busy,
    CcBotError,
    InputError,
    LimitReached,
    NotNewest,
    ShuttingDown,
)
from cc_bot.domain.form import Asker
from cc_bot.domain.limits import UsageSubject
from cc_bot.domain.locale import Locale
from cc_bot.domain.measures import NULL_METER, Meter, Phase
from cc_bot.domain.memory import Audience, Memory, Source
from cc_bot.domain.message import (
    THE_DEFAULT,
    Agent,
    Attachment,
    ChannelKey,
    Message,
    Pointing,
    Reference,
    ToolCall,
    Visibility,
    typed_part,
)
from cc_bot.domain.proposal import ProposedCalls
from cc_bot.domain.schedule import Place
from cc_bot.domain.session import SessionKey
from cc_bot.domain.tool_server import ToolPlace
from cc_bot.domain.turn import Done
from cc_bot.internet.addresses import TurnTexts
from cc_bot.internet.turn import Internet
from cc_bot.llm.model import ChatRequest, PromptPart, ToolResultPart, ToolSchema
from cc_bot.stores import MemoryPinStore, Settlement, StoredTurn, Stores
from cc_bot.tools.registry import CanvasDraft, ToolContext

# ---- stop ----------------------------------------------------------------------------------------------
# Ending a turn before the model is done: by its user, by a time limit, or because the program stops.

Result = TypeVar("Result")


class Stop:
    """A request to end one turn; what was said until then is kept as the answer, unless it is discarded."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._task: asyncio.Task[Any] | None = None
        self.status: Literal["stopped", "cut"] = "stopped"
        self.discarded = False
        """Nothing of the turn is to be kept, however far it came."""

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def request(self, status: Literal["stopped", "cut"] = "stopped") -> None:
        """End the turn: `stopped` when its user wanted that, `cut` when it was not their wish."""
        if not self.requested:
            self.status = status
            self._event.set()
            if self._task is not None:
                self._task.cancel()

    def discard(self) -> None:
        """End the turn, and keep nothing of it."""
        self.discarded = True
        self.request()

    async def wait(self) -> None:
        await self._event.wait()

    @contextmanager
    def cancelling(self, task: asyncio.Task[Any]) -> Iterator[None]:
        """Have a request cancel the task while the block runs; at once when it was made before."""
        self._task = task
        if self.requested:
            task.cancel()
        try:
            yield
        finally:
            self._task = None


async def until_stopped(work: Coroutine[Any, Any, Result], stop: Stop) -> Result | None:
    """Do the work until it is done, and return what comes of it; None when the stop is requested: then it is
    cancelled where it waits."""
    task = asyncio.create_task(work)
    with stop.cancelling(task):
        try:
            await asyncio.wait((task,))
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    return None if task.cancelled() else task.result()


# ---- turn prompt -----------------------------------------------------------------------------------------
# The prompt of a turn: it grows with each round of tool calls, and may be made shorter once.

Build = Callable[[float], Built]
"""The prompt before the first round, with so many tokens of history at most, as estimated."""


class TurnPrompt:
    def __init__(
        self,
        build: Build,
        budget_tokens: float,
        *,
        factor: float = 1.0,
        cache_key: str = "",
        agent: Agent | None = None,
        limit: int | None = None,
        offered: Sequence[ToolSchema] = (),
        tells_private: bool = False,
    ) -> None:
        """`budget_tokens` of history, as estimated; `factor`: what the model counts for each of those;
        `cache_key` is that of its requests, `agent` chooses how they are answered. `limit` is known of the
        model: with the tools that are `offered`, no more tokens than that. `tells_private`: it holds more of
        what only its user knows than the question."""
        self._build = build
        self._factor = factor
        if limit is not None:
            beside = _tokens(build(0).parts) + tools_tokens(offered)
            budget_tokens = min(budget_tokens, fitting_history(beside, int(limit / factor)))
        self._cache_key = cache_key
        self._agent = agent or Agent()
        self._tells_private = tells_private
        self._start = build(budget_tokens)
        self.budget_tokens = budget_tokens
        """Less than at first when the server took less."""
        self._rounds: tuple[PromptPart, ...] = ()
        self._shrunk = False

    def add(self, *parts: PromptPart) -> None:
        """Add what was said and called in a round."""
        self._rounds += parts

    def request(self, tools: Sequence[ToolSchema], *, answer_begun: bool, model: str) -> ChatRequest:
        """Make the request of a round. `model` answered the round before this one; empty in the first
        round."""
        return ChatRequest(
            (*self._start.parts, *self._rounds),
            tuple(tools),
            answer_begun=answer_begun,
            answered_by=model,
            shrinkable=self._shrinkable,
            cache_key=self._cache_key,
            stable=self._start.stable,
            temperature=self._agent.temperature,
            reasoning=self._agent.reasoning,
        )

    @property
    def tainted(self) -> bool:
        """Return whether anything in it was written by somebody else than the turn's user."""
        return any(part.tainted for part in (*self._start.parts, *self._rounds))

    def tells_what_is_kept(self, personal: Container[str]) -> bool:
        """Return whether it holds something that is kept of its user, such as a result of one of these tools
        that found anything."""
        parts = (*self._start.parts, *self._rounds)
        return self._tells_private or any(
            isinstance(part, ToolResultPart) and part.name in personal and not _found_nothing(part.text)
            for part in parts
        )

    def shrink(self, tools: Sequence[ToolSchema], limit: int | None) -> bool:
        """Leave the older part of the history out: the model takes no more than `limit` tokens (None: nobody
        knows). False when there is nothing to leave out, or that was done before."""
        if not self._shrinkable:
            return False
        bare = _tokens(self._build(0).parts)
        history = _tokens(self._start.parts) - bare
        beside = bare + _tokens(self._rounds) + tools_tokens(tools)
        allowed = None if limit is None else int(limit / self._factor)
        self.budget_tokens = shrunk_history(history, beside, allowed)
        self._start = self._build(self.budget_tokens)
        self._shrunk = True
        return True

    @property
    def _shrinkable(self) -> bool:
        return not self._shrunk and self._start.history


def _found_nothing(result: str) -> bool:
    """Return whether a result is of lists, and these are empty."""
    try:
        told = json.loads(result)
    except (ValueError, RecursionError):
        return False
    lists = [each for each in told.values() if isinstance(each, list)] if isinstance(told, dict) else []
    return bool(lists) and not any(lists)


def _tokens(parts: Sequence[PromptPart]) -> int:
    return sum(map(part_tokens, parts))


# ---- turn ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """The circumstances of a turn: for whom it is made, and where."""

    locale: Locale
    timezone: ZoneInfo
    temporary: bool = False
    """Store nothing of this turn."""
    welcomed: bool = True
    """Whether this user is known to have had an answer before."""
    bot_id: int = 0
    """Who answers, as Discord knows it; 0 outside of Discord."""
    answer_discord_id: int | None = None
    """The message of Discord that the answer is shown in, where it is known beforehand."""
    place: ChannelKey | None = None
    """Where everybody reads what is said in a session's turn; None where its user alone does."""
    memory_paused: bool = False
    """Whether this user wants nothing stored in or recalled from their memories."""
    link: str = ""
    """To the message that the answer is shown in; empty where it is not known, or not to be found again."""
    agent: Agent = THE_DEFAULT
    """Who answers; its name is that of the session key."""
    guild_id: int | None = None
    """The server that is asked in; None in a DM, and outside of Discord."""
    channel_id: int = 0
    """The channel that is asked in, as rules name it: of a thread, the one that it belongs to; 0 where nobody
    knows."""
    thread_title: str = ""
    """Of the thread or forum post that a channel's turn is made in."""
    thread_owner_id: int = 0
    """Who began that; 0 where Discord does not tell."""
    can_write_there: bool = True
    """Whether the bot may write by itself where it is asked: not where its user only brought it along."""
    front_end: Literal["discord", "terminal"] = "discord"
    """Where the answer is shown."""
    entry: str = ""
    """Of the turn in the ledger of turns on their way; empty where there is none."""
    earlier_calls: tuple[ToolCall, ...] = ()
    """What an earlier run of the program did for the same question before it was ended."""
    role_ids: tuple[int, ...] | None = ()
    """The roles that its user has in the server; None where nobody tells."""
    pictures: tuple[Attachment, ...] = ()
    """Of the call that the turn goes on after. Whoever asks shows them to its user, answer or no answer."""

    asker: Asker | None = None
    """The way to its user while it runs; None where a server can ask nothing back."""
    by_owner: bool = False
    """Whether its user is an owner of the bot."""

    def paid_by(self, user_id: int) -> UsageSubject:
        return UsageSubject(user_id, self.guild_id or 0, self.role_ids, self.front_end)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A request for an answer: to a question of a session, or one user's questions in a channel, or what was
    asked before the answer that is to be replaced."""

    key: SessionKey | ChannelKey
    options: TurnOptions
    questions: tuple[Message, ...] = ()
    """Oldest first. Those of a channel are in its archive already, and each has its discord_id."""
    replaces: int | None = None
    """The answer that is to be made anew: its row in a session, its message on Discord in a channel."""
    references: tuple[Reference, ...] = ()
    """The messages that a session's question points at whose answer is made anew."""

    @property
    def user_id(self) -> int:
        """The user who asks, on whose memories the tools act, and who pays."""
        return self.key.user_id if isinstance(self.key, SessionKey) else self.questions[0].author_id


def documents_of(messages: Iterable[Message]) -> tuple[Attachment, ...]:
    """List the documents among the files of messages, and of what these point at."""
    return tuple(
        file
        for message in messages
        for files in (*(reference.attachments for reference in message.references), message.attachments)
        for file in files
        if file.document is not None
    )


_POINTED_AT: Final = frozenset[Pointing]({"reply", "link", "menu"})
"""Of these messages an author's own words may name addresses; others' were only read along with one."""


def link_texts(messages: Iterable[Message]) -> TurnTexts:
    """List the texts whose addresses may be read. Nothing that the assistant said is among them, and no
    file."""
    typed, seen = list[str](), list[str]()
    for message in messages:
        if message.role != "user":
            continue
        typed.append(message.typed)
        seen.append(message.content)
        for reference in message.references:
            if reference.shown and reference.author_name:
                typed += [typed_part(reference.content)] if reference.pointing in _POINTED_AT else []
                seen.append(reference.content)
        seen += (file.data.decode("utf-8", "replace") for file in message.attachments if file.is_forward)
    return TurnTexts(tuple(typed), tuple(seen))


_MAX_EARLIER: Final = 3


def earlier_words(user_id: int, said: Iterable[Message], questions: Sequence[Message]) -> tuple[str, ...]:
    """List what a user wrote in the messages that their questions reply to, and in their last ones before
    these; the newest first."""
    replied = (
        typed_part(reference.content)
        for question in questions
        for reference in question.references
        if reference.pointing == "reply" and reference.author_id == user_id and not reference.tainted
    )
    before = [each.own_words for each in said if each.role == "user" and not each.tainted]
    return tuple(filter(None, (*replied, *before[: -_MAX_EARLIER - 1 : -1])))


class Turn(ABC):
    """A turn on its way: a session's (session_turns) or a channel's (channel_turns)."""

    visibility: Visibility = "public"
    """The circle of those who will see the answer."""
    canvas: CanvasDraft | None = None
    """The canvas that the turn draws on; None where there is no canvas, or nothing of it would be stored."""
    shown_memories = frozenset[int]()
    """The memories that this conversation kept or showed before the question; all of them once the prompt is
    made."""

    def __init__(
        self,
        key: SessionKey,
        options: TurnOptions,
        questions: tuple[Message, ...],
        *,
        history: Sequence[Message] = (),
        replaced: Message | None = None,
    ) -> None:
        """`key`: the user and place of the turn; in a channel's conversation this is who asked, in that
        place. `replaced` is the answer that this one takes the place of."""
        self.key = key
        self.user_id = key.user_id
        self.options = options
        self.questions = questions
        self.replaced = replaced
        self.before = replaced or (history[-1] if history else None)
        """The answer before the question, or `replaced`."""
        self.typed = "\n".join(question.typed for question in questions)
        self.own_words = "\n".join(question.own_words for question in questions)
        """What its user typed or said in the question."""
        self.heard = "\n".join(question.heard for question in questions if question.heard)
        self.documents = documents_of((*history, *questions))
        """The documents that the model may read in: those of the questions, and of what its user said
        before."""
        self.note_said(history)

    def note_said(self, said: Sequence[Message]) -> None:
        """Note what was said before the questions, as far as the prompt shows it."""
        self.earlier_words = earlier_words(self.user_id, said, self.questions)
        self.link_texts = link_texts((*said, *self.questions))

    @abstractmethod
    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        """Make what the model is shown, with these tools offered."""

    @abstractmethod
    async def store(
        self, answer: Message, proposals: Sequence[ProposedCalls], settlement: Settlement
    ) -> StoredTurn:
        """Put the answer into the database, with what it proposes and has used, and with its question unless
        that is there already, and return what was stored; raises StorageError."""

    def after(self, stored: Sequence[Message], history_tokens: float) -> None:  # noqa: B027 - of channels
        """Begin what is to be done once the asker has the answer, and is not waited for. It is told the
        messages that were stored, and of how many tokens of history there was room in the requests."""


# ---- tool context ----------------------------------------------------------------------------------------
# For whom and where the tools of a turn act: from the turn, and never from what a model says.


def tool_context(turn: Turn, stores: Stores, clock: Clock, internet: Internet) -> ToolContext:
    options = turn.options
    return ToolContext(
        user_id=turn.user_id,
        visibility=turn.visibility,
        locale=options.locale,
        timezone=options.timezone,
        memories=stores.memories,
        source=Source("model", link=options.link),
        clock=clock,
        key=turn.key,
        canvas=turn.canvas,
        schedules=stores.schedules,
        place=_place(turn),
        guild_id=options.guild_id,
        in_dm=options.guild_id is None and options.front_end == "discord",
        files=turn.documents,
        internet=internet.for_turn(turn.link_texts),
        typed=turn.typed,
        own_words=turn.own_words,
        earlier_words=turn.earlier_words,
        shown=turn.shown_memories,
        asker=options.asker,
        owners_read=options.by_owner or (turn.visibility == "public" and options.guild_id is not None),
    )


def tool_place(turn: Turn) -> ToolPlace:
    """Return who asks and where, as it decides which tools of servers there are."""
    options = turn.options
    channels = dict.fromkeys((turn.key.channel_id, options.channel_id))
    return ToolPlace(turn.user_id, tuple(filter(None, channels)), options.guild_id, options.role_ids)


def _place(turn: Turn) -> Place:
    """Return where the user is reminded of what they ask for: where they ask, unless they alone see that, or
    the bot can't write there by itself."""
    if turn.options.front_end == "terminal":
        return "terminal"
    return "dm" if turn.visibility == "private" or not turn.options.can_write_there else "channel"


# ---- profile notes ---------------------------------------------------------------------------------------
# The notes of a turn's user that its prompt tells from the start, as many as the operator wants.


@dataclass(eq=False, slots=True)
class ProfileNotes:
    """Reads them where the model could look them up itself, and nowhere else: with `recall` in the same turn.

    So there are none while memory is paused, and for an agent that has no such tool. They are no use of a
    memory that is told below the answer, and nothing that its user was shown: what would change one has to
    look it up.
    """

    pins: MemoryPinStore

    async def of(
        self, user_id: int, visibility: Visibility, offered: Sequence[ToolSchema]
    ) -> Sequence[Memory]:
        """Read the notes for a turn. `visibility` is that of the answer: what its readers may not see does
        not stand in its request."""
        if not self.pins.told or not any(tool.name == "recall" for tool in offered):
            return ()
        audience: Audience = "private" if visibility == "private" else "anywhere"
        return await self.pins.list_for_prompt(user_id, audience=audience)


# ---- account ---------------------------------------------------------------------------------------------
# Where the time of a turn went and how it ended, in one log record and to the meter.

_log = structlog.get_logger(__name__)

_FIELDS: Final[dict[Phase, str]] = {
    "queue": "queue_s",
    "hearing": "hearing_s",
    "store": "store_s",
    "model_first_token": "first_token_s",
    "model": "model_s",
    "tools": "tools_s",
}
"""What the log calls the phases; what Discord took is told when the answer stands there."""


_REFUSALS: Final = (AgentGone, Busy, InputError, LimitReached, NotNewest, ShuttingDown)
"""Nothing is wrong with the program when these are told."""


class Account:
    """The account of one turn, from its beginning. A phase that is entered several times is their sum."""

    def __init__(self, meter: Meter = NULL_METER) -> None:
        self._meter = meter
        self._began_s = time.monotonic()
        self._asked_s: float | None = None
        self._phases: dict[Phase, float] = {}
        self.now: Phase = "queue"
        """The phase that was entered last."""

    @contextmanager
    def phase(self, phase: Phase) -> Iterator[None]:
        """Count what is done within to the phase, however it ends."""
        began_s, self.now = time.monotonic(), phase
        try:
            yield
        finally:
            self._phases[phase] = self._phases.get(phase, 0.0) + time.monotonic() - began_s

    @contextmanager
    def asking(self) -> Iterator[None]:
        """The model is asked within; again, maybe."""
        if self._asked_s is None:
            self._asked_s = time.monotonic()
        with self.phase("model"):
            yield

    def note_first_word(self) -> None:
        """Note that something came from the model: a word, or calls of tools."""
        if self._asked_s is not None:
            self._phases.setdefault("model_first_token", time.monotonic() - self._asked_s)

    def record_tool_call(self, name: str, *, ok: bool) -> None:
        self._meter.record_tool_call(name, ok=ok)

    def record_answer(self, done: Done) -> None:
        """The turn ended with an answer, whole or not."""
        seconds = self.seconds
        _log.info(
            "turn_done",
            status=done.answer.status,
            tools=len(done.answer.tool_calls),
            prompt_tokens=done.usage.prompt_tokens,
            cached_tokens=done.usage.cached_tokens,
            completion_tokens=done.usage.completion_tokens,
            seconds=seconds,
            **self._phase_seconds(),
        )
        status = done.answer.status
        self._meter.record_turn("complete" if status == "replaced" else status, seconds, self._phases)

    def record_failure(self, error: Exception) -> None:
        """The turn ended without an answer."""
        seconds, kind = self.seconds, type(error).__name__
        if isinstance(error, CcBotError):  # whatever else is on record where it is caught, with its place
            limit = {"limit": error.params["what"]} if isinstance(error, LimitReached) else {}
            _log.warning("turn_failed", error=kind, seconds=seconds, **limit, **self._phase_seconds())
        self._meter.record_failure(kind)
        refused = isinstance(error, _REFUSALS)
        self._meter.record_turn("refused" if refused else "failed", seconds, self._phases)

    @property
    def seconds(self) -> float:
        """Return how long it has taken so far."""
        return round(time.monotonic() - self._began_s, 3)

    def _phase_seconds(self) -> dict[str, float]:
        return {
            field: round(self._phases[phase], 3) for phase, field in _FIELDS.items() if phase in self._phases
        }
