"""The offline model with the real tools: reminders in plain words, and what it says where none can be set."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

import cc_bot.tools
from cc_bot.assistant import Assistant
from cc_bot.domain import Message, NotRemoved, NotSaved
from cc_bot.llm.offline import OfflineModel
from cc_bot.stores import Stores
from cc_bot.tools.registry import discover
from tests.assistant.conftest import KEY, OPTIONS, Table, done
from tests.assistant.test_schedules import WISHES

Say = Callable[[str], Awaitable[str]]


@pytest.fixture
def stores(table: Table) -> Stores:
    return table.stores


@pytest.fixture
def say(stores: Stores) -> Say:
    assistant = Assistant(stores, OfflineModel(), discover(cc_bot.tools))

    async def say(text: str) -> str:
        events = [event async for event in assistant.ask(KEY, Message("user", text), OPTIONS)]
        assert not any(isinstance(event, NotSaved | NotRemoved) for event in events)
        return done(events).answer.content

    return say


class TestReminder:
    @pytest.mark.parametrize("wish", WISHES)
    async def test_is_set_however_it_is_asked_for(self, say: Say, stores: Stores, wish: str) -> None:
        await say(wish)
        [kept] = await stores.schedules.list(KEY.user_id)
        assert (kept.due_at + timedelta(hours=9)).hour == 18

    async def test_that_repeats_is_set_as_what_repeats(self, say: Say, stores: Stores) -> None:
        await say("隔週の火曜 10時に資源ゴミって知らせて")
        [kept] = await stores.schedules.list(KEY.user_id)
        assert (kept.text, kept.repeat[:25]) == ("資源ゴミ", "0 10 * * 2 every 2 weeks ")

    @pytest.mark.parametrize(
        ("wish", "told"),
        [
            ("3日おきに8時に薬って知らせて", "「3日ごとに8時」"),
            ("明日9時と18時に薬って知らせて", "分けて予約"),
            ("2月30日に薬って知らせて", "その日付や時刻はありません"),
        ],
    )
    async def test_that_can_not_be_one_is_refused_in_words(
        self, say: Say, stores: Stores, wish: str, told: str
    ) -> None:
        assert told in await say(wish)
        assert await stores.schedules.list(KEY.user_id) == []
