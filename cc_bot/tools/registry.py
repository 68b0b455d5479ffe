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
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from types import ModuleType
from typing import (
    Annotated,
    Any,
    Concatenate,
    Final,
    Literal,
    Protocol,
    TypedDict,
    Unpack,
    get_type_hints,
)
from zoneinfo import ZoneInfo

import structlog
from pydantic import BaseModel, BeforeValidator, ValidationError, create_model

from cc_bot.domain.canvas import AddCard, AddChart, Canvas, CanvasCommand, Drawn, ShowText, reduce
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import CcBotError, SecretNotStored, ToolGone
from cc_bot.domain.form import Asker
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Audience, Memory, MemoryChange, Source
from cc_bot.domain.message import MAYBE_DONE, Attachment, Visibility
from cc_bot.domain.proposal import DeferredCall, ProposedCalls
from cc_bot.domain.schedule import Place, ScheduleChange
from cc_bot.domain.session import SessionKey
from cc_bot.domain.tool_server import SEPARATOR, ToolPlace
from cc_bot.internet.turn import TurnInternet
from cc_bot.llm.model import MAX_ARGUMENTS_CHARACTERS, ToolRequest, ToolSchema
from cc_bot.stores.memory.store import MemoryStore
from cc_bot.stores.schedules import ScheduleStore
from cc_bot.texts import explain, texts
from cc_bot.tools.grounding import OwnWords

_log = structlog.get_logger(__name__)

TIMEOUT_S = 20.0
"""A tool that takes longer is given up, so that it can't hold up the turn."""
LONGEST_TEXT = 6000
"""Characters of one text among the arguments, as in a question; no tool keeps one of more than 4000."""


