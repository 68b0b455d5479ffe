"""Missed messages are read from Discord once, in order, up to a limit, and before newer ones are stored."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

import hikari
import pytest

from cc_bot.discord.messages import catch_up as catching_up
from cc_bot.discord.messages.catch_up import MAX_PAGES, CatchUp
from cc_bot.discord.messages.routing import MessageRouter
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import ChannelKey, Location, Message
from tests.discord.parts import BotChannel
from tests.loopback.discord import Channel
from tests.loopback.discord import Message as Posted

HISTORY = "GET /channels/{channel}/messages"


@dataclass
class FakeRouter:
    """Archives all messages but the bot's own. None wants an answer."""

    unreadable: set[ChannelKey] = field(default_factory=set)

    @property
    def gate(self) -> "FakeRouter":
        return self

    async def may_read(self, key: ChannelKey) -> bool:
        return key not in self.unreadable

    def message_to_archive(self, message: hikari.Message) -> Message | None:
        if message.author.is_bot:
            return None
        author = int(message.author.id)
        return Message("user", message.content or "", author_id=author, discord_id=int(message.id))

    async def wants_answer(self, key: ChannelKey, message: hikari.Message) -> bool:
        return False


@dataclass
class Scene(BotChannel):
    """A channel with a stored message, to which the bot reconnects."""

    router: FakeRouter = field(default_factory=FakeRouter)
    opened: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def write(self, *texts: str, channel: Channel | None = None) -> list[Posted]:
        return [await self.discord.post(self.aiko, channel or self.channel, text) for text in texts]

    async def begin(self, key: ChannelKey, channel: Channel) -> None:
        """Store a first message of a channel or thread."""
        [first] = await self.write("始め", channel=channel)
        message = Message("user", first.content, author_id=self.aiko.id, discord_id=first.id)
        await self.stores.channels.record_channel(Location(key, 5))
        assert await self.stores.channels.add(key, message)

    def make_catch_up(self, pages: int = MAX_PAGES, since: int = 0) -> CatchUp:
        router = cast("MessageRouter", self.router)
        return CatchUp(self.stores, self.rest, self.shards, router, utc_now, pages, since)

    def reconnect(self, pages: int = MAX_PAGES, *, since: int = 0) -> CatchUp:
        """Begin to catch up. The CatchUp is closed at the end of the test."""
        catch_up = self.make_catch_up(pages, since)
        self.opened.push_async_callback(catch_up.close)
        catch_up.begin()
        return catch_up

    async def catches_up(self, pages: int = MAX_PAGES) -> list[str]:
        """Catch up with the channel, and return its stored messages."""
        await self.reconnect(pages).wait_for(self.channel.id)
        return self.stored()

    def stored(self, channel: Channel | None = None) -> list[str]:
        """Return the channel's stored messages after the first, in the order in which they were inserted."""
        location = (channel or self.channel).id
        rows = self.execute("SELECT content FROM messages WHERE channel_id = ? ORDER BY id", location)
        return [row[0] for row in rows][1:]

    async def wait_for_history_request(self, *tasks: asyncio.Task[None]) -> None:
        """Wait for the request of the history. Until it is answered, no task goes on."""
        await self.discord.wait(lambda: not self.discord.faults.outstanding, "the history")
        assert not any(task.done() for task in tasks)
        assert self.stored() == []


