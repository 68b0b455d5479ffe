"""The transport of a server that is reached over HTTP: the library's, with bounds on what comes back."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Any, Final

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from cc_bot.in_order import RateLimiter
from cc_bot.mcp.file import ServerEntry
from cc_bot.mcp.messages import MAX_MESSAGE_BYTES, PAUSE_S, MessageUnreadable, Transport

CONNECT_S: Final = 10.0
READ_S: Final = 600.0
"""Between two pieces of what a server sends; calls have times of their own."""
GOODBYE_S: Final = 3.0
"""For a server to answer that its session is over."""
STREAMS_A_SECOND: Final = 1
"""Streams that are opened again: a server names the pause itself, and may name none."""
NOT_SENT: Final = -32099
"""The code of our own error for a call that did not reach the server, or was turned away."""
_TURNED_AWAY: Final = (401, 403, 429)
_STREAM: Final = "text/event-stream"
_MAX_EVENT_ID: Final = 1000


class HttpTransport(Transport):
    """A transport of the client."""

    def __init__(self, entry: ServerEntry) -> None:
        super().__init__(entry.name)
        self._entry = entry
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> TransportStreams:
        client = httpx2.AsyncClient(
            headers={**self._entry.headers, "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(CONNECT_S, read=READ_S),
            transport=_BoundedRequests(self),
            trust_env=False,
        )
        await self._stack.enter_async_context(client)
        streams = streamable_http_client(
            self._entry.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
        )
        return await self._stack.enter_async_context(streams)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_S):
                await self._stack.__aexit__(kind, error, trace)


class _BoundedRequests(httpx2.AsyncHTTPTransport):
    def __init__(self, transport: Transport) -> None:
        super().__init__(trust_env=False)
        self._transport = transport
        self._pace = RateLimiter(STREAMS_A_SECOND)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            await self._pace.wait()
        sent: Mapping[str, Any] = json.loads(request.content or b"{}")
        is_call = sent.get("method") == "tools/call"
        try:
            response = await super().handle_async_request(request)
        except httpx2.TransportError as error:
            if is_call and isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
                return _not_sent(sent)
            if is_call:
                return httpx2.Response(503)  # if this was raised, the library would end all other calls
            if request.method == "POST":
                self._transport.closed.set()
            raise
        if "method" not in sent:
            self._transport.note_answered(sent.get("id"))
        forgotten = response.status_code == 404 and "mcp-session-id" in request.headers
        if is_call and (forgotten or response.status_code in _TURNED_AWAY):
            if forgotten:
                self._transport.closed.set()  # so that a new session is opened
            await response.aclose()
            return _not_sent(sent)
        return self._bounded(response, request)

    def _bounded(self, response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
        """Return the response with a cleaned body. Compressed ones are refused, as nobody asked for them and
        they may unpack to anything."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("compressed", request=request)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if isinstance(response.stream, httpx2.AsyncByteStream):
            body = _Events if kind == _STREAM else _Body
            response.stream = body(response.stream, request, self._transport)
        # A charset of the server's choice could take for ever to decode.
        response.headers["content-type"] = kind
        return response


def _not_sent(call: Mapping[str, Any]) -> httpx2.Response:
    error = {"code": NOT_SENT, "message": "not sent"}
    return httpx2.Response(200, json={"jsonrpc": "2.0", "id": call["id"], "error": error})


class _Paced(httpx2.AsyncByteStream):
    """A body that comes in at most 1000 pieces a second: each piece costs time, however small."""

    def __init__(self, body: httpx2.AsyncByteStream, request: httpx2.Request, transport: Transport) -> None:
        self._body = body
        self._request = request
        self._transport = transport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._body:
            yield piece
            await asyncio.sleep(PAUSE_S)

    async def aclose(self) -> None:
        await self._body.aclose()


class _Body(_Paced):
    """One message. If it is too long, breaks off or can't be read it becomes nothing, and that call fails."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole = bytearray()
        try:
            async for piece in super().__aiter__():
                whole += piece
                if len(whole) > MAX_MESSAGE_BYTES:
                    return
            message = await self._transport.clean(bytes(whole))
        except (httpx2.TransportError, MessageUnreadable):
            return
        whole.clear()
        yield message


class _Events(_Paced):
    """A stream of events with a message each."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body = _Paced(self._body, self._request, self._transport)
        response = httpx2.Response(200, headers={"content-type": _STREAM}, stream=body, request=self._request)
        async for event in httpx2.EventSource(response, max_event_size=MAX_MESSAGE_BYTES):
            if event.event != "message":
                continue
            if event.id and len(event.id) <= _MAX_EVENT_ID:
                yield f"id: {event.id}\n".encode()
            if event.retry is not None:
                yield f"retry: {event.retry}\n".encode()
            yield b"data: " + await self._message_in(event.data) + b"\n\n"
            await self._transport.pause(len(event.data))

    async def _message_in(self, data: str) -> bytes:
        """Return the cleaned message; text that is not a message stays none."""
        if not data.strip():
            return b""
        try:
            return await self._transport.clean(data.encode())
        except MessageUnreadable:
            return b"-"
