"""Declares tools as typed functions, from which their schemas are derived.

Decorate functions in a feature's `tools.py` with `@tool`: the model reads name, docstring and parameters. The
user comes from the ToolContext, never from the model's arguments.
"""

import asyncio
import inspect
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, Protocol, get_type_hints
from zoneinfo import ZoneInfo

import structlog
from pydantic import BaseModel, BeforeValidator, ValidationError, create_model

from cc_bot.chat.drawing import Drawing
from cc_bot.domain.access import Visitor
from cc_bot.domain.change import Change
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import (
    CcBotError,
    SecretNotStored,
    ToolCallLost,
    ToolGone,
    ToolServerError,
    ToolTimedOut,
)
from cc_bot.domain.forms import FormAsker
from cc_bot.domain.message import MAYBE_DONE, Attachment, Message, Target, Visibility
from cc_bot.domain.proposal import DeferredCall, ProposedCalls
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.domain.tool_calls import SEPARATOR
from cc_bot.features import modules
from cc_bot.features.memory.model import Audience, Memory, Source
from cc_bot.features.memory.stores.store import MemoryStore
from cc_bot.llm.model import MAX_ARGUMENTS_CHARACTERS, ToolRequest, ToolSchema
from cc_bot.texts import explain, texts

if TYPE_CHECKING:
    from cc_bot.chat.grounding import OwnWords
    from cc_bot.chat.stores.opening import Stores

_log = structlog.get_logger(__name__)

TIMEOUT_S = 20.0
MAX_TEXT_LENGTH = 6000
OUTCOME_UNKNOWN_ERRORS: Final = (ToolTimedOut, ToolCallLost)


@dataclass(frozen=True, slots=True)
class ToolContext:
    key: SessionKey  # in a channel turn, the author and that channel
    visibility: Visibility
    locale: Locale
    timezone: ZoneInfo
    stores: "Stores"
    tainted: bool = True  # True if the model has read text not written by the user
    can_propose: bool = True  # False in a heartbeat: no user can approve
    shown_memories: frozenset[int] = frozenset()  # ids stored or shown before the question
    recalled_memories: frozenset[int] = frozenset()  # ids looked up in this turn
    new_memories: frozenset[int] = frozenset()
    changed_count: int = 0  # existing memories that this turn changes or deletes, this call included
    source: Source = Source("model")
    clock: Clock = utc_now
    canvas: Drawing | None = None
    target: Target = "channel"
    guild_id: int | None = None
    in_dm: bool = False
    files: tuple[Attachment, ...] = ()  # documents of the turn and its history, oldest first
    shared: Mapping[type[Any], Any] = field(default_factory=dict)  # by class, see TurnPart
    typed: str = ""
    own_words: str = ""  # typed or said in this message
    earlier_words: tuple[str, ...] = ()  # from the message replied to and earlier ones, newest first
    read_stored_data: bool = False  # True if the model has seen results of `personal` tools
    forms: FormAsker | None = None
    approved: str | None = None  # values that must be unchanged, see DeferredCall
    owner_may_read: bool = True  # True if an owner may see the answer and its proposals

    @property
    def user_id(self) -> int:
        return self.key.user_id

    @property
    def memories(self) -> MemoryStore:
        return self.stores.memories

    @property
    def grounding(self) -> "OwnWords":
        from cc_bot.chat.grounding import OwnWords  # noqa: PLC0415 - 30 ms, for the first change

        return OwnWords(self.own_words, self.clock(), self.timezone, self.earlier_words)

    @property
    def audience(self) -> Audience:
        return "private" if self.visibility == "private" else "anywhere"

    @property
    def kept_audience(self) -> Audience:
        """The audience of new memories."""
        return "private" if self.in_dm else self.audience

    def local_date(self, moment: datetime) -> str:
        return moment.astimezone(self.timezone).date().isoformat()


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    text: str  # a JSON object; `{"error": …}` if `ok` is False
    ok: bool
    secret: bool = False  # True if the arguments must not be stored
    changes: tuple[Change, ...] = ()  # committed
    recalled: tuple[Memory, ...] = ()
    proposal: ProposedCalls | None = None  # a change that needs approval and was not made
    made: tuple[int, ...] = ()  # ids of new memories among `changes`
    tainted: bool = False
    ephemeral: bool = False  # True if the result is not stored with the answer
    has_side_effects: bool = False  # True if something outside the bot may have been changed
    images: tuple[Attachment, ...] = ()


class InvalidToolCall(Exception):
    """The message is for the model."""


ToolFunction = Callable[Concatenate[ToolContext, ...], Awaitable[ToolOutcome]]


