"""Pictures on their way to a model: encoded while they are sent, and sent again when that failed."""

import asyncio
import json
import tracemalloc
from base64 import b64decode

from cc_bot.domain.message import Attachment
from cc_bot.llm.model import ChatRequest, UserPart
from cc_bot.llm.openai import OpenAIChatModel
from tests.llm.asking import hear, loopback
from tests.loopback.model_server import fails, says

MIB = 2**20
MAX_GROWTH_BYTES = 2 * MIB
ANSWER = json.dumps({"choices": [{"delta": {"content": "猫です。"}, "finish_reason": "stop"}]})
EVENT = f"data: {ANSWER}\n\ndata: [DONE]\n\n".encode()


def photo(size: int) -> Attachment:
    return Attachment("猫.png", "image/png", b"\x89PNG" + bytes(range(256)) * (size // 256))


class Sink:
    """Takes a request in without keeping it, and answers it."""

    def __init__(self) -> None:
        self.head = ""
        self.size = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        while self.size < self.announced:
            self.size += len(await reader.read(65536))
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + EVENT
        )
        await writer.drain()
        writer.close()

    @property
    def announced(self) -> int:
        [line] = [line for line in self.head.splitlines() if line.startswith("content-length:")]
        return int(line.partition(":")[2])


async def test_no_copy_of_them_is_held_and_their_length_is_told() -> None:
    images = tuple(photo(4 * MIB) for _ in range(4))
    sink = Sink()
    async with await asyncio.start_server(sink.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        model = OpenAIChatModel("m", base_url=f"http://127.0.0.1:{port}/v1", timeout_s=30)
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            heard = await hear(model, ChatRequest((UserPart("これは？", images),)))
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            await model.close()
    assert heard.text == "猫です。"
    assert sink.size == sink.announced > 16 * MIB * 4 // 3
    assert "transfer-encoding" not in sink.head
    assert most - before < MAX_GROWTH_BYTES


async def test_they_are_whole_when_they_are_sent_again() -> None:
    odd = [Attachment("a.png", "image/png", b"x" * size) for size in (1, 48 * 1024, 48 * 1024 + 1, 100_000)]
    async with loopback(fails(500), says("猫です。")) as (model, server):
        assert (await hear(model, ChatRequest((UserPart("これは？", tuple(odd)),)))).text == "猫です。"
        first, second = [request.body for request in server.requests]
    assert first == second
    urls = [part["image_url"]["url"] for part in second["messages"][0]["content"][1:]]
    assert [b64decode(url.partition(",")[2]) for url in urls] == [image.data for image in odd]
