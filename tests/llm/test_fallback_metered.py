"""What a model's answers cost is told to the meter, and nothing else changes."""

from contextlib import aclosing
from dataclasses import dataclass, field

import pytest

from cc_bot.domain import Usage
from cc_bot.domain.errors import ModelUnavailable
from cc_bot.domain.measures import NullMeter, Purpose
from cc_bot.llm.fallback import MeteredModel
from cc_bot.llm.model import ChatRequest, Delta, Finish, ModelEvent, UserPart
from tests.scripted_model import ScriptedModel, Step

REQUEST = ChatRequest((UserPart("元気？"),))


@dataclass
class Spent(NullMeter):
    reports: list[tuple[Purpose, str, Usage]] = field(default_factory=list)

    def tokens_spent(self, purpose: Purpose, model: str, usage: Usage) -> None:
        self.reports.append((purpose, model, usage))


async def asked(*steps: Step) -> tuple[list[ModelEvent], Spent]:
    spent = Spent()
    model = MeteredModel(ScriptedModel([steps]), spent, "summary")
    async with aclosing(model.stream(REQUEST)) as events:
        return [event async for event in events], spent


class TestAMeteredModel:
    async def test_says_what_the_model_says_and_reports_what_it_cost(self) -> None:
        end = Finish("stop", usage=Usage(10, 5), model="small")
        events, spent = await asked("はい", end)
        assert events == [Delta("はい"), end]
        assert spent.reports == [("summary", "small", Usage(10, 5))]

    async def test_reports_nothing_for_a_model_that_counts_no_tokens(self) -> None:
        _, spent = await asked("はい", Finish("stop", usage=Usage(10, 5)))
        assert spent.reports == []

    async def test_fails_as_the_model_does(self) -> None:
        with pytest.raises(ModelUnavailable):
            await asked(ModelUnavailable())

    async def test_ends_the_request_when_it_is_closed(self) -> None:
        inner = ScriptedModel([["はい", "いいえ"]])
        async with aclosing(MeteredModel(inner, Spent(), "turn").stream(REQUEST)) as events:
            await anext(events)
        assert inner.ended_early == 1
