"""A chain of models on loopback servers."""

import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from cc_bot.domain.errors import ContextTooLong, ModelRefusedKey, ModelRefusedRequest, ModelUnavailable
from cc_bot.domain.message import Attachment
from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    Delta,
    Fallback,
    FallbackChain,
    Finish,
    ModelEvent,
    ToolRequest,
    ToolResultPart,
    UserPart,
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
    """Return a chain of models named a, b, c …, each on its own server and without retries."""
    async with AsyncExitStack() as stack:
        models = []
        for name, server in zip("abc", servers, strict=False):
            await stack.enter_async_context(server)
            model = await stack.enter_async_context(model_at(server, max_retries=0))
            models.append((name, model))
        yield FallbackChain(models)


class OneWord:
    """A model that records whether a request is running."""

    asking = False

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        self.asking = True
        try:
            yield Delta("東")
            yield Finish("cut")
        finally:
            self.asking = False


class TestNextModel:
    async def test_is_asked_when_one_fails_and_each_change_is_an_event(self) -> None:
        for trouble in (fails(503), fails(401), fails(404), Reply(CutConnection())):
            async with chain_of(LoopbackModelServer(trouble), LoopbackModelServer(says("東京"))) as chain:
                heard = await hear(chain)
            assert heard.events[:2] == (Fallback("b"), Delta("東京"))
            assert heard.finish.reason == "stop"
        servers = [LoopbackModelServer(fails(503)), LoopbackModelServer(fails(503)), LoopbackModelServer()]
        async with chain_of(*servers) as chain:
            assert (await hear(chain)).fallbacks == ["b", "c"]

    @pytest.mark.usefixtures("uncollected")
    async def test_is_the_last_to_hold_the_pictures(self) -> None:
        data = b"\x89PNG" + bytes(2**20)
        held, picture = sys.getrefcount(data), Attachment("猫.png", "image/png", data)
        async with chain_of(LoopbackModelServer(fails(503)), LoopbackModelServer(says("猫"))) as chain:
            await hear(chain, ChatRequest((UserPart("これは？", (picture,)),)))
            del picture
            assert sys.getrefcount(data) == held

    async def test_is_left_alone_once_the_first_has_begun(self) -> None:
        for reply, request, reason in (
            (says("東京"), QUESTION, "stop"),
            (Reply(Say("東"), CutConnection()), QUESTION, "cut"),
            (fails(503), CONTINUATION, "cut"),
        ):
            second = LoopbackModelServer()
            async with chain_of(LoopbackModelServer(reply), second) as chain:
                heard = await hear(chain, request)
                assert (heard.finish.reason, heard.fallbacks) == (reason, [])
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


class TestARequestThatIsTooLong:
    async def test_comes_back_as_long_as_it_can_be_made_shorter(self) -> None:
        too_long = fails(400, "This model's maximum context length is 4096 tokens.")
        second = LoopbackModelServer(says("東京"))
        async with chain_of(LoopbackModelServer(too_long, too_long), second) as chain:
            with pytest.raises(ContextTooLong):
                await hear(chain, ChatRequest(QUESTION.prompt, shrinkable=True))
            assert second.requests == []
            heard = await hear(chain)
        assert (heard.text, heard.fallbacks) == ("東京", ["b"])


class TestAChainThatFails:
    async def test_is_unavailable_if_any_model_may_answer_later_and_else_raises_the_last_refusal(
        self,
    ) -> None:
        for statuses, error in (
            ((503, 401), ModelUnavailable),
            ((401, 404), ModelRefusedRequest),
            ((401,), ModelRefusedKey),
        ):
            async with chain_of(*(LoopbackModelServer(fails(status)) for status in statuses)) as chain:
                with pytest.raises(error):
                    await hear(chain)


class TestClosing:
    async def test_the_iterator_ends_the_request_before_it_returns(self) -> None:
        model = OneWord()
        async with aclosing(FallbackChain([("a", model)]).stream(QUESTION)) as events:
            assert await anext(events) == Delta("東")
            assert model.asking
        assert not model.asking
