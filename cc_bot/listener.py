"""The TCP listener of the pages: bounds on connections, and on what a request can cost.

The event loop is everybody's. No body is unpacked, none is read after its answer, and a connection ends when
a request does not arrive, or an answer is not taken, in time. A request's end is found here, before aiohttp
sees a byte of it: its parser spends microseconds on each chunk, pipelined request and WebSocket frame, of
which a client sends tens of thousands in one read.
"""

import asyncio
import errno
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Literal

from aiohttp import hdrs, web
from aiohttp.http_exceptions import HttpProcessingError

from cc_bot.domain.errors import InvalidSetting, PortTaken, StartupError


@dataclass(frozen=True, slots=True)
class Port:
    """A host and a port, and what the operator calls them."""

    host: str
    number: int
    host_setting: str
    port_setting: str
    example: str
    """Of a number that would do."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Bounds of one listener."""

    max_connections: int
    """At a time, and at most half of the files that the process may open. One more takes the slot of the
    connection that has waited longest for a request; it is refused if all are being answered."""
    request_s: float
    """From a new connection, or the first byte of a later request, to the end of the request's headers."""
    idle_s: float
    """From an answer to the first byte of the next request."""
    send_s: float
    """For the client to take the next 48 KiB or so of an answer."""


MAX_HEAD_BYTES: Final = 2**14
"""The request line and all headers of a request."""
MAX_TYPE_BYTES: Final = 256
"""A `Content-Type`: each of its parameters would become objects that take fifty times its bytes."""
MAX_STREAM_BYTES: Final = 2**14
"""What a client may send at once over a WebSocket: the longest message twice."""
STREAM_BYTES_PER_S: Final = 2**12
"""What a client may go on sending over a WebSocket. A page sends less than a tenth of it."""
REQUESTS_PER_LOOP: Final = 4
"""Requests of a listener that begin to be answered in one round of the event loop."""
MAX_LENGTH_DIGITS: Final = 15
_HEAD_END: Final = b"\r\n\r\n"
_VERSIONS: Final = (b" HTTP/1.1", b" HTTP/1.0")


def _requests_logger(name: str) -> logging.Logger:
    """Return aiohttp's logger for requests, without records of malformed ones: their sender is told, and
    nobody here has to do anything."""
    logger = logging.getLogger(f"{name}.requests")
    logger.addFilter(_is_no_malformed_request)
    return logger


def _is_no_malformed_request(record: logging.LogRecord) -> bool:
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


@asynccontextmanager
async def reserve(
    app: web.Application,
    port: Port,
    limits: ConnectionLimits,
    *,
    name: str,
    shutdown_s: float,
    headers: Mapping[str, str],
) -> AsyncIterator[asyncio.Server]:
    """Take the port for an app until left; no connection is accepted before `listen`. `headers` go with the
    answer to a malformed request. Raises PortTaken or InvalidSetting."""
    app.middlewares.insert(0, _refuse_packed)
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=_requests_logger(name),
        shutdown_timeout=shutdown_s,
        auto_decompress=False,
        lingering_time=0,
    )
    await runner.setup()
    try:
        listener = await _bind(runner, port, limits, headers)
        try:
            yield listener
        finally:
            listener.close()
    finally:
        await runner.cleanup()


async def _bind(
    runner: web.AppRunner, port: Port, limits: ConnectionLimits, headers: Mapping[str, str]
) -> asyncio.Server:
    loop, server, most = asyncio.get_running_loop(), runner.server, _max_connections(limits)
    waiting: dict[_Connection, None] = {}
    turns = asyncio.Semaphore(REQUESTS_PER_LOOP)
    if server is None:
        raise RuntimeError("the runner was not set up")

    def connection() -> asyncio.Protocol:
        if len(server.connections) >= most:
            if not waiting:
                return _RefusedConnection()
            next(iter(waiting)).abort()
        return _Connection(server, limits, headers, waiting, turns, loop=loop, **server._kwargs)

    try:
        return await loop.create_server(connection, port.host, port.number, start_serving=False)
    except OSError as error:
        raise startup_error(error, port) from error


