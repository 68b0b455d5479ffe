"""What was missed is read from Discord: once, bounded, in order, and before anything newer is stored."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import hikari
import pytest

from cc_bot.discord.messages.catch_up import CatchUp, CatchUpBounds
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import ChannelKey, Message
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out
from tests.loopback.discord import Channel, LoopbackDiscord, User
from tests.loopback.discord import Message as Posted

HISTORY = "GET /channels/{channel}/messages"
QUICK = CatchUpBounds(pause_s=0.0, retry_pauses_s=(0.0, 0.0))


@dataclass
class Hearing:
    """Archives everything but the bot's own messages; wants an answer to what begins with '!'."""

    woken: list[ChannelKey] = field(default_factory=list)
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
        return (message.content or "").startswith("!")

    def wake(self, key: ChannelKey) -> None:
        self.woken.append(key)


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

    async def past_this_moment(self) -> None:
        """Ids tell milliseconds, and are made from floating numbers: what was written is older after this."""
        written = utc_now()
        while utc_now() - written < timedelta(milliseconds=3):  # noqa: ASYNC110 - a clock tells nobody
            await asyncio.sleep(0)

    async def store(self, posted: Posted, key: ChannelKey | None = None) -> None:
        message = Message("user", posted.content, author_id=self.aiko.id, discord_id=posted.id)
        assert await self.stores.channels.add(key or self.key, message)

    def returns(
        self, bounds: CatchUpBounds = QUICK, *, later: timedelta = timedelta(), since: int = 0
    ) -> CatchUp:
        """The bot connects; every CatchUp is closed at the end of the test."""

        def clock() -> datetime:
            return utc_now() + later

        catch_up = CatchUp(self.stores.channels, self.rest, self.hearing, clock, bounds, since=since)
        self.opened.push_async_callback(catch_up.close)
        catch_up.begin()
        return catch_up

    def stored(self, channel: Channel | None = None) -> list[str]:
        """What the archive has of a place, in the order in which it was inserted."""
        place = (channel or self.channel).id
        with closing(sqlite3.connect(self.database)) as connection:
            rows = connection.execute(
                "SELECT content FROM messages WHERE channel_id = ? ORDER BY id", (place,)
            )
            return [row[0] for row in rows]

    async def stores_in_time(self, expected: list[str], channel: Channel | None = None) -> None:
        """Wait for what the bot does unasked."""
        async with asyncio.timeout(self.discord.patience_s):
            while self.stored(channel) != expected:  # noqa: ASYNC110 - a database tells nobody when it changes
                await asyncio.sleep(0.01)

    async def waiting(self) -> list[str]:
        return [message.content for message in await self.stores.mentions.list_waiting(self.key)]


@pytest.fixture
async def scene(
    discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path
) -> AsyncIterator[Scene]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as stores:
        aiko = discord.user("Aiko", locale="ja")
        scene = Scene(discord, rest, stores, tmp_path / "sessions.db", aiko, discord.guild_channel())
        async with scene.opened:
            [first] = await scene.write("最後に読んだもの")
            await scene.store(first)
            yield scene


