"""Reads the events of a stream. Servers leave out fields, add others and send null: that is skipped."""

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
    """Empty where the server sent nothing."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: Any = None


@dataclass(frozen=True, slots=True)
class Chunk:
    text: str = ""
    calls: tuple[ToolCallDelta, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    reasoning: Mapping[str, Any] = field(default_factory=dict)
    """By field name."""
    items: tuple[Any, ...] = ()
    """Of the Responses API, to send back with the calls."""
    alive: bool = False
    """The model did something; an empty chunk only shows that the server runs."""


async def json_events(body: AsyncIterable[bytes]) -> AsyncGenerator[Any, None]:
    """Yield the data of each event; a JSON body without events is one. Raises TooManyBytes, ValueError or
    RecursionError."""
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
    """False also for NaN, half a surrogate pair or endless nesting."""
    try:
        return isinstance(from_json(text.encode(errors="replace"), allow_inf_nan=False), dict)
    except ValueError:
        return False


def join_surrogates(text: str) -> str:
    """Replace lone halves of surrogate pairs by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
