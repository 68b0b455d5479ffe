import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from cc_bot.db import sqlite
from cc_bot.db.database import Statement
from cc_bot.db.sqlite import SqliteDatabase, connect_sqlite

CREATE = Statement("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
INDEX = Statement("CREATE INDEX notes_in_piles ON notes (id % 40, text)")


def insert(text: str) -> Statement:
    return Statement("INSERT INTO notes (text) VALUES ($1)", (text,))


def found(texts: Sequence[str], folder: Path) -> set[str]:
    data = b"".join(file.read_bytes() for file in folder.iterdir())
    return {text for text in texts if text.encode() in data}


async def fill(database: SqliteDatabase) -> tuple[list[str], set[str]]:
    """Texts that were kept, and those of them that are left after many were deleted."""
    chance = random.Random(1)
    await database.transaction([CREATE, INDEX], ())
    texts = [f"mark{number:05}{'x' * chance.randrange(600)}" for number in range(2000)]
    for start in range(0, len(texts), 50):
        await database.transaction([insert(text) for text in texts[start : start + 50]], ())
    gone = chance.sample(texts, 700)
    await database.transaction([Statement("DELETE FROM notes WHERE text = $1", (each,)) for each in gone], ())
    return texts, set(texts) - set(gone)


class TestRewriting:
    @pytest.mark.slow
    async def test_leaves_no_copy_of_what_was_moved_before_it_was_deleted(self, tmp_path: Path) -> None:
        async with connect_sqlite(tmp_path / "a.db") as database:
            texts, left = await fill(database)
            assert await database.scrub(vacuum=False) == "done"
            assert found(texts, tmp_path) > left
            assert await database.scrub(vacuum=True) == "done"
            assert await database.scrub(vacuum=False) == "done"
            assert {text for (text,) in await database.query("SELECT text FROM notes")} == left
            assert found(texts, tmp_path) == left

    async def test_lets_others_read_and_makes_writers_wait(self, tmp_path: Path) -> None:
        async with connect_sqlite(tmp_path / "a.db") as database:
            await database.transaction([CREATE], ())
            await database.transaction([insert("x" * 5000) for _ in range(4000)], ())
            rewriting = asyncio.create_task(database.scrub(vacuum=True))
            await asyncio.sleep(0)
            writing = asyncio.create_task(database.transaction([insert("new")], ()))
            assert await database.query("SELECT count(*) FROM notes") == [(4000,)]
            assert not rewriting.done()
            assert not writing.done()
            assert await rewriting == "done"
            await writing
            assert await database.query("SELECT count(*) FROM notes") == [(4001,)]

    async def test_needs_room_on_the_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with connect_sqlite(tmp_path / "a.db") as database:
            await database.transaction([CREATE], ())
            monkeypatch.setattr(sqlite, "free_bytes", lambda _: 1000)
            assert await database.scrub(vacuum=True) == "no_room"
