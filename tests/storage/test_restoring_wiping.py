"""Wiping takes every copy of the data that stands beside the database, and nothing else."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from cc_bot.domain.errors import DatabaseInUse
from cc_bot.storage import ErasureLog, back_up
from cc_bot.storage.backup import preserve
from cc_bot.storage.restoring import data_of, wipe
from cc_bot.stores import open_stores

NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
WORD = "誕生日は3月15日".encode()


def holding(folder: Path) -> list[str]:
    """The files in which the word stands."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and WORD in path.read_bytes()
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


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
        assert len(holding(tmp_path)) >= 7
        wiped = wipe(database, tmp_path / "chat_history")
        assert holding(tmp_path) == []
        assert wiped
        assert names(tmp_path) == []

    async def test_keeps_settings_backups_and_the_record_of_erasures(self, tmp_path: Path) -> None:
        database = tmp_path / "sessions.db"
        async with open_stores(f"sqlite:///{database}", embedder=None) as stores:
            await stores.erasures.note("user", 1)
        await back_up(database, tmp_path, NOW)
        others = ["agents.toml", "policy.toml", "sessions.db.lock", "other.db", "sessions.dbx"]
        for name in others:
            (tmp_path / name).write_text("")
        wipe(database, tmp_path / "chat_history")
        left = [name for name in names(tmp_path) if not name.startswith("erasures_")]
        log = ErasureLog.beside(database).path.name
        kept = [log, f".{log}.lock", "sessions_20261122-030405.db", "sessions_20261122-030405.json"]
        assert left == sorted([*others, *kept])

    async def test_while_somebody_has_it_open_is_refused(self, tmp_path: Path) -> None:
        database = tmp_path / "sessions.db"
        async with open_stores(f"sqlite:///{database}", embedder=None):
            with pytest.raises(DatabaseInUse):
                wipe(database)
        assert data_of(database) == [database]

    def test_of_a_damaged_file_is_done_all_the_same(self, tmp_path: Path) -> None:
        database = tmp_path / "sessions.db"
        database.write_bytes(b"\xa5" * 4096)
        assert wipe(database) == [database]

    def test_of_nothing_finds_nothing(self, tmp_path: Path) -> None:
        assert data_of(tmp_path / "missing" / "sessions.db") == []
        assert wipe(tmp_path / "sessions.db") == []
