"""A model server that refuses what one family of models refuses, in its words, and streams as it does.

Words with KEEP in them lead to a call of `remember`, results to REMEMBERED, GO_ON to words without end, and
anything else to ANSWER. The model's name decides which personality answers.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.loopback.local_server import LocalServer

Json = dict[str, Any]
KEEP, GO_ON = "覚えて", "続けて"
ANSWER, REMEMBERED = "はい、お答えします。", "覚えました。"


@dataclass(frozen=True, slots=True)
class Refusal:
    body: Any
    status: int = 400
    as_event: bool = False
    """Sent in a stream that had begun well."""


def error(message: str, status: int = 400, **more: object) -> Refusal:
    """Return an error in OpenAI's format."""
    return Refusal({"error": {"message": message, "type": "invalid_request_error", **more}}, status)


Rule = Callable[[Json], Refusal | None]


@dataclass(frozen=True, slots=True)
class Personality:
    model: str
    rules: Sequence[Rule] = ()
    """The first that refuses a request decides."""
    bites: Sequence[Json] = ()
    """Requests that are refused, one for each rule that has one."""
    responses: Rule | None = None
    """The rule of its Responses API; None: it has none."""
    thinks: Sequence[str] = ()
    """Fields of a delta in which it thinks first."""
    delta: Callable[[str], Json] = lambda text: {"content": text}
    call_extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields beside a call's id and function."""
    message_extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the delta that makes a call."""
    call_id: str = "call_0123456789abcdef01234567"
    extra_events: str = ""
    usage_in_each: bool = False
    tools: bool = True


class PersonalityServer(LocalServer):
    def __init__(self, *personalities: Personality) -> None:
        self._by_model = {each.model: each for each in personalities}
        self.refused: list[str] = []
        """The bodies of all refusals, as text."""
        self.answered: list[Json] = []
        """The bodies of requests that were taken."""

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/chat/completions", self._chat), web.post("/v1/responses", self._respond)]

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        personality = self._by_model[body["model"]]
        for rule in personality.rules:
            if refusal := rule(body):
                return await self._refuse(request, refusal)
        self.answered.append(body)
        last = body["messages"][-1]
        text = text_of(last)
        if body.get("tools") and last["role"] == "user" and KEEP in text and personality.tools:
            return await _stream(request, _call_events(personality, text))
        if last["role"] == "user" and GO_ON in text:
            return await _stream(request, _endless(personality))
        return await _stream(
            request, _answer_events(personality, REMEMBERED if last["role"] == "tool" else ANSWER)
        )

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        personality = self._by_model[body["model"]]
        if personality.responses is None:
            raise web.HTTPNotFound
        if refusal := personality.responses(body):
            return await self._refuse(request, refusal)
        self.answered.append(body)
        last = body["input"][-1]
        text = text_of(last)
        if last.get("type") == "function_call_output":
            return await _stream(request, _response_events(REMEMBERED))
        if body.get("tools") and KEEP in text:
            return await _stream(request, _response_calls(text))
        if GO_ON in text:
            return await _stream(
                request, (event for _ in iter(int, 1) for event in _response_delta("つづき"))
            )
        return await _stream(request, _response_events(ANSWER))

    async def _refuse(self, request: web.Request, refusal: Refusal) -> web.StreamResponse:
        self.refused.append(json.dumps(refusal.body, ensure_ascii=False))
        if refusal.as_event:
            return await _stream(request, iter([f"event: error\ndata: {json.dumps(refusal.body)}\n\n"]))
        return web.json_response(refusal.body, status=refusal.status)


def text_of(message: Json) -> str:
    """Return a message's text without the context that was joined to it."""
    content = message.get("content") or ""
    parts = [{"text": content}] if isinstance(content, str) else content
    return "".join(part.get("text", "") for part in parts).rpartition("</context>")[2]


def wish_in(text: str) -> str:
    """Return the text that is to be remembered, before KEEP."""
    return text.split(KEEP, maxsplit=1)[0].strip()


async def _stream(request: web.Request, events: Iterator[str]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in events:
        await response.write(event.encode())
        await asyncio.sleep(0)
    return response


def _event(value: object) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _chunk(delta: Json, reason: str | None = None, *, usage: bool = False) -> str:
    extra = {"usage": {"prompt_tokens": 11, "completion_tokens": 7}} if usage else {}
    return _event({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **extra})


def _begin(personality: Personality) -> Iterator[str]:
    if personality.extra_events:
        yield personality.extra_events
    yield _chunk({"role": "assistant", "content": ""})
    for piece in ("うーん、", "そうですね。"):
        if personality.thinks:
            yield _chunk(dict.fromkeys(personality.thinks, piece))


def _answer_events(personality: Personality, text: str) -> Iterator[str]:
    yield from _begin(personality)
    for piece in (text[:3], text[3:]):
        yield _chunk(personality.delta(piece), usage=personality.usage_in_each)
    yield _chunk({}, "stop", usage=True)
    yield "data: [DONE]\n\n"


def _endless(personality: Personality) -> Iterator[str]:
    yield from _begin(personality)
    while True:
        yield _chunk(personality.delta("つづき"))


def _call_events(personality: Personality, text: str) -> Iterator[str]:
    yield from _begin(personality)
    arguments = json.dumps({"content": wish_in(text)}, ensure_ascii=False)
    function = {"name": "remember", "arguments": arguments}
    call = {"index": 0, "id": personality.call_id, "type": "function", "function": function}
    yield _chunk({**personality.message_extra, "tool_calls": [{**call, **personality.call_extra}]})
    yield _chunk({}, "tool_calls", usage=True)
    yield "data: [DONE]\n\n"


REASONING_ITEM: Json = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}


def _typed(kind: str, **more: object) -> str:
    return f"event: {kind}\n" + _event({"type": kind, **more})


def _response_delta(text: str) -> Iterator[str]:
    yield _typed("response.output_text.delta", delta=text, output_index=1)


def _response_events(text: str) -> Iterator[str]:
    yield _typed("response.created", response={"status": "in_progress"})
    yield _typed("response.output_item.done", item=REASONING_ITEM, output_index=0)
    for piece in (text[:3], text[3:]):
        yield from _response_delta(piece)
    usage = {"input_tokens": 11, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 4}}
    yield _typed("response.completed", response={"status": "completed", "usage": usage})


def _response_calls(text: str) -> Iterator[str]:
    arguments = json.dumps({"content": wish_in(text)}, ensure_ascii=False)
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "remember"}
    yield _typed("response.output_item.done", item=REASONING_ITEM, output_index=0)
    yield _typed("response.output_item.added", item={**call, "arguments": ""}, output_index=1)
    yield _typed("response.function_call_arguments.delta", delta=arguments, output_index=1)
    yield _typed("response.output_item.done", item={**call, "arguments": arguments}, output_index=1)
    yield _typed("response.completed", response={"status": "completed", "usage": None})
