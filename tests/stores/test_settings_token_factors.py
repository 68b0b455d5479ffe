"""How a model's own count of tokens is learned from its answers."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cc_bot.context.tokens import request_tokens
from cc_bot.llm.model import AssistantPart, ChatRequest, SystemPart, UserPart
from cc_bot.storage import Database
from cc_bot.stores import Stores
from cc_bot.stores.settings import HIGHEST, LOWEST
from tests.context.token_texts import FITTED, HELD_OUT, HELD_OUT_TOOLS, TOOLS, as_sent
from tests.o200k import count
from tests.stores.backends import OpenStores


def counted(request: ChatRequest) -> int:
    """What a server with the real tokenizer counts: each text, and what marks a message and the answer."""
    texts = [*(part.text for part in request.prompt), *map(as_sent, request.tools)]
    return sum(count(text) for text in texts) + 4 * len(request.prompt) + 3


def conversation(system: str, texts: tuple[str, ...], first: int, number_of: int) -> ChatRequest:
    """A few of the texts, in turns."""
    said = [texts[(first + number) % len(texts)] for number in range(number_of)]
    parts = (AssistantPart(text) if number % 2 else UserPart(text) for number, text in enumerate(said))
    return ChatRequest((SystemPart(system), *parts), TOOLS)


class TestFactor:
    async def test_of_an_unknown_model_changes_nothing(self, stores: Stores) -> None:
        assert await stores.token_factors.get("new") == 1

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", FITTED)
    @pytest.mark.parametrize("dearer", [1.0, 1.6], ids=["o200k", "a smaller vocabulary"])
    async def test_of_ten_answers_brings_estimates_within_5_percent(
        self, stores: Stores, kind: str, dearer: float
    ) -> None:
        for number in range(10):
            request = conversation(FITTED["system"][0], FITTED[kind], number, 3 + number % 3)
            real = round(counted(request) * dearer)
            await stores.token_factors.learn("m", estimated=request_tokens(request), counted=real)
        factor = await stores.token_factors.get("m")

        unseen = [
            ChatRequest((SystemPart(HELD_OUT["system"][number % 2]), UserPart(text)), tools)
            for number, text in enumerate(HELD_OUT[kind])
            for tools in (TOOLS, (*TOOLS, *HELD_OUT_TOOLS))
        ]
        real = sum(round(counted(request) * dearer) for request in unseen)
        assert factor * sum(map(request_tokens, unseen)) == pytest.approx(real, rel=0.05)

    async def test_is_kept(self, open_again: OpenStores) -> None:
        async with open_again() as stores:
            await stores.token_factors.learn("qwen3", estimated=100, counted=130)
        async with open_again() as stores:
            assert await stores.token_factors.get("qwen3") == pytest.approx(1.3)

    async def test_is_each_models_own(self, stores: Stores) -> None:
        await stores.token_factors.learn("a", estimated=100, counted=130)
        await stores.token_factors.learn("b", estimated=100, counted=90)
        assert await stores.token_factors.get("a") == pytest.approx(1.3)
        assert await stores.token_factors.get("b") == pytest.approx(0.9)

    @pytest.mark.parametrize("nonsense", [0, -5, 11, 10**9])
    async def test_ignores_what_no_tokenizer_counts(self, stores: Stores, nonsense: int) -> None:
        await stores.token_factors.learn("m", estimated=1000, counted=1200)
        await stores.token_factors.learn("m", estimated=1000, counted=nonsense)
        await stores.token_factors.learn("m", estimated=0, counted=10)
        assert await stores.token_factors.get("m") == pytest.approx(1.2)

    async def test_is_not_carried_away_by_an_odd_answer(self, stores: Stores) -> None:
        for _ in range(10):
            await stores.token_factors.learn("m", estimated=1000, counted=1000)
        await stores.token_factors.learn("m", estimated=1000, counted=3900)
        assert await stores.token_factors.get("m") == pytest.approx(1.0, rel=0.05)

    async def test_follows_a_model_that_changed(self, stores: Stores) -> None:
        for _ in range(50):
            await stores.token_factors.learn("m", estimated=1000, counted=1000)
        for _ in range(150):
            await stores.token_factors.learn("m", estimated=1000, counted=1500)
        assert await stores.token_factors.get("m") == pytest.approx(1.5, rel=0.02)

    async def test_learned_at_once_loses_nothing(self, stores: Stores, database: Database) -> None:
        await asyncio.gather(
            *(stores.token_factors.learn("m", estimated=100, counted=120) for _ in range(20))
        )
        [(factor, responses)] = await database.query("SELECT factor, responses FROM token_factors")
        assert (factor, responses) == (pytest.approx(1.2), 20)

    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(counts=st.lists(st.integers(-10, 10**7), max_size=8), model=st.uuids().map(str))
    async def test_stays_within_its_bounds(self, stores: Stores, counts: list[int], model: str) -> None:
        for counts_as in counts:
            await stores.token_factors.learn(model, estimated=1000, counted=counts_as)
        assert LOWEST <= await stores.token_factors.get(model) <= HIGHEST
