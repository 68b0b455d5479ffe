"""The TCP listener of the web pages, which limits connections and the cost of requests.

aiohttp's parser takes microseconds per chunk, pipelined request and WebSocket frame. A client can send tens
of thousands at once, so a request's end is found here first, and data beyond it ends the connection.
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
    """A port to listen on, and its settings, which errors name."""

    host: str
    number: int
    host_setting: str
    port_setting: str
    example: str  # a valid port number


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    max_connections: int
    """At most half of the process's file limit. Beyond it, a new connection replaces the one idle longest."""
    request_s: float  # from the connection or a later request's first byte to the end of the headers
    idle_s: float  # from a response to the next request
    send_s: float  # for the client to take about 48 KiB of a response


MAX_HEAD_BYTES: Final = 2**14
MAX_CONTENT_TYPE_BYTES: Final = 256  # aiohttp parses it to objects of fifty times its size
MAX_STREAM_BYTES: Final = 2**14  # at once, on a WebSocket: twice the longest message
STREAM_BYTES_PER_S: Final = 2**12  # a page needs less than a tenth
REQUESTS_PER_ITERATION: Final = 4  # started in one iteration of the event loop
MAX_LENGTH_DIGITS: Final = 15
_HEAD_END: Final = b"\r\n\r\n"
_VERSIONS: Final = (b" HTTP/1.1", b" HTTP/1.0")


@asynccontextmanager
async def bind_port(
    app: web.Application,
    port: Port,
    limits: ConnectionLimits,
    *,
    name: str,
    shutdown_s: float,
    headers: Mapping[str, str],
) -> AsyncIterator[asyncio.Server]:
    """`listen` accepts connections. `headers` are for responses to malformed requests. Raises PortTaken or
    InvalidSetting."""
    app.middlewares.insert(0, _refuse_compressed)
    logger = logging.getLogger(f"{name}.requests")
    logger.addFilter(_is_worth_logging)
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=logger,
        shutdown_timeout=shutdown_s,
        auto_decompress=False,
        lingering_time=0,
    )
    await runner.setup()
    loop, server, max_connections = asyncio.get_running_loop(), runner.server, _max_connections(limits)
    assert server is not None  # noqa: S101 - `setup` made it
    idle: dict[_Connection, None] = {}
    request_slots = asyncio.Semaphore(REQUESTS_PER_ITERATION)

    def connect() -> asyncio.Protocol:
        if len(server.connections) >= max_connections:
            if not idle:
                return _RefusedConnection()
            next(iter(idle)).abort()
        return _Connection(server, limits, headers, idle, request_slots, loop=loop, **server._kwargs)

    try:
        try:
            listener = await loop.create_server(connect, port.host, port.number, start_serving=False)
        except OSError as error:
            raise startup_error(error, port) from error
        try:
            yield listener
        finally:
            listener.close()
    finally:
        await runner.cleanup()


async def listen(reserved: asyncio.Server, port: Port) -> None:
    """Raises PortTaken."""
    try:
        await reserved.start_serving()
    except OSError as error:  # another program began to listen meanwhile
        raise startup_error(error, port) from error


def startup_error(error: OSError, port: Port) -> StartupError:
    match error.errno:
        case errno.EADDRINUSE:
            return PortTaken(host=port.host, port=port.number, setting=port.port_setting)
        case errno.EACCES:  # ports below 1024 need root
            return InvalidSetting(name=port.port_setting, expected=port.example)
        case _:
            return InvalidSetting(name=port.host_setting, expected="127.0.0.1 / 0.0.0.0")


def _is_worth_logging(record: logging.LogRecord) -> bool:  # unlike malformed requests
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


