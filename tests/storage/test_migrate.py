"""Migrations: the road from an empty file, from an old one, and from two programs at once."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cc_bot.domain.errors import DatabaseNewer, UpgradeFailed
from cc_bot.storage import (
    Migration,
    apply_pending,
    list_pending,
    open_database,
)
from cc_bot.storage.migrate import known_migrations, read_migrations

NOTES = """
-- A comment; with a semicolon.
CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT DEFAULT 'a;b');
INSERT INTO notes (text) VALUES ('最初の; メモ');
"""
AUTHORS = "ALTER TABLE notes ADD COLUMN author INTEGER;\nUPDATE notes SET author = 7;\n"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/sessions.db"


def folder_of(path: Path, *scripts: tuple[str, str]) -> tuple[Migration, ...]:
    path.mkdir(exist_ok=True)
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


def copies(folder: Path) -> list[str]:
    return [file.name for file in folder.glob("*before*")]


class TestFiles:
    def test_are_read_in_order_with_their_statements_apart(self, second: tuple[Migration, ...]) -> None:
        assert [migration.version for migration in second] == [1, 2]
        assert second[1].description == "who wrote it"
        assert [len(migration.statements) for migration in second] == [2, 2]
        assert (known_migrations()[0].version, known_migrations()[0].description) == (1, "initial")

    def test_with_a_gap_in_their_numbers_or_a_statement_without_its_end_are_a_mistake(
        self, tmp_path: Path
    ) -> None:
        with pytest.raises(ValueError, match="without a gap"):
            folder_of(tmp_path / "gap", ("0001_a.sql", "SELECT 1;"), ("0003_b.sql", "SELECT 1;"))
        with pytest.raises(ValueError, match="semicolon"):
            folder_of(tmp_path / "open", ("0001_a.sql", "SELECT 1;\nSELECT 2"))


class TestApplying:
    async def test_to_an_empty_file_applies_and_records_each(
        self, url: str, second: tuple[Migration, ...]
    ) -> None:
        now = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
        async with open_database(url) as database:
            assert await list_pending(database, second) == second
            assert await apply_pending(database, second, clock=lambda: now) == second
            assert await list_pending(database, second) == ()
            assert await database.query("SELECT * FROM schema_migrations ORDER BY version") == [
                (1, int(now.timestamp()) * 1000, "notes"),
                (2, int(now.timestamp()) * 1000, "who wrote it"),
            ]

    async def test_to_an_old_file_copies_that_first_and_leads_to_the_same_schema(
        self, tmp_path: Path, url: str, first: tuple[Migration, ...], second: tuple[Migration, ...]
    ) -> None:
        async with open_database(url) as database:
            await apply_pending(database, first)
            before = schema(tmp_path / "sessions.db")
            assert await apply_pending(database, second) == second[1:]
            assert await database.query("SELECT text, author FROM notes") == [("最初の; メモ", 7)]
        async with open_database(f"sqlite:///{tmp_path}/new.db") as database:
            await apply_pending(database, second)
        assert schema(tmp_path / "sessions.db") == schema(tmp_path / "new.db")
        copy = tmp_path / "sessions.before-v2.db"
        assert copies(tmp_path) == [copy.name]
        assert copy.stat().st_mode & 0o777 == 0o600
        assert schema(copy) == before

    async def test_a_failing_statement_leaves_nothing_of_its_file(
        self, tmp_path: Path, url: str, first: tuple[Migration, ...]
    ) -> None:
        broken = folder_of(
            tmp_path / "broken",
            ("0001_notes.sql", NOTES),
            ("0002_broken.sql", "CREATE TABLE half (id INTEGER);\nINSERT INTO nowhere VALUES (1);"),
        )
        async with open_database(url) as database:
            await apply_pending(database, first)
            before = schema(tmp_path / "sessions.db")
            with pytest.raises(UpgradeFailed):
                await apply_pending(database, broken)
            assert await list_pending(database, broken) == broken[1:]
        assert schema(tmp_path / "sessions.db") == before

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


class TestNewerDatabase:
    async def test_is_refused_and_left_as_it_is(
        self, tmp_path: Path, url: str, first: tuple[Migration, ...], second: tuple[Migration, ...]
    ) -> None:
        async with open_database(url) as database:
            await apply_pending(database, second)
        before = schema(tmp_path / "sessions.db")
        async with open_database(url) as database:
            with pytest.raises(DatabaseNewer) as refusal:
                await apply_pending(database, first)
        assert refusal.value.params == {"path": f"{tmp_path}/sessions.db", "found": 2, "known": 1}
        assert schema(tmp_path / "sessions.db") == before
