"""A database in another one: all of it or nothing.

With `--engine postgresql` one of the two is on a server, in either direction; without, both are files.
"""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from cc_bot.app.database import run_copy
from cc_bot.chat.stores.opening import open_stores
from cc_bot.config import read_config
from cc_bot.db import MAINTENANCE_LOCK, Database, Statement, apply_pending, open_database
from cc_bot.db.backup import announce_nothing
from cc_bot.db.copy import CopyPlan
from cc_bot.db.database import Row
from cc_bot.db.engines import dialect_of
from cc_bot.db.schema import SELECT_SCHEMA, newest_tables
from cc_bot.domain.errors import CopyRefused, CopyTargetOccupied
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.session import SessionKey
from tests.databases import laid_out
from tests.stores.backends import stores_over, turn
from tests.stores.life import live

ME: Final = 1_100_000_000_000_000_007
YOU: Final = 1_200_000_000_000_000_011
_SAMPLES: Final = {"INTEGER": 1, "REAL": 0.1, "TEXT": "猫 'cat' \\ \U0001f408", "BLOB": b"\x00\xff"}


@dataclass(frozen=True)
class Pair:
    """A source and a target, which are of two engines or of one."""

    source: str
    target: str
    folder: Path

    async def copy(self) -> CopyPlan:
        own = f"sqlite:///{self.folder / 'own.db'}"  # not data/sessions.db
        variables = {"CC_BOT_DATA_FOLDER": str(self.folder), "CC_BOT_DATABASE_URL": own}
        config = read_config(variables, self.folder / ".env")
        return (await run_copy(config, self.source, self.target, announce_nothing)).plan


@pytest.fixture(params=["there", "back"])
def pair(request: pytest.FixtureRequest, url: str, tmp_path: Path) -> Pair:
    other = laid_out(tmp_path / "other.db")
    ends = (other, url) if request.param == "there" else (url, other)
    return Pair(*ends, tmp_path)


@pytest.fixture
def third(tmp_path: Path) -> str:
    return laid_out(tmp_path / "third.db")


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    async with open_database(url) as database:
        await apply_pending(database)
        yield database


