"""Backups: whole, private, never in the way of the bot; the newest are kept, others by count and age."""

import asyncio
import hashlib
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cc_bot import __version__
from cc_bot.chat.stores.opening import open_stores
from cc_bot.db import ErasureLog, back_up, files
from cc_bot.db.backup import backups_in, delete_old_copies, read_manifest, rotate
from cc_bot.db.erasure_log import copied_log_path, read_erasures
from cc_bot.db.schema import known_migrations
from cc_bot.domain.errors import BackupFailed, DatabaseMissing, DatabaseUnusable, NotEnoughRoom
from cc_bot.domain.message import Message
from cc_bot.domain.session import SessionKey
from tests.storage.files import change, memories, mode, names, spoil

NOW = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)
DAY = timedelta(days=1)
TOKYO = ZoneInfo("Asia/Tokyo")
KEY = SessionKey(user_id=1, channel_id=2)
TURN = (Message("user", "こんにちは"), Message("assistant", "やあ"))


@pytest.fixture
async def database(tmp_path: Path) -> Path:
    path = tmp_path / "sessions.db"
    async with open_stores(f"sqlite:///{path}") as stores:
        await stores.memories.add(1, "誕生日は3月15日")
    return path


class TestBackup:
    async def test_is_a_private_file_named_after_its_moment(self, database: Path, tmp_path: Path) -> None:
        told = list[str]()
        folder = tmp_path / "backups" / "daily"
        moment = NOW.astimezone(TOKYO)
        result = await back_up(database, folder, moment, announce=told.append)
        assert result.path == folder / "sessions_20261122-120405.db"
        assert sorted(path.suffix for path in folder.iterdir()) == [".db", ".json", ".jsonl"]
        assert {mode(path) for path in folder.iterdir()} == {0o600}
        assert told == ["copying", "checking"]
        held, content = result.manifest, result.path.read_bytes()
        assert read_manifest(result.path) == held
        assert (held.size_bytes, held.sha256) == (len(content), hashlib.sha256(content).hexdigest())
        assert (held.made_at, held.program) == (NOW, __version__)
        assert (held.rows["memories"], held.rows["messages"]) == (1, 0)
        assert held.rows["schema_migrations"] == held.schema_version == len(known_migrations())
        assert await memories(result.path) == ["誕生日は3月15日"]

    async def test_never_takes_the_name_of_another_or_of_its_manifest(
        self, database: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "backups"
        results = await asyncio.gather(*(back_up(database, folder, NOW) for _ in range(3)))
        ends = ("-2", "-3", "")
        assert sorted(each.path.name for each in results) == [f"sessions_20261122-030405{e}.db" for e in ends]
        results[0].path.unlink()
        later = await back_up(database, folder, NOW)
        assert later.path.name == "sessions_20261122-030405-4.db"
        assert read_manifest(results[0].path) == results[0].manifest

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
        assert counts == [result.manifest.rows["messages"] for result in results]
        assert all(count % 2 == 0 for count in counts)
        assert counts == sorted(counts)
        assert counts[-1] <= turns * 2

    async def test_of_what_is_no_whole_database_of_ours_is_refused_and_leaves_no_file(
        self, database: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "backups"
        with pytest.raises(DatabaseMissing):
            await back_up(tmp_path / "missing.db", folder, NOW)
        assert not (tmp_path / "missing.db").exists()
        for spoiling in (
            lambda: change(database, "UPDATE memories SET audience = 'everyone'"),
            lambda: spoil(database),
            lambda: database.write_bytes(b"no database"),
            lambda: database.write_bytes(b""),
        ):
            spoiling()
            with pytest.raises(DatabaseUnusable):
                await back_up(database, folder, NOW)
            assert names(folder) == []

    async def test_into_no_folder_or_beside_a_record_of_erasures_that_is_none_is_refused(
        self, database: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_bytes(b"a file")
        with pytest.raises(BackupFailed) as refusal:
            await back_up(database, tmp_path / "file", NOW)
        assert refusal.value.params["path"] == str(tmp_path / "file")
        ErasureLog.beside(database).path.write_bytes(b"something else\n")
        with pytest.raises(BackupFailed):
            await back_up(database, tmp_path / "backups", NOW)
        assert names(tmp_path / "backups") == []

    async def test_looks_for_room_before_anything_is_written(
        self, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "free_bytes", lambda _: 1000)
        with pytest.raises(NotEnoughRoom):
            await back_up(database, tmp_path / "backups", NOW)
        assert names(tmp_path / "backups") == []


class TestLog:
    async def test_of_erasures_is_kept_beside_the_backups_and_loses_nothing_there(
        self, database: Path, tmp_path: Path
    ) -> None:
        log, folder = ErasureLog.beside(database), tmp_path / "backups"

        async def known() -> list[bool]:
            made = await back_up(database, folder, NOW)
            copy = read_erasures(copied_log_path(folder))
            assert made.manifest.erasures == copy.count
            return [copy.match("user", user, None) for user in (1, 2, 3)]

        assert await known() == [False] * 3
        await log.note("user", 1)
        early = log.path.read_bytes()
        await log.note("user", 2)
        assert await known() == [True, True, False]
        log.path.write_bytes(early)  # from another copy of the machine
        await log.note("user", 3)
        assert await known() == [True] * 3
        log.path.unlink()  # a new machine, and nothing was restored: older backups need the former entries
        assert await known() == [True] * 3


def made(folder: Path, at: datetime, end: str = "") -> Path:
    """The two files of a backup."""
    path = folder / f"sessions_{at:%Y%m%d-%H%M%S}{end}.db"
    path.write_bytes(b"copy")
    path.with_suffix(".json").write_text("{}")
    return path


def beside(folder: Path, name: str, *, days_ago: float) -> Path:
    path = folder / name
    path.mkdir() if "restoring" in name else path.write_bytes(b"x")
    at = (NOW - days_ago * DAY).timestamp()
    os.utime(path, (at, at))
    return path


class TestRotation:
    def test_deletes_what_count_or_age_lets_go_with_its_manifest(self, tmp_path: Path) -> None:
        paths = [made(tmp_path, NOW - days * DAY) for days in range(6)]
        assert rotate(tmp_path, NOW + 9999 * DAY, new_backup=paths[0]) == ()
        assert rotate(tmp_path, NOW, days=4, new_backup=paths[0]) == (paths[5],)
        assert rotate(tmp_path, NOW, keep=4, days=30, new_backup=paths[0]) == (paths[4],)
        assert rotate(tmp_path, NOW, keep=9, days=2, new_backup=paths[0]) == (paths[3],)
        assert rotate(tmp_path, NOW, keep=1, new_backup=paths[0]) == (paths[2], paths[1])
        assert names(tmp_path) == ["sessions_20261122-030405.db", "sessions_20261122-030405.json"]

    def test_knows_the_order_within_a_second_and_spares_the_one_that_was_just_made(
        self, tmp_path: Path
    ) -> None:
        paths = [made(tmp_path, NOW, end) for end in ("", "-2", "-10")]
        assert [backup.path for backup in backups_in(tmp_path)] == paths[::-1]
        later = made(tmp_path, NOW + DAY)  # the clock was ahead once
        assert rotate(tmp_path, NOW, keep=1, new_backup=paths[0]) == (paths[1], paths[2])
        assert (paths[0].exists(), later.exists()) == (True, True)

    def test_leaves_what_is_not_named_like_a_backup_but_copies_that_were_cut_off_a_day_ago(
        self, tmp_path: Path
    ) -> None:
        half = ".sessions_20261120-030000.db.partial"
        others = [
            *("sessions.db", "sessions_20200101-000000.txt", "sessions_20200101.db", "erasures.jsonl"),
            *("sessions_20201301-000000.db", "my_sessions_20200101-000000.db", "notes.json"),
        ]
        for name in (*others, half, f"{half}-journal"):
            beside(tmp_path, name, days_ago=2)
        cut_off_now = beside(tmp_path, half.replace("3000", "3001"), days_ago=0.1)
        newest = made(tmp_path, NOW)
        made(tmp_path, NOW - DAY)
        rotate(tmp_path, NOW, keep=1, days=1, new_backup=newest)
        kept = [cut_off_now.name, newest.name, newest.with_suffix(".json").name]
        assert names(tmp_path) == sorted([*others, *kept])


class TestCopiesBesideTheDatabase:
    def test_go_when_they_are_older_unless_the_operator_wants_them_kept(self, tmp_path: Path) -> None:
        beside(tmp_path, "会話.before-v14.db", days_ago=31)
        beside(tmp_path, "会話.before-v15.db", days_ago=29)
        beside(tmp_path, "会話.replaced-20261023-110000.db", days_ago=31)
        beside(tmp_path, "会話.replaced-20261023-110000.db-wal", days_ago=31)
        beside(tmp_path, "会話.replaced-20261023-130000-2.db", days_ago=29)
        assert delete_old_copies(tmp_path / "会話.db", NOW, 0) == ()
        deleted = delete_old_copies(tmp_path / "会話.db", NOW, 30)
        assert names(tmp_path) == ["会話.before-v15.db", "会話.replaced-20261023-130000-2.db"]
        assert len(deleted) == 3

    def test_are_told_from_all_that_is_no_copy_and_what_a_kill_left_goes_after_a_day(
        self, tmp_path: Path
    ) -> None:
        kept = [
            *("sessions.db", "sessions.db-wal", "sessions.erasures.jsonl", "sessions.before-v2.db.bak"),
            *("other.before-v2.db", "sessions.replaced-by-me.db", "sessions_20200101-000000.db"),
            *("sessionsxbefore-v2.db", "agents.toml"),
        ]
        for name in kept:
            beside(tmp_path, name, days_ago=9999)
        for name in (".sessions.before-v2.db.partial", ".sessions.db.restoring-old"):
            beside(tmp_path, name, days_ago=1.1)
        new = [".sessions.before-v3.db.partial", ".sessions.db.restoring-new"]
        for name in new:
            beside(tmp_path, name, days_ago=0.9)
        delete_old_copies(tmp_path / "sessions.db", NOW, 1)
        assert names(tmp_path) == sorted([*kept, *new])
