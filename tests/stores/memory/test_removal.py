"""Forgetting: the undo, the purge, erasing at once, and what is left of it in the database's files."""

import asyncio
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from freezegun import freeze_time

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.domain.clock import UNDO_TIME
from cc_bot.domain.errors import StorageError
from cc_bot.features.memory.errors import MemoryKnown
from cc_bot.features.memory.model import ErasureCounts
from tests.stores.backends import OTHER_USER
from tests.stores.forgetting import FACT, FOLDED, bytes_of, calls_of, remembered, statuses, stored
from tests.stores.memory.notes import ME, NO_IDS, START, YOU, found, keep, rewrite


async def delete(stores: Stores, *contents: str, user_id: int = ME) -> list[int]:
    memories = await keep(stores, *contents, user_id=user_id)
    for memory in memories:
        await stores.memories.delete(user_id, memory.id)
    return [memory.id for memory in memories]


def found_in(folder: Path, texts: Collection[str]) -> set[str]:
    data = bytes_of(folder)
    return {text for text in texts if text.encode() in data}


class TestUndo:
    async def test_gives_back_a_memory_with_its_history_once_to_its_user_alone(self, stores: Stores) -> None:
        memory = await rewrite(stores, "東京在住", "大阪在住")
        assert await stores.memory_removal.undelete(ME, memory.id) is None, "which is not hidden"
        await stores.memories.delete(ME, memory.id)
        for user_id, memory_id in ((YOU, memory.id), *((ME, number) for number in NO_IDS)):
            assert await stores.memory_removal.undelete(user_id, memory_id) is None
        undo = stores.memory_removal.undelete
        back = await asyncio.gather(undo(ME, memory.id), undo(ME, memory.id))
        assert sorted(back, key=bool) == [None, memory]
        assert await found(stores, "大阪") == [memory.content]
        versions = await stores.memories.list_versions(ME, memory.id)
        assert [each.content for each in versions] == ["東京在住"]
        assert await stores.memory_removal.purge(datetime.now(UTC)) == 0
        assert await stores.memories.list(ME) == [memory]

    async def test_makes_no_twin_of_a_memory_that_says_the_same(self, stores: Stores) -> None:
        [gone] = await delete(stores, "猫はタマ")
        [other] = await keep(stores, "猫はﾀﾏ。")
        with pytest.raises(MemoryKnown) as known:
            await stores.memory_removal.undelete(ME, gone)
        assert known.value.params == {"id": other.number}
        assert await stores.memories.list(ME) == [other]
        await stores.memories.update(ME, other.id, audience="private")
        assert await stores.memory_removal.undelete(ME, gone), "the other is not for the same answers"

    async def test_is_over_after_ten_minutes_even_before_the_purge(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as now:
            first, second = await delete(stores, "一", "二")
            now.tick(UNDO_TIME - timedelta(seconds=1))
            assert await stores.memory_removal.undelete(ME, first) is not None
            now.tick(1)
            assert await stores.memory_removal.undelete(ME, second) is None


class TestPurge:
    async def test_removes_what_was_deleted_until_then(self, stores: Stores, database: Database) -> None:
        with freeze_time(START, real_asyncio=True) as now:
            assert await stores.memory_removal.get_next_purge() is None
            mine = await rewrite(stores, "古い", "新しい")
            await stores.memories.delete(ME, mine.id)
            await delete(stores, "Yours", user_id=YOU)
            now.tick(60)
            await delete(stores, "あとで")
            assert await stores.memory_removal.get_next_purge() == START + UNDO_TIME
            assert await stores.memory_removal.purge(START - timedelta(seconds=1)) == 0
            assert await stores.memory_removal.purge(START) == 2
        assert await statuses(database) == ["deleted"]
        assert await statuses(database, YOU) == []

    async def test_and_an_undo_at_once_have_one_outcome(self, stores: Stores, database: Database) -> None:
        for _ in range(5):
            [memory_id] = await delete(stores, "猫が好き")
            purged, back = await asyncio.gather(
                stores.memory_removal.purge(datetime.now(UTC)), stores.memory_removal.undelete(ME, memory_id)
            )
            assert (purged == 1) == (back is None)
            assert await statuses(database) == ([] if purged else ["active"])
            await stores.memory_removal.erase_all(ME)


class TestLog:
    async def test_that_is_not_written_holds_removals_up(self, stores: Stores, database: Database) -> None:
        await delete(stores, "一")
        stores.erasures.path.write_text("no log\n")
        with pytest.raises(StorageError):
            await stores.memory_removal.purge(datetime.now(UTC))
        assert await statuses(database) == ["deleted"]
        stores.erasures.path.unlink()
        assert await stores.memory_removal.purge(datetime.now(UTC)) == 1
        assert await statuses(database) == []


class TestErasing:
    async def test_takes_all_versions_and_no_others(self, stores: Stores, database: Database) -> None:
        one = await rewrite(stores, "一", "いち")
        [two] = await delete(stores, "二")
        [kept] = await keep(stores, "三")
        [yours] = await keep(stores, "四", user_id=YOU)
        await stores.memories.update(ME, kept.id, content="さん")
        [version] = await stores.memories.list_versions(ME, kept.id)
        ids = (one.id, two, version.id, yours.id, *NO_IDS)
        assert await stores.memory_removal.erase(ME, *ids) == ErasureCounts(memories=2, versions=1)
        assert await statuses(database) == ["active", "superseded"]
        assert await stores.memories.list(YOU) == [yours]
        assert await stores.memory_removal.erase(ME, *ids) is None

    async def test_of_everything_leaves_other_users_theirs(self, stores: Stores, database: Database) -> None:
        assert await stores.memory_removal.erase_all(ME) == ErasureCounts()
        await rewrite(stores, "一", "二")
        await delete(stores, "三")
        [yours] = await keep(stores, "Yours", user_id=YOU)
        await stored(stores, "?", "Yes", remembered(yours), key=OTHER_USER)
        assert await stores.memory_removal.erase_all(ME) == ErasureCounts(memories=2, versions=1)
        assert await statuses(database) == []
        assert await stores.memories.list(YOU) == [yours]
        assert await calls_of(stores, OTHER_USER) == [remembered(yours)]


@pytest.mark.sqlite("what stands in its file")
class TestDatabaseFiles:
    async def test_hold_nothing_once_nobody_reads_any_more(self, stores: Stores, tmp_path: Path) -> None:
        assert await stores.memory_removal.scrub() == "done"
        memory = await rewrite(stores, f"前の{FACT}", FACT)
        await stored(stores, "?", "はい", remembered(memory))
        with somebody_reading(tmp_path / "sessions.db"):
            await stores.memory_removal.erase(ME, memory.id)
            assert await stores.memory_removal.scrub() == "busy"
            assert found_in(tmp_path, [FACT])
        assert await stores.memory_removal.scrub() == "done"
        assert found_in(tmp_path, [FACT, FOLDED]) == set()
        [again] = await keep(stores, FACT)
        await stores.memory_removal.erase(ME, again.id)
        assert found_in(tmp_path, [FACT]) == set(), "by the erasure itself"


@contextmanager
def somebody_reading(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM memories").fetchall()
        yield
