"""When deleted memories are removed for good: in time, after a failure, after a restart, beside a reader."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from freezegun import freeze_time
from structlog.testing import capture_logs

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.domain.clock import UNDO_TIME, Clock, utc_now
from cc_bot.features.memory.stores import removal
from cc_bot.features.memory.stores.removal import MemoryRemovalStore
from cc_bot.features.privacy.service import keep_purging, purge_due
from tests.databases import laid_out
from tests.stores.backends import Full

ME = 123456789012345678
TOKYO = ZoneInfo("Asia/Tokyo")


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as opened:
        yield opened


async def deleted(stores: Stores, content: str = "忘れること") -> int:
    memory = await stores.memories.add(ME, content)
    assert await stores.memories.delete(ME, memory.id)
    return memory.id


def left(path: Path) -> list[str]:
    with closing(sqlite3.connect(path / "sessions.db")) as database:
        return [row[0] for row in database.execute("SELECT content FROM memories")]


def owed(path: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(path / "sessions.db")) as database:
        return tuple(database.execute("SELECT erased, vacuumed FROM memory_erasures").fetchone())


def ten_minutes_later() -> datetime:
    return utc_now() + UNDO_TIME


@asynccontextmanager
async def purging(stores: Stores, clock: Clock) -> AsyncIterator[None]:
    task = asyncio.create_task(keep_purging(stores, clock, TOKYO))
    try:
        async with asyncio.timeout(60):
            yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class TestDueMemories:
    async def test_are_those_whose_undo_is_over(self, stores: Stores, tmp_path: Path) -> None:
        with freeze_time("2026-11-22 03:04:05", real_asyncio=True) as now:
            await deleted(stores, "古い")
            now.tick(UNDO_TIME - timedelta(seconds=1))
            await deleted(stores, "新しい")
            assert await purge_due(stores, utc_now)
            assert left(tmp_path) == ["古い", "新しい"]
            now.tick(1)
            assert await purge_due(stores, utc_now)
            assert left(tmp_path) == ["新しい"]

    @pytest.mark.parametrize("early_s", [(1.0, 0.01), ()], ids=["when their time comes", "at once if it has"])
    async def test_are_removed(self, stores: Stores, tmp_path: Path, early_s: tuple[float, ...]) -> None:
        with freeze_time("2026-11-22 03:04:05", real_asyncio=True):
            await deleted(stores)
            over = ten_minutes_later()
        moments = [over - timedelta(seconds=early) for early in early_s]
        async with purging(stores, lambda: moments.pop(0) if moments else over):
            while left(tmp_path):  # noqa: ASYNC110 - no event comes out of a file
                await asyncio.sleep(0.01)
        assert moments == []


class TestAttempt:
    async def test_beside_a_reader_asks_for_another(self, stores: Stores, tmp_path: Path) -> None:
        await deleted(stores)
        with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM memories").fetchall()
            assert not await purge_due(stores, ten_minutes_later)
            assert left(tmp_path) == []
        assert await purge_due(stores, ten_minutes_later)


class TestLargeDatabase:
    @pytest.fixture(autouse=True)
    def every_file_is_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(removal, "SMALL_BYTES", 0)

    async def test_is_vacuumed_at_the_start_and_at_four_in_the_morning(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        memories = stores.memory_removal
        with freeze_time("2026-11-22 03:04:05", real_asyncio=True):
            await deleted(stores)
            now = ten_minutes_later() - timedelta(seconds=0.02)  # so that the purge looks every 20 ms
        memory = await stores.memories.add(ME, "忘れること")
        await memories.erase(ME, memory.id)
        async with purging(stores, lambda: now):
            while owed(tmp_path) != (1, 1):  # noqa: ASYNC110 - no event comes out of a file
                await asyncio.sleep(0.01)
            memory = await stores.memories.add(ME, "忘れること")
            await memories.erase(ME, memory.id)
            assert owed(tmp_path) == (2, 1)
            now = datetime(2026, 11, 22, 19, 0, tzinfo=UTC)
            while owed(tmp_path) != (3, 3):  # noqa: ASYNC110 - likewise
                await asyncio.sleep(0.01)

    async def test_without_room_is_told_to_the_operator(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "忘れること")
        memories = MemoryRemovalStore(Full(stores.memories._database))
        await memories.erase(ME, memory.id)
        with capture_logs() as logs:
            assert await purge_due(replace(stores, memory_removal=memories), utc_now, vacuum=True)
        assert [log["event"] for log in logs] == ["no_room_for_vacuum"]
