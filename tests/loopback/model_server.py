"""A model server on 127.0.0.1 that answers as its script says: Chat Completions over real HTTP and SSE.

The program under test is pointed at `base_url` by OPENAI_BASE_URL, in this process or in its own. Each
request takes the next scripted reply; when the script is used up, the responder decides; without one,
the answer is DEFAULT_ANSWER. Nothing ever hangs unless the script says so.

    async with LoopbackModelServer(says("こん", "にちは"), fails(429)) as server:
        ...
        assert server.requests[0].last_user_text == "元気？"

A reply is a list of steps, so that every fault of a real server can be written down: `Reply(Say("a"),
CutConnection())`. What the real server refuses is refused here too (`protocol_error`), above all tool
results that do not follow their calls, so that no test passes on a prompt that would fail outside.

Requests for the model named SCRIBE are kept apart and have a script of their own: they come from the
background, at no moment that a test could foresee.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from typing import assert_never

from aiohttp import web

from tests.loopback.local_server import LocalServer
from tests.loopback.model_replies import (
    Call,
    Chunk,
    CutConnection,
    End,
    Fragment,
    Hang,
    Pause,
    Raw,
    Reply,
    Say,
    Step,
    Wait,
    calls,
    fails,
    hangs,
    says,
)
from tests.loopback.model_requests import (
    Json,
    RecordedRequest,
    last_user_text,
    message_text,
    new_tool_results,
    protocol_error,
)

__all__ = [
    "DEFAULT_ANSWER",
    "Call",
    "Chunk",
    "CutConnection",
    "End",
    "Fragment",
    "Hang",
    "Json",
    "LoopbackModelServer",
    "Pause",
    "Raw",
    "RecordedRequest",
    "Reply",
    "Responder",
    "Say",
    "Step",
    "Wait",
    "calls",
    "fails",
    "hangs",
    "last_user_text",
    "message_text",
    "new_tool_results",
    "says",
]

DEFAULT_ANSWER = "はい、承知しました。"
SCRIBE = "scribe"
DEFAULT_NOTES = "- 話をしました。"

Responder = Callable[[Json], Reply | str]
"""Decides from a request's body. A string is an answer in one chunk."""


class LoopbackModelServer(LocalServer):
    """See the module's docstring. `requests` lists every request in order of arrival."""

    def __init__(self, *replies: Reply, responder: Responder | None = None, strict: bool = False) -> None:
        """`strict`: it refuses requests whose roles come in an order that many servers' templates refuse."""
        self._strict = strict
        self.requests: list[RecordedRequest] = []
        self.notes: list[RecordedRequest] = []
        """The requests for SCRIBE."""
        self.responder = responder
        self._script = deque(replies)
        self._scribe_script = deque[Reply]()
        self._arrived = asyncio.Condition()
        self._closing = False

    def script(self, *replies: Reply) -> None:
        """Add replies to the end of the script."""
        self._script.extend(replies)

    def script_notes(self, *replies: Reply) -> None:
        """Add replies to the end of SCRIBE's script; without any left it answers DEFAULT_NOTES."""
        self._scribe_script.extend(replies)

    def reset(self) -> None:
        """Forget the script, the responder and every request, for the next test that shares this server."""
        self._script.clear()
        self._scribe_script.clear()
        self.notes.clear()
        self.responder = None
        self.requests.clear()

    async def arrived(self, count: int) -> RecordedRequest:
        """Wait until there were `count` requests in all; the last of them."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def noted(self, count: int) -> RecordedRequest:
        """The same of the requests for SCRIBE."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.notes) >= count)
        return self.notes[count - 1]

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/chat/completions", self._complete)]

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        await super().__aexit__()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        recorded = RecordedRequest(await request.json(), dict(request.headers))
        async with self._arrived:
            (self.notes if recorded.body["model"] == SCRIBE else self.requests).append(recorded)
            self._arrived.notify_all()
        try:
            response = await _send(request, self._next_reply(recorded.body), recorded.body)
            recorded.answered.set()
            return response
        except (asyncio.CancelledError, ConnectionResetError):
            if not self._closing:
                recorded.disconnected.set()
            raise

    def _next_reply(self, body: Json) -> Reply:
        if (error := protocol_error(body, strict=self._strict)) is not None:
            return fails(400, error)
        if body["model"] == SCRIBE:
            return self._scribe_script.popleft() if self._scribe_script else says(DEFAULT_NOTES)
        if self._script:
            return self._script.popleft()
        reply = self.responder(body) if self.responder else DEFAULT_ANSWER
        return says(reply) if isinstance(reply, str) else reply


async def _send(request: web.Request, reply: Reply, body: Json) -> web.StreamResponse:
    await asyncio.sleep(reply.delay_s)
    if reply.status != 200:
        return web.Response(
            status=reply.status, headers=reply.headers, text=reply.body, content_type="application/json"
        )
    if reply.steps[:1] == (CutConnection(),):
        return _cut(request, web.Response())
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **reply.headers})
    await response.prepare(request)
    for step in reply.steps:
        match step:
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Wait(event):
                await event.wait()
            case Hang():
                await asyncio.Event().wait()
            case CutConnection():
                return _cut(request, response)
            case _:
                if isinstance(step, Say):
                    await asyncio.sleep(step.delay_s)
                await response.write(_wire(step, body).encode())
    return response


def _cut(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return response  # which nobody receives


def _wire(step: Say | Fragment | Chunk | Raw | End, body: Json) -> str:
    match step:
        case Say(text):
            return _event(_delta(body, {"content": text}))
        case Fragment():
            return _event(_delta(body, {"tool_calls": [_fragment(step)]}))
        case Chunk(chunk):
            return _event(chunk)
        case Raw(text):
            return text
        case End(reason, usage):
            return _end(body, reason, usage)
        case _:
            assert_never(step)


def _event(chunk: object) -> str:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"


def _chunk(body: Json, choices: list[Json], **more: object) -> Json:
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": choices,
        **more,
    }


def _delta(body: Json, delta: Json) -> Json:
    return _chunk(body, [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}])


def _fragment(step: Fragment) -> Json:
    function = {"name": step.name, "arguments": step.arguments}
    fragment: Json = {"function": {key: value for key, value in function.items() if value is not None}}
    if step.id is not None:
        fragment |= {"id": step.id, "type": "function"}
    if step.index is not None:
        fragment["index"] = step.index
    return fragment


def _end(body: Json, reason: str | None, usage: tuple[int, int] | None) -> str:
    events = (
        "" if reason is None else _event(_chunk(body, [{"index": 0, "delta": {}, "finish_reason": reason}]))
    )
    if usage is not None and (body.get("stream_options") or {}).get("include_usage"):
        prompt, completion = usage
        tokens = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        events += _event(_chunk(body, [], usage=tokens))
    return events if reason is None else events + "data: [DONE]\n\n"
