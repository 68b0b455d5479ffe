"""How much of files answers hold at a time."""

import asyncio

import pytest

from cc_bot.discord.attachments import AttachmentFetcher
from cc_bot.discord.held_files import HeldFiles
from cc_bot.domain.errors import DocumentsWait
from cc_bot.reading.reader import DocumentReader
from tests.discord.hikari_messages import message

AIKO, BEN = 1, 2


class Answer:
    """An answer that has taken its files, or waits for that, until it is told to end."""

    def __init__(self, held: HeldFiles, user_id: int, size: int) -> None:
        self.has_files, self.ends = asyncio.Event(), asyncio.Event()
        self.task = asyncio.create_task(self._run(held, user_id, size))

    async def _run(self, held: HeldFiles, user_id: int, size: int) -> None:
        async with held.answer(user_id):
            await held.take(size)
            self.has_files.set()
            await self.ends.wait()


async def turns_of_the_loop() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class TestRoom:
    async def test_of_a_user_is_had_again_once_an_answer_ends(self) -> None:
        held = HeldFiles(max_user_bytes=10, max_bytes=100)
        first, second, other = Answer(held, AIKO, 6), Answer(held, AIKO, 6), Answer(held, BEN, 6)
        await first.has_files.wait()
        await other.has_files.wait()
        await turns_of_the_loop()
        assert not second.has_files.is_set()
        first.ends.set()
        await second.has_files.wait()

    async def test_of_all_is_bounded_whoever_asks(self) -> None:
        held = HeldFiles(max_user_bytes=10, max_bytes=10)
        first, other = Answer(held, AIKO, 6), Answer(held, BEN, 6)
        await first.has_files.wait()
        await turns_of_the_loop()
        assert not other.has_files.is_set()
        first.task.cancel()
        await other.has_files.wait()

    async def test_is_enough_for_one_answer_whatever_it_takes(self) -> None:
        held = HeldFiles(max_user_bytes=10, max_bytes=10)
        async with held.answer(AIKO):
            await held.take(6)
            await held.take(60)

    async def test_that_does_not_come_is_told_before_anything_is_fetched(self) -> None:
        held = HeldFiles(max_user_bytes=1, wait_s=0.01)
        first = Answer(held, AIKO, 6)
        await first.has_files.wait()
        files = message(files=["a.txt"]).attachments  # from a server that there is not
        async with held.answer(AIKO):
            with pytest.raises(DocumentsWait):
                await AttachmentFetcher(DocumentReader(), held).fetch(files)


class TestReader:
    async def test_is_one_for_each_user(self) -> None:
        held = HeldFiles()
        reading, most = 0, 0

        async def read(user_id: int) -> None:
            nonlocal reading, most
            async with held.answer(user_id), held.reader():
                reading += 1
                most = max(most, reading)
                await turns_of_the_loop()
                reading -= 1

        await asyncio.gather(*(read(AIKO) for _ in range(3)))
        assert most == 1
        await asyncio.gather(read(AIKO), read(BEN))
        assert most == 2