def _max_connections(limits: ConnectionLimits) -> int:
    if sys.platform == "win32":
        return limits.max_connections
    import resource  # noqa: PLC0415 - Windows has none

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = files == resource.RLIM_INFINITY
    return limits.max_connections if unlimited else min(limits.max_connections, files // 2)


@web.middleware
async def _refuse_compressed(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    if hdrs.CONTENT_ENCODING in request.headers:
        raise web.HTTPUnsupportedMediaType
    return await handler(request)


def _body_length(head: bytes) -> int | HTTPStatus:
    """Return the length of a body, or the status of a refusal. Stricter than RFC 9112, so that aiohttp can't
    find another end."""
    lines = head.removesuffix(_HEAD_END).split(b"\r\n")
    has_stray_break = bool({*b"\r\n"} & {*b"".join(lines)})
    if has_stray_break or not lines[0].endswith(_VERSIONS) or lines[0].startswith(b"CONNECT "):
        return HTTPStatus.BAD_REQUEST
    fields = [line.partition(b":") for line in lines[1:]]
    headers = [(name.strip().lower(), value.strip(b" \t")) for name, _, value in fields]
    names = {name for name, _ in headers}
    if b"transfer-encoding" in names:
        return HTTPStatus.LENGTH_REQUIRED
    lengths = [value for name, value in headers if name == b"content-length"]
    length = lengths[0] if lengths else b"0"
    types = [value for name, value in headers if name == b"content-type"]
    bad_length = len(lengths) > 1 or not length.isdigit() or len(length) > MAX_LENGTH_DIGITS
    if bad_length or any(len(value) > MAX_CONTENT_TYPE_BYTES for value in types):
        return HTTPStatus.BAD_REQUEST
    if int(length) and b"upgrade" in names:  # aiohttp would read the body as WebSocket frames
        return HTTPStatus.BAD_REQUEST
    return int(length)


class _Connection(web.RequestHandler):
    """Takes one request at a time, with deadlines. Responds to a malformed request without a body: aiohttp
    would quote the bad line, which may be a cookie."""

    def __init__(
        self,
        server: web.Server,
        limits: ConnectionLimits,
        headers: Mapping[str, str],
        idle: "dict[_Connection, None]",
        request_slots: asyncio.Semaphore,
        **options: Any,
    ) -> None:
        """`idle`: connections without a running request, longest first."""
        super().__init__(server, **options)
        self._limits = limits
        self._headers = headers
        self._idle = idle
        self._request_slots = request_slots
        self._state: Literal["arriving", "answering", "idle"] = "arriving"
        self._deadline: asyncio.TimerHandle | None = None
        self._socket: asyncio.Transport | None = None
        self._head = bytearray()
        self._body_left: int | None = None
        """Bytes of the body that have not arrived; None before the end of the head."""
        self._stream_bytes = 0.0
        self._stream_counted_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._socket = self.transport  # aiohttp drops `transport` before all is sent
        self._idle[self] = None
        self._set_deadline(self._limits.request_s)

    def data_received(self, data: bytes) -> None:
        if not data:  # aiohttp resumes with data that it held back
            super().data_received(data)
        elif self._payload_parser is not None:  # a WebSocket's
            self._receive_stream(data)
        elif self._body_left is None or (self._body_left == 0 and self._state == "idle"):
            self._receive_head(data)
        else:
            self._receive_body(data)

    def _receive_head(self, data: bytes) -> None:
        if self._state == "idle":
            self._state = "arriving"
            self._set_deadline(self._limits.request_s)
        searched = len(self._head)
        self._body_left = None
        self._head += data[:MAX_HEAD_BYTES]
        end = self._head.find(_HEAD_END, max(0, searched - len(_HEAD_END) + 1), MAX_HEAD_BYTES)
        if end < 0:
            if len(self._head) >= MAX_HEAD_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        end += len(_HEAD_END)
        head, self._head = bytes(self._head[:end]), bytearray()
        length = _body_length(head)
        if isinstance(length, HTTPStatus):
            self._refuse(length)
        else:
            self._body_left = length
            self._receive_body(data[end - searched :], head)

    def _receive_body(self, data: bytes, head: bytes = b"") -> None:
        self._body_left = (self._body_left or 0) - len(data)
        if self._body_left < 0:  # a pipelined request, or data before the upgrade
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
        headers = {**self._headers, "Content-Length": "0", "Connection": "close"}
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        if self._socket is not None:
            self._socket.write(f"HTTP/1.1 {status.value} {status.phrase}\r\n{fields}\r\n".encode())
            self._socket.close()

    def abort(self) -> None:
        self._idle.pop(self, None)
        if self._socket is not None:
            self._socket.abort()

    async def _handle_request(self, *request: Any) -> tuple[web.StreamResponse, bool]:
        self._state = "answering"
        self._idle.pop(self, None)
        self._set_deadline(None)
        try:
            await self._request_slots.acquire()
            self._loop.call_soon(self._request_slots.release)
            return await super()._handle_request(*request)
        finally:
            self._state = "idle"
            if self._socket is not None:
                self._idle[self] = None
            self._set_deadline(self._limits.idle_s)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._set_deadline(self._limits.send_s)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._set_deadline(None if self._state == "answering" else self._limits.idle_s)

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._set_deadline(None)
        self._idle.pop(self, None)
        self._socket = None

    def _set_deadline(self, seconds: float | None) -> None:
        """Replace the deadline, at which the connection is aborted. None: there is none."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None
        if seconds is not None and self._socket is not None:
            self._deadline = self._loop.call_later(seconds, self._socket.abort)

    def handle_error(self, *args: Any, **options: Any) -> web.StreamResponse:
        response = super().handle_error(*args, **options)
        if isinstance(response, web.Response):
            response.text = f"{response.status} {HTTPStatus(response.status).phrase}\n"
            response.content_type = "text/plain"
        response.headers.update(self._headers)
        return response


class _RefusedConnection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            transport.abort()
