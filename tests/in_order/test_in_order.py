"""Events of one channel, one after the other."""

import asyncio

from cc_bot.in_order import InOrder


class TestWhoComesAfter:
    async def test_waits_for_those_before_it_in_its_channel(self) -> None:
        order, seen = InOrder(), list[str]()

        async def take(name: str, waits_s: float) -> None:
            async with order.after(1):
                await asyncio.sleep(waits_s)
                seen.append(name)

        await asyncio.gather(take("created", 0.02), take("edited", 0.01), take("deleted", 0))
        assert seen == ["created", "edited", "deleted"]

    async def test_does_not_wait_for_other_channels(self) -> None:
        order, release = InOrder(), asyncio.Event()

        async def hold() -> None:
            async with order.after(1):
                await release.wait()

        holding = asyncio.create_task(hold())
        await asyncio.sleep(0)
        async with asyncio.timeout(60), order.after(2):
            pass
        release.set()
        await holding

    async def test_can_be_left_early(self) -> None:
        order, seen, release = InOrder(), list[str](), asyncio.Event()

        async def first() -> None:
            async with order.after(1) as leave:
                leave()
                await release.wait()
                seen.append("first")

        task = asyncio.create_task(first())
        await asyncio.sleep(0)
        async with asyncio.timeout(60), order.after(1):
            seen.append("second")
        release.set()
        await task
        assert seen == ["second", "first"]

    async def test_that_fails_lets_the_next_one_in(self) -> None:
        order = InOrder()

        async def fail() -> None:
            async with order.after(1):
                raise ValueError

        [error] = await asyncio.gather(fail(), return_exceptions=True)
        assert isinstance(error, ValueError)
        async with asyncio.timeout(60), order.after(1):
            pass
