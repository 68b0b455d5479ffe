"""What was missed is read from Discord: once, bounded, in order, and before anything newer is stored."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import hikari
import pytest

from cc_bot.discord.messages.catch_up import CatchUp, CatchUpBounds
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.stores import Stores
from tests.loopback.discord import Channel, LoopbackDiscord, User
from tests.loopback.discord import Message as Posted

HISTORY = "GET /channels/{channel}/messages"
QUICK = CatchUpBounds(pause_s=0.0, retry_pauses_s=(0.0, 0.0))


@dataclass
class Hearing:
    """Archives everything but the bot's own messages, none of which wants an answer."""

    shut: set[ChannelKey] = field(default_factory=set)

    async def reads(self, key: ChannelKey) -> bool:
        return key not in self.shut

    def to_store(self, message: hikari.Message) -> Message | None:
        if message.author.username == "cc-bot":
            return None
        return Message(
            "user",
            message.content or "",
            author_id=int(message.author.id),
            author_name=message.author.display_name or "",
            discord_id=int(message.id),
        )

    async def wants_answer(self, key: ChannelKey, message: hikari.Message) -> bool:
        return False

    def wake(self, key: ChannelKey) -> None:
        raise AssertionError("nobody waits for an answer")


@dataclass
class Scene:
    """A bot that comes back to one channel in which it has stored something."""

    discord: LoopbackDiscord
    rest: hikari.api.RESTClient
    stores: Stores
    database: Path
    aiko: User
    channel: Channel
    hearing: Hearing = field(default_factory=Hearing)
    opened: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def key(self) -> ChannelKey:
        return ChannelKey(self.channel.id)

    async def write(self, *texts: str, channel: Channel | None = None) -> list[Posted]:
        return [await self.discord.post(self.aiko, channel or self.channel, text) for text in texts]

    async def begin(self, key: ChannelKey, channel: Channel) -> None:
        """Have something stored of a channel or thread."""
        [first] = await self.write("始め", channel=channel)
        message = Message("user", first.content, author_id=self.aiko.id, discord_id=first.id)
        assert await self.stores.channels.add(key, message)

    async def past_this_moment(self) -> None:
        """Ids tell milliseconds, and are made from floating numbers: what was written is older after this."""
        written = utc_now()
        while utc_now() - written < timedelta(milliseconds=3):  # noqa: ASYNC110 - a clock tells nobody
            await asyncio.sleep(0)

    def returns(self, bounds: CatchUpBounds = QUICK, *, since: int = 0) -> CatchUp:
        """The bot connects; every CatchUp is closed at the end of the test."""
        catch_up = CatchUp(self.stores.channels, self.rest, self.hearing, utc_now, bounds, since=since)
        self.opened.push_async_callback(catch_up.close)
        catch_up.begin()
        return catch_up

    async def catches_up(self, bounds: CatchUpBounds = QUICK) -> list[str]:
        """What is stored of the channel once the bot has come back to it."""
        await self.returns(bounds).wait_for(self.channel.id)
        return self.stored()

    def stored(self, channel: Channel | None = None) -> list[str]:
        """What the archive has of a place since it began, in the order in which it was inserted."""
        place = (channel or self.channel).id
        with closing(sqlite3.connect(self.database)) as connection:
            rows = connection.execute(
                "SELECT content FROM messages WHERE channel_id = ? ORDER BY id", (place,)
            )
            return [row[0] for row in rows][1:]

    async def stores_in_time(self, expected: list[str], channel: Channel | None = None) -> None:
        """Wait for what the bot does unasked."""
        async with asyncio.timeout(self.discord.patience_s):
            while self.stored(channel) != expected:  # noqa: ASYNC110 - a database tells nobody when it changes
                await asyncio.sleep(0.01)

    async def history_asked(self, *tasks: asyncio.Task[None]) -> None:
        """The history was asked for, and nobody who waits for it has gone on."""
        await self.discord.wait(lambda: not self.discord.faults.outstanding, "the history")
        assert not any(task.done() for task in tasks)
        assert self.stored() == []


@pytest.fixture
async def scene(
    discord: LoopbackDiscord,
    rest: hikari.api.RESTClient,
    stores: Stores,
    tmp_path: Path,
    aiko: User,
    channel: Channel,
) -> AsyncIterator[Scene]:
    scene = Scene(discord, rest, stores, tmp_path / "sessions.db", aiko, channel)
    async with scene.opened:
        await scene.begin(scene.key, channel)
        yield scene


