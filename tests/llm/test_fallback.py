"""The chain of models, over models on loopback servers."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from cc_bot.domain.errors import ContextTooLong, ModelRefusedKey, ModelRefusedRequest, ModelUnavailable
from cc_bot.llm.chain import FallbackChain
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    Delta,
    Fallback,
    Finish,
    ModelEvent,
    ToolRequest,
    ToolResultPart,
)
from tests.llm.asking import CONTINUATION, QUESTION, hear, model_at
from tests.loopback.model_server import (
    Call,
    CutConnection,
    LoopbackModelServer,
    Reply,
    Say,
    calls,
    fails,
    says,
)

AFTER_A_TOOL = ChatRequest(
    prompt=(
        *QUESTION.prompt,
        AssistantPart("", (ToolRequest("call_1", "recall", "{}"),)),
        ToolResultPart("call_1", "recall", "3月15日"),
    )
)


@asynccontextmanager
async def chain_of(*servers: LoopbackModelServer) -> AsyncIterator[FallbackChain]:
    """A chain of models named a, b, c …, each on a server of its own and without retries."""
    async with AsyncExitStack() as stack:
        models = []
        for name, server in zip("abc", servers, strict=False):
            await stack.enter_async_context(server)
            model = await stack.enter_async_context(model_at(server, max_retries=0))
            models.append((name, model))
        yield FallbackChain(models)


class OneWord:
    """A model that knows whether a request is under way."""

    asking = False

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asking = True
        try:
            yield Delta("東")
            yield Finish("cut")
        finally:
            self.asking = False

    async def close(self) -> None:
        pass


class TestNextModel:
    @pytest.mark.parametrize(
        "trouble",
        [fails(503), fails(401), fails(404), Reply(CutConnection())],
        ids=["overloaded", "wrong key", "unknown model", "broken"],
    )
    async def test_it_is_asked_when_one_gives_nothing(self, trouble: Reply) -> None:
        async with chain_of(LoopbackModelServer(trouble), LoopbackModelServer(says("東京"))) as chain:
            heard = await hear(chain)
        assert heard.events[:2] == (Fallback("b"), Delta("東京"))
        assert heard.finish.reason == "stop"

    async def test_each_change_is_told(self) -> None:
        servers = [LoopbackModelServer(fails(503)), LoopbackModelServer(fails(503)), LoopbackModelServer()]
        async with chain_of(*servers) as chain:
            assert (await hear(chain)).fallbacks == ["b", "c"]

    async def test_it_is_left_alone_while_the_first_answers(self) -> None:
        second = LoopbackModelServer()
        async with chain_of(LoopbackModelServer(says("東京")), second) as chain:
            assert (await hear(chain)).fallbacks == []
            assert second.requests == []

    async def test_it_is_never_asked_after_a_word(self) -> None:
        second = LoopbackModelServer()
        async with chain_of(LoopbackModelServer(Reply(Say("東"), CutConnection())), second) as chain:
            heard = await hear(chain)
            assert (heard.text, heard.finish.reason) == ("東", "cut")
            assert second.requests == []

    async def test_it_is_never_asked_for_an_answer_that_has_begun(self) -> None:
        second = LoopbackModelServer()
        async with chain_of(LoopbackModelServer(fails(503)), second) as chain:
            assert (await hear(chain, CONTINUATION)).finish.reason == "cut"
            assert second.requests == []


class TestTurnOfSeveralRequests:
    async def test_it_stays_with_the_model_that_took_over(self) -> None:
        first = LoopbackModelServer(fails(503))
        second = LoopbackModelServer(calls(Call("recall", {})), says("3月15日です"), says("。"))
        async with chain_of(first, second) as chain:
            took_over = (await hear(chain, QUESTION)).finish.model
            assert (await hear(chain, replace(AFTER_A_TOOL, answered_by=took_over))).text == "3月15日です"
            assert (await hear(chain, replace(CONTINUATION, answered_by=took_over))).text == "。"
            assert len(first.requests) == 1

    async def test_it_stays_there_whatever_model_answers_another_turn_meanwhile(self) -> None:
        first = LoopbackModelServer(fails(503), says("別の人への答え"))
        second = LoopbackModelServer(calls(Call("recall", {})), says("3月15日です"))
        async with chain_of(first, second) as chain:
            took_over = (await hear(chain, QUESTION)).finish.model
            assert (await hear(chain, QUESTION)).finish.model == "a"
            assert (await hear(chain, replace(AFTER_A_TOOL, answered_by=took_over))).text == "3月15日です"

    async def test_the_next_turn_starts_with_the_first_model_again(self) -> None:
        first = LoopbackModelServer(fails(503), says("戻りました"))
        async with chain_of(first, LoopbackModelServer()) as chain:
            await hear(chain)
            assert (await hear(chain)).text == "戻りました"


class TestTooLongARequest:
    TOO_LONG = fails(400, "This model's maximum context length is 4096 tokens.")

    async def test_comes_back_as_long_as_it_can_be_made_shorter(self) -> None:
        second = LoopbackModelServer()
        async with chain_of(LoopbackModelServer(self.TOO_LONG), second) as chain:
            with pytest.raises(ContextTooLong):
                await hear(chain, ChatRequest(QUESTION.prompt, shrinkable=True))
            assert second.requests == []

    async def test_goes_to_the_next_model_when_it_cant(self) -> None:
        async with chain_of(LoopbackModelServer(self.TOO_LONG), LoopbackModelServer(says("東京"))) as chain:
            heard = await hear(chain)
        assert (heard.text, heard.fallbacks) == ("東京", ["b"])


class TestWholeChainFailing:
    async def test_it_is_unavailable_if_any_model_may_answer_later(self) -> None:
        refusing = LoopbackModelServer(fails(401))
        async with chain_of(LoopbackModelServer(fails(503)), refusing) as chain:
            with pytest.raises(ModelUnavailable):
                await hear(chain)

    async def test_otherwise_the_last_refusal_counts(self) -> None:
        servers = [LoopbackModelServer(fails(401)), LoopbackModelServer(fails(404))]
        async with chain_of(*servers) as chain:
            with pytest.raises(ModelRefusedRequest):
                await hear(chain)

    async def test_a_chain_of_one_raises_what_its_model_raised(self) -> None:
        async with chain_of(LoopbackModelServer(fails(401))) as chain:
            with pytest.raises(ModelRefusedKey):
                await hear(chain)


class TestChain:
    async def test_closing_the_iterator_ends_the_request_before_it_returns(self) -> None:
        model = OneWord()
        async with aclosing(FallbackChain([("a", model)]).stream(QUESTION)) as events:
            assert await anext(events) == Delta("東")
            assert model.asking
        assert not model.asking

    async def test_closing_it_closes_each_model(self) -> None:
        async with chain_of(LoopbackModelServer(), LoopbackModelServer()) as chain:
            await chain.close()
            with pytest.raises(RuntimeError):
                await hear(chain)

    def test_a_chain_without_models_is_refused(self) -> None:
        with pytest.raises(ValueError, match="needs a model"):
            FallbackChain([])
