"""The interface of language models, and chains of models."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

from cc_bot.domain.errors import ContextTooLong, ModelError, ModelUnavailable, forget_frames
from cc_bot.domain.message import Attachment
from cc_bot.domain.turn import Usage

MAX_ANSWER_CHARACTERS: Final = 100_000  # fifty full messages on Discord; a longer answer is cut
# A memory of 4000 characters takes 24,000 as \uXXXX.
MAX_ARGUMENTS_CHARACTERS: Final = 32_768
MAX_CALLS: Final = 64  # in one answer, four times as many as are made
MAX_STORED_NATIVE: Final = 32_768
SILENT: Final = "[silent]"  # the answer of a model with nothing to say: some can't answer with nothing
_OPAQUE: Final = re.compile(r"[\w+/=.:-]+", re.ASCII)


# `tainted`: the part holds words that the turn's user did not write. No model sees it.


@dataclass(frozen=True, slots=True)
class SystemPart:
    text: str
    tainted: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class UserPart:
    text: str
    """Text files included."""
    images: tuple[Attachment, ...] = ()
    tainted: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    id: str
    name: str
    arguments: str
    """As the model wrote it, maybe malformed."""

    @property
    def oversized(self) -> bool:
        return len(self.arguments) > MAX_ARGUMENTS_CHARACTERS


@dataclass(frozen=True, slots=True)
class AssistantPart:
    text: str
    tool_requests: tuple[ToolRequest, ...] = ()
    tainted: bool = field(default=False, compare=False)
    native: str = ""
    """`Finish.native`, or the storable part of it."""


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    request_id: str
    name: str
    text: str
    tainted: bool = field(default=False, compare=False)


PromptPart = SystemPart | UserPart | AssistantPart | ToolResultPart


@dataclass(frozen=True, slots=True)
class ToolSchema:
    name: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON schema of type object."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    prompt: tuple[PromptPart, ...]
    tools: tuple[ToolSchema, ...] = ()
    answer_begun: bool = False
    """The user has seen a word of the answer: nothing is retried and no other model is asked."""
    answered_by: str = ""
    """`Finish.model` of the turn's earlier request, asked first."""
    shrinkable: bool = False
    """The caller can send a shorter request: a chain raises ContextTooLong at once."""
    cache_key: str = ""
    """Requests with the same key mostly begin alike: a hint for the provider's prefix cache."""
    stable: tuple[int, ...] = ()
    """Indices of prompt parts up to whose end the next requests will be the same."""
    temperature: float | None = None
    """From 0 to 2; None: the model's own."""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """`aloud`: all text of this answer so far was reasoning."""

    aloud: bool = False


@dataclass(frozen=True, slots=True)
class Fallback:
    """The next model of a chain is asked."""

    model: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The last event of every stream that did not raise."""

    reason: Literal["stop", "tools", "cut"]
    """cut: the stream broke, ended without a reason or reached the token limit."""
    tool_requests: tuple[ToolRequest, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    """As the operator named it; empty where no tokens are counted."""
    native: str = ""
    """JSON that only this model gets back with the calls: thought signatures, reasoning, ids."""
    without_tools: bool = False
    """Tools were offered to a model that takes none."""


ModelEvent = Delta | Thinking | Fallback | Finish


class ChatModel(Protocol):
    """The stream ends with exactly one Finish. It raises a ModelError only before the first Delta of an
    answer that has not begun; later failures are `Finish("cut")`. Closing the iterator ends the request."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]: ...


def storable(native: str) -> str:
    """Keep what has no readable text, which could quote an erased memory. `{}` if too long; empty for
    none."""
    if not native:
        return ""
    given = json.loads(native)
    ids, details = given.get("ids", []), given.get("reasoning", {}).get("reasoning_details", [])
    kept = {
        "by": given.get("by"),
        "phase": phase if _is_opaque(phase := given.get("phase")) else "",
        "ids": ids if all(map(_is_opaque, ids)) else [],
        "extras": [_signatures(extra) for extra in given.get("extras", [])],
        "items": [sealed for item in given.get("items", []) if (sealed := _sealed_item(item))],
        "reasoning": {"reasoning_details": [sealed for each in details if (sealed := _sealed_detail(each))]},
    }
    text = json.dumps(kept)
    return text if len(text) <= MAX_STORED_NATIVE else "{}"


def _is_opaque(value: object) -> bool:
    """Some servers send plain words as encrypted."""
    return isinstance(value, int) or (isinstance(value, str) and _OPAQUE.fullmatch(value) is not None)


def _signatures(extra: Any) -> dict[str, Any]:
    kept = {}
    for name, value in extra.items() if isinstance(extra, dict) else ():
        signature = value if "signature" in name and _is_opaque(value) else _signatures(value)
        if signature:
            kept[name] = signature
    return kept


def _sealed_item(item: dict[str, Any]) -> dict[str, Any]:
    if item["type"] != "reasoning":
        return item
    kept = {name: item.get(name) for name in ("type", "id", "encrypted_content")}
    return {**kept, "summary": []} if all(map(_is_opaque, kept.values())) else {}


def _sealed_detail(detail: dict[str, Any]) -> dict[str, Any]:
    names = ("type", "data", "id", "format", "index")
    kept = {name: detail[name] for name in names if _is_opaque(detail.get(name))}
    return kept if kept.get("type") == "reasoning.encrypted" and "data" in kept else {}


class FallbackChain:
    """The preferred model first, each with its name."""

    def __init__(self, models: Sequence[tuple[str, ChatModel]]) -> None:
        self._models = tuple(models)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """Raises ModelUnavailable if one of the models may answer later, otherwise the last error."""
        errors: list[ModelError] = []
        for name, model in self._order(request):
            if errors:
                yield Fallback(name)
            begun = request.answer_begun
            try:
                async with aclosing(model.stream(request)) as events:
                    async for event in events:
                        begun = begun or isinstance(event, Delta)
                        yield replace(event, model=name) if isinstance(event, Finish) else event
            except ModelError as error:
                if begun or (isinstance(error, ContextTooLong) and request.shrinkable):
                    raise
                errors.append(forget_frames(error))
            else:
                return
        raise next((error for error in errors if isinstance(error, ModelUnavailable)), errors[-1])

    def _order(self, request: ChatRequest) -> Sequence[tuple[str, ChatModel]]:
        names = [name for name, _ in self._models]
        first = names.index(request.answered_by) if request.answered_by in names else 0
        if request.answer_begun:
            return (self._models[first],)
        return (*self._models[first:], *self._models[:first])


@dataclass(frozen=True)
class Chains:
    make: Callable[[Sequence[str]], ChatModel]
    default: tuple[str, ...]
    """For agents that name none; empty if the offline model answers."""
    changes: Callable[[], Mapping[str, tuple[str, ...]]] = dict

    def of(self, names: tuple[str, ...]) -> ChatModel:
        return self.make(names or self.default)

    def first(self, names: tuple[str, ...]) -> str:
        """The name of a chain's first model; empty for the offline model."""
        return (names or self.default)[0] if self.default else ""
