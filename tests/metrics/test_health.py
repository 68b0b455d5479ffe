"""The health check over a real database."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.app.metrics import Vitals
from cc_bot.chat.active import Load
from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.domain.measures import GatewayHealth
from tests.databases import laid_out


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
        yield stores


def vitals_of(stores: Stores, timeout_s: float = 20) -> Vitals:
    health = GatewayHealth()
    health.read_latency_s = lambda: 0.1
    return Vitals(health, stores.vitals, lambda: Load(0, 0), lambda: 2**40, lambda: None, timeout_s=timeout_s)


class TestADatabase:
    async def test_that_works_is_healthy_and_counted_until_it_is_closed(self, tmp_path: Path) -> None:
        async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
            readings = await vitals_of(stores).readings()
            assert (readings["database_writable"], readings["sessions"]) == (True, 0)
            assert readings["database_bytes"]
            assert readings["last_backup_timestamp_seconds"] is None
        assert await vitals_of(stores).problems() == {"database": "unusable"}

    async def test_that_another_program_holds_is_locked_until_it_lets_go(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        vitals = vitals_of(stores, timeout_s=0.05)
        with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            readings = await vitals.readings()
            assert not readings["database_writable"]
            assert await vitals.problems() == {"database": "locked"}
            assert readings["sessions"] is None  # nobody waits for the same thread
        await vitals.close()
        assert await vitals_of(stores).problems() == {}
