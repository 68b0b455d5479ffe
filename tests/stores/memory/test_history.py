from datetime import timedelta
from typing import Final

from freezegun import freeze_time

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import Database
from cc_bot.features.memory.model import Memory, Source
from tests.stores.backends import got
from tests.stores.memory.notes import ME, START, YOU, found, keep, listed, rewrite


async def said(stores: Stores, memory: Memory) -> list[str]:
    now = await stores.memories.get(ME, memory.id)
    versions = await stores.memories.list_versions(ME, memory.id)
    return [each.content for each in (*([now] if now else ()), *versions)]


async def undo(stores: Stores, memory: Memory, user_id: int = ME) -> Memory | None:
    """Undo the update that made this of it."""
    return await stores.memories.undo_update(user_id, memory.id, memory.supersedes or 0)


async def restore(stores: Stores, memory_id: int, version_id: int) -> Memory:
    return got(await stores.memories.restore(ME, memory_id, version_id))


async def rows(database: Database) -> list[tuple[str, str]]:
    """Every row of the user, oldest first: its text and what it is."""
    found = await database.query("SELECT content, status FROM memories WHERE user_id = $1 ORDER BY id", ME)
    return [(content, status) for content, status in found]


class TestHistory:
    async def test_is_what_it_said_before_newest_first(self, stores: Stores, database: Database) -> None:
        texts = ("Lives in Tokyo", "Lives in Osaka", "Has moved to Kyoto", "Lives in Kyoto")
        new = await rewrite(stores, *texts)
        assert await said(stores, new) == [*reversed(texts)]
        versions = await stores.memories.list_versions(ME, new.id)
        assert len({new.id, *(version.id for version in versions)}) == 4
        assert [await stores.memories.get(ME, version.id) for version in versions] == [None] * 3
        assert await found(stores, "Osaka Tokyo", audience="private") == []
        former = [(each, "superseded") for each in texts[:-1]]
        assert await rows(database) == [("Lives in Kyoto", "active"), *former]


class TestRestoring:
    async def test_gives_back_text_category_tags_and_end_but_not_who_may_see_it(self, stores: Stores) -> None:
        end = START + timedelta(days=400)
        memory = await stores.memories.add(
            ME, "会議は金曜", category="仕事", tags=("予定",), expires_at=end, metadata={"k": "v"}
        )
        changed = await stores.memories.update(
            ME, memory.id, content="会議は月曜", category="家", tags=(), expires_at=None, audience="private"
        )
        [version] = await stores.memories.list_versions(ME, memory.id)
        now = await restore(stores, memory.id, version.id)
        assert now == await stores.memories.get(ME, memory.id)
        assert (now.id, now.content, now.category, now.tags) == (memory.id, "会議は金曜", "仕事", ("予定",))
        assert (now.expires_at, now.metadata, now.audience) == (end, {"k": "v"}, "private")
        again = await restore(stores, memory.id, version.id)
        assert (again.content, again.supersedes) == ("会議は金曜", now.supersedes)
        assert await said(stores, memory) == ["会議は金曜", "会議は月曜", "会議は金曜"]
        undone = got(await undo(stores, now))
        assert changed is not None
        assert (undone.content, undone.audience) == (changed.content, "private")
        assert await said(stores, memory) == ["会議は月曜", "会議は金曜"]

    async def test_tells_who_wrote_what_is_back(self, stores: Stores) -> None:
        """Otherwise an imported text would pass for its user's own."""
        new = await stores.memories.add(ME, "Lives in Tokyo", source=Source("import"))
        await stores.memories.update(ME, new.id, content="Lives in Kyoto", source=Source("model"))
        [old] = await stores.memories.list_versions(ME, new.id)
        back = await restore(stores, new.id, old.id)
        assert (back.id, back.content, back.source) == (new.id, "Lives in Tokyo", Source("import"))
        assert await listed(stores) == ["Lives in Tokyo"]
        versions = await stores.memories.list_versions(ME, new.id)
        own = next(each for each in versions if each.source.kind == "model")
        assert (await restore(stores, new.id, own.id)).source == Source("model")


class TestUndoOfAnUpdate:
    async def test_gives_back_exactly_what_was_there(self, stores: Stores, database: Database) -> None:
        with freeze_time(START, real_asyncio=True) as now:
            before = await stores.memories.add(ME, "誕生日は3月15日", category="家族", tags=("記念日",))
            now.tick(60)
            after = got(
                await stores.memories.update(ME, before.id, content="誕生日は5月3日", category="仕事")
            )
            assert await undo(stores, after) == before
        assert await stores.memories.list_versions(ME, before.id) == []
        assert [found.confidence < 1 for found in await stores.memories.find(ME, "5月3日")] == [True]
        assert [found.confidence for found in await stores.memories.find(ME, "3月15日")] == [1.0]
        assert await rows(database) == [("誕生日は3月15日", "active")]

    async def test_is_of_the_last_one_once_and_its_owners_alone(self, stores: Stores) -> None:
        first = await rewrite(stores, "A", "B")
        last = got(await stores.memories.update(ME, first.id, content="C"))
        assert await undo(stores, first) is None
        assert await undo(stores, last, YOU) is None
        assert await said(stores, first) == ["C", "B", "A"]
        assert [bool(await undo(stores, last)) for _ in range(2)] == [True, False]
        assert await said(stores, first) == ["B", "A"]


SAME: Final = (
    *(("猫が好き", "猫が好き。"), ("Wi-Fiの鍵は台所", "ｗｉ－ｆｉの鍵は 台所！"), ("☆", "☆")),
    *(("My sister lives in Osaka", "my sister lives in OSAKA."), ("鳥 3匹", "鳥、3匹")),
)
OTHER: Final = (
    *(("猫が好き", "犬が好き"), ("☆", "★"), ("3月", "13月"), ("C++が得意", "Cが得意")),
    *(("家賃は3.5万", "家賃は35万"), ("室温は-5度", "室温は5度"), ("10:30に", "1030に")),
)


class TestNearDuplicate:
    async def test_updates_what_says_the_same_alone(self, stores: Stores, database: Database) -> None:
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


class TestEnd:
    async def test_takes_a_memory_out_of_searches_but_not_from_its_owner(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            memory = await stores.memories.add(ME, "水曜は出張", expires_at=START + timedelta(hours=1))
            assert await found(stores, "出張") == [memory.content]
            clock.tick(timedelta(hours=1))
            assert await found(stores, "出張") == []
            assert await found(stores, "", audience="private") == []
            assert await stores.memories.list(ME) == [memory]
            assert await stores.memories.get(ME, memory.id) == memory
