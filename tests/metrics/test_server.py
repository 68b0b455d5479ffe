"""/healthz and /metrics, asked over real sockets."""

import asyncio
import errno
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from math import nan
from typing import Any

import aiohttp
import pytest

from cc_bot.domain.errors import InvalidSetting, PortTaken, StorageError
from cc_bot.domain.measures import GatewayHealth
from cc_bot.listener import Port, startup_error
from cc_bot.metrics import (
    MOST_CONNECTIONS,
    PATIENCE_S,
    ROOM_BYTES,
    PrometheusMeter,
    Vitals,
    serve,
)


@dataclass
class Busy:
    running: int = 2
    waiting: int = 3


@dataclass
class Watched:
    """A database and a disk that are as a test wants them."""

    broken: bool = False
    free_bytes: int = ROOM_BYTES
    held: asyncio.Event | None = None
    looks: int = 0
    pulse: GatewayHealth = field(default_factory=GatewayHealth)

    async def check_writable(self) -> None:
        self.looks += 1
        if self.broken:
            raise StorageError
        if self.held:
            await self.held.wait()

    async def open_sessions(self) -> int:
        return 7

    async def size_bytes(self) -> int:
        if self.broken:
            raise StorageError
        return 4096

    def backed_up(self) -> float | None:
        if self.free_bytes < 0:
            raise OSError
        return 1_795_000_000.0

    def free(self) -> int:
        if self.free_bytes < 0:
            raise OSError
        return self.free_bytes


@dataclass
class Served:
    watched: Watched
    meter: PrometheusMeter
    client: aiohttp.ClientSession
    url: str

    async def get(self, path: str) -> tuple[int, str]:
        async with self.client.get(self.url + path) as response:
            return response.status, await response.text()

    async def health(self) -> tuple[int, Any]:
        async with self.client.get(self.url + "/healthz") as response:
            return response.status, await response.json()


@asynccontextmanager
async def served(watched: Watched, patience_s: float = PATIENCE_S) -> AsyncIterator[Served]:
    meter = PrometheusMeter("1.2.3")
    vitals = Vitals(watched.pulse, watched, Busy, watched.free, watched.backed_up, patience_s=0.05)
    async with (
        serve("127.0.0.1", 0, meter, vitals, patience_s=patience_s) as port,
        aiohttp.ClientSession() as client,
    ):
        yield Served(watched, meter, client, f"http://127.0.0.1:{port}")


@pytest.fixture
async def program() -> AsyncIterator[Served]:
    watched = Watched()
    watched.pulse.begin(lambda: 0.05)
    async with served(watched) as program:
        yield program


class TestHealth:
    async def test_is_ok_while_connected_and_writable_and_else_tells_all_that_is_wrong(
        self, program: Served
    ) -> None:
        watched, room, broken = program.watched, ROOM_BYTES, {"database": "unusable"}
        assert await program.health() == (200, {"status": "ok", "problems": {}})
        watched.pulse.begin(lambda: nan)  # before the first heartbeat
        assert (await program.health())[0] == 200
        for watched.broken, watched.free_bytes, problems in (
            (True, room, broken),
            (False, room - 1, {"database": "no_room"}),  # before anything fails
            (False, -1, broken),
        ):
            status, told = await program.health()
            assert (status, told["problems"]) == (503, problems)
        watched.pulse.begin(lambda: None)
        assert (await program.health())[1]["problems"] == {"gateway": "disconnected", **broken}
        watched.free_bytes = room
        watched.pulse.end()  # before the bot is there, and when it leaves
        status, told = await program.health()
        assert (status, [*told["problems"]]) == (503, ["gateway"])

    async def test_asks_a_held_database_once_at_a_time(self, program: Served) -> None:
        held = program.watched.held = asyncio.Event()
        for _ in range(2):
            assert (await program.health())[1]["problems"] == {"database": "locked"}
        assert program.watched.looks == 1
        held.set()
        assert (await program.health())[0] == 200


