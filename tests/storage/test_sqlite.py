"""The connection: how a file is opened, what a transaction promises, and what becomes of errors."""

import asyncio
import logging
import os
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.db import Row, Statement, Transaction
from cc_bot.db.sqlite import connect_sqlite
from cc_bot.domain.errors import DatabaseFolderMissing, DatabaseUnusable, StorageError
from tests.storage.files import mode

CREATE = Statement("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)")


def insert(text: str) -> Statement:
    return Statement("INSERT INTO notes (text) VALUES ($1) RETURNING id", (text,))


class TestFile:
    async def test_it_and_its_log_are_private_from_the_start_whatever_the_umask(self, tmp_path: Path) -> None:
        shared = tmp_path / "shared.db"
        shared.touch(mode=0o644)
        before = os.umask(0)
        try:
            for path in (tmp_path / "sessions.db", shared):
                async with connect_sqlite(path) as database:
                    await database.transaction([CREATE], ())
                    files = [path, path.with_suffix(".db-wal"), path.with_suffix(".db-shm")]
                    assert [mode(file) for file in files] == [0o600] * 3
        finally:
            os.umask(before)

    async def test_has_its_folder_made_where_that_is_the_defaults(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for name in ("date/sessions.db", "other/data/sessions.db"):
            with pytest.raises(DatabaseFolderMissing) as refusal:
                async with connect_sqlite(Path(name)):
                    pass
            assert refusal.value.params["path"] == str(Path(name).parent)
        for name in ("data/sessions.db", ":memory:"):  # which is a file like any other
            async with connect_sqlite(Path(name)):
                assert (tmp_path / name).is_file()
        assert mode(tmp_path / "data") == 0o700
        assert not any(map(os.path.exists, ("date", "other")))

    async def test_a_new_one_is_opened_by_all_programs_that_start_at_once(self, tmp_path: Path) -> None:
        async def start(path: Path) -> Sequence[Row]:
            async with connect_sqlite(path) as database:
                return await database.query("PRAGMA journal_mode")

        for number in range(10):
            modes = await asyncio.gather(*(start(tmp_path / f"{number}.db") for _ in range(6)))
            assert modes == [[("wal",)]] * 6

    async def test_that_is_no_database_of_ours_is_refused_and_left_as_it_was(self, tmp_path: Path) -> None:
        with closing(sqlite3.connect(tmp_path / "places.db")) as other:
            other.execute("CREATE TABLE bookmarks (url TEXT)")
        (tmp_path / "letter.txt").write_text("親愛なる友へ " * 200, "utf-8")
        (tmp_path / "damaged.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4096)
        contents = {path: path.read_bytes() for path in tmp_path.iterdir()}  # noqa: ASYNC240 - before it opens
        (tmp_path / "folder").mkdir()
        for path in (*contents, tmp_path / "folder"):
            with pytest.raises(DatabaseUnusable) as refusal:
                async with connect_sqlite(path):
                    pass
            assert refusal.value.params["path"] == str(path)
        assert {path: path.read_bytes() for path in contents} == contents


class TestPragmas:
    async def test_are_those_of_the_design(self, tmp_path: Path) -> None:
        expected = {"journal_mode": "wal", "foreign_keys": 1, "secure_delete": 1, "synchronous": 1}
        async with connect_sqlite(tmp_path / "a.db") as database:
            found = {name: (await database.query(f"PRAGMA {name}"))[0][0] for name in expected}
        assert found == expected
        async with connect_sqlite(tmp_path / "a.db", synchronous="FULL") as database:
            assert await database.query("PRAGMA synchronous") == [(2,)]


class TestTransaction:
    async def test_returns_the_rows_of_each_statement_and_takes_effect_whole_or_not_at_all(
        self, tmp_path: Path
    ) -> None:
        async with connect_sqlite(tmp_path / "a.db") as database:
            results = await database.transaction(
                [CREATE, insert("一"), insert("two"), Statement("SELECT text FROM notes ORDER BY id")], ()
            )
            assert [list(rows) for rows in results] == [[], [(1,)], [(2,)], [("一",), ("two",)]]
            with pytest.raises(StorageError):
                await database.transaction([insert("lost"), insert("two")], ())
            assert await database.query("SELECT count(*) FROM notes") == [(2,)]
            await database.transaction([insert("半分 \ud83d 😀")], ())
            assert (await database.query("SELECT text FROM notes"))[-1] == ("半分 ? 😀",)

    async def test_of_a_cancelled_caller_is_whole_and_leaves_nothing_open(self, tmp_path: Path) -> None:
        path = tmp_path / "a.db"
        async with connect_sqlite(path) as database:
            await database.transaction([CREATE], ())
            for attempt in range(50):
                batch = [insert(f"{attempt}-{number}") for number in range(20)]
                task = asyncio.create_task(database.transaction(batch, ()))
                for _ in range(attempt % 5):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task])
            # Another writer gets in at once, so no transaction is open.
            await database.query("SELECT 1")
            with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                other.execute("ROLLBACK")
            counts = await database.query(
                "SELECT count(*) FROM notes GROUP BY substr(text, 1, instr(text, '-'))"
            )
        assert set(counts) == {(20,)}


