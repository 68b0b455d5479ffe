"""Which backups are kept: the newest always, others by count and by age, and nobody else's files ever."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import OldBackupsKept
from cc_bot.storage import back_up
from cc_bot.storage.backup import Backup, Rotation, backups_in, rotate
from cc_bot.stores import open_stores

NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
DAY = timedelta(days=1)


def made(folder: Path, at: datetime, end: str = "") -> Path:
    """The two files of a backup."""
    path = folder / f"sessions_{at:%Y%m%d-%H%M%S}{end}.db"
    path.write_bytes(b"copy")
    path.with_suffix(".json").write_text("{}")
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestRotation:
    def test_keeps_as_many_as_it_is_told_with_their_manifests(self, tmp_path: Path) -> None:
        paths = [made(tmp_path, NOW - days * DAY) for days in range(5)]
        assert rotate(tmp_path, Rotation(keep=2), NOW, made=paths[0]) == (paths[4], paths[3], paths[2])
        assert names(tmp_path) == [
            "sessions_20261121-030405.db",
            "sessions_20261121-030405.json",
            "sessions_20261122-030405.db",
            "sessions_20261122-030405.json",
        ]

    def test_keeps_them_as_long_as_it_is_told(self, tmp_path: Path) -> None:
        paths = [made(tmp_path, NOW - days * DAY) for days in range(5)]
        assert rotate(tmp_path, Rotation(days=2), NOW, made=paths[0]) == (paths[4], paths[3])

    def test_by_count_and_age_deletes_what_either_lets_go(self, tmp_path: Path) -> None:
        paths = [made(tmp_path, NOW - hours * timedelta(hours=12)) for hours in range(4)]
        assert rotate(tmp_path, Rotation(keep=2, days=30), NOW, made=paths[0]) == (paths[3], paths[2])
        assert rotate(tmp_path, Rotation(keep=9, days=0), NOW, made=paths[0]) == (paths[1],)

    def test_without_bounds_keeps_everything(self, tmp_path: Path) -> None:
        paths = [made(tmp_path, NOW - days * 1000 * DAY) for days in range(3)]
        assert rotate(tmp_path, Rotation(), NOW, made=paths[0]) == ()
        assert len(names(tmp_path)) == 6

    def test_knows_the_order_within_a_second(self, tmp_path: Path) -> None:
        paths = [made(tmp_path, NOW, end) for end in ("", "-2", "-10")]
        assert [backup.path for backup in backups_in(tmp_path)] == paths[::-1]

    def test_never_deletes_the_one_that_was_just_made(self, tmp_path: Path) -> None:
        paths = [made(tmp_path, NOW + days * DAY) for days in range(3)]  # the clock was ahead once
        assert rotate(tmp_path, Rotation(keep=1), NOW, made=paths[0]) == (paths[1],)
        assert paths[0].exists()

    def test_leaves_what_is_not_named_like_a_backup(self, tmp_path: Path) -> None:
        others = [
            *("sessions.db", "sessions_20200101-000000.txt", "sessions_20200101.db", "erasures_00.jsonl"),
            *("sessions_20201301-000000.db", "my_sessions_20200101-000000.db", "notes.json"),
        ]
        for name in others:
            (tmp_path / name).write_text("mine")
        newest = made(tmp_path, NOW)
        made(tmp_path, NOW - DAY)
        rotate(tmp_path, Rotation(keep=1, days=1), NOW, made=newest)
        assert names(tmp_path) == sorted([*others, newest.name, newest.with_suffix(".json").name])

    def test_clears_away_copies_that_were_cut_off_a_day_ago(self, tmp_path: Path) -> None:
        newest = made(tmp_path, NOW)
        for name, age in (("030000", 2 * DAY), ("030001", timedelta(hours=1))):
            for end in ("", "-journal"):
                partial = tmp_path / f".sessions_20261120-{name}.db.partial{end}"
                partial.write_bytes(b"half")
                os.utime(partial, ((NOW - age).timestamp(),) * 2)
        rotate(tmp_path, Rotation(), NOW, made=newest)
        assert [name for name in names(tmp_path) if name.startswith(".")] == [
            ".sessions_20261120-030001.db.partial",
            ".sessions_20261120-030001.db.partial-journal",
        ]

    @given(
        ages=st.lists(st.integers(-5, 400), max_size=12),
        keep=st.none() | st.integers(1, 8),
        days=st.none() | st.integers(1, 300),
    )
    def test_keeps_the_newest_and_deletes_no_newer_one_than_it_keeps(
        self, ages: list[int], keep: int | None, days: int | None
    ) -> None:
        backups = [
            Backup((NOW - age * DAY).replace(tzinfo=None), number, Path(f"{age}-{number}"))
            for number, age in enumerate(ages)
        ]
        deleted = Rotation(keep, days).outdated(backups, NOW)
        kept = [backup for backup in backups if backup not in deleted]
        assert bool(kept) == bool(backups)
        assert not deleted or max(deleted) < min(kept)
        assert keep is None or len(kept) <= keep


class TestBackup:
    async def test_spares_a_database_that_is_named_like_a_backup(self, tmp_path: Path) -> None:
        database = tmp_path / "sessions_20200101-000000.db"
        async with open_stores(f"sqlite:///{database}", embedder=None):
            await back_up(database, tmp_path, NOW, rotation=Rotation(keep=1, days=1))
            made = await back_up(database, tmp_path, NOW + DAY, rotation=Rotation(keep=1))
        assert [path.name for path in made.deleted] == ["sessions_20261122-030405.db"]
        assert database.exists()

    async def test_deletes_older_ones_once_the_new_one_is_there(self, tmp_path: Path) -> None:
        database, folder = tmp_path / "sessions.db", tmp_path / "backups"
        async with open_stores(f"sqlite:///{database}"):
            pass
        results = [
            await back_up(database, folder, NOW + days * DAY, rotation=Rotation(keep=2)) for days in range(4)
        ]
        assert [len(result.deleted) for result in results] == [0, 0, 1, 1]
        assert [backup.path for backup in backups_in(folder)] == [results[3].path, results[2].path]

    async def test_that_can_delete_nothing_says_that_it_was_made(self, tmp_path: Path) -> None:
        database, folder = tmp_path / "sessions.db", tmp_path / "backups"
        async with open_stores(f"sqlite:///{database}"):
            pass
        folder.mkdir()
        (folder / "sessions_20200101-000000.db").mkdir()  # nothing that a file's deletion could remove
        with pytest.raises(OldBackupsKept) as told:
            await back_up(database, folder, NOW, rotation=Rotation(keep=1))
        assert told.value.params == {
            "made": str(folder / "sessions_20261122-030405.db"),
            "path": str(folder),
        }
        assert "sessions_20261122-030405.db" in names(folder)
