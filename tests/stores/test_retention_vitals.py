"""What is told of the database as a whole."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.domain import SessionKey
from cc_bot.domain.errors import StorageError
from cc_bot.storage import Database
from cc_bot.stores import Stores, VitalsStore


class TestVitals:
    async def test_count_the_conversations_that_go_on(self, stores: Stores) -> None:
        assert await stores.vitals.open_sessions() == 0
        for user in (1, 2):
            await stores.sessions.open(SessionKey(user, 10))
        await stores.sessions.clear(SessionKey(1, 10))
        assert await stores.vitals.open_sessions() == 2

    @pytest.mark.sqlite("what stands in its file")
    async def test_tell_the_size_of_the_file_with_its_log(self, stores: Stores, tmp_path: Path) -> None:
        await stores.sessions.open(SessionKey(1, 10))
        file, log = (tmp_path / name for name in ("sessions.db", "sessions.db-wal"))
        assert log.stat().st_size
        assert await stores.vitals.size_bytes() == file.stat().st_size + log.stat().st_size

    @pytest.mark.sqlite("its own plans")
    async def test_count_without_reading_the_sessions(self, database: Database) -> None:
        plan = await database.query(
            "EXPLAIN QUERY PLAN SELECT count(*) FROM sessions WHERE closed_at IS NULL"
        )
        assert "INDEX" in str(plan)


@pytest.mark.sqlite("a file that nobody may write")
class TestTheCheck:
    async def test_writes_nothing(self, stores: Stores, tmp_path: Path) -> None:
        log = tmp_path / "sessions.db-wal"
        await stores.sessions.open(SessionKey(1, 10))
        before = (log.stat().st_size, log.stat().st_mtime_ns)
        await stores.vitals.check_writable()
        assert (log.stat().st_size, log.stat().st_mtime_ns) == before

    async def test_fails_where_nobody_may_write(self, stores: Stores, database: Database) -> None:
        await stores.vitals.check_writable()
        await database.query("PRAGMA query_only = ON")
        with pytest.raises(StorageError):
            await VitalsStore(database).check_writable()

    async def test_gives_the_place_back_to_whoever_writes_next(self, stores: Stores, tmp_path: Path) -> None:
        await stores.vitals.check_writable()
        with closing(
            sqlite3.connect(tmp_path / "sessions.db")
        ) as other:  # beside what else begins with the stores
            other.execute("BEGIN IMMEDIATE")
