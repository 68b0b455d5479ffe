"""Forgetting: the undo, the purge, erasing at once, and the write-ahead log after it."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from freezegun import freeze_time
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.domain.errors import StorageError
from cc_bot.domain.memory import UNDO_TIME, ErasureCounts
from cc_bot.storage import Database, memory_name, user
from cc_bot.stores import MemoryRemovalStore, Stores
from cc_bot.stores.memory.index import fold_in
from tests.stores.backends import OTHER_USER, Recorder
from tests.stores.forgetting import FACT, FOLDED, ME, YOU, bytes_of, calls_of, remembered, statuses, stored

SERIAL = count(1)
START = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)


class TestUndo:
    async def test_gives_back_a_memory_with_its_history(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "東京在住", tags=("家",), audience="private")
        await stores.memories.update(ME, memory.id, content="大阪在住")
        before = await stores.memories.get(ME, memory.id)
        await stores.memories.delete(ME, memory.id)
        assert await stores.memory_removal.undelete(ME, memory.id) == before
        assert await stores.memories.search(ME, "大阪", audience="private") == [before]
        assert [each.content for each in await stores.memory_history.list_versions(ME, memory.id)] == [
            "東京在住"
        ]

    async def test_is_over_after_ten_minutes_even_before_the_purge(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as now:
            memories = [await stores.memories.add(ME, text) for text in ("一", "二")]
            for memory in memories:
                await stores.memories.delete(ME, memory.id)
            now.tick(UNDO_TIME - timedelta(seconds=1))
            assert await stores.memory_removal.undelete(ME, memories[0].id) == memories[0]
            now.tick(1)
            assert await stores.memory_removal.undelete(ME, memories[1].id) is None

    async def test_is_refused_for_what_is_not_hidden_not_there_or_not_theirs(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "猫が好き")
        assert await stores.memory_removal.undelete(ME, memory.id) is None
        await stores.memories.delete(ME, memory.id)
        assert await stores.memory_removal.undelete(YOU, memory.id) is None
        assert await stores.memory_removal.undelete(ME, 2**70) is None

    async def test_twice_at_once_gives_it_back_once(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "猫が好き")
        await stores.memories.delete(ME, memory.id)
        undo = stores.memory_removal.undelete
        back = await asyncio.gather(undo(ME, memory.id), undo(ME, memory.id))
        assert sorted(each is None for each in back) == [False, True]


class TestPurge:
    async def test_removes_what_was_deleted_until_then_of_all_users(
        self, stores: Stores, database: Database
    ) -> None:
        with freeze_time(START, real_asyncio=True) as now:
            mine = await stores.memories.add(ME, "古い")
            await stores.memories.update(ME, mine.id, content="新しい")
            yours = await stores.memories.add(YOU, "Yours")
            await stores.memories.delete(ME, mine.id)
            await stores.memories.delete(YOU, yours.id)
            now.tick(60)
            later = await stores.memories.add(ME, "あとで")
            await stores.memories.delete(ME, later.id)
            assert await stores.memory_removal.purge(START - timedelta(seconds=1)) == 0
            assert await stores.memory_removal.purge(START) == 2
        assert await statuses(database) == ["deleted"]
        assert await statuses(database, YOU) == []

    async def test_leaves_alone_what_was_had_back(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "猫が好き")
        await stores.memories.delete(ME, memory.id)
        await stores.memory_removal.undelete(ME, memory.id)
        assert await stores.memory_removal.purge(datetime.now(UTC)) == 0
        assert await stores.memories.list(ME) == [memory]

    async def test_and_an_undo_at_once_have_one_outcome(self, stores: Stores, database: Database) -> None:
        for _ in range(20):
            memory = await stores.memories.add(ME, "猫が好き")
            await stores.memories.delete(ME, memory.id)
            purged, back = await asyncio.gather(
                stores.memory_removal.purge(datetime.now(UTC)), stores.memory_removal.undelete(ME, memory.id)
            )
            assert (purged == 1) == (back is None)
            assert await statuses(database) == ([] if purged else ["active"])
            await stores.memory_removal.erase_all(ME)

    async def test_goes_on_where_an_erasure_was_cut_off(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, FACT)
        await stores.memories.update(ME, memory.id, content=f"{FACT}です")
        await stored(stores, FACT, "はい", remembered(memory))
        with pytest.raises(StorageError):
            await MemoryRemovalStore(Dying(database)).erase(ME, memory.id)
        assert await statuses(database) == ["deleted", "deleted"]
        assert await stores.memory_removal.undelete(ME, memory.id) is None
        await stores.memory_removal.purge(START)
        assert await statuses(database) == []
        [call] = await calls_of(stores)
        assert FOLDED not in f"{call}".lower()

    async def test_is_due_when_the_oldest_undo_is_over(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as now:
            assert await stores.memory_removal.get_next_purge() is None
            for text in ("一", "二"):
                memory = await stores.memories.add(ME, text)
                await stores.memories.delete(ME, memory.id)
                now.tick(60)
            assert await stores.memory_removal.get_next_purge() == START + UNDO_TIME

    @pytest.mark.slow
    async def test_of_many_goes_by_users(self, stores: Stores, database: Database) -> None:
        for user_id in (ME, YOU, 7):
            for number in range(250):
                memory = await stores.memories.add(user_id, f"メモ{number}")
                await stores.memories.delete(user_id, memory.id)
        assert await stores.memory_removal.purge(datetime.now(UTC)) == 750
        assert await statuses(database) == await statuses(database, YOU) == []


class TestLog:
    async def test_names_each_version_of_what_was_erased_or_purged(
        self, stores: Stores, database: Database
    ) -> None:
        erased, purged, kept = [await stores.memories.add(ME, text) for text in ("一", "二", "三")]
        await stores.memories.update(ME, erased.id, content="壱")
        await stores.memories.delete(ME, purged.id)
        rows = await database.query("SELECT id, created_at FROM memories WHERE id <> $1", kept.id)
        await stores.memory_removal.erase(ME, erased.id)
        await stores.memory_removal.purge(datetime.now(UTC))
        log = await stores.erasures.read()
        assert log
        assert len(rows) == 3
        assert all(log.match("memory", memory_name(ME, *row), None) for row in rows)
        [row] = await database.query("SELECT id, created_at FROM memories")
        assert not log.match("memory", memory_name(ME, *row), None)

    async def test_tells_when_messages_were_emptied_as_well(self, stores: Stores, database: Database) -> None:
        await stores.memories.add(ME, "一")
        [row] = await database.query("SELECT id, created_at FROM memories")
        await stores.memory_removal.erase_all(ME, mark="（消去しました）")
        log = await stores.erasures.read()
        assert log
        assert log.match("memory_and_messages", memory_name(ME, *row), None)

    async def test_that_cannot_be_written_holds_the_removal_up(
        self, stores: Stores, database: Database
    ) -> None:
        memory = await stores.memories.add(ME, "一")
        stores.erasures.path.write_text("no log\n")
        with pytest.raises(StorageError):
            await stores.memory_removal.erase(ME, memory.id)
        assert await statuses(database) == ["deleted"]
        stores.erasures.path.unlink()
        assert await stores.memory_removal.purge(START) == 1
        assert await statuses(database) == []


class Dying(Recorder):
    """A connection of a program that ends before its second transaction."""

    async def transaction(self, statements: Any, about: Any) -> Any:
        if self.statements and any("DELETE FROM memories" in each.sql for each in statements):
            raise StorageError
        return await super().transaction(statements, about)


class TestErasing:
    async def test_takes_an_active_or_a_hidden_memory_with_its_versions(
        self, stores: Stores, database: Database
    ) -> None:
        for hidden in (False, True):
            memory = await stores.memories.add(ME, "一")
            await stores.memories.update(ME, memory.id, content="二")
            if hidden:
                await stores.memories.delete(ME, memory.id)
            erased = await stores.memory_removal.erase(ME, memory.id)
            assert erased == ErasureCounts(memories=1, versions=1)
            assert await statuses(database) == []

    async def test_leaves_what_is_not_there_or_not_theirs(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "一")
        assert await stores.memory_removal.erase(YOU, memory.id) is None
        assert await stores.memory_removal.erase(ME, 2**70) is None
        await stores.memories.update(ME, memory.id, content="二")
        [version] = await stores.memory_history.list_versions(ME, memory.id)
        assert await stores.memory_removal.erase(ME, version.id) is None
        assert len(await stores.memories.list(ME)) == 1

    async def test_of_everything_leaves_other_users_theirs(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, "一")
        await stores.memories.update(ME, memory.id, content="二")
        await stores.memories.delete(ME, (await stores.memories.add(ME, "三")).id)
        yours = await stores.memories.add(YOU, "Yours")
        await stored(stores, "?", "Yes", remembered(yours), key=OTHER_USER)
        assert await stores.memory_removal.erase_all(ME) == ErasureCounts(memories=2, versions=1)
        assert await statuses(database) == []
        assert await stores.memories.list(YOU) == [yours]
        assert await calls_of(stores, OTHER_USER) == [remembered(yours)]

    async def test_of_nothing_is_nothing(self, stores: Stores) -> None:
        assert await stores.memory_removal.erase_all(ME) == ErasureCounts()

    async def test_spares_a_memory_that_is_kept_meanwhile(self, stores: Stores) -> None:
        await stores.memories.add(ME, "一")
        _, kept = await asyncio.gather(stores.memory_removal.erase_all(ME), stores.memories.add(ME, "その後"))
        assert await stores.memories.list(ME) in ([kept], [])


@pytest.mark.sqlite("what stands in its file")
class TestDatabaseFiles:
    @pytest.mark.slow
    @settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(lengths=st.lists(st.integers(0, 3900), min_size=8, max_size=40), seed=st.randoms())
    async def test_hold_nothing_of_what_was_erased_wherever_it_stood(
        self, stores: Stores, tmp_path: Path, lengths: list[int], seed: Random
    ) -> None:
        """Long texts spill over to pages of their own, and pages are divided and joined as rows come."""
        kept = dict[int, str]()
        for length in lengths:
            mark = f"xq{next(SERIAL):06}"
            memory = await stores.memories.add(ME, f"{mark} {'あ' * length}")
            await stored(stores, "?", "はい", remembered(memory))
            kept[memory.id] = mark
        gone = seed.sample(sorted(kept), len(kept) // 2)
        for number, memory_id in enumerate(gone):
            await stores.memories.update(ME, memory_id, content=f"{kept[memory_id]} {'い' * number * 100}")
            await stores.memory_removal.erase(ME, memory_id)
        data = bytes_of(tmp_path)
        assert {id_ for id_, mark in kept.items() if mark.encode() in data} == kept.keys() - set(gone)

    @pytest.mark.slow
    async def test_hold_nothing_of_it_after_it_was_indexed(
        self, stores: Stores, database: Database, tmp_path: Path
    ) -> None:
        marks = [f"qz{next(SERIAL):06}" for _ in range(700)]
        ids = [(await stores.memories.add(ME, f"メモ {mark}")).id for mark in marks]
        assert await database.write(lambda: fold_in(ME, waiting=1), [user(ME)])
        await stores.memory_removal.erase(ME, ids[3])
        data = bytes_of(tmp_path)
        assert marks[3].encode() not in data
        assert marks[4].encode() in data
        await stores.memory_removal.erase_all(ME)
        assert not [mark for mark in marks if mark.encode() in bytes_of(tmp_path)]


@pytest.mark.sqlite("what stands in its file")
class TestWriteAheadLog:
    async def test_holds_nothing_after_an_erasure(self, stores: Stores, tmp_path: Path) -> None:
        memory = await stores.memories.add(ME, FACT)
        await stored(stores, "?", "はい", remembered(memory))
        assert FACT.encode() in bytes_of(tmp_path)
        await stores.memory_removal.erase(ME, memory.id)
        assert FACT.encode() not in bytes_of(tmp_path)
        assert FOLDED.encode() not in bytes_of(tmp_path)

    async def test_is_written_back_once_nobody_reads_any_more(self, stores: Stores, tmp_path: Path) -> None:
        memory = await stores.memories.add(ME, FACT)
        with somebody_reading(tmp_path / "sessions.db"):
            await stores.memory_removal.erase(ME, memory.id)
            assert not await stores.memory_removal.write_back()
            assert FACT.encode() in bytes_of(tmp_path)
        assert await stores.memory_removal.write_back()
        assert FACT.encode() not in bytes_of(tmp_path)

    async def test_is_left_alone_when_nothing_is_owed(self, stores: Stores, database: Database) -> None:
        recorder = Recorder(database)
        assert await MemoryRemovalStore(recorder).write_back()
        assert recorder.trips == 1


@contextmanager
def somebody_reading(path: Path) -> Iterator[None]:
    """Somebody who has looked at the database and is not done with it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM memories").fetchall()
        yield
