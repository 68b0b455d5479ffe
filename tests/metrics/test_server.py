"""/healthz and /metrics, asked over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from math import nan
from typing import Any

import aiohttp
import pytest

from cc_bot.app.metrics import MIN_FREE_BYTES, PrometheusMeter, Vitals, serve
from cc_bot.chat.active import Load
from cc_bot.domain.errors import InvalidSetting, PortTaken, StorageError
from cc_bot.domain.measures import GatewayHealth
from cc_bot.features.privacy.retention import VitalsStore


@dataclass
class Watched(VitalsStore):
    """A database and a disk that are as a test wants them."""

    broken: bool = False
    free_bytes: int = MIN_FREE_BYTES
    held: asyncio.Event | None = None
    looks: int = 0
    gateway_health: GatewayHealth = field(default_factory=GatewayHealth)

    async def check_writable(self) -> None:
        self.looks += 1
        if self.broken:
            raise StorageError
        if self.held:
            await self.held.wait()

    async def count_open_sessions(self) -> int:
        return 7

    async def get_size_bytes(self) -> int:
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


@pytest.fixture
async def program() -> AsyncIterator[Served]:
    watched = Watched()
    watched.gateway_health.read_latency_s = lambda: 0.05
    meter = PrometheusMeter("1.2.3")
    vitals = Vitals(
        watched.gateway_health, watched, lambda: Load(2, 3), watched.free, watched.backed_up, timeout_s=0.05
    )
    async with serve("127.0.0.1", 0, meter, vitals) as port, aiohttp.ClientSession() as client:
        yield Served(watched, meter, client, f"http://127.0.0.1:{port}")


class TestHealth:
    async def test_is_ok_while_connected_and_writable_and_else_tells_all_that_is_wrong(
        self, program: Served
    ) -> None:
        watched, room, broken = program.watched, MIN_FREE_BYTES, {"database": "unusable"}
        assert await program.health() == (200, {"status": "ok", "problems": {}})
        watched.gateway_health.read_latency_s = lambda: nan  # before the first heartbeat
        assert (await program.health())[0] == 200
        for watched.broken, watched.free_bytes, problems in (
            (True, room, broken),
            (False, room - 1, {"database": "no_room"}),  # before anything fails
            (False, -1, broken),
        ):
            status, told = await program.health()
            assert (status, told["problems"]) == (503, problems)
        watched.gateway_health.read_latency_s = lambda: None
        assert (await program.health())[1]["problems"] == {"gateway": "disconnected", **broken}
        watched.free_bytes = room
        watched.gateway_health.read_latency_s = None  # before the bot is there, and when it leaves
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
        program.watched.gateway_health.read_latency_s = lambda: 0.5
        assert "cc_bot_gateway_latency_seconds 0.5" in (await program.get("/metrics"))[1]

    async def test_leave_out_what_cannot_be_told(self, program: Served) -> None:
        program.watched.broken = True
        program.watched.free_bytes = -1
        program.watched.gateway_health.read_latency_s = None
        status, text = await program.get("/metrics")
        assert status == 200
        assert {"cc_bot_database_writable 0.0", "cc_bot_gateway_connected 0.0"} <= {*text.splitlines()}
        for name in (
            "sessions",
            "disk_free_bytes",
            "last_backup_timestamp_seconds",
            "gateway_latency_seconds",
        ):
            assert f"cc_bot_{name} " not in text


async def test_a_port_that_somebody_has_and_a_host_that_is_not_here_are_refused(program: Served) -> None:
    port = int(program.url.rpartition(":")[2])
    vitals = Vitals(GatewayHealth(), Watched(), lambda: Load(0, 0), lambda: MIN_FREE_BYTES, lambda: None)
    with pytest.raises(PortTaken) as taken:
        async with serve("127.0.0.1", port, PrometheusMeter("0"), vitals):
            pass
    setting = "CC_BOT_METRICS_PORT"
    assert taken.value.params == {"host": "127.0.0.1", "port": port, "setting": setting}
    with pytest.raises(InvalidSetting):
        async with serve("192.0.2.1", 0, PrometheusMeter("0"), vitals):
            pass
