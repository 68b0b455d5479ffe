"""A model behind any server that speaks Chat Completions or Responses.

The openai client sends the request and retries what may pass; the stream is read as plain JSON (typed chunks
cost three times the CPU). A refusal that names what to change is followed at once and remembered while the
process lives (quirks.py).

`timeout_s` seconds may pass from the question, or the model's last sign of life, until its next one. Retries
and keep-alives do not stop that clock. Bytes, characters, calls and the whole time are bounded, whatever the
server is. What was said up to a bound is a cut answer.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
import structlog
from openai import APIError, AsyncStream

from cc_bot.domain.errors import ModelOutOfRoom, ModelRefusedRequest, ModelUnavailable
from cc_bot.domain.turn import Usage
from cc_bot.llm.model import (
    MAX_ANSWER_CHARACTERS,
    MAX_TOOLS,
    ChatRequest,
    Delta,
    Finish,
    ModelEvent,
    Thinking,
)
from cc_bot.llm.openai import completions, responses
from cc_bot.llm.openai.attempts import Attempts
from cc_bot.llm.openai.body import Json, RequestBody
from cc_bot.llm.openai.calls import ToolCallAssembler, join_surrogates
from cc_bot.llm.openai.client import (
    FAILURES,
    MAX_RETRIES,
    ModelFailure,
    classify,
    open_client,
    refusal_text,
)
from cc_bot.llm.openai.completions import Chunk
from cc_bot.llm.openai.events import json_events
from cc_bot.llm.openai.quirks import OPTIONAL, Quirks, omit, quirks_of
from cc_bot.llm.openai.reasoning import ReasoningFilter

MAX_ANSWER_S: Final = 600.0
_TRAILER_TIMEOUT_S: Final = 3.0
"""How long to wait for usage after the finish reason: the answer is complete without it."""
_CUT_REASONS: Final = frozenset({"length", "max_tokens", "content_filter", "error", "abort", "cancelled"})
_MAX_NATIVE: Final = 2**18
_SAME_COUNTS: Final = 3
_END: Final = object()
_ECHOED: Final[dict[str, type]] = {"reasoning_content": str, "reasoning_details": dict}

_log = structlog.get_logger(__name__)


class OpenAIChatModel:
    """A ChatModel (see there) over HTTP."""

    def __init__(
        self,
        model: str,
        *,
        name: str = "",
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 45,
        max_retries: int = MAX_RETRIES,
        reasoning: str = "",
        max_answer_s: float = MAX_ANSWER_S,
    ) -> None:
        """Ask the server at `base_url`, or OpenAI's own without it. `name` is what the operator calls the
        model, `reasoning` what requests without a choice of their own ask for. Building the client takes over
        100 ms: do it at start, not during a turn."""
        self._model = model
        self._name = name or model
        self._reasoning = reasoning
        self._timeout_s = timeout_s
        self._max_answer_s = max_answer_s
        self._client = open_client(
            api_key=api_key, base_url=base_url, timeout_s=timeout_s, max_retries=max_retries
        )
        address = str(self._client.base_url)
        self._label = f"{urlsplit(address).netloc}/{model}"
        self._quirks = quirks_of(address, model)
        self._changes: dict[str, None] = {}
        self.left_out_images = False
        """Whether the last request that was answered had to do without its images."""
        self._suspected = frozenset[str]()
        """Fields without which a request was taken after a refusal that named none."""
        self._truncation = _TruncationWatch()

    @property
    def has_path(self) -> bool:
        """Whether the server's address has a path, as most need: `/v1`."""
        return self._client.base_url.path.strip("/") != ""

    @property
    def changes(self) -> tuple[str, ...]:
        """What this server's refusals have taught so far, by name."""
        return tuple(self._changes)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """See ChatModel. Raises ModelUnavailable, ModelRefusedKey, ModelRefusedRequest, ModelOutOfRoom or
        ContextTooLong."""
        attempts = Attempts(self._quirks, request)
        while True:
            reply = _Reply(self._name, self._label)
            failure: ModelFailure | None = None
            again = False
            try:
                async with self._open(request, attempts, reply) as chunks:
                    while not reply.full and (chunk := await chunks.next()):
                        if not reply.chunks:
                            self._accept(attempts)
                        for event in reply.add(chunk):
                            yield event
            except FAILURES as error:
                failure = classify(error, self._name)
                again = isinstance(error, APIError) and not reply.begun and attempts.follow(error)
            if not again:
                break
        for event in reply.rest():
            yield event
        # Once the finish reason is there, what breaks later takes nothing away.
        failure = failure if reply.finish_reason is None and failure else reply.failure()
        begun = request.answer_begun or reply.begun
        if failure is not None:
            self._record(failure, reply, begun=begun)
            if not begun:
                raise attempts.unquoted(failure.error)
            yield Finish("cut", usage=reply.usage, model=self._name)
            return
        self._truncation.note(self._name, reply)
        yield replace(reply.finish(), without_tools=bool(request.tools) and not attempts.quirks.tools)

    async def close(self) -> None:
        await self._client.close()

    @asynccontextmanager
    async def _open(
        self, request: ChatRequest, attempts: Attempts, reply: "_Reply"
    ) -> AsyncIterator["_Chunks"]:
        quirks, now_s = attempts.quirks, asyncio.get_running_loop().time()
        attempts.begun_s = now_s if attempts.begun_s is None else attempts.begun_s
        attempts.sent = self._body(request, quirks)
        deadline_s = attempts.begun_s + self._timeout_s
        with closing(RequestBody(attempts.sent)) as content:
            reply.sent_bytes = len(content)
            async with asyncio.timeout_at(deadline_s):
                stream = await self._post(quirks, content, request)
        chunks = _Chunks(
            stream.response,
            _wire(quirks).read,
            timeout_s=self._timeout_s,
            deadline_s=deadline_s,
            end_s=now_s + self._max_answer_s,
        )
        async with stream, aclosing(chunks.events):
            yield chunks

    def _accept(self, attempts: Attempts) -> None:
        """Remember what was learned from refusals, now that the changed request is answered."""
        self.left_out_images = not attempts.quirks.images
        lessons = [each for each in attempts.lessons if each.lasting]
        guessed = frozenset[str]()
        if attempts.guess in attempts.lessons:
            guessed = OPTIONAL & (attempts.quirks.omit - self._quirks.omit)
            lessons += [omit(guessed)] if guessed <= self._suspected else []
        self._suspected = guessed or self._suspected - {*attempts.sent}
        for lesson in lessons:
            self._quirks = lesson.change(self._quirks)
        names = [each.name for each in lessons]
        if once := [each.name for each in attempts.lessons if each not in (*lessons, attempts.guess)]:
            _log.warning("model_request_changed_once", model=self._name, changes=once)
        if names:
            _log.warning("model_request_changed", model=self._name, changes=names)
        self._changes |= dict.fromkeys(names)

    def _body(self, request: ChatRequest, quirks: Quirks) -> Json:
        tools = request.tools[:MAX_TOOLS] if quirks.tools else ()
        if len(request.tools) > MAX_TOOLS and "128 tools" not in self._changes:
            self._changes["128 tools"] = None
            _log.warning("tools_left_out", model=self._name, offered=len(request.tools), sent=MAX_TOOLS)
        body = _wire(quirks).body(self._model, replace(request, tools=tools), quirks, self._label)
        options = _options(request, quirks, request.reasoning or self._reasoning)
        return body | {name: value for name, value in options.items() if name not in quirks.omit}

    async def _post(self, quirks: Quirks, content: RequestBody, request: ChatRequest) -> AsyncStream[object]:
        headers = {"Content-Length": str(len(content))}  # without it chunked: many servers do not take that
        retries = 0 if request.answer_begun else self._client.max_retries
        return await self._client.post(
            _wire(quirks).path,
            cast_to=object,
            content=content,
            options={"max_retries": retries, "headers": headers},
            stream=True,
            stream_cls=AsyncStream[object],
        )

    def _record(self, failure: ModelFailure, reply: "_Reply", *, begun: bool) -> None:
        _log.warning(
            "model_failed",
            model=self._name,
            outcome="cut" if begun else type(failure.error).__name__,
            problem=failure.problem,
            status=failure.status,
            retries=failure.retries,
            chunks=reply.chunks,
        )


