"""A model behind any server that speaks Chat Completions: OpenAI, Ollama, llama.cpp, vLLM and others.

The openai client sends the request, retries what may be retried and splits the stream into chunks. The
chunks are taken as plain JSON, not as the client's typed objects, whose annotations many servers break.

One clock bounds everything: `timeout_s` seconds may pass from the question, or from the model's last
sign of life, until its next one. Retries, their waits (`Retry-After`) and keep-alives do not stop it. A
server that asks for a longer wait than that is not waited for at all.

What comes is bounded, whatever the server is: bytes, of all and of one event (client.py); time; what is
said, in characters; calls and their arguments. What was said up to a bound is a cut answer.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

import structlog
from openai import AsyncStream, BadRequestError, UnprocessableEntityError

from cc_bot.domain.errors import ModelRefusedRequest, ModelUnavailable
from cc_bot.domain.turn import Usage
from cc_bot.llm.model import (
    MAX_ANSWER_CHARACTERS,
    MAX_ARGUMENTS_CHARACTERS,
    MAX_CALLS,
    ChatRequest,
    Delta,
    Finish,
    ModelEvent,
    Thinking,
    ToolRequest,
)
from cc_bot.llm.openai.client import FAILURES, MAX_RETRIES, Trouble, diagnose, open_client
from cc_bot.llm.openai.wire import (
    CallFragment,
    Json,
    Piece,
    RequestBody,
    TextJoiner,
    Thoughts,
    is_json_object,
    join_surrogates,
    read_chunk,
    read_refusal,
    request_body,
)

# ---- tool calls ------------------------------------------------------------------------------------------
# Puts tool calls together from the fragments in which they are streamed.
#
# The API sends a call's id and name once and its arguments piece by piece, all under one index. Other
# servers leave out ids or the index, give every call index 0, repeat the name in each fragment, or send
# whole calls at once. What belongs together is decided here, by what the fragments do say.
#
# Each fragment costs what it is long, however many came before it: calls are found by index and id, and
# arguments are joined once.

_LONGEST_NAME: Final = 256
"""Of a tool, and of a call's id; of what is longer the rest is dropped. No tool of ours has such a name."""


@dataclass(slots=True)
class _Arguments:
    """Text that grows, and is read as far as it must be to tell whether it is a whole JSON object."""

    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _depth: int = 0
    _in_string: bool = False
    _escaped: bool = False
    _closings: int = 0
    """How often all that was open has been closed: once, in an object."""

    def __bool__(self) -> bool:
        return self._length > 0

    def add(self, text: str) -> None:
        """Keep one character more than a call may have, by which it is known to be too long."""
        text = text[: MAX_ARGUMENTS_CHARACTERS + 1 - self._length]
        if text:
            self._parts.append(text)
            self._length += len(text)
            self._follow(text)

    def text(self) -> str:
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    def whole(self) -> bool:
        """Return whether it is a JSON object. Looked at closely only when brackets say that it can be one: a
        server that repeats the name in each fragment has this asked of each."""
        closed = self._closings == 1 and not self._depth and not self._in_string
        return closed and self._length <= MAX_ARGUMENTS_CHARACTERS and is_json_object(self.text())

    def _follow(self, text: str) -> None:
        for character in text:
            if self._escaped:
                self._escaped = False
            elif self._in_string:
                self._escaped = character == "\\"
                self._in_string = character != '"'
            elif character == '"':
                self._in_string = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                self._closings += not self._depth


@dataclass(slots=True)
class _Call:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: _Arguments = field(default_factory=_Arguments)

    def add(self, fragment: CallFragment) -> None:
        name = fragment.name[:_LONGEST_NAME]
        self.id = self.id or fragment.id[:_LONGEST_NAME]
        if name.startswith(self.name):  # the first, a repeated, or a longer name
            self.name = name
        elif not self.arguments:
            self.name = (self.name + name)[:_LONGEST_NAME]
        self.arguments.add(fragment.arguments)


