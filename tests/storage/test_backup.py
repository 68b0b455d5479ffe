"""Backups: whole, private, and never in the way of the bot."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cc_bot.domain.errors import BackupFailed, DatabaseMissing, DatabaseUnusable
from cc_bot.domain.message import Message
from cc_bot.domain.session import SessionKey
from cc_bot.storage import back_up
from cc_bot.storage.migrate import known_migrations
from cc_bot.stores import open_stores

NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
KEY = SessionKey(user_id=1, channel_id=2)
TURN = (Message("user", "こんにちは"), Message("assistant", "やあ"))


@pytest.fixture
async def database(tmp_path: Path) -> Path:
    path = tmp_path / "sessions.db"
    async with open_stores(f"sqlite:///{path}") as stores:
        await stores.memories.add(1, "誕生日は3月15日")
    return path


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def spoil(path: Path) -> None:
    """Overwrite every page but the first."""
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


class TestBackup:
    async def test_is_a_private_file_named_after_its_moment(self, database: Path, tmp_path: Path) -> None:
        result = await back_up(database, tmp_path / "backups" / "daily", NOW)
        assert result.path == tmp_path / "backups" / "daily" / "sessions_20261122-030405.db"
        assert result.path.stat().st_mode & 0o777 == 0o600
        assert result.size_bytes == result.path.stat().st_size
        assert result.schema_version == known_migrations()[-1].version
        assert names(result.path.parent) == [result.path.name]

    async def test_holds_what_the_database_held(self, database: Path, tmp_path: Path) -> None:
        result = await back_up(database, tmp_path / "backups", NOW)
        async with open_stores(f"sqlite:///{result.path}") as stores:
            assert [memory.content for memory in await stores.memories.list(1)] == ["誕生日は3月15日"]

    async def test_never_overwrites_another(self, database: Path, tmp_path: Path) -> None:
        results = await asyncio.gather(*(back_up(database, tmp_path / "backups", NOW) for _ in range(3)))
        assert sorted(result.path.name for result in results) == [
            "sessions_20261122-030405-2.db",
            "sessions_20261122-030405-3.db",
            "sessions_20261122-030405.db",
        ]

    async def test_of_the_same_second_stands_beside_the_first(self, database: Path, tmp_path: Path) -> None:
        first = await back_up(database, tmp_path / "backups", NOW)
        second = await back_up(database, tmp_path / "backups", NOW)
        assert names(tmp_path / "backups") == sorted([first.path.name, second.path.name])
        assert first.path != second.path

    async def test_of_a_database_in_use_is_one_moment_of_it(self, tmp_path: Path) -> None:
        path = tmp_path / "sessions.db"
        async with open_stores(f"sqlite:///{path}") as stores:
            session = await stores.sessions.open(KEY)
            stop = asyncio.Event()

            async def write() -> int:
                turns = 0
                while not stop.is_set():
                    await stores.sessions.commit_turn(session, TURN)
                    turns += 1
                return turns

            writing = asyncio.create_task(write())
            results = [await back_up(path, tmp_path / "backups", NOW) for _ in range(5)]
            stop.set()
            turns = await writing
        counts = []
        for result in results:
            with closing(sqlite3.connect(result.path)) as copy:
                counts += copy.execute("SELECT count(*) FROM messages").fetchone()
        assert all(count % 2 == 0 for count in counts)
        assert counts == sorted(counts)
        assert counts[-1] <= turns * 2

    async def test_of_nothing_is_refused_and_makes_no_database(self, tmp_path: Path) -> None:
        with pytest.raises(DatabaseMissing):
            await back_up(tmp_path / "sessions.db", tmp_path / "backups", NOW)
        assert not (tmp_path / "sessions.db").exists()

    @pytest.mark.parametrize("content", [b"no database", b""], ids=["text", "empty"])
    async def test_of_what_is_no_database_of_ours_is_refused_and_leaves_no_file(
        self, tmp_path: Path, content: bytes
    ) -> None:
        path = write(tmp_path / "sessions.db", content)
        with pytest.raises(DatabaseUnusable):
            await back_up(path, tmp_path / "backups", NOW)
        assert names(tmp_path / "backups") == []

    async def test_of_a_damaged_database_is_refused_and_leaves_no_file(
        self, database: Path, tmp_path: Path
    ) -> None:
        spoil(database)
        with pytest.raises(DatabaseUnusable):
            await back_up(database, tmp_path / "backups", NOW)
        assert names(tmp_path / "backups") == []

    async def test_of_a_database_that_breaks_its_own_rules_is_refused(
        self, database: Path, tmp_path: Path
    ) -> None:
        with closing(sqlite3.connect(database)) as broken:
            broken.execute("PRAGMA ignore_check_constraints = ON")
            broken.execute("UPDATE memories SET audience = 'everyone'")
            broken.commit()
        with pytest.raises(DatabaseUnusable):
            await back_up(database, tmp_path / "backups", NOW)
        assert names(tmp_path / "backups") == []

    async def test_into_a_place_that_is_no_folder_is_refused(self, database: Path, tmp_path: Path) -> None:
        write(tmp_path / "backups", b"a file")
        with pytest.raises(BackupFailed) as refusal:
            await back_up(database, tmp_path / "backups", NOW)
        assert refusal.value.params["path"] == str(tmp_path / "backups")
