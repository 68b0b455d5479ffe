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
from cc_bot.storage import ErasureLog, back_up
from cc_bot.storage.backup import leftovers_of, preserve
from cc_bot.storage.manifest import manifest_path
from cc_bot.storage.restoring import data_of, finish, put_in_place, release, staged, wipe
from cc_bot.stores import open_stores

NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
WORD = "誕生日は3月15日".encode()


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


def everything(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def files_with_it(folder: Path) -> list[Path]:
    """The files in which the word stands."""
    return [path for path in folder.rglob("*") if path.is_file() and WORD in path.read_bytes()]


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


def change(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql)


class TestStaging:
    def test_leaves_no_trace_beside_the_database_nor_of_a_restore_that_was_cut_off(
        self, backup: Path, database: Path
    ) -> None:
        before = names(database.parent)
        left = database.with_name(f".{database.name}.restoring-abc")
        left.mkdir()
        (left / "sessions.db").write_bytes(b"half")
        with staged(backup, database) as copy:
            assert left not in leftovers_of(database)
            assert copy.rows["memories"] == 1
            assert copy.path.stat().st_mode & 0o777 == 0o600
            assert copy.path.parent.stat().st_mode & 0o777 == 0o700
        assert names(database.parent) == before

    def test_of_anything_but_a_whole_backup_of_ours_is_refused(
        self, backup: Path, database: Path, tmp_path: Path
    ) -> None:
        content, manifest = backup.read_bytes(), manifest_path(backup).read_bytes()
        spoiled = content[:4096] + b"\xa5" * (len(content) - 4096)
        change(backup, "UPDATE memories SET content = 'x'")
        another = backup.read_bytes()
        backup.write_bytes(content)
        change(backup, "INSERT INTO schema_migrations (version, applied_at) VALUES (9999, 0)")
        newer = backup.read_bytes()
        for data, told, refusal in (
            (None, None, BackupMissing),
            *((spoiled, each, BackupDamaged) for each in (manifest, None)),
            (another, manifest, BackupDamaged),
            (content, b"{}", BackupDamaged),
            *((each, None, BackupDamaged) for each in (b"", b"no database", b"SQLite format 3\0")),
            (newer, None, DatabaseNewer),
        ):
            path = tmp_path / "sessions_20261122-030405.db"
            for file, held in ((path, data), (manifest_path(path), told)):
                file.unlink(missing_ok=True)
                if held is not None:
                    file.write_bytes(held)
            with pytest.raises(refusal), staged(path, database):
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

    async def test_keeps_nothing_where_nothing_was_and_two_of_one_second(
        self, backup: Path, tmp_path: Path
    ) -> None:
        database = tmp_path / "new" / "sessions.db"
        database.parent.mkdir()
        assert restore(backup, database) is None
        assert names(database.parent) == ["sessions.db"]
        change(database, "UPDATE memories SET content = '猫が好き'")
        first, second = restore(backup, database), restore(backup, database)
        assert first
        assert second == database.with_name("sessions.replaced-20261122-030405-2.db")
        assert await memories(first) == ["猫が好き"]

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

    async def test_gives_no_number_twice_and_takes_none_from_a_damaged_file(
        self, backup: Path, database: Path
    ) -> None:
        restore(backup, database)
        async with open_stores(url(database), embedder=None) as stores:
            assert (await stores.memories.add(1, "次の番号")).id == 3
        change(database, "UPDATE sqlite_sequence SET seq = 9223372036854775807")
        damage_the_end(database)
        restore(backup, database)
        async with open_stores(url(database), embedder=None) as stores:
            assert (await stores.memories.add(1, "次の番号")).id == 2

    async def test_can_write_everything_anew(self, backup: Path, database: Path) -> None:
        with staged(backup, database) as copy:
            change(copy.path, "DELETE FROM memories")
            finish(copy.path, database, rewrite=True)
            content = copy.path.read_bytes()
        assert "誕生日".encode() not in content


class TestReleasing:
    def test_writes_the_log_back_and_takes_it_away(self, database: Path, tmp_path: Path) -> None:
        as_after_a_kill(database)
        release(database)
        assert names(database.parent) == ["sessions.db"]
        with closing(sqlite3.connect(database)) as connection:
            found = connection.execute("SELECT content FROM memories WHERE id = 2").fetchall()
        assert found == [("犬が好き",)]
        release(tmp_path / "missing" / "sessions.db")
        assert not (tmp_path / "missing").exists()


class TestWiping:
    async def test_leaves_nothing_of_what_was_said(self, tmp_path: Path) -> None:
        database = tmp_path / "sessions.db"
        async with open_stores(f"sqlite:///{database}", embedder=None) as stores:
            await stores.memories.add(1, WORD.decode())
            log = database.with_name("sessions.db-wal").read_bytes()
        preserve(database, 15)
        for name in (
            *("sessions.replaced-20261122-030405.db", "sessions.replaced-20261122-030405-2.db-wal"),
            *("sessions.db-wal", "chat_history", ".sessions.before-v15.db.partial"),
        ):
            (tmp_path / name).write_bytes(WORD)
        for folder in (".sessions.db.restoring-abc", ".sessions.db-litestream"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "sessions.db").write_bytes(WORD)
        assert WORD in log
        assert len(files_with_it(tmp_path)) >= 7
        wiped = wipe(database, tmp_path / "chat_history")
        assert files_with_it(tmp_path) == []
        assert wiped
        assert everything(tmp_path) == []

    async def test_keeps_settings_backups_and_the_record_of_erasures(self, tmp_path: Path) -> None:
        database = tmp_path / "sessions.db"
        async with open_stores(f"sqlite:///{database}", embedder=None) as stores:
            await stores.erasures.note("user", 1)
        await back_up(database, tmp_path, NOW)
        others = ["agents.toml", "policy.toml", "sessions.db.lock", "other.db", "sessions.dbx"]
        for name in others:
            (tmp_path / name).write_text("")
        wipe(database, tmp_path / "chat_history")
        left = [name for name in everything(tmp_path) if not name.startswith("erasures_")]
        log = ErasureLog.beside(database).path.name
        kept = [log, f".{log}.lock", "sessions_20261122-030405.db", "sessions_20261122-030405.json"]
        assert left == sorted([*others, *kept])

    async def test_is_refused_while_somebody_has_it_open_and_takes_damaged_files_too(
        self, tmp_path: Path
    ) -> None:
        database = tmp_path / "sessions.db"
        async with open_stores(f"sqlite:///{database}", embedder=None):
            with pytest.raises(DatabaseInUse):
                wipe(database)
        assert data_of(database) == [database]
        database.write_bytes(b"\xa5" * 4096)
        assert wipe(database) == [database]
        assert wipe(database) == data_of(tmp_path / "missing" / "sessions.db") == []
