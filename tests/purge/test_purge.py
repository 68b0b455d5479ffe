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
from tests.end_to_end.program import Program
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


def ten_minutes_later() -> datetime:
    return utc_now() + UNDO_TIME


@asynccontextmanager
async def purging(stores: Stores, clock: Clock) -> AsyncIterator[None]:
    task = asyncio.create_task(keep_purging(stores.memory_removal, clock))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def eventually_nothing(path: Path) -> None:
    async with asyncio.timeout(60):
        while left(path):  # noqa: ASYNC110 - no event comes out of a file
            await asyncio.sleep(0.01)


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

    async def test_are_removed_when_their_time_comes(self, stores: Stores, tmp_path: Path) -> None:
        await deleted(stores)
        soon = UNDO_TIME - timedelta(seconds=0.2)

        def clock() -> datetime:
            return utc_now() + soon

        async with purging(stores, clock):
            await asyncio.sleep(0.05)
            assert left(tmp_path) == ["忘れること"]
            await eventually_nothing(tmp_path)

    async def test_that_the_last_run_left_are_removed_at_once(self, stores: Stores, tmp_path: Path) -> None:
        await deleted(stores)
        async with purging(stores, ten_minutes_later):
            await eventually_nothing(tmp_path)


class TestAttempt:
    async def test_that_fails_asks_for_another(self, tmp_path: Path) -> None:
        async with open_stores(laid_out(tmp_path / "sessions.db")) as closed:
            pass
        assert not await purge_due(closed.memory_removal, utc_now)

    async def test_that_fails_in_a_way_nobody_thought_of_asks_for_another(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        await deleted(stores)

        def no_clock() -> datetime:
            raise ZeroDivisionError

        assert not await purge_due(stores.memory_removal, no_clock)
        assert await purge_due(stores.memory_removal, ten_minutes_later)
        assert left(tmp_path) == []

    async def test_beside_a_reader_asks_for_another(self, stores: Stores, tmp_path: Path) -> None:
        await deleted(stores)
        with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM memories").fetchall()
            assert not await purge_due(stores.memory_removal, ten_minutes_later)
            assert left(tmp_path) == []
        assert await purge_due(stores.memory_removal, ten_minutes_later)


class TestTerminal:
    async def test_removes_what_is_due(self, tmp_path: Path) -> None:
        async with open_stores(laid_out(tmp_path / "sessions.db")) as stores:
            await deleted(stores)
        settings = {
            "CC_BOT_DATABASE_URL": laid_out(tmp_path / "sessions.db"),
            "CC_BOT_TEST_CLOCK_OFFSET": str(UNDO_TIME // timedelta(seconds=1)),
        }
        program = Program(tmp_path, settings)
        try:
            code, output = await program.run("chat")
        finally:
            await program.close()
        assert code == 0, output
        assert left(tmp_path) == []
        assert "忘れること".encode() not in (tmp_path / "sessions.db").read_bytes()


def large(stores: Stores, clock: Clock = utc_now) -> MemoryRemovalStore:
    """As if every file were a large one."""
    return MemoryRemovalStore(stores.memories._database, clock=clock, small_bytes=0)


def owed(path: Path) -> tuple[int, int, int]:
    """How often something was erased, and for how many of these the file was written back and anew."""
    with closing(sqlite3.connect(path / "sessions.db")) as database:
        sql = "SELECT erased, written_back, rewritten FROM memory_erasures"
        return tuple(database.execute(sql).fetchone())


class TestLargeDatabase:
    async def test_is_written_anew_in_a_quiet_moment_after_a_removal(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        memory = await stores.memories.add(ME, "忘れること")
        removal = large(stores)
        await removal.erase(ME, memory.id)
        assert owed(tmp_path) == (1, 1, 0)
        task = asyncio.create_task(keep_purging(removal, utc_now, quiet=timedelta()))
        async with asyncio.timeout(60):
            while owed(tmp_path) != (1, 1, 1):  # noqa: ASYNC110 - no event comes out of a file
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def test_that_cannot_be_written_anew_is_told_of_once_and_tried_again_later(
        self, stores: Stores, tmp_path: Path
    ) -> None:
        memory = await stores.memories.add(ME, "忘れること")
        await large(stores).erase(ME, memory.id)
        removal = MemoryRemovalStore(Full(stores.memories._database), small_bytes=0)
        with capture_logs() as logs:
            rewriting = Rewriting(removal, timedelta())
            assert [await rewriting.attempt() for _ in range(3)] == [True] * 3
        assert [log["event"] for log in logs] == ["no_room_to_rewrite_the_database"]
        assert owed(tmp_path) == (1, 1, 0)

    async def test_goes_on_being_used_when_that_fails(self, stores: Stores, tmp_path: Path) -> None:
        async with open_stores(laid_out(tmp_path / "sessions.db")) as closed:
            pass
        with capture_logs() as logs:
            assert await Rewriting(closed.memory_removal, timedelta()).attempt()
        assert [(log["event"], log["error"]) for log in logs] == [("rewriting_failed", "StorageError")]
