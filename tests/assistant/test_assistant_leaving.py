"""A user who is being forgotten: what is on its way ends without a trace, and nothing begins meanwhile."""

import asyncio
from dataclasses import replace
from typing import Final

import pytest

from cc_bot.domain import Message
from cc_bot.domain.errors import BeingErased
from cc_bot.domain.message import ChannelKey
from tests.assistant.conftest import KEY, OPTIONS, Table, done
from tests.stores.places import said

CHANNEL: Final = ChannelKey(3)
YOU: Final = 7


async def ask_in_channel(table: Table, *questions: Message) -> list[object]:
    for question in questions:
        await table.stores.channels.add(CHANNEL, question, waiting=True)
    options = replace(OPTIONS, bot_id=5, answer_discord_id=99)
    return [event async for event in table.assistant.ask(CHANNEL, questions, options)]


class TestTurn:
    async def test_that_is_on_its_way_ends_and_leaves_nothing(self, table: Table) -> None:
        table.model.script = [["昔々、", asyncio.Event()]]
        asking = asyncio.create_task(table.ask("お話して"))
        await table.model.asked()
        async with table.assistant.without_turns_of(KEY.user_id):
            assert asking.done()
        with pytest.raises(BeingErased):
            await asking
        assert await table.said() == []

    async def test_that_waits_in_line_ends_as_well(self, table: Table) -> None:
        table.model.script = [["一つ目", asyncio.Event()]]
        first = asyncio.create_task(table.ask("一つ目"))
        await table.model.asked()
        second = asyncio.create_task(table.ask("二つ目"))
        await asyncio.sleep(0)
        async with table.assistant.without_turns_of(KEY.user_id):
            pass
        for asking in (first, second):
            with pytest.raises(BeingErased):
                await asking
        assert len(table.model.requests) == 1

    async def test_of_a_channel_ends_whoever_else_asked(self, table: Table) -> None:
        table.model.script = [["お二人へ", asyncio.Event()]]
        questions = [said(10, "わたし", author_id=KEY.user_id), said(11, "あなた", author_id=YOU)]
        asking = asyncio.create_task(ask_in_channel(table, *questions))
        await table.model.asked()
        async with table.assistant.without_turns_of(YOU):
            pass
        with pytest.raises(BeingErased):
            await asking
        assert await table.stores.channels.get_newest_answer(CHANNEL) is None

    async def test_does_not_begin_meanwhile_and_does_afterwards(self, table: Table) -> None:
        table.model.script = [["はい"]]
        async with table.assistant.without_turns_of(KEY.user_id):
            with pytest.raises(BeingErased):
                await table.ask("まだですか")
        assert done(await table.ask("もういいですか")).answer.content == "はい"

    async def test_of_another_user_goes_on(self, table: Table) -> None:
        table.model.script = [["はい"]]
        async with table.assistant.without_turns_of(YOU):
            assert (await table.answer("いいですか")).content == "はい"


class TestTemporaryQuestion:
    async def test_ends_too(self, table: Table) -> None:
        table.model.script = [["昔々、", asyncio.Event()]]
        options = replace(OPTIONS, temporary=True)
        asking = asyncio.create_task(table.ask("内緒で", options=options, visibility="private"))
        await table.model.asked()
        async with table.assistant.without_turns_of(KEY.user_id):
            pass
        with pytest.raises(BeingErased):
            await asking
