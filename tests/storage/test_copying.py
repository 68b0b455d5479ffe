"""A database in another one: all of it, alike, whatever came between.

With `--engine postgresql` one of the two is on a server, in either direction; without, both are files.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from cc_bot.domain import ChannelKey, SessionKey
from cc_bot.domain.errors import (
    CopyOfAnother,
    CopyTargetOccupied,
    CopyUnfinished,
)
from cc_bot.storage import EVERYBODY, Database, Statement, apply_pending, open_database
from cc_bot.storage.copying import (
    CopiedTable,
    Copying,
    PageLimit,
    copied_tables,
    ensure_copyable,
    ensure_finished,
    prepare_target,
)
from cc_bot.storage.database import Row
from cc_bot.storage.engines import dialect_of, open_snapshot
from cc_bot.storage.manifest import MARK, Progress, Stage, ignore_progress
from cc_bot.storage.migrate import deviations_of, known_migrations
from cc_bot.storage.schema import SELECT_SCHEMA, Schema
from cc_bot.stores import open_stores
from tests.databases import laid_out
from tests.stores.backends import stores_over, tables_of, turn
from tests.stores.life import live

T = TypeVar("T")

ME: Final = 1_100_000_000_000_000_007
YOU: Final = 1_200_000_000_000_000_011
SMALL: Final = PageLimit(rows=2)
_SAMPLES: Final = {"INTEGER": 1, "REAL": 0.1, "TEXT": "猫 'cat' \\ \U0001f408", "BLOB": b"\x00\xff"}


@dataclass(frozen=True)
class Pair:
    """A source and a target, which are of two engines or of one."""

    source: str
    target: str

    async def copy(
        self, limit: PageLimit = SMALL, progress: Progress = ignore_progress
    ) -> dict[str, CopiedTable]:
        async with open_database(self.target) as target:
            occupied = await prepare_target(target, "the source")
            async with open_snapshot(self.source) as source:
                copying = Copying(source, target, limit=limit, progress=progress)
                done = await (copying.check(occupied) if occupied else copying.run())
        return {table.name: table for table in done}


@pytest.fixture(params=["there", "back"])
def pair(request: pytest.FixtureRequest, url: str, tmp_path: Path) -> Pair:
    other = laid_out(tmp_path / "other.db")
    return Pair(other, url) if request.param == "there" else Pair(url, other)


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
        for table in copied_tables():
            if not await database.query(f'SELECT 1 FROM "{table.name}" LIMIT 1'):
                marks = ", ".join(f"${place}" for place in range(1, len(table.columns) + 1))
                names = ", ".join(f'"{column.name}"' for column in table.columns)
                row = tuple(_SAMPLES[column.kind] for column in table.columns)
                insert = Statement(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', row)
                await database.transaction([insert], [EVERYBODY])


async def write(url: str, sql: str, *params: object) -> None:
    async with opened(url) as database:
        await database.transaction([Statement(sql, params)], [EVERYBODY])


async def read(url: str, sql: str) -> Sequence[Row]:
    async with open_database(url) as database:
        return await database.query(sql)


async def rows(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """All that is stored."""
    found = {}
    async with open_database(url) as database:
        for table in copied_tables():
            names = ", ".join(f'"{column.name}"' for column in table.columns)
            read = await database.query(f'SELECT {names} FROM "{table.name}"')
            found[table.name] = sorted((tuple(row) for row in read), key=repr)
    return found


async def is_finished(url: str) -> bool:
    async with open_database(url) as database:
        return MARK not in await tables_of(database)


async def schema(url: str) -> Sequence[tuple[Any, ...]]:
    """What a database is made of, its triggers and whether they are in force included."""
    on_a_server = (
        "SELECT CAST(c.relname AS TEXT), CAST(t.tgname AS TEXT), CAST(t.tgenabled AS TEXT)"
        " FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal"
        " UNION ALL SELECT CAST(tablename AS TEXT), '', '' FROM pg_tables WHERE schemaname = 'public'"
    )
    found = await read(url, SELECT_SCHEMA if dialect_of(url) == "sqlite" else on_a_server)
    return sorted(tuple(row) for row in found)


async def test_the_tables_are_all_that_either_engine_has_with_the_same_numbered_ones(
    url: str,
) -> None:
    async with opened(url) as database:
        assert {each.name for each in copied_tables()} == {*await tables_of(database)} - {"schema_migrations"}
        if database.dialect == "sqlite":
            return
        identities = await database.query(
            "SELECT CAST(table_name AS TEXT) FROM information_schema.columns"
            " WHERE is_identity = 'YES' AND table_schema = current_schema()"
        )
        assert {name for (name,) in identities} == {each.name for each in copied_tables() if each.numbered}


class TestCopy:
    async def test_has_every_row_and_the_schema_there_and_back_again(self, pair: Pair, third: str) -> None:
        made = await schema(pair.target)
        await fill(pair.source)
        stored = await rows(pair.source)
        assert all(stored.values())
        told = list[tuple[Stage, int, int]]()
        there = await pair.copy(progress=lambda *step: told.append(step))
        assert await rows(pair.target) == stored
        assert {name: table.rows for name, table in there.items()} == {n: len(f) for n, f in stored.items()}
        assert await schema(pair.target) == made
        total = sum(map(len, stored.values()))
        for stage, expected in (("rows", total), ("comparing", 2 * total)):
            steps = [(done, of) for name, done, of in told if name == stage]
            assert steps[0] == (0, expected)
            assert steps[-1] == (expected, expected)
            assert steps == sorted(steps)
        back = await Pair(pair.target, third).copy(PageLimit(rows=100, bytes=1))  # as large as one row is
        assert back == there == await pair.copy(), "it is found done"
        assert await rows(third) == stored
        async with open_database(third) as database:
            found = Schema.of_rows(await database.query(SELECT_SCHEMA))
        assert deviations_of(found, known_migrations()[-1].version) == ()

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
            assert [each.id for each in await stores.memories.search(ME, "モチ")] == [memory.id]
            newer = await stores.memories.add(ME, "犬はポチ")
            assert newer.id > deleted.id
            assert newer.number > deleted.number

    async def test_is_of_one_state_whatever_is_written_meanwhile(self, pair: Pair) -> None:
        await fill(pair.source)
        before = await rows(pair.source)
        async with open_database(pair.target) as target, open_database(pair.source) as bot:
            assert not await prepare_target(target, "the source")
            async with open_snapshot(pair.source) as source:
                add = Statement("INSERT INTO erasing (user_id, since) VALUES (1, 1)")
                await bot.transaction([add], [EVERYBODY])
                await Copying(source, target, limit=SMALL).run()
        assert await rows(pair.target) == before


class Killed(Exception):
    """The program ends here."""


class TestACopyThatIsCutOff:
    @pytest.mark.slow
    async def test_after_any_page_goes_on_and_ends_right(self, pair: Pair) -> None:
        await fill(pair.source)
        cuts = 0
        while True:
            try:
                await pair.copy(PageLimit(rows=4), progress=killing_at("rows", calls=2))
            except Killed:
                cuts += 1
                assert not await is_finished(pair.target)
            else:
                break
        stored = await rows(pair.source)
        assert cuts == sum(-(-len(found) // 4) for found in stored.values())
        assert await rows(pair.target) == stored
        assert await is_finished(pair.target)

    async def test_is_no_database_to_work_with_until_it_is_gone_on_with_from_its_source(
        self, pair: Pair, tmp_path: Path
    ) -> None:
        await fill(pair.source)
        with pytest.raises(Killed):
            await pair.copy(progress=killing_at("comparing"))
        with pytest.raises(CopyUnfinished):
            async with open_stores(pair.target, data_folder=tmp_path, embedder=None):
                pass
        async with open_database(pair.target) as target:
            with pytest.raises(CopyUnfinished) as unfinished:
                await ensure_copyable(target)
            with pytest.raises(CopyOfAnother) as another:
                await prepare_target(target, "another source")
        assert unfinished.value.params["url"] == another.value.params["url"] == "the source"
        # It is compared as a whole, with a source that was changed since.
        await write(pair.source, "UPDATE messages SET content = 'とら' WHERE author_id = $1", ME)
        await write(pair.source, "DELETE FROM attachments")
        await pair.copy()
        assert await rows(pair.target) == await rows(pair.source)
        async with open_database(pair.target) as database:
            await ensure_finished(database)


def killing_at(stage: Stage, *, calls: int = 1) -> Progress:
    """The end of the program, where it tells for the nth time how far that stage is."""
    left = [calls]

    def progress(told: Stage, _done: int, _total: int) -> None:
        left[0] -= told == stage
        if told == stage and not left[0]:
            raise Killed

    return progress


class TestACopyThatCantBe:
    async def test_into_what_holds_something_else_is_refused_and_leaves_it_alone(self, pair: Pair) -> None:
        await write(pair.source, "INSERT INTO erasing (user_id, since) VALUES (1, 1)")
        await write(pair.target, "INSERT INTO erasing (user_id, since) VALUES (2, 1)")
        before = await rows(pair.target)
        with pytest.raises(CopyTargetOccupied):  # though it has as many rows
            await pair.copy()
        await fill(pair.source)
        with pytest.raises(CopyTargetOccupied) as refused:
            await pair.copy()
        assert refused.value.params["name"] == "erasing"
        assert await rows(pair.target) == before
        assert await is_finished(pair.target)