@dataclass(eq=False, slots=True)
class CallableTool(ABC):
    schema: ToolSchema
    writes: bool  # True if it stores or changes anything; not offered in a temporary turn
    personal: bool  # True if it shows the model stored data of the user
    subject: str | None  # offered only if the turn has and may use this, such as `memory`
    changes: bool  # True if a call makes a lasting change at once, so it must not be repeated

    @abstractmethod
    async def run(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """Raises InvalidToolCall, ValidationError and CcBotError."""

    async def call(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """As `run`, but errors become results for the model."""
        try:
            return await self.run(context, arguments)
        except ValidationError as error:  # without the arguments themselves
            found = error.errors(include_input=False, include_url=False, include_context=False)
            where = [(".".join(map(str, each["loc"])) or "arguments", each["msg"]) for each in found]
            return failed("; ".join(f"{name}: {problem}" for name, problem in where))
        except InvalidToolCall as error:
            return failed(str(error))
        except CcBotError as error:
            if isinstance(error, ToolServerError):
                _log.warning("tool_call_failed", tool=self.schema.name, error=type(error).__name__)
            may_be_done = self.changes and isinstance(error, OUTCOME_UNKNOWN_ERRORS)
            refused = (outcome_unknown if may_be_done else failed)(explain(error, texts(context.locale)))
            return replace(refused, secret=isinstance(error, SecretNotStored))
        except Exception as error:  # noqa: BLE001 - a tool that raises never ends the turn
            _log.error("tool_failed", tool=self.schema.name, error=type(error).__name__)
            return failed("The tool failed. Tell the user that it did not work.")


@dataclass(eq=False, slots=True)
class Tool(CallableTool):
    function: ToolFunction
    arguments: type[BaseModel]

    async def run(self, context: ToolContext, arguments: str) -> ToolOutcome:
        given = dict(self.arguments.model_validate_json(arguments or "{}"))
        for name, value in given.items():
            if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH:
                raise InvalidToolCall(f"{name}: {MAX_TEXT_LENGTH} characters at most, not {len(value)}.")
        async with asyncio.timeout(TIMEOUT_S):
            return await self.function(context, **given)


def tool(
    *, writes: bool, personal: bool = True, subject: str | None = None
) -> Callable[[ToolFunction], Tool]:
    def declare(function: ToolFunction) -> Tool:
        arguments = _arguments_of(function)
        schema = ToolSchema(
            name=function.__name__,
            description=" ".join((inspect.getdoc(function) or "").split()),
            parameters=_without_titles(arguments.model_json_schema()),
        )
        changes = writes and subject in ("memory", "schedule")
        return Tool(schema, writes, personal, subject, changes, function, arguments)

    return declare


class ExternalTools(Protocol):
    def tools_in(self, visitor: Visitor) -> Sequence[CallableTool]: ...

    def is_starting(self, server: str) -> bool: ...

    async def wait_for(self, server: str) -> None:
        """Raises ToolServerUnavailable."""

    async def wait_until_started(self) -> None:
        """Wait until each server is ready or away."""


class TurnPart(Protocol):
    """A feature's part of each turn."""

    @property
    def subjects(self) -> Mapping[str, bool]:
        """Return for each subject whether the feature's tools about it are offered."""

    def for_turn(self, messages: Sequence[Message]) -> object:
        """Return what the feature's tools share. `messages`: empty for an approved call."""


class ToolRegistry:
    """All tools in a fixed order, which is part of the prompt's cached prefix."""

    def __init__(self, tools: Iterable[CallableTool], external: ExternalTools | None = None) -> None:
        self._tools = {tool.schema.name: tool for tool in sorted(tools, key=lambda tool: tool.schema.name)}
        self.external = external
        self.turn_parts: list[TurnPart] = []

    def with_external(self, external: ExternalTools) -> "ToolRegistry":
        return ToolRegistry(self._tools.values(), external)

    def shared(self, messages: Sequence[Message] = ()) -> Mapping[type[Any], Any]:
        """Return the objects that the features' tools share in one turn, by class."""
        return {type(each): each for each in (part.for_turn(messages) for part in self.turn_parts)}

    def subjects(self) -> Mapping[str, bool]:
        return dict(chain.from_iterable(part.subjects.items() for part in self.turn_parts))

    def for_visitor(self, visitor: Visitor) -> "ToolRegistry":
        """Return the visitor's tools. External ones can't replace built-in ones."""
        if self.external is None:
            return self
        there = ToolRegistry(self._tools.values())
        there.turn_parts = self.turn_parts
        for tool in self.external.tools_in(visitor):
            there._tools.setdefault(tool.schema.name, tool)
        return there

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._tools)

    def schemas(
        self, *, writing: bool = True, allowed: Collection[str] | None = None, **subjects: bool
    ) -> tuple[ToolSchema, ...]:
        """Return the tools to offer. `allowed`: names, and patterns for names of servers' tools."""
        patterns = [each for each in allowed or () if SEPARATOR in each]
        return tuple(
            tool.schema
            for name, tool in self._tools.items()
            if (writing or not tool.writes)
            and (tool.subject is None or subjects.get(tool.subject, not subjects))
            and (allowed is None or name in allowed or any(fnmatchcase(name, each) for each in patterns))
        )

    @property
    def personal(self) -> frozenset[str]:
        return frozenset(name for name, tool in self._tools.items() if tool.personal)

    def writes(self, name: str) -> bool:
        return name in self._tools and self._tools[name].writes

    def changes(self, name: str) -> bool:
        return name in self._tools and self._tools[name].changes

    async def call(
        self, request: ToolRequest, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        """Run the model's call if the tool is offered."""
        if request.oversized:
            return failed(
                f"Too long: the arguments of a call have {MAX_ARGUMENTS_CHARACTERS} characters at most."
            )
        tool = self._tools.get(request.name)
        if tool is None or tool.schema not in offered:
            names = ", ".join(schema.name for schema in offered) or "none"
            outcome = failed(f"There is no such tool here. The tools are: {names}.")
        else:
            outcome = await tool.call(context, request.arguments)
        if outcome.proposal is not None:
            asked = (request.name, request.arguments)
            calls = tuple(replace(each, asked=asked) for each in outcome.proposal.calls)
            outcome = replace(outcome, proposal=replace(outcome.proposal, calls=calls))
        if not outcome.ok and await context.memories.contains_secret(*_texts_in(request.arguments)):
            return replace(outcome, secret=True)
        return outcome

    async def run_approved(
        self, call: DeferredCall, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        """Run an approved call. Raises ToolGone, and what the tool raises."""
        tool = self._tools.get(call.name)
        if tool is None or tool.schema not in offered:
            raise ToolGone
        return await tool.run(replace(context, approved=call.held), call.arguments)


def _texts_in(arguments: str) -> Sequence[str]:
    try:
        left = [json.loads(arguments)]
    except (ValueError, RecursionError):
        return [arguments]
    found = list[str]()
    while left:
        match left.pop():
            case str(text):
                found.append(text)
            case list(parts):
                left += parts
            case dict(parts):
                left += parts.values()
            case _:
                pass
    return found


def discover() -> ToolRegistry:
    """Return the tools of all features."""
    return ToolRegistry(
        value for module in modules("tools") for value in vars(module).values() if isinstance(value, Tool)
    )


def _arguments_of(function: ToolFunction) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    _, *parameters = inspect.signature(function).parameters.values()
    declared: dict[str, Any] = {
        each.name: (hints[each.name], ... if each.default is each.empty else each.default)
        for each in parameters
    }
    return create_model(function.__name__, **declared)


def _without_titles(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Remove pydantic's titles and nulls, which cost tokens in every request."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        rest = {name: value for name, value in schema.items() if name not in {"anyOf", "default"}}
        schema = {**kinds[0], **rest}
    return {
        name: _without_titles(value) if isinstance(value, Mapping) else value
        for name, value in schema.items()
        if not (name == "title" and isinstance(value, str))
    }


def succeeded(content: Mapping[str, Any], *, changes: tuple[Change, ...] = (), **effects: Any) -> ToolOutcome:
    return ToolOutcome(json.dumps(content, ensure_ascii=False), ok=True, changes=changes, **effects)


def failed(problem: str) -> ToolOutcome:
    return ToolOutcome(json.dumps({"error": problem}, ensure_ascii=False), ok=False)


def outcome_unknown(problem: str) -> ToolOutcome:
    content = {"error": problem, MAYBE_DONE: True}
    return ToolOutcome(json.dumps(content, ensure_ascii=False), ok=False, has_side_effects=True)


# Lenient parsing of models' arguments, for several tools.

_EMPTY_VALUES: Final = {"", "none", "null", "n/a", "-"}


def as_number(number: object) -> object:
    if isinstance(number, str) and (digits := re.fullmatch(r"\A\s*+(?:[#＃]\s*+)?(\d{1,18})\s*+", number)):
        return int(digits[1])
    return number


def none_if_empty(text: object) -> object:
    return None if isinstance(text, str) and text.strip().casefold() in _EMPTY_VALUES else text


MemoryId = Annotated[int, BeforeValidator(as_number)]
