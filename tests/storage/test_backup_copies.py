"""Copies beside the database have their time, and nothing else is taken for one."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cc_bot.storage.backup import copies_of, delete_old_copies, leftovers_of

NOW = datetime(2026, 11, 22, 3, 0, tzinfo=UTC)
TOKYO = ZoneInfo("Asia/Tokyo")


def made(folder: Path, name: str, *, days_ago: float) -> Path:
    path = folder / name
    path.mkdir() if "restoring" in name else path.write_bytes(b"x")
    at = (NOW - timedelta(days=days_ago)).timestamp()
    os.utime(path, (at, at))
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestDeletingOldCopies:
    def test_takes_those_that_are_older_with_what_stands_beside_them(self, tmp_path: Path) -> None:
        made(tmp_path, "会話.before-v14.db", days_ago=31)
        made(tmp_path, "会話.before-v15.db", days_ago=29)
        # By its name: a database that nobody wrote to before it was replaced is not old for that.
        made(tmp_path, "会話.replaced-20261023-110000.db", days_ago=1)
        made(tmp_path, "会話.replaced-20261023-110000.db-wal", days_ago=1)
        made(tmp_path, "会話.replaced-20261023-130000-2.db", days_ago=90)
        deleted = delete_old_copies(tmp_path / "会話.db", NOW, 30, TOKYO)
        assert names(tmp_path) == ["会話.before-v15.db", "会話.replaced-20261023-130000-2.db"]
        assert len(deleted) == 3

    def test_takes_none_where_the_operator_wants_them_kept(self, tmp_path: Path) -> None:
        made(tmp_path, "sessions.before-v2.db", days_ago=9999)
        assert delete_old_copies(tmp_path / "sessions.db", NOW, 0, TOKYO) == ()

    @pytest.mark.parametrize("days", [0, 30])
    def test_takes_what_a_kill_left_after_a_day(self, tmp_path: Path, days: int) -> None:
        made(tmp_path, ".sessions.before-v2.db.partial", days_ago=1.1)
        made(tmp_path, ".sessions.db.restoring-old", days_ago=1.1)
        made(tmp_path, ".sessions.before-v3.db.partial", days_ago=0.9)
        made(tmp_path, ".sessions.db.restoring-new", days_ago=0.9)
        delete_old_copies(tmp_path / "sessions.db", NOW, days, TOKYO)
        assert names(tmp_path) == [".sessions.before-v3.db.partial", ".sessions.db.restoring-new"]

    def test_leaves_all_that_is_no_copy(self, tmp_path: Path) -> None:
        kept = [
            *("sessions.db", "sessions.db-wal", "sessions.erasures.jsonl", "sessions.before-v2.db.bak"),
            *("other.before-v2.db", "sessions.replaced-by-me.db", "sessions_20200101-000000.db"),
            *("sessionsxbefore-v2.db", "agents.toml"),
        ]
        for name in kept:
            made(tmp_path, name, days_ago=9999)
        assert delete_old_copies(tmp_path / "sessions.db", NOW, 1, TOKYO) == ()
        assert names(tmp_path) == sorted(kept)

    def test_with_a_name_that_means_no_moment_goes_by_the_files_time(self, tmp_path: Path) -> None:
        made(tmp_path, "sessions.replaced-20261399-999999.db", days_ago=2)
        assert len(delete_old_copies(tmp_path / "sessions.db", NOW, 1, TOKYO)) == 1


class TestFinding:
    def test_takes_signs_in_the_databases_name_as_they_are(self, tmp_path: Path) -> None:
        copy = made(tmp_path, "[s].before-v2.db", days_ago=0)
        left = made(tmp_path, ".[s].db.restoring-1", days_ago=0)
        made(tmp_path, "s.before-v2.db", days_ago=0)
        made(tmp_path, ".s.db.restoring-1", days_ago=0)
        assert copies_of(tmp_path / "[s].db") == [copy]
        assert leftovers_of(tmp_path / "[s].db") == [left]

    def test_in_a_folder_that_is_not_there_finds_none(self, tmp_path: Path) -> None:
        assert copies_of(tmp_path / "missing" / "sessions.db") == []
