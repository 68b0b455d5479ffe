"""The files of one message are fetched side by side, and answers hold only so much of them at a time."""

import asyncio
import gc
import traceback
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import hikari
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from cc_bot.chat.context.attachments import MAX_IMAGE_BYTES
from cc_bot.discord.attachments import AttachmentFetcher, FetchedFiles, FileBudget, asked_file, with_files
from cc_bot.domain.errors import (
    AttachmentNotFetched,
    AttachmentTooLarge,
    DocumentReaderBusy,
    DocumentUnreadable,
)
from cc_bot.domain.message import Attachment, Message
from cc_bot.features.documents.reader import DocumentReader
from tests.discord.hikari_messages import message
from tests.discord.parts import fetcher

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"
AIKO, BEN = 1, 2


class Shelf:
    """Hands out files once so many of them were asked for."""

    def __init__(self, together: int) -> None:
        self.asked = list[str]()
        self._together = asyncio.Barrier(together)

    async def hand_out(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        self.asked.append(name)
        await self._together.wait()
        if name == "gone.txt":
            return web.Response(status=404)
        contents = {"zip": b"PK\x03\x04", "png": PNG}
        return web.Response(body=contents.get(name.partition(".")[2], f"これは{name}".encode()))

    @asynccontextmanager
    async def holding(self, *names: str) -> AsyncIterator[Sequence[hikari.Attachment]]:
        app = web.Application()
        app.router.add_get("/{name}", self.hand_out)
        async with TestServer(app) as server, asyncio.timeout(60):
            attachments = message(files=names).attachments
            for attachment in attachments:
                attachment.url = str(server.make_url(f"/{attachment.filename}"))
            yield attachments


async def fetched(*names: str) -> FetchedFiles:
    async with Shelf(len(names)).holding(*names) as attachments:
        return await fetcher().fetch([*map(asked_file, attachments)])


class TestFiles:
    async def test_are_asked_for_together_and_keep_their_order_and_are_named_if_they_are_wrong(self) -> None:
        found = await fetched("gone.txt", "a.txt", "b.zip", "c.txt")
        assert [file.data.decode() for file in found.files] == ["これはa.txt", "これはc.txt"]
        assert found.left_out == ("gone.txt", "b.zip")

    async def test_that_are_all_wrong_are_refused_for_the_first_and_held_by_no_error(self) -> None:
        with pytest.raises(AttachmentNotFetched):
            await fetched("gone.txt", "b.zip")
        with pytest.raises(DocumentUnreadable) as refused:
            await fetched("b.zip", "gone.txt")
        frames = [frame for frame, _ in traceback.walk_tb(refused.value.__traceback__)]
        budget = [value for frame in frames for value in frame.f_locals.values()]
        assert not any(isinstance(value, bytes | bytearray) for value in budget)
        assert refused.value.__context__ is None

    async def test_for_which_those_before_them_leave_no_room_are_not_fetched(self) -> None:
        shelf = Shelf(1)
        async with shelf.holding("a.png", "b.png", "c.png") as files:
            for file, size in zip(files, (MAX_IMAGE_BYTES, MAX_IMAGE_BYTES, 2**22), strict=True):
                file.size = size
            assert len((await fetcher().fetch([*map(asked_file, files)])).files) == 3
            shelf.asked.clear()
            files[-1].size += 1
            found = await fetcher().fetch([*map(asked_file, files)])
            assert ([file.name for file in found.files], found.left_out) == (["a.png", "b.png"], ("c.png",))
            assert sorted(shelf.asked) == ["a.png", "b.png"]
            files[0].size += 1
            with pytest.raises(AttachmentTooLarge):
                await fetcher().fetch([*map(asked_file, files[:1])])

    async def test_are_not_fetched_from_a_server_that_breaks_off(self) -> None:
        ok = b"HTTP/1.1 200 OK\r\n"
        answers = [
            *(ok + b"X-A: " + b"a" * 10_000 + b"\r\n\r\n", ok + b"Content-Length: 5\r\n\r\nabc", b""),
            *(ok + b"Content-Length: 9000000\r\n\r\n" + b"a" * 9_000_000, b"nonsense\r\n\r\n"),
        ]

        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(answers[-1])
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1") as server:
            host, port = server.sockets[0].getsockname()
            [attachment] = message(files=("a.txt",)).attachments
            attachment.url = f"http://{host}:{port}/a.txt"
            while answers:
                with pytest.raises(AttachmentNotFetched):
                    await fetcher().fetch([asked_file(attachment)])
                answers.pop()
        gc.collect()  # a session that was left open complains now
        await asyncio.sleep(0)

    def test_of_one_name_are_told_apart(self) -> None:
        files = tuple(Attachment(name, "text/plain", b"x") for name in ("a.pdf", "a.pdf", "b", "b", "a.pdf"))
        asked = with_files(Message("user", "？"), FetchedFiles(files))
        assert [file.name for file in asked.attachments] == ["a.pdf", "a (2).pdf", "b", "b (2)", "a (3).pdf"]


class Answer:
    def __init__(self, budget: FileBudget, user_id: int, size: int) -> None:
        self.has_files = asyncio.Event()
        self.task = asyncio.create_task(self._run(budget, user_id, size))

    async def _run(self, budget: FileBudget, user_id: int, size: int) -> None:
        async with budget.use_for(user_id):
            await budget.reserve(size)
            self.has_files.set()
            await asyncio.Event().wait()


async def turns_of_the_loop() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


class TestRoom:
    async def test_of_a_user_and_of_all_is_had_again_once_an_answer_ends(self) -> None:
        for most, asking in ((100, AIKO), (10, BEN)):
            budget = FileBudget(max_user_bytes=10, max_bytes=most)
            first, second, third = (Answer(budget, user, 6) for user in (AIKO, asking, BEN))
            await first.has_files.wait()
            if most == 100:
                await third.has_files.wait()
            await turns_of_the_loop()
            assert not second.has_files.is_set()
            first.task.cancel()
            await second.has_files.wait()

    async def test_is_enough_for_all_that_one_answer_takes(self) -> None:
        budget = FileBudget(max_user_bytes=10, max_bytes=10)
        async with budget.use_for(AIKO):
            await budget.reserve(6)
            await budget.reserve(60)

    async def test_that_does_not_come_is_told_before_anything_is_fetched(self) -> None:
        budget = FileBudget(max_user_bytes=1, wait_s=0.01)
        await Answer(budget, AIKO, 6).has_files.wait()
        files = message(files=["a.txt"]).attachments  # from a server that there is not
        async with budget.use_for(AIKO):
            with pytest.raises(DocumentReaderBusy):
                await AttachmentFetcher(DocumentReader(), budget).fetch([*map(asked_file, files)])


class TestReader:
    async def test_is_one_for_each_user(self) -> None:
        budget = FileBudget()
        reading, most = 0, 0

        async def read(user_id: int) -> None:
            nonlocal reading, most
            async with budget.use_for(user_id), budget.wait_for_earlier_file():
                reading += 1
                most = max(most, reading)
                await turns_of_the_loop()
                reading -= 1

        await asyncio.gather(*(read(AIKO) for _ in range(3)))
        assert most == 1
        await asyncio.gather(read(AIKO), read(BEN))
        assert most == 2
