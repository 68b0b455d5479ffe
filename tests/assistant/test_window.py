"""How much of a long conversation a turn shows the model."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import cc_bot.tools
from cc_bot.assistant import Assistant, AssistantSettings
from cc_bot.context.prompt import PromptStyle
from cc_bot.context.tokens import request_tokens
from cc_bot.domain import Message, SessionKey
from cc_bot.domain.errors import ContextTooLong
from cc_bot.domain.message import Visibility
from cc_bot.domain.turn import Usage
from cc_bot.llm.model import AssistantPart, ChatRequest, Finish, UserPart
from cc_bot.storage import open_database
from cc_bot.stores import SessionStore, open_stores
from cc_bot.tools.registry import discover
from tests.assistant.conftest import KEY, OPTIONS, Table
from tests.databases import laid_out
from tests.scripted_model import ScriptedModel, only

PARAGRAPH = "今日は駅前の店で友人と昼を食べ、そのあと川沿いの道をゆっくり歩いて帰りました。"


@asynccontextmanager
async def long_table(folder: Path, budget_tokens: int = 80_000, page_size: int = 200) -> AsyncIterator[Table]:
    """An assistant whose history is bounded by tokens alone."""
    url = laid_out(folder / "sessions.db")
    async with open_stores(url, history_limit=0) as stores, open_database(url) as database:
        sessions = SessionStore(database, history_limit=0, page_size=page_size)
        paged = replace(stores, sessions=sessions)
        model = ScriptedModel()
        style = PromptStyle(budget_tokens=budget_tokens)
        assistant = Assistant(paged, only(model, "m"), discover(cc_bot.tools), AssistantSettings(style=style))
        yield Table(assistant, paged, model)


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


class TestBudget:
    async def test_shows_a_public_turn_nothing_private_from_any_page(self, tmp_path: Path) -> None:
        async with long_table(tmp_path, page_size=3) as table:
            session = await table.stores.sessions.open(KEY)
            for number in range(10):
                visibility: Visibility = "private" if number % 2 else "public"
                pair = (
                    Message("user", f"{visibility}{number}", visibility=visibility),
                    Message("assistant", f"{visibility}{number}", visibility=visibility),
                )
                await table.stores.sessions.commit_turn(session, pair)
            await table.ask("見えるのは？")
            await table.ask("全部？", visibility="private")
            in_public, in_private = (shown(request) for request in table.model.requests)
        assert [text for text in in_public if "private" in text] == []
        assert len(in_public) == 10 + 1
        assert len(in_private) == 20 + 2 + 1


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
