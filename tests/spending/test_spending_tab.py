"""What is run up by the models on a tab."""

from contextlib import aclosing

import pytest

from cc_bot.context.tokens import estimate_tokens, request_tokens
from cc_bot.domain.errors import ModelUnavailable
from cc_bot.domain.events import Usage
from cc_bot.domain.limits import Spent
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Fallback, Finish, ToolRequest, UserPart
from cc_bot.spending import UsageRecorder
from tests.scripted_model import ScriptedModel, Step

REQUEST = ChatRequest((UserPart("明日の天気は？"),))
TOLD = Usage(100, 20, 30)


async def heard(model: ChatModel, request: ChatRequest = REQUEST) -> list[object]:
    return [event async for event in model.stream(request)]


def on(tab: UsageRecorder, *steps: Step) -> ChatModel:
    return tab.charging(ScriptedModel([steps]))


class TestTab:
    async def test_passes_on_what_the_model_says(self) -> None:
        end = Finish("stop", usage=TOLD, model="small")
        assert await heard(on(UsageRecorder("small"), "晴れ", end)) == [Delta("晴れ"), end]

    async def test_adds_up_what_servers_told(self) -> None:
        tab = UsageRecorder("small")
        for _ in range(2):
            await heard(on(tab, "晴れ", Finish("stop", usage=TOLD, model="small")))
        assert await tab.spent() == [Spent("small", TOLD + TOLD)]

    async def test_charges_the_model_that_answered(self) -> None:
        tab = UsageRecorder("large")
        await heard(on(tab, Fallback("small"), "晴れ", Finish("stop", usage=TOLD, model="small")))
        await heard(on(tab, "雨", Finish("stop", usage=TOLD, model="large")))
        assert await tab.spent() == [Spent("small", TOLD), Spent("large", TOLD)]

    async def test_charges_an_estimate_where_the_server_told_nothing(self) -> None:
        tab = UsageRecorder("small")
        call = ToolRequest("1", "remember", '{"content": "猫"}')
        await heard(on(tab, "覚えます", Finish("tools", (call,), model="small")))
        [spent] = await tab.spent()
        assert spent.usage == Usage(
            request_tokens(REQUEST), estimate_tokens('覚えますremember{"content": "猫"}')
        )

    async def test_charges_what_was_sent_and_said_of_an_answer_that_was_stopped(self) -> None:
        tab = UsageRecorder("large")
        async with aclosing(on(tab, Fallback("small"), "晴れ", "でしょう").stream(REQUEST)) as events:
            async for event in events:
                if event == Delta("晴れ"):
                    break
        [spent] = await tab.spent()
        assert spent == Spent("small", Usage(request_tokens(REQUEST), estimate_tokens("晴れ")))

    async def test_charges_what_was_sent_and_said_of_an_answer_that_an_error_cut(self) -> None:
        tab = UsageRecorder("small")
        with pytest.raises(ModelUnavailable):
            await heard(on(tab, "晴れ", ModelUnavailable()))
        assert await tab.spent() == [Spent("small", Usage(request_tokens(REQUEST), estimate_tokens("晴れ")))]

    async def test_charges_nothing_for_a_request_that_was_refused(self) -> None:
        tab = UsageRecorder("small")
        with pytest.raises(ModelUnavailable):
            await heard(on(tab, ModelUnavailable()))
        assert await tab.spent() == []

    async def test_charges_nothing_for_a_model_that_counts_no_tokens(self) -> None:
        tab = UsageRecorder("")
        await heard(on(tab, "こんにちは", Finish("stop")))
        assert await tab.spent() == [Spent("", Usage())]
