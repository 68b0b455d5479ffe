"""A listener's bounds, over real sockets and with deadlines of parts of a second."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import aiohttp
import pytest
from aiohttp import web

from cc_bot.listener import MAX_HEAD_BYTES, MAX_STREAM_BYTES, ConnectionLimits, Port, bind_port, listen

SHORT: Final = ConnectionLimits(max_connections=1000, request_s=0.3, idle_s=0.3, send_s=0.3)
PATIENT: Final = ConnectionLimits(max_connections=1000, request_s=60, idle_s=60, send_s=60)
LARGE: Final = bytes(32 * 2**20)
"""More than the buffers of any socket."""
HEADERS: Final = {"X-Ours": "yes"}
GET: Final = b"GET / HTTP/1.1\r\nHost: x\r\n"
WITHIN_S: Final = 60
"""A bound against hanging."""


async def answer(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def answer_much(_: web.Request) -> web.Response:
    return web.Response(body=LARGE)


async def count_body(request: web.Request) -> web.Response:
    return web.Response(text=f"{len(await request.read())} bytes")


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
    app.add_routes([web.get("/socket", echo), web.post("/count", count_body)])
    port = Port("127.0.0.1", 0, "HOST", "PORT", "8080")
    async with bind_port(app, port, limits, name=__name__, shutdown_s=0.1, headers=HEADERS) as server:
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


@asynccontextmanager
async def streaming(port: int) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    async with (
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as client,
        client.ws_connect("/socket") as stream,
    ):
        yield stream


async def trickle(writer: asyncio.StreamWriter, more: bytes) -> None:
    with suppress(ConnectionError):
        while True:
            writer.write(more)
            await writer.drain()
            await asyncio.sleep(0.05)


class TestARequest:
    async def test_that_trickles_or_does_not_come_ends_its_connection(self) -> None:
        limits = ConnectionLimits(max_connections=10, request_s=0.3, idle_s=60, send_s=60)
        for whole in (0, 2):
            async with listener(limits) as port, connected(port) as (reader, writer):
                for _ in range(whole):
                    writer.write(GET + b"\r\n")
                    assert b"200 OK" in await reader.readuntil(b"ok")
                writer.write(GET + b"X: ")
                trickling = asyncio.create_task(trickle(writer, b"x"))
                assert b" 200 " not in await read_all(reader)
                trickling.cancel()
        async with listener(SHORT) as port:
            assert b"200 OK" in await answers(port, GET + b"\r\n")

    async def test_may_come_long_after_the_one_before(self) -> None:
        limits = ConnectionLimits(max_connections=10, request_s=0.1, idle_s=60, send_s=60)
        async with listener(limits) as port, connected(port) as (reader, writer):
            writer.write(GET + b"\r\n")
            await reader.readuntil(b"ok")
            assert await answers(port) == b""  # which takes as long as a request may
            writer.write(GET + b"\r\n")
            assert b"200 OK" in await reader.readuntil(b"ok")


def posting(*lengths: str) -> bytes:
    return "".join(["POST /count HTTP/1.1\r\nHost: x\r\n", *lengths, "\r\n"]).encode()


async def answers(port: int, *sent: bytes) -> bytes:
    """All that the listener sends on a connection that goes on sending these."""
    async with connected(port) as (reader, writer):
        for each in sent:
            writer.write(each)
        return await read_all(reader)


AFTER_ALL_IDS: Final = {
    "chunks": (411, posting("Transfer-Encoding: chunked\r\n") + b"1\r\na\r\n" * 1000),
    "chunks of a GET": (411, GET + b"transfer-encoding : gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
    "two lengths": (400, posting("Content-Length: 1\r\n", "Content-Length: 1\r\n") + b"a"),
    "a negative length": (400, posting("Content-Length: -1\r\n")),
    "a length with a sign": (400, posting("Content-Length: +1\r\n") + b"a"),
    "an empty line first": (400, b"\r\n\r\n" + GET + b"\r\n"),
    "a request within a head": (400, GET.replace(b"\r", b"") + b"\n" + GET + b"\r\n"),
    "carriage returns alone": (400, GET + b"X: y\rContent-Length: 1\r\n\r\na"),
    "a long type": (
        400,
        posting("Content-Length: 1\r\n", "Content-Type: a/b; " + "x=y; " * 60 + "\r\n") + b"a",
    ),
    "CONNECT": (400, b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n"),
    "an upgrade with a body": (400, GET + b"Upgrade: websocket\r\nContent-Length: 1\r\n\r\na"),
}


class TestTheEndOfARequest:
    async def test_that_only_a_parser_would_find_is_refused(self) -> None:
        wanted = {b"X-Ours: yes", b"Connection: close", b"Content-Length: 0"}
        async with listener(PATIENT) as port:
            for name, (status, sent) in AFTER_ALL_IDS.items():
                head, _, body = (await answers(port, sent)).partition(b"\r\n\r\n")
                assert head.startswith(f"HTTP/1.1 {status} ".encode()), name
                assert (wanted - {*head.split(b"\r\n")}, body) == (set(), b""), name

    async def test_is_found_in_a_large_body_and_byte_by_byte(self) -> None:
        sent = posting("Content-Length: 3\r\n") + b"abc"
        async with listener(PATIENT) as port, connected(port) as (reader, writer):
            writer.write(posting("Content-Length: 900000\r\n") + bytes(900_000))
            assert b"200 OK" in await reader.readuntil(b"900000 bytes")
            for _ in range(2):
                for number in range(len(sent)):
                    writer.write(sent[number : number + 1])
                    await writer.drain()
                    await asyncio.sleep(0)
                assert b"200 OK" in await reader.readuntil(b"3 bytes")

    async def test_has_to_come_within_a_bound(self) -> None:
        fields = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 1000) for number in range(20))
        async with listener(PATIENT) as port:
            within = fields[: MAX_HEAD_BYTES - 1000]
            assert b"200 OK" in await answers(port, GET, b"Connection: close\r\n", within, b"\r\n\r\n")
            beyond = fields[: MAX_HEAD_BYTES - len(GET)]
            assert (await answers(port, GET, beyond)).startswith(b"HTTP/1.1 431 ")

    async def test_is_not_followed_by_the_next_before_the_answer(self) -> None:
        much, body = GET.replace(b"/", b"/much", 1) + b"\r\n", posting("Content-Length: 1\r\n") + b"a"
        async with listener(PATIENT) as port:
            for first in (GET + b"\r\n", much, body):
                assert await answers(port, first + (GET + b"\r\n") * 1000) == b""


HANDSHAKE: Final = (
    b"GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
EMPTY_PING: Final = b"\x89\x80\0\0\0\0"
EMPTY_PONG: Final = b"\x8a\x80\0\0\0\0"
FIRST_PIECE: Final = b"\x01\x80\0\0\0\0"
EMPTY_PIECE: Final = b"\0\x80\0\0\0\0"


class TestAStream:
    async def test_of_too_much_ends_its_connection(self) -> None:
        async with listener(PATIENT) as port:
            for frame in (EMPTY_PING, EMPTY_PONG, EMPTY_PIECE):
                async with connected(port) as (reader, writer):
                    writer.write(HANDSHAKE)
                    assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
                    writer.write(FIRST_PIECE)
                    writer.write(frame * (MAX_STREAM_BYTES // len(frame) + 1))
                    assert len(await read_all(reader)) <= MAX_STREAM_BYTES
            assert await answers(port, HANDSHAKE + EMPTY_PING) == b"", "before it is upgraded"

    async def test_has_room_for_long_messages_and_may_go_on_and_on(self) -> None:
        async with listener(SHORT) as port, streaming(port) as stream:
            for _ in range(2):
                await stream.send_str("x" * 4096)
                assert await stream.receive_str() == "x" * 4096
                assert await answers(port) == b""  # which takes as long as anything may


class TestAnAnswer:
    @pytest.mark.parametrize("more", [b"", b"Connection: close\r\n"])
    async def test_that_is_not_taken_ends_its_connection(self, more: bytes) -> None:
        async with listener(SHORT) as port, connected(port, limit=1) as (reader, writer):
            writer.write(GET.replace(b"/", b"/much", 1) + more + b"\r\n")
            async with connected(port) as (other, _):
                assert await read_all(other) == b""  # likewise
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                await reader.readexactly(len(LARGE))


class TestABody:
    async def test_that_was_not_read_ends_its_connection_with_the_answer(self) -> None:
        async with listener(PATIENT) as port, connected(port) as (reader, writer):
            writer.write(GET + b"Content-Length: 1000000\r\n\r\nx")
            assert b"200 OK" in await read_all(reader)


class TestConnections:
    async def test_beyond_their_number_take_the_location_of_the_one_that_waited_longest(self) -> None:
        limits = ConnectionLimits(max_connections=2, request_s=60, idle_s=60, send_s=60)
        async with listener(limits) as port, connected(port) as first, connected(port) as second:
            for reader, writer in (first, second, first):
                writer.write(GET + b"\r\n")
                await reader.readuntil(b"ok")
            async with connected(port) as third:
                assert await read_all(second[0]) == b""
                for reader, writer in (third, first):
                    writer.write(GET + b"\r\n")
                    assert b"200 OK" in await reader.readuntil(b"ok")