class TestWhatWasMissed:
    async def test_is_stored_in_order_after_what_is_known(self, scene: Scene) -> None:
        await scene.write("一つ目", "two", "三つ目")
        await scene.returns().wait_for(scene.channel.id)
        assert scene.stored() == ["最後に読んだもの", "一つ目", "two", "三つ目"]

    async def test_is_not_what_was_written_before_everything_was_read(self, scene: Scene) -> None:
        _, private = await scene.write("まだ読まれない", "これも")
        await scene.write("ここから読まれる")
        await scene.returns(since=private.id).wait_for(scene.channel.id)
        assert scene.stored() == ["最後に読んだもの", "ここから読まれる"]

    async def test_is_read_without_anybody_writing_there(self, scene: Scene) -> None:
        await scene.write("誰も待っていない")
        scene.returns()
        await scene.stores_in_time(["最後に読んだもの", "誰も待っていない"])

    async def test_is_stored_once_however_often_the_bot_returns(self, scene: Scene) -> None:
        await scene.write("一度だけ")
        for _ in range(3):
            await scene.returns().wait_for(scene.channel.id)
        assert scene.stored() == ["最後に読んだもの", "一度だけ"]

    async def test_is_not_read_when_it_was_said_before_a_reset(self, scene: Scene) -> None:
        _, marker, _ = await scene.write("前", "ここで区切る", "後")
        await scene.stores.channels.reset(scene.key, bot_id=1, discord_id=marker.id)
        await scene.returns().wait_for(scene.channel.id)
        assert scene.stored() == ["最後に読んだもの", "後"]

    async def test_is_not_read_where_the_bot_may_not_read_even_once_it_may_again(self, scene: Scene) -> None:
        await scene.write("内輪の話")
        scene.hearing.shut.add(scene.key)
        await scene.past_this_moment()
        await scene.returns().wait_for(scene.channel.id)
        assert scene.discord.calls(HISTORY) == []
        scene.hearing.shut.clear()
        await scene.write("また聞いてよい話")
        await scene.returns().wait_for(scene.channel.id)
        assert scene.stored() == ["最後に読んだもの", "また聞いてよい話"]

    async def test_of_the_bot_itself_is_left_out(self, scene: Scene) -> None:
        await scene.rest.create_message(scene.channel.id, "I said that")
        await scene.returns().wait_for(scene.channel.id)
        assert scene.stored() == ["最後に読んだもの"]

    async def test_is_found_though_an_answer_of_the_bot_is_newer(self, scene: Scene) -> None:
        await scene.write("聞こえなかった")
        posted = await scene.rest.create_message(scene.channel.id, "答え")
        await scene.stores.channels.commit_answer(
            scene.key, Message("assistant", "答え", discord_id=int(posted.id)), ()
        )
        await scene.returns().wait_for(scene.channel.id)
        assert sorted(scene.stored()) == sorted(["最後に読んだもの", "答え", "聞こえなかった"])

    async def test_in_a_thread_stays_in_the_thread(self, scene: Scene) -> None:
        thread = scene.discord.thread(scene.channel)
        [first] = await scene.write("スレッドの始め", channel=thread)
        await scene.store(first, ChannelKey(scene.channel.id, thread.id))
        await scene.write("スレッドで", channel=thread)
        await scene.write("チャンネルで")
        catch_up = scene.returns()
        await catch_up.wait_for(scene.channel.id)
        await catch_up.wait_for(thread.id)
        assert scene.stored(thread) == ["スレッドの始め", "スレッドで"]
        assert scene.stored() == ["最後に読んだもの", "チャンネルで"]

    async def test_where_nothing_is_stored_is_not_looked_for(self, scene: Scene) -> None:
        elsewhere = scene.discord.guild_channel("elsewhere")
        await scene.write("知らない場所", channel=elsewhere)
        await scene.returns().wait_for(elsewhere.id)
        assert scene.stored(elsewhere) == []


class TestPages:
    async def test_are_read_until_what_is_known(self, scene: Scene) -> None:
        said = [f"発言{number}" for number in range(230)]
        await scene.write(*said)
        await scene.returns().wait_for(scene.channel.id)
        assert scene.stored()[1:] == said
        assert len(scene.discord.calls(HISTORY)) == 3

    async def test_that_are_full_to_the_last_known_message_end_there(self, scene: Scene) -> None:
        said = [f"{number}" for number in range(100)]
        await scene.write(*said)
        await scene.returns().wait_for(scene.channel.id)
        assert scene.stored()[1:] == said

    async def test_that_are_too_many_leave_the_oldest_unread(self, scene: Scene) -> None:
        said = [f"{number}" for number in range(330)]
        await scene.write(*said)
        bounds = CatchUpBounds(pages=2, pause_s=0.0)
        await scene.returns(bounds).wait_for(scene.channel.id)
        assert scene.stored()[1:] == said[-200:]
        assert len(scene.discord.calls(HISTORY)) == 2