class TestCheckpoint:
    async def test_leaves_nothing_in_the_log_and_waits_for_nobody_who_reads(self, tmp_path: Path) -> None:
        path, secret = tmp_path / "notes.db", "秘密".encode()
        async with connect_sqlite(path) as database:
            await database.transaction([CREATE, insert("秘密")], ())
            waits = await database.query("PRAGMA busy_timeout")
            assert secret in path.with_suffix(".db-wal").read_bytes()
            assert await database.scrub(vacuum=False) == "done"
            assert await database.query("PRAGMA busy_timeout") == waits
            assert path.with_suffix(".db-wal").read_bytes() == b""
            with closing(sqlite3.connect(path, isolation_level=None)) as reader:
                reader.execute("BEGIN")
                reader.execute("SELECT * FROM notes").fetchall()
                await database.transaction([Statement("DELETE FROM notes")], ())
                assert await database.scrub(vacuum=False) == "busy"
                assert secret in path.read_bytes()
            assert await database.scrub(vacuum=False) == "done"
            assert secret not in path.read_bytes()


class TestErrors:
    async def test_arrive_as_storage_errors_that_keep_their_cause(self, tmp_path: Path) -> None:
        async with connect_sqlite(tmp_path / "a.db") as database:
            with pytest.raises(StorageError) as error:
                await database.query("SELECT * FROM nowhere")
            with pytest.raises(StorageError):
                await database.query("SELECT $1", 2**64)
        assert isinstance(error.value.__cause__, sqlite3.OperationalError)
        with pytest.raises(StorageError):  # it is closed
            await database.query("SELECT 1")

    async def test_what_people_said_is_not_in_the_drivers_debug_log(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        async with connect_sqlite(tmp_path / "a.db") as database:
            await database.transaction([CREATE, insert("ひみつの話")], ())
            await database.query("SELECT $1", "secret words")
        assert "executing" in caplog.text
        assert "ひみつ" not in caplog.text
        assert "secret words" not in caplog.text


class TestSteps:
    async def test_that_read_see_one_state_whatever_others_write(self, tmp_path: Path) -> None:
        other = sqlite3.connect(tmp_path / "a.db", isolation_level=None, check_same_thread=False)

        def look_twice() -> Transaction[list[int]]:
            [(before,)] = yield Statement("SELECT count(*) FROM notes")
            other.execute("INSERT INTO notes (text) VALUES ('in between')")
            [(after,)] = yield Statement("SELECT count(*) FROM notes")
            return [before, after]

        async with connect_sqlite(tmp_path / "a.db") as database:
            await database.transaction([CREATE], ())
            assert await database.read(look_twice) == [0, 0]
            assert await database.query("SELECT count(*) FROM notes") == [(1,)]
        other.close()

    async def test_that_write_are_alone_from_their_first_reading_on(self, tmp_path: Path) -> None:
        def one_more() -> Transaction[None]:
            [(number,)] = yield Statement("SELECT coalesce(max(CAST(text AS INTEGER)), 0) FROM notes")
            yield insert(str(number + 1))

        path = tmp_path / "a.db"
        async with connect_sqlite(path) as one, connect_sqlite(path) as other:
            await one.transaction([CREATE], ())
            await asyncio.gather(
                *(database.write(one_more, ()) for database in (one, other) for _ in range(20))
            )
            assert await one.query("SELECT max(CAST(text AS INTEGER)), count(*) FROM notes") == [(40, 40)]

    async def test_that_read_for_long_hold_up_no_other_statement(self, tmp_path: Path) -> None:
        begun, released = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def count_late() -> Transaction[int]:
            [(before,)] = yield Statement("SELECT count(*) FROM notes")
            loop.call_soon_threadsafe(begun.set)
            released.wait(10)
            [(after,)] = yield Statement("SELECT count(*) FROM notes")
            return int(before + after)

        async with connect_sqlite(tmp_path / "a.db") as database:
            await database.transaction([CREATE], ())
            reading = asyncio.create_task(database.read_long(count_late))
            await begun.wait()
            await database.transaction([insert("meanwhile")], ())
            assert await database.query("SELECT count(*) FROM notes") == [(1,)]
            assert not reading.done()
            released.set()
            assert await reading == 0  # one state, as every read sees
            assert await database.scrub(vacuum=False) == "done"  # nothing is left open
            with pytest.raises(StorageError):
                await database.read_long(insert("not in a read").as_transaction)