@pytest.fixture
async def scene(location: BotChannel, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    pauses = {"PAUSE_S": 0.0, "DM_OPEN_PAUSE_S": 0.0, "_RETRY_PAUSES_S": (0.0, 0.0)}
    for name, pause in pauses.items():
        monkeypatch.setattr(catching_up, name, pause)
    scene = Scene(**vars(location))
    async with scene.opened:
        await scene.begin(scene.key, scene.channel)
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
        scene.reconnect(since=private.id)
        await scene.until(lambda: scene.stored() == ["ここから", "区切る", "後"])
        [marker, _] = await scene.write("また区切る", "その後")
        await scene.stores.channels.reset(scene.key, bot_id=1, discord_id=marker.id)
        assert (await scene.catches_up())[3:] == ["その後"]

    async def test_is_not_read_where_the_bot_may_not_read_even_once_it_may_again(self, scene: Scene) -> None:
        await scene.write("内輪の話")
        scene.router.unreadable.add(scene.key)
        written = utc_now()  # ids tell milliseconds, and are made from floating numbers
        await scene.until(lambda: utc_now() - written > timedelta(milliseconds=3))
        assert await scene.catches_up() == []
        assert scene.discord.calls(HISTORY) == []
        scene.router.unreadable.clear()
        await scene.write("また聞いてよい話")
        assert await scene.catches_up() == ["また聞いてよい話"]

    async def test_in_a_thread_stays_in_the_thread(self, scene: Scene) -> None:
        thread, elsewhere = scene.discord.thread(scene.channel), scene.discord.guild_channel("elsewhere")
        await scene.begin(ChannelKey(scene.channel.id, thread.id), thread)
        await scene.write("スレッドで", channel=thread)
        await scene.write("チャンネルで")
        [unknown] = await scene.write("知らない場所", channel=elsewhere)
        catch_up = scene.reconnect()
        for location in (thread, scene.channel, elsewhere):
            await catch_up.wait_for(location.id)
        assert (scene.stored(thread), scene.stored()) == (["スレッドで"], ["チャンネルで"])
        assert await scene.stores.channels.find_stored_or_forwarded([unknown.id]) == frozenset()

    async def test_is_read_in_pages_until_what_is_known_or_until_they_are_too_many(
        self, scene: Scene
    ) -> None:
        said = [f"発言{number}" for number in range(230)]
        await scene.write(*said)
        assert await scene.catches_up() == said
        assert len(scene.discord.calls(HISTORY)) == 3
        more = [f"{number}" for number in range(230)]
        await scene.write(*more)
        assert await scene.catches_up(pages=2) == said + more[-200:]

    async def test_in_locations_that_were_active_last_is_looked_at_unasked(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(catching_up, "MAX_CHANNELS", 1)
        newer = scene.discord.guild_channel("newer")
        await scene.begin(ChannelKey(newer.id), newer)
        await scene.write("古い場所で")
        await scene.write("新しい場所で", channel=newer)
        catch_up = scene.reconnect()
        await scene.until(lambda: scene.stored(newer) == ["新しい場所で"])
        assert scene.stored() == []
        await catch_up.wait_for(scene.channel.id)
        assert scene.stored() == ["古い場所で"]

    @pytest.mark.parametrize(("failures", "stored"), [(2, ["二度目で"]), (3, [])])
    async def test_where_discord_fails_is_asked_for_again_but_holds_nobody_up(
        self, scene: Scene, failures: int, stored: list[str]
    ) -> None:
        await scene.write("二度目で")
        scene.discord.fail_next(HISTORY, 503, times=failures)
        assert await scene.catches_up() == stored


class TestALiveMessage:
    async def test_waits_until_what_came_before_it_is_stored(self, scene: Scene) -> None:
        catch_up = scene.make_catch_up()
        await catch_up.wait_for(scene.channel.id)
        assert scene.discord.calls(HISTORY) == []  # the bot was never away
        await scene.write("先に書かれた")
        scene.discord.fail_next(HISTORY, 200, delay_s=0.2)
        catch_up = scene.reconnect()
        waits = [asyncio.create_task(catch_up.wait_for(scene.channel.id)) for _ in range(3)]
        await scene.wait_for_history_request(*waits)
        await asyncio.gather(*waits)
        assert scene.stored() == ["先に書かれた"]
        assert len(scene.discord.calls(HISTORY)) == 1

    async def test_that_waits_when_the_bot_leaves_is_not_stored_before_the_gap(self, scene: Scene) -> None:
        await scene.write("隙間")
        scene.discord.fail_next(HISTORY, 200, delay_s=10)
        catch_up = scene.reconnect()
        live = asyncio.create_task(catch_up.wait_for(scene.channel.id))
        await scene.wait_for_history_request(live)
        await catch_up.close()
        with pytest.raises(asyncio.CancelledError):
            await live
        assert scene.stored() == []
        assert await scene.catches_up() == ["隙間"]


class TestDirectMessages:
    async def test_that_were_missed_are_found_of_a_few_who_use_the_bot_as_well(
        self, scene: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(catching_up, "MAX_OPENED_DMS", 3)
        written = {}
        for name in ("first", "second", "third"):
            user = scene.discord.user(name)
            written[user.id] = await scene.discord.post(user, scene.discord.dm(user), name)
        newest, older, gone = *list(written)[:2], 4711
        for user_id, days in ((0, 0), (gone, 0), (newest, 1), (older, 2), (list(written)[2], 3)):
            day = (utc_now() - timedelta(days=days)).date().isoformat()
            scene.execute(
                "INSERT INTO usage (user_id, day, guild_id, model, purpose) VALUES (?, ?, 0, '', 'turn')",
                *(user_id, day),
            )
        unheard = scene.reconnect()
        found = [
            [int(message.id) for message in (await unheard.list_unanswered_in_dm(channel_id, 1)).recent]
            async for channel_id in unheard.list_dms()
        ]
        assert found == [[written[newest].id], [written[older].id]]
