"""A turn, its request and its prompt, for sessions and channels alike."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Final, Literal, Protocol
from zoneinfo import ZoneInfo

from cc_bot.chat.context.prompt import max_history_tokens, reduce_history_tokens
from cc_bot.chat.context.tokens import has_images, part_tokens, request_tokens, tools_tokens
from cc_bot.chat.drawing import Drawing
from cc_bot.chat.spending import UsageRecorder
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.stores.sessions import StoredTurn
from cc_bot.chat.stores.settings import TokenFactorStore
from cc_bot.chat.stores.usage import Settlement
from cc_bot.chat.tools import ToolContext, ToolRegistry
from cc_bot.concurrency import Tasks
from cc_bot.domain.access import Visitor
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import (
    BUILT_IN_AGENT,
    Agent,
    Attachment,
    ChannelKey,
    Message,
    Reference,
    Target,
    ToolCall,
    Visibility,
    typed_part,
)
from cc_bot.domain.proposal import ProposedCalls
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import TurnEvent
from cc_bot.domain.usage import Payer
from cc_bot.features.memory.model import Audience, Memory, Source
from cc_bot.features.memory.stores.store import MemoryStore
from cc_bot.llm.model import ChatRequest, PromptPart, ToolResultPart, ToolSchema
from cc_bot.log import log_failure

Emit = Callable[[TurnEvent], None]


@dataclass(frozen=True, slots=True)
class MeasuredRequest:
    model: str
    request: ChatRequest
    prompt_tokens: int
    limit: int | None = None  # the model's context limit, if the server just reported it


_FIRST_RESPONSES_LEARNED: Final = 20
_LEARN_EVERY_NTH_RESPONSE: Final = 5


@dataclass(eq=False)
class Calibration:
    """Learns from responses how many tokens each model counts, and its context limit."""

    factors: TokenFactorStore
    model: str  # the first model of agents that name no models
    _limits: dict[str, int] = field(default_factory=dict)
    _responses: Counter[str] = field(default_factory=Counter)  # by model, in this process
    _tasks: Tasks = field(default_factory=Tasks)

    async def get_factor(self, chain: Sequence[str] = ()) -> float:
        """Return how many tokens the chain's first model counts per estimated token."""
        return await self.factors.get(chain[0] if chain else self.model)

    def get_limit(self, chain: Sequence[str] = ()) -> int | None:
        """Return the context limit of the chain's first model (for prompt and answer), if it was reported."""
        return self._limits.get(chain[0] if chain else self.model)

    def learn(self, measured: Sequence[MeasuredRequest]) -> None:
        self._limits |= {each.model: each.limit for each in measured if each.limit is not None}
        if due := [each for each in measured if self._count_response(each)]:
            self._tasks.start(self._learn(due))

    async def wait_for_tasks(self) -> None:
        await asyncio.gather(*self._tasks)

    def _count_response(self, measured: MeasuredRequest) -> bool:
        """Count the model's response. Returns whether to learn from it."""
        if not measured.model or measured.prompt_tokens <= 0:
            return False
        self._responses[measured.model] += 1
        count = self._responses[measured.model]
        # Later responses hardly change the factor.
        is_due = count <= _FIRST_RESPONSES_LEARNED or count % _LEARN_EVERY_NTH_RESPONSE == 0
        return is_due and not has_images(measured.request.prompt)  # an image's tokens are only guessed

    async def _learn(self, measured: Iterable[MeasuredRequest]) -> None:
        with log_failure("calibration_failed", StorageError):
            for each in measured:
                estimated = await asyncio.to_thread(request_tokens, each.request)
                await self.factors.learn(each.model, estimated=estimated, counted=each.prompt_tokens)


