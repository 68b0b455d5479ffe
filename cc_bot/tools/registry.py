"""Tools are declared once, as typed functions; what the model is told of them is derived from that.

A file in this folder that holds functions decorated with `@tool` is all it takes to add tools. The name
and the docstring of the function are what the model reads, its parameters become the JSON schema.
The first parameter is the ToolContext: who the tool acts for comes from the interaction and never from
the model's arguments.
"""

import asyncio
import importlib
import inspect
import json
import pkgutil
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import ModuleType
from typing import Any, Concatenate, get_type_hints
from zoneinfo import ZoneInfo

import structlog
from pydantic import BaseModel, ValidationError, create_model

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import CcBotError, SecretNotStored
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Audience, MemoryChange, Source
from cc_bot.domain.message import Visibility
from cc_bot.llm.model import ToolRequest, ToolSchema
from cc_bot.stores.memories import MemoryStore
from cc_bot.texts import explain

_log = structlog.get_logger(__name__)

TIMEOUT_S = 20.0
"""A tool that takes longer is given up, so that it can't hold up the turn."""
NOBODY = -1
"""The id of no user of Discord or of the terminal."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """For whom and where a tool acts."""

    user_id: int
    """NOBODY where several people are answered at once; tools that act for one are not offered then."""
    visibility: Visibility
    """Who will see the answer that the result flows into."""
    locale: Locale
    timezone: ZoneInfo
    memories: MemoryStore
    question: str = ""
    """What the user asked in this turn."""
    previous_answer: str = ""
    """What the model said last before that; empty where that is not known."""
    earlier: str = ""
    """What the same user asked before that; empty where that is not known."""
    informed: bool = False
    """Whether the model has been shown memories, in this turn or in its history."""
    source: Source = Source("model")
    """What is kept in this turn came from here."""
    clock: Clock = utc_now

    @property
    def audience(self) -> Audience:
        """Who the answer is for, as memories have it."""
        return "private" if self.visibility == "private" else "anywhere"

    def local_date(self, moment: datetime) -> str:
        """The date (ISO 8601) on which something happened where the user is."""
        return moment.astimezone(self.timezone).date().isoformat()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool did, where that is more than what the model is told."""

    told: Mapping[str, Any]
    """What the model is told, as JSON."""
    changes: tuple[MemoryChange, ...] = ()
    """What the user is told, from committed rows."""
    recalled: tuple[int, ...] = ()
    """The memories that the model was shown to answer with."""
    beside: tuple[int, ...] = ()
    """Others that it was shown."""


class Misused(Exception):
    """The arguments make no sense together. The message is for the model."""


