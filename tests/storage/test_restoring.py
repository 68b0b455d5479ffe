"""A backup takes the place of the database: checked first, all at once, and with what was there kept."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cc_bot.domain.errors import (
    BackupDamaged,
    BackupMissing,
    DatabaseInUse,
    DatabaseNewer,
    RestoreFailed,
)
from cc_bot.storage import back_up
from cc_bot.storage.backup import leftovers_of
from cc_bot.storage.manifest import manifest_path
from cc_bot.storage.restoring import finish, put_in_place, release, staged
from cc_bot.stores import open_stores

NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)


def url(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture
async def database(tmp_path: Path) -> Path:
    """With a backup of when there was one memory; now there are two."""
    path = tmp_path / "bot" / "sessions.db"
    path.parent.mkdir()
    async with open_stores(url(path), embedder=None) as stores:
        await stores.memories.add(1, "誕生日は3月15日")
        await back_up(path, tmp_path / "backups", NOW)
        await stores.memories.add(1, "猫が好き")
    return path


@pytest.fixture
def backup(database: Path, tmp_path: Path) -> Path:
    [path] = (tmp_path / "backups").glob("*.db")
    return path


def restore(backup: Path, database: Path) -> Path | None:
    """As it is done, but for what needs stores."""
    with staged(backup, database) as copy:
        finish(copy.path, database, rewrite=False)
        return put_in_place(copy.path, database, NOW)


async def memories(path: Path) -> list[str]:
    async with open_stores(url(path), embedder=None) as stores:
        return sorted(memory.content for memory in await stores.memories.list(1))


def names(folder: Path) -> list[str]:
    """What is there beside the log of erasures."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".jsonl")


def leave_a_log(database: Path) -> sqlite3.Connection:
    """A write that stands in the log alone, as after a kill; until the connection is closed."""
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
    connection.execute("UPDATE memories SET content = '犬が好き' WHERE content = '猫が好き'")
    connection.commit()
    return connection


def as_after_a_kill(database: Path) -> None:
    """The file and its log, which nobody wrote back."""
    with closing(leave_a_log(database)):
        kept = {end: Path(f"{database}{end}").read_bytes() for end in ("", "-wal")}
    for end, content in kept.items():
        Path(f"{database}{end}").write_bytes(content)


def spoil(database: Path) -> None:
    """Overwrite all of the file; its log is left."""
    database.write_bytes(b"\xa5" * database.stat().st_size)


def damage_the_end(database: Path) -> None:
    """Overwrite the last page."""
    content = database.read_bytes()
    database.write_bytes(content[:-4096] + b"\xa5" * 4096)


def holding(folder: Path, word: str) -> list[str]:
    return [name for name in names(folder) if word.encode() in (folder / name).read_bytes()]


class TestStaging:
    def test_leaves_no_trace_beside_the_database(self, backup: Path, database: Path) -> None:
        before = names(database.parent)
        with staged(backup, database) as copy:
            assert copy.rows["memories"] == 1
            assert copy.path.stat().st_mode & 0o777 == 0o600
            assert copy.path.parent.stat().st_mode & 0o777 == 0o700
        assert names(database.parent) == before

    def test_clears_away_what_a_restore_left_that_was_cut_off(self, backup: Path, database: Path) -> None:
        left = database.with_name(f".{database.name}.restoring-abc")
        left.mkdir()
        (left / "sessions.db").write_bytes(b"half")
        with staged(backup, database):
            assert left not in leftovers_of(database)
        assert leftovers_of(database) == []

    def test_of_nothing_is_refused(self, database: Path, tmp_path: Path) -> None:
        with pytest.raises(BackupMissing), staged(tmp_path / "sessions_20261122-030405.db", database):
            raise AssertionError

    @pytest.mark.parametrize("manifest", [True, False])
    def test_of_a_damaged_file_is_refused(self, backup: Path, database: Path, manifest: bool) -> None:
        content = backup.read_bytes()
        backup.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
        if not manifest:
            manifest_path(backup).unlink()
        with pytest.raises(BackupDamaged), staged(backup, database):
            raise AssertionError

    def test_of_a_whole_file_that_is_another_one_is_refused(self, backup: Path, database: Path) -> None:
        with closing(sqlite3.connect(backup)) as connection:
            connection.execute("UPDATE memories SET content = 'x'")
            connection.commit()
        with pytest.raises(BackupDamaged), staged(backup, database):
            raise AssertionError

    @pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0"])
    def test_of_what_is_no_database_of_ours_is_refused(
        self, database: Path, tmp_path: Path, content: bytes
    ) -> None:
        path = tmp_path / "other.db"
        path.write_bytes(content)
        with pytest.raises(BackupDamaged), staged(path, database):
            raise AssertionError

    def test_with_a_spoiled_manifest_is_refused(self, backup: Path, database: Path) -> None:
        manifest_path(backup).write_text("{}")
        with pytest.raises(BackupDamaged), staged(backup, database):
            raise AssertionError

    def test_of_a_newer_program_is_refused(self, backup: Path, database: Path) -> None:
        manifest_path(backup).unlink()
        with closing(sqlite3.connect(backup)) as connection:
            connection.execute("INSERT INTO schema_migrations (version, applied_at) VALUES (9999, 0)")
            connection.commit()
        with pytest.raises(DatabaseNewer), staged(backup, database):
            raise AssertionError

    async def test_takes_the_log_of_a_file_that_was_in_use_elsewhere(
        self, database: Path, tmp_path: Path
    ) -> None:
        as_after_a_kill(database)
        with staged(database, tmp_path / "sessions.db") as copy:
            with closing(sqlite3.connect(copy.path)) as connection:
                contents = connection.execute("SELECT content FROM memories ORDER BY id").fetchall()
            assert contents == [("誕生日は3月15日",), ("犬が好き",)]