class ToolCallAssembler:
    """Takes fragments in the order in which they came."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._last: dict[int | None, _Call] = {}
        """The last call of each index, and of all under None."""
        self._named: dict[tuple[int | None, str], _Call] = {}
        """The last call of each index and id, and of each id under None."""

    def add(self, fragment: CallFragment) -> None:
        call = self._continued_by(fragment)
        if call is None:
            if len(self._calls) == MAX_CALLS:
                return
            call = _Call(fragment.index)
            self._calls.append(call)
            self._last[call.index] = self._last[None] = call
        call.add(fragment)
        if call.id:
            self._named[call.index, call.id] = self._named[None, call.id] = call

    def requests(self) -> tuple[ToolRequest, ...]:
        """The calls in the order in which they began, each with an id of its own.

        A call without a name is left out: nobody could answer it.
        """
        requests: dict[str, ToolRequest] = {}
        for call in self._calls:
            if call.name:
                call_id = call.id if call.id and call.id not in requests else _new_id()
                arguments = join_surrogates(call.arguments.text()) or "{}"
                requests[call_id] = ToolRequest(call_id, call.name, arguments)
        return tuple(requests.values())

    def _continued_by(self, fragment: CallFragment) -> _Call | None:
        """The call that the fragment belongs to; None when it begins a new one."""
        named = self._named.get((fragment.index, fragment.id[:_LONGEST_NAME])) if fragment.id else None
        last = named or self._last.get(fragment.index)
        if last is None or _begins_another(fragment, last):
            return None
        return last


def _begins_another(fragment: CallFragment, last: _Call) -> bool:
    if not fragment.name:
        return False
    if fragment.id and last.id and fragment.id[:_LONGEST_NAME] != last.id:
        return True
    if fragment.index is None and last.name not in ("", fragment.name[:_LONGEST_NAME]):
        return True
    return bool(fragment.arguments) and last.arguments.whole()


def _new_id() -> str:
    """Nine letters and digits: the one form that Mistral's API and templates take."""
    return uuid4().hex[:9]


# ---- chat ------------------------------------------------------------------------------------------------

_TRAILER_TIMEOUT_S = 3.0
"""How long to wait for usage after the finish reason: the answer is complete without it."""

LONGEST_S: Final = 600.0
"""Of one answer, as of a turn; summaries and the like have no turn that ends them. A model that gives signs
of life for ever is ended."""
_LONGEST_EVENT: Final = 2**20
"""Bytes of one chunk: a whole answer in one, each character written as \\uXXXX, takes 600,000."""

_CUT_REASONS = frozenset({"length", "max_tokens", "content_filter", "error", "abort", "cancelled"})

_END = object()

_log = structlog.get_logger(__name__)


