"""Which requests tell notes of their user from the start: those in which the model could look them up."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cc_bot.chat.spending import Spending
from cc_bot.chat.tools import discover_tools
from cc_bot.domain.message import Agent, ChannelKey, Target, Visibility
from cc_bot.domain.turn import MemoriesRecalled
from cc_bot.features.heartbeat.runner import Heartbeats
from cc_bot.features.memory.model import Audience, Source
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.llm.model import SystemPart
from tests.assistant.conftest import KEY, OPTIONS, Table, asked, call, laid_table
from tests.scripted_model import only

ME, KEN = KEY.user_id, 12
CAT = "猫の名前はモチ"


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid_table(tmp_path, max_prompt_memories=3) as table:
        yield table


def begins_with(table: Table) -> str:
    """The first message of the newest request."""
    first = table.model.requests[-1].prompt[0]
    assert isinstance(first, SystemPart)
    return first.text


class TestTurns:
    async def test_begin_with_pinned_ones_and_then_the_newest(self, table: Table) -> None:
        for content in ("一つ目", "二つ目", "三つ目", "四つ目"):
            await table.stores.memories.add(ME, content)
        await table.stores.memories.pin(ME, 1)
        events = await table.ask("こんにちは")
        lines = begins_with(table).splitlines()[-3:]
        assert [line.split('"')[1] for line in lines] == ["一つ目", "四つ目", "三つ目"]
        assert not [event for event in events if isinstance(event, MemoriesRecalled)]

    async def test_have_them_where_the_model_may_recall(self, table: Table) -> None:
        await table.stores.memories.add(ME, CAT)
        await table.ask("?", options=replace(OPTIONS, temporary=True), visibility="private")
        assert CAT in begins_with(table)
        cannot_recall = Agent("poet", prompt="You rhyme.", tools=frozenset({"remember"}))
        for options in (replace(OPTIONS, memory_paused=True), replace(OPTIONS, agent=cannot_recall)):
            await table.ask("?", options=options)
            assert "モチ" not in table.shown()

    @pytest.mark.parametrize("author", ["", "太郎"])
    async def test_are_not_tainted_by_what_is_left_out(self, table: Table, author: str) -> None:
        await table.stores.memories.add(ME, "読み込んだ文", source=Source("import", author=author))
        await table.stores.memories.pin(ME, 1)
        table.model.script = [[call("remember", content="犬が好き")], ["覚えました。"]]
        await table.ask("犬が好き。覚えて")
        assert "読み込んだ文" not in table.shown()
        [newest, _] = await table.stores.memories.list(ME)
        assert newest.content == "犬が好き"


@pytest.mark.parametrize(
    ("target", "audience", "paused", "told"),
    [
        ("dm", "private", False, True),
        ("dm", "private", True, False),
        ("channel", "private", False, False),
        ("channel", "anywhere", False, True),
    ],
)
async def test_heartbeats_have_those_that_may_be_heard_there(
    table: Table, target: Target, audience: Audience, *, paused: bool, told: bool
) -> None:
    visibility: Visibility = "public" if target == "channel" else "private"
    stores, now = table.stores, datetime.now(UTC)
    await stores.memories.add(ME, CAT, audience=audience)
    schedule = await stores[ScheduleStore].add(
        KEY, "", now, kind="heartbeat", target=target, visibility=visibility, repeat="every 6h"
    )
    await stores[ScheduleStore].add(
        KEY, "薬を飲む", now + timedelta(hours=1), target=target, visibility=visibility
    )
    heartbeats = Heartbeats(stores, only(table.model), discover_tools(), Spending(stores.usage))
    await heartbeats.compose(schedule, replace(OPTIONS, memory_paused=paused))
    assert "薬を飲む" in table.shown()
    assert ("モチ" in begins_with(table), "モチ" in table.shown()) == (told, told)


async def test_channels_tell_those_of_the_one_who_asks(table: Table) -> None:
    channel = ChannelKey(700)
    await table.stores.memories.add(ME, CAT)
    await table.stores.memories.add(KEN, "Speaks French")
    await table.stores.memories.add(ME, "転職を考えている", audience="private")
    told = []
    for at, author in enumerate((ME, KEN)):
        await table.ask_in(channel, asked(1000 * at + author, "やあ", author))
        told.append([note for note in ("モチ", "French", "転職") if note in table.shown()])
    assert told == [["モチ"], ["French"]]
    assert len({request.prompt[0] for request in table.model.requests[:2]}) == 1