@dataclass(frozen=True, slots=True)
class _Wire:
    path: str
    body: Callable[[str, ChatRequest, Quirks, str], Json]
    read: Callable[[object], Chunk]


_CHAT: Final = _Wire(completions.PATH, completions.request_body, completions.read_chunk)
_RESPONSES: Final = _Wire(responses.PATH, responses.request_body, responses.read_event)


def _wire(quirks: Quirks) -> _Wire:
    return _RESPONSES if quirks.wire == "responses" else _CHAT


def _options(request: ChatRequest, quirks: Quirks, effort: str) -> Json:
    """The fields that a server may refuse."""
    options: Json = {}
    if request.cache_key:
        options["prompt_cache_key"] = request.cache_key
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if quirks.wire != "responses":
        options["stream_options"] = {"include_usage": True}
    if quirks.wire == "chat only" and request.tools and quirks.tools:
        effort = quirks.effort_with_tools or effort
    if not effort:
        return options
    if quirks.wire == "responses":
        return options | {"reasoning": {"effort": effort}}
    if quirks.effort_field == "thinking":
        return options | {"thinking": {"type": "disabled" if effort == "none" else "enabled"}}
    return options | {"reasoning_effort": effort}


class _Chunks:
    """The chunks of an answer, each of them waited for only so long."""

    def __init__(
        self,
        stream: httpx2.Response,
        read: Callable[[object], Chunk],
        *,
        timeout_s: float,
        deadline_s: float,
        end_s: float,
    ) -> None:
        """`deadline_s` is for a sign of life, `end_s` for the whole answer, on the loop's clock."""
        self._stream = stream
        self._read = read
        self.events = json_events(stream)
        self._timeout_s = timeout_s
        self._deadline_s = deadline_s
        self._end_s = end_s
        self._silence_s: float | None = None
        """How long the next one may take, from when the one before was read, which may take long."""

    async def next(self) -> Chunk | None:
        """Wait for the next chunk; None after the last one. Raises TimeoutError, and APIError for an error in
        the stream."""
        if self._silence_s is not None:
            self._deadline_s = asyncio.get_running_loop().time() + self._silence_s
            self._silence_s = None
        async with asyncio.timeout_at(min(self._deadline_s, self._end_s)):
            event = await anext(self.events, _END)
        if event is _END:
            return None
        if isinstance(event, dict) and (error := _error_in(event)):
            raise APIError(refusal_text(error), self._stream.request, body=error)
        chunk: Chunk = self._read(event)
        if chunk.finish_reason:
            self._silence_s = min(_TRAILER_TIMEOUT_S, self._timeout_s)
        elif chunk.alive:
            self._silence_s = self._timeout_s
        return chunk


