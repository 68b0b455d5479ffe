"""The files of one message are fetched side by side."""

import asyncio
import gc
import traceback
from collections.abc import Sequence

import hikari
import pytest
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from cc_bot.context.attachments import MAX_IMAGE_BYTES
from cc_bot.discord.attachments import AttachmentFetcher, Fetched, with_files
from cc_bot.domain.errors import AttachmentNotFetched, AttachmentTooLarge, DocumentUnreadable
from cc_bot.domain.message import Attachment, Message
from cc_bot.reading.reader import DocumentReader
from tests.discord.hikari_messages import message
from tests.reading.confinement import UNCONFINED

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"


class Shelf:
    """Hands out files once all of them were asked for."""

    def __init__(self, files: int) -> None:
        self._together = asyncio.Barrier(files)

    async def hand_out(self, request: web.Request) -> web.Response:
        await self._together.wait()
        name = request.match_info["name"]
        if name == "gone.txt":
            return web.Response(status=404)
        return web.Response(body=b"PK\x03\x04" if name == "b.zip" else f"これは{name}".encode())


async def fetched(*names: str) -> Fetched:
    app = web.Application()
    app.router.add_get("/{name}", Shelf(len(names)).hand_out)
    async with TestServer(app) as server, asyncio.timeout(60):
        return await AttachmentFetcher(DocumentReader(unconfined=UNCONFINED)).fetch(attached(server, *names))


def said(fetched: Fetched) -> list[str]:
    return [file.data.decode() for file in fetched.files]


def attached(server: BaseTestServer, *names: str) -> Sequence[hikari.Attachment]:
    attachments = message(files=names).attachments
    for attachment in attachments:
        attachment.url = str(server.make_url(f"/{attachment.filename}"))
    return attachments


class TestFiles:
    async def test_are_asked_for_together_and_keep_their_order(self) -> None:
        found = await fetched("a.txt", "b.txt", "c.txt")
        assert said(found) == ["これはa.txt", "これはb.txt", "これはc.txt"]
        assert found.left_out == ()

    async def test_that_are_wrong_are_named_and_the_others_read(self) -> None:
        found = await fetched("gone.txt", "a.txt", "b.zip", "c.txt")
        assert said(found) == ["これはa.txt", "これはc.txt"]
        assert found.left_out == ("gone.txt", "b.zip")

    async def test_that_are_refused_are_held_by_no_error(self) -> None:
        with pytest.raises(DocumentUnreadable) as refused:
            await fetched("b.zip")
        frames = [frame for frame, _ in traceback.walk_tb(refused.value.__traceback__)]
        held = [value for frame in frames for value in frame.f_locals.values()]
        assert not any(isinstance(value, bytes | bytearray) for value in held)
        assert refused.value.__context__ is None

    async def test_that_are_all_wrong_are_refused_for_the_first(self) -> None:
        with pytest.raises(DocumentUnreadable):
            await fetched("b.zip", "gone.txt")
        with pytest.raises(AttachmentNotFetched):
            await fetched("gone.txt", "b.zip")

    async def test_for_which_those_before_them_leave_no_room_are_not_fetched(self) -> None:
        asked = list[str]()

        async def hand_out(request: web.Request) -> web.Response:
            asked.append(request.path)
            return web.Response(body=PNG)

        app = web.Application()
        app.router.add_get("/{name}", hand_out)
        async with TestServer(app) as server:
            files = attached(server, "a.png", "b.png", "c.png")
            for file, size in zip(files, (MAX_IMAGE_BYTES, MAX_IMAGE_BYTES, 2**22), strict=True):
                file.size = size
            assert (
                len((await AttachmentFetcher(DocumentReader(unconfined=UNCONFINED)).fetch(files)).files) == 3
            )
            asked.clear()
            files[-1].size += 1
            found = await AttachmentFetcher(DocumentReader(unconfined=UNCONFINED)).fetch(files)
            assert ([file.name for file in found.files], found.left_out) == (["a.png", "b.png"], ("c.png",))
            assert sorted(asked) == ["/a.png", "/b.png"]
            files[0].size += 1
            with pytest.raises(AttachmentTooLarge) as refused:
                await AttachmentFetcher(DocumentReader(unconfined=UNCONFINED)).fetch(files[:1])
        assert refused.value.params == {"limit": "8 MB"}

    @pytest.mark.parametrize(
        "answer",
        [
            b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 10_000 + b"\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
            b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n" + b"a" * 9_000_000,
            b"nonsense\r\n\r\n",
            b"",
        ],
        ids=["a long header", "half of it", "more than was told", "no HTTP", "nothing"],
    )
    async def test_are_not_fetched_from_a_server_that_breaks_off(self, answer: bytes) -> None:
        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(answer)
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1") as server:
            host, port = server.sockets[0].getsockname()
            [attachment] = message(files=("a.txt",)).attachments
            attachment.url = f"http://{host}:{port}/a.txt"
            with pytest.raises(AttachmentNotFetched):
                await AttachmentFetcher(DocumentReader(unconfined=UNCONFINED)).fetch([attachment])
        del attachment
        gc.collect()  # a session that was left open complains now
        await asyncio.sleep(0)


class TestSeveral:
    def test_of_one_name_are_told_apart(self) -> None:
        names = ("a.pdf", "a.pdf", "b", "b", "a.pdf")
        files = tuple(Attachment(name, "text/plain", b"x") for name in names)
        asked = with_files(Message("user", "？"), Fetched(files))
        assert [file.name for file in asked.attachments] == ["a.pdf", "a (2).pdf", "b", "b (2)", "a (3).pdf"]