ToolFunction = Callable[Concatenate[ToolContext, ...], Awaitable[Mapping[str, Any] | ToolResult]]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What the model is told came of a call."""

    text: str
    """A JSON object; `{"error": …}` when `ok` is False."""
    ok: bool
    changes: tuple[MemoryChange, ...] = ()
    recalled: tuple[int, ...] = ()
    beside: tuple[int, ...] = ()
    secret: bool = False
    """Whether the arguments hold what must not be stored."""


@dataclass(frozen=True, slots=True)
class Tool:
    schema: ToolSchema
    writes: bool
    """Whether it keeps anything; such tools are not offered in a temporary turn."""
    personal: bool
    """Whether it acts for one user; such tools are not offered where several people are answered at once."""
    memory: bool
    """Whether it touches memories; such tools are not offered while their user wants that paused."""
    function: ToolFunction
    arguments: type[BaseModel]

    async def call(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """Run the tool. Whatever goes wrong becomes a result that the model can read."""
        try:
            given = self.arguments.model_validate_json(arguments or "{}")
            async with asyncio.timeout(TIMEOUT_S):
                result = await self.function(context, **dict(given))
        except ValidationError as error:
            return _failed(_problems(error))
        except Misused as error:
            return _failed(str(error))
        except SecretNotStored as error:
            return replace(_failed(explain(error, context.locale)), secret=True)
        except CcBotError as error:
            return _failed(explain(error, context.locale))
        except Exception as error:  # noqa: BLE001 - a tool that raises never ends the turn
            _log.error("tool_failed", tool=self.schema.name, error=type(error).__name__)
            return _failed("The tool failed. Tell the user that it did not work.")
        if not isinstance(result, ToolResult):
            result = ToolResult(result)
        told = json.dumps(result.told, ensure_ascii=False)
        return ToolOutcome(told, True, result.changes, result.recalled, result.beside)


def tool(*, writes: bool, personal: bool = True, memory: bool = False) -> Callable[[ToolFunction], Tool]:
    """Declare the decorated function to be a tool."""

    def declare(function: ToolFunction) -> Tool:
        arguments = _arguments_of(function)
        schema = ToolSchema(
            name=function.__name__,
            description=inspect.getdoc(function) or "",
            parameters=_without_titles(arguments.model_json_schema()),
        )
        return Tool(schema, writes, personal, memory, function, arguments)

    return declare


class ToolRegistry:
    """The tools that exist, in a fixed order: the order is part of the prompt's cached prefix."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.schema.name: tool for tool in sorted(tools, key=lambda tool: tool.schema.name)}

    def schemas(
        self, *, writing: bool = True, personal: bool = True, memory: bool = True
    ) -> tuple[ToolSchema, ...]:
        """The tools to offer; without `writing`, only those that keep nothing; without `personal`, only those
        that act for nobody in particular; without `memory`, only those that leave memories alone."""
        return tuple(
            tool.schema
            for tool in self._tools.values()
            if (writing or not tool.writes)
            and (personal or not tool.personal)
            and (memory or not tool.memory)
        )

    async def call(
        self, request: ToolRequest, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        """Run what the model asked for, if it was offered at all."""
        outcome = await self._call(request, context, offered)
        if not outcome.ok and context.memories.refuses(*_texts_in(request.arguments)):
            return replace(outcome, secret=True)  # whatever else was wrong with it
        return outcome

    async def _call(
        self, request: ToolRequest, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        tool = self._tools.get(request.name)
        if tool is None or tool.schema not in offered:
            names = ", ".join(schema.name for schema in offered) or "none"
            return _failed(f"There is no such tool here. The tools are: {names}.")
        return await tool.call(context, request.arguments)


def discover(package: ModuleType) -> ToolRegistry:
    """Every tool declared in the modules of a package."""
    modules = (
        importlib.import_module(f"{package.__name__}.{found.name}")
        for found in pkgutil.iter_modules(package.__path__)
    )
    return ToolRegistry(
        value for module in modules for value in vars(module).values() if isinstance(value, Tool)
    )


def _arguments_of(function: ToolFunction) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    _, *parameters = inspect.signature(function).parameters.values()
    fields: dict[str, Any] = {
        parameter.name: (
            hints[parameter.name],
            ... if parameter.default is parameter.empty else parameter.default,
        )
        for parameter in parameters
    }
    return create_model(function.__name__, **fields)


def _without_titles(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Pydantic titles every field with its own name, and says of each that may be left out that it may be
    null as well; the model would pay for each of those words."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        rest = {name: value for name, value in schema.items() if name not in {"anyOf", "default"}}
        schema = {**kinds[0], **rest}
    return {
        name: _without_titles(value) if isinstance(value, Mapping) else value
        for name, value in schema.items()
        if not (name == "title" and isinstance(value, str))
    }


def _texts_in(arguments: str) -> Sequence[str]:
    """The texts that a model put into a call; all of it where that is no JSON."""
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


def _problems(error: ValidationError) -> str:
    """What is wrong with the arguments, without repeating them."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in found)


def _failed(problem: str) -> ToolOutcome:
    return ToolOutcome(json.dumps({"error": problem}, ensure_ascii=False), ok=False)