class TestPlaces:
    async def other(self, scene: Scene, name: str) -> Channel:
        """Another channel in which something is stored."""
        channel = scene.discord.guild_channel(name)
        [first] = await scene.write("始め", channel=channel)
        await scene.store(first, ChannelKey(channel.id))
        return channel

    async def test_that_were_active_last_are_looked_at_unasked(self, scene: Scene) -> None:
        newer = await self.other(scene, "newer")
        await scene.write("古い場所で")
        await scene.write("新しい場所で", channel=newer)
        catch_up = scene.returns(CatchUpBounds(places=1, pause_s=0.0))
        await scene.stores_in_time(["始め", "新しい場所で"], newer)
        assert scene.stored() == ["最後に読んだもの"]
        await catch_up.wait_for(scene.channel.id)
        assert scene.stored() == ["最後に読んだもの", "古い場所で"]

    async def test_that_may_not_be_read_any_more_are_passed_over(self, scene: Scene) -> None:
        hidden, gone = await self.other(scene, "hidden"), await self.other(scene, "gone")
        hidden.bot_present = False
        del scene.discord.world.channels[gone.id]
        await scene.write("見える場所で")
        catch_up = scene.returns()
        for place in (hidden.id, gone.id, scene.channel.id):
            await catch_up.wait_for(place)
        assert scene.stored() == ["最後に読んだもの", "見える場所で"]

    async def test_that_discord_fails_to_show_for_a_moment_are_asked_for_again(self, scene: Scene) -> None:
        await scene.write("二度目で")
        scene.discord.fail_next(HISTORY, 503, times=2)
        await scene.returns().wait_for(scene.channel.id)
        assert scene.stored() == ["最後に読んだもの", "二度目で"]

    async def test_that_discord_keeps_failing_to_show_hold_nobody_up(self, scene: Scene) -> None:
        await scene.write("届かない")
        scene.discord.fail_next(HISTORY, 503, times=3)
        await scene.returns().wait_for(scene.channel.id)
        assert scene.stored() == ["最後に読んだもの"]


class TestQuestions:
    async def test_that_are_recent_wait_for_their_answer(self, scene: Scene) -> None:
        await scene.write("ふつうの話", "!質問です", "また話", "!もう一つ", "!三つ目")
        await scene.returns().wait_for(scene.channel.id)
        assert await scene.waiting() == ["!質問です", "!もう一つ", "!三つ目"]
        assert scene.stored()[1:] == ["ふつうの話", "!質問です", "また話", "!もう一つ", "!三つ目"]
        assert scene.hearing.woken == [scene.key]

    async def test_that_are_old_are_archived_only(self, scene: Scene) -> None:
        await scene.write("!まだ待っている人はいない")
        await scene.returns(later=timedelta(minutes=11)).wait_for(scene.channel.id)
        assert scene.stored()[1:] == ["!まだ待っている人はいない"]
        assert await scene.waiting() == []
        assert scene.hearing.woken == []


class TestALiveMessage:
    async def test_waits_until_what_came_before_it_is_stored(self, scene: Scene) -> None:
        await scene.write("先に書かれた")
        scene.discord.fail_next(HISTORY, 200, delay_s=0.2)
        catch_up = scene.returns()
        waits = [asyncio.create_task(catch_up.wait_for(scene.channel.id)) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in waits)
        assert scene.stored() == ["最後に読んだもの"]
        await asyncio.gather(*waits)
        assert scene.stored() == ["最後に読んだもの", "先に書かれた"]
        assert len(scene.discord.calls(HISTORY)) == 1

    async def test_does_not_wait_when_the_bot_was_never_away(self, scene: Scene) -> None:
        catch_up = CatchUp(scene.stores.channels, scene.rest, scene.hearing, utc_now)
        await catch_up.wait_for(scene.channel.id)
        assert scene.discord.calls(HISTORY) == []

    async def test_that_waits_when_the_bot_leaves_is_not_stored_before_the_gap(self, scene: Scene) -> None:
        await scene.write("隙間")
        scene.discord.fail_next(HISTORY, 200, delay_s=10)
        catch_up = scene.returns()
        live = asyncio.create_task(catch_up.wait_for(scene.channel.id))
        await asyncio.sleep(0.05)
        await catch_up.close()
        with pytest.raises(asyncio.CancelledError):
            await live
        assert scene.stored() == ["最後に読んだもの"]
        await scene.returns().wait_for(scene.channel.id)
        assert scene.stored() == ["最後に読んだもの", "隙間"]

    async def test_of_before_a_second_gap_is_followed_by_it(self, scene: Scene) -> None:
        await scene.write("一つ目の隙間")
        scene.discord.fail_next(HISTORY, 200, delay_s=0.2)
        catch_up = scene.returns()
        live = asyncio.create_task(catch_up.wait_for(scene.channel.id))
        await asyncio.sleep(0.05)
        await scene.write("二つ目の隙間")
        catch_up.begin()
        await catch_up.wait_for(scene.channel.id)
        await live
        assert scene.stored() == ["最後に読んだもの", "一つ目の隙間", "二つ目の隙間"]
