"""Heartbeats over real stores: when the model is asked, what it is shown, and what comes of it."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import pytest
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory

from cc_bot.chat.spending import Spending
from cc_bot.chat.tools import ToolRegistry, discover_tools
from cc_bot.domain.errors import ModelUnavailable
from cc_bot.domain.message import Target
from cc_bot.domain.session import SessionKey
from cc_bot.domain.when.repeats import QuietHours
from cc_bot.features.heartbeat import runner
from cc_bot.features.heartbeat.runner import MAX_MESSAGE_LENGTH, Heartbeats
from cc_bot.features.mcp.tools import ServerTools
from cc_bot.features.memory.model import Memory, Source
from cc_bot.features.reminders.model import Schedule
from cc_bot.features.reminders.service import Composition
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.llm.model import Finish, ToolResultPart
from tests.assistant.conftest import KEY, OPTIONS, Table, call
from tests.loopback.tool_servers import CountingServers, calls_in, offered
from tests.scripted_model import only

TOKYO = ZoneInfo("Asia/Tokyo")
START = datetime(2026, 11, 22, 9, tzinfo=TOKYO).astimezone(UTC)
ME = KEY.user_id
HOUR = timedelta(hours=1)


@dataclass
class Heart:
    """A user's heartbeats, with the words that tests need."""

    table: Table
    heartbeats: Heartbeats
    schedule: Schedule

    async def beat(self, **changes: object) -> str | None:
        options = replace(OPTIONS, **changes)  # type: ignore[arg-type]  # passed on as it is
        speech = await self.heartbeats.compose(self.schedule, options)
        return None if speech is None or speech.message is None else speech.message.content

    async def speech(self) -> Composition:
        speech = await self.heartbeats.compose(self.schedule, OPTIONS)
        assert speech is not None
        return speech

    async def remember(self, content: str, **fields: Any) -> Memory:
        return await self.table.stores.memories.add(ME, content, **fields)

    async def remind(self, text: str, in_: timedelta = HOUR, **fields: Any) -> Schedule:
        return await self.table.stores[ScheduleStore].add(KEY, text, START + in_, **fields)

    def over(self, tools: ToolRegistry) -> Heartbeats:
        """Other heartbeats over the same model."""
        stores = self.table.stores
        return Heartbeats(stores, only(self.table.model), tools, Spending(stores.usage))

    async def begin(self, target: Target = "dm", quiet: QuietHours | None = None) -> None:
        """`/heartbeat on`."""
        self.schedule = await self.table.stores[ScheduleStore].add(
            KEY,
            "",
            START + 6 * HOUR,
            kind="heartbeat",
            target=target,
            visibility="public" if target == "channel" else "private",
            repeat="every 6h",
            quiet=quiet,
        )

    def looked_at(self, number: int = -1) -> list[str]:
        """The texts that the model was shown."""
        text = self.table.model.requests[number].prompt[-1].text
        return [note["text"] for note in json.loads(text[text.rindex('{"look_at"') :])["look_at"]]

    @property
    def requests(self) -> int:
        return len(self.table.model.requests)


@pytest.fixture
def clock() -> Iterator[FrozenDateTimeFactory]:
    with freeze_time(START, real_asyncio=True) as frozen:
        assert isinstance(frozen, FrozenDateTimeFactory)
        yield frozen


@pytest.fixture
async def heart(clock: FrozenDateTimeFactory, table: Table) -> Heart:
    heart = Heart(table, None, None)  # type: ignore[arg-type]  # they are made in the next lines
    heart.heartbeats = heart.over(discover_tools())
    await heart.begin()
    return heart


