"""From what the scheduler claims to messages: with the real REST client, and a database on disk."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import hikari
import pytest

from cc_bot.assistant import Heartbeats, TimeResolver
from cc_bot.discord.recipients import Recipients
from cc_bot.discord.reminders import AT_A_TIME, Posting, Reminders, Timekeeping
from cc_bot.domain import Locale, SessionKey
from cc_bot.domain.schedule import Schedule
from cc_bot.stores import Stores, open_stores
from cc_bot.tools.registry import ToolRegistry
from tests.databases import laid_out
from tests.discord.boards import boards_over
from tests.discord.choosing import chooser_over, gate_over
from tests.loopback.discord import Channel, LoopbackDiscord, User
from tests.scripted_model import ScriptedModel, only

POST = "POST /channels/{channel}/messages"
OPEN_DM = "POST /users/@me/channels"
MEMBER = "GET /guilds/{guild}/members/{user}"
NOW = datetime(2026, 11, 22, 3, tzinfo=UTC)
HOUR = timedelta(hours=1)
FAST = (0.01, 0.01)


@dataclass
class Scene:
    discord: LoopbackDiscord
    stores: Stores
    reminders: Reminders
    file: Path

    async def due(
        self, owner: User, where: Channel, text: str = "薬", *, ago: timedelta = timedelta(0), **more: Any
    ) -> Schedule:
        """A reminder whose time has come."""
        key = SessionKey(owner.id, where.id)
        return await self.stores.schedules.add(key, text, NOW - ago, locale=Locale.JA, **more)

    def said(self, *places: Channel) -> list[str]:
        return [shown.content for place in places for shown in self.discord.messages(place)]

    def states(self) -> list[str]:
        """What became of all that was due."""
        with closing(sqlite3.connect(self.file)) as connection:
            rows = connection.execute("SELECT state FROM firings ORDER BY schedule_id").fetchall()
        return [state for (state,) in rows]

    async def until(self, look: Callable[[], object]) -> None:
        async with asyncio.timeout(60):
            while not look():  # noqa: ASYNC110 - no event comes out of a file
                await asyncio.sleep(0.02)

    async def stopped(self, *, within_s: float = 10.0) -> None:
        await self.reminders.close()
        await self.reminders.finish(asyncio.get_running_loop().time() + within_s)


@pytest.fixture
async def scene(
    discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path
) -> AsyncIterator[Scene]:
    """Not begun yet; the time is NOW, and it stands."""
    file = tmp_path / "sessions.db"
    async with open_stores(laid_out(file), clock=lambda: NOW, embedder=None) as stores:
        model = ScriptedModel()
        timekeeping = Timekeeping(
            TimeResolver(model, lambda: NOW), Heartbeats(stores, only(model), ToolRegistry(()))
        )
        reminders = Reminders(
            timekeeping,
            stores.schedules,
            Posting(rest, FAST),
            chooser=chooser_over(stores, rest, tmp_path / "agents.toml"),
            gate=gate_over(stores, rest),
            boards=boards_over(stores, rest),
            recipients=Recipients(stores.settings, Locale.JA, ZoneInfo("Asia/Tokyo"), lambda: NOW),
        )
        scene = Scene(discord, stores, reminders, file)
        # Until Discord has told a route's limits, hikari makes its requests one after the other.
        await rest.create_message(discord.guild_channel().id, "first")
        yield scene
        await scene.stopped()


@pytest.fixture
def aiko(discord: LoopbackDiscord) -> User:
    return discord.user("Aiko", locale="ja")


class TestTrouble:
    @pytest.mark.parametrize("route", [POST, OPEN_DM])
    async def test_that_lasts_leaves_it_claimed_and_unsaid(
        self, scene: Scene, aiko: User, route: str
    ) -> None:
        place = scene.discord.guild_channel()
        await scene.due(aiko, place, place="dm" if route is OPEN_DM else "channel")
        scene.discord.fail_next(route, 503, times=3)
        scene.reminders.begin()
        await scene.until(lambda: not scene.discord.faults.outstanding)
        await scene.stopped()
        assert scene.states() == ["claimed"]
        assert scene.said(place, scene.discord.dm(aiko)) == []

    async def test_that_hides_a_post_leads_to_no_second_one(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        await scene.due(aiko, place)
        scene.discord.fail_next(POST, None, take_effect=True, times=2)
        scene.reminders.begin()
        await scene.until(lambda: scene.states() == ["sent"])
        assert scene.said(place) == [f"{aiko.mention} ⏰ 薬"]

    async def test_with_one_channel_holds_up_no_other(self, scene: Scene, aiko: User) -> None:
        slow, quick = scene.discord.guild_channel(), scene.discord.guild_channel()
        await scene.due(aiko, slow, "遅い")
        scene.discord.fail_next(POST, 200, delay_s=1.0)
        scene.reminders.begin()
        await scene.until(lambda: not scene.discord.faults.outstanding)
        await scene.due(aiko, quick, "早い")
        await scene.until(lambda: scene.said(quick))
        assert scene.said(slow) == []
        await scene.until(lambda: scene.said(slow))


class TestRefusal:
    async def test_of_an_unknown_kind_pauses_it_too(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        added = await scene.due(aiko, place)
        scene.discord.fail_next(POST, 403)
        scene.reminders.begin()
        await scene.until(lambda: scene.said(scene.discord.dm(aiko)))
        [told] = scene.said(scene.discord.dm(aiko))
        assert "書き込めなかったので止めています" in told
        paused = await scene.stores.schedules.get(aiko.id, added.id)
        assert paused
        assert (paused.status, paused.obstacle, scene.states()) == ("paused", "channel_refused", ["failed"])

    async def test_of_a_deleted_account_is_no_trouble_for_others(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        gone = scene.discord.user("gone")
        del scene.discord.world.users[gone.id]
        added = await scene.due(gone, place, place="dm")
        await scene.due(aiko, place)
        scene.reminders.begin()
        await scene.until(lambda: scene.states() == ["failed", "sent"])
        paused = await scene.stores.schedules.get(gone.id, added.id)
        assert paused
        assert paused.obstacle == "dms_closed"


class TestMember:
    async def test_who_left_is_posted_for_no_more_and_told_why(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        added = await scene.due(aiko, place, guild_id=scene.discord.guild.id)
        scene.discord.leave(aiko)
        scene.reminders.begin()
        await scene.until(lambda: scene.said(scene.discord.dm(aiko)))
        [told] = scene.said(scene.discord.dm(aiko))
        assert "そのサーバーのメンバーではなくなったので止めています" in told
        paused = await scene.stores.schedules.get(aiko.id, added.id)
        assert paused
        assert (paused.status, paused.obstacle, scene.states()) == ("paused", "left_server", ["failed"])
        assert scene.said(place) == []

    async def test_whose_account_is_gone_is_posted_for_no_more(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        await scene.due(aiko, place, guild_id=scene.discord.guild.id)
        del scene.discord.world.users[aiko.id]
        scene.reminders.begin()
        await scene.until(lambda: scene.states() == ["failed"])
        assert scene.said(place) == []

    async def test_who_left_is_still_reminded_by_dm(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        await scene.due(aiko, place, guild_id=scene.discord.guild.id, place="dm")
        scene.discord.leave(aiko)
        scene.reminders.begin()
        await scene.until(lambda: scene.states() == ["sent"])
        assert scene.said(scene.discord.dm(aiko)) == [f"{aiko.mention} ⏰ 薬"]
        assert scene.discord.calls(MEMBER) == []

    @pytest.mark.parametrize("status", [500, 503, 403, 404, None])
    async def test_of_whom_discord_does_not_know_loses_nothing(
        self, scene: Scene, aiko: User, status: int | None
    ) -> None:
        place = scene.discord.guild_channel()
        await scene.due(aiko, place, guild_id=scene.discord.guild.id)
        scene.discord.fail_next(MEMBER, status, times=2)  # what is cut, aiohttp sends once more
        scene.reminders.begin()
        await scene.until(lambda: scene.states() == ["sent"])
        assert scene.said(place) == [f"{aiko.mention} ⏰ 薬"]
        assert scene.discord.calls(MEMBER, status=200) == []

    async def test_who_left_is_told_in_no_channel_what_was_missed(self, scene: Scene, aiko: User) -> None:
        closed = scene.discord.user("Chie", accepts_dms=False)
        one, two = scene.discord.guild_channel(), scene.discord.guild_channel()
        for owner, place in ((closed, one), (aiko, two)):
            await scene.due(owner, place, ago=2 * HOUR, guild_id=scene.discord.guild.id)
        scene.discord.leave(closed)
        scene.reminders.begin()
        await scene.until(lambda: scene.discord.calls(MEMBER))
        await scene.stopped()
        assert scene.said(one) == []


class TestTakenBack:
    """While its post is repeated, because Discord has trouble."""

    @pytest.mark.parametrize("where", ["channel", "dm"])
    async def test_is_not_said_any_more(self, scene: Scene, aiko: User, where: str) -> None:
        place = scene.discord.guild_channel()
        added = await scene.due(aiko, place, place=where)
        scene.discord.fail_next(POST, 503, delay_s=0.5)
        scene.reminders.begin()
        await scene.until(lambda: not scene.discord.faults.outstanding)
        assert await scene.stores.schedules.cancel(aiko.id, added.id)
        await scene.stopped()
        assert len(scene.discord.calls(POST)) == 2  # the scene's own, and the one that failed
        assert scene.said(place, scene.discord.dm(aiko)) == []

    async def test_by_a_pause_is_noted_as_skipped(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        added = await scene.due(aiko, place, repeat="0 9 * * *")
        scene.discord.fail_next(POST, 503, delay_s=0.5)
        scene.reminders.begin()
        await scene.until(lambda: not scene.discord.faults.outstanding)
        assert await scene.stores.schedules.pause(aiko.id, added.id)
        await scene.until(lambda: scene.states() == ["skipped"])
        assert scene.said(place) == []


class TestManyAtOnce:
    async def test_are_all_said_and_few_are_in_doubt_at_any_time(self, scene: Scene, aiko: User) -> None:
        places = [scene.discord.guild_channel() for _ in range(2 * AT_A_TIME)]
        for place in places:
            await scene.due(aiko, place)
        scene.discord.fail_next(POST, 200, delay_s=0.5, times=len(places))
        scene.reminders.begin()
        await scene.until(lambda: len(scene.states()) == AT_A_TIME)
        assert scene.said(*places) == []
        await scene.until(lambda: len(scene.said(*places)) == len(places))
        await scene.until(lambda: scene.states() == ["sent"] * len(places))


class TestUntold:
    async def test_each_owner_is_told_of_their_own(self, scene: Scene, aiko: User) -> None:
        ben = scene.discord.user("Ben")
        place = scene.discord.guild_channel()
        await scene.due(aiko, place, "薬", ago=2 * HOUR)
        await scene.due(ben, place, "pills", ago=2 * HOUR)
        scene.reminders.begin()
        await scene.until(lambda: scene.said(scene.discord.dm(aiko)) and scene.said(scene.discord.dm(ben)))
        [of_aiko], [of_ben] = scene.said(scene.discord.dm(aiko)), scene.said(scene.discord.dm(ben))
        assert "薬" in of_aiko
        assert "pills" not in of_aiko
        assert "pills" in of_ben

    async def test_in_channels_has_what_was_for_each_of_them(self, scene: Scene) -> None:
        closed = scene.discord.user("Chie", accepts_dms=False)
        one, two = scene.discord.guild_channel(), scene.discord.guild_channel()
        await scene.due(closed, one, "薬", ago=2 * HOUR)
        await scene.due(closed, two, "散歩", ago=2 * HOUR)
        await scene.due(closed, two, "内緒", ago=2 * HOUR, visibility="private")
        scene.reminders.begin()
        await scene.until(lambda: scene.said(one) and scene.said(two))
        assert ["薬" in scene.said(one)[0], "散歩" in scene.said(one)[0]] == [True, False]
        assert ["薬" in scene.said(two)[0], "散歩" in scene.said(two)[0]] == [False, True]
        assert "内緒" not in str(scene.said(one, two))


class TestStop:
    async def test_claims_nothing_more(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        scene.reminders.begin()
        await scene.reminders.close()
        await scene.due(aiko, place)
        await asyncio.sleep(0.1)
        assert scene.states() == []

    async def test_waits_for_no_room_among_those_that_hang(self, scene: Scene, aiko: User) -> None:
        for number in range(AT_A_TIME):
            await scene.due(aiko, scene.discord.guild_channel(), f"薬{number}")
        scene.discord.fail_next(POST, None, delay_s=30.0, times=AT_A_TIME)
        scene.reminders.begin()
        await scene.until(lambda: not scene.discord.faults.outstanding)
        async with asyncio.timeout(60):
            await scene.stopped(within_s=0.1)
        assert scene.states() == ["claimed"] * AT_A_TIME

    async def test_waits_for_what_is_on_its_way_but_not_for_ever(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        await scene.due(aiko, place)
        scene.discord.fail_next(POST, None, delay_s=30.0)
        scene.reminders.begin()
        await scene.until(lambda: not scene.discord.faults.outstanding)
        await scene.stopped(within_s=0.1)
        assert scene.states() == ["claimed"]


class TestWhoMayNotUseTheBot:
    async def test_is_told_nothing_that_was_missed(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        await scene.due(aiko, place, ago=2 * HOUR)
        await scene.due(aiko, place, "水")
        await scene.stores.access.set("user", aiko.id, "deny", set_by=1)
        scene.reminders.begin()
        await scene.until(lambda: "skipped" in scene.states())
        await scene.stopped()
        assert scene.said(place, scene.discord.dm(aiko)) == []

    async def test_is_reminded_during_maintenance_but_not_spoken_to(self, scene: Scene, aiko: User) -> None:
        place = scene.discord.guild_channel()
        await scene.stores.access.begin_maintenance("", set_by=1)
        await scene.due(aiko, place, "", kind="heartbeat", repeat="every 6h")
        await scene.due(aiko, place, "水")
        scene.reminders.begin()
        await scene.until(lambda: scene.states() == ["skipped", "sent"])
        assert len(scene.said(place)) == 1