async def fill(url: str) -> None:
    """Have something in every table: what two people leave, and a row in each that they leave empty."""
    async with opened(url) as database:
        stores = stores_over(database)
        await live(stores, database, ME, "しまうま", channel=ChannelKey(3))
        await live(stores, database, YOU, "きりん", channel=ChannelKey(3))
        for table in newest_tables():
            if not await database.query(f'SELECT 1 FROM "{table.name}" LIMIT 1'):
                marks = ", ".join(f"${location}" for location in range(1, len(table.columns) + 1))
                names = ", ".join(f'"{column.name}"' for column in table.columns)
                row = tuple(_SAMPLES[column.kind] for column in table.columns)
                insert = Statement(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', row)
                await database.transaction([insert], [MAINTENANCE_LOCK])


async def write(url: str, sql: str, *params: object) -> None:
    async with opened(url) as database:
        await database.transaction([Statement(sql, params)], [MAINTENANCE_LOCK])


async def read(url: str, sql: str) -> Sequence[Row]:
    async with open_database(url) as database:
        return await database.query(sql)


async def rows(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """All that is stored."""
    found = {}
    async with open_database(url) as database:
        for table in newest_tables():
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            read = await database.query(f'SELECT {names} FROM "{table.name}"')
            found[table.name] = sorted((tuple(row) for row in read), key=repr)
    return found


async def schema(url: str) -> Sequence[tuple[Any, ...]]:
    """The objects of a database."""
    on_a_server = "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public'"
    found = await read(url, SELECT_SCHEMA if dialect_of(url) == "sqlite" else on_a_server)
    return sorted(tuple(row) for row in found)


class TestCopy:
    async def test_has_every_row_and_the_schema_there_and_back_again(self, pair: Pair, third: str) -> None:
        made = await schema(pair.target)
        await fill(pair.source)
        stored = await rows(pair.source)
        assert all(stored.values())
        there = await pair.copy()
        assert await rows(pair.target) == stored
        assert {table.name: table.count for table in there.tables} == {n: len(f) for n, f in stored.items()}
        assert there.left_out == ()
        assert await schema(pair.target) == made
        back = await Pair(pair.target, third, pair.folder).copy()
        assert [(each.name, each.count) for each in back.tables] == [(t.name, t.count) for t in there.tables]
        assert await rows(third) == stored
        async with open_database(third) as database:
            assert await apply_pending(database) == ()

    async def test_is_gone_on_with_by_the_stores(self, pair: Pair, tmp_path: Path) -> None:
        key = SessionKey(ME, 2)
        async with open_stores(pair.source, data_folder=tmp_path, embedder=None) as stores:
            await stores.sessions.commit_turn(await stores.sessions.open(key), turn("猫の名前はモチ"))
            memory = await stores.memories.add(ME, "猫はモチ")
            deleted = await stores.memories.add(ME, "消したもの")
            await stores.memory_removal.erase(ME, deleted.id)
        await pair.copy()
        async with open_stores(pair.target, data_folder=tmp_path, embedder=None) as stores:
            session = await stores.sessions.open(key)
            assert session.history[0].content == "猫の名前はモチ"
            after = await stores.sessions.commit_turn(session, turn("元気？"))
            assert (after.history[-1].id or 0) > (session.history[-1].id or 0)
            assert [each.memory.id for each in await stores.memories.find(ME, "モチ")] == [memory.id]
            newer = await stores.memories.add(ME, "犬はポチ")
            assert newer.id > deleted.id
            assert newer.number > deleted.number

    async def test_of_another_version_has_what_both_schemas_have(self, url: str, tmp_path: Path) -> None:
        pair = Pair(laid_out(tmp_path / "other.db"), url, tmp_path)
        async with opened(pair.source) as database:
            await live(stores_over(database), database, ME, "しまうま", channel=ChannelKey(3))
            changes = (
                "ALTER TABLE memories ADD COLUMN mood TEXT DEFAULT 'うきうき'",
                "CREATE TABLE moods (id BIGINT PRIMARY KEY)",
                "DROP TABLE token_factors",
                "ALTER TABLE messages DROP COLUMN tainted",
                "ALTER TABLE proposals RENAME COLUMN content TO change",
            )
            await database.transaction([*map(Statement, changes)], [MAINTENANCE_LOCK])
        contents = "SELECT id, content FROM messages ORDER BY id"
        expected = [tuple(row) for row in await read(pair.source, contents)]
        assert (await pair.copy()).left_out == ("memories.mood", "moods", "proposals")
        assert [tuple(row) for row in await read(pair.target, contents)] == expected
        assert expected


class TestACopyThatCantBe:
    async def test_into_what_holds_something_else_is_refused_and_leaves_it_alone(self, pair: Pair) -> None:
        await fill(pair.source)
        await write(pair.target, "INSERT INTO erasing (user_id, since) VALUES (2, 1)")
        before = await rows(pair.target)
        with pytest.raises(CopyTargetOccupied) as refused:
            await pair.copy()
        assert refused.value.params["name"] == "erasing"
        assert await rows(pair.target) == before

    async def test_for_a_row_that_refers_to_nothing_names_its_table_and_stores_nothing(
        self, url: str, tmp_path: Path
    ) -> None:
        pair = Pair(laid_out(tmp_path / "other.db"), url, tmp_path)
        await fill(pair.source)
        with closing(sqlite3.connect(tmp_path / "other.db")) as connection, connection:
            connection.execute("UPDATE messages SET session_id = 'gone'")
        before = await rows(pair.target)
        with pytest.raises(CopyRefused) as refused:
            await pair.copy()
        assert refused.value.params["name"] == "messages"
        assert await rows(pair.target) == before
        await write(pair.source, "UPDATE messages SET session_id = NULL")
        await pair.copy()
