"""When deleted memories are removed for good: in time, after a failure, after a restart, beside a reader."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from freezegun import freeze_time
from structlog.testing import capture_logs

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.memory import UNDO_TIME
from cc_bot.privacy import Rewriting, keep_purging, purge_due
from cc_bot.stores import MemoryRemovalStore, Stores, open_stores
from tests.databases import laid_out
from tests.stores.backends import Full

ME = 123456789012345678


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


def owed(path: Path) -> tuple[int, int, int]:
    """How often something was erased, and for how many of these the file was written back and anew."""
    with closing(sqlite3.connect(path / "sessions.db")) as database:
        sql = "SELECT erased, written_back, rewritten FROM memory_erasures"
        return tuple(database.execute(sql).fetchone())


def ten_minutes_later() -> datetime:
    return utc_now() + UNDO_TIME


@asynccontextmanager
async def purging(
    removal: MemoryRemovalStore, clock: Clock, quiet: timedelta = timedelta(minutes=1)
) -> AsyncIterator[None]:
    task = asyncio.create_task(keep_purging(removal, clock, quiet=quiet))
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
            assert await purge_due(stores.memory_removal, utc_now)
            assert left(tmp_path) == ["古い", "新しい"]
            now.tick(1)
            assert await purge_due(stores.memory_removal, utc_now)
            assert left(tmp_path) == ["新しい"]

    @pytest.mark.parametrize("early_s", [(1.0, 0.01), ()], ids=["when their time comes", "at once if it has"])
    async def test_are_removed(self, stores: Stores, tmp_path: Path, early_s: tuple[float, ...]) -> None:
        with freeze_time("2026-11-22 03:04:05", real_asyncio=True):
            await deleted(stores)
            over = ten_minutes_later()
        moments = [over - timedelta(seconds=early) for early in early_s]
        async with purging(stores.memory_removal, lambda: moments.pop(0) if moments else over):
            while left(tmp_path):  # noqa: ASYNC110 - no event comes out of a file
                await asyncio.sleep(0.01)
        assert moments == []


class TestAttempt:
    async def test_beside_a_reader_asks_for_another(self, stores: Stores, tmp_path: Path) -> None:
        await deleted(stores)
        with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM memories").fetchall()
            assert not await purge_due(stores.memory_removal, ten_minutes_later)
            assert left(tmp_path) == []
        assert await purge_due(stores.memory_removal, ten_minutes_later)


class TestLargeDatabase:
    async def test_is_written_anew_where_there_is_room(self, stores: Stores, tmp_path: Path) -> None:
        database = stores.memories._database
        removal = MemoryRemovalStore(database, small_bytes=0)  # as if every file were a large one
        memory = await stores.memories.add(ME, "忘れること")
        await removal.erase(ME, memory.id)
        without_room = Rewriting(MemoryRemovalStore(Full(database), small_bytes=0), timedelta())
        with capture_logs() as logs:
            assert [await without_room.attempt() for _ in range(3)] == [True] * 3
        assert [log["event"] for log in logs] == ["no_room_to_rewrite_the_database"]
        assert owed(tmp_path) == (1, 1, 0)
        async with purging(removal, utc_now, timedelta()):
            while owed(tmp_path) != (1, 1, 1):  # noqa: ASYNC110 - no event comes out of a file
                await asyncio.sleep(0.01)