class TestWhatWasMissed:
    async def test_is_stored_once_in_order_but_for_the_bots_own(self, scene: Scene) -> None:
        await scene.write("一つ目", "two")
        await scene.rest.create_message(scene.channel.id, "I said that")
        await scene.write("三つ目")
        for _ in range(3):
            assert await scene.catches_up() == ["一つ目", "two", "三つ目"]

    async def test_is_not_what_was_written_before_everything_was_read_or_before_a_reset(
        self, scene: Scene
    ) -> None:
        _, private, _, marker, _ = await scene.write("まだ", "これも", "ここから", "区切る", "後")
        scene.returns(since=private.id)
        await scene.stores_in_time(["ここから", "区切る", "後"])
        [marker, _] = await scene.write("また区切る", "その後")
        await scene.stores.channels.reset(scene.key, bot_id=1, discord_id=marker.id)
        assert (await scene.catches_up())[3:] == ["その後"]

    async def test_is_not_read_where_the_bot_may_not_read_even_once_it_may_again(self, scene: Scene) -> None:
        await scene.write("内輪の話")
        scene.hearing.shut.add(scene.key)
        await scene.past_this_moment()
        assert await scene.catches_up() == []
        assert scene.discord.calls(HISTORY) == []
        scene.hearing.shut.clear()
        await scene.write("また聞いてよい話")
        assert await scene.catches_up() == ["また聞いてよい話"]

    async def test_is_found_though_an_answer_of_the_bot_is_newer(self, scene: Scene) -> None:
        await scene.write("聞こえなかった")
        posted = await scene.rest.create_message(scene.channel.id, "答え")
        answer = Message("assistant", "答え", discord_id=int(posted.id))
        await scene.stores.channels.commit_answer(scene.key, answer, ())
        assert sorted(await scene.catches_up()) == sorted(["答え", "聞こえなかった"])

    async def test_in_a_thread_stays_in_the_thread(self, scene: Scene) -> None:
        thread, elsewhere = scene.discord.thread(scene.channel), scene.discord.guild_channel("elsewhere")
        await scene.begin(ChannelKey(scene.channel.id, thread.id), thread)
        await scene.write("スレッドで", channel=thread)
        await scene.write("チャンネルで")
        [unknown] = await scene.write("知らない場所", channel=elsewhere)
        catch_up = scene.returns()
        for place in (thread, scene.channel, elsewhere):
            await catch_up.wait_for(place.id)
        assert (scene.stored(thread), scene.stored()) == (["スレッドで"], ["チャンネルで"])
        assert await scene.stores.channels.find_known([unknown.id]) == frozenset()


class TestPages:
    async def test_are_read_until_what_is_known_and_end_there(self, scene: Scene) -> None:
        said = [f"発言{number}" for number in range(230)]
        await scene.write(*said)
        assert await scene.catches_up() == said
        assert len(scene.discord.calls(HISTORY)) == 3
        full = [f"{number}" for number in range(100)]
        await scene.write(*full)
        assert await scene.catches_up() == said + full

    async def test_that_are_too_many_leave_the_oldest_unread(self, scene: Scene) -> None:
        said = [f"{number}" for number in range(330)]
        await scene.write(*said)
        assert await scene.catches_up(CatchUpBounds(pages=2, pause_s=0.0)) == said[-200:]
        assert len(scene.discord.calls(HISTORY)) == 2


class TestPlaces:
    async def other(self, scene: Scene, name: str) -> Channel:
        """Another channel in which something is stored."""
        channel = scene.discord.guild_channel(name)
        await scene.begin(ChannelKey(channel.id), channel)
        return channel

    async def test_that_were_active_last_are_looked_at_unasked(self, scene: Scene) -> None:
        newer = await self.other(scene, "newer")
        await scene.write("古い場所で")
        await scene.write("新しい場所で", channel=newer)
        catch_up = scene.returns(CatchUpBounds(places=1, pause_s=0.0))
        await scene.stores_in_time(["新しい場所で"], newer)
        assert scene.stored() == []
        await catch_up.wait_for(scene.channel.id)
        assert scene.stored() == ["古い場所で"]

    async def test_that_may_not_be_read_any_more_are_passed_over(self, scene: Scene) -> None:
        hidden, gone = await self.other(scene, "hidden"), await self.other(scene, "gone")
        hidden.bot_present = False
        del scene.discord.world.channels[gone.id]
        await scene.write("見える場所で")
        catch_up = scene.returns()
        for place in (hidden.id, gone.id, scene.channel.id):
            await catch_up.wait_for(place)
        assert scene.stored() == ["見える場所で"]

    @pytest.mark.parametrize(("failures", "stored"), [(2, ["二度目で"]), (3, [])])
    async def test_that_discord_fails_to_show_are_asked_for_again_but_hold_nobody_up(
        self, scene: Scene, failures: int, stored: list[str]
    ) -> None:
        await scene.write("二度目で")
        scene.discord.fail_next(HISTORY, 503, times=failures)
        assert await scene.catches_up() == stored


class TestALiveMessage:
    async def test_waits_until_what_came_before_it_is_stored(self, scene: Scene) -> None:
        catch_up = CatchUp(scene.stores.channels, scene.rest, scene.hearing, utc_now)
        await catch_up.wait_for(scene.channel.id)
        assert scene.discord.calls(HISTORY) == []  # the bot was never away
        await scene.write("先に書かれた")
        scene.discord.fail_next(HISTORY, 200, delay_s=0.2)
        catch_up = scene.returns()
        waits = [asyncio.create_task(catch_up.wait_for(scene.channel.id)) for _ in range(3)]
        await scene.history_asked(*waits)
        await asyncio.gather(*waits)
        assert scene.stored() == ["先に書かれた"]
        assert len(scene.discord.calls(HISTORY)) == 1

    async def test_that_waits_when_the_bot_leaves_is_not_stored_before_the_gap(self, scene: Scene) -> None:
        await scene.write("隙間")
        scene.discord.fail_next(HISTORY, 200, delay_s=10)
        catch_up = scene.returns()
        live = asyncio.create_task(catch_up.wait_for(scene.channel.id))
        await scene.history_asked(live)
        await catch_up.close()
        with pytest.raises(asyncio.CancelledError):
            await live
        assert scene.stored() == []
        assert await scene.catches_up() == ["隙間"]
