import sqlite3
from contextlib import AbstractAsyncContextManager, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cc_bot.chat.stores.opening import open_stores
from cc_bot.db import back_up
from cc_bot.db.backup import announce_nothing, back_up_before, leftovers_of, manifest_path
from cc_bot.db.restore import (
    StagedBackup,
    compact_copy,
    list_data_files,
    replace_database,
    stage_backup,
    wipe,
)
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import BackupDamaged, BackupMissing, DatabaseInUse, DatabaseNewer, StartupError
from tests.storage.files import change, memories, mode, names, spoil

NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
WORD = "誕生日は3月15日"


@pytest.fixture
async def database(tmp_path: Path) -> Path:
    """With a backup of when there was one memory; now there are two."""
    path = tmp_path / "bot" / "sessions.db"
    path.parent.mkdir()
    async with open_stores(f"sqlite:///{path}", embedder=None) as stores:
        await stores.memories.add(1, WORD)
        await back_up(path, tmp_path / "backups", NOW)
        await stores.memories.add(1, "猫が好き")
    return path


@pytest.fixture
def backup(database: Path, tmp_path: Path) -> Path:
    [path] = (tmp_path / "backups").glob("*.db")
    return path


def stage(backup: Path, database: Path) -> AbstractAsyncContextManager[StagedBackup]:
    return stage_backup(backup, database, utc_now, announce_nothing)


async def restore(backup: Path, database: Path) -> Path | None:
    """As it is done, but for what needs stores."""
    async with stage(backup, database) as copy:
        compact_copy(copy.path, database)
        return replace_database(copy.path, database, NOW)


def damaged_backups(backup: Path) -> list[tuple[bytes | None, bytes | None, type[StartupError]]]:
    """Backups, their manifests, and how each is refused."""
    content, manifest = backup.read_bytes(), manifest_path(backup).read_bytes()

    def changed(statement: str) -> bytes:
        change(backup, statement, whole=content)
        return backup.read_bytes()

    spoil(backup)
    spoiled = backup.read_bytes()
    unrecorded = changed("DELETE FROM schema_migrations")
    dangling = changed(
        "INSERT INTO attachments (message_id, position, session_id, user_id, name, content_type, data) "
        "VALUES (9999, 0, 'gone', 1, '', '', x'00')"
    )
    newer = changed("INSERT INTO schema_migrations (version, applied_at) VALUES (9999, 0)")
    damaged = (spoiled, b"", b"no database", b"SQLite format 3\0", unrecorded, dangling)
    return [
        (None, None, BackupMissing),
        (spoiled, manifest, BackupDamaged),
        (changed("UPDATE memories SET content = 'x'"), manifest, BackupDamaged),
        (content, b"{}", BackupDamaged),
        *((each, None, BackupDamaged) for each in damaged),
        (newer, None, DatabaseNewer),
    ]


def as_after_a_kill(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        connection.execute("UPDATE memories SET content = '犬が好き' WHERE content = '猫が好き'")
        connection.commit()
        kept = {end: Path(f"{database}{end}").read_bytes() for end in ("", "-wal")}
    for end, content in kept.items():
        Path(f"{database}{end}").write_bytes(content)


def holding(folder: Path, word: str) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


class TestStaging:
    async def test_leaves_no_trace_beside_the_database_nor_of_a_restore_that_was_cut_off(
        self, backup: Path, database: Path
    ) -> None:
        before = names(database.parent)
        left = database.with_name(f".{database.name}.restoring-abc")
        left.mkdir()
        (left / "sessions.db").write_bytes(b"half")
        async with stage(backup, database) as copy:
            assert left not in leftovers_of(database)
            assert copy.rows["memories"] == 1
            assert (mode(copy.path), mode(copy.path.parent)) == (0o600, 0o700)
        assert names(database.parent) == before

    async def test_of_anything_but_a_whole_backup_of_ours_is_refused(
        self, backup: Path, database: Path, tmp_path: Path
    ) -> None:
        for data, manifest, refusal in damaged_backups(backup):
            path = tmp_path / "sessions_20261122-030405.db"
            for file, held in ((path, data), (manifest_path(path), manifest)):
                file.unlink(missing_ok=True)
                if held is not None:
                    file.write_bytes(held)
            with pytest.raises(refusal):
                async with stage(path, database):
                    raise AssertionError


class TestPuttingInLocation:
    async def test_has_the_backup_back_and_keeps_what_was_there_each_with_its_own_log(
        self, backup: Path, database: Path
    ) -> None:
        as_after_a_kill(database)
        replaced = await restore(backup, database)
        assert replaced == database.with_name("sessions.replaced-20261122-030405.db")
        assert await memories(database) == [WORD]
        assert await memories(replaced) == ["犬が好き", WORD]
        async with open_stores(f"sqlite:///{database}", embedder=None) as stores:
            assert (await stores.memories.add(1, "次の番号")).id == 3  # no number is given twice
        assert [mode(path) for path in (database, replaced)] == [0o600] * 2

    async def test_keeps_nothing_where_nothing_was_and_two_of_one_second(
        self, backup: Path, tmp_path: Path
    ) -> None:
        database = tmp_path / "new" / "sessions.db"
        database.parent.mkdir()
        assert await restore(backup, database) is None
        change(database, "UPDATE memories SET content = '猫が好き'")
        first, second = await restore(backup, database), await restore(backup, database)
        assert first
        assert second == database.with_name("sessions.replaced-20261122-030405-2.db")
        assert await memories(first) == ["猫が好き"]


class TestWiping:
    async def test_leaves_nothing_of_what_was_said_and_all_that_is_something_else(
        self, tmp_path: Path
    ) -> None:
        database = tmp_path / "sessions.db"
        async with open_stores(f"sqlite:///{database}", embedder=None) as stores:
            await stores.erasures.note("user", 1)
            await back_up(database, tmp_path, NOW)
            await stores.memories.add(1, WORD)
            log = database.with_name("sessions.db-wal").read_bytes()
            with pytest.raises(DatabaseInUse):
                wipe(database)
        others = ["agents.toml", "policy.toml", "sessions.db.lock", "other.db", "sessions.dbx"]
        for name in others:
            (tmp_path / name).write_text("")
        back_up_before(database, 15)
        for name in (
            *("sessions.replaced-20261122-030405.db", "sessions.replaced-20261122-030405-2.db-wal"),
            *("sessions.db-wal", "chat_history", ".sessions.before-v15.db.partial"),
        ):
            (tmp_path / name).write_text(WORD)
        for folder in (".sessions.db.restoring-abc", ".sessions.db-litestream"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "sessions.db").write_text(WORD)
        assert WORD.encode() in log
        assert len(holding(tmp_path, WORD)) >= 7
        wipe(database, tmp_path / "chat_history")
        assert holding(tmp_path, WORD) == []
        backup = ["sessions_20261122-030405.db", "sessions_20261122-030405.json"]
        assert names(tmp_path) == sorted([*others, *backup, "erasures.jsonl", "sessions.erasures.jsonl"])

    def test_takes_damaged_files_too(self, tmp_path: Path) -> None:
        database = tmp_path / "sessions.db"
        database.write_bytes(b"\xa5" * 4096)
        assert list_data_files(database) == [database]
        assert wipe(database) == [database]
        assert wipe(database) == list_data_files(tmp_path / "missing" / "sessions.db") == []
