"""Heartbeats over real stores: when the model is asked, what it is shown, and what comes of it."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import pytest
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory

import cc_bot.tools
from cc_bot.assistant.heartbeats import LONGEST, Heartbeats, Speech
from cc_bot.context.prompt import PromptStyle
from cc_bot.domain import Agent, Locale, SessionKey
from cc_bot.domain.errors import ModelUnavailable, StorageError
from cc_bot.domain.memory import Source
from cc_bot.domain.schedule import Place, Quiet, Schedule
from cc_bot.domain.tool_server import OfferedTool, ServerTool
from cc_bot.llm.model import Finish, SystemPart, ToolRequest, ToolResultPart
from cc_bot.llm.requests import heartbeat_material
from cc_bot.tools.registry import discover
from cc_bot.tools.servers import ServerTools
from tests.assistant.conftest import KEY, OPTIONS, Table
from tests.assistant.test_tool_servers import Notes
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
        """What one heartbeat says."""
        options = replace(OPTIONS, **changes)  # type: ignore[arg-type]  # passed on as it is
        speech = await self.heartbeats.speak(self.schedule, options)
        return None if speech is None or speech.message is None else speech.message.content

    async def move(self, place: Place) -> None:
        await self.begin(place=place)

    async def begin(self, place: Place = "dm", quiet: Quiet | None = None) -> None:
        """`/heartbeat on`."""
        self.schedule = await self.table.stores.schedules.add(
            KEY,
            "",
            START + 6 * HOUR,
            kind="heartbeat",
            place=place,
            visibility="public" if place == "channel" else "private",
            repeat="every 6h",
            quiet=quiet,
        )

    def looked_at(self, number: int = -1) -> list[str]:
        """The texts that the model was shown."""
        material = heartbeat_material(self.table.model.requests[number])
        assert material is not None
        return [note.text for note in material.notes]

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
    heartbeats = Heartbeats(table.stores, only(table.model), discover(cc_bot.tools))
    heart = Heart(table, heartbeats, None)  # type: ignore[arg-type]  # it is made in the next line
    await heart.begin()
    return heart


class TestNothingNew:
    async def test_asks_nobody(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "12月25日はパーティー")
        heart.schedule = replace(heart.schedule, created_at=START + HOUR)
        assert await heart.beat() is None
        assert heart.requests == 0

    async def test_is_what_was_looked_at_before(self, heart: Heart, clock: FrozenDateTimeFactory) -> None:
        await heart.table.stores.memories.add(ME, "11月26日に歯医者")
        heart.table.model.script = [["26日は歯医者ですね。"], ["もう一度"]]
        assert await heart.beat() == "26日は歯医者ですね。"
        clock.tick(6 * HOUR)
        assert await heart.beat() is None
        assert heart.requests == 1

    async def test_is_what_the_model_had_nothing_to_say_to(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "猫が好き")
        heart.table.model.script = [["[silent]"]]
        assert await heart.beat() is None
        assert await heart.beat() is None
        assert heart.requests == 1

    async def test_is_looked_for_in_no_quiet_hour(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月26日に歯医者")
        await heart.begin(quiet=Quiet(8 * 60, 10 * 60))
        assert await heart.beat() is None
        assert heart.requests == 0
        assert await heart.beat(timezone=ZoneInfo("Europe/London")) is not None  # where it is midnight

    async def test_of_other_users_is_seen(self, heart: Heart) -> None:
        other = SessionKey(ME + 1, KEY.channel_id)
        await heart.table.stores.memories.add(other.user_id, "11月23日に歯医者")
        await heart.table.stores.schedules.add(other, "薬", START + HOUR)
        assert await heart.beat() is None


class TestSomethingNew:
    async def test_is_a_reminder_of_the_next_day(self, heart: Heart) -> None:
        await heart.table.stores.schedules.add(KEY, "薬を飲む", START + 2 * HOUR)
        await heart.table.stores.schedules.add(KEY, "来週のこと", START + 100 * HOUR)
        heart.table.model.script = [["11時に薬です。"]]
        assert await heart.beat() == "11時に薬です。"
        assert heart.looked_at() == ["薬を飲む"]

    async def test_is_a_missed_reminder(self, heart: Heart, clock: FrozenDateTimeFactory) -> None:
        await heart.table.stores.schedules.add(KEY, "薬を飲む", START + HOUR)
        clock.tick(3 * HOUR)
        await heart.table.stores.schedules.claim_due(START + 3 * HOUR, ["channel"])
        await heart.beat()
        assert heart.looked_at() == ["薬を飲む"]

    async def test_is_a_memory_that_ends(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "会員証の更新", expires_at=START + timedelta(days=3))
        await heart.beat()
        assert heart.looked_at() == ["会員証の更新"]

    async def test_is_found_among_many_memories(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月25日に歯医者")
        for number in range(205):
            await heart.table.stores.memories.add(ME, f"古い本 {number}")
        heart.schedule = replace(heart.schedule, created_at=START + HOUR)
        await heart.beat()
        assert heart.looked_at() == ["11月25日に歯医者"]

    async def test_comes_again_when_the_model_failed(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月26日に歯医者")
        heart.table.model.script = [[ModelUnavailable()], ["歯医", Finish("cut")], ["歯医者です。"]]
        for _ in range(2):
            with pytest.raises(ModelUnavailable):
                await heart.beat()
        assert await heart.beat() == "歯医者です。"

    async def test_comes_again_when_the_model_took_too_long(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月26日に歯医者")
        hurried = Heartbeats(
            heart.table.stores, only(heart.table.model), discover(cc_bot.tools), time_limit_s=0.05
        )
        heart.table.model.script = [[asyncio.Event()]]
        with pytest.raises(ModelUnavailable):
            await hurried.speak(heart.schedule, OPTIONS)
        assert await heart.beat() is not None

    async def test_comes_again_when_it_could_not_be_noted(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月26日に歯医者")
        locked = replace(heart.table.stores, heartbeats=Unwritable())  # type: ignore[arg-type]
        broken = Heartbeats(locked, only(heart.table.model), discover(cc_bot.tools))
        with pytest.raises(StorageError):
            await broken.speak(heart.schedule, OPTIONS)
        assert await heart.beat() is not None


class Unwritable:
    """A store whose database is locked for everybody who writes."""

    async def get_marks(self, user_id: int) -> frozenset[str]:
        return frozenset()

    async def list_missed(self, user_id: int, since: datetime) -> list[object]:
        return []

    async def set_marks(self, user_id: int, marks: object) -> None:
        raise StorageError


class TestAudience:
    async def test_of_a_channel_hears_nothing_private(self, heart: Heart) -> None:
        await heart.begin(place="channel")
        await heart.table.stores.memories.add(ME, "11月24日に検査", audience="private")
        await heart.table.stores.memories.add(ME, "11月25日に集まり")
        elsewhere = SessionKey(ME, KEY.channel_id + 1)
        await heart.table.stores.schedules.add(KEY, "内緒", START + HOUR, visibility="private")
        await heart.table.stores.schedules.add(elsewhere, "よそのこと", START + HOUR)
        await heart.table.stores.schedules.add(KEY, "ここのこと", START + HOUR)
        await heart.beat()
        assert heart.looked_at() == ["ここのこと", "11月25日に集まり"]

    async def test_of_a_channel_can_recall_nothing_private(self, heart: Heart) -> None:
        await heart.begin(place="channel")
        await heart.table.stores.memories.add(ME, "検査の結果は良好", audience="private")
        await heart.table.stores.memories.add(ME, "11月25日に集まり")
        look = [ToolRequest("1", "recall", '{"query": "検査"}'), ToolRequest("2", "list_memories", "{}")]
        heart.table.model.script = [look, ["[silent]"]]
        await heart.beat()
        results = [
            part.text for part in heart.table.model.requests[-1].prompt if isinstance(part, ToolResultPart)
        ]
        assert len(results) == 2
        assert not any("良好" in result for result in results)

    async def test_of_a_dm_hears_everything(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査", audience="private")
        await heart.table.stores.schedules.add(KEY, "内緒", START + HOUR, visibility="private")
        await heart.beat()
        assert heart.looked_at() == ["内緒", "11月24日に検査"]

    async def test_who_paused_memory_hears_of_reminders_alone(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        assert await heart.beat(memory_paused=True) is None
        assert heart.requests == 0
        await heart.table.stores.schedules.add(KEY, "薬", START + HOUR)
        await heart.beat(memory_paused=True)
        assert heart.looked_at() == ["薬"]
        assert heart.table.model.requests[-1].tools == ()


class TestRequest:
    async def test_offers_to_look_things_up_and_nothing_that_changes_them(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        await heart.beat()
        assert {tool.name for tool in heart.table.model.requests[-1].tools} == {"recall", "list_memories"}

    async def test_offers_what_the_agent_may_use(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        await heart.beat(agent=Agent("cat", prompt="あなたは猫です。", tools=frozenset({"recall"})))
        request = heart.table.model.requests[-1]
        assert [tool.name for tool in request.tools] == ["recall"]
        assert isinstance(request.prompt[0], SystemPart)
        assert request.prompt[0].text.startswith("あなたは猫です。")

    async def test_has_no_gap_where_nothing_is_pinned(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        await heart.beat(agent=Agent("cat", prompt="あなたは猫です。"))
        [stable, *_] = heart.table.model.requests[-1].prompt
        assert isinstance(stable, SystemPart)
        assert "\n\n" not in stable.text

    async def test_knows_nothing_of_conversations(self, heart: Heart) -> None:
        heart.table.model.script = [["ひみつの答え"], ["はい"]]
        await heart.table.ask("ひみつの質問", visibility="private")
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        await heart.beat()
        assert "ひみつ" not in repr(heart.table.model.requests[-1])

    async def test_tells_the_time_where_its_user_is(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "Checkup on Nov 24")
        await heart.beat(locale=Locale.EN, timezone=ZoneInfo("America/New_York"))
        assert "2026-11-21 (Saturday) 19:00" in repr(heart.table.model.requests[-1].prompt)

    async def test_folds_the_second_system_message_for_templates_that_know_one(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        style = PromptStyle(single_system=True)
        single = Heartbeats(heart.table.stores, only(heart.table.model), discover(cc_bot.tools), style=style)
        await single.speak(heart.schedule, OPTIONS)
        prompt = heart.table.model.requests[-1].prompt
        assert [isinstance(part, SystemPart) for part in prompt] == [True, False]

    @pytest.mark.parametrize("vouched", [True, False])
    async def test_tells_memories_to_no_server_that_no_owner_has_accepted(
        self, heart: Heart, tmp_path: Path, *, vouched: bool
    ) -> None:
        look = offered("look", read_only=True, waits=False, open_world=True)
        servers = CountingServers(tmp_path, (replace(look, vouched=vouched),))
        tools = discover(cc_bot.tools).beside(ServerTools(servers))
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        heart.table.model.script = [[ToolRequest("1", "notes__look", '{"text": "11月24日に検査"}')], ["はい"]]
        await Heartbeats(heart.table.stores, only(heart.table.model), tools).speak(heart.schedule, OPTIONS)
        assert len(calls_in(tmp_path)) == vouched

    async def test_two_at_a_time_are_made_and_no_more(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        gate = asyncio.Event()
        heart.table.model.script = [[gate, "a"], [gate, "b"], ["c"]]
        beats = [asyncio.create_task(heart.beat()) for _ in range(3)]
        for _ in range(2):
            await heart.table.model.asked()
        await asyncio.sleep(0.05)
        assert heart.requests == 2
        gate.set()
        assert set(await asyncio.gather(*beats)) == {"a", "b", "c"}


class TestChangeOfMind:
    """While the model thinks."""

    async def thinking(self, heart: Heart) -> tuple[asyncio.Task[str | None], asyncio.Event]:
        gate = asyncio.Event()
        heart.table.model.script = [[gate, "検査ですね。"]]
        beat = asyncio.create_task(heart.beat())
        await heart.table.model.asked()
        return beat, gate

    async def test_about_a_memory_silences_what_was_to_be_said_of_it(self, heart: Heart) -> None:
        memory = await heart.table.stores.memories.add(ME, "11月24日に検査")
        beat, gate = await self.thinking(heart)
        await heart.table.stores.memories.delete(ME, memory.id)
        gate.set()
        assert await beat is None
        assert await heart.beat() is None
        assert heart.requests == 1

    async def test_about_one_of_them_keeps_the_others_for_the_next_time(self, heart: Heart) -> None:
        memory = await heart.table.stores.memories.add(ME, "11月24日に検査")
        await heart.table.stores.memories.add(ME, "11月25日に集まり")
        beat, gate = await self.thinking(heart)
        await heart.table.stores.memories.delete(ME, memory.id)
        gate.set()
        assert await beat is None
        await heart.beat()
        assert heart.looked_at() == ["11月25日に集まり"]

    async def test_about_all_memories_silences_what_was_to_be_said_of_them(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        beat, gate = await self.thinking(heart)
        await heart.table.stores.settings.pause_memory(ME, True)
        gate.set()
        assert await beat is None

    async def test_about_a_reminder_silences_what_was_to_be_said_of_it(self, heart: Heart) -> None:
        schedules = heart.table.stores.schedules
        reminder = await schedules.add(KEY, "検査", START + 3 * HOUR)
        beat, gate = await self.thinking(heart)
        await schedules.cancel(ME, reminder.id)
        gate.set()
        assert await beat is None

    async def test_about_heartbeats_silences_them(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        beat, gate = await self.thinking(heart)
        await heart.table.stores.schedules.cancel(ME, heart.schedule.id)
        gate.set()
        assert await beat is None


class TestCanvas:
    CARD = ToolRequest("1", "canvas_add_card", '{"title": "検査", "content": "24日 10時"}')

    async def titles(self, heart: Heart) -> list[str]:
        seen = await heart.table.stores.canvases.get(KEY)
        return [] if seen is None else [each.title for each in seen.canvas.elements]

    async def test_of_an_open_session_can_be_drawn_on(self, heart: Heart) -> None:
        await heart.table.ask("やあ", visibility="private")
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        heart.table.model.script = [[self.CARD], ["明後日は検査です。"]]
        speech = await heart.heartbeats.speak(heart.schedule, OPTIONS)
        assert speech is not None
        assert speech.drew
        assert await self.titles(heart) == ["検査"]

    async def test_is_all_that_a_heartbeat_may_change(self, heart: Heart) -> None:
        heart.table.model.script = [["はい"], [self.CARD], ["[silent]"]]
        await heart.table.ask("やあ", visibility="private")
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        assert await heart.heartbeats.speak(heart.schedule, OPTIONS) == Speech(None, drew=True)
        assert await heart.table.said() == ["やあ", "はい"]

    async def test_is_offered_with_an_open_session_only(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        await heart.table.ask("やあ", key=SessionKey(ME, KEY.channel_id + 1))
        await heart.beat()
        assert not any("canvas" in tool.name for tool in heart.table.model.requests[-1].tools)

    async def test_of_a_session_that_is_over_is_left_alone(
        self, heart: Heart, clock: FrozenDateTimeFactory
    ) -> None:
        await heart.table.ask("やあ")
        clock.tick(25 * HOUR)
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        await heart.beat()
        assert not any("canvas" in tool.name for tool in heart.table.model.requests[-1].tools)

    async def test_shows_a_channel_nothing_private(self, heart: Heart) -> None:
        heart.table.model.script = [[self.CARD], ["はい"]]
        await heart.table.ask("出して", visibility="private")
        await heart.begin(place="channel")
        await heart.table.stores.memories.add(ME, "11月24日に集まり")
        await heart.beat()
        assert "24日 10時" not in repr(heart.table.model.requests[-1])
        await heart.begin(place="dm")
        await heart.table.stores.memories.add(ME, "11月25日に集まり")
        await heart.beat()
        assert "24日 10時" in repr(heart.table.model.requests[-1])

    async def test_is_drawn_on_by_a_dm_for_its_user_alone(self, heart: Heart) -> None:
        await heart.table.ask("やあ")
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        heart.table.model.script = [[self.CARD], ["[silent]"]]
        await heart.beat()
        seen = await heart.table.stores.canvases.get(KEY)
        assert seen is not None
        assert seen.canvas.visible_in("public").empty


class TestSpeech:
    async def test_enters_no_session(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        assert await heart.beat() is not None
        assert await heart.table.said() == []

    async def test_is_as_private_as_the_place(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        speech = await heart.heartbeats.speak(heart.schedule, OPTIONS)
        assert speech is not None
        assert speech.message is not None
        assert (speech.message.role, speech.message.visibility) == ("assistant", "private")

    async def test_that_is_too_long_ends_with_a_sentence(self, heart: Heart) -> None:
        await heart.table.stores.memories.add(ME, "11月24日に検査")
        heart.table.model.script = [["長い話です。" * 1000]]
        said = await heart.beat()
        assert said is not None
        assert len(said) <= LONGEST
        assert said.endswith("です。…")

    @pytest.mark.parametrize("kind", ["import", "command"])
    async def test_is_tainted_by_what_its_model_has_read(
        self, heart: Heart, kind: Literal["import", "command"]
    ) -> None:
        await heart.table.stores.memories.add(ME, "11月26日に歯医者", source=Source(kind))
        heart.table.model.script = [["26日は歯医者ですね。"]]
        speech = await heart.heartbeats.speak(heart.schedule, OPTIONS)
        assert speech is not None
        assert speech.message is not None
        assert speech.message.tainted is (kind == "import")

    async def test_is_found_by_whoever_erases_what_it_was_about(self, heart: Heart) -> None:
        memory = await heart.table.stores.memories.add(ME, "11月24日に検査")
        other = await heart.table.stores.memories.add(ME, "猫が好き")
        heart.table.model.script = [["明後日は病院ですね。"]]
        speech = await heart.heartbeats.speak(replace(heart.schedule, created_at=START + HOUR), OPTIONS)
        assert speech is not None
        assert speech.message is not None
        [firing] = await heart.table.stores.schedules.claim_due(START + 6 * HOUR, ["dm"])
        await heart.table.stores.schedules.mark_sent(firing, replace(speech.message, discord_id=5))
        removal = heart.table.stores.memory_removal
        assert await removal.count_messages(ME, other.id) == 0
        assert await removal.count_messages(ME, memory.id) == 1
        assert await removal.erase(ME, memory.id, mark="（消去しました）")
        said = await heart.table.stores.schedules.get_said(5)
        assert said is not None
        assert said[1].content == "（消去しました）"


class TestToolsOfServers:
    async def test_are_offered_where_they_only_read(self, heart: Heart) -> None:
        look, write = (
            OfferedTool(
                ServerTool("notes", name, "", {"type": "object"}, read_only=name == "look"), waits=False
            )
            for name in ("look", "write")
        )
        for tool in (look, write):
            tools = discover(cc_bot.tools).beside(ServerTools(Notes(tool)))
            heart.heartbeats = Heartbeats(heart.table.stores, only(heart.table.model), tools)
            await heart.table.stores.memories.add(ME, f"11月26日に{tool.tool.name}")
            await heart.beat()
        read, written = (
            [each.name for each in request.tools if each.name.startswith("notes")]
            for request in heart.table.model.requests
        )
        assert (read, written) == (["notes__look"], [])