class TestMetrics:
    async def test_tell_what_was_counted_and_what_is_anew_for_each_scrape(self, program: Served) -> None:
        program.meter.record_failure("ModelUnavailable")
        status, text = await program.get("/metrics")
        assert status == 200
        assert {
            'cc_bot_errors_total{kind="ModelUnavailable"} 1.0',
            "cc_bot_turns_running 2.0",
            "cc_bot_turns_waiting 3.0",
            "cc_bot_sessions 7.0",
            "cc_bot_database_bytes 4096.0",
            "cc_bot_database_writable 1.0",
            "cc_bot_disk_free_bytes 1.6777216e+07",
            "cc_bot_last_backup_timestamp_seconds 1.795e+09",
            "cc_bot_gateway_connected 1.0",
            "cc_bot_gateway_latency_seconds 0.05",
        } - {*text.splitlines()} == set()
        program.watched.pulse.begin(lambda: 0.5)
        assert "cc_bot_gateway_latency_seconds 0.5" in (await program.get("/metrics"))[1]

    async def test_leave_out_what_cannot_be_told(self, program: Served) -> None:
        program.watched.broken = True
        program.watched.free_bytes = -1
        program.watched.pulse.end()
        status, text = await program.get("/metrics")
        assert status == 200
        assert "cc_bot_database_writable 0.0" in text
        assert "cc_bot_gateway_connected 0.0" in text
        for name in (
            "sessions",
            "disk_free_bytes",
            "last_backup_timestamp_seconds",
            "gateway_latency_seconds",
        ):
            assert f"cc_bot_{name} " not in text


GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
BODY = b"POST /healthz HTTP/1.1\r\nHost: x\r\n"
WHOLE = (
    GET + b"\r\n",
    BODY + b"Content-Length: 1000000000\r\n\r\n",  # which never comes
    BODY + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",  # without end
)


@asynccontextmanager
async def opened(program: Served) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(program.url.rpartition(":")[2]))
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def rest_of(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the server closes, one way or the other."""
    data = b""
    with suppress(ConnectionError):
        while piece := await reader.read(65536):
            data += piece
    return data


class TestAConnection:
    """Its bounds are those of every listener, and tested there."""

    async def test_is_for_one_answer(self, program: Served) -> None:
        for whole in WHOLE:
            async with asyncio.timeout(5), opened(program) as (reader, writer):  # and not PATIENCE_S
                writer.write(whole)
                assert (await rest_of(reader)).count(b"HTTP/1.1 ") == 1

    async def test_is_served_beside_many_that_ask_for_nothing(self, program: Served) -> None:
        async with asyncio.timeout(5), AsyncExitStack() as stack:  # and not PATIENCE_S
            for _ in range(2 * MOST_CONNECTIONS):
                _, writer = await stack.enter_async_context(opened(program))
                writer.write(GET)
            assert (await program.health())[0] == 200

    async def test_whose_request_does_not_come_is_closed(self) -> None:
        async with served(Watched(), patience_s=0.3) as program, opened(program) as (reader, writer):
            writer.write(GET)
            async with asyncio.timeout(60):
                assert b"200 OK" not in await rest_of(reader)


class TestServing:
    async def test_offers_nothing_else(self, program: Served) -> None:
        for path in ("/", "/metrics/../healthz2", "/admin"):
            assert (await program.get(path))[0] == 404

    async def test_refuses_a_port_that_somebody_has_and_a_host_that_is_not_here(
        self, program: Served
    ) -> None:
        port = int(program.url.rpartition(":")[2])
        vitals = Vitals(GatewayHealth(), Watched(), Busy, lambda: ROOM_BYTES, lambda: None)
        with pytest.raises(PortTaken) as taken:
            async with serve("127.0.0.1", port, PrometheusMeter("0"), vitals):
                pass
        setting = "CC_BOT_METRICS_PORT"
        assert taken.value.params == {"host": "127.0.0.1", "port": port, "setting": setting}
        with pytest.raises(InvalidSetting):
            async with serve("192.0.2.1", 0, PrometheusMeter("0"), vitals):
                pass
        of_root = Port("127.0.0.1", 80, "CC_BOT_METRICS_HOST", setting, "9464")
        refused = startup_error(OSError(errno.EACCES, "Permission denied"), of_root)
        assert refused.params["name"] == setting