def _error_in(event: Mapping[str, Any]) -> object:
    """The error that an event tells of; None for other events."""
    if event.get("type") == "response.failed":
        response = completions.mapping(event.get("response"))
        return response.get("error") or {"message": "failed"}
    return event.get("error") or (event if event.get("type") == "error" else None)


class _Reply:
    """The answer to one request so far."""

    def __init__(self, model: str, label: str) -> None:
        self._model = model
        self._label = label
        self._text = _TextJoiner()
        self._filter = ReasoningFilter()
        self._calls = ToolCallAssembler()
        self._room = MAX_ANSWER_CHARACTERS
        self._reasoned = False
        self._phase = ""
        self._items: list[Any] = []
        self._reasoning = defaultdict[str, list[Any]](list)
        self.sent_bytes = 0
        self.usage = Usage()
        self.finish_reason: str | None = None
        self.chunks = 0

    @property
    def begun(self) -> bool:
        """Whether anything visible came."""
        return self._text.begun

    @property
    def full(self) -> bool:
        """Whether more was said than an answer may have. White space that is held back counts too."""
        return self._room < 0

    def add(self, chunk: Chunk) -> list[ModelEvent]:
        """Take in a chunk, and return what it shows."""
        self.chunks += 1
        self.finish_reason = chunk.finish_reason or self.finish_reason
        self.usage = chunk.usage or self.usage
        for delta in chunk.calls:
            self._calls.add(delta)
        self._items += chunk.items
        if chunk.reasoning:
            self._keep(chunk.reasoning)
        visible, events = self._filter.add(chunk.text) if chunk.text else "", list[ModelEvent]()
        if chunk.text and self._filter.restarted:
            self._room = MAX_ANSWER_CHARACTERS
            events.append(Thinking(aloud=True))
        elif not self._reasoned and not self.begun and (chunk.reasoning or self._filter.thinking):
            self._reasoned = True
            events.append(Thinking())
        return events + self._say(visible) if visible else events

    def rest(self) -> list[ModelEvent]:
        """Return what was held back, when nothing more comes."""
        return self._say(self._filter.rest())

    def _say(self, visible: str) -> list[ModelEvent]:
        text = visible[: max(self._room, 0)]
        self._room -= len(visible)
        shown = self._text.add(text) if text else ""
        return [Delta(shown)] if shown else []

    def _keep(self, reasoning: Mapping[str, Any]) -> None:
        self._phase = reasoning.get("phase", self._phase)
        for name in _ECHOED.keys() & reasoning.keys():
            value = reasoning[name]
            pieces = value if isinstance(value, list) else [value]
            self._reasoning[name] += [piece for piece in pieces if isinstance(piece, _ECHOED[name])]

    def finish(self) -> Finish:
        """The end of a whole answer. Calls count even if the server says `stop`, as many do."""
        calls = self._calls.requests()
        requests = tuple(request for request, _ in calls)
        if not requests:
            return Finish("stop", (), self.usage, self._model)
        native = {
            "by": self._label,
            "ids": [request.id for request in requests],
            "extras": [extra for _, extra in calls] if any(extra for _, extra in calls) else [],
            "items": self._items,
            "phase": self._phase,
            "reasoning": {name: _whole(pieces) for name, pieces in self._reasoning.items()},
        }
        text = json.dumps({key: value for key, value in native.items() if value}, ensure_ascii=False)
        return Finish("tools", requests, self.usage, self._model, text if len(text) <= _MAX_NATIVE else "{}")

    def failure(self) -> ModelFailure | None:
        """Return why a stream that ended by itself, or is full, is not a whole answer. None if it is one."""
        if self.full:
            return ModelFailure(ModelUnavailable(), "too_long")
        if self.finish_reason is None:
            return ModelFailure(ModelUnavailable(), "no_finish_reason")
        if self.finish_reason == "content_filter":
            return ModelFailure(ModelRefusedRequest(), "content_filter")
        if self.finish_reason in _CUT_REASONS:
            out_of_room = self._reasoned and not self.begun and self.finish_reason in {"length", "max_tokens"}
            return ModelFailure(ModelOutOfRoom() if out_of_room else ModelUnavailable(), "cut_by_server")
        return None


