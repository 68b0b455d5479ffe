"""Events of one channel, and files of one user, one after the other."""

import asyncio

import pytest

from cc_bot.concurrency import MAX_EXPORTS, ExportQueue, KeyedLock
from cc_bot.domain.errors import EarlierFilesInProgress

AIKO, BEN = 1, 2


class TestWhoComesAfter:
    async def test_waits_for_those_before_it_in_its_channel_and_for_no_other(self) -> None:
        order, seen, release = KeyedLock(), list[str](), asyncio.Event()

        async def take(name: str, turns: int) -> None:
            async with order.hold(1):
                await release.wait()
                for _ in range(turns):
                    await asyncio.sleep(0)
                seen.append(name)

        waiting = asyncio.gather(take("created", 9), take("edited", 5), take("deleted", 0))
        await asyncio.sleep(0)
        async with asyncio.timeout(60), order.hold(2):
            release.set()
        await waiting
        assert seen == ["created", "edited", "deleted"]

    async def test_need_not_wait_for_one_that_left_early_or_failed(self) -> None:
        order, seen, release = KeyedLock(), list[str](), asyncio.Event()

        async def first() -> None:
            async with order.hold(1) as leave:
                leave()
                await release.wait()
                seen.append("first")
                raise LookupError

        task = asyncio.create_task(first())
        await asyncio.sleep(0)
        async with asyncio.timeout(60), order.hold(1):
            seen.append("second")
        release.set()
        with pytest.raises(LookupError):
            await task

        async def fail() -> None:
            async with order.hold(1):
                raise LookupError

        with pytest.raises(LookupError):
            await fail()
        async with asyncio.timeout(60), order.hold(1):
            seen.append("third")
        assert seen == ["second", "first", "third"]


class TestLine:
    async def test_has_a_users_files_one_after_another_and_takes_no_more_than_some(self) -> None:
        line, at_work, seen, release = ExportQueue(), set[int](), list[int](), asyncio.Event()

        async def take(number: int) -> None:
            async with line.wait_for_earlier(AIKO):
                at_work.add(number)
                assert at_work == {number}
                await release.wait()
                at_work.remove(number)
                seen.append(number)

        taking = asyncio.gather(*map(take, range(MAX_EXPORTS)))
        await asyncio.sleep(0)
        with pytest.raises(EarlierFilesInProgress):
            await take(MAX_EXPORTS)
        async with asyncio.timeout(60), line.wait_for_earlier(BEN), line.lock:  # it is not another's
            release.set()
        await taking
        await take(MAX_EXPORTS)
        assert seen == [*range(MAX_EXPORTS + 1)]