def _max_connections(limits: ConnectionLimits) -> int:
    if sys.platform == "win32":
        return limits.max_connections
    import resource  # noqa: PLC0415 - Windows has none

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = files == resource.RLIM_INFINITY
    return limits.max_connections if unlimited else min(limits.max_connections, files // 2)


@web.middleware
async def _refuse_packed(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    if hdrs.CONTENT_ENCODING in request.headers:
        raise web.HTTPUnsupportedMediaType
    return await handler(request)


async def listen(reserved: asyncio.Server, port: Port) -> None:
    """Let those in who come to a port. Raises PortTaken."""
    try:
        await reserved.start_serving()
    except OSError as error:  # two programs took it at once, and the other one was first to listen
        raise startup_error(error, port) from error


class _RefusedRequest(Exception):
    """A request whose end only a parser of HTTP would find."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status)
        self.status = status


def _body_length(head: bytes) -> int:
    """Return how many bytes of body follow a request's head. Raises _RefusedRequest.

    Stricter than RFC 9112, so that aiohttp finds the same end: no chunks, no CONNECT, no HTTP/0.9, and each
    line ends in CR LF."""
    lines = head.removesuffix(_HEAD_END).split(b"\r\n")
    stray = {*b"\r\n"} & {*b"".join(lines)}
    if stray or not lines[0].endswith(_VERSIONS) or lines[0].startswith(b"CONNECT "):
        raise _RefusedRequest(HTTPStatus.BAD_REQUEST)
    split = [line.partition(b":") for line in lines[1:]]
    headers = [(name.strip().lower(), value.strip(b" \t")) for name, _, value in split]
    names = {name for name, _ in headers}
    if b"transfer-encoding" in names:
        raise _RefusedRequest(HTTPStatus.LENGTH_REQUIRED)
    if any(len(value) > MAX_TYPE_BYTES for name, value in headers if name == b"content-type"):
        raise _RefusedRequest(HTTPStatus.BAD_REQUEST)
    lengths = [value for name, value in headers if name == b"content-length"]
    length = lengths[0] if lengths else b"0"
    if len(lengths) > 1 or not length.isdigit() or len(length) > MAX_LENGTH_DIGITS:
        raise _RefusedRequest(HTTPStatus.BAD_REQUEST)
    if int(length) and b"upgrade" in names:  # its body would be taken for what follows the upgrade
        raise _RefusedRequest(HTTPStatus.BAD_REQUEST)
    return int(length)


class _Connection(web.RequestHandler):
    """A connection with deadlines, which carries one request at a time. A malformed request is answered by
    its status alone: aiohttp would quote the line that it stumbled over, which may be a cookie."""

    __slots__ = (
        "_body_left",
        "_deadline",
        "_head",
        "_headers",
        "_limits",
        "_socket",
        "_state",
        "_stream_bytes",
        "_stream_counted_s",
        "_turns",
        "_waiting",
    )

    def __init__(
        self,
        server: web.Server,
        limits: ConnectionLimits,
        headers: Mapping[str, str],
        waiting: "dict[_Connection, None]",
        turns: asyncio.Semaphore,
        **options: Any,
    ) -> None:
        super().__init__(server, **options)
        self._limits = limits
        self._headers = headers
        self._waiting = waiting
        """Connections without a request, in the order in which they began to wait for one."""
        self._turns = turns
        """Each request takes one until the event loop has gone round once."""
        self._state: Literal["arriving", "answering", "idle"] = "arriving"
        self._deadline: asyncio.TimerHandle | None = None
        self._socket: asyncio.Transport | None = None
        self._head = bytearray()
        """What has come of the next request's head."""
        self._body_left: int | None = None
        """Bytes of the request's body that have not come. None: its head has not."""
        self._stream_bytes = 0.0
        self._stream_counted_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._socket = self.transport  # which aiohttp forgets before all is sent
        self._waiting[self] = None
        self._abort_in(self._limits.request_s)

    def data_received(self, data: bytes) -> None:
        if not data:  # aiohttp goes on with what it held back
            super().data_received(data)
        elif self._payload_parser is not None:
            self._receive_stream(data)
        elif self._body_left is None or (self._body_left == 0 and self._state == "idle"):
            self._receive_head(data)
        else:
            self._receive_body(data)

    def _receive_head(self, data: bytes) -> None:
        if self._state == "idle":
            self._state = "arriving"
            self._abort_in(self._limits.request_s)
        before = len(self._head)
        self._body_left = None
        self._head += data[:MAX_HEAD_BYTES]
        end = self._head.find(_HEAD_END, max(0, before - len(_HEAD_END) + 1), MAX_HEAD_BYTES)
        if end < 0:
            if len(self._head) >= MAX_HEAD_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        end += len(_HEAD_END)
        head, self._head = bytes(self._head[:end]), bytearray()
        try:
            self._body_left = _body_length(head)
        except _RefusedRequest as refused:
            self._refuse(refused.status)
        else:
            self._receive_body(data[end - before :], head)

    def _receive_body(self, data: bytes, head: bytes = b"") -> None:
        self._body_left = (self._body_left or 0) - len(data)
        if self._body_left < 0:  # a request before the answer to this one, or a stream before it is upgraded
            self.abort()
        else:
            super().data_received(head + data)

    def _receive_stream(self, data: bytes) -> None:
        now = self._loop.time()
        drained = (now - self._stream_counted_s) * STREAM_BYTES_PER_S
        self._stream_bytes = max(0.0, self._stream_bytes - drained) + len(data)
        self._stream_counted_s = now
        if self._stream_bytes > MAX_STREAM_BYTES:
            self.abort()
        else:
            super().data_received(data)

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer a request that aiohttp does not see, and end the connection."""
        headers = {**self._headers, "Content-Length": "0", "Connection": "close"}
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        if self._socket is not None:
            self._socket.write(f"HTTP/1.1 {status.value} {status.phrase}\r\n{fields}\r\n".encode())
            self._socket.close()

    def abort(self) -> None:
        """End the connection at once."""
        self._waiting.pop(self, None)
        if self._socket is not None:
            self._socket.abort()

    async def _handle_request(self, *request: Any) -> tuple[web.StreamResponse, bool]:
        self._state = "answering"
        self._waiting.pop(self, None)
        self._abort_in(None)
        try:
            await self._turns.acquire()
            self._loop.call_soon(self._turns.release)
            return await super()._handle_request(*request)
        finally:
            self._state = "idle"
            if self._socket is not None:
                self._waiting[self] = None
            self._abort_in(self._limits.idle_s)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._abort_in(self._limits.send_s)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._abort_in(None if self._state == "answering" else self._limits.idle_s)

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._abort_in(None)
        self._waiting.pop(self, None)
        self._socket = None

    def _abort_in(self, seconds: float | None) -> None:
        """Set the connection's one deadline. None: it has none for now."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None
        if seconds is not None and self._socket is not None:
            self._deadline = self._loop.call_later(seconds, self._socket.abort)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        answer = super().handle_error(request, status, exc, message)
        if isinstance(answer, web.Response):
            answer.text = f"{status} {HTTPStatus(status).phrase}\n"
            answer.content_type = "text/plain"
        answer.headers.update(self._headers)
        return answer


class _RefusedConnection(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            transport.abort()


def startup_error(error: OSError, port: Port) -> StartupError:
    """Return the error for the operator when nothing can be served there."""
    match error.errno:
        case errno.EADDRINUSE:
            return PortTaken(host=port.host, port=port.number, setting=port.port_setting)
        case errno.EACCES:  # those below 1024 are for root
            return InvalidSetting(name=port.port_setting, expected=port.example)
        case _:
            return InvalidSetting(name=port.host_setting, expected="127.0.0.1 / 0.0.0.0")
