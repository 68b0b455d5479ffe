"""A model behind any server that speaks Chat Completions or Responses.

A refusal that names what to change is followed at once, and remembered (quirks.py). `timeout_s` limits the
time between the model's signs of life; retries and keep-alives do not stop that clock. An answer is cut where
it reaches a limit of bytes, characters, calls or time.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass, replace
from typing import Final
from urllib.parse import urlsplit

import structlog

from cc_bot.domain.errors import ContextTooLong, ModelError
from cc_bot.llm.model import ChatRequest, Finish, ModelEvent
from cc_bot.llm.openai.client import FAILURES, Endpoint, body_of
from cc_bot.llm.openai.quirks import Attempts, Quirks, ServerError, adapt, classify, quirks_of
from cc_bot.llm.openai.reply import Chunk, Reply, json_events, mapping
from cc_bot.llm.openai.wires import (
    CHAT_PATH,
    RESPONSES_PATH,
    Json,
    RequestBody,
    chat_body,
    read_chunk,
    read_event,
    responses_body,
)

MAX_ANSWER_S: Final = 600.0
_TRAILER_TIMEOUT_S: Final = 3.0  # for the usage after the finish reason
_CUT_PROMPTS: Final = 3
_RequestBody = Callable[[str, ChatRequest, Quirks, str], Json]
_Wire = tuple[str, _RequestBody, Callable[[object], Chunk]]
_CHAT: Final[_Wire] = (CHAT_PATH, chat_body, read_chunk)
_RESPONSES: Final[_Wire] = (RESPONSES_PATH, responses_body, read_event)

_log = structlog.get_logger(__name__)


@dataclass(eq=False, repr=False)
class OpenAIChatModel(Endpoint):
    _: KW_ONLY
    reasoning: str = ""
    """The effort of requests that name none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._label = f"{self._host}/{self.model}"
        self._quirks = quirks_of(self._url, self.model)
        self._changes: dict[str, None] = {}
        self.left_out_images = False
        self._longest_prompt = (0, 0, 0)
        """Tokens, bytes, and how often a longer prompt had as many tokens."""

    @property
    def has_path(self) -> bool:
        """As most servers need: `/v1`."""
        return urlsplit(self._url).path not in ("", "/")

    @property
    def changes(self) -> tuple[str, ...]:
        """Names of the lessons from refusals."""
        return tuple(self._changes)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """Raises ModelUnavailable, ModelRefusedKey, ModelRefusedRequest, ModelOutOfRoom or ContextTooLong."""
        attempts, again = Attempts(self._quirks, request), True
        while again:
            reply, broken, again = Reply(), None, False
            try:
                async with aclosing(self._chunks(request, attempts)) as chunks:
                    async for chunk in chunks:
                        if not reply.chunks:
                            self._remember(attempts)
                        for event in reply.add(chunk):
                            yield event
                        if reply.full:
                            break
            except FAILURES as error:
                broken = classify(error, self.name)
                again = isinstance(error, ServerError) and not reply.begun and attempts.learn(error)
        for event in reply.rest():
            yield event
        # What breaks after the finish reason takes nothing away.
        if failure := broken if broken and reply.finish_reason is None else reply.failure():
            begun = request.answer_begun or reply.begun
            cut = {"outcome": "cut"} if begun else {}
            self._report("model_failed", failure, chunks=reply.chunks, **cut)
            if not begun:
                raise _without_quoted_limit(failure.error, request)
            yield Finish("cut", usage=reply.usage, model=self.name)
            return
        finish = reply.finish(self.name, self._label)
        self._watch_prompt_tokens(finish.usage.prompt_tokens, attempts.sent_bytes)
        yield replace(finish, without_tools=bool(request.tools) and not attempts.quirks.tools)

    async def _chunks(self, request: ChatRequest, attempts: Attempts) -> AsyncGenerator[Chunk, None]:
        clock = asyncio.get_running_loop().time
        attempts.started_s = attempts.started_s or clock()
        deadline_s, end_s = attempts.started_s + self.timeout_s, clock() + MAX_ANSWER_S
        path, request_body, read = _RESPONSES if attempts.quirks.wire == "responses" else _CHAT
        attempts.sent = self._body(request_body, request, attempts.quirks)
        content = RequestBody(attempts.sent)
        attempts.sent_bytes = content.size
        try:
            async with asyncio.timeout_at(deadline_s):
                retries = 0 if request.answer_begun else self.max_retries
                response = await self._send(path, retries, data=content)
        finally:
            content.release()
        async with aclosing(body_of(response)) as body, aclosing(json_events(body)) as events:
            while True:
                async with asyncio.timeout_at(min(deadline_s, end_s)):
                    event = await anext(events, None)
                if event is None:
                    return
                if error := _error_in(event):
                    raise ServerError(error)
                chunk = read(event)
                yield chunk
                # Only now, since the reader may take long.
                if chunk.finish_reason:
                    deadline_s = clock() + min(_TRAILER_TIMEOUT_S, self.timeout_s)
                elif chunk.alive:
                    deadline_s = clock() + self.timeout_s

    def _body(self, request_body: _RequestBody, request: ChatRequest, quirks: Quirks) -> Json:
        tools, change = request.tools[: quirks.max_tools] if quirks.tools else (), f"{quirks.max_tools} tools"
        if len(request.tools) > quirks.max_tools and change not in self._changes:
            self._changes[change] = None
            _log.warning("tools_left_out", model=self.name, offered=len(request.tools), sent=quirks.max_tools)
        body = request_body(self.model, replace(request, tools=tools), quirks, self._label)
        options = _options(request, quirks, request.reasoning or self.reasoning)
        return body | {name: value for name, value in options.items() if name not in quirks.omit}

    def _remember(self, attempts: Attempts) -> None:
        """Apply the lessons to later requests."""
        self.left_out_images = not attempts.quirks.images
        for event, lasting in (("model_request_changed", True), ("model_request_changed_once", False)):
            lessons = [lesson for lesson in attempts.lessons if lesson.lasting is lasting]
            names = [lesson.name for lesson in lessons]
            if names:
                _log.warning(event, model=self.name, changes=names)
            if lasting:
                self._changes |= dict.fromkeys(names)
                for lesson in lessons:
                    self._quirks = adapt(self._quirks, lesson.changes)

    def _watch_prompt_tokens(self, tokens: int, size: int) -> None:
        """Warn if Ollama cuts prompts at its context length, which it does silently."""
        most, longest, times = self._longest_prompt
        if tokens > most:
            self._longest_prompt = (tokens, size, 0)
        elif tokens == most > 0 and size > longest:
            self._longest_prompt = (tokens, size, times + 1)
            if times + 1 == _CUT_PROMPTS:
                _log.warning(
                    "prompt_cut_by_server", model=self.name, tokens=tokens, setting="OLLAMA_CONTEXT_LENGTH"
                )


def _options(request: ChatRequest, quirks: Quirks, effort: str) -> Json:
    """Fields that a server may refuse."""
    options: Json = {"prompt_cache_key": request.cache_key} if request.cache_key else {}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if quirks.wire == "responses":
        return options | ({"reasoning": {"effort": effort}} if effort else {})
    options["stream_options"] = {"include_usage": True}
    if request.tools and quirks.tools:
        effort = quirks.effort_with_tools or effort
    if effort and quirks.effort_field == "thinking":
        options["thinking"] = {"type": "disabled" if effort == "none" else "enabled"}
    elif effort:
        options["reasoning_effort"] = effort
    return options


def _error_in(event: object) -> object:
    fields = mapping(event)
    if fields.get("type") == "response.failed":
        return mapping(fields.get("response")).get("error") or {"message": "failed"}
    return fields.get("error") or (event if fields.get("type") == "error" else None)


def _without_quoted_limit(error: ModelError, request: ChatRequest) -> ModelError:
    """Limits are remembered, so drop one that the prompt may have named."""
    limit = str(error.limit) if isinstance(error, ContextTooLong) and error.limit else None
    return ContextTooLong() if limit and any(limit in part.text for part in request.prompt) else error
