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
from cc_bot.domain import errors
from cc_bot.domain.access import Visitor
from cc_bot.domain.change import Change
from cc_bot.domain.clock import Clock, utc_now
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
    from cc_bot.chat.grounding import Grounding
    from cc_bot.chat.stores.opening import Stores

_log = structlog.get_logger(__name__)

TIMEOUT_S = 20.0
MAX_TEXT_LENGTH = 6000
OUTCOME_UNKNOWN_ERRORS: Final = (errors.ToolTimedOut, errors.ToolCallLost)


@dataclass(frozen=True, slots=True)
class ToolContext:
    key: SessionKey  # in a channel turn, the author and that channel
    visibility: Visibility
    locale: Locale
    timezone: ZoneInfo
    stores: "Stores"
    tainted: bool = True  # True if the model has read text that the user did not write
    can_propose: bool = True  # False in a heartbeat: no user can approve
    shown_memories: frozenset[int] = frozenset()  # ids stored or shown before the question
    recalled_memories: frozenset[int] = frozenset()  # ids looked up in this turn
    new_memories: frozenset[int] = frozenset()
    changed_count: int = 0  # existing memories that this turn changes or deletes, this call included
    source: Source = Source("model")
    clock: Clock = utc_now
    canvas: Drawing | None = None
    target: Target = "channel"  # where reminders are delivered
    guild_id: int | None = None
    in_dm: bool = False
    files: tuple[Attachment, ...] = ()  # documents of the turn and its history, oldest first
    read_names: tuple[str, ...] = ()  # of the question's files, and the pages that were read
    shared_objects: Mapping[type[Any], Any] = field(default_factory=dict)  # by class, see TurnPart
    typed: str = ""  # typed in this message, without quotations
    own_words: str = ""  # typed or said in this message
    earlier_words: tuple[str, ...] = ()  # in the message replied to and earlier messages, newest first
    has_read_stored_data: bool = False  # True if the model has seen results of `personal` tools
    approved_values: str | None = None  # `DeferredCall.held` of an approved call; None if not approved
    owner_may_read: bool = True  # True if an owner may see the answer and its proposals

    @property
    def user_id(self) -> int:
        return self.key.user_id

    @property
    def memories(self) -> MemoryStore:
        return self.stores.memories

    @property
    def grounding(self) -> "Grounding":
        from cc_bot.chat.grounding import Grounding  # noqa: PLC0415 - 30 ms, for the first change

        return Grounding(self.own_words, self.clock(), self.timezone, self.earlier_words)

    @property
    def audience(self) -> Audience:
        return "private" if self.visibility == "private" or self.target == "terminal" else "anywhere"

    @property
    def is_approved(self) -> bool:
        return self.approved_values is not None

    @property
    def new_memory_audience(self) -> Audience:
        return "private" if self.in_dm or self.visibility == "private" else "anywhere"

    def local_date(self, moment: datetime) -> str:
        return moment.astimezone(self.timezone).date().isoformat()


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    text: str  # a JSON object; `{"error": …}` if `ok` is False
    ok: bool
    has_secret: bool = False  # True if the arguments must not be stored
    changes: tuple[Change, ...] = ()  # stored changes
    recalled_memories: tuple[Memory, ...] = ()
    proposal: ProposedCalls | None = None  # a change that needs approval and was not made
    new_memories: tuple[int, ...] = ()  # their ids
    tainted: bool = False
    ephemeral: bool = False  # True if the result is not stored with the answer
    has_side_effects: bool = False  # True if something outside the bot may have been changed
    images: tuple[Attachment, ...] = ()


class InvalidToolCall(Exception):
    """Its message is shown to the model."""


ToolFunction = Callable[Concatenate[ToolContext, ...], Awaitable[ToolOutcome]]