class OpenAIChatModel:
    """A ChatModel (see there) over HTTP."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout_s: float = 45,
        max_retries: int = MAX_RETRIES,
        cache_control: bool = False,
        longest_s: float = LONGEST_S,
    ) -> None:
        """Ask the server at `base_url`, or OpenAI's own without it. `timeout_s` is seconds without a sign of
        life, `longest_s` seconds of one answer. `cache_control` marks what can be cached for gateways that
        pass Anthropic's marks on. Building the client takes over 100 ms: do it at start, not during a turn.
        """
        self._model = model
        self._timeout_s = timeout_s
        self._longest_s = longest_s
        self._cache_control = cache_control
        self._refused_options: frozenset[str] = frozenset()
        self._suspected_options: frozenset[str] = frozenset()
        """Without which a request was taken after a refusal that named none."""
        self._client = open_client(
            api_key=api_key,
            base_url=base_url,
            timeout_s=timeout_s,
            max_retries=max_retries,
            longest_event=_LONGEST_EVENT,
        )

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """See ChatModel. Raises ModelUnavailable, ModelRefusedKey, ModelRefusedRequest or
        ContextTooLong."""
        reply = _Reply(self._model)
        trouble: Trouble | None = None
        try:
            async with self._open(request) as pieces:
                while not reply.full and (piece := await pieces.next()):
                    for event in reply.add(piece):
                        yield event
        except FAILURES as error:
            trouble = diagnose(error, self._model)
        for event in reply.rest():
            yield event
        # Once the finish reason is there, what breaks later takes nothing away.
        trouble = trouble if reply.finish_reason is None and trouble else reply.trouble()
        if trouble is None:
            yield reply.finish()
            return
        begun = request.answer_begun or reply.text.begun
        self._record(trouble, reply, begun=begun)
        if not begun:
            raise trouble.error
        yield Finish("cut", usage=reply.usage, model=self._model)

    async def close(self) -> None:
        await self._client.close()

    @asynccontextmanager
    async def _open(self, request: ChatRequest) -> AsyncIterator["_Pieces"]:
        now_s = asyncio.get_running_loop().time()
        deadline_s = now_s + self._timeout_s
        async with asyncio.timeout_at(deadline_s):
            chunks = await self._ask(request)
        async with chunks:
            yield _Pieces(chunks, self._timeout_s, deadline_s, now_s + self._longest_s)

    async def _ask(self, request: ChatRequest) -> AsyncStream[object]:
        """Ask with every option that this server has not refused yet; once it refuses, with fewer. Which ones
        they are, it may not say: the second time in which it takes a request without them tells."""
        body = request_body(self._model, request, cache_control=self._cache_control)
        max_retries = 0 if request.answer_begun else self._client.max_retries
        refused, guessed = self._refused_options, frozenset[str]()
        while True:
            left_out = refused | guessed
            asked = {
                name: value for name, value in (body | _options(request)).items() if name not in left_out
            }
            try:
                chunks = await self._post(RequestBody(asked), max_retries)
            except (BadRequestError, UnprocessableEntityError) as error:
                named = _named(asked, error.message)
                suspect = frozenset[str]() if named else _suspect(asked)
                if not named | suspect or request.answer_begun or read_refusal(error.body, error.message):
                    raise
                refused, guessed = refused | named, guessed | suspect
            else:
                self._note(refused | (guessed & self._suspected_options))
                self._suspected_options = (self._suspected_options - asked.keys()) | guessed
                return chunks

    def _note(self, refused: frozenset[str]) -> None:
        if refused - self._refused_options:
            _log.info("options_refused", model=self._model, options=sorted(refused))
        self._refused_options |= refused

    async def _post(self, content: RequestBody, max_retries: int) -> AsyncStream[object]:
        headers = {"Content-Length": str(len(content))}  # without it chunked: many servers do not take that
        return await self._client.post(
            "/chat/completions",
            cast_to=object,
            content=content,
            options={"max_retries": max_retries, "headers": headers},
            stream=True,
            stream_cls=AsyncStream[object],
        )

    def _record(self, trouble: Trouble, reply: "_Reply", *, begun: bool) -> None:
        _log.warning(
            "model_failed",
            model=self._model,
            outcome="cut" if begun else type(trouble.error).__name__,
            problem=trouble.problem,
            status=trouble.status,
            retries=trouble.retries,
            chunks=reply.chunks,
        )


class _Pieces:
    """The pieces of an answer, each of them waited for only so long."""

    def __init__(
        self, chunks: AsyncStream[object], timeout_s: float, deadline_s: float, end_s: float
    ) -> None:
        """`deadline_s` is for a sign of life, `end_s` for the whole answer, on the loop's clock."""
        self._chunks = chunks
        self._timeout_s = timeout_s
        self._deadline_s = deadline_s
        self._end_s = end_s
        self._silence_s: float | None = None
        """How long it may take from now on: from when the one before was read, which may take long."""

    async def next(self) -> Piece | None:
        """Wait for the next piece; None after the last one. Raises TimeoutError."""
        if self._silence_s is not None:
            self._deadline_s = asyncio.get_running_loop().time() + self._silence_s
            self._silence_s = None
        async with asyncio.timeout_at(min(self._deadline_s, self._end_s)):
            chunk = await anext(self._chunks, _END)
        if chunk is _END:
            return None
        piece = read_chunk(chunk)
        if piece.finish_reason:
            self._silence_s = min(_TRAILER_TIMEOUT_S, self._timeout_s)
        elif piece.alive:
            self._silence_s = self._timeout_s
        return piece


