"""Reads the events of a stream, and assembles an answer and its tool calls. Unknown values are skipped:
servers leave out fields, add others and send null."""

import json
import re
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final
from uuid import uuid4

from pydantic_core import from_json

from cc_bot.domain.errors import ModelOutOfRoom, ModelRefusedRequest, ModelUnavailable
from cc_bot.domain.turn import Usage
from cc_bot.llm.model import (
    MAX_ANSWER_CHARACTERS,
    MAX_ARGUMENTS_CHARACTERS,
    MAX_CALLS,
    Delta,
    Finish,
    ModelEvent,
    Thinking,
    ToolRequest,
)
from cc_bot.llm.openai.quirks import ModelFailure

MAX_EVENT_BYTES: Final = 2**20  # 600,000 hold a whole answer as \uXXXX
MAX_TOKENS: Final = 100_000_000
_BLANK_LINE: Final = re.compile(rb"\n\r?\n|\r\r\n?")


class TooManyBytes(ValueError):
    pass


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
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
    reasoning: Mapping[str, Any] = field(default_factory=dict)  # fields with reasoning, by name
    items: tuple[Any, ...] = ()  # of the Responses API, to be sent back with the calls
    alive: bool = False  # True if it is a sign of life of the model, not only of the server


async def json_events(body: AsyncIterable[bytes]) -> AsyncGenerator[Any, None]:
    """Yield the data of each event, or the JSON of a body without events. Raises TooManyBytes, ValueError or
    RecursionError."""
    unfinished = b""
    async for data in body:
        *blocks, unfinished = _BLANK_LINE.split(unfinished + data)
        for block in blocks:
            if event := _parse_event(block):
                yield event
        if len(unfinished) > MAX_EVENT_BYTES:
            raise TooManyBytes
    if event := _parse_event(unfinished):
        yield event


def _parse_event(block: bytes) -> Any:
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
        event = json.loads(data)  # accepts half of an escaped surrogate pair
    is_error = block.startswith((b"event: error", b"event:error")) and not as_mapping(event).get("error")
    return {"error": event} if is_error else event


def read_usage(value: object, prompt_name: str, completion_name: str) -> Usage | None:
    """Return the usage; None if a number is impossible, so that an estimate is charged."""
    if not isinstance(value, Mapping):
        return None
    prompt, completion = _token_count(value.get(prompt_name)), _token_count(value.get(completion_name))
    if prompt is None or completion is None:
        return None
    details = as_mapping(value.get(prompt_name + "_details"))
    return Usage(prompt, completion, min(_token_count(details.get("cached_tokens")) or 0, prompt))


def _token_count(value: Any) -> int | None:
    if value is None:
        return 0
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def is_json_object(text: str) -> bool:
    try:
        return isinstance(from_json(text.encode(errors="replace"), allow_inf_nan=False), dict)
    except ValueError:
        return False