class TestNothingNew:
    async def test_asks_nobody(self, heart: Heart) -> None:
        await heart.remember("12月25日はパーティー")
        heart.schedule = replace(heart.schedule, created_at=START + HOUR)
        other = SessionKey(ME + 1, KEY.channel_id)
        await heart.table.stores.memories.add(other.user_id, "11月23日に歯医者")
        await heart.table.stores[ScheduleStore].add(other, "薬", START + HOUR)
        assert await heart.beat() is None
        assert heart.requests == 0

    async def test_is_what_was_looked_at_before_whatever_the_model_said(
        self, heart: Heart, clock: FrozenDateTimeFactory
    ) -> None:
        heart.table.model.script = [["26日は歯医者ですね。"], ["[silent]"]]
        await heart.remember("11月26日に歯医者")
        assert await heart.beat() == "26日は歯医者ですね。"
        clock.tick(6 * HOUR)
        await heart.remember("猫が好き")
        assert [await heart.beat() for _ in range(3)] == [None] * 3
        assert heart.requests == 2

    async def test_is_looked_for_in_no_quiet_hour(self, heart: Heart) -> None:
        await heart.remember("11月26日に歯医者")
        await heart.begin(quiet=QuietHours(8 * 60, 10 * 60))
        assert await heart.beat() is None
        assert heart.requests == 0
        assert await heart.beat(timezone=ZoneInfo("Europe/London")) is not None  # where it is midnight


