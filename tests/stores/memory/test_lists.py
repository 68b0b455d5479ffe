"""Looking over one's memories: pages in three orders, and what is kept in numbers."""

import asyncio
from datetime import UTC, datetime, timedelta

from freezegun import freeze_time

from cc_bot.domain.memory import MemoryStatistics, Order, Source
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
