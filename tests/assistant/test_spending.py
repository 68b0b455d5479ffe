"""Turns, heartbeats, summaries and questions of when are paid for by whom they are for."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from structlog.testing import capture_logs

from cc_bot.chat.active import Stop
from cc_bot.chat.assistant import Assistant
from cc_bot.chat.context.tokens import message_tokens
from cc_bot.chat.policy import Policy
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import open_stores
from cc_bot.chat.summaries import Summaries, SummaryPlan
from cc_bot.chat.tools import discover_tools
from cc_bot.domain.errors import LimitReached, ModelUnavailable, TooManyAtOnce
from cc_bot.domain.message import Agent, ChannelKey, Message
from cc_bot.domain.turn import Notice, TextDelta, TurnEvent, Usage
from cc_bot.domain.usage import DailyUsage, LimitKey, LimitName, Payer, Price, PriceList
from cc_bot.features.heartbeat.runner import Heartbeats
from cc_bot.features.reminders.resolver import TimeResolver
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.llm.model import Fallback, Finish
from tests.assistant.conftest import KEY, OPTIONS, Table, asked, call
from tests.scripted_model import ScriptedModel, Step, only

TOKYO = ZoneInfo("Asia/Tokyo")
LONG_AGO = date(2000, 1, 1)
SMALL = Finish("stop", usage=Usage(1000, 100), model="small")


@dataclass
class Till(Table):
    """A table where all is paid for."""

    spending: Spending
    policy: Policy = Policy(limits={}, prices=PriceList("USD", {"small": Price(1, 1)}))  # noqa: RUF009 - frozen

    def limit(self, name: LimitName, value: int) -> None:
        self.policy = replace(self.policy, limits={LimitKey("everyone", 0, name): value})

    async def used(self, user_id: int = KEY.user_id) -> tuple[DailyUsage, ...]:
        return await self.stores.usage.list_for_user(user_id, LONG_AGO)

    async def tokens(self, user_id: int = KEY.user_id) -> int:
        return sum(each.tokens for each in await self.used(user_id))


@pytest.fixture
async def till(tmp_path: Path) -> AsyncIterator[Till]:
    async with open_stores(f"sqlite:///{tmp_path}/sessions.db", timezone=TOKYO) as stores:
        till: Till

        async def policy() -> Policy:
            return till.policy

        spending = Spending(stores.usage, policy)
        model = ScriptedModel()
        assistant = Assistant(stores, only(model, "small"), discover_tools(), max_turns=4, spending=spending)
        till = Till(assistant, stores, model, spending)
        yield till


def stopping(stop: Stop) -> Callable[[TurnEvent], None]:
    return lambda event: stop.request() if isinstance(event, TextDelta) else None


def says(text: str, end: Finish = SMALL) -> list[Step]:
    return [text, end]


class TestTurn:
    async def test_is_paid_by_its_user_in_its_server_for_every_round_before_it_is_shown_as_done(
        self, till: Till
    ) -> None:
        asking = Finish("tools", (call("recall", query="猫"),), Usage(500, 50), "small")
        till.model.script = [[asking], says("猫はいません")]
        seen: list[int] = []
        options = replace(OPTIONS, guild_id=500)
        async for _ in till.assistant.ask(KEY, Message("user", "猫は？"), options):
            seen.append(await till.tokens())
        assert seen[-1] == 1650
        [each] = await till.used()
        assert (each.model, each.purpose, each.turns, each.cost_micros) == ("small", "turn", 1, 1650)
        assert [each.tokens for each in await till.stores.usage.list_for_guild(500, LONG_AGO)] == [1650]

    async def test_of_a_channel_is_paid_by_who_asked_also_when_answered_again(self, till: Till) -> None:
        questions = asked(10, "?", 12), asked(12, "?", 12)
        till.model.script = [says("はい"), says("いいえ")]
        await till.ask_in(key := ChannelKey(700), *questions, answer_id=20)
        options = replace(OPTIONS, bot_id=99, answer_discord_id=20)
        async for _ in till.assistant.ask(key, questions, options, replaces=20):
            pass
        assert [await till.tokens(user_id) for user_id in (11, 12)] == [0, 2200]

    @pytest.mark.parametrize(
        ("agent", "model"),
        [(Agent("default"), "small"), (Agent("tutor", models=("large", "small")), "large")],
    )
    async def test_that_is_stopped_costs_what_was_sent_and_said(
        self, till: Till, agent: Agent, model: str
    ) -> None:
        stop = Stop()
        till.model.script = [["これは", asyncio.Event()]]
        await till.ask("?", options=replace(OPTIONS, agent=agent), stop=stop, seen=stopping(stop))
        [each] = await till.used()
        assert each.model == model
        assert each.usage.prompt_tokens > 100
        assert 0 < each.usage.completion_tokens < 10

    async def test_costs_what_the_model_that_answered_used_also_where_it_is_temporary(
        self, till: Till
    ) -> None:
        tiny = Finish("stop", usage=Usage(7, 3), model="tiny")
        till.model.script = [[Fallback("tiny"), "はい", tiny], [ModelUnavailable()]]
        await till.ask("秘密", options=replace(OPTIONS, temporary=True))
        with pytest.raises(ModelUnavailable):
            await till.ask("?")
        used = {each.model: (each.turns, each.tokens, each.cost_micros) for each in await till.used()}
        assert used == {"tiny": (1, 10, 0), "small": (1, 0, 0)}
        assert await till.said() == []


class TestLimit:
    async def test_that_is_reached_lets_no_request_be_made(self, till: Till) -> None:
        till.limit("tokens_per_day", 1000)
        till.model.script = [says("はい")]
        await till.ask("1")
        with capture_logs() as records, pytest.raises(LimitReached) as refused:
            await till.ask("2")
        assert isinstance(refused.value.params["resets"], datetime)
        assert len(till.model.requests) == 1
        assert await till.said() == ["1", "はい"]
        [record] = records
        told = record["event"], record["error"], record["limit"]
        assert told == ("turn_failed", "LimitReached", "tokens_per_day")

    async def test_of_turns_at_once_counts_those_in_line(self, till: Till) -> None:
        till.limit("concurrent", 2)
        held, waiting = asyncio.Event(), asyncio.Event()
        till.model.script = [[held, *says("1")], says("2"), says("4")]
        first = await till.begin("1")
        second = asyncio.create_task(
            till.ask("2", seen=lambda event: waiting.set() if isinstance(event, Notice) else None)
        )
        await waiting.wait()
        await asyncio.sleep(0)
        with pytest.raises(TooManyAtOnce):
            await till.ask("3", key=replace(KEY, channel_id=11))
        held.set()
        await asyncio.gather(first, second)
        await till.ask("4")


class TestMoments:
    async def test_are_paid_where_a_model_has_to_be_asked(self, till: Till) -> None:
        moments = TimeResolver(till.model, lambda: datetime(2026, 12, 1, tzinfo=UTC), till.spending, "small")
        till.model.script = [says("2026-12-02T13:00")]
        await moments.resolve("明日9時", "", TOKYO, payer=Payer(1))
        assert await till.used() == ()
        await moments.resolve("忘年会のちょっと前", "", TOKYO, payer=Payer(1))
        assert [(each.purpose, each.tokens) for each in await till.used()] == [("schedule", 1100)]
        till.limit("tokens_per_day", 1000)
        with pytest.raises(LimitReached):
            await moments.resolve("忘年会のちょっと前", "", TOKYO, payer=Payer(1))


class TestHeartbeats:
    async def test_are_paid_and_not_begun_beyond_a_limit(self, till: Till) -> None:
        heart = Heartbeats(till.stores, only(till.model, "small"), discover_tools(), till.spending)
        schedule = await till.stores[ScheduleStore].add(
            KEY, "", datetime.now(UTC), kind="heartbeat", repeat="every 6h", target="dm", visibility="private"
        )
        till.model.script = [says("[silent]"), says("[silent]")]
        await till.stores.memories.add(KEY.user_id, "明日は健康診断")
        await heart.compose(schedule, OPTIONS)
        assert [(each.purpose, each.tokens) for each in await till.used()] == [("heartbeat", 1100)]
        till.limit("tokens_per_day", 1000)
        await till.stores.memories.add(KEY.user_id, "明後日は会議")
        with capture_logs() as records:
            assert await heart.compose(schedule, OPTIONS) is None
        events = [(record["event"], record["limit"]) for record in records]
        assert events == [("heartbeat_not_begun", "tokens_per_day")]
        assert len(till.model.requests) == 1


class TestSummaries:
    async def test_are_paid_and_not_begun_beyond_a_limit(self, till: Till) -> None:
        model = ScriptedModel([says("要約です。"), says("要約です。")])
        summaries = Summaries(
            till.stores,
            model,
            SummaryPlan(1, 20),
            count_tokens=message_tokens,
            model_name="small",
            spending=till.spending,
        )
        assistant = Assistant(
            till.stores, only(till.model), discover_tools(), summaries=summaries, spending=till.spending
        )
        till = Till(assistant, till.stores, till.model, till.spending)
        await till.ask("1", options=replace(OPTIONS, guild_id=500))
        await summaries.wait_idle()
        assert ("summary", 1100) in [(each.purpose, each.tokens) for each in await till.used()]
        asked_for = asyncio.Event()
        till.model.script = [[asked_for, *says("2")]]
        asking = await till.begin("2")
        await till.stores.limits.set(LimitKey("user", KEY.user_id, "tokens_per_month"), 1000, set_by=1)
        asked_for.set()
        await asking
        with capture_logs() as records:
            await summaries.wait_idle()
        events = [(record["event"], record["error"]) for record in records]
        assert events == [("summary_failed", "LimitReached")]
        assert len(model.requests) == 1
        await summaries.close()