def join_surrogates(text: str) -> str:
    """Join the halves of surrogate pairs, and replace lone ones by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_TAG_NAMES: Final = "(?:think|thinking|reasoning|thought)"
# DeepSeek, Qwen: <think>; Gemma: <thought>; Mistral: [think]; Kimi: ◁think▷.
_TAG: Final = re.compile(rf"[<\[\u25c1] ?{_TAG_NAMES} ?[>\]\u25b7]", re.IGNORECASE)
_END_TAG: Final = re.compile(rf"[<\[\u25c1] ?/ ?{_TAG_NAMES} ?[>\]\u25b7]", re.IGNORECASE)
_START_OF_TAG: Final = re.compile(r"(?:[<\[\u25c1] ?[a-z]{0,9} ?)?", re.IGNORECASE)
# gpt-oss: the last channel is the answer.
_CHANNEL: Final = "<|channel|>"
_FINAL: Final = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>")
_FINAL_MARKERS: Final = ("<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>")
# Some prompts open the tag, so that the answer only has the end.
_LONE_END_TAG: Final = re.compile(rf"(?:\A|\n)[ \t]*[<\[]/{_TAG_NAMES}[>\]][ \t]*(?=\n)", re.IGNORECASE)
_QUOTE: Final = re.compile(rf"```|[<\[]{_TAG_NAMES}[>\]]", re.IGNORECASE)  # later tags are in the answer
_MAX_LONE_END_LENGTH: Final = 16


class ReasoningFilter:
    """Removes reasoning from an answer that comes in pieces. Only tags at the start count."""

    def __init__(self) -> None:
        self._pending = ""
        self._end: re.Pattern[str] | None = None
        self._started = False
        self._last_characters = "\n"
        self._expects_end_tag = True
        self.restarted = False
        """True if all that was returned before the last piece was reasoning."""

    @property
    def in_reasoning(self) -> bool:
        return self._end is not None

    def add(self, piece: str) -> str:
        self.restarted = False
        text, self._pending = self._pending + piece, ""
        while not self._started:
            if self._end is not None:
                if not (end := self._end.search(text)):
                    self._pending = text[-len(_FINAL_MARKERS[0]) :]
                    return ""
                text, self._end = text[end.end() :], None
                continue
            stripped = text.lstrip()
            if final := _FINAL.match(stripped):
                text = stripped[final.end() :]
            elif _START_OF_TAG.fullmatch(stripped) or any(
                each.startswith(stripped) for each in _FINAL_MARKERS
            ):
                self._pending = text
                return ""
            elif tag := _TAG.match(stripped):
                text, self._end = stripped[tag.end() :], _END_TAG
            elif stripped.startswith(_CHANNEL):
                text, self._end = stripped, _FINAL
            else:
                self._started = True
        return self._cut_at_lone_end(text) if self._expects_end_tag else text

    def flush(self) -> str:
        return "" if self._end or self._started else self._pending

    def _cut_at_lone_end(self, piece: str) -> str:
        text = self._last_characters + piece
        end, quote = _LONE_END_TAG.search(text), _QUOTE.search(text)
        if end and not (quote and quote.start() < end.start()):
            self._expects_end_tag, self.restarted = False, True
            return text[end.end() :].lstrip("\n")
        self._expects_end_tag = quote is None
        self._last_characters = text[-_MAX_LONE_END_LENGTH:]
        return piece


_MAX_NATIVE: Final = 2**18
_MAX_NAME_LENGTH: Final = 256
_MAX_JSON_CHECKS: Final = 64
_CUT_REASONS: Final = frozenset({"length", "max_tokens", "error", "abort", "cancelled"})
_STORED_REASONING_FIELDS: Final[dict[str, type]] = {"reasoning_content": str, "reasoning_details": dict}


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: Any = None
    json_checks: int = 0

    def add(self, delta: ToolCallDelta) -> None:
        self.id = self.id or delta.id[:_MAX_NAME_LENGTH]
        self.extra = self.extra or delta.extra
        if delta.name.startswith(self.name):  # the same name again, or a longer one
            self.name = delta.name[:_MAX_NAME_LENGTH]
        elif not self.arguments:
            self.name = (self.name + delta.name)[:_MAX_NAME_LENGTH]
        self.arguments += delta.arguments[: MAX_ARGUMENTS_CHARACTERS + 1 - len(self.arguments)]

    def is_followed_by(self, delta: ToolCallDelta) -> bool:
        if not delta.name:
            return False
        other_id = delta.id and self.id and delta.id[:_MAX_NAME_LENGTH] != self.id
        other_name = delta.index is None and self.name not in ("", delta.name[:_MAX_NAME_LENGTH])
        return bool(other_id or other_name or (delta.arguments and self._is_complete()))

    def _is_complete(self) -> bool:
        if not self.arguments[-16:].rstrip().endswith("}") or self.json_checks == _MAX_JSON_CHECKS:
            return False
        self.json_checks += 1
        return is_json_object(self.arguments)


class ToolCallAssembler:
    """Joins the deltas of calls. Servers may leave out the id or index, give every call index 0, repeat the
    name, or send whole calls."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._newest: dict[int | None, _Call] = {}
        """The newest call of each index; at None, the newest of all."""

    def add(self, delta: ToolCallDelta) -> None:
        call = self._newest.get(delta.index)
        if call is None or call.is_followed_by(delta):
            if len(self._calls) == MAX_CALLS:
                return
            call = self._newest[delta.index] = self._newest[None] = _Call()
            self._calls.append(call)
        call.add(delta)

    def requests(self) -> tuple[tuple[ToolRequest, Any], ...]:
        """Return the named calls, each with a unique id and its `extra`."""
        requests: dict[str, tuple[ToolRequest, Any]] = {}
        for call in self._calls:
            if call.name:
                call_id = call.id if call.id and call.id not in requests else uuid4().hex[:9]
                arguments = join_surrogates(call.arguments) or "{}"
                requests[call_id] = (ToolRequest(call_id, call.name, arguments), call.extra)
        return tuple(requests.values())


