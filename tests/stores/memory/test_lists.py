"""Looking over one's memories: pages in three orders, and what is kept in numbers."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from freezegun import freeze_time

from cc_bot.domain.errors import MemoryEditOutdated
from cc_bot.domain.memory import MemoryFilter, MemoryStatistics, Order, Source
from cc_bot.stores import Stores

ME, YOU = 123456789012345678, 876543210987654321
START = datetime(2026, 11, 22, 3, 4, 5, tzinfo=UTC)


async def page(stores: Stores, order: Order, *, limit: int = 20, offset: int = 0) -> list[str]:
    memories = await stores.memories.list(ME, order=order, limit=limit, offset=offset)
    return [memory.content for memory in memories]


class TestOrder:
    async def test_is_by_making_or_by_the_last_change(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            first, *_ = [await stores.memories.add(ME, content) for content in "一二三"]
            clock.tick(timedelta(hours=1))
            await stores.memories.update(ME, first.id, category="c")
        assert await page(stores, "newest") == ["三", "二", "一"]
        assert await page(stores, "oldest") == ["一", "二", "三"]
        assert await page(stores, "updated") == ["一", "三", "二"]

    async def test_is_paged_by_leaving_out(self, stores: Stores) -> None:
        for content in "一二三四五":
            await stores.memories.add(ME, content)
        orders: tuple[Order, ...] = ("newest", "oldest", "updated")
        for order in orders:
            whole = await page(stores, order)
            assert whole[1:3] == await page(stores, order, offset=1, limit=2)
            assert await page(stores, order, offset=5) == []
            assert await page(stores, order, offset=-1) == whole

    async def test_never_shows_what_was_deleted_or_replaced(self, stores: Stores) -> None:
        gone = await stores.memories.add(ME, "消した")
        old = await stores.memories.add(ME, "古い")
        await stores.memories.add(ME, "新しい", supersedes=old.id)
        await stores.memories.delete(ME, gone.id)
        orders: tuple[Order, ...] = ("newest", "oldest", "updated")
        assert [await page(stores, order) for order in orders] == [["新しい"]] * 3


class TestStatistics:
    async def test_of_nothing_are_zero(self, stores: Stores) -> None:
        assert await stores.memories.get_statistics(ME) == MemoryStatistics(0, 0, 0, None, None)

    async def test_count_what_its_user_keeps(self, stores: Stores) -> None:
        with freeze_time(START, real_asyncio=True) as clock:
            await stores.memories.add(ME, "一", category="家族", source=Source("command"))
            clock.tick(timedelta(hours=1))
            await stores.memories.add(ME, "二", audience="private", source=Source("model", model="m"))
            clock.tick(timedelta(hours=1))
            end = START + timedelta(hours=2)
            last = await stores.memories.add(
                ME, "三", category="家族", source=Source("model"), expires_at=end
            )
            await stores.memories.add(YOU, "よその")
            hidden = await stores.memories.add(ME, "消す")
            await stores.memories.delete(ME, hidden.id)
            await stores.memories.update(ME, last.id, content="三つ目")
            assert await stores.memories.get_statistics(ME) == MemoryStatistics(
                count=3,
                private=1,
                expired=1,
                categories=(("家族", 2), ("general", 1)),
                sources=(("model", 2), ("command", 1)),
                oldest=START,
                newest=end,
            )

    @pytest.mark.sqlite("one connection that all wait for")
    async def test_of_one_user_asked_for_many_times_hold_up_nobody_else(self, stores: Stores) -> None:
        made = list[int]()

        async def count() -> None:
            made.append((await stores.memories.get_statistics(ME)).count)

        counting = [asyncio.create_task(count()) for _ in range(20)]
        await asyncio.sleep(0)
        await stores.memories.count(YOU)
        assert len(made) <= 2
        await asyncio.gather(*counting)
        assert made == [0] * 20


class TestFilter:
    """Lists, counts and searches narrow down alike."""

    @pytest.mark.parametrize(
        ("only", "expected"),
        [
            (MemoryFilter(), ["ねこ 四", "ねこ 三", "ねこ 二", "ねこ 一"]),
            (MemoryFilter(category="家族"), ["ねこ 四", "ねこ 一"]),
            (MemoryFilter(tags=("ペット",)), ["ねこ 三", "ねこ 一"]),
            (MemoryFilter(tags=("ﾍﾟｯﾄ", "Cat")), ["ねこ 三"]),
            (MemoryFilter(audience="private"), ["ねこ 二"]),
            (MemoryFilter(audience="anywhere"), ["ねこ 四", "ねこ 三", "ねこ 一"]),
            (MemoryFilter(origin="model"), ["ねこ 三"]),
            (MemoryFilter(origin=""), ["ねこ 一"]),
            (MemoryFilter(category="家族", origin="command"), ["ねこ 四"]),
            (MemoryFilter(tags=("ペッ",)), []),
        ],
    )
    async def test_narrows_down_lists_counts_and_searches(
        self, stores: Stores, only: MemoryFilter, expected: list[str]
    ) -> None:
        memories = stores.memories
        await memories.add(ME, "ねこ 一", category="家族", tags=("ペット",))
        await memories.add(ME, "ねこ 二", audience="private", source=Source("command"))
        await memories.add(ME, "ねこ 三", tags=("ペット", "cat"), source=Source("model"))
        await memories.add(ME, "ねこ 四", category="家族", source=Source("command"))
        await memories.add(YOU, "ねこ 五", category="家族", tags=("ペット",))
        orders: tuple[Order, ...] = ("newest", "updated")
        for order in orders:
            assert [each.content for each in await memories.list(ME, only=only, order=order)] == expected
        oldest = await memories.list(ME, only=only, order="oldest")
        assert [each.content for each in oldest] == expected[::-1]
        assert await memories.count(ME, only=only) == len(expected)
        for query in ("ねこ", ""):
            found = await memories.find(ME, query, limit=9, audience="private", only=only)
            assert sorted(each.memory.content for each in found) == sorted(expected)

    async def test_offers_the_tags_that_are_there_the_most_used_first(self, stores: Stores) -> None:
        await stores.memories.add(ME, "一", tags=("b", "a"))
        await stores.memories.add(ME, "二", tags=("a",))
        await stores.memories.delete(ME, (await stores.memories.add(ME, "三", tags=("c",))).id)
        await stores.memories.add(YOU, "四", tags=("d",))
        assert await stores.memories.list_tags(ME) == [("a", 2), ("b", 1)]
        assert await stores.memories.list_tags(ME, limit=1) == [("a", 2)]


class TestAnEdit:
    async def test_is_made_only_of_what_it_was_made_from(self, stores: Stores) -> None:
        memory = await stores.memories.add(ME, "一")
        await stores.memory_pins.pin(ME, memory.id)
        after = await stores.memories.update(ME, memory.id, content="二", only_as=memory)
        assert after
        with pytest.raises(MemoryEditOutdated):
            await stores.memories.update(ME, memory.id, content="三", only_as=memory)
        await stores.memories.update(ME, memory.id, audience="private")
        with pytest.raises(MemoryEditOutdated):
            await stores.memories.update(ME, memory.id, content="三", only_as=after)
        kept = await stores.memories.get(ME, memory.id)
        assert kept
        assert (kept.content, len(await stores.memory_history.list_versions(ME, memory.id))) == ("二", 1)
