"""TCP listeners, shared by pages and metrics: bounds on connections, and on what a request can cost.

The event loop is everybody's. No body is unpacked, none is read after its answer, and a connection ends when
a request does not arrive, or an answer is not taken, in time.
"""

import asyncio
import errno
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
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
    """At a time; more are refused. At most half of the files that the process may open."""
    request_s: float
    """From a new connection, or the first byte of a later request, to the end of the request's headers."""
    idle_s: float
    """From an answer to the first byte of the next request."""
    send_s: float
    """For the client to take the next 48 KiB or so of an answer."""


def _requests_logger(name: str) -> logging.Logger:
    """Return aiohttp's logger for requests, without records of malformed ones: their sender is told, and
    nobody here has to do anything."""
    logger = logging.getLogger(f"{name}.requests")
    logger.addFilter(_is_no_malformed_request)
    return logger


def _is_no_malformed_request(record: logging.LogRecord) -> bool:
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


@asynccontextmanager
async def reserve(
    app: web.Application,
    port: Port,
    limits: ConnectionLimits,
    *,
    name: str,
    shutdown_s: float,
    headers: Mapping[str, str] = NO_HEADERS,
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
    if server is None:
        raise RuntimeError("the runner was not set up")

    def connection() -> asyncio.Protocol:
        if len(server.connections) >= most:
            return _RefusedConnection()
        return _Connection(server, limits, headers, loop=loop, **server._kwargs)

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


class _Connection(web.RequestHandler):
    """A connection with deadlines. A malformed request is answered by its status alone: aiohttp would quote
    the line that it stumbled over, which may be a cookie."""

    __slots__ = ("_deadline", "_headers", "_limits", "_socket", "_state")

    def __init__(
        self, server: web.Server, limits: ConnectionLimits, headers: Mapping[str, str], **options: Any
    ) -> None:
        super().__init__(server, **options)
        self._limits = limits
        self._headers = headers
        self._state: Literal["arriving", "answering", "idle"] = "arriving"
        self._deadline: asyncio.TimerHandle | None = None
        self._socket: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._socket = self.transport  # which aiohttp forgets before all is sent
        self._abort_in(self._limits.request_s)

    def data_received(self, data: bytes) -> None:
        if data and self._state == "idle":
            self._state = "arriving"
            self._abort_in(self._limits.request_s)
        super().data_received(data)

    async def _handle_request(self, *request: Any) -> tuple[web.StreamResponse, bool]:
        self._state = "answering"
        self._abort_in(None)
        try:
            return await super()._handle_request(*request)
        finally:
            self._state = "idle"
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