class TestSomethingNew:
    async def test_is_a_reminder_of_the_next_day_one_that_was_missed_or_a_memory_that_ends(
        self, heart: Heart, clock: FrozenDateTimeFactory
    ) -> None:
        await heart.remind("散歩")
        clock.tick(3 * HOUR)
        await heart.table.stores[ScheduleStore].claim_due(START + 3 * HOUR, ["channel"])
        await heart.remind("薬を飲む", 5 * HOUR, visibility="private")
        await heart.remember("会員証", expires_at=START + 3 * 24 * HOUR, audience="private")
        await heart.remind("来週のこと", 100 * HOUR)
        heart.table.model.script = [["14時に薬です。"]]
        assert await heart.beat() == "14時に薬です。"
        assert sorted(heart.looked_at()) == ["会員証", "散歩", "薬を飲む"]

    async def test_comes_again_when_the_model_failed(
        self, heart: Heart, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await heart.remember("11月26日に歯医者")
        heart.table.model.script = [[ModelUnavailable()], ["歯医", Finish("cut")], [asyncio.Event()]]
        for _ in range(2):
            with pytest.raises(ModelUnavailable):
                await heart.beat()
        monkeypatch.setattr(runner, "TIME_LIMIT_S", 0.05)
        with pytest.raises(ModelUnavailable):
            await heart.beat()
        monkeypatch.undo()
        assert await heart.beat() is not None


class TestAudience:
    async def test_of_a_channel_hears_and_recalls_nothing_private(self, heart: Heart) -> None:
        await heart.begin(target="channel")
        await heart.remember("11月24日の検査の結果は良好", audience="private")
        await heart.remember("11月25日に集まり")
        await heart.remind("内緒", visibility="private")
        elsewhere = SessionKey(ME, KEY.channel_id + 1)
        await heart.table.stores[ScheduleStore].add(elsewhere, "よそのこと", START + HOUR)
        await heart.remind("ここのこと")
        look = [call("recall", query="検査"), call("list_memories", "2")]
        heart.table.model.script = [look, ["[silent]"]]
        await heart.beat()
        assert heart.looked_at(0) == ["ここのこと", "11月25日に集まり"]
        parts = heart.table.model.requests[-1].prompt
        results = [part.text for part in parts if isinstance(part, ToolResultPart)]
        assert len(results) == 2
        assert not any("良好" in result for result in results)

    async def test_who_paused_memory_hears_of_reminders_alone(self, heart: Heart) -> None:
        await heart.remember("11月24日に検査")
        assert await heart.beat(memory_paused=True) is None
        assert heart.requests == 0
        await heart.remind("薬")
        await heart.beat(memory_paused=True)
        assert heart.looked_at() == ["薬"]
        assert heart.table.model.requests[-1].tools == ()


class TestRequest:
    async def test_offers_to_look_things_up_and_nothing_that_changes_them(self, heart: Heart) -> None:
        heart.table.model.script = [["ひみつの答え"], ["はい"]]
        await heart.table.ask("ひみつの質問", key=replace(KEY, channel_id=11), visibility="private")
        await heart.remember("11月24日に検査")
        await heart.beat()
        assert {tool.name for tool in heart.table.model.requests[-1].tools} == {"recall", "list_memories"}
        assert "ひみつ" not in repr(heart.table.model.requests[-1])

    async def test_uses_of_servers_what_only_reads(self, heart: Heart, tmp_path: Path) -> None:
        look = offered("look", read_only=True, waits=False, open_world=True)
        servers = CountingServers(tmp_path, (look, offered("put", waits=False)))
        tools = discover_tools().with_external(ServerTools(servers))
        await heart.remember("11月24日に検査")
        heart.table.model.script = [[call("notes__look", text="11月24日に検査")], ["はい"]]
        await heart.over(tools).compose(heart.schedule, OPTIONS)
        assert len(calls_in(tmp_path)) == 1
        names = [tool.name for tool in heart.table.model.requests[0].tools if tool.name.startswith("notes")]
        assert names == ["notes__look"]


class TestChangeOfMind:
    """While the model thinks."""

    @pytest.mark.parametrize("about", ["memory", "all memories", "reminder", "heartbeats"])
    async def test_silences_what_was_to_be_said(
        self, heart: Heart, about: Literal["memory", "all memories", "reminder", "heartbeats"]
    ) -> None:
        stores, gate = heart.table.stores, asyncio.Event()
        if about == "reminder":
            reminder = await heart.remind("検査")
        else:
            memory = await heart.remember("11月24日に検査")
        heart.table.model.script = [[gate, "検査ですね。"]]
        beat = asyncio.create_task(heart.beat())
        await heart.table.model.asked()
        match about:
            case "memory":
                await heart.remember("11月25日に集まり")
                await stores.memories.delete(ME, memory.id)
            case "all memories":
                await stores.settings.set(ME, memory_paused=True)
            case "reminder":
                await stores[ScheduleStore].cancel(ME, reminder.id)
            case "heartbeats":
                await stores[ScheduleStore].cancel(ME, heart.schedule.id)
        gate.set()
        assert await beat is None
        if about == "memory":  # the others are for the next time
            await heart.beat()
            assert heart.looked_at() == ["11月25日に集まり"]


class TestSpeech:
    async def test_enters_no_session_and_is_as_private_as_the_channel(self, heart: Heart) -> None:
        await heart.remember("11月24日に検査")
        heart.table.model.script = [["長い話です。" * 1000]]
        message = (await heart.speech()).message
        assert message is not None
        assert (message.role, message.visibility) == ("assistant", "private")
        assert len(message.content) <= MAX_MESSAGE_LENGTH
        assert message.content.endswith("…")
        assert await heart.table.said() == []

    @pytest.mark.parametrize("kind", ["import", "command"])
    async def test_is_tainted_by_what_its_model_has_read(
        self, heart: Heart, kind: Literal["import", "command"]
    ) -> None:
        await heart.remember("11月26日に歯医者", source=Source(kind))
        message = (await heart.speech()).message
        assert message is not None
        assert message.tainted is (kind == "import")

    async def test_is_found_by_whoever_erases_what_it_was_about(self, heart: Heart) -> None:
        memory, other = await heart.remember("11月24日に検査"), await heart.remember("猫が好き")
        heart.schedule = replace(heart.schedule, created_at=START + HOUR)
        heart.table.model.script = [["明後日は病院ですね。"]]
        message = (await heart.speech()).message
        assert message is not None
        [firing] = await heart.table.stores[ScheduleStore].claim_due(START + 6 * HOUR, ["dm"])
        await heart.table.stores[ScheduleStore].mark_sent(firing, replace(message, discord_id=5))
        removal = heart.table.stores.memory_removal
        for each, emptied in ((other, 0), (memory, 1)):
            counts = await removal.erase(ME, each.id, stub="（消去しました）")
            assert counts is not None
            assert counts.messages == emptied
        said = await heart.table.stores.archive.get_notification(5)
        assert said is not None
        assert said[1].content == "（消去しました）"
