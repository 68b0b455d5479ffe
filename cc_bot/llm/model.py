"""The seam to a language model: a request goes in, a stream of events comes out."""

import json
import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from cc_bot.domain.message import Attachment
from cc_bot.domain.turn import Usage

MAX_ANSWER_CHARACTERS: Final = 100_000
"""Of one answer, whatever model gives it: fifty full messages on Discord, and more than models write at once.
One that goes on is cut there."""
MAX_ARGUMENTS_CHARACTERS: Final = 32_768
"""Of one call: a memory of 4000 characters takes 24,000 where each is written as \\uXXXX. A call with more is
answered with an error; of its arguments nothing is matched, parsed or stored."""
MAX_CALLS: Final = 64
"""That are put together in one answer: four times as many as are made. What is beyond is dropped."""
MAX_STORED_NATIVE: Final = 32_768
_OPAQUE: Final = re.compile(r"[\w+/=.:-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class SystemPart:
    """Instructions to the model.

    Of every part `tainted` tells whether it holds words that the turn's user did not write. It is decided
    where the part is made, and no model sees it.
    """

    text: str
    tainted: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class UserPart:
    """The user's words, with images as they are (text files are in the text already)."""

    text: str
    images: tuple[Attachment, ...] = ()
    tainted: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call that the model wants made."""

    id: str
    name: str
    arguments: str
    """JSON as the model wrote it: it may be malformed."""

    @property
    def oversized(self) -> bool:
        return len(self.arguments) > MAX_ARGUMENTS_CHARACTERS


@dataclass(frozen=True, slots=True)
class AssistantPart:
    """The model's words, or the calls that it asked for, or both."""

    text: str
    tool_requests: tuple[ToolRequest, ...] = ()
    tainted: bool = field(default=False, compare=False)
    native: str = ""
    """What the provider wants back with these calls: `Finish.native`, or the storable part of it."""


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The result of one call."""

    request_id: str
    name: str
    text: str
    tainted: bool = field(default=False, compare=False)


PromptPart = SystemPart | UserPart | AssistantPart | ToolResultPart


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON schema of type object."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    prompt: tuple[PromptPart, ...]
    tools: tuple[ToolSchema, ...] = ()
    answer_begun: bool = False
    """Whether the user has seen a word of this answer. If so, nothing is retried and no other model
    is asked: two half answers in one voice are worse than a cut one."""
    answered_by: str = ""
    """Finish.model of the turn's earlier request; a chain asks that one first."""
    shrinkable: bool = False
    """Whether a shorter request can take its place. If so, ContextTooLong comes back at once; otherwise
    a chain asks its next model, which may take more."""
    cache_key: str = ""
    """Requests with the same key begin alike, as a rule: a hint for a provider's prefix cache. It tells
    nobody whose conversation it is."""
    stable: tuple[int, ...] = ()
    """Indices of prompt parts, ascending, four at most: up to the end of each of them the conversation's next
    requests will be the same, so that is where a cache's marks belong."""
    temperature: float | None = None
    """From 0 to 2; None: the model's own. A server that does not let it be chosen is asked without."""
    reasoning: str = ""
    """How much the model thinks first: none, minimal, low, medium or high; empty: the model's own."""


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """The model thinks, and says nothing yet. `aloud`: what it has said in this request was that, too."""

    aloud: bool = False


@dataclass(frozen=True, slots=True)
class Fallback:
    """The model asked so far gave nothing; the next one of the chain is being asked."""

    model: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The last event of every stream that did not raise."""

    reason: Literal["stop", "tools", "cut"]
    """tools: `tool_requests` is not empty. cut: the stream broke, ended without a reason or reached
    the token limit; the text so far is all there is."""
    tool_requests: tuple[ToolRequest, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    """Who answered, as the operator named it; empty where no tokens are counted."""
    native: str = ""
    """JSON that goes back with the calls: thought signatures, reasoning, ids. Opaque to everybody but the
    model that gave it."""
    without_tools: bool = False
    """Whether tools were offered and the model takes none."""


ModelEvent = Delta | Thinking | Fallback | Finish


def storable(native: str) -> str:
    """The part of a native that may be stored: nothing that can be read, since a memory that is erased later
    could be quoted in it. `{}` if nothing is left; empty if there was no native."""
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
    """Return whether it looks like base64, an id or a number: some servers send plain words as encrypted."""
    return isinstance(value, int) or (isinstance(value, str) and _OPAQUE.fullmatch(value) is not None)


def _signatures(extra: object) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in extra.items() if isinstance(extra, dict) else ():
        if "signature" in name and _is_opaque(value):
            kept[name] = value
        elif inner := _signatures(value):
            kept[name] = inner
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


class ChatModel(Protocol):
    """A model that answers.

    The stream ends with exactly one Finish. It raises a ModelError only before the first Delta of
    an answer that has not begun; later trouble is `Finish("cut")`. Closing the iterator
    (`aclose`) ends the request.
    """

    def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]: ...

    async def close(self) -> None: ...
