"""Tools are declared as typed functions; their schemas are derived.

To add tools, add a file to this folder with functions decorated with `@tool`. The model reads the function's
name and docstring; the parameters become the JSON schema. The first parameter is the ToolContext: the user
comes from the interaction, never from the model's arguments.
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
from typing import Annotated, Any, Concatenate, Final, Literal, Protocol, TypedDict, Unpack, get_type_hints
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
from cc_bot.internet.turn import TurnWebAccess
from cc_bot.llm.model import MAX_ARGUMENTS_CHARACTERS, ToolRequest, ToolSchema
from cc_bot.stores.memory.store import MemoryStore
from cc_bot.stores.schedules import ScheduleStore
from cc_bot.texts import explain, texts
from cc_bot.tools.grounding import OwnWords

_log = structlog.get_logger(__name__)

TIMEOUT_S = 20.0
"""A slower tool is cancelled, so that it does not block the turn."""
MAX_TEXT_LENGTH = 6000
"""Characters of one text argument, as in a question; tools store 4000 at most."""


class CanvasDraft:
    """The canvas as one turn draws on it; not stored yet."""

    def __init__(self, canvas: Canvas, visibility: Visibility) -> None:
        """`canvas` includes private elements; `visibility` is the turn's."""
        self._canvas = canvas
        self._visibility = visibility
        self._drawn: list[Drawn] = []

    @property
    def canvas(self) -> Canvas:
        """The part of the canvas that the turn may see."""
        return self._canvas.visible_in(self._visibility)

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        """The applied commands in order, with the ids of new elements, which later commands use."""
        return tuple(self._drawn)

    @property
    def hides(self) -> bool:
        """Whether there are elements that the turn may not see."""
        return self._canvas.elements != self.canvas.elements

    def apply(self, command: CanvasCommand, *, propose: bool = False) -> Canvas:
        """Apply the command and return the canvas that the turn sees; a new element comes last. With
        `propose`, the change is visible to later calls of the turn but not part of `drawn`. Raises
        CanvasRefused with a message for the model, and changes nothing then. Never awaits, so parallel calls
        apply in order."""
        self._canvas = reduce(self._canvas, Drawn(command, self._visibility))
        if isinstance(command, AddCard | ShowText | AddChart):
            command = replace(command, id=self._canvas.elements[-1].id)
        if not propose:
            self._drawn.append(Drawn(command, self._visibility))
        return self.canvas


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context of a call: whom and where a tool acts for."""

    user_id: int
    visibility: Visibility
    locale: Locale
    timezone: ZoneInfo
    memories: MemoryStore
    tainted: bool = True
    """Whether the model has read text not written by the user."""
    can_propose: bool = True
    """Whether the user can be asked; not in a heartbeat."""
    shown: frozenset[int] = frozenset()
    """Memories that this conversation stored or showed before the question."""
    recalled: frozenset[int] = frozenset()
    """Memories that this turn looked up, which its user sees."""
    made: frozenset[int] = frozenset()
    """Memories that this turn has created."""
    changing: int = 0
    """Number of existing memories that this turn has changed or deleted, or is about to."""
    source: Source = Source("model")
    """The source of what this turn stores."""
    clock: Clock = utc_now
    key: SessionKey | None = None
    """The turn's user, channel and agent; in a channel turn, the author and that channel."""
    canvas: CanvasDraft | None = None
    """None if there is no canvas."""
    schedules: ScheduleStore | None = None
    """None if reminders are not available."""
    place: Place = "channel"
    """Where reminders set here are sent."""
    guild_id: int | None = None
    in_dm: bool = False
    """Whether the turn is in a DM, including group DMs."""
    files: tuple[Attachment, ...] = ()
    """Documents of the turn and of the history shown, oldest first."""
    internet: TurnWebAccess | None = None
    """None: no web access."""
    typed: str = ""
    """What the user typed in this message."""
    own_words: str = ""
    """What the user typed or said in this message."""
    earlier_words: tuple[str, ...] = ()
    """What the user typed or said earlier in this conversation or in the message replied to, newest first."""
    looked_up: bool = False
    """Whether the model has seen stored data of the user: results of `personal` tools."""
    asker: Asker | None = None
    """Asks the user during a call; None if not possible."""
    approved: str | None = None
    """The values that an approved call must find unchanged (see DeferredCall); None in other calls."""
    owners_read: bool = True
    """Whether an owner of the bot may see the answer and its proposals."""

    @property
    def own(self) -> OwnWords:
        """What a tainted turn may store without approval."""
        return OwnWords(self.own_words, self.clock(), self.timezone, self.earlier_words)

    @property
    def audience(self) -> Audience:
        """The answer's visibility as an audience of memories."""
        return "private" if self.visibility == "private" else "anywhere"

    @property
    def kept_audience(self) -> Audience:
        """The audience of memories stored in this turn."""
        return "private" if self.in_dm else self.audience

    def local_date(self, moment: datetime) -> str:
        """The date (ISO 8601) in the user's time zone."""
        return moment.astimezone(self.timezone).date().isoformat()


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    text: str
    """A JSON object; `{"error": …}` if `ok` is False."""
    ok: bool
    secret: bool = False
    """Whether the arguments contain something that must not be stored."""
    changes: tuple[MemoryChange, ...] = ()
    """Changes to report to the user, from committed rows."""
    recalled: tuple[Memory, ...] = ()
    """Memories shown to the model to answer with."""
    schedules: tuple[ScheduleChange, ...] = ()
    """Changes of reminders to report to the user, from committed rows."""
    proposal: ProposedCalls | None = None
    """A change that needs approval and was not made."""
    made: tuple[int, ...] = ()
    """Ids of new memories among `changes`."""
    tainted: bool = False
    """Whether the result contains text not written by the user."""
    passing: bool = False
    """Whether the result is only for this turn and not stored with the answer."""
    has_side_effects: bool = False
    """Whether something outside was changed for good, or may have been."""
    images: tuple[Attachment, ...] = ()
    """Pictures shown to the model and below the answer."""


