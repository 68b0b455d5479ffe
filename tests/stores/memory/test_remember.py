"""What is remembered once, what takes another memory's place, and what was there before."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time

from cc_bot.domain.memory import Source
from cc_bot.storage import Database
from cc_bot.stores import MemoryStore, Stores
from tests.stores.backends import OpenStores

ME, YOU = 123456789012345678, 876543210987654321
START = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)


async def listed(stores: Stores, user: int = ME) -> list[str]:
    return [memory.content for memory in await stores.memories.list(user)]


async def versions(database: Database) -> list[tuple[str, str]]:
    """Every row of the user, oldest first: its text and what it is."""
    rows = await database.query("SELECT content, status FROM memories WHERE user_id = $1 ORDER BY id", ME)
    return [(content, status) for content, status in rows]


class TestNearDuplicate:
    @pytest.mark.parametrize(
        ("known", "again"),
        [
            ("猫が好き", "猫が好き。"),
            ("Wi-Fiの鍵は台所", "ｗｉ－ｆｉの鍵は 台所！"),
            ("My sister lives in Osaka", "my sister lives in OSAKA."),
            ("☆", "☆"),
            ("猫 3匹", "猫、3匹"),
        ],
    )
    async def test_updates_the_memory_that_is_there(self, stores: Stores, known: str, again: str) -> None:
        first = await stores.memories.remember(ME, known)
        second = await stores.memories.remember(ME, again)
        assert (first.kind, second.kind) == ("added", "updated")
        assert second.memory.id == first.memory.id
        assert second.former == first.memory
        assert await listed(stores) == [again]

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            *(("猫が好き", "犬が好き"), ("☆", "★"), ("3月", "13月"), ("C++が得意", "Cが得意")),
            *(("家賃は3.5万", "家賃は35万"), ("室温は-5度", "室温は5度"), ("10:30に", "1030に")),
        ],
    )
    async def test_is_not_what_says_something_else(self, stores: Stores, one: str, other: str) -> None:
        await stores.memories.remember(ME, one)
        assert (await stores.memories.remember(ME, other)).kind == "added"

    async def test_is_nobody_elses(self, stores: Stores) -> None:
        await stores.memories.remember(YOU, "猫が好き")
        assert (await stores.memories.remember(ME, "猫が好き")).kind == "added"

    async def test_is_kept_beside_the_other_by_add(self, stores: Stores) -> None:
        await stores.memories.add(ME, "猫が好き")
        await stores.memories.add(ME, "猫が好き")
        assert await stores.memories.count(ME) == 2

    async def test_is_not_what_was_deleted(self, stores: Stores) -> None:
        first = await stores.memories.remember(ME, "猫が好き")
        await stores.memories.delete(ME, first.memory.id)
        assert (await stores.memories.remember(ME, "猫が好き")).kind == "added"

    async def test_in_private_is_not_touched_on_behalf_of_a_public_answer(self, stores: Stores) -> None:
        secret = await stores.memories.remember(ME, "猫が好き", audience="private")
        assert (await stores.memories.remember(ME, "猫が好き")).kind == "added"
        assert await stores.memories.get(ME, secret.memory.id) == secret.memory

    async def test_keeps_what_is_not_said_anew(self, stores: Stores) -> None:
        end = START + timedelta(days=1)
        with freeze_time(START, real_asyncio=True):
            await stores.memories.remember(ME, "猫が好き", category="好み", tags=("猫",), expires_at=end)
            again = await stores.memories.remember(ME, "猫が好き!")
        assert (again.memory.category, again.memory.tags, again.memory.expires_at) == ("好み", ("猫",), end)

    async def test_of_an_expired_memory_makes_it_hold_again(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            await stores.memories.remember(ME, "大阪にいる", expires_at=START + timedelta(days=1))
            clock.tick(timedelta(days=2))
            again = await stores.memories.remember(ME, "大阪にいる")
            assert again.memory.expires_at is None
            assert await stores.memories.search(ME, "大阪") == [again.memory]

    async def test_that_comes_twice_at_once_is_one_memory(self, stores: Stores, database: Database) -> None:
        others = MemoryStore(database)
        changes = await asyncio.gather(
            *(store.remember(ME, "猫が好き") for store in (stores.memories, others) for _ in range(4))
        )
        assert sorted(change.kind for change in changes) == ["added"] + ["updated"] * 7
        assert await stores.memories.count(ME) == 1


class TestSuperseding:
    async def test_makes_the_older_memory_history(self, stores: Stores) -> None:
        old = (await stores.memories.remember(ME, "大阪に住んでいる")).memory
        change = await stores.memories.remember(ME, "京都に引っ越した", supersedes=old.id)
        assert (change.kind, change.former, change.memory.supersedes) == ("added", old, old.id)
        assert await listed(stores) == ["京都に引っ越した"]
        assert await stores.memories.get(ME, old.id) is None
        assert await stores.memories.search(ME, "大阪", audience="private") == []
        assert await stores.memories.count(ME) == 1

    async def test_leaves_another_users_memory_alone(self, stores: Stores) -> None:
        theirs = await stores.memories.add(YOU, "大阪に住んでいる")
        change = await stores.memories.remember(ME, "京都に引っ越した", supersedes=theirs.id)
        assert (change.former, change.memory.supersedes) == (None, None)
        assert await stores.memories.get(YOU, theirs.id) == theirs

    @pytest.mark.parametrize("number", [0, -1, 99, 10**30])
    async def test_of_what_is_not_there_adds(self, stores: Stores, number: int) -> None:
        change = await stores.memories.remember(ME, "京都", supersedes=number)
        assert (change.kind, change.former, change.memory.supersedes) == ("added", None, None)

    async def test_by_add_does_the_same(self, stores: Stores) -> None:
        old = await stores.memories.add(ME, "大阪に住んでいる")
        new = await stores.memories.add(ME, "京都に引っ越した", supersedes=old.id)
        assert new.supersedes == old.id
        assert await listed(stores) == ["京都に引っ越した"]

    async def test_twice_of_one_memory_takes_it_once(self, stores: Stores) -> None:
        old = await stores.memories.add(ME, "大阪")
        first = await stores.memories.remember(ME, "京都", supersedes=old.id)
        second = await stores.memories.remember(ME, "奈良", supersedes=old.id)
        assert (first.memory.supersedes, second.memory.supersedes) == (old.id, None)

    async def test_by_what_says_the_same_is_an_update(self, stores: Stores) -> None:
        old = await stores.memories.add(ME, "大阪に住む")
        change = await stores.memories.remember(ME, "大阪に住む。", supersedes=old.id)
        assert (change.kind, change.memory.id) == ("updated", old.id)


class TestReplacedText:
    async def test_is_kept_as_history_that_nobody_finds(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, "一つ目", tags=("版",))
        second = await stores.memories.update(ME, memory.id, content="二つ目")
        third = await stores.memories.update(ME, memory.id, content="三つ目")
        assert second is not None
        assert third is not None
        assert memory.id != second.supersedes != third.supersedes
        assert await versions(database) == [
            ("三つ目", "active"),
            ("一つ目", "superseded"),
            ("二つ目", "superseded"),
        ]
        assert await stores.memories.search(ME, "一つ目 版", audience="private") == [third]
        assert await listed(stores) == ["三つ目"]
        assert await stores.memories.get(ME, third.supersedes or 0) is None

    async def test_is_not_made_of_what_stays_as_it_is(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, "同じ")
        after = await stores.memories.update(ME, memory.id, content=" 同じ ", audience="private")
        assert after is not None
        assert after.supersedes is None
        assert await versions(database) == [("同じ", "active")]

    @pytest.mark.parametrize(
        "change", [{"category": "別"}, {"tags": ("札",)}, {"expires_at": datetime(2030, 1, 1, tzinfo=UTC)}]
    )
    async def test_is_made_of_how_it_was_filed_as_well(
        self, stores: Stores, database: Database, change: dict[str, Any]
    ) -> None:
        memory = await stores.memories.add(ME, "同じ")
        after = await stores.memories.update(ME, memory.id, **change)
        assert after is not None
        assert after.supersedes is not None
        undone = await stores.memory_history.undo_update(ME, memory.id, after.supersedes)
        assert undone == memory
        assert await versions(database) == [("同じ", "active")]

    async def test_of_a_deleted_memory_is_not_made(self, stores: Stores, database: Database) -> None:
        memory = await stores.memories.add(ME, "消した")
        await stores.memories.delete(ME, memory.id)
        assert await stores.memories.update(ME, memory.id, content="戻した") is None
        assert await versions(database) == [("消した", "deleted")]


class TestSource:
    async def test_and_end_are_kept(self, open_again: OpenStores) -> None:
        source = Source("model", link="https://discord.com/channels/1/2/3", model="m")
        async with open_again() as stores:
            added = await stores.memories.add(ME, "x", source=source, expires_at=START)
            remembered = (await stores.memories.remember(ME, "y", source=source, expires_at=START)).memory
        async with open_again() as stores:
            for memory in (added, remembered):
                again = await stores.memories.get(ME, memory.id)
                assert again is not None
                assert (again.source, again.expires_at) == (source, START)


class TestEnd:
    async def test_can_be_set_kept_and_taken_away(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "x")
        ends: list[datetime | None] = []
        changes: Sequence[dict[str, datetime | str | None]] = [
            {"expires_at": START},
            {"category": "c"},
            {"expires_at": None},
        ]
        for change in changes:
            after = await stores.memories.update(ME, memory.id, **change)  # type: ignore[arg-type]  # one by one
            assert after is not None
            ends.append(after.expires_at)
        assert ends == [START, START, None]

    async def test_takes_a_memory_out_of_searches_but_not_from_its_owner(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            memory = await stores.memories.add(ME, "水曜は出張", expires_at=START + timedelta(hours=1))
            assert await stores.memories.search(ME, "出張") == [memory]
            clock.tick(timedelta(hours=1))
            assert await stores.memories.search(ME, "出張") == []
            assert await stores.memories.search(ME, "", audience="private") == []
            assert await stores.memories.list(ME) == [memory]
            assert await stores.memories.get(ME, memory.id) == memory


class TestStored:
    async def test_near_duplicates_are_told_by_a_number_and_not_by_a_second_copy(
        self, stores: Stores, database: Database, tmp_path: Path
    ) -> None:
        await stores.memories.add(ME, "ねこ。")
        await stores.memories.add(ME, "ねこ")
        rows = await database.query("SELECT likeness FROM memories WHERE user_id = $1", ME)
        assert len({tuple(row) for row in rows}) == 1
        assert isinstance(rows[0][0], int)
