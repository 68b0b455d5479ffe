"""What was erased from a large database is, in its time, gone from unused room of its pages as well."""

import asyncio
import random
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cc_bot.storage import Database, Statement
from cc_bot.stores import MemoryRemovalStore, MemoryStore
from tests.stores.backends import Full, Recorder
from tests.stores.memory.notes import ME, START

AT_ONCE = timedelta()

pytestmark = pytest.mark.sqlite("a file that is written anew")


def removal_of(database: Database, now: datetime = START) -> MemoryRemovalStore:
    """As if every file were a large one."""
    return MemoryRemovalStore(database, clock=lambda: now, small_bytes=0)


def found(texts: list[str], folder: Path) -> set[str]:
    data = b"".join(file.read_bytes() for file in folder.iterdir())
    return {text for text in texts if text.encode() in data}


async def keep_and_erase(database: Database) -> tuple[list[str], set[str]]:
    """What memories of some users begin with, and those of them that are left after many were erased.

    The index has them in piles, as those of a large database have them: rows come between others, so that
    SQLite has to divide pages.
    """
    await database.transaction([Statement("CREATE INDEX piles ON memories (id % 3, content)")], ())
    chance, store = random.Random(3), MemoryStore(database)
    kept: dict[str, tuple[int, int]] = {}
    for number in range(700):
        user, mark = ME + chance.randrange(10), f"秘密{number:05}"
        kept[mark] = (user, (await store.add(user, mark + "x" * chance.randrange(600))).id)
    gone = chance.sample(list(kept), 250)
    for mark in gone:
        await removal_of(database).erase(*kept[mark])
    return list(kept), kept.keys() - set(gone)


async def erase_one(database: Database, removal: MemoryRemovalStore) -> None:
    memory = await MemoryStore(database).add(ME, "猫")
    await removal.erase(ME, memory.id)


async def rewritten(database: Database) -> int:
    [(number,)] = await database.query("SELECT rewritten FROM memory_erasures")
    return int(number)


class TestLargeFile:
    @pytest.mark.slow
    async def test_has_pieces_of_what_was_erased_until_it_is_written_anew(
        self, database: Database, tmp_path: Path
    ) -> None:
        texts, left = await keep_and_erase(database)
        removal = removal_of(database)
        assert await removal.write_back()
        assert found(texts, tmp_path) > left
        assert await removal.rewrite(quiet=AT_ONCE) == "done"
        assert await removal.write_back()
        assert found(texts, tmp_path) == left

    async def test_is_written_anew_where_something_was_erased_once_in_some_hours_at_a_quiet_moment(
        self, database: Database
    ) -> None:
        recorder = Recorder(database)
        removal = removal_of(recorder)
        assert await removal.rewrite(quiet=AT_ONCE) == "done"
        assert recorder.trips == 1, "nothing is owed"
        await erase_one(database, removal)
        assert await removal_of(Full(database)).rewrite(quiet=AT_ONCE) == "no_room"
        assert await removal.rewrite(quiet=timedelta(hours=1)) == "busy"
        assert await rewritten(database) == 0
        assert await removal.rewrite(quiet=AT_ONCE) == "done"
        assert await rewritten(database) == 1
        await erase_one(database, removal)
        assert await removal.rewrite(quiet=AT_ONCE) == "busy"
        later = removal_of(database, START + timedelta(hours=6))
        assert await later.rewrite(quiet=AT_ONCE) == "done"
        assert await rewritten(database) == 2


class TestSmallFile:
    async def test_is_written_anew_as_soon_as_something_is_erased(self, database: Database) -> None:
        removal = MemoryRemovalStore(database)
        await erase_one(database, removal)
        assert await rewritten(database) == 1
        assert await removal.rewrite() == "done"


class TestKilledProgram:
    @pytest.mark.slow
    @pytest.mark.parametrize("rewrites", [False, True])
    async def test_is_followed_by_one_that_writes_the_file_anew(
        self, url: str, database: Database, tmp_path: Path, rewrites: bool
    ) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ERASER, url, str(int(rewrites))),
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[3],
        )
        assert process.stdout is not None
        assert await process.stdout.readline()
        process.kill()
        await process.communicate()
        removal = removal_of(database)
        assert await rewritten(database) == 0
        assert await removal.rewrite(quiet=AT_ONCE) == "done"
        assert await removal.write_back()
        assert await rewritten(database) == 1
        assert await database.query("SELECT count(*) FROM memories") == [(0,)]
        assert await database.query("PRAGMA integrity_check") == [("ok",)]
        assert found(["秘密のこと"], tmp_path) == set()


ERASER = """
import asyncio, sys
from cc_bot.storage import open_database
from cc_bot.stores import MemoryRemovalStore, MemoryStore

async def main(url, rewrites):
    async with open_database(url) as database:
        memory = await MemoryStore(database).add(7, "秘密のこと")
        await MemoryRemovalStore(database, small_bytes=0).erase(7, memory.id)
        if rewrites:
            await database.rewrite()
        print("erased", flush=True)
        await asyncio.sleep(60)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""
