"""Migrations: the road from an empty file and an old one, and of two programs at once; nothing is lost."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.db import Migration, apply_pending, list_pending, open_database
from cc_bot.db.schema import read_migrations
from cc_bot.domain.errors import DatabaseNewer, StorageError
from tests.storage.files import mode

NOTES = """
-- A comment; with a semicolon.
CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT DEFAULT 'a;b');
INSERT INTO notes (text) VALUES ('最初の; メモ');
"""
AUTHORS = "ALTER TABLE notes ADD COLUMN author INTEGER;\nUPDATE notes SET author = 7;\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


def folder_of(path: Path, *scripts: tuple[str, str]) -> tuple[Migration, ...]:
    path.mkdir()
    for name, script in scripts:
        (path / name).write_text(script, "utf-8")
    return read_migrations(path)


@pytest.fixture
def first(tmp_path: Path) -> tuple[Migration, ...]:
    return folder_of(tmp_path / "first", ("0001_notes.sql", NOTES))


@pytest.fixture
def second(tmp_path: Path) -> tuple[Migration, ...]:
    return folder_of(tmp_path / "second", ("0001_notes.sql", NOTES), ("0002_who_wrote_it.sql", AUTHORS))


def schema(path: Path) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


class TestApplying:
    async def test_to_an_old_file_copies_that_first_and_leads_to_the_same_schema(
        self,
        tmp_path: Path,
        path: Path,
        url: str,
        first: tuple[Migration, ...],
        second: tuple[Migration, ...],
    ) -> None:
        async with open_database(url) as database:
            await apply_pending(database, first)
            before = schema(path)
            assert await apply_pending(database, second) == second[1:]
            assert await list_pending(database, second) == ()
            assert await database.query("SELECT version, description FROM schema_migrations") == [
                *((1, "notes"), (2, "who wrote it"))
            ]
            assert await database.query("SELECT text, author FROM notes") == [("最初の; メモ", 7)]
        async with open_database(f"sqlite:///{tmp_path}/new.db") as database:
            await apply_pending(database, second)
        assert schema(path) == schema(tmp_path / "new.db")
        copy = tmp_path / "sessions.before-v2.db"
        assert mode(copy) == 0o600
        assert schema(copy) == before

    async def test_a_failing_statement_leaves_nothing_of_its_file(
        self, tmp_path: Path, path: Path, url: str, first: tuple[Migration, ...]
    ) -> None:
        half = "CREATE TABLE half (id INTEGER);\nINSERT INTO nowhere VALUES (1);"
        broken = folder_of(tmp_path / "broken", ("0001_notes.sql", NOTES), ("0002_broken.sql", half))
        async with open_database(url) as database:
            await apply_pending(database, first)
            before = schema(path)
            with pytest.raises(StorageError):
                await apply_pending(database, broken)
            assert await list_pending(database, broken) == broken[1:]
        assert schema(path) == before

    async def test_by_two_programs_at_once_happens_once(
        self, url: str, second: tuple[Migration, ...]
    ) -> None:
        async def start() -> tuple[Migration, ...]:
            async with open_database(url) as database:
                return await apply_pending(database, second)

        applied = await asyncio.gather(*(start() for _ in range(6)))
        assert sorted(migration.version for mine in applied for migration in mine) == [1, 2]
        async with open_database(url) as database:
            assert await database.query("SELECT count(*) FROM notes") == [(1,)]

    async def test_a_newer_database_is_refused_and_left_as_it_is(
        self, path: Path, url: str, first: tuple[Migration, ...], second: tuple[Migration, ...]
    ) -> None:
        async with open_database(url) as database:
            await apply_pending(database, second)
        before = schema(path)
        async with open_database(url) as database:
            with pytest.raises(DatabaseNewer) as refusal:
                await apply_pending(database, first)
        assert refusal.value.params == {"path": str(path), "found": 2, "known": 1}
        assert schema(path) == before