class _Reply:
    """The answer to one request so far."""

    def __init__(self, model: str) -> None:
        self._model = model
        self.text = TextJoiner()
        self._thoughts = Thoughts()
        self._thought = False
        """Whether it is known that the model thinks."""
        self.usage = Usage()
        self.finish_reason: str | None = None
        self.chunks = 0
        self._room = MAX_ANSWER_CHARACTERS
        self._calls = ToolCallAssembler()

    def add(self, piece: Piece) -> list[ModelEvent]:
        """Take a piece in, and return what it shows."""
        self.chunks += 1
        self.finish_reason = piece.finish_reason or self.finish_reason
        self.usage = piece.usage or self.usage
        for fragment in piece.fragments:
            self._calls.add(fragment)
        said, thinking = self._thoughts.add(piece.text), list[ModelEvent]()
        if self._thoughts.begun_before:
            self._room = MAX_ANSWER_CHARACTERS
            thinking.append(Thinking(aloud=True))
        elif not self._thought and not self.text.begun and (piece.reasons or self._thoughts.thinking):
            self._thought = True
            thinking.append(Thinking())
        return thinking + self._say(said)

    def rest(self) -> list[ModelEvent]:
        """Return what was held back, when nothing more comes."""
        return self._say(self._thoughts.rest())

    def _say(self, said: str) -> list[ModelEvent]:
        text = said[: max(self._room, 0)]
        self._room -= len(said)
        shown = self.text.add(text) if text else ""
        return [Delta(shown)] if shown else []

    @property
    def full(self) -> bool:
        """Return whether more was said than an answer may have. White space that is held back counts too."""
        return self._room < 0

    def finish(self) -> Finish:
        """The end of a whole answer. Calls count even if the server says `stop`, as many do."""
        requests = self._calls.requests()
        return Finish("tools" if requests else "stop", requests, self.usage, self._model)

    def trouble(self) -> Trouble | None:
        """Return why a stream that ended by itself, or is full, is no whole answer; None if it is one."""
        if self.full:
            return Trouble(ModelUnavailable(), "too_long")
        if self.finish_reason is None:
            return Trouble(ModelUnavailable(), "no_finish_reason")
        if self.finish_reason == "content_filter":
            return Trouble(ModelRefusedRequest(), "content_filter")
        if self.finish_reason in _CUT_REASONS:
            return Trouble(ModelUnavailable(), "cut_by_server")
        return None


def _options(request: ChatRequest) -> Json:
    """Return what a server may refuse to be told."""
    key: Json = {"prompt_cache_key": request.cache_key} if request.cache_key else {}
    chosen: Json = {} if request.temperature is None else {"temperature": request.temperature}
    return {**key, "stream_options": {"include_usage": True}, **chosen}


_LEAST_KNOWN: Final[tuple[str, ...]] = ("prompt_cache_key", "stream_options", "temperature")
_TOOLS: Final = r"\b(?:tools|tool (?:use|calling|choice))\b"
_NO_TOOLS: Final = re.compile(
    rf"{_TOOLS}.{{0,40}}(?:not supported|unsupported|requires|not permitted)"
    rf"|(?:not support|unsupported|unknown|unrecognized|extra)\b.{{0,60}}{_TOOLS}",
    re.IGNORECASE,
)
"""What servers say whose model takes no tools: without them it answers, and can't remember by itself. Of a
message in the role of a tool, or of one tool, they say other things."""
_REFUSAL_READ: Final = 500
"""Characters of a refusal: what comes later quotes the request."""


def _named(asked: Json, message: str) -> frozenset[str]:
    """The options that a refusal names."""
    named = {name for name in _LEAST_KNOWN if name in asked and name in message}
    if "tools" in asked and _NO_TOOLS.search(message[:_REFUSAL_READ]):
        named.add("tools")
    return frozenset(named)


def _suspect(asked: Json) -> frozenset[str]:
    """The option that the fewest servers know of those that were asked with; none where all that is left has
    to be there."""
    return frozenset([name for name in _LEAST_KNOWN if name in asked][:1])
