"""A listener's bounds, over real sockets and with deadlines of parts of a second."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Final

import aiohttp
import pytest
from aiohttp import web

from cc_bot.listener import ConnectionLimits, Port, listen, reserve

SHORT: Final = ConnectionLimits(max_connections=1000, request_s=0.3, idle_s=0.3, send_s=0.3)
PATIENT: Final = ConnectionLimits(max_connections=1000, request_s=60, idle_s=60, send_s=60)
LARGE: Final = bytes(32 * 2**20)
"""More than the buffers of any socket."""
GET: Final = b"GET / HTTP/1.1\r\nHost: x\r\n"
WITHIN_S: Final = 20


async def answer(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def answer_much(_: web.Request) -> web.Response:
    return web.Response(body=LARGE)


async def echo(request: web.Request) -> web.WebSocketResponse:
    connection = web.WebSocketResponse()
    await connection.prepare(request)
    async for message in connection:
        await connection.send_str(message.data)
    return connection


@asynccontextmanager
async def listener(limits: ConnectionLimits) -> AsyncIterator[int]:
    """Serve a small app until left; yields its port."""
    app = web.Application()
    app.add_routes([web.get("/", answer), web.post("/", answer), web.get("/much", answer_much)])
    app.add_routes([web.get("/socket", echo)])
    port = Port("127.0.0.1", 0, "HOST", "PORT", "8080")
    async with reserve(app, port, limits, name=__name__, shutdown_s=0.1) as server:
        await listen(server, port)
        yield int(server.sockets[0].getsockname()[1])


@asynccontextmanager
async def connected(
    port: int, limit: int = 2**16
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=limit)
    try:
        async with asyncio.timeout(WITHIN_S):
            yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def read_all(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the listener ends the connection."""
    received = b""
    with suppress(ConnectionError):
        while piece := await reader.read(65536):
            received += piece
    return received


async def trickle(writer: asyncio.StreamWriter, more: bytes) -> None:
    with suppress(ConnectionError):
        while True:
            writer.write(more)
            await writer.drain()
            await asyncio.sleep(0.05)


class TestARequest:
    @pytest.mark.parametrize("whole", [0, 1, 2], ids=["the first", "the second", "the third"])
    async def test_that_trickles_ends_its_connection(self, whole: int) -> None:
        limits = ConnectionLimits(max_connections=10, request_s=0.3, idle_s=60, send_s=60)
        async with listener(limits) as port, connected(port) as (reader, writer):
            for _ in range(whole):
                writer.write(GET + b"\r\n")
                assert b"200 OK" in await reader.readuntil(b"ok")
            writer.write(GET + b"X: ")
            trickling = asyncio.create_task(trickle(writer, b"x"))
            assert b" 200 " not in await read_all(reader)
            trickling.cancel()

    async def test_that_does_not_come_ends_its_connection(self) -> None:
        async with listener(SHORT) as port, connected(port) as (reader, writer):
            writer.write(GET + b"\r\n")
            assert b"200 OK" in await read_all(reader)

    async def test_may_come_long_after_the_one_before(self) -> None:
        limits = ConnectionLimits(max_connections=10, request_s=0.1, idle_s=60, send_s=60)
        async with listener(limits) as port, connected(port) as (reader, writer), connected(port) as silent:
            writer.write(GET + b"\r\n")
            await reader.readuntil(b"ok")
            assert await read_all(silent[0]) == b""  # which takes as long as a request may
            writer.write(GET + b"\r\n")
            assert b"200 OK" in await reader.readuntil(b"ok")


class TestAnAnswer:
    @pytest.mark.parametrize("more", [b"", b"Connection: close\r\n"])
    async def test_that_is_not_taken_ends_its_connection(self, more: bytes) -> None:
        async with listener(SHORT) as port, connected(port, limit=1) as (reader, writer):
            writer.write(GET.replace(b"/", b"/much", 1) + more + b"\r\n")
            async with connected(port) as (other, _):
                assert await read_all(other) == b""  # likewise
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await reader.readexactly(len(LARGE))

    async def test_that_goes_on_and_on_may(self) -> None:
        async with (
            listener(SHORT) as port,
            aiohttp.ClientSession(f"http://127.0.0.1:{port}") as client,
            client.ws_connect("/socket") as stream,
            connected(port) as (other, _),
        ):
            assert await read_all(other) == b""
            await stream.send_str("まだ")
            assert await stream.receive_str() == "まだ"


class TestABody:
    @pytest.mark.parametrize("encoding", ["gzip", "zstd", "identity"])
    @pytest.mark.parametrize("method", [b"GET", b"POST"])
    async def test_that_is_packed_is_refused(self, method: bytes, encoding: str) -> None:
        head = GET.replace(b"GET", method) + f"Content-Encoding: {encoding}\r\n".encode()
        async with listener(PATIENT) as port, connected(port) as (reader, writer):
            writer.write(head + b"Content-Length: 1000000\r\n\r\n")
            assert b" 415 " in (await read_all(reader)).splitlines()[0]

    async def test_that_was_not_read_ends_its_connection_with_the_answer(self) -> None:
        async with listener(PATIENT) as port, connected(port) as (reader, writer):
            async with asyncio.timeout(5):  # aiohttp would read on for ten seconds
                writer.write(GET + b"Content-Length: 1000000\r\n\r\nx")
                assert b"200 OK" in await read_all(reader)


class TestConnections:
    async def test_are_no_more_than_half_of_the_files_that_may_be_open(self) -> None:
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        with socket.socket() as highest:
            files = max(highest.fileno() + 50, 100)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, limits[1]))
        try:
            serving = AsyncExitStack()
            port = await serving.enter_async_context(listener(PATIENT))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        async with serving, AsyncExitStack() as held:
            for _ in range(files // 2):
                reader, writer = await held.enter_async_context(connected(port))
                writer.write(GET + b"\r\n")
                await reader.readuntil(b"ok")
            async with connected(port) as (reader, _):
                assert await read_all(reader) == b""
