"""Reads the events of a stream, and assembles an answer and its tool calls from their chunks.

Servers leave out fields, add others and send null: what is not understood is skipped."""

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

MAX_EVENT_BYTES: Final = 2**20  # a whole answer in one event, each character as \uXXXX, takes 600,000
MAX_TOKENS: Final = 100_000_000  # of one request; a server that reports more is mistaken
_BLANK_LINE: Final = re.compile(rb"\n\r?\n|\r\r\n?")


class TooManyBytes(ValueError):
    pass


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
    """The Responses API's, to send back with the calls."""
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


_WORDS: Final = "(?:think|thinking|reasoning|thought)"
# DeepSeek, Qwen: <think>; Gemma: <thought>; Mistral: [think]; Kimi: ◁think▷.
_TAG: Final = re.compile(rf"[<\[\u25c1] ?{_WORDS} ?[>\]\u25b7]", re.IGNORECASE)
_END_TAG: Final = re.compile(rf"[<\[\u25c1] ?/ ?{_WORDS} ?[>\]\u25b7]", re.IGNORECASE)
_START_OF_TAG: Final = re.compile(r"(?:[<\[\u25c1] ?[a-z]{0,9} ?)?", re.IGNORECASE)
# gpt-oss writes channels, of which the last is the answer.
_CHANNEL: Final = "<|channel|>"
_FINAL: Final = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>")
_FINALS: Final = ("<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>")
# A template that opens the tag itself leaves only its end, on a line of its own.
_LONE_END: Final = re.compile(rf"(?:\A|\n)[ \t]*[<\[]/{_WORDS}[>\]][ \t]*(?=\n)", re.IGNORECASE)
_QUOTING: Final = re.compile(
    rf"```|[<\[]{_WORDS}[>\]]", re.IGNORECASE
)  # then later tags are the answer's own
_MAX_LONE_END: Final = 16


class ReasoningFilter:
    """Takes an answer in pieces and returns its visible part: removes reasoning that has no field of its own.
    Tags count only at the start of an answer."""

    def __init__(self) -> None:
        self._held = ""
        self._end: re.Pattern[str] | None = None
        self._started = False
        self._tail = "\n"
        self._may_end = True
        self.restarted = False
        """Everything returned before the last piece was reasoning."""

    @property
    def thinking(self) -> bool:
        return self._end is not None

    def add(self, piece: str) -> str:
        self.restarted = False
        text, self._held = self._held + piece, ""
        while not self._started:
            if self._end is not None:
                if not (end := self._end.search(text)):
                    self._held = text[-len(_FINALS[0]) :]
                    return ""
                text, self._end = text[end.end() :], None
                continue
            begun = text.lstrip()
            if final := _FINAL.match(begun):
                text = begun[final.end() :]
            elif _START_OF_TAG.fullmatch(begun) or any(each.startswith(begun) for each in _FINALS):
                self._held = text
                return ""
            elif tag := _TAG.match(begun):
                text, self._end = begun[tag.end() :], _END_TAG
            elif begun.startswith(_CHANNEL):
                text, self._end = begun, _FINAL
            else:
                self._started = True
        return self._answer(text) if self._may_end else text

    def rest(self) -> str:
        return "" if self._end or self._started else self._held

    def _answer(self, piece: str) -> str:
        text = self._tail + piece
        end, quoting = _LONE_END.search(text), _QUOTING.search(text)
        if end and not (quoting and quoting.start() < end.start()):
            self._may_end, self.restarted = False, True
            return text[end.end() :].lstrip("\n")
        self._may_end = quoting is None
        self._tail = text[-_MAX_LONE_END:]
        return piece


_MAX_NATIVE: Final = 2**18
_MAX_NAME: Final = 256
_MAX_CHECKS: Final = 64
_CUT_REASONS: Final = frozenset({"length", "max_tokens", "error", "abort", "cancelled"})
_STORED_REASONING: Final[dict[str, type]] = {"reasoning_content": str, "reasoning_details": dict}


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: str = ""
    extra: Any = None
    checks: int = 0

    def add(self, delta: ToolCallDelta) -> None:
        self.id = self.id or delta.id[:_MAX_NAME]
        self.extra = self.extra or delta.extra
        if delta.name.startswith(self.name):  # the first, a repeated or a longer name
            self.name = delta.name[:_MAX_NAME]
        elif not self.arguments:
            self.name = (self.name + delta.name)[:_MAX_NAME]
        self.arguments += delta.arguments[: MAX_ARGUMENTS_CHARACTERS + 1 - len(self.arguments)]

    def ends_before(self, delta: ToolCallDelta) -> bool:
        """True if it begins another call under the same index."""
        if not delta.name:
            return False
        other_id = delta.id and self.id and delta.id[:_MAX_NAME] != self.id
        other_name = delta.index is None and self.name not in ("", delta.name[:_MAX_NAME])
        return bool(other_id or other_name or (delta.arguments and self._is_whole()))

    def _is_whole(self) -> bool:
        if not self.arguments[-16:].rstrip().endswith("}") or self.checks == _MAX_CHECKS:
            return False
        self.checks += 1
        return is_json_object(self.arguments)


