"""Models behind servers with the Chat Completions or Responses API.

A refusal that says what to change adapts this request and later ones (quirks.py). `timeout_s` limits the time
between two signs of life of the model; retries and keep-alives do not count as signs of life.
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
from cc_bot.llm.openai.client import FAILURES, Endpoint, read_chunks
from cc_bot.llm.openai.quirks import Attempts, Quirks, ServerError, adapt, classify, known_quirks
from cc_bot.llm.openai.reply import Chunk, StreamedAnswer, as_mapping, json_events
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
_WARN_AFTER_PROMPTS: Final = 3
_BodyBuilder = Callable[[str, ChatRequest, Quirks, str], Json]
_Wire = tuple[str, _BodyBuilder, Callable[[object], Chunk]]  # path, builder of requests, reader of events
_CHAT: Final[_Wire] = (CHAT_PATH, chat_body, read_chunk)
_RESPONSES: Final[_Wire] = (RESPONSES_PATH, responses_body, read_event)

_log = structlog.get_logger(__name__)


@dataclass(eq=False, repr=False)
class OpenAIChatModel(Endpoint):
    _: KW_ONLY
    reasoning: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._label = f"{self._host}/{self.model}"
        self._quirks = known_quirks(self._url, self.model)
        self._changes: dict[str, None] = {}
        self.leaves_out_images = False
        self._longest_prompt = (0, 0, 0)
        """Tokens and bytes of the longest prompt, and how many prompts with more bytes had as many tokens."""

    @property
    def has_path(self) -> bool:
        """Return whether the address has a path, such as `/v1`."""
        return urlsplit(self._url).path not in ("", "/")

    @property
    def changes(self) -> tuple[str, ...]:
        return tuple(self._changes)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """Raises ModelUnavailable, ModelRefusedKey, ModelRefusedRequest, ModelOutOfRoom or ContextTooLong."""
        attempts, send_again = Attempts(self._quirks, request), True
        while send_again:
            answer, stream_failure, send_again = StreamedAnswer(), None, False
            try:
                async with aclosing(self._request_chunks(request, attempts)) as chunks:
                    async for chunk in chunks:
                        if not answer.chunks:
                            self._apply_lessons(attempts)
                        for event in answer.add(chunk):
                            yield event
                        if answer.is_too_long:
                            break
            except FAILURES as error:
                stream_failure = classify(error, self.name)
                send_again = isinstance(error, ServerError) and not answer.has_text and attempts.learn(error)
        for event in answer.flush():
            yield event
        if failure := stream_failure if stream_failure and answer.finish_reason is None else answer.failure():
            answer_begun = request.answer_begun or answer.has_text
            cut = {"outcome": "cut"} if answer_begun else {}
            self._log_failure("model_failed", failure, chunks=answer.chunks, **cut)
            if not answer_begun:
                raise _drop_quoted_limit(failure.error, request)
            yield Finish("cut", usage=answer.usage, model=self.name)
            return
        finish = answer.finish(self.name, self._label)
        self._watch_prompt_tokens(finish.usage.prompt_tokens, attempts.sent_bytes)
        yield replace(finish, without_tools=bool(request.tools) and not attempts.quirks.tools)

    async def _request_chunks(self, request: ChatRequest, attempts: Attempts) -> AsyncGenerator[Chunk, None]:
        clock = asyncio.get_running_loop().time
        attempts.started_s = attempts.started_s or clock()
        deadline_s, end_s = attempts.started_s + self.timeout_s, clock() + MAX_ANSWER_S
        path, build_body, parse = _RESPONSES if attempts.quirks.wire == "responses" else _CHAT
        attempts.sent = self._build_body(build_body, request, attempts.quirks)
        content = RequestBody(attempts.sent)
        attempts.sent_bytes = content.size
        try:
            async with asyncio.timeout_at(deadline_s):
                retries = 0 if request.answer_begun else self.max_retries
                response = await self._send(path, retries, data=content)
        finally:
            content.release()
        async with aclosing(read_chunks(response)) as body, aclosing(json_events(body)) as events:
            while True:
                async with asyncio.timeout_at(min(deadline_s, end_s)):
                    event = await anext(events, None)
                if event is None:
                    return
                if error := _find_error(event):
                    raise ServerError(error)
                chunk = parse(event)
                yield chunk
                if chunk.finish_reason:
                    deadline_s = clock() + min(_TRAILER_TIMEOUT_S, self.timeout_s)
                elif chunk.alive:
                    deadline_s = clock() + self.timeout_s

    def _build_body(self, build_body: _BodyBuilder, request: ChatRequest, quirks: Quirks) -> Json:
        tools, change = request.tools[: quirks.max_tools] if quirks.tools else (), f"{quirks.max_tools} tools"
        if len(request.tools) > quirks.max_tools and change not in self._changes:
            self._changes[change] = None
            _log.warning("tools_left_out", model=self.name, offered=len(request.tools), sent=quirks.max_tools)
        body = build_body(self.model, replace(request, tools=tools), quirks, self._label)
        options = _optional_fields(request, quirks, request.reasoning or self.reasoning)
        return body | {name: value for name, value in options.items() if name not in quirks.omit}

    def _apply_lessons(self, attempts: Attempts) -> None:
        self.leaves_out_images = not attempts.quirks.images
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
        """Warn if the server seems to cut prompts, as Ollama does silently."""
        max_tokens, max_size, longer_prompts = self._longest_prompt
        if tokens > max_tokens:
            self._longest_prompt = (tokens, size, 0)
        elif tokens == max_tokens > 0 and size > max_size:
            self._longest_prompt = (tokens, size, longer_prompts + 1)
            if longer_prompts + 1 == _WARN_AFTER_PROMPTS:
                _log.warning(
                    "prompt_cut_by_server", model=self.name, tokens=tokens, setting="OLLAMA_CONTEXT_LENGTH"
                )


def _optional_fields(request: ChatRequest, quirks: Quirks, effort: str) -> Json:
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


def _find_error(event: object) -> object:
    fields = as_mapping(event)
    if fields.get("type") == "response.failed":
        return as_mapping(fields.get("response")).get("error") or {"message": "failed"}
    return fields.get("error") or (event if fields.get("type") == "error" else None)


def _drop_quoted_limit(error: ModelError, request: ChatRequest) -> ModelError:
    """Drop a limit that the prompt contains: the server may quote it, and callers remember limits."""
    limit = str(error.limit) if isinstance(error, ContextTooLong) and error.limit else None
    return ContextTooLong() if limit and any(limit in part.text for part in request.prompt) else error
