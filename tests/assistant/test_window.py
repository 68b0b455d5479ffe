"""How much of a long conversation a turn shows the model."""

from dataclasses import replace

import pytest

from cc_bot.context.tokens import request_tokens
from cc_bot.domain import Message, SessionKey
from cc_bot.domain.errors import ContextTooLong
from cc_bot.domain.turn import Usage
from cc_bot.llm.model import AssistantPart, ChatRequest, Finish, UserPart
from tests.assistant.conftest import KEY, OPTIONS, Table

PARAGRAPH = "今日は駅前の店で友人と昼を食べ、そのあと川沿いの道をゆっくり歩いて帰りました。"


async def talk(table: Table, turns: int, text: str = PARAGRAPH) -> list[Message]:
    """So many turns are stored; every message is another."""
    session = await table.stores.sessions.open(KEY)
    said: list[Message] = []
    for number in range(turns):
        pair = Message("user", f"{number}：{text}"), Message("assistant", f"{number}です。{text}")
        await table.stores.sessions.commit_turn(session, pair)
        said += pair
    return said


def shown(request: ChatRequest) -> list[str]:
    """The history and the question."""
    return [part.text for part in request.prompt if isinstance(part, UserPart | AssistantPart)]


class TestCalibration:
    async def learned(self, table: Table, model: str = "m") -> float:
        await table.assistant.settle()
        return await table.stores.token_factors.get(model)

    @pytest.mark.parametrize(("temporary", "factor"), [(False, 1.3), (True, 2)])
    async def test_learns_from_what_each_answer_cost(
        self, table: Table, *, temporary: bool, factor: float
    ) -> None:
        options = replace(OPTIONS, temporary=temporary)
        await table.ask("犬を飼っているのを覚えて", options=options)
        counted = round(request_tokens(table.model.requests[0]) * factor)
        table.model.script = [["はい", Finish("stop", usage=Usage(counted, 5), model="m")]]
        await table.ask("犬を飼っているのを覚えて", key=SessionKey(2, 2), options=options)
        assert await self.learned(table) == pytest.approx(factor, rel=0.01)


class TestTooLong:
    async def test_a_history_is_halved_and_the_user_gets_an_answer(self, table: Table) -> None:
        await talk(table, 8, PARAGRAPH * 6)
        table.model.script = [[ContextTooLong()], ["これで足りました。"]]
        assert (await table.answer("続きは？")).content == "これで足りました。"
        refused, taken = (shown(request) for request in table.model.requests)
        assert len(refused) / 2 - 2 <= len(taken) <= len(refused) / 2 + 1
        assert taken == refused[-len(taken) :]
        assert len(taken) % 2 == 1
        assert (await table.said())[-2:] == ["続きは？", "これで足りました。"]

    async def test_a_history_is_fitted_to_the_limit_that_the_server_told_from_then_on(
        self, table: Table
    ) -> None:
        await talk(table, 8, PARAGRAPH * 10)
        table.model.script = [[ContextTooLong(limit=4000)], ["はい。"]]
        await table.ask("続きは？")
        await table.ask("それから？")
        assert len(table.model.requests) == 3
        for request in table.model.requests[1:]:
            assert request_tokens(request) <= 4000
            assert len(shown(request)) > 1