class CanvasDraft:
    """The canvas as one turn draws on it, before anything is stored."""

    def __init__(self, canvas: Canvas, visibility: Visibility) -> None:
        """`canvas` is all that is up, private elements too; `visibility` is that of the turn."""
        self._canvas = canvas
        self._visibility = visibility
        self._drawn: list[Drawn] = []

    @property
    def canvas(self) -> Canvas:
        """The canvas, as much of it as the turn may see."""
        return self._canvas.visible_in(self._visibility)

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """The commands that were done, in order; with the ids that elements got, which later commands
        name."""
        return tuple(self._drawn)

    @property
    def hides(self) -> bool:
        """Whether there are elements that the turn may not see."""
        return self._canvas.elements != self.canvas.elements

    def apply(self, command: CanvasCommand, *, propose: bool = False) -> Canvas:
        """Draw, and return what the turn sees then; what was added is its last element. What it is to
        `propose` is drawn for the turn's own eyes alone: what it says next may build on it. Raises
        CanvasRefused with a message for the model; nothing is drawn then. It awaits nothing, so that calls
        which a model makes at once are done in their order."""
        self._canvas = reduce(self._canvas, Drawn(command, self._visibility))
        if isinstance(command, AddCard | ShowText | AddChart):
            command = replace(command, id=self._canvas.elements[-1].id)
        if not propose:
            self._drawn.append(Drawn(command, self._visibility))
        return self.canvas


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The circumstances of a call: for whom and where a tool acts."""

    user_id: int
    visibility: Visibility
    """Who will see the answer that the result flows into."""
    locale: Locale
    timezone: ZoneInfo
    memories: MemoryStore
    tainted: bool = True
    """Whether the model has read words that the user did not write."""
    can_propose: bool = True
    """Whether the user can be asked: nobody watches a heartbeat."""
    shown: frozenset[int] = frozenset()
    """The memories that this conversation kept or showed before the question."""
    recalled: frozenset[int] = frozenset()
    """The memories that this turn looked up, as its user sees."""
    made: frozenset[int] = frozenset()
    """The memories that this turn has made."""
    changing: int = 0
    """How many memories that were there before this turn has changed or deleted, or is about to."""
    source: Source = Source("model")
    """What is kept in this turn came from here."""
    clock: Clock = utc_now
    key: SessionKey | None = None
    """Whose turn it is, where, and with which agent; in a channel's conversation this is who asked, in that
    place."""
    canvas: CanvasDraft | None = None
    """What the turn draws on; None where there is no canvas."""
    schedules: ScheduleStore | None = None
    """None where nothing is kept for later."""
    place: Place = "channel"
    """Where the user is reminded of what they ask for here."""
    guild_id: int | None = None
    in_dm: bool = False
    """Whether the turn is in a DM, be it one of several people."""
    files: tuple[Attachment, ...] = ()
    """The documents of the turn and of what is shown of its conversation, oldest first."""
    internet: TurnInternet | None = None
    """What of the web may be read and searched; None where nothing is."""
    typed: str = ""
    """What the user typed in this message."""
    own_words: str = ""
    """What the user typed or said in this message."""
    earlier_words: tuple[str, ...] = ()
    """What the user typed or said in messages before it in this conversation, or in the one that it replies
    to; the newest first."""
    looked_up: bool = False
    """Whether the model was given what is kept of the user: results of tools that act for one."""
    asker: Asker | None = None
    """The way to the user while a call is made; None where there is none."""
    approved: str | None = None
    """The values that an approved call must find unchanged (see DeferredCall); None in all other calls."""
    owners_read: bool = True
    """Whether an owner of the bot may come to see the answer, and what it leaves to be decided."""

    @property
    def own(self) -> OwnWords:
        """What changes may say in a tainted turn."""
        return OwnWords(self.own_words, self.clock(), self.timezone, self.earlier_words)

    @property
    def audience(self) -> Audience:
        """The circle that the answer is for, as memories have it."""
        return "private" if self.visibility == "private" else "anywhere"

    @property
    def kept_audience(self) -> Audience:
        """The audience of what is kept in this turn."""
        return "private" if self.in_dm else self.audience

    def local_date(self, moment: datetime) -> str:
        """The date (ISO 8601) on which something happened where the user is."""
        return moment.astimezone(self.timezone).date().isoformat()


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What the model is told of a call, and what the call did beside that."""

    text: str
    """A JSON object; `{"error": …}` when `ok` is False."""
    ok: bool
    secret: bool = False
    """Whether the arguments hold what must not be stored."""
    changes: tuple[MemoryChange, ...] = ()
    """What the user is told, from committed rows."""
    recalled: tuple[Memory, ...] = ()
    """What the model was shown to answer with."""
    schedules: tuple[ScheduleChange, ...] = ()
    """What the user is told of their reminders, from committed rows."""
    proposal: ProposedCalls | None = None
    """What was not done, and is left to the user."""
    made: tuple[int, ...] = ()
    """Of the memories that `changes` tells of, those that were not there before."""
    tainted: bool = False
    """Whether the model is told words that the user did not write."""
    passing: bool = False
    """Whether what the model is told is for this turn alone, and is not kept with its answer."""
    acted: bool = False
    """Whether something was changed out there, for good, or may have been."""
    images: tuple[Attachment, ...] = ()
    """Pictures that the model is shown, and that stand below the answer."""


class InvalidToolCall(Exception):
    """The arguments make no sense together. The message is for the model."""


ToolFunction = Callable[Concatenate[ToolContext, ...], Awaitable[ToolOutcome]]
Subject = Literal["memory", "canvas", "schedule", "file", "page", "search"]


class Subjects(TypedDict, total=False):
    memory: bool
    canvas: bool
    schedule: bool
    file: bool
    page: bool
    search: bool