class StreamedAnswer:
    def __init__(self) -> None:
        self.usage = Usage()
        self.finish_reason: str | None = None
        self.chunks = 0
        self.has_text = False
        self._pending = ""
        self._characters_left = MAX_ANSWER_CHARACTERS
        self._filter = ReasoningFilter()
        self._has_reasoned = False
        self._calls = ToolCallAssembler()
        self._phase = ""
        self._items: list[Any] = []
        self._reasoning = defaultdict[str, list[Any]](list)

    @property
    def is_too_long(self) -> bool:
        return self._characters_left < 0

    def add(self, chunk: Chunk) -> list[ModelEvent]:
        self.chunks += 1
        self.finish_reason = chunk.finish_reason or self.finish_reason
        self.usage = chunk.usage or self.usage
        for delta in chunk.calls:
            self._calls.add(delta)
        self._items += chunk.items
        if chunk.reasoning:
            self._store_reasoning(chunk.reasoning)
        visible = self._filter.add(chunk.text) if chunk.text else ""
        if chunk.text and self._filter.restarted:
            self._characters_left = MAX_ANSWER_CHARACTERS
            return [Thinking(retracts_text=True), *self._release(visible)]
        if not self._has_reasoned and not self.has_text and (chunk.reasoning or self._filter.in_reasoning):
            self._has_reasoned = True
            return [Thinking(), *self._release(visible)]
        return self._release(visible)

    def flush(self) -> list[ModelEvent]:
        return self._release(self._filter.flush())

    def _release(self, visible: str) -> list[ModelEvent]:
        """Return visible text, but keep leading white space and half a surrogate pair for later."""
        text, self._pending = self._pending + visible[: max(self._characters_left, 0)], ""
        self._characters_left -= len(visible)
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._pending = text[:-1], text[-1]
        if not self.has_text and not text.strip():
            self._pending = text + self._pending
            return []
        self.has_text = True
        return [Delta(join_surrogates(text))] if text else []

    def _store_reasoning(self, reasoning: Mapping[str, Any]) -> None:
        self._phase = reasoning.get("phase", self._phase)
        for name in _STORED_REASONING_FIELDS.keys() & reasoning.keys():
            value, kind = reasoning[name], _STORED_REASONING_FIELDS[name]
            pieces = value if isinstance(value, list) else [value]
            self._reasoning[name] += [piece for piece in pieces if isinstance(piece, kind)]

    def finish(self, model: str, label: str) -> Finish:
        """Return the end of the stream. With calls the reason is `tools`: many servers say `stop`."""
        calls = self._calls.requests()
        if not calls:
            return Finish("stop", (), self.usage, model)
        native = {
            "by": label,
            "ids": [request.id for request, _ in calls],
            "extras": [extra for _, extra in calls] if any(extra for _, extra in calls) else [],
            "items": self._items,
            "phase": self._phase,
            "reasoning": {name: _join_pieces(pieces) for name, pieces in self._reasoning.items()},
        }
        text = json.dumps({key: value for key, value in native.items() if value}, ensure_ascii=False)
        requests = tuple(request for request, _ in calls)
        return Finish("tools", requests, self.usage, model, text if len(text) <= _MAX_NATIVE else "{}")

    def failure(self) -> ModelFailure | None:
        """Return why the answer is incomplete, else None."""
        if self.is_too_long:
            return ModelFailure(ModelUnavailable(), "too_long")
        if self.finish_reason is None:
            return ModelFailure(ModelUnavailable(), "no_finish_reason")
        if self.finish_reason == "content_filter":
            return ModelFailure(ModelRefusedRequest(), "content_filter")
        if self.finish_reason not in _CUT_REASONS:
            return None
        used_up = self.finish_reason in {"length", "max_tokens"}
        out_of_room = self._has_reasoned and not self.has_text and used_up
        return ModelFailure(ModelOutOfRoom() if out_of_room else ModelUnavailable(), "cut_by_server")


def _join_pieces(pieces: list[Any]) -> str | list[Any]:
    """Join strings, or OpenRouter's readable `reasoning_details`. Encrypted details come whole."""
    if pieces and isinstance(pieces[0], str):
        return "".join(pieces)
    details = list[Any]()
    for (kind, _), group in groupby(pieces, lambda each: (each.get("type"), each.get("index"))):
        same_kind = [*group]
        if kind not in ("reasoning.text", "reasoning.summary"):
            details += same_kind
            continue
        detail = {name: value for each in same_kind for name, value in each.items() if value is not None}
        for name in {"text", "summary"} & detail.keys():
            detail[name] = "".join(as_text(each.get(name)) for each in same_kind)
        details.append(detail)
    return details
