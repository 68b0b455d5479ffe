"""Which backups are kept, and which copies beside the database: the newest, others by count and age."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import OldBackupsKept
from cc_bot.storage import back_up
from cc_bot.storage.backup import (
    Backup,
    Rotation,
    backups_in,
    copies_of,
    delete_old_copies,
    leftovers_of,
    rotate,
)
from cc_bot.stores import open_stores

NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
DAY = timedelta(days=1)
TOKYO = ZoneInfo("Asia/Tokyo")


def made(folder: Path, at: datetime, end: str = "") -> Path:
    """The two files of a backup."""
    path = folder / f"sessions_{at:%Y%m%d-%H%M%S}{end}.db"
    path.write_bytes(b"copy")
    path.with_suffix(".json").write_text("{}")
    return path


def beside(folder: Path, name: str, *, days_ago: float) -> Path:
    """What stands beside a database since then."""
    path = folder / name
    path.mkdir() if "restoring" in name else path.write_bytes(b"x")
    at = (NOW - timedelta(days=days_ago)).timestamp()
    os.utime(path, (at, at))
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestRotation:
    def test_deletes_what_count_or_age_lets_go_with_its_manifest(self, tmp_path: Path) -> None:
        paths = [made(tmp_path, NOW - days * DAY) for days in range(6)]
        assert rotate(tmp_path, Rotation(), NOW + 9999 * DAY, made=paths[0]) == ()
        assert rotate(tmp_path, Rotation(days=4), NOW, made=paths[0]) == (paths[5],)
        assert rotate(tmp_path, Rotation(keep=4, days=30), NOW, made=paths[0]) == (paths[4],)
        assert rotate(tmp_path, Rotation(keep=9, days=2), NOW, made=paths[0]) == (paths[3],)
        assert rotate(tmp_path, Rotation(keep=1), NOW, made=paths[0]) == (paths[2], paths[1])
        assert names(tmp_path) == ["sessions_20261122-030405.db", "sessions_20261122-030405.json"]

    def test_knows_the_order_within_a_second_and_spares_the_one_that_was_just_made(
        self, tmp_path: Path
    ) -> None:
        paths = [made(tmp_path, NOW, end) for end in ("", "-2", "-10")]
        assert [backup.path for backup in backups_in(tmp_path)] == paths[::-1]
        later = made(tmp_path, NOW + DAY)  # the clock was ahead once
        assert rotate(tmp_path, Rotation(keep=1), NOW, made=paths[0]) == (paths[1], paths[2])
        assert (paths[0].exists(), later.exists()) == (True, True)

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


class TestCopiesBesideTheDatabase:
    def test_go_when_they_are_older_unless_the_operator_wants_them_kept(self, tmp_path: Path) -> None:
        beside(tmp_path, "会話.before-v14.db", days_ago=31)
        beside(tmp_path, "会話.before-v15.db", days_ago=29)
        # By its name: a database that nobody wrote to before it was replaced is not old for that.
        beside(tmp_path, "会話.replaced-20261023-110000.db", days_ago=1)
        beside(tmp_path, "会話.replaced-20261023-110000.db-wal", days_ago=1)
        beside(tmp_path, "会話.replaced-20261023-130000-2.db", days_ago=90)
        assert delete_old_copies(tmp_path / "会話.db", NOW, 0, TOKYO) == ()
        deleted = delete_old_copies(tmp_path / "会話.db", NOW, 30, TOKYO)
        assert names(tmp_path) == ["会話.before-v15.db", "会話.replaced-20261023-130000-2.db"]
        assert len(deleted) == 3

    def test_what_a_kill_left_goes_after_a_day(self, tmp_path: Path) -> None:
        beside(tmp_path, ".sessions.before-v2.db.partial", days_ago=1.1)
        beside(tmp_path, ".sessions.db.restoring-old", days_ago=1.1)
        beside(tmp_path, ".sessions.before-v3.db.partial", days_ago=0.9)
        beside(tmp_path, ".sessions.db.restoring-new", days_ago=0.9)
        delete_old_copies(tmp_path / "sessions.db", NOW, 0, TOKYO)
        assert names(tmp_path) == [".sessions.before-v3.db.partial", ".sessions.db.restoring-new"]

    def test_are_told_from_all_that_is_no_copy(self, tmp_path: Path) -> None:
        kept = [
            *("sessions.db", "sessions.db-wal", "sessions.erasures.jsonl", "sessions.before-v2.db.bak"),
            *("other.before-v2.db", "sessions.replaced-by-me.db", "sessions_20200101-000000.db"),
            *("sessionsxbefore-v2.db", "agents.toml"),
        ]
        for name in kept:
            beside(tmp_path, name, days_ago=9999)
        assert delete_old_copies(tmp_path / "sessions.db", NOW, 1, TOKYO) == ()
        assert names(tmp_path) == sorted(kept)

    def test_with_a_name_that_means_no_moment_goes_by_the_files_time(self, tmp_path: Path) -> None:
        beside(tmp_path, "sessions.replaced-20261399-999999.db", days_ago=2)
        assert len(delete_old_copies(tmp_path / "sessions.db", NOW, 1, TOKYO)) == 1

    def test_are_found_whatever_signs_the_databases_name_has(self, tmp_path: Path) -> None:
        copy = beside(tmp_path, "[s].before-v2.db", days_ago=0)
        left = beside(tmp_path, ".[s].db.restoring-1", days_ago=0)
        beside(tmp_path, "s.before-v2.db", days_ago=0)
        beside(tmp_path, ".s.db.restoring-1", days_ago=0)
        assert copies_of(tmp_path / "[s].db") == [copy]
        assert leftovers_of(tmp_path / "[s].db") == [left]
        assert copies_of(tmp_path / "missing" / "sessions.db") == []
