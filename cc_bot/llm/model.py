"""The interface of language models, and chains of models."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

from cc_bot.domain.errors import ContextTooLong, ModelError, ModelUnavailable, drop_tracebacks
from cc_bot.domain.message import Attachment
from cc_bot.domain.turn import Usage

MAX_ANSWER_CHARACTERS: Final = 100_000  # fifty Discord messages
MAX_ARGUMENTS_CHARACTERS: Final = 32_768  # a memory of 4000 characters takes 24,000 as \uXXXX
MAX_CALLS: Final = 64  # four times as many as are executed
MAX_STORED_NATIVE: Final = 32_768
SILENT: Final = "[silent]"  # some models can't send an empty answer
_OPAQUE_TEXT: Final = re.compile(r"[\w+/=.:-]+", re.ASCII)


# `tainted`: others may have written parts of the text. Not sent to models.


@dataclass(frozen=True, slots=True)
class SystemPart:
    text: str
    tainted: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class UserPart:
    text: str
    images: tuple[Attachment, ...] = ()
    tainted: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    id: str
    name: str
    arguments: str  # JSON as the model wrote it, perhaps malformed

    @property
    def is_oversized(self) -> bool:
        return len(self.arguments) > MAX_ARGUMENTS_CHARACTERS


@dataclass(frozen=True, slots=True)
class AssistantPart:
    text: str
    tool_requests: tuple[ToolRequest, ...] = ()
    tainted: bool = field(default=False, compare=False)
    native: str = ""  # `Finish.native`, or its storable part


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
    parameters: Mapping[str, Any]  # a JSON schema of type `object`


@dataclass(frozen=True, slots=True)
class ChatRequest:
    prompt: tuple[PromptPart, ...]
    tools: tuple[ToolSchema, ...] = ()
    answer_begun: bool = False
    """True if the user has seen a part of the answer: then there is no retry and no other model."""
    answered_by: str = ""  # `Finish.model` of the turn's last request: the model that a chain asks first
    shrinkable: bool = False
    """True if the caller can send a shorter request: then a chain raises ContextTooLong at once."""
    cache_key: str = ""  # the same for requests that mostly begin with the same text
    stable: tuple[int, ...] = ()  # indices of parts up to which later prompts will be the same
    temperature: float | None = None  # from 0 to 2; None for the model's default
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    retracts_text: bool = False  # True if all text so far was reasoning


@dataclass(frozen=True, slots=True)
class Fallback:
    """The chain asks its next model."""

    model: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The last event of a stream that did not raise."""

    reason: Literal["stop", "tools", "cut"]
    """`cut`: the stream broke, ended without a reason or reached the token limit."""
    tool_requests: tuple[ToolRequest, ...] = ()
    usage: Usage = Usage()
    model: str = ""  # the model's name in the settings; empty if its tokens are not counted
    native: str = ""
    """JSON with thought signatures, reasoning and ids, which is sent back to this model alone."""
    without_tools: bool = False  # True if tools were offered to a model that supports none


ModelEvent = Delta | Thinking | Fallback | Finish


class ChatModel(Protocol):
    """A stream ends with one Finish. It raises ModelError only before the first Delta of an answer that has
    not begun; later failures are `Finish("cut")`. Closing the stream ends the request."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]: ...


def storable_native(native: str) -> str:
    """Return `native` without readable text, which might quote an erased memory; `{}` if it is too long."""
    if not native:
        return ""
    fields = json.loads(native)
    ids, phase = fields.get("ids", []), fields.get("phase")
    items = map(_keep_encrypted_item, fields.get("items", []))
    details = map(_keep_encrypted_detail, fields.get("reasoning", {}).get("reasoning_details", []))
    result = {
        "by": fields.get("by"),
        "phase": phase if _is_opaque(phase) else "",
        "ids": ids if all(map(_is_opaque, ids)) else [],
        "extras": [_keep_signatures(extra) for extra in fields.get("extras", [])],
        "items": list(filter(None, items)),
        "reasoning": {"reasoning_details": list(filter(None, details))},
    }
    text = json.dumps(result)
    return text if len(text) <= MAX_STORED_NATIVE else "{}"


def _is_opaque(value: object) -> bool:
    """Return whether a value can't be readable text: some servers send that in fields for encrypted data."""
    return isinstance(value, int) or (isinstance(value, str) and _OPAQUE_TEXT.fullmatch(value) is not None)


def _keep_signatures(extra: Any) -> dict[str, Any]:
    result = {}
    for name, value in extra.items() if isinstance(extra, dict) else ():
        signature = value if "signature" in name and _is_opaque(value) else _keep_signatures(value)
        if signature:
            result[name] = signature
    return result


def _keep_encrypted_item(item: dict[str, Any]) -> dict[str, Any]:
    if item["type"] != "reasoning":
        return item
    result = {name: item.get(name) for name in ("type", "id", "encrypted_content")}
    return {**result, "summary": []} if all(map(_is_opaque, result.values())) else {}


def _keep_encrypted_detail(detail: dict[str, Any]) -> dict[str, Any]:
    names = ("type", "data", "id", "format", "index")
    result = {name: detail[name] for name in names if _is_opaque(detail.get(name))}
    is_encrypted = result.get("type") == "reasoning.encrypted" and "data" in result
    return result if is_encrypted else {}


class FallbackChain:
    def __init__(self, models: Sequence[tuple[str, ChatModel]]) -> None:
        self._models = tuple(models)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """Raises ModelUnavailable if a model may answer later, else the last error."""
        errors: list[ModelError] = []
        for name, model in self._order(request):
            if errors:
                yield Fallback(name)
            has_begun = request.answer_begun
            try:
                async with aclosing(model.stream(request)) as events:
                    async for event in events:
                        has_begun = has_begun or isinstance(event, Delta)
                        yield replace(event, model=name) if isinstance(event, Finish) else event
            except ModelError as error:
                if has_begun or (isinstance(error, ContextTooLong) and request.shrinkable):
                    raise
                errors.append(drop_tracebacks(error))
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
    make_chain: Callable[[Sequence[str]], ChatModel]
    default_names: tuple[str, ...]  # for agents that name none; empty if the offline model answers
    changes_to_requests: Callable[[], Mapping[str, tuple[str, ...]]] = dict

    def chain_for(self, names: tuple[str, ...]) -> ChatModel:
        return self.make_chain(names or self.default_names)

    def first_name(self, names: tuple[str, ...]) -> str:
        """Return the name of the first model; empty for the offline model."""
        return (names or self.default_names)[0] if self.default_names else ""
