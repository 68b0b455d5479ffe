import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from cc_bot.db import Database, ErasureLog, Statement, open_database
from cc_bot.domain.errors import (
    DatabaseDamaged,
    DatabaseFull,
    DatabaseLocked,
    DatabaseReadOnly,
    DatabaseUnusable,
)
from tests.storage.files import spoil

CREATE = (
    Statement("CREATE TABLE schema_migrations (version INTEGER)"),
    Statement("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)"),
)
PAGE = 4096


def insert(text: str) -> Statement:
    return Statement("INSERT INTO notes (text) VALUES ($1)", (text,))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    """One note is stored."""
    async with open_database(f"sqlite:///{path}", timeout_s=0.2) as opened:
        await opened.transaction([*CREATE, insert("前からあるメモ")], ())
        yield opened


async def notes(database: Database) -> list[str]:
    return [text for (text,) in await database.query("SELECT text FROM notes ORDER BY id")]


def told(logs: list[EventDict]) -> list[tuple[str, str]]:
    return [(log["event"], log.get("error", "")) for log in logs if log["event"].startswith("database_")]


class TestLocked:
    async def test_is_waited_for_by_everyone_together_and_told_once_until_it_is_over(
        self, database: Database, path: Path
    ) -> None:
        waits = await database.query("PRAGMA busy_timeout")
        with closing(sqlite3.connect(path, isolation_level=None)) as other, capture_logs() as logs:
            other.execute("BEGIN IMMEDIATE")
            async with asyncio.timeout(10):  # one after the other would take a hundred times 0.2 s
                ends = await asyncio.gather(
                    *(database.transaction([insert("新しいメモ")], ()) for _ in range(100)),
                    return_exceptions=True,
                )
            assert {type(end) for end in ends} == {DatabaseLocked}
            assert await database.query("PRAGMA busy_timeout") == waits
            other.execute("DELETE FROM notes")
            assert await notes(database) == ["前からあるメモ"]  # nobody is kept from reading
            other.execute("ROLLBACK")
            await database.transaction([insert("もう一つ")], ())
        assert await notes(database) == ["前からあるメモ", "もう一つ"]
        assert told(logs) == [("database_trouble", "DatabaseLocked"), ("database_works_again", "")]

    async def test_keeps_nobody_from_reading_behind_one_who_waits(self, path: Path) -> None:
        async with open_database(f"sqlite:///{path}") as patient:
            await patient.transaction([*CREATE, insert("前からあるメモ")], ())
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                writing = asyncio.create_task(patient.transaction([insert("新しいメモ")], ()))
                await asyncio.sleep(0.2)
                for _ in range(20):
                    async with asyncio.timeout(5):
                        assert await notes(patient) == ["前からあるメモ"]
                assert not writing.done()
                other.execute("ROLLBACK")
                await writing
            assert await notes(patient) == ["前からあるメモ", "新しいメモ"]

    @pytest.mark.slow
    async def test_is_waited_for_by_what_was_handed_over_whoever_goes_away(self, path: Path) -> None:
        async with open_database(f"sqlite:///{path}") as patient:
            await patient.transaction(CREATE, ())
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                writing = asyncio.create_task(patient.transaction([insert("新しいメモ")], ()))
                await asyncio.sleep(0.2)
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
                other.execute("ROLLBACK")
        async with open_database(f"sqlite:///{path}") as again:
            assert await notes(again) == ["新しいメモ"]


class TestTrouble:
    async def test_of_a_full_disk_loses_nothing_and_is_told_once_until_there_is_room(
        self, database: Database
    ) -> None:
        await has_room(database, pages=0)
        with capture_logs() as logs:
            for _ in range(3):
                with pytest.raises(DatabaseFull):
                    await database.transaction([insert("小さい"), insert("大きい" * PAGE)], ())
                assert await notes(database) == ["前からあるメモ"]
                await database.transaction([Statement("SELECT 1")], ())  # takes the lock, and writes nothing
            assert told(logs) == [("database_trouble", "DatabaseFull")]
            await has_room(database, pages=1000)
            await database.transaction([insert("大きい" * PAGE)], ())
        assert len(await notes(database)) == 2
        assert told(logs)[1:] == [("database_works_again", "")]

    async def test_of_a_read_only_file_leaves_it_to_be_read(self, database: Database, path: Path) -> None:
        await database.query("PRAGMA query_only = ON")
        with capture_logs() as logs, pytest.raises(DatabaseReadOnly):
            await database.transaction([insert("新しいメモ")], ())
        assert await notes(database) == ["前からあるメモ"]
        [record] = logs
        assert record["path"] == str(path)
        assert "write" in record["mended_by"]

    async def test_of_a_file_that_was_moved_is_that_nothing_is_written_until_it_is_back(
        self, database: Database, path: Path
    ) -> None:
        for replaced in (False, True):
            away = moved_away(path, replaced=replaced)
            with capture_logs() as logs:
                for _ in range(2):
                    with pytest.raises(DatabaseReadOnly):
                        await database.transaction([insert("新しいメモ")], ())
                assert "新しいメモ" not in await notes(database)
                away.rename(path)
                await database.transaction([insert("戻ってから")], ())
            assert told(logs) == [("database_trouble", "DatabaseReadOnly"), ("database_works_again", "")]
            assert "put the file back" in logs[0]["mended_by"]
        assert await notes(database) == ["前からあるメモ", "戻ってから", "戻ってから"]


class TestDamaged:
    @pytest.mark.parametrize("how", ["overwritten", "cut short"])
    async def test_while_it_is_open_is_an_error_like_others(
        self, database: Database, path: Path, how: str
    ) -> None:
        """SQLite tells, and nothing kills the program: the file is not read through mmap."""
        await database.transaction([insert("長いメモ" * PAGE) for _ in range(3)], ())
        await database.transaction([Statement("CREATE TABLE more (text TEXT)")], ())
        assert await database.scrub(vacuum=False) == "done"
        if how == "overwritten":
            spoil(path, start=2 * PAGE)
        else:
            os.truncate(path, 2 * PAGE)
        await database.query("PRAGMA shrink_memory")  # no page is remembered
        with capture_logs() as logs:
            for _ in range(2):
                with pytest.raises(DatabaseDamaged):
                    await notes(database)
        assert told(logs) == [("database_trouble", "DatabaseDamaged")]
        assert "cc-bot restore" in logs[0]["mended_by"]
        assert await database.query("SELECT 1") == [(1,)]

    async def test_before_it_is_opened_is_told_apart_from_what_is_no_database(
        self, database: Database, path: Path
    ) -> None:
        await database.close()
        ErasureLog.beside(path).create()
        for begin, refusal in ((100, DatabaseDamaged), (0, DatabaseUnusable), (None, DatabaseDamaged)):
            if begin is None:
                os.truncate(path, 0)  # it was a database, as there is a log of it
            else:
                spoil(path, start=begin)
            with pytest.raises(refusal):
                async with open_database(f"sqlite:///{path}"):
                    pass


def moved_away(path: Path, *, replaced: bool) -> Path:
    away = path.rename(path.with_name("away.db"))
    if replaced:
        path.write_bytes(away.read_bytes())
    return away


async def has_room(database: Database, *, pages: int) -> None:
    [(now,)] = await database.query("PRAGMA page_count")
    await database.query(f"PRAGMA max_page_count = {now + pages}")