@dataclass(eq=False)
class TurnPrompt:
    """The first request of a turn, and the calls and results of its rounds."""

    build: Callable[[float], ChatRequest]  # takes the tokens for the history; returns a request without tools
    budget_tokens: float  # estimated tokens of history that fit
    _: KW_ONLY
    factor: float = 1.0  # tokens that the model counts for each estimated token
    cache_key: str = ""
    agent: Agent = BUILT_IN_AGENT
    limit: int | None = None  # the model's context limit, if known
    offered: Sequence[ToolSchema] = ()  # the tools, which count towards the limit
    has_private_data: bool = False  # True if it contains private data beyond the question

    def __post_init__(self) -> None:
        if self.limit is not None:
            other_tokens = _tokens(self.build(0).prompt) + tools_tokens(self.offered)
            max_tokens = max_history_tokens(other_tokens, int(self.limit / self.factor))
            self.budget_tokens = min(self.budget_tokens, max_tokens)
        self._first_request = self.build(self.budget_tokens)
        self._round_parts: tuple[PromptPart, ...] = ()
        self._shrunk = False

    def add(self, *parts: PromptPart) -> None:
        self._round_parts += parts

    def request(self, tools: Sequence[ToolSchema], *, answer_begun: bool, model: str) -> ChatRequest:
        return replace(
            self._first_request,
            prompt=(*self._first_request.prompt, *self._round_parts),
            tools=tuple(tools),
            answer_begun=answer_begun,
            answered_by=model,
            shrinkable=self._shrinkable,
            cache_key=self.cache_key,
            temperature=self.agent.temperature,
            reasoning=self.agent.reasoning,
        )

    @property
    def tainted(self) -> bool:
        """True if the prompt contains text not written by the turn's user."""
        return any(part.tainted for part in (*self._first_request.prompt, *self._round_parts))

    def has_stored_data(self, personal: Container[str]) -> bool:
        """Return whether the prompt has stored data of the user. `personal`: names of the tools that return
        such data."""
        parts = (*self._first_request.prompt, *self._round_parts)
        return self.has_private_data or any(
            isinstance(part, ToolResultPart) and part.name in personal and not _found_nothing(part.text)
            for part in parts
        )

    def shrink(self, tools: Sequence[ToolSchema], limit: int | None) -> bool:
        """Drop older history to fit in `limit` tokens. Returns False if nothing can be dropped."""
        if not self._shrinkable:
            return False
        fixed_tokens = _tokens(self.build(0).prompt)
        history_tokens = _tokens(self._first_request.prompt) - fixed_tokens
        other_tokens = fixed_tokens + _tokens(self._round_parts) + tools_tokens(tools)
        estimated_limit = None if limit is None else int(limit / self.factor)
        self.budget_tokens = reduce_history_tokens(history_tokens, other_tokens, estimated_limit)
        self._first_request = self.build(self.budget_tokens)
        self._shrunk = True
        return True

    @property
    def _shrinkable(self) -> bool:
        return not self._shrunk and self._first_request.shrinkable


def _found_nothing(result: str) -> bool:
    try:
        content = json.loads(result)
    except (ValueError, RecursionError):
        return False
    lists = [each for each in content.values() if isinstance(each, list)] if isinstance(content, dict) else []
    return bool(lists) and not any(lists)


def _tokens(parts: Sequence[PromptPart]) -> int:
    return sum(map(part_tokens, parts))


@dataclass(frozen=True, slots=True)
class TurnOptions:
    locale: Locale
    timezone: ZoneInfo
    temporary: bool = False
    welcomed: bool = True  # False if the user's first answer may need a welcome
    bot_id: int = 0
    answer_discord_id: int | None = None  # the Discord message that shows the answer, if known
    location: ChannelKey | None = None  # the channel in which a session's turn is public
    memory_paused: bool = False
    link: str = ""  # link to the answer; empty if unknown or ephemeral
    agent: Agent = BUILT_IN_AGENT
    guild_id: int | None = None
    channel_id: int = 0
    thread_title: str = ""
    thread_owner_id: int = 0
    can_post: bool = True  # True if the bot may post in the channel without an interaction
    front_end: Literal["discord", "terminal"] = "discord"
    entry_id: str = ""  # the turn's id in the ledger; empty if it has none
    earlier_calls: tuple[ToolCall, ...] = ()  # calls by an interrupted earlier run of the same turn
    role_ids: tuple[int, ...] | None = ()
    images: tuple[Attachment, ...] = ()  # from the approved call that the turn continues
    by_owner: bool = False

    def payer(self, user_id: int) -> Payer:
        return Payer(user_id, self.guild_id or 0, self.role_ids, self.front_end)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A question in a session, one user's questions in a channel, or an answer to regenerate."""

    key: SessionKey | ChannelKey
    options: TurnOptions
    questions: tuple[Message, ...] = ()
    replaces: int | None = None  # answer to regenerate: row id in a session, message id in a channel
    references: tuple[Reference, ...] = ()

    @property
    def user_id(self) -> int:
        return self.key.user_id if isinstance(self.key, SessionKey) else self.questions[0].author_id


class Transcriber(Protocol):
    def is_needed(self, request: TurnRequest) -> bool:
        """Return whether a request has recordings, including those already transcribed."""

    async def transcribe(self, request: TurnRequest, recorder: UsageRecorder, emit: Emit) -> TurnRequest:
        """Replace recordings with transcripts. Recordings that fail are left out, and `emit` reports them.
        Raises an InputError or HearingFailed if nothing is left of the question."""