class TestPuttingInPlace:
    async def test_has_the_backup_back_and_keeps_what_was_there(self, backup: Path, database: Path) -> None:
        replaced = restore(backup, database)
        assert replaced == database.with_name("sessions.replaced-20261122-030405.db")
        assert await memories(database) == ["誕生日は3月15日"]
        assert await memories(replaced) == ["猫が好き", "誕生日は3月15日"]
        assert [path.stat().st_mode & 0o777 for path in (database, replaced)] == [0o600] * 2

    async def test_never_gives_the_log_of_one_file_to_another(self, backup: Path, database: Path) -> None:
        as_after_a_kill(database)
        replaced = restore(backup, database)
        assert replaced
        assert await memories(database) == ["誕生日は3月15日"]
        assert await memories(replaced) == ["犬が好き", "誕生日は3月15日"]

    async def test_takes_the_log_of_a_damaged_file_away_with_it(self, backup: Path, database: Path) -> None:
        as_after_a_kill(database)
        spoil(database)
        restore(backup, database)
        assert all("replaced" in name for name in holding(database.parent, "犬が好き"))
        assert await memories(database) == ["誕生日は3月15日"]

    async def test_where_there_was_nothing_keeps_nothing(self, backup: Path, tmp_path: Path) -> None:
        database = tmp_path / "new" / "sessions.db"
        database.parent.mkdir()
        assert restore(backup, database) is None
        assert names(database.parent) == ["sessions.db"]
        assert await memories(database) == ["誕生日は3月15日"]

    async def test_twice_in_a_second_keeps_both(self, backup: Path, database: Path) -> None:
        first, second = restore(backup, database), restore(backup, database)
        assert first
        assert second == database.with_name("sessions.replaced-20261122-030405-2.db")
        assert await memories(first) == ["猫が好き", "誕生日は3月15日"]

    async def test_while_somebody_has_it_open_is_refused(self, backup: Path, database: Path) -> None:
        async with open_stores(url(database), embedder=None) as stores:
            with pytest.raises(DatabaseInUse):
                restore(backup, database)
            await stores.memories.add(1, "まだ書ける")
        assert "まだ書ける" in await memories(database)
        assert names(database.parent) == ["sessions.db"]

    async def test_that_fails_leaves_the_database(self, backup: Path, database: Path) -> None:
        with staged(backup, database) as copy:
            copy.path.unlink()
            with pytest.raises(RestoreFailed):
                put_in_place(copy.path, database, NOW)
        assert await memories(database) == ["猫が好き", "誕生日は3月15日"]

    async def test_forgets_a_second_name_that_one_left_behind(self, backup: Path, database: Path) -> None:
        left = database.with_name("sessions.replaced-20261121-000000.db")
        os.link(database, left)  # it was killed before the rename
        restore(backup, database)
        assert not left.exists()

    async def test_gives_no_number_twice(self, backup: Path, database: Path) -> None:
        restore(backup, database)
        async with open_stores(url(database), embedder=None) as stores:
            assert (await stores.memories.add(1, "次の番号")).id == 3

    async def test_takes_no_number_from_a_damaged_file(self, backup: Path, database: Path) -> None:
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("UPDATE sqlite_sequence SET seq = 9223372036854775807")
            connection.commit()
        damage_the_end(database)
        restore(backup, database)
        async with open_stores(url(database), embedder=None) as stores:
            assert (await stores.memories.add(1, "次の番号")).id == 2

    async def test_can_write_everything_anew(self, backup: Path, database: Path) -> None:
        with staged(backup, database) as copy:
            with closing(sqlite3.connect(copy.path)) as connection:
                connection.execute("DELETE FROM memories")
                connection.commit()
            finish(copy.path, database, rewrite=True)
            content = copy.path.read_bytes()
        assert "誕生日".encode() not in content


class TestReleasing:
    def test_writes_the_log_back_and_takes_it_away(self, database: Path) -> None:
        as_after_a_kill(database)
        release(database)
        assert names(database.parent) == ["sessions.db"]
        with closing(sqlite3.connect(database)) as connection:
            assert connection.execute("SELECT content FROM memories WHERE id = 2").fetchall() == [
                ("犬が好き",)
            ]

    def test_of_nothing_does_nothing(self, tmp_path: Path) -> None:
        release(tmp_path / "sessions.db")
        assert names(tmp_path) == []
