"""What is remembered once, what takes another memory's place, and when it stops to hold."""

import asyncio
from datetime import timedelta
from typing import Final

from freezegun import freeze_time

from cc_bot.storage import Database
from cc_bot.stores import MemoryStore, Stores
from tests.stores.memory.notes import ME, NO_IDS, START, YOU, found, keep, listed

SAME: Final = (
    *(("猫が好き", "猫が好き。"), ("Wi-Fiの鍵は台所", "ｗｉ－ｆｉの鍵は 台所！"), ("☆", "☆")),
    *(("My sister lives in Osaka", "my sister lives in OSAKA."), ("鳥 3匹", "鳥、3匹")),
)
OTHER: Final = (
    *(("猫が好き", "犬が好き"), ("☆", "★"), ("3月", "13月"), ("C++が得意", "Cが得意")),
    *(("家賃は3.5万", "家賃は35万"), ("室温は-5度", "室温は5度"), ("10:30に", "1030に")),
)


class TestNearDuplicate:
    async def test_updates_the_memory_that_is_there_and_no_other(
        self, stores: Stores, database: Database
    ) -> None:
        for known, again in SAME:
            first = await stores.memories.remember(ME, known)
            second = await stores.memories.remember(ME, again)
            assert (first.kind, second.kind) == ("added", "updated")
            assert (second.memory.id, second.former) == (first.memory.id, first.memory)
        assert await listed(stores) == [again for _, again in SAME][::-1]
        for one, other in OTHER:
            await stores.memories.remember(YOU, one)
            assert (await stores.memories.remember(YOU, other)).kind == "added", other
        likenesses = await database.query("SELECT likeness FROM memories WHERE user_id = $1", YOU)
        assert {type(likeness) for (likeness,) in likenesses} == {int}, "which is no second copy of the text"

    async def test_is_not_what_was_deleted_or_is_private_and_is_kept_by_add(self, stores: Stores) -> None:
        secret = await stores.memories.remember(ME, "猫が好き", audience="private")
        first = await stores.memories.remember(ME, "猫が好き")
        assert first.kind == "added"
        assert await stores.memories.get(ME, secret.memory.id) == secret.memory
        for change in (first, secret):
            await stores.memories.delete(ME, change.memory.id)
        assert (await stores.memories.remember(ME, "猫が好き")).kind == "added"
        await keep(stores, "猫が好き")
        assert await stores.memories.count(ME) == 2

    async def test_keeps_what_is_not_said_anew_and_makes_what_expired_hold_again(
        self, stores: Stores
    ) -> None:
        end = START + timedelta(days=1)
        with freeze_time(START, real_asyncio=True) as clock:
            await stores.memories.remember(ME, "猫が好き", category="好み", tags=("猫",), expires_at=end)
            again = (await stores.memories.remember(ME, "猫が好き!")).memory
            assert (again.category, again.tags, again.expires_at) == ("好み", ("猫",), end)
            clock.tick(timedelta(days=2))
            again = (await stores.memories.remember(ME, "猫が好き")).memory
            assert (again.category, again.tags, again.expires_at) == ("好み", ("猫",), None)
            assert await stores.memories.search(ME, "猫") == [again]

    async def test_that_comes_many_times_at_once_is_one_memory(
        self, stores: Stores, database: Database
    ) -> None:
        others = MemoryStore(database)
        changes = await asyncio.gather(
            *(store.remember(ME, "猫が好き") for store in (stores.memories, others) for _ in range(4))
        )
        assert sorted(change.kind for change in changes) == ["added"] + ["updated"] * 7
        assert await stores.memories.count(ME) == 1


class TestSuperseding:
    async def test_makes_the_older_memory_history_once(self, stores: Stores) -> None:
        [old] = await keep(stores, "大阪に住んでいる")
        same = await stores.memories.remember(ME, "大阪に住んでいる。", supersedes=old.id)
        assert (same.kind, same.memory.id) == ("updated", old.id)
        change = await stores.memories.remember(ME, "京都に引っ越した", supersedes=old.id)
        assert (change.kind, change.former, change.memory.supersedes) == ("added", same.memory, old.id)
        assert await stores.memories.get(ME, old.id) is None
        assert await found(stores, "大阪", audience="private") == []
        assert await stores.memories.count(ME) == 1
        assert (await stores.memories.remember(ME, "奈良", supersedes=old.id)).memory.supersedes is None
        new = await stores.memories.add(ME, "神戸に引っ越した", supersedes=change.memory.id)
        assert new.supersedes == change.memory.id
        assert await listed(stores) == ["神戸に引っ越した", "奈良"]

    async def test_of_what_is_not_there_or_another_users_adds(self, stores: Stores) -> None:
        [theirs] = await keep(stores, "大阪に住んでいる", user_id=YOU)
        for number in (*NO_IDS, theirs.id):
            change = await stores.memories.remember(ME, f"京都に引っ越した {number}", supersedes=number)
            assert (change.kind, change.former, change.memory.supersedes) == ("added", None, None)
        assert await stores.memories.list(YOU) == [theirs]


class TestEnd:
    async def test_can_be_set_kept_and_taken_away(self, stores: Stores) -> None:
        [memory] = await keep(stores, "x")
        ends = [
            await stores.memories.update(ME, memory.id, expires_at=START),
            await stores.memories.update(ME, memory.id, category="c"),
            await stores.memories.update(ME, memory.id, expires_at=None),
        ]
        assert [each and each.expires_at for each in ends] == [START, START, None]

    async def test_takes_a_memory_out_of_searches_but_not_from_its_owner(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            memory = await stores.memories.add(ME, "水曜は出張", expires_at=START + timedelta(hours=1))
            assert await stores.memories.search(ME, "出張") == [memory]
            clock.tick(timedelta(hours=1))
            assert await stores.memories.search(ME, "出張") == []
            assert await stores.memories.search(ME, "", audience="private") == []
            assert await stores.memories.list(ME) == [memory]
            assert await stores.memories.get(ME, memory.id) == memory