class AnswerSpeaker(Protocol):
    async def read_aloud(self, answer: Message, payer: Payer) -> bytes | None:
        """Return the answer as MP3; None if it has no text to read, or after logging an error."""


_MAX_EARLIER_MESSAGES: Final = 3


class Turn(ABC):
    """A turn of a session or a channel; conversations.py implements both."""

    visibility: Visibility = "public"
    canvas: Drawing | None = None  # None if changes would not be stored
    shown_memories = frozenset[int]()  # ids stored or shown before; set by `prompt`

    def __init__(
        self,
        key: SessionKey,
        options: TurnOptions,
        questions: tuple[Message, ...],
        *,
        history: Sequence[Message] = (),
        replaced: Message | None = None,
    ) -> None:
        """`key`: in a channel turn, the author and that channel."""
        self.key = key
        self.user_id = key.user_id
        self.options = options
        self.questions = questions
        self.replaced = replaced
        self.typed = "\n".join(question.typed_text for question in questions)
        self.own_words = "\n".join(question.own_words for question in questions)
        self.transcript = "\n".join(question.heard for question in questions if question.heard)
        files = list[Attachment]()
        for message in (*history, *questions):
            for reference in message.references:
                files += reference.attachments
            files += message.attachments
        self.documents = tuple(file for file in files if file.document is not None)
        self.set_history(history)

    def set_history(self, history: Sequence[Message]) -> None:
        """Set the history and the user's `earlier_words`: from messages replied to, then the most recent
        ones."""
        self.history = history
        replied_words = (
            typed_part(each.content)
            for question in self.questions
            for each in question.references
            if each.kind == "reply" and each.author_id == self.user_id and not each.tainted
        )
        words = [each.own_words for each in history if each.role == "user" and not each.tainted]
        newest_words = words[: -_MAX_EARLIER_MESSAGES - 1 : -1]
        self.earlier_words = tuple(filter(None, (*replied_words, *newest_words)))

    @abstractmethod
    async def prompt(self, offered: Sequence[ToolSchema]) -> TurnPrompt:
        pass

    @abstractmethod
    async def store(
        self, answer: Message, proposals: Sequence[ProposedCalls], settlement: Settlement
    ) -> StoredTurn:
        """Store the turn and its usage."""

    def start_background_work(self, stored: Sequence[Message], history_tokens: float) -> None:  # noqa: B027 - channels have none
        """`history_tokens`: tokens of history that fit in a request."""


def make_tool_context(turn: Turn, stores: Stores, clock: Clock, tools: ToolRegistry) -> ToolContext:
    options = turn.options
    target: Target = "terminal" if options.front_end == "terminal" else "channel"
    if target == "channel" and (turn.visibility == "private" or not options.can_post):
        target = "dm"
    return ToolContext(
        turn.key,
        turn.visibility,
        options.locale,
        options.timezone,
        stores,
        source=Source("model", link=options.link),
        clock=clock,
        canvas=turn.canvas,
        target=target,
        guild_id=options.guild_id,
        in_dm=options.guild_id is None and options.front_end == "discord",
        files=turn.documents,
        read_names=tuple(file.name for question in turn.questions for file in question.attachments),
        shared_objects=tools.make_shared_objects((*turn.history, *turn.questions)),
        typed=turn.typed,
        own_words=turn.own_words,
        earlier_words=turn.earlier_words,
        shown_memories=turn.shown_memories,
        owner_may_read=options.by_owner or (turn.visibility == "public" and options.guild_id is not None),
    )


def visitor_of_turn(turn: Turn) -> Visitor:
    options = turn.options
    channels = dict.fromkeys((turn.key.channel_id, options.channel_id))
    roles = None if options.role_ids is None else frozenset(options.role_ids)
    return Visitor(turn.user_id, tuple(filter(None, channels)), options.guild_id, roles)


async def read_prompt_memories(
    memories: MemoryStore, user_id: int, visibility: Visibility, offered: Sequence[ToolSchema]
) -> Sequence[Memory]:
    """Return the memories that all readers of the answer may see; none without the tool `recall`."""
    if not memories.max_prompt_memories or not any(tool.name == "recall" for tool in offered):
        return ()
    audience: Audience = "private" if visibility == "private" else "anywhere"
    return await memories.list_for_prompt(user_id, audience=audience)
