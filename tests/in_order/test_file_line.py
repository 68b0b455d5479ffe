"""Files of users, one at a time."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from cc_bot.domain.errors import FilesInLine
from cc_bot.in_order import MOST, FileLine

AIKO, BEN = 1, 2


class TestLine:
    async def test_has_a_user_s_files_one_after_another(self) -> None:
        line, at_work, seen = FileLine(), set[int](), list[int]()

        async def take(number: int) -> None:
            async with line.of(AIKO):
                at_work.add(number)
                assert at_work == {number}
                await asyncio.sleep(0)
                at_work.remove(number)
                seen.append(number)

        await asyncio.gather(*map(take, range(MOST)))
        assert seen == [*range(MOST)]

    async def test_takes_no_more_than_some_and_others_again_later(self) -> None:
        line, release = FileLine(), asyncio.Event()

        async def take() -> None:
            async with line.of(AIKO):
                await release.wait()

        holding = [asyncio.create_task(take()) for _ in range(MOST)]
        await asyncio.sleep(0)
        with pytest.raises(FilesInLine):
            await take()
        release.set()
        await asyncio.gather(*holding)
        await take()

    async def test_of_one_user_is_not_another_s(self) -> None:
        line = FileLine()
        async with line.of(AIKO), asyncio.timeout(60), line.of(BEN), line.at_work():
            pass

    async def test_has_one_part_made_at_a_time_and_none_waits_for_its_sending(self) -> None:
        line, made = FileLine(), list[str]()

        async def parts(name: str) -> AsyncIterator[str]:
            for number in range(2):
                made.append(f"begins {name}{number}")
                await asyncio.sleep(0)
                made.append(f"ends {name}{number}")
                yield name

        async def send(name: str) -> None:
            async for _ in line.one_by_one(parts(name)):
                await both.wait()

        both = asyncio.Barrier(2)
        await asyncio.gather(send("a"), send("b"))
        assert all(ends == f"ends {begins[7:]}" for begins, ends in zip(made[::2], made[1::2], strict=True))
