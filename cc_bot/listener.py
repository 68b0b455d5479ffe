"""A port that is listened at, for metrics and for pages, by so many connections at a time."""

import asyncio
import errno
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

from aiohttp import web
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


def requests_logger(name: str) -> logging.Logger:
    """Return the logger for what aiohttp has to say of requests. Somebody who sends what is no request is
    told so, and nobody here has to do anything."""
    logger = logging.getLogger(f"{name}.requests")
    logger.addFilter(_is_no_malformed_request)
    return logger


def _is_no_malformed_request(record: logging.LogRecord) -> bool:
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


async def reserve(
    runner: web.AppRunner,
    port: Port,
    most: int,
    begin: Callable[[web.RequestHandler], object],
    headers: Mapping[str, str] = NO_HEADERS,
) -> asyncio.Server:
    """Take the port for a runner that is set up; nobody is let in before `listen`. `begin` is told of each
    connection. There are `most` at a time, and who comes beyond that is turned away. `headers` go with the
    answer to what is no request. Raises PortTaken or InvalidSetting."""
    loop, server = asyncio.get_running_loop(), runner.server
    if server is None:
        raise RuntimeError("the runner was not set up")

    def connection() -> asyncio.Protocol:
        if len(server.connections) >= most:
            return _RefusedConnection()
        handler = _Connection(server, headers, loop=loop, **server._kwargs)
        begin(handler)
        return handler

    try:
        return await loop.create_server(connection, port.host, port.number, start_serving=False)
    except OSError as error:
        raise startup_error(error, port) from error


async def listen(reserved: asyncio.Server, port: Port) -> None:
    """Let those in who come to a port. Raises PortTaken."""
    try:
        await reserved.start_serving()
    except OSError as error:  # two programs took it at once, and the other one was first to listen
        raise startup_error(error, port) from error


def end_connection(handler: web.RequestHandler) -> None:
    """End a connection that is still there; what has not been read is not waited for."""
    if handler.transport is not None:
        handler.transport.abort()


class _Connection(web.RequestHandler):
    """A connection on which whoever sends what is no request hears just that: aiohttp would quote the line
    that it stumbled over, which may be a cookie."""

    __slots__ = ("_headers",)

    def __init__(self, server: web.Server, headers: Mapping[str, str], **options: Any) -> None:
        super().__init__(server, **options)
        self._headers = headers

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
