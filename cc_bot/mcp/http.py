"""The way to a server that is reached over HTTP: bounded, direct, and to that address alone."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Final

import httpx2
import structlog
from mcp.client.streamable_http import streamable_http_client
from mcp_types import RequestId

from cc_bot.in_order import Pace
from cc_bot.mcp.file import ServerEntry
from cc_bot.mcp.guard import LONGEST_MESSAGE, GuardedStream, Inflow, NotedSending
from cc_bot.mcp.messages import Flooded, MessageUnreadable, clean_message
from cc_bot.mcp.unanswered import Unanswered

_log = structlog.get_logger(__name__)

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
    "Failed to parse SSE message",
    "Unexpected content type",
    "server answered a request with 202 Accepted",
)
"""How the library begins where what came is no message."""
_TURNED_AWAY: Final = (401, 403, 429)
"""Without the right to come in, or too often (RFC 9110, 15.5; RFC 6585, 4): it may be tried again."""
_STREAM: Final = "text/event-stream"
_DATA: Final = b"data:"
_FIELDS: Final = (b"event:", b"id:", b"retry:")
_NO_MESSAGE_DATA: Final = b"-"
MAX_FIELD_BYTES: Final = 1000
MAX_EVENT_LINES: Final = 10_000
MIN_PIECE_BYTES: Final = 1000
"""A smaller piece counts as so many: each one costs time, however small."""
Spend = Callable[..., None]


class HttpWay:
    """A transport of the client: its streams are those of `async with`."""

    def __init__(self, entry: ServerEntry) -> None:
        self._entry = entry
        self._stack = AsyncExitStack()
        self.closed = asyncio.Event()
        """Set when nothing more comes from it."""
        self.unanswered = Unanswered()
        self._inflow = Inflow()
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
            event_hooks={"response": [self._bound]},
            transport=_Reaching(self),
            trust_env=False,
        )
        await self._stack.enter_async_context(client)
        streams = streamable_http_client(
            self._entry.url, http_client=client, max_sse_event_size=LONGEST_MESSAGE
        )
        incoming, outgoing = await self._stack.enter_async_context(streams)
        guarded = GuardedStream(incoming, self.closed, self.unanswered, server=self._entry.name)
        return guarded, NotedSending(outgoing, self.unanswered)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed.set()
        with suppress(TimeoutError):  # a server that does not answer keeps nobody here
            async with asyncio.timeout(GOODBYE_S):
                await self._stack.__aexit__(kind, error, trace)

    async def _bound(self, response: httpx2.Response) -> None:
        """Bound a response; one that is sent compressed although that was not asked for could unfold to
        anything, and a charset could be one that takes for ever."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("compressed", request=response.request)
        response.encoding = "utf-8"
        streamed = response.headers.get("content-type", "").partition(";")[0].strip().lower() == _STREAM
        if isinstance(response.stream, httpx2.AsyncByteStream):
            kind = _Events if streamed else _Body
            response.stream = kind(response.stream, response.request, self.spend)

    def spend(self, size: int, *, messages: int) -> None:
        """Count what came. Lets go of the server where that is too much, and raises Flooded."""
        try:
            self._inflow.spend(size, messages=messages)
        except Flooded:
            _log.warning("tool_server_let_go", server=self._entry.name, problem="too much at once")
            self.closed.set()
            raise


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


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, body: httpx2.AsyncByteStream, request: httpx2.Request, spend: Spend) -> None:
        self._body = body
        self._request = request
        self._spend = spend

    async def aclose(self) -> None:
        await self._body.aclose()

    async def _pieces(self) -> AsyncIterator[bytes]:
        """Yield what comes, and let others go on after each piece. Raises ReadError for too much."""
        async for data in self._body:
            self._count(max(len(data), MIN_PIECE_BYTES), messages=0)
            await asyncio.sleep(0)
            yield data

    def _count(self, size: int, *, messages: int) -> None:
        try:
            self._spend(size, messages=messages)
        except Flooded:
            raise httpx2.ReadError("too much", request=self._request) from None

    def _ensure(self, size: int, limit: int = LONGEST_MESSAGE) -> None:
        if size > limit:
            raise httpx2.ReadError("too much", request=self._request)


class _Body(_Bounded):
    """A message that comes by itself."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole = bytearray()
        try:
            async for data in self._pieces():
                self._ensure(len(whole) + len(data))
                whole += data
        except httpx2.TransportError:
            whole.clear()  # what is no message is told to who waits; an error would end all that others have
        message = b""
        with suppress(MessageUnreadable):
            message = await clean_message(bytes(whole))
        whole.clear()
        yield message


class _Events(_Bounded):
    """A stream of events, each with a message as its data. The library gets them in one line of data each."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun, after_return = bytearray(), False
        async for data in self._pieces():
            piece = data[1:] if after_return and data.startswith(b"\n") else data
            after_return = piece.endswith(b"\r")
            looked_at = max(0, len(begun) - 1)
            begun += piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            self._ensure(len(begun))
            if (end := begun.rfind(b"\n\n", looked_at)) >= 0:
                events = bytes(begun[:end]).split(b"\n\n")
                del begun[: end + 2]
                while events:  # what is large is let go of as it is passed on
                    self._count(0, messages=1)
                    others, message = self._split(events.pop(0))
                    yield others
                    if message:
                        yield _DATA
                        yield await _message_in(message.pop())
                    yield b"\n\n"

    def _split(self, event: bytes) -> tuple[bytes, list[bytes]]:
        """Return the lines of an event without its data, and the data, if any."""
        self._ensure(event.count(b"\n"), MAX_EVENT_LINES)
        lines = event.split(b"\n")
        others = [line + b"\n" for line in lines if line.startswith(_FIELDS) and len(line) <= MAX_FIELD_BYTES]
        data = [line.removeprefix(_DATA) for line in lines if line.startswith(_DATA)]
        return b"".join(others), [b"\n".join(data)] if data else []


async def _message_in(data: bytes) -> bytes:
    """Return the message in the data of an event, cleaned; what is none stays none."""
    try:
        return await clean_message(data) if data.strip() else b""
    except MessageUnreadable:
        return _NO_MESSAGE_DATA