@dataclass(eq=False, slots=True)
class CallableTool(ABC):
    schema: ToolSchema
    writes: bool  # True if it stores or changes anything; not offered in a temporary turn
    personal: bool  # True if it shows the model stored data of the user
    subject: str | None  # such as `memory`: the tool is offered only if the turn may use that
    must_not_repeat: bool  # True if a call makes a lasting change at once

    @abstractmethod
    async def run(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """Raises InvalidToolCall, ValidationError and CcBotError."""

    async def call(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """As `run`, but errors become results for the model."""
        try:
            return await self.run(context, arguments)
        except ValidationError as error:  # reported without the arguments' values
            problems = error.errors(include_input=False, include_url=False, include_context=False)
            lines = [f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in problems]
            return failed("; ".join(lines))
        except InvalidToolCall as error:
            return failed(str(error))
        except errors.CcBotError as error:
            if isinstance(error, errors.ToolServerError):
                _log.warning("tool_call_failed", tool=self.schema.name, error=type(error).__name__)
            make_outcome = failed
            if self.must_not_repeat and isinstance(error, OUTCOME_UNKNOWN_ERRORS):
                make_outcome = maybe_done
            names = Locale.EN if context.target == "terminal" else None  # of commands, as typed there
            outcome = make_outcome(explain(error, texts(context.locale, names=names)))
            return replace(outcome, has_secret=isinstance(error, errors.SecretNotStored))
        except Exception as error:  # noqa: BLE001 - a tool that raises never ends the turn
            _log.error("tool_failed", tool=self.schema.name, error=type(error).__name__)
            return failed("The tool failed. Tell the user that it did not work.")


@dataclass(eq=False, slots=True)
class Tool(CallableTool):
    function: ToolFunction
    arguments: type[BaseModel]

    async def run(self, context: ToolContext, arguments: str) -> ToolOutcome:
        values = dict(self.arguments.model_validate_json(arguments or "{}"))
        for name, value in values.items():
            if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH:
                raise InvalidToolCall(f"{name}: {MAX_TEXT_LENGTH} characters at most, not {len(value)}.")
        async with asyncio.timeout(TIMEOUT_S):
            return await self.function(context, **values)


def tool(
    *, writes: bool, personal: bool = True, subject: str | None = None
) -> Callable[[ToolFunction], Tool]:
    def declare(function: ToolFunction) -> Tool:
        arguments = _make_arguments_class(function)
        schema = ToolSchema(
            name=function.__name__,
            description=" ".join((inspect.getdoc(function) or "").split()),
            parameters=_simplify_schema(arguments.model_json_schema()),
        )
        must_not_repeat = writes and subject in ("memory", "schedule")
        return Tool(schema, writes, personal, subject, must_not_repeat, function, arguments)

    return declare


class ExternalTools(Protocol):
    def tools_for(self, visitor: Visitor) -> Sequence[CallableTool]: ...

    def is_starting(self, server: str) -> bool: ...

    async def wait_for(self, server: str) -> None:
        """Raises ToolServerUnavailable."""

    async def wait_until_started(self) -> None:
        """Wait until each server is ready or unavailable."""


class TurnPart(Protocol):
    """A feature's part of each turn: an object that its tools share."""

    @property
    def subjects(self) -> Mapping[str, bool]:
        """Return for each subject of the feature whether its tools are offered."""

    def for_turn(self, messages: Sequence[Message]) -> object:
        """Return the object. `messages`: of the turn and its history; empty for an approved call."""


class ToolRegistry:
    """All tools in a fixed order, which is part of the prompt's cached prefix."""

    def __init__(self, tools: Iterable[CallableTool], external: ExternalTools | None = None) -> None:
        self._tools = {tool.schema.name: tool for tool in sorted(tools, key=lambda tool: tool.schema.name)}
        self.external = external
        self.turn_parts: list[TurnPart] = []

    def with_external(self, external: ExternalTools) -> "ToolRegistry":
        return ToolRegistry(self._tools.values(), external)

    def make_shared_objects(self, messages: Sequence[Message] = ()) -> Mapping[type[Any], Any]:
        """Return the objects that the features' tools share in one turn, by class."""
        return {type(each): each for each in (part.for_turn(messages) for part in self.turn_parts)}

    def subjects(self) -> Mapping[str, bool]:
        return dict(chain.from_iterable(part.subjects.items() for part in self.turn_parts))

    def for_visitor(self, visitor: Visitor) -> "ToolRegistry":
        """Return the visitor's tools. External ones can't replace built-in ones."""
        if self.external is None:
            return self
        registry = ToolRegistry(self._tools.values())
        registry.turn_parts = self.turn_parts
        for tool in self.external.tools_for(visitor):
            registry._tools.setdefault(tool.schema.name, tool)
        return registry

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._tools)

    def schemas(
        self, *, writing: bool = True, allowed: Collection[str] | None = None, **subjects: bool
    ) -> tuple[ToolSchema, ...]:
        """Return the tools to offer. `allowed`: names, and patterns for names of servers' tools. `subjects`:
        for each, whether its tools are offered; without arguments, all are."""
        patterns = [each for each in allowed or () if SEPARATOR in each]
        return tuple(
            tool.schema
            for name, tool in self._tools.items()
            if (writing or not tool.writes)
            and (tool.subject is None or subjects.get(tool.subject, not subjects))
            and (allowed is None or name in allowed or any(fnmatchcase(name, each) for each in patterns))
        )

    @property
    def personal_tools(self) -> frozenset[str]:
        return frozenset(name for name, tool in self._tools.items() if tool.personal)

    def writes(self, name: str) -> bool:
        return name in self._tools and self._tools[name].writes

    def must_not_repeat(self, name: str) -> bool:
        return name in self._tools and self._tools[name].must_not_repeat

    async def call(
        self, request: ToolRequest, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        if request.is_oversized:
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
            original = (request.name, request.arguments)
            calls = tuple(replace(each, asked=original) for each in outcome.proposal.calls)
            outcome = replace(outcome, proposal=replace(outcome.proposal, calls=calls))
        if not outcome.ok and await context.memories.contains_secret(*_texts_in(request.arguments)):
            return replace(outcome, has_secret=True)
        return outcome

    async def run_approved(
        self, call: DeferredCall, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        """Run an approved call. Raises ToolGone and the tool's own errors."""
        tool = self._tools.get(call.name)
        if tool is None or tool.schema not in offered:
            raise errors.ToolGone
        return await tool.run(replace(context, approved_values=call.held), call.arguments)


def _texts_in(arguments: str) -> Sequence[str]:
    try:
        values = [json.loads(arguments)]
    except (ValueError, RecursionError):
        return [arguments]
    found = list[str]()
    while values:
        match values.pop():
            case str(text):
                found.append(text)
            case list(items):
                values += items
            case dict(items):
                values += items.values()
            case _:
                pass
    return found


def discover_tools() -> ToolRegistry:
    return ToolRegistry(
        value for module in modules("tools") for value in vars(module).values() if isinstance(value, Tool)
    )


def _make_arguments_class(function: ToolFunction) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    _, *parameters = inspect.signature(function).parameters.values()
    declared: dict[str, Any] = {
        each.name: (hints[each.name], ... if each.default is each.empty else each.default)
        for each in parameters
    }
    return create_model(function.__name__, **declared)


def _simplify_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Remove pydantic's titles and nulls, which cost tokens in every request."""
    types = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(types) == 1:
        others = {name: value for name, value in schema.items() if name not in {"anyOf", "default"}}
        schema = {**types[0], **others}
    return {
        name: _simplify_schema(value) if isinstance(value, Mapping) else value
        for name, value in schema.items()
        if not (name == "title" and isinstance(value, str))
    }


def succeeded(content: Mapping[str, Any], *, changes: tuple[Change, ...] = (), **effects: Any) -> ToolOutcome:
    return ToolOutcome(json.dumps(content, ensure_ascii=False), ok=True, changes=changes, **effects)


def failed(problem: str) -> ToolOutcome:
    return ToolOutcome(json.dumps({"error": problem}, ensure_ascii=False), ok=False)


def maybe_done(problem: str) -> ToolOutcome:
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