class InvalidToolCall(Exception):
    """The arguments are inconsistent. The message is for the model."""


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
    schema: ToolSchema
    writes: bool
    """Whether it stores or changes anything; not offered in a temporary turn."""
    personal: bool
    """Whether it acts for one user and shows the model that user's stored data."""
    about: Subject | None
    """What it works on; offered only if the user has that and wants it used."""

    @property
    def changes(self) -> bool:
        """Whether a call makes a lasting change at once, so it must not be repeated."""
        ...

    async def run(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """Run the tool. Raises InvalidToolCall, ValidationError and CcBotError."""
        ...

    async def call(self, context: ToolContext, arguments: str) -> ToolOutcome:
        """Run the tool. Errors become results for the model."""
        ...


@dataclass(eq=False, slots=True)
class Tool:
    """A built-in tool (a CallableTool)."""

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
        given = dict(self.arguments.model_validate_json(arguments or "{}"))
        _check_lengths(given)
        async with asyncio.timeout(TIMEOUT_S):
            return await self.function(context, **given)

    async def call(self, context: ToolContext, arguments: str) -> ToolOutcome:
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
    """Declare the decorated function as a tool."""

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
    def tools_in(self, place: ToolPlace) -> Sequence[CallableTool]:
        """List the tools available to one turn, in a fixed order."""
        ...


class ToolRegistry:
    """All tools in a fixed order, which is part of the prompt's cached prefix."""

    def __init__(self, tools: Iterable[CallableTool], outside: ToolsOutside | None = None) -> None:
        """`outside`: the source of external tools, if any."""
        self._tools = {tool.schema.name: tool for tool in sorted(tools, key=lambda tool: tool.schema.name)}
        self._outside = outside

    def beside(self, outside: ToolsOutside) -> "ToolRegistry":
        """Return these tools with a source of external ones."""
        return ToolRegistry(self._tools.values(), outside)

    def in_place(self, place: ToolPlace) -> "ToolRegistry":
        """The tools available to a turn. External ones come last and can't take a built-in tool's name."""
        if self._outside is None:
            return self
        there = ToolRegistry(self._tools.values())
        for tool in self._outside.tools_in(place):
            there._tools.setdefault(tool.schema.name, tool)
        return there

    @property
    def outside(self) -> ToolsOutside | None:
        return self._outside

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._tools)

    def schemas(
        self, *, writing: bool = True, allowed: Collection[str] | None = None, **subjects: Unpack[Subjects]
    ) -> tuple[ToolSchema, ...]:
        """The tools to offer. `writing=False` leaves out tools that store anything, and a subject set to
        False leaves out its tools. `allowed`: names, and patterns for names of servers' tools; None: all."""
        return tuple(
            tool.schema
            for name, tool in self._tools.items()
            if (writing or not tool.writes)
            and (tool.about is None or subjects.get(tool.about, True))
            and (allowed is None or _is_among(name, allowed))
        )

    @property
    def personal(self) -> frozenset[str]:
        """See CallableTool."""
        return frozenset(name for name, tool in self._tools.items() if tool.personal)

    def writes(self, name: str) -> bool:
        return name in self._tools and self._tools[name].writes

    def changes(self, name: str) -> bool:
        """Whether the tool of this name changes memories, reminders or something outside at once."""
        return name in self._tools and self._tools[name].changes

    async def call(
        self, request: ToolRequest, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        """Run the model's call if the tool is offered. Arguments that are too long are not parsed or
        matched."""
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
            return replace(outcome, secret=True)  # in addition to the error
        return outcome

    async def run_approved(
        self, call: DeferredCall, context: ToolContext, offered: Sequence[ToolSchema]
    ) -> ToolOutcome:
        """Raises ToolGone if the tool is not offered, and what the tool raises."""
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
    """The texts in a call's arguments; the whole string if it is not JSON."""
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
    """Find all tools declared in a package's modules."""
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
    """Raises InvalidToolCall."""
    for name, value in given.items():
        if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH:
            raise InvalidToolCall(f"{name}: {MAX_TEXT_LENGTH} characters at most, and this has {len(value)}.")


def _without_titles(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Pydantic adds a title to each field and null to each optional one, which would cost tokens in every
    request."""
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
    """Describe the errors in the arguments without repeating the arguments."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in found)


def succeeded(told: Mapping[str, Any], **effects: Any) -> ToolOutcome:
    """The outcome of a successful call; `effects` are fields of ToolOutcome."""
    return ToolOutcome(json.dumps(told, ensure_ascii=False), ok=True, **effects)


def failed(problem: str) -> ToolOutcome:
    """The outcome of a failed call; the problem is for the model."""
    return ToolOutcome(json.dumps({"error": problem}, ensure_ascii=False), ok=False)


def outcome_unknown(problem: str) -> ToolOutcome:
    """The outcome of a call that may or may not have been made; the problem is for the model."""
    told = {"error": problem, MAYBE_DONE: True}
    return ToolOutcome(json.dumps(told, ensure_ascii=False), ok=False, has_side_effects=True)


# ---- arguments -------------------------------------------------------------------------------------------
# Lenient parsing of models' arguments; what only one tool needs is in its module.

_NOTHING: Final = {"", "none", "null", "n/a", "-"}


def as_number(number: object) -> object:
    """Convert `#12` and "12" to 12."""
    if isinstance(number, str) and (digits := re.fullmatch(r"\A\s*+(?:[#＃]\s*+)?(\d{1,18})\s*+", number)):
        return int(digits[1])
    return number


def as_or_none(text: object) -> object:
    return None if isinstance(text, str) and text.strip().casefold() in _NOTHING else text


MemoryId = Annotated[int, BeforeValidator(as_number)]
