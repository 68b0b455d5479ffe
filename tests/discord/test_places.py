"""Where a message stands, learned from Discord once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import hikari
import pytest

from cc_bot.discord.places import Places
from cc_bot.domain.message import ChannelKey
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out
from tests.loopback.discord import LoopbackDiscord

LOOK_UP = "GET /channels/{channel}"


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
        yield stores


@pytest.fixture
def places(stores: Stores, rest: hikari.api.RESTClient) -> Places:
    return Places(rest, stores.channels)


class TestAPlace:
    async def test_that_is_a_channel_stands_for_itself(
        self, discord: LoopbackDiscord, places: Places
    ) -> None:
        channel = discord.guild_channel()
        assert await places.key_of(channel.id) == ChannelKey(channel.id)

    async def test_that_is_a_thread_belongs_to_its_channel(
        self, discord: LoopbackDiscord, places: Places
    ) -> None:
        channel = discord.guild_channel()
        thread = discord.thread(channel)
        assert await places.key_of(thread.id) == ChannelKey(channel.id, thread.id)

    async def test_is_in_a_server_unless_it_is_a_dm(self, discord: LoopbackDiscord, places: Places) -> None:
        channel = discord.guild_channel()
        assert channel.guild is not None
        for each in (channel, discord.thread(channel)):
            assert (await places.of(each.id)).guild_id == channel.guild.id
        dm = await places.of(discord.dm(discord.user("Aiko", locale="ja")).id)
        assert (dm.guild_id, dm.is_dm) == (None, True)

    async def test_is_looked_up_once(self, discord: LoopbackDiscord, places: Places) -> None:
        channel = discord.guild_channel()
        await asyncio.gather(*(places.key_of(channel.id) for _ in range(5)))
        await places.key_of(channel.id)
        assert len(discord.calls(LOOK_UP)) == 1

    async def test_that_discord_does_not_tell_is_asked_for_again(
        self, discord: LoopbackDiscord, places: Places
    ) -> None:
        channel = discord.guild_channel()
        discord.fail_next(LOOK_UP, 503)
        with pytest.raises(hikari.InternalServerError):
            await places.key_of(channel.id)
        assert await places.key_of(channel.id) == ChannelKey(channel.id)

    async def test_that_one_stopped_waiting_for_is_still_learned_by_the_others(
        self, discord: LoopbackDiscord, places: Places
    ) -> None:
        channel = discord.guild_channel()
        discord.fail_next(LOOK_UP, 200, delay_s=0.1)
        patient = asyncio.create_task(places.key_of(channel.id))
        impatient = asyncio.create_task(places.key_of(channel.id))
        await asyncio.sleep(0)
        impatient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        assert await patient == ChannelKey(channel.id)
        assert len(discord.calls(LOOK_UP)) == 1


class TestWhatIsNoted:
    async def test_of_a_server_is_known_after_a_restart_and_to_other_processes(
        self, discord: LoopbackDiscord, stores: Stores, rest: hikari.api.RESTClient, places: Places
    ) -> None:
        channel = discord.guild_channel()
        for each in (channel, discord.thread(channel)):
            known = await places.of(each.id)
            assert await Places(rest, stores.channels).of(each.id) == known
        assert len(discord.calls(LOOK_UP)) == 2

    async def test_is_no_dm(
        self, discord: LoopbackDiscord, stores: Stores, rest: hikari.api.RESTClient, places: Places
    ) -> None:
        dm = discord.dm(discord.user("Aiko", locale="ja"))
        assert (await places.of(dm.id)).is_dm
        assert await stores.channels.find_place(dm.id) is None
        assert (await Places(rest, stores.channels).of(dm.id)).is_dm
        assert len(discord.calls(LOOK_UP)) == 2

    async def test_is_asked_of_discord_while_the_database_is_away(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path
    ) -> None:
        channel = discord.guild_channel()
        assert channel.guild is not None
        async with open_stores(laid_out(tmp_path / "away.db"), embedder=None) as stores:
            pass  # which is closed now
        places = Places(rest, stores.channels)
        assert (await places.of(channel.id)).guild_id == channel.guild.id
        assert (await places.of(channel.id)).guild_id == channel.guild.id
        assert len(discord.calls(LOOK_UP)) == 1


class TestMemory:
    async def test_is_bounded_and_forgets_what_was_asked_for_longest_ago(
        self, discord: LoopbackDiscord, stores: Stores, rest: hikari.api.RESTClient
    ) -> None:
        places = Places(rest, stores.channels, remembered=2)
        users = (discord.user(f"User {number}", locale="ja") for number in range(3))
        first, second, third = map(discord.dm, users)  # which are in memory alone
        for channel in (first, second, first, third, first):
            await places.of(channel.id)
        assert len(discord.calls(LOOK_UP)) == 3
        await places.of(second.id)
        assert len(discord.calls(LOOK_UP)) == 4