def _whole(pieces: list[Any]) -> str | list[Any]:
    """Reasoning as it goes back. OpenRouter streams the readable `reasoning_details` in pieces, which are
    joined; sealed ones stay as they are."""
    if pieces and isinstance(pieces[0], str):
        return "".join(pieces)
    whole = list[Any]()
    for (kind, _), group in groupby(pieces, lambda each: (each.get("type"), each.get("index"))):
        alike = [*group]
        if kind not in ("reasoning.text", "reasoning.summary"):
            whole += alike
            continue
        joined = {name: value for each in alike for name, value in each.items() if value is not None}
        for name in {"text", "summary"} & joined.keys():
            joined[name] = "".join(completions.text_of(each.get(name)) for each in alike)
        whole.append(joined)
    return whole


class _TextJoiner:
    """Makes text that can be shown and stored out of pieces as servers cut them.

    White space is held back until a word follows, so that nothing counts as an answer that a user can't see;
    so is half of a surrogate pair (an escaped emoji cut in two), until its other half comes.
    """

    def __init__(self) -> None:
        self._held = ""
        self.begun = False

    def add(self, piece: str) -> str:
        """Return the text that can go out now."""
        text, self._held = self._held + piece, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        if not self.begun and not text.strip():
            self._held = text + self._held
            return ""
        self.begun = True
        return join_surrogates(text)


class _TruncationWatch:
    """Notices a server that cuts prompts without saying so: its highest count of prompt tokens stays while
    the requests grow. Ollama does that at its context length."""

    def __init__(self) -> None:
        self._tokens = 0
        self._bytes = 0
        self._times = 0
        self._warned = False

    def note(self, model: str, reply: _Reply) -> None:
        tokens, size = reply.usage.prompt_tokens, reply.sent_bytes
        if tokens > self._tokens:
            self._tokens, self._bytes, self._times = tokens, size, 0
        elif tokens and tokens == self._tokens and size > self._bytes:
            self._bytes, self._times = size, self._times + 1
        if self._times >= _SAME_COUNTS and not self._warned:
            self._warned = True
            _log.warning("prompt_cut_by_server", model=model, tokens=tokens, setting="OLLAMA_CONTEXT_LENGTH")
