"""Backups: whole, private, and never in the way of the bot."""

import asyncio
import hashlib
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cc_bot import __version__
from cc_bot.domain.errors import BackupFailed, DatabaseMissing, DatabaseUnusable, NotEnoughRoom
from cc_bot.domain.message import Message
from cc_bot.domain.session import SessionKey
from cc_bot.storage import ErasureLog, back_up
from cc_bot.storage.erasures import logs_in, read_logs
from cc_bot.storage.manifest import Manifest, read_manifest
from cc_bot.storage.migrate import known_migrations
from cc_bot.storage.rewriting import ensure_free_space
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


def spoil(path: Path) -> None:
    """Overwrite every page but the first."""
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))


def disobey(path: Path) -> None:
    """Have a row that the database's own rules forbid."""
    with closing(sqlite3.connect(path)) as broken:
        broken.execute("PRAGMA ignore_check_constraints = ON")
        broken.execute("UPDATE memories SET audience = 'everyone'")
        broken.commit()


def copies(folder: Path) -> list[str]:
    return [name for name in names(folder) if name.endswith(".db")]


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


class TestBackup:
    async def test_is_a_private_file_named_after_its_moment(self, database: Path, tmp_path: Path) -> None:
        told = list[tuple[str, int, int]]()
        folder = tmp_path / "backups" / "daily"
        result = await back_up(database, folder, NOW, progress=lambda *step: told.append(step))
        assert result.path == folder / "sessions_20261122-030405.db"
        copy, log, manifest, *others = sorted(
            folder.iterdir(), key=lambda path: (".db", ".jsonl", ".json").index(path.suffix)
        )
        assert (copy, manifest, others) == (result.path, result.path.with_suffix(".json"), [])
        assert [path.stat().st_mode & 0o777 for path in (copy, log, manifest)] == [0o600] * 3
        assert list(dict.fromkeys(stage for stage, _, _ in told)) == ["copying", "checking", "hashing"]
        assert told[-1] == ("hashing", result.manifest.size_bytes, result.manifest.size_bytes)
        async with open_stores(f"sqlite:///{result.path}") as stores:
            assert [memory.content for memory in await stores.memories.list(1)] == ["誕生日は3月15日"]

    async def test_never_takes_the_name_of_another_or_of_its_manifest(
        self, database: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "backups"
        results = await asyncio.gather(*(back_up(database, folder, NOW) for _ in range(3)))
        assert (
            sorted(result.path.name for result in results)
            == copies(folder)
            == [
                "sessions_20261122-030405-2.db",
                "sessions_20261122-030405-3.db",
                "sessions_20261122-030405.db",
            ]
        )
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
        with pytest.raises(DatabaseMissing):
            await back_up(tmp_path / "missing.db", tmp_path / "backups", NOW)
        assert not (tmp_path / "missing.db").exists()
        for change in (
            lambda: disobey(database),
            lambda: spoil(database),
            lambda: database.write_bytes(b"no database"),
            lambda: database.write_bytes(b""),
        ):
            change()
            with pytest.raises(DatabaseUnusable):
                await back_up(database, tmp_path / "backups", NOW)
            assert names(tmp_path / "backups") == []

    async def test_into_a_place_that_is_no_folder_is_refused(self, database: Path, tmp_path: Path) -> None:
        (tmp_path / "backups").write_bytes(b"a file")
        with pytest.raises(BackupFailed) as refusal:
            await back_up(database, tmp_path / "backups", NOW)
        assert refusal.value.params["path"] == str(tmp_path / "backups")


class TestManifest:
    async def test_says_what_the_copy_holds(self, database: Path, tmp_path: Path) -> None:
        result = await back_up(database, tmp_path / "backups", NOW.astimezone(ZoneInfo("Asia/Tokyo")))
        assert result.path.name == "sessions_20261122-120405.db"
        assert read_manifest(result.path) == result.manifest
        content = result.path.read_bytes()
        held = result.manifest
        assert (held.size_bytes, held.sha256) == (len(content), hashlib.sha256(content).hexdigest())
        assert (held.made_at, held.program) == (NOW, __version__)
        assert (held.rows["memories"], held.rows["messages"]) == (1, 0)
        newest = known_migrations()[-1].version
        assert held.rows["schema_migrations"] == held.schema_version == newest

    async def test_that_is_spoiled_is_told_from_one_that_is_missing(self, tmp_path: Path) -> None:
        assert read_manifest(tmp_path / "sessions_20261122-120405.db") is None
        for text in ("", "{}", "[]", '{"format": 2}', '{"format": 1, "rows": {}}'):
            with pytest.raises(ValueError):  # noqa: PT011 - which one tells nobody anything
                Manifest.from_json(text)


class TestLog:
    async def test_never_takes_the_place_of_one_that_older_backups_need(
        self, database: Path, tmp_path: Path
    ) -> None:
        log, folder = ErasureLog.beside(database), tmp_path / "backups"
        await log.note("user", 1)
        await back_up(database, folder, NOW)
        log.path.unlink()  # a new machine, and nothing was restored
        await log.note("user", 2)
        await back_up(database, folder, NOW)
        known = [
            [log.match("user", user, None) for user in (1, 2)]
            for log in read_logs(logs_in(folder))[0].values()
        ]
        assert sorted(known) == [[False, True], [True, False]]

    async def test_of_erasures_is_kept_beside_the_backups_and_loses_nothing_there(
        self, database: Path, tmp_path: Path
    ) -> None:
        log, folder = ErasureLog.beside(database), tmp_path / "backups"

        async def known() -> tuple[Path, list[bool]]:
            await back_up(database, folder, NOW)
            [(path, erasures)] = read_logs(logs_in(folder))[0].items()
            assert path.stat().st_mode & 0o777 == 0o600
            return path, [erasures.match("user", user, None) for user in (1, 2, 3)]

        path, none = await known()
        await log.note("user", 1)
        early = log.path.read_bytes()
        await log.note("user", 2)
        assert (none, await known()) == ([False] * 3, (path, [True, True, False]))
        log.path.write_bytes(early)  # from another copy of the machine
        await log.note("user", 3)
        assert await known() == (path, [True] * 3)

    async def test_that_is_none_of_ours_means_no_backup(self, database: Path, tmp_path: Path) -> None:
        ErasureLog.beside(database).path.write_bytes(b"something else\n")
        with pytest.raises(BackupFailed):
            await back_up(database, tmp_path / "backups", NOW)
        assert names(tmp_path / "backups") == []


class TestRoom:
    def test_is_looked_for_before_anything_is_written(self, tmp_path: Path) -> None:
        ensure_free_space(tmp_path, 1000, free=lambda _: 2**30)
        with pytest.raises(NotEnoughRoom) as refusal:
            ensure_free_space(tmp_path, 2**30, free=lambda _: 2**30)
        assert refusal.value.params == {"path": str(tmp_path), "needed": "1,040 MiB", "free": "1,024 MiB"}
