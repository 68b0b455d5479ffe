"""The events of a stream, and what both wires read from them.

Servers leave out fields, add others and send null. What is not understood is skipped.
"""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_core import from_json

from cc_bot.domain.turn import Usage
from cc_bot.llm.openai.client import TooManyBytes

MAX_EVENT_BYTES: Final = 2**20  # a whole answer in one event, each character as \uXXXX, takes 600,000
MAX_TOKENS: Final = 100_000_000  # of one request; a server that reports more is mistaken
_BLANK_LINE: Final = re.compile(rb"\n\r?\n|\r\r\n?")


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of a tool call. Empty where the server sent nothing."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: Any = None
    """Fields that go back with the call."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The content of one event."""

    text: str = ""
    calls: tuple[ToolCallDelta, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    reasoning: Mapping[str, Any] = field(default_factory=dict)
    """Fields in which the model thinks."""
    items: tuple[Any, ...] = ()
    """Items of the Responses API that go back with the calls."""
    alive: bool = False
    """Whether the model did something. An empty chunk only shows that the server runs."""


async def json_events(body: AsyncIterable[bytes]) -> AsyncGenerator[Any, None]:
    """Yield the data of each event. A JSON body that is not a stream is one event.

    Raises TooManyBytes, and ValueError or RecursionError for malformed JSON.
    """
    held = b""
    async for data in body:
        *blocks, held = _BLANK_LINE.split(held + data)
        for block in blocks:
            if event := _event(block):
                yield event
        if len(held) > MAX_EVENT_BYTES:
            raise TooManyBytes
    if event := _event(held):
        yield event


def _event(block: bytes) -> Any:
    """None for comments, events without data, and `[DONE]`."""
    if len(block) > MAX_EVENT_BYTES:
        raise TooManyBytes
    data = b"\n".join(line[5:] for line in block.splitlines() if line.startswith(b"data:")).strip()
    if not data and block.lstrip()[:1] in (b"{", b"["):
        data = block
    if not data or data == b"[DONE]":
        return None
    try:
        event = from_json(data)  # three times as fast as json
    except ValueError:
        event = json.loads(data)  # takes half of an escaped emoji that was cut in two
    is_error = block.startswith((b"event: error", b"event:error")) and not mapping(event).get("error")
    return {"error": event} if is_error else event


def read_usage(value: object, prompt_name: str, completion_name: str) -> Usage | None:
    """None if a number can't be right: then an estimate is charged."""
    if not isinstance(value, Mapping):
        return None
    prompt, completion = _count(value.get(prompt_name)), _count(value.get(completion_name))
    if prompt is None or completion is None:
        return None
    details = mapping(value.get(prompt_name + "_details"))
    return Usage(prompt, completion, min(_count(details.get("cached_tokens")) or 0, prompt))


def _count(value: Any) -> int | None:
    if value is None:
        return 0
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def items_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def is_json_object(text: str) -> bool:
    """Strict: false for NaN, half a surrogate pair or endless nesting."""
    try:
        return isinstance(from_json(text.encode(errors="replace"), allow_inf_nan=False), dict)
    except ValueError:
        return False


def join_surrogates(text: str) -> str:
    """Join surrogate pairs and replace lone halves by U+FFFD: neither can be stored."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
