"""Which requests tell notes of their user from the start: those in which the model could look them up."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import cc_bot.tools
from cc_bot.assistant.heartbeats import Heartbeats
from cc_bot.domain import Agent, Source
from cc_bot.domain.memory import Audience
from cc_bot.domain.message import Visibility
from cc_bot.domain.schedule import Place
from cc_bot.domain.turn import Done, MemoriesRecalled
from cc_bot.llm.model import SystemPart, ToolRequest
from cc_bot.llm.requests import heartbeat_material
from cc_bot.tools.registry import discover
from tests.assistant.conftest import KEY, OPTIONS, Table, laid_table
from tests.assistant.test_channel_turns import AIKO, KEN, ask, mention, shown
from tests.scripted_model import only

ME = KEY.user_id


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid_table(tmp_path, profile_notes=3) as table:
        yield table


def begins_with(table: Table) -> str:
    """The first message of the newest request."""
    first = table.model.requests[-1].prompt[0]
    assert isinstance(first, SystemPart)
    return first.text


class TestTurns:
    async def test_begin_with_them(self, table: Table) -> None:
        for content in ("一つ目", "二つ目", "三つ目", "四つ目"):
            await table.stores.memories.add(ME, content)
        await table.stores.memory_pins.pin(ME, 1)
        await table.ask("こんにちは")
        lines = begins_with(table).splitlines()[-3:]
        assert [line.split('"')[1] for line in lines] == ["一つ目", "四つ目", "三つ目"]

    async def test_that_are_temporary_begin_with_them_as_they_may_recall(self, table: Table) -> None:
        await table.stores.memories.add(ME, "猫の名前はモチ")
        await table.ask("?", options=replace(OPTIONS, temporary=True), visibility="private")
        assert "猫の名前はモチ" in begins_with(table)

    async def test_while_memory_is_paused_have_none(self, table: Table) -> None:
        await table.stores.memories.add(ME, "猫の名前はモチ")
        await table.ask("?", options=replace(OPTIONS, memory_paused=True))
        assert "モチ" not in str(table.model.requests[-1].prompt)

    async def test_of_an_agent_that_cannot_recall_have_none(self, table: Table) -> None:
        await table.stores.memories.add(ME, "猫の名前はモチ")
        agent = Agent("poet", prompt="You rhyme.", tools=frozenset({"remember"}))
        await table.ask("?", options=replace(OPTIONS, agent=agent))
        assert "モチ" not in str(table.model.requests[-1].prompt)

    async def test_told_anew_tell_what_there_is_then(self, table: Table) -> None:
        kept = await table.stores.memories.add(ME, "猫の名前はモチ")
        [*_, first] = await table.ask("?")
        assert isinstance(first, Done)
        await table.stores.memories.update(ME, kept.id, content="猫の名前はタマ")
        answer_id = first.answer.id
        assert answer_id is not None
        async for _ in table.assistant.regenerate(KEY, answer_id, OPTIONS):
            pass
        assert "タマ" in begins_with(table)
        assert "モチ" not in begins_with(table)

    async def test_are_not_told_to_have_used_them(self, table: Table) -> None:
        await table.stores.memories.add(ME, "猫の名前はモチ")
        events = await table.ask("?")
        assert not [event for event in events if isinstance(event, MemoriesRecalled)]

    async def test_propose_to_change_one_that_was_only_told(self, table: Table) -> None:
        kept = await table.stores.memories.add(ME, "猫の名前はモチ")
        table.model.script = [[ToolRequest("1", "forget", f'{{"id": {kept.id}}}')], ["消しますか。"]]
        await table.ask("猫のことは忘れて")
        assert await table.stores.memories.get(ME, kept.id) is not None

    @pytest.mark.parametrize("author", ["", "太郎"])
    async def test_are_not_tainted_by_what_is_left_out(self, table: Table, author: str) -> None:
        await table.stores.memories.add(ME, "読み込んだ文", source=Source("import", author=author))
        await table.stores.memory_pins.pin(ME, 1)
        table.model.script = [[ToolRequest("1", "remember", '{"content": "犬が好き"}')], ["覚えました。"]]
        await table.ask("犬が好き。覚えて")
        assert "読み込んだ文" not in str(table.model.requests[-1].prompt)
        [newest, _] = await table.stores.memories.list(ME)
        assert newest.content == "犬が好き"


class TestHeartbeats:
    @pytest.mark.parametrize(
        ("place", "audience", "told"),
        [
            ("dm", "private", True),
            ("channel", "private", False),
            ("channel", "anywhere", True),
        ],
    )
    async def test_have_those_that_may_be_heard_there(
        self, table: Table, place: Place, audience: Audience, told: bool
    ) -> None:
        visibility: Visibility = "public" if place == "channel" else "private"
        stores, now = table.stores, datetime.now(UTC)
        await stores.memories.add(ME, "猫の名前はモチ", audience=audience)
        schedule = await stores.schedules.add(
            KEY,
            "",
            now + timedelta(hours=6),
            kind="heartbeat",
            place=place,
            visibility=visibility,
            repeat="every 6h",
        )
        await stores.schedules.add(
            KEY, "薬を飲む", now + timedelta(hours=1), place=place, visibility=visibility
        )
        heartbeats = Heartbeats(stores, only(table.model), discover(cc_bot.tools))
        await heartbeats.speak(schedule, OPTIONS)
        [request] = table.model.requests
        assert ("モチ" in begins_with(table)) == told
        assert heartbeat_material(request) is not None  # it is known for one all the same

    async def test_have_none_while_memory_is_paused(self, table: Table) -> None:
        stores, now = table.stores, datetime.now(UTC)
        await stores.memories.add(ME, "猫の名前はモチ")
        schedule = await stores.schedules.add(
            KEY, "", now, kind="heartbeat", place="dm", visibility="private"
        )
        await stores.schedules.add(
            KEY, "薬を飲む", now + timedelta(hours=1), place="dm", visibility="private"
        )
        heartbeats = Heartbeats(stores, only(table.model), discover(cc_bot.tools))
        await heartbeats.speak(schedule, replace(OPTIONS, memory_paused=True))
        assert "薬を飲む" in str(table.model.requests[-1].prompt)
        assert "モチ" not in str(table.model.requests[-1].prompt)


class TestChannels:
    async def test_tell_those_of_the_one_who_asks(self, table: Table) -> None:
        await table.stores.memories.add(AIKO, "猫の名前はモチ")
        await table.stores.memories.add(KEN, "Speaks French")
        await table.stores.memories.add(AIKO, "転職を考えている", audience="private")
        await ask(table, mention(1000, "こんにちは"))
        first = shown(table)
        await ask(table, mention(2000, "Hello", KEN, "Ken"))
        second = shown(table)
        assert ("モチ" in first, "French" in first, "転職" in first) == (True, False, False)
        assert ("モチ" in second, "French" in second) == (False, True)
        assert table.model.requests[0].prompt[0] == table.model.requests[1].prompt[0]

    async def test_tell_none_where_several_are_answered_at_once(self, table: Table) -> None:
        await table.stores.memories.add(AIKO, "猫の名前はモチ")
        await ask(table, mention(1000, "こんにちは"), mention(1001, "Hello", KEN, "Ken"))
        assert "モチ" not in shown(table)
