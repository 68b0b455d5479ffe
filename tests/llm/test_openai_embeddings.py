"""OpenAIEmbedder over real HTTP: requests, responses and failures."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import ContextTooLong, ModelRefusedKey, ModelRefusedRequest, ModelUnavailable
from cc_bot.features.memory.search.vectors import compute_cosines, quantize
from cc_bot.llm.openai import client
from cc_bot.llm.openai.client import OpenAIEmbedder
from tests.loopback.embeddings_server import Answer, LoopbackEmbeddingsServer, direction, items

NOTES = ["猫アレルギーがある", "Allergic to peanuts", "妹の名前は美咲"]
AT_ONCE = {"Retry-After-Ms": "1"}


@asynccontextmanager
async def embedder_at(
    server: LoopbackEmbeddingsServer, *, timeout_s: float = 5
) -> AsyncIterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder("tiny", base_url=server.base_url, timeout_s=timeout_s)
    try:
        yield embedder
    finally:
        await embedder.close()


@asynccontextmanager
async def asked(
    *answers: Answer, longest: int | None = None, **given: Any
) -> AsyncIterator[tuple[OpenAIEmbedder, LoopbackEmbeddingsServer]]:
    """Yield an embedder and its server, which answers as scripted."""
    limit = {} if longest is None else {"longest": longest}
    async with (
        LoopbackEmbeddingsServer(*answers, **limit) as server,
        embedder_at(server, **given) as embedder,
    ):
        yield embedder, server


class TestVectors:
    async def test_come_in_the_order_of_the_texts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        vectors = [quantize(direction(note)) for note in NOTES]
        async with asked() as (embedder, server):
            assert await embedder.embed(NOTES) == vectors
            assert (server.inputs, server.models, embedder.name) == ([NOTES], ["tiny"], "tiny")
            assert list(await embedder.embed([])) == []
            assert len(server.inputs) == 1, "of no text it is not asked"
        async with asked(Answer(body={"data": [*reversed(items(NOTES))]})) as (embedder, _):
            assert await embedder.embed(NOTES) == vectors
        monkeypatch.setattr(client, "_MAX_BATCH_TEXTS", 2)
        async with asked() as (embedder, server):
            assert await embedder.embed(NOTES) == vectors
            assert server.inputs == [NOTES[:2], NOTES[2:]]

    async def test_of_a_long_text_are_those_of_its_beginning(self) -> None:
        async with asked(longest=300) as (embedder, _):
            [short, long] = await embedder.embed(["短い", "あ" * 900])
            assert short == quantize(direction("短い"))
            assert compute_cosines(long, [quantize(direction("あ"))])[0] > 0.99
        async with asked(longest=10) as (embedder, _):
            with pytest.raises(ContextTooLong):
                await embedder.embed(["あ" * 400])


NONSENSE: tuple[Any, ...] = (
    *("not JSON at all", {}, [], {"data": items(NOTES[:2])}),
    {"data": [{"index": 0, "embedding": "AAAA"}] * 3},
    {"data": [{"index": 0, "embedding": [1.0, 2.0]}] * 3},
    {"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}, {"embedding": [1.0]}]},
    {"data": [{"embedding": [0.0]}, {"embedding": [1.0]}, {"embedding": [1.0]}]},
    {"data": [{"embedding": [None]}, {"embedding": [1.0]}, {"embedding": [1.0]}]},
    {"data": [{"index": [], "embedding": [1.0]}] * 3},
)


class TestTrouble:
    async def test_raises_the_error_of_its_status_and_retries_what_may_pass(self) -> None:
        for status, error in ((401, ModelRefusedKey), (404, ModelRefusedRequest), (400, ModelRefusedRequest)):
            async with asked(Answer(status)) as (embedder, _):
                with pytest.raises(error):
                    await embedder.embed(NOTES)
        async with asked(Answer(429, headers=AT_ONCE), Answer(503, headers=AT_ONCE)) as (embedder, _):
            assert len(await embedder.embed(NOTES)) == 3

    async def test_of_a_server_that_is_silent_or_answers_something_else_ends_in_time(self) -> None:
        for answer in (Answer(hangs=True), *(Answer(body=body) for body in NONSENSE)):
            timeout_s = 0.2 if answer.hangs else 5
            async with asked(answer, timeout_s=timeout_s) as (embedder, _), asyncio.timeout(60):
                with pytest.raises(ModelUnavailable):
                    await embedder.embed(NOTES)

    async def test_is_logged_without_the_texts(self) -> None:
        async with asked(Answer(400, body={"error": {"message": f"bad input: {NOTES[0]}"}})) as (embedder, _):
            with capture_logs() as logs, pytest.raises(ModelRefusedRequest) as refused:
                await embedder.embed(NOTES)
        assert [record["event"] for record in logs] == ["embedding_failed"]
        assert NOTES[0] not in f"{logs} {refused.value!r} {refused.value.__cause__!r}"
