"""Processor time of one delta of a streamed answer, through the whole model layer.

A server in a process of its own streams 400 pieces over a socket, each a chunk of its own as most servers
send them. Three clients read the same bytes in turn: OpenAIChatModel; a floor, which only receives them and
parses the JSON of each event; and the typed stream of the openai client. What a request costs in all is
divided by its pieces. Where a client is slower than the server, several chunks arrive at once; the second
figure is for pieces that come one by one, so that each wakes the event loop.

Run it as `python -m bench.model_layer`.
"""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import httpx2
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from bench.figures import Block, Line, Spread, Words, by_turns
from bench.turn import one_core
from cc_bot.llm.model import ChatRequest, Delta, Finish, SystemPart, UserPart
from cc_bot.llm.openai import OpenAIChatModel

GOAL_US = 60.0
PIECES = 400
ROUNDS = 12
STREAMS = 2
MODEL = "local-model"
QUESTION = "今日の天気はどうですか？"
OURS = Words("cc-bot", "cc-bot")
FLOOR = Words("受信と JSON の解析だけ", "receiving and parsing the JSON alone")
TYPED = Words("openai の型つきストリーム", "the typed stream of openai")

SERVER = """
import asyncio, json, sys

PIECES, PAUSE_S = int(sys.argv[1]), float(sys.argv[2])

def chunk(delta, reason=None, **more):
    value = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "local-model",
             "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}], **more}
    data = f"data: {json.dumps(value, ensure_ascii=False)}\\n\\n".encode()
    return b"%x\\r\\n%b\\r\\n" % (len(data), data)

USAGE = {"prompt_tokens": 40, "completion_tokens": PIECES, "total_tokens": PIECES + 40}
CHUNKS = [chunk({"role": "assistant", "content": ""}), *[chunk({"content": "晴れです、"})] * PIECES,
          chunk({}, "stop", usage=USAGE), b"e\\r\\ndata: [DONE]\\n\\n\\r\\n0\\r\\n\\r\\n"]
HEAD = b"HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"

async def answer(reader, writer):
    while True:
        try:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
        except asyncio.IncompleteReadError:
            return writer.close()
        length = next(line for line in head.lower().split(b"\\r\\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.split(b":")[1]))
        writer.write(HEAD)
        for each in CHUNKS:
            writer.write(each)
            await writer.drain()
            await asyncio.sleep(PAUSE_S)

async def main():
    server = await asyncio.start_server(answer, "127.0.0.1")
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


@asynccontextmanager
async def serving(pause_s: float) -> AsyncIterator[str]:
    """A server that waits that long between two pieces; yields its base URL."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVER, str(PIECES), str(pause_s)), stdout=PIPE
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}/v1"
    finally:
        process.kill()
        await process.wait()


async def ours(model: OpenAIChatModel) -> int:
    """Characters of the answer."""
    request = ChatRequest((SystemPart("簡潔に答えます。"), UserPart(QUESTION)), cache_key="k")
    characters, finish = 0, None
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            if isinstance(event, Delta):
                characters += len(event.text)
            elif isinstance(event, Finish):
                finish = event
    assert finish is not None
    assert finish.usage.completion_tokens == PIECES
    return characters


def body() -> dict[str, Any]:
    messages = [{"role": "system", "content": "簡潔に答えます。"}, {"role": "user", "content": QUESTION}]
    return {"model": MODEL, "messages": messages, "stream": True}


async def floor(client: httpx2.AsyncClient, url: str) -> int:
    characters, held = 0, b""
    async with client.stream("POST", f"{url}/chat/completions", json=body()) as response:
        async for data in response.aiter_bytes():
            *events, held = (held + data).split(b"\n\n")
            for event in events:
                if event != b"data: [DONE]":
                    characters += len(json.loads(event[6:])["choices"][0]["delta"].get("content", ""))
    return characters


async def typed(client: AsyncOpenAI) -> int:
    characters = 0
    async with await client.chat.completions.create(**body()) as stream:
        async for chunk in stream:
            characters += len(chunk.choices[0].delta.content or "")
    return characters


@asynccontextmanager
async def contenders(url: str) -> AsyncIterator[Mapping[str, Block]]:
    """Blocks that return the microseconds of the processor for each piece."""
    model = OpenAIChatModel(MODEL, api_key="k", base_url=url)
    client = DefaultAsyncHttpxClient()
    openai = AsyncOpenAI(api_key="k", base_url=url, http_client=DefaultAsyncHttpxClient())
    works = {"ours": lambda: ours(model), "floor": lambda: floor(client, url), "typed": lambda: typed(openai)}

    def block(name: str) -> Block:
        async def run() -> float:
            began = process_time()
            for _ in range(STREAMS):
                assert await works[name]() == len("晴れです、") * PIECES
            return (process_time() - began) / (STREAMS * PIECES) * 1e6

        return run

    try:
        yield {name: block(name) for name in works}
    finally:
        await model.close()
        await client.aclose()
        await openai.close()


async def measure(_: Path) -> list[Line]:
    lines = list[Line]()
    for pause_s, coming in (
        (0.0, Words("続けて届くとき", "as fast as they are read")),
        (0.001, Words("1つずつ届くとき", "one by one")),
    ):
        async with serving(pause_s) as url, contenders(url) as blocks:
            with one_core():
                found = await by_turns(blocks, ROUNDS)
        what = Words(
            f"1片のプロセッサー時間（400片、{coming.ja}）",
            f"processor time of one of 400 pieces of an answer, {coming.en}",
        )
        goal = None if pause_s else GOAL_US
        lines += [
            Line("model", what, OURS, Spread.of(found["ours"]), unit="µs", goal=goal),
            Line("model", what, FLOOR, Spread.of_ratios(found["ours"], found["floor"])),
            Line(
                "model", what, TYPED, Spread.of_ratios(found["ours"], found["typed"]), goal=1, bound="under"
            ),
        ]
        medians = ", ".join(f"{name} {median(each):.1f} µs" for name, each in found.items())
        print(f"{coming.en}: {medians}", flush=True)
    return lines


def main() -> int:
    """Print the figures; the exit code tells whether the goals are met."""
    lines = asyncio.run(measure(Path()))
    print(*lines, sep="\n")
    return 0 if all(line.met is not False for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
