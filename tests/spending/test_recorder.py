from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import date

import pytest

from cc_bot.chat.context.tokens import estimate_tokens, request_tokens
from cc_bot.chat.spending import UsageRecorder, get_unlimited_policy
from cc_bot.chat.stores.usage import Reservation, ReservationRequest
from cc_bot.domain.errors import ModelUnavailable
from cc_bot.domain.measures import NULL_METER, Meter, Purpose
from cc_bot.domain.turn import Usage
from cc_bot.domain.usage import ModelUsage, Payer
from cc_bot.llm.model import ChatModel, ChatRequest, Delta, Fallback, Finish, ToolRequest, UserPart
from tests.scripted_model import ScriptedModel, Step

REQUEST = ChatRequest((UserPart("明日の天気は？"),))
TOLD = Usage(100, 20, 30)


async def heard(model: ChatModel, request: ChatRequest = REQUEST) -> list[object]:
    return [event async for event in model.stream(request)]


@dataclass
class Reports(Meter):
    told: list[tuple[Purpose, str, Usage]] = field(default_factory=list)

    def record_tokens(self, purpose: Purpose, model: str, usage: Usage) -> None:
        self.told.append((purpose, model, usage))


def recorder_of(model: str, meter: Meter = NULL_METER) -> UsageRecorder:
    request = ReservationRequest(Payer(1), "summary", model, 10)
    return UsageRecorder(Reservation(1, request, date(2026, 11, 24)), get_unlimited_policy, meter)


def on(recorder: UsageRecorder, *steps: Step) -> ChatModel:
    return recorder.metered(ScriptedModel([steps]))


class TestRecorder:
    async def test_passes_on_what_the_model_says_and_charges_the_one_that_answered(self) -> None:
        recorder = recorder_of("large")
        end = Finish("stop", usage=TOLD, model="small")
        for _ in range(2):
            said = await heard(on(recorder, Fallback("small"), "晴れ", end))
            assert said == [Fallback("small"), Delta("晴れ"), end]
        await heard(on(recorder, "雨", Finish("stop", usage=TOLD, model="large")))
        assert await recorder.list_usage() == [ModelUsage("small", TOLD + TOLD), ModelUsage("large", TOLD)]

    async def test_charges_an_estimate_where_the_server_told_nothing(self) -> None:
        recorder = recorder_of("small")
        call = ToolRequest("1", "remember", '{"content": "猫"}')
        await heard(on(recorder, "覚えます", Finish("tools", (call,), model="small")))
        [spent] = await recorder.list_usage()
        assert spent.usage == Usage(
            request_tokens(REQUEST), estimate_tokens('覚えますremember{"content": "猫"}')
        )

    async def test_charges_what_was_sent_and_said_of_an_answer_that_was_stopped_or_cut(self) -> None:
        stopped, cut = recorder_of("large"), recorder_of("small")
        async with aclosing(on(stopped, Fallback("small"), "晴れ", "でしょう").stream(REQUEST)) as events:
            async for event in events:
                if event == Delta("晴れ"):
                    break
        with pytest.raises(ModelUnavailable):
            await heard(on(cut, "晴れ", ModelUnavailable()))
        spent = ModelUsage("small", Usage(request_tokens(REQUEST), estimate_tokens("晴れ")))
        assert [await each.list_usage() for each in (stopped, cut)] == [[spent], [spent]]


class TestMeter:
    async def test_and_the_bill_are_told_nothing_of_what_counts_no_tokens_or_failed(self) -> None:
        reports = Reports()
        free, refused = recorder_of("", reports), recorder_of("small", reports)
        await heard(on(free, "はい", Finish("stop", usage=TOLD)))
        with pytest.raises(ModelUnavailable):
            await heard(on(refused, ModelUnavailable()))
        assert reports.told == []
        assert await refused.list_usage() == []
        free = recorder_of("")
        await heard(on(free, "こんにちは", Finish("stop")))
        assert await free.list_usage() == [ModelUsage("", Usage())]


class TestSound:
    async def test_is_counted_by_its_seconds_after_what_was_said(self) -> None:
        reports = Reports()
        recorder = recorder_of("small", reports)
        with recorder.record_sound("ears", 2.2) as sound:
            sound.seconds = max(sound.seconds, 1.0)
        await heard(on(recorder, "晴れ", Finish("stop", usage=TOLD, model="small")))
        assert await recorder.list_usage() == [
            ModelUsage("small", TOLD),
            ModelUsage("ears", Usage(seconds=3)),
        ]
        assert reports.told[0] == ("summary", "ears", Usage(seconds=3))
