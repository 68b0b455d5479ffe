"""OpenAIEmbedder over real HTTP: what it asks for, what it takes, and what it makes of trouble."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from cc_bot.domain.errors import (
    ContextTooLong,
    ModelError,
    ModelRefusedKey,
    ModelRefusedRequest,
    ModelUnavailable,
)
from cc_bot.llm.openai import OpenAIEmbedder
from cc_bot.search.vectors import cosines, pack
from tests.loopback.embeddings_server import Answer, LoopbackEmbeddingsServer, direction, items

NOTES = ["猫アレルギーがある", "Allergic to peanuts", "妹の名前は美咲"]
AT_ONCE = {"Retry-After-Ms": "1"}


@asynccontextmanager
async def embedder_at(
    server: LoopbackEmbeddingsServer, *, timeout_s: float = 5, batch: int = 64
) -> AsyncIterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder("tiny", base_url=server.base_url, timeout_s=timeout_s, batch=batch)
    try:
        yield embedder
    finally:
        await embedder.close()


class TestVectors:
    async def test_come_in_the_order_of_the_texts(self) -> None:
        async with LoopbackEmbeddingsServer() as server, embedder_at(server) as embedder:
            assert await embedder.embed(NOTES) == [pack(direction(note)) for note in NOTES]
            assert (server.inputs, server.models) == ([NOTES], ["tiny"])

    async def test_come_in_the_order_of_the_texts_whatever_the_servers_order(self) -> None:
        shuffled = Answer(body={"data": [*reversed(items(NOTES))]})
        async with LoopbackEmbeddingsServer(shuffled) as server, embedder_at(server) as embedder:
            assert await embedder.embed(NOTES) == [pack(direction(note)) for note in NOTES]

    async def test_of_many_texts_are_asked_for_some_at_a_time(self) -> None:
        async with LoopbackEmbeddingsServer() as server, embedder_at(server, batch=2) as embedder:
            assert len(await embedder.embed(NOTES)) == 3
            assert server.inputs == [NOTES[:2], NOTES[2:]]

    async def test_of_no_text_are_not_asked_for(self) -> None:
        async with LoopbackEmbeddingsServer() as server, embedder_at(server) as embedder:
            assert list(await embedder.embed([])) == []
            assert server.inputs == []

    async def test_carry_the_name_of_the_model(self) -> None:
        async with LoopbackEmbeddingsServer() as server, embedder_at(server) as embedder:
            assert embedder.name == "tiny"


class TestLongTexts:
    async def test_are_embedded_by_their_beginning(self) -> None:
        async with LoopbackEmbeddingsServer(longest=300) as server, embedder_at(server) as embedder:
            [short, long] = await embedder.embed(["短い", "あ" * 900])
            assert short == pack(direction("短い"))
            assert cosines(long, [pack(direction("あ"))])[0] > 0.99

    async def test_that_no_part_of_fits_are_refused(self) -> None:
        async with LoopbackEmbeddingsServer(longest=10) as server, embedder_at(server) as embedder:
            with pytest.raises(ContextTooLong):
                await embedder.embed(["あ" * 400])


class TestTrouble:
    @pytest.mark.parametrize(
        ("status", "error"),
        [(401, ModelRefusedKey), (404, ModelRefusedRequest), (400, ModelRefusedRequest)],
    )
    async def test_says_who_must_mend_it(self, status: int, error: type[ModelError]) -> None:
        async with LoopbackEmbeddingsServer(Answer(status)) as server, embedder_at(server) as embedder:
            with pytest.raises(error):
                await embedder.embed(NOTES)

    async def test_that_passes_is_waited_out(self) -> None:
        answers = [Answer(429, headers=AT_ONCE), Answer(503, headers=AT_ONCE)]
        async with LoopbackEmbeddingsServer(*answers) as server, embedder_at(server) as embedder:
            assert len(await embedder.embed(NOTES)) == 3

    async def test_of_a_silent_server_ends_in_time(self) -> None:
        async with (
            LoopbackEmbeddingsServer(Answer(hangs=True)) as server,
            embedder_at(server, timeout_s=0.2) as embedder,
            asyncio.timeout(60),
        ):
            with pytest.raises(ModelUnavailable):
                await embedder.embed(NOTES)

    @pytest.mark.parametrize(
        "body",
        [
            "not JSON at all",
            {},
            [],
            {"data": items(NOTES[:2])},
            {"data": [{"index": 0, "embedding": "AAAA"}] * 3},
            {"data": [{"index": 0, "embedding": [1.0, 2.0]}] * 3},
            {"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}, {"embedding": [1.0]}]},
            {"data": [{"embedding": [0.0]}, {"embedding": [1.0]}, {"embedding": [1.0]}]},
            {"data": [{"embedding": [None]}, {"embedding": [1.0]}, {"embedding": [1.0]}]},
            {"data": [{"index": [], "embedding": [1.0]}] * 3},
        ],
    )
    async def test_of_a_server_that_answers_something_else(self, body: Any) -> None:
        async with LoopbackEmbeddingsServer(Answer(body=body)) as server, embedder_at(server) as embedder:
            with pytest.raises(ModelUnavailable):
                await embedder.embed(NOTES)

    async def test_is_logged_without_the_texts(self) -> None:
        quoting = Answer(400, body={"error": {"message": f"bad input: {NOTES[0]}"}})
        async with LoopbackEmbeddingsServer(quoting) as server, embedder_at(server) as embedder:
            with capture_logs() as logs, pytest.raises(ModelRefusedRequest) as refused:
                await embedder.embed(NOTES)
        assert [record["event"] for record in logs] == ["embedding_failed"]
        assert NOTES[0] not in f"{logs} {refused.value!r} {refused.value.__cause__!r}"