class ToolCallAssembler:
    """Joins the deltas of calls. Servers leave out the id or the index, give every call index 0, repeat the
    name in each delta, or send whole calls."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._newest: dict[int | None, _Call] = {}
        """By index, and the newest of all under None."""

    def add(self, delta: ToolCallDelta) -> None:
        call = self._newest.get(delta.index)
        if call is None or call.ends_before(delta):
            if len(self._calls) == MAX_CALLS:
                return
            call = self._newest[delta.index] = self._newest[None] = _Call()
            self._calls.append(call)
        call.add(delta)

    def requests(self) -> tuple[tuple[ToolRequest, Any], ...]:
        """Calls with a name, in order, each with a unique id and its `extra`."""
        requests: dict[str, tuple[ToolRequest, Any]] = {}
        for call in self._calls:
            if call.name:
                call_id = call.id if call.id and call.id not in requests else uuid4().hex[:9]
                arguments = join_surrogates(call.arguments) or "{}"
                requests[call_id] = (ToolRequest(call_id, call.name, arguments), call.extra)
        return tuple(requests.values())


class Reply:
    def __init__(self) -> None:
        self.usage = Usage()
        self.finish_reason: str | None = None
        self.chunks = 0
        self.begun = False
        """Something visible came."""
        self._held = ""
        self._room = MAX_ANSWER_CHARACTERS
        self._filter = ReasoningFilter()
        self._reasoned = False
        self._calls = ToolCallAssembler()
        self._phase = ""
        self._items: list[Any] = []
        self._reasoning = defaultdict[str, list[Any]](list)

    @property
    def full(self) -> bool:
        """Has more text than an answer may have."""
        return self._room < 0

    def add(self, chunk: Chunk) -> list[ModelEvent]:
        """Returns what the chunk shows."""
        self.chunks += 1
        self.finish_reason = chunk.finish_reason or self.finish_reason
        self.usage = chunk.usage or self.usage
        for delta in chunk.calls:
            self._calls.add(delta)
        self._items += chunk.items
        if chunk.reasoning:
            self._store(chunk.reasoning)
        visible = self._filter.add(chunk.text) if chunk.text else ""
        if chunk.text and self._filter.restarted:
            self._room = MAX_ANSWER_CHARACTERS
            return [Thinking(aloud=True), *self._show(visible)]
        if not self._reasoned and not self.begun and (chunk.reasoning or self._filter.thinking):
            self._reasoned = True
            return [Thinking(), *self._show(visible)]
        return self._show(visible)

    def rest(self) -> list[ModelEvent]:
        """Returns what was held back."""
        return self._show(self._filter.rest())

    def _show(self, visible: str) -> list[ModelEvent]:
        """Hold back white space until a word follows, and half a surrogate pair."""
        text, self._held = self._held + visible[: max(self._room, 0)], ""
        self._room -= len(visible)
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        if not self.begun and not text.strip():
            self._held = text + self._held
            return []
        self.begun = True
        return [Delta(join_surrogates(text))] if text else []

    def _store(self, reasoning: Mapping[str, Any]) -> None:
        self._phase = reasoning.get("phase", self._phase)
        for name in _STORED_REASONING.keys() & reasoning.keys():
            value, kind = reasoning[name], _STORED_REASONING[name]
            pieces = value if isinstance(value, list) else [value]
            self._reasoning[name] += [piece for piece in pieces if isinstance(piece, kind)]

    def finish(self, model: str, label: str) -> Finish:
        """Calls count even if the server says `stop`, as many do."""
        calls = self._calls.requests()
        if not calls:
            return Finish("stop", (), self.usage, model)
        native = {
            "by": label,
            "ids": [request.id for request, _ in calls],
            "extras": [extra for _, extra in calls] if any(extra for _, extra in calls) else [],
            "items": self._items,
            "phase": self._phase,
            "reasoning": {name: _joined(pieces) for name, pieces in self._reasoning.items()},
        }
        text = json.dumps({key: value for key, value in native.items() if value}, ensure_ascii=False)
        requests = tuple(request for request, _ in calls)
        return Finish("tools", requests, self.usage, model, text if len(text) <= _MAX_NATIVE else "{}")

    def failure(self) -> ModelFailure | None:
        """Why it is not a whole answer; None if it is."""
        if self.full:
            return ModelFailure(ModelUnavailable(), "too_long")
        if self.finish_reason is None:
            return ModelFailure(ModelUnavailable(), "no_finish_reason")
        if self.finish_reason == "content_filter":
            return ModelFailure(ModelRefusedRequest(), "content_filter")
        if self.finish_reason not in _CUT_REASONS:
            return None
        out_of_room = self._reasoned and not self.begun and self.finish_reason in {"length", "max_tokens"}
        return ModelFailure(ModelOutOfRoom() if out_of_room else ModelUnavailable(), "cut_by_server")


def _joined(pieces: list[Any]) -> str | list[Any]:
    """OpenRouter streams readable `reasoning_details` in pieces; sealed ones are whole."""
    if pieces and isinstance(pieces[0], str):
        return "".join(pieces)
    details = list[Any]()
    for (kind, _), group in groupby(pieces, lambda each: (each.get("type"), each.get("index"))):
        alike = [*group]
        if kind not in ("reasoning.text", "reasoning.summary"):
            details += alike
            continue
        detail = {name: value for each in alike for name, value in each.items() if value is not None}
        for name in {"text", "summary"} & detail.keys():
            detail[name] = "".join(text_of(each.get(name)) for each in alike)
        details.append(detail)
    return details
