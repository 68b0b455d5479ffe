"""The way to a server that is reached over HTTP: bounded, direct, and to that address alone."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Final

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp_types import RequestId

from cc_bot.in_order import Pace
from cc_bot.mcp.file import ServerEntry
from cc_bot.mcp.guard import LONGEST_MESSAGE, GuardedStream, NotedSending
from cc_bot.mcp.readable import mend
from cc_bot.mcp.unanswered import Unanswered

CONNECT_S: Final = 10.0
READ_S: Final = 600.0
"""Between two pieces of what a server sends; calls have times of their own."""
GOODBYE_S: Final = 3.0
"""For a server to answer that its session is over."""
STREAMS_A_SECOND: Final = 1
"""That are asked for again: a server names the pause itself, and may name none."""
NO_ANSWER: Final = "Server returned an error response"
"""The library's words for an error that holds none of the server's."""
NO_MESSAGE: Final = (
    "Failed to parse JSON response",
    "Unexpected content type",
    "server answered a request with 202 Accepted",
)
"""How the library begins where what came is no message."""
_TURNED_AWAY: Final = (401, 403, 429)
"""Without the right to come in, or too often (RFC 9110, 15.5; RFC 6585, 4): it may be tried again."""
_STREAM: Final = "text/event-stream"
_DATA: Final = b"data:"


class HttpWay:
    """A transport of the client: its streams are those of `async with`."""

    def __init__(self, entry: ServerEntry) -> None:
        self._entry = entry
        self._stack = AsyncExitStack()
        self.closed = asyncio.Event()
        """Set when nothing more comes from it."""
        self.unanswered = Unanswered()
        self.was_told = False
        self.unreached = set[RequestId]()
        """The requests that found no connection, or were turned away: nobody has acted on them."""
        self.broken = set[RequestId]()
        """The requests whose connection broke, or for which an error of the server's or a proxy's came back
        (5xx): they may have been done."""
        self.is_up = False
        """Whether the server has told what it has: from then on what fails is one request's trouble alone."""
        self.forgotten = False
        """Whether the server said that it does not know our session (any more)."""

    async def __aenter__(self) -> tuple[GuardedStream, NotedSending]:
        client = httpx2.AsyncClient(
            headers={**self._entry.headers, "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(CONNECT_S, read=READ_S),
            event_hooks={"response": [_bound]},
            transport=_Reaching(self),
            trust_env=False,
        )
        try:
            await self._stack.enter_async_context(client)
            streams = streamable_http_client(
                self._entry.url, http_client=client, max_sse_event_size=LONGEST_MESSAGE
            )
            incoming, outgoing = await self._stack.enter_async_context(streams)
        except BaseException:
            await self._stack.aclose()
            raise
        return GuardedStream(incoming, self.closed, self.unanswered), NotedSending(outgoing, self.unanswered)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed.set()
        with suppress(TimeoutError):  # a server that does not answer keeps nobody here
            async with asyncio.timeout(GOODBYE_S):
                await self._stack.__aexit__(kind, error, trace)


class _Reaching(httpx2.AsyncHTTPTransport):
    """Connections, of which it is known whether they came about."""

    def __init__(self, way: HttpWay) -> None:
        super().__init__(trust_env=False)
        self._way = way
        self._pace = Pace(STREAMS_A_SECOND)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            await self._pace.wait()
        try:
            response = await super().handle_async_request(request)
        except httpx2.TransportError as error:
            sent = not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
            (self._way.broken if sent else self._way.unreached).add(_number_of(request))
            if request.method != "POST" or not self._way.is_up:
                raise
            return httpx2.Response(503)  # the library would let go of all that others have under way
        if response.status_code in _TURNED_AWAY:
            self._way.unreached.add(_number_of(request))
        if response.status_code >= 500:
            self._way.broken.add(_number_of(request))
        if response.status_code == 404 and "mcp-session-id" in request.headers:
            self._way.forgotten = True
            await response.aclose()
            return httpx2.Response(404)  # without the server's words, the library has its own for this
        return response


def _number_of(request: httpx2.Request) -> RequestId:
    """Return what a request is numbered with; empty for one without."""
    try:
        number = json.loads(request.content)["id"]
    except (ValueError, KeyError, TypeError, httpx2.RequestNotRead):
        return ""
    return number if isinstance(number, int | str) else ""


async def _bound(response: httpx2.Response) -> None:
    """Bound a response; one that is sent compressed although that was not asked for could unfold to
    anything."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("compressed", request=response.request)
    streamed = response.headers.get("content-type", "").partition(";")[0].strip().lower() == _STREAM
    if isinstance(response.stream, httpx2.AsyncByteStream):
        kind = _Events if streamed else _Body
        response.stream = kind(response.stream, response.request)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, body: httpx2.AsyncByteStream, request: httpx2.Request) -> None:
        self._body = body
        self._request = request

    async def aclose(self) -> None:
        await self._body.aclose()

    def _ensure(self, size: int) -> None:
        """Refuse so many bytes when they are too many."""
        if size > LONGEST_MESSAGE:
            raise httpx2.ReadError("too much", request=self._request)


class _Body(_Bounded):
    """A message that comes by itself."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole = bytearray()
        try:
            async for data in self._body:
                self._ensure(len(whole) + len(data))
                whole += data
        except httpx2.TransportError:
            whole.clear()  # what is no message is told to who waits; an error would end all that others have
        yield mend(bytes(whole))


class _Events(_Bounded):
    """A stream of events, in each of whose lines of data there is a message."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun = bytearray()
        async for data in self._body:
            at = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
            begun += data[:at] if at else data
            self._ensure(len(begun))
            if at:
                for line in bytes(begun).splitlines(keepends=True):
                    yield _mended_line(line)
                begun = bytearray(data[at:])
        yield bytes(begun)


def _mended_line(line: bytes) -> bytes:
    """Return a line of a stream with its data mended, and its end as it was."""
    if not line.startswith(_DATA):
        return line
    told = line.rstrip(b"\r\n")
    return _DATA + mend(told.removeprefix(_DATA)) + line[len(told) :]