class CallableTool(Protocol):
    """A tool, wherever it comes from: what the model is told of it, where it may be offered, and the call."""

    schema: ToolSchema
    writes: bool
    """Whether it keeps or changes anything; such tools are not offered in a temporary turn."""
    personal: bool
    """Whether it acts for one user, and tells the model what is kept of them."""
    about: Subject | None
    """What it touches or draws on; it is offered only where its user has that, and wants it used."""

    @property
    def changes(self) -> bool:
        """Return whether a call changes something at once and for good, and must not be made twice."""
        ...

    async def run(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """Run the tool. Raises InvalidToolCall, ValidationError and CcBotError."""
        ...

    async def call(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """Run the tool. Whatever goes wrong becomes a result that the model can read."""
        ...


@dataclass(eq=False, slots=True)
class Tool:
    """A tool of our own (a CallableTool)."""

    schema: ToolSchema
    writes: bool
    personal: bool
    about: Subject | None
    function: ToolFunction
    arguments: type[BaseModel]

    @property
    def changes(self) -> bool:
        return self.writes and self.about in ("memory", "schedule")

    async def run(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """Run the tool. Raises InvalidToolCall, ValidationError and CcBotError."""
        given = dict(self.arguments.model_validate_json(arguments or "{}"))
        _check_lengths(given)
        async with asyncio.timeout(TIMEOUT_S):
            return await self.function(context, **given)

    async def call(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """Run the tool. Whatever goes wrong becomes a result that the model can read."""
        try:
            return await self.run(context, arguments)
        except ValidationError as error:
            return failed(_problems(error))
        except InvalidToolCall as error:
            return failed(str(error))
        except CcBotError as error:
            refused = failed(explain(error, texts(context.locale)))
            return replace(refused, secret=isinstance(error, SecretNotStored))
        except Exception as error:  # noqa: BLE001 - a tool that raises never ends the turn
            _log.error("tool_failed", tool=self.schema.name, error=type(error).__name__)
            return failed("The tool failed. Tell the user that it did not work.")


def tool(
    *, writes: bool, personal: bool = True, about: Subject | None = None
) -> Callable[[ToolFunction], Tool]:
    """Declare the decorated function to be a tool."""

    def declare(function: ToolFunction) -> Tool:
        arguments = _arguments_of(function)
        schema = ToolSchema(
            name=function.__name__,
            description=" ".join((inspect.getdoc(function) or "").split()),
            parameters=_without_titles(arguments.model_json_schema()),
        )
        return Tool(schema, writes, personal, about, function, arguments)

    return declare


class ToolsOutside(Protocol):
    """The source of tools that are not our own."""

    def tools_in(self, place: ToolPlace) -> Sequence[CallableTool]:
        """List those that one turn has there, in a fixed order."""
        ...


class ToolRegistry:
    """The tools that exist, in a fixed order: the order is part of the prompt's cached prefix."""

    def __init__(self, tools: Iterable[CallableTool], outside: ToolsOutside | None = None) -> None:
        """`outside` gives the tools that are not our own; None: there are none."""
        self._tools = {tool.schema.name: tool for tool in sorted(tools, key=lambda tool: tool.schema.name)}
        self._outside = outside

    def beside(self, outside: ToolsOutside) -> "ToolRegistry":
        """Return these tools with a source of others."""
        return ToolRegistry(self._tools.values(), outside)

    def in_place(self, place: ToolPlace) -> "ToolRegistry":
        """The tools that a turn has there. Those from outside come after our own, and none of them can take
        the name of one."""
        if self._outside is None:
            return self
        there = ToolRegistry(self._tools.values())
        for tool in self._outside.tools_in(place):
            there._tools.setdefault(tool.schema.name, tool)
        return there

    @property
    def outside(self) -> ToolsOutside | None:
        """The source of the tools that are not our own."""
        return self._outside

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._tools)

    def schemas(
        self,
        *,
        writing: bool = True,
        allowed: Collection[str] | None = None,
        **subjects: Unpack[Subjects],
    ) -> tuple[ToolSchema, ...]:
        """The tools to offer: without `writing` only those that store nothing, and none about a subject that
        is False. `allowed` are the names, or patterns of names of servers' tools, that may be among them;
        None: all."""
        return tuple(
            tool.schema
            for name, tool in self._tools.items()
            if (writing or not tool.writes)
            and (tool.about is None or subjects.get(tool.about, True))
            and (allowed is None or _is_among(name, allowed))
        )

    @property
    def personal(self) -> frozenset[str]:
        """The names of the tools that act for one user, and tell the model what is kept of them."""
        return frozenset(name for name, tool in self._tools.items() if tool.personal)

    def writes(self, name: str) -> bool:
        """Return whether a tool of this name keeps anything."""
        return name in self._tools and self._tools[name].writes

    def changes(self, name: str) -> bool:
        """Return whether a tool of this name changes memories, reminders or something out there, at once and
        for good."""
        return name in self._tools and self._tools[name].changes

    async def call(
        self, request: ToolRequest, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        """Run what the model asked for, if it was offered at all. Of arguments that are too long nothing is
        parsed or matched."""
        if request.oversized:
            return failed(
                f"Too long: the arguments of a call have {MAX_ARGUMENTS_CHARACTERS} characters at most."
            )
        outcome = await self._call(request, context, offered)
        if outcome.proposal is not None:
            asked = (request.name, request.arguments)
            calls = tuple(replace(each, asked=asked) for each in outcome.proposal.calls)
            outcome = replace(outcome, proposal=replace(outcome.proposal, calls=calls))
        if not outcome.ok and await context.memories.refuses(*_texts_in(request.arguments)):
            return replace(outcome, secret=True)  # whatever else was wrong with it
        return outcome

    async def run_approved(
        self, call: DeferredCall, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        """Make a call that was approved. Raises ToolGone if it is not offered, and what the tool raises."""
        tool = self._tools.get(call.name)
        if tool is None or tool.schema not in offered:
            raise ToolGone
        return await tool.run(replace(context, approved=call.held), call.arguments)

    async def _call(
        self, request: ToolRequest, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        tool = self._tools.get(request.name)
        if tool is None or tool.schema not in offered:
            names = ", ".join(schema.name for schema in offered) or "none"
            return failed(f"There is no such tool here. The tools are: {names}.")
        return await tool.call(context, request.arguments)


def _texts_in(arguments: str) -> Sequence[str]:
    """Return the texts that a model wrote into a call; all of it if that is not JSON."""
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


def _is_among(name: str, allowed: Collection[str]) -> bool:
    return name in allowed or any(SEPARATOR in each and fnmatchcase(name, each) for each in allowed)


def discover(package: ModuleType) -> ToolRegistry:
    """Find every tool declared in the modules of a package."""
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
    declared: dict[str, Any] = {
        parameter.name: (
            hints[parameter.name],
            ... if parameter.default is parameter.empty else parameter.default,
        )
        for parameter in parameters
    }
    return create_model(function.__name__, **declared)


def _check_lengths(given: Mapping[str, Any]) -> None:
    """Check what a tool is given before it matches anything with that. Raises InvalidToolCall."""
    for name, value in given.items():
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise InvalidToolCall(f"{name}: {LONGEST_TEXT} characters at most, and this has {len(value)}.")


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


def _problems(error: ValidationError) -> str:
    """Say what is wrong with the arguments, without repeating them."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in found)


def succeeded(told: Mapping[str, Any], **effects: Any) -> ToolOutcome:
    """The outcome of a call that was made; `effects` are fields of ToolOutcome."""
    return ToolOutcome(json.dumps(told, ensure_ascii=False), ok=True, **effects)


def failed(problem: str) -> ToolOutcome:
    """The outcome of a call that was not made, or came to nothing; the problem is for the model."""
    return ToolOutcome(json.dumps({"error": problem}, ensure_ascii=False), ok=False)


def in_doubt(problem: str) -> ToolOutcome:
    """The outcome of a call that may have been made or not; the problem is for the model."""
    told = {"error": problem, MAYBE_DONE: True}
    return ToolOutcome(json.dumps(told, ensure_ascii=False), ok=False, acted=True)


# ---- arguments -------------------------------------------------------------------------------------------
# Arguments as models write them, small models too; those of one tool alone stand beside it.

_NOTHING: Final = {"", "none", "null", "n/a", "-"}


def as_number(number: object) -> object:
    """`#12` and "12" are meant as 12."""
    if isinstance(number, str) and (digits := re.fullmatch(r"\A\s*+(?:[#＃]\s*+)?(\d{1,18})\s*+", number)):
        return int(digits[1])
    return number


def as_or_none(text: object) -> object:
    return None if isinstance(text, str) and text.strip().casefold() in _NOTHING else text


MemoryId = Annotated[int, BeforeValidator(as_number)]
