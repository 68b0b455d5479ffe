"""From what the scheduler claims to messages: with the real REST client, and a database on disk."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import open_stores
from cc_bot.chat.tools import ToolRegistry
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.session import SessionKey
from cc_bot.domain.text import Locale
from cc_bot.features.heartbeat.runner import Heartbeats
from cc_bot.features.heartbeat.service import failure_sentence
from cc_bot.features.reminders import delivery
from cc_bot.features.reminders.delivery import MAX_CONCURRENT, ReminderDelivery, ReminderPoster
from cc_bot.features.reminders.model import Schedule
from cc_bot.features.reminders.service import Composer
from cc_bot.features.reminders.store import ScheduleStore
from tests.databases import laid_out
from tests.discord.parts import BotChannel, boards_over, chooser_over, gate_over
from tests.loopback.discord import Channel, User
from tests.scripted_model import ScriptedModel, only

POST = "POST /channels/{channel}/messages"
OPEN_DM = "POST /users/@me/channels"
MEMBER = "GET /guilds/{guild}/members/{user}"
NOW = datetime(2026, 11, 22, 3, tzinfo=UTC)
HOUR = timedelta(hours=1)
FAST = (0.01, 0.01)


@dataclass
class Scene(BotChannel):
    reminders: ReminderDelivery

    @property
    def dm(self) -> Channel:
        return self.discord.dm(self.aiko)

    @property
    def reminder(self) -> str:
        return f"{self.aiko.mention} ⏰ 薬"

    async def due(
        self,
        owner: User | None = None,
        where: Channel | None = None,
        text: str = "薬",
        *,
        ago: timedelta = timedelta(0),
        **more: Any,
    ) -> Schedule:
        """A reminder whose time has come."""
        key = SessionKey((owner or self.aiko).id, (where or self.channel).id)
        return await self.stores[ScheduleStore].add(key, text, NOW - ago, locale=Locale.JA, **more)

    def said(self, *targets: Channel) -> list[str]:
        return [text for target in targets for text in self.texts(target)]

    def states(self) -> list[str]:
        return [state for (state,) in self.execute("SELECT state FROM firings ORDER BY schedule_id")]

    async def runs(self, *states: str) -> None:
        """The scheduler claims what is due, until it is in these states."""
        self.reminders.begin()
        await self.until(lambda: self.states() == [*states])

    async def meets_trouble(self) -> None:
        """The scheduler claims what is due, until it has met all failures that were ordered."""
        self.reminders.begin()
        await self.until(lambda: not self.discord.faults.outstanding)

    async def stopped(self, *, within_s: float = 10.0) -> None:
        await self.reminders.close()
        await self.reminders.finish(asyncio.get_running_loop().time() + within_s)


@pytest.fixture
async def scene(location: BotChannel, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    monkeypatch.setattr(delivery, "RETRY_PAUSES_S", FAST)
    rest, location.folder = location.rest, location.folder / "now"
    location.folder.mkdir()
    async with open_stores(
        laid_out(location.folder / "sessions.db"), clock=lambda: NOW, embedder=None
    ) as stores:
        location.stores, model = stores, ScriptedModel()
        heartbeats = Heartbeats(stores, only(model), ToolRegistry(()), Spending(stores.usage))
        reminders = ReminderDelivery(
            Composer(heartbeats.compose, failure_sentence),
            stores[ScheduleStore],
            ReminderPoster(rest),
            agent_selector=chooser_over(stores, rest),
            gate=gate_over(stores, rest),
            side_messages=boards_over(stores, rest),
            recipients=Recipients(stores.settings, Locale.JA, ZoneInfo("Asia/Tokyo"), lambda: NOW),
        )
        # Until Discord has told a route's limits, hikari makes its requests one after the other.
        await rest.create_message(location.discord.guild_channel().id, "first")
        scene = Scene(**vars(location), reminders=reminders)
        yield scene
        await scene.stopped()


class TestTrouble:
    @pytest.mark.parametrize(("route", "where"), [(POST, "channel"), (OPEN_DM, "dm")])
    async def test_that_lasts_leaves_it_claimed_and_unsaid(
        self, scene: Scene, route: str, where: str
    ) -> None:
        await scene.due(target=where)
        scene.discord.fail_next(route, 503, times=3)
        await scene.meets_trouble()
        await scene.stopped()
        assert (scene.states(), scene.said(scene.channel, scene.dm)) == (["claimed"], [])

    async def test_that_hides_a_post_leads_to_no_second_one(self, scene: Scene) -> None:
        await scene.due()
        scene.discord.fail_next(POST, None, take_effect=True, times=2)
        await scene.runs("sent")
        assert scene.said(scene.channel) == [scene.reminder]

    async def test_with_one_channel_holds_up_no_other(self, scene: Scene) -> None:
        quick = scene.discord.guild_channel()
        await scene.due()
        scene.discord.fail_next(POST, 200, delay_s=1.0)
        await scene.meets_trouble()
        await scene.due(where=quick)
        await scene.until(lambda: scene.said(quick))
        assert scene.said(scene.channel) == []
        await scene.until(lambda: scene.said(scene.channel))

    @pytest.mark.parametrize("where", ["channel", "dm"])
    async def test_while_which_it_is_taken_back_says_nothing(self, scene: Scene, where: str) -> None:
        added = await scene.due(target=where)
        scene.discord.fail_next(POST, 503, delay_s=0.5)
        await scene.meets_trouble()
        assert await scene.stores[ScheduleStore].cancel(scene.aiko.id, added.id)
        await scene.stopped()
        assert len(scene.discord.calls(POST)) == 2  # the scene's own, and the one that failed
        assert scene.said(scene.channel, scene.dm) == []


class TestMissed:
    async def test_of_who_left_the_server_is_told_in_no_channel(self, scene: Scene) -> None:
        closed, other = scene.discord.user("Chie", accepts_dms=False), scene.discord.guild_channel()
        for owner, target in ((closed, scene.channel), (scene.aiko, other)):
            await scene.due(owner, target, ago=2 * HOUR, guild_id=scene.discord.guild.id)
        scene.discord.leave(closed)
        scene.reminders.begin()
        await scene.until(lambda: scene.discord.calls(MEMBER))
        await scene.stopped()
        assert scene.said(scene.channel) == []

    async def test_in_channels_is_told_in_each_what_was_for_it(self, scene: Scene) -> None:
        closed = scene.discord.user("Chie", accepts_dms=False)
        one, two = scene.channel, scene.discord.guild_channel()
        await scene.due(closed, one, ago=2 * HOUR)
        await scene.due(closed, two, "散歩", ago=2 * HOUR)
        await scene.due(closed, two, "内緒", ago=2 * HOUR, visibility="private")
        scene.reminders.begin()
        await scene.until(lambda: scene.said(one) and scene.said(two))
        assert ["薬" in scene.said(target)[0] for target in (one, two)] == [True, False]
        assert ["散歩" in scene.said(target)[0] for target in (one, two)] == [False, True]
        assert "内緒" not in str(scene.said(one, two))


class TestMany:
    async def test_are_all_said_and_few_are_in_doubt_at_any_time(self, scene: Scene) -> None:
        targets = [scene.discord.guild_channel() for _ in range(2 * MAX_CONCURRENT)]
        for target in targets:
            await scene.due(where=target)
        scene.discord.fail_next(POST, 200, delay_s=0.5, times=len(targets))
        scene.reminders.begin()
        await scene.until(lambda: len(scene.states()) == MAX_CONCURRENT)
        assert scene.said(*targets) == []
        await scene.until(lambda: scene.states() == ["sent"] * len(targets))
        assert len(scene.said(*targets)) == len(targets)

    async def test_that_hang_are_waited_for_at_the_end_but_not_for_ever(self, scene: Scene) -> None:
        for number in range(MAX_CONCURRENT):
            await scene.due(where=scene.discord.guild_channel(), text=f"薬{number}")
        scene.discord.fail_next(POST, None, delay_s=30.0, times=MAX_CONCURRENT)
        await scene.meets_trouble()
        async with asyncio.timeout(60):
            await scene.stopped(within_s=0.1)
        assert scene.states() == ["claimed"] * MAX_CONCURRENT
