"""Where a message stands, who may read there, and what answers there: learned from Discord once."""

import asyncio
from pathlib import Path

import hikari
import pytest

from cc_bot.discord.places import Places, may_read
from cc_bot.discord.recipients import GuildLocales
from cc_bot.domain import SessionKey
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import ChannelKey
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out
from tests.discord.choosing import chooser_over
from tests.discord.hikari_messages import CHANNEL, GUILD, guild
from tests.loopback.discord import Channel, LoopbackDiscord, Permission, User

LOOK_UP = "GET /channels/{channel}"


@pytest.fixture
def places(stores: Stores, rest: hikari.api.RESTClient) -> Places:
    return Places(rest, stores.channels)


class TestAPlace:
    async def test_is_looked_up_once_with_its_channel_and_its_server(
        self,
        discord: LoopbackDiscord,
        stores: Stores,
        rest: hikari.api.RESTClient,
        places: Places,
        channel: Channel,
        aiko: User,
    ) -> None:
        """A server's are known after a restart and to other processes, a DM is not noted."""
        thread, dm = discord.thread(channel), discord.dm(aiko)
        await asyncio.gather(*(places.key_of(channel.id) for _ in range(5)))
        assert await places.key_of(channel.id) == ChannelKey(channel.id)
        assert await places.key_of(thread.id) == ChannelKey(channel.id, thread.id)
        for each in (channel, thread):
            known = await places.of(each.id)
            assert known.guild_id == discord.guild.id
            assert await Places(rest, stores.channels).of(each.id) == known
        assert len(discord.calls(LOOK_UP)) == 2
        for run in (places, Places(rest, stores.channels)):
            assert ((await run.of(dm.id)).guild_id, (await run.of(dm.id)).is_dm) == (None, True)
        assert await stores.channels.find_place(dm.id) is None
        assert len(discord.calls(LOOK_UP)) == 4

    async def test_that_discord_does_not_tell_is_asked_for_again(
        self, discord: LoopbackDiscord, places: Places, channel: Channel
    ) -> None:
        discord.fail_next(LOOK_UP, 503)
        with pytest.raises(hikari.InternalServerError):
            await places.key_of(channel.id)
        assert await places.key_of(channel.id) == ChannelKey(channel.id)

    async def test_that_one_stopped_waiting_for_is_still_learned_by_the_others(
        self, discord: LoopbackDiscord, places: Places, channel: Channel
    ) -> None:
        discord.fail_next(LOOK_UP, 200, delay_s=0.1)
        patient, impatient = (asyncio.create_task(places.key_of(channel.id)) for _ in range(2))
        await asyncio.sleep(0)
        impatient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        assert await patient == ChannelKey(channel.id)
        assert len(discord.calls(LOOK_UP)) == 1

    async def test_is_asked_of_discord_while_the_database_is_away(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path, channel: Channel
    ) -> None:
        async with open_stores(laid_out(tmp_path / "away.db"), embedder=None) as stores:
            pass  # which is closed now
        places = Places(rest, stores.channels)
        for _ in range(2):
            assert (await places.of(channel.id)).guild_id == discord.guild.id
        assert len(discord.calls(LOOK_UP)) == 1


class TestAMember:
    async def test_may_read_by_the_permissions_of_channel_and_thread(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, aiko: User, channel: Channel
    ) -> None:
        async def may(user: User, place: Channel, guild_id: int = discord.guild.id) -> bool:
            return await may_read(rest, guild_id, place.id, user.id)

        ben, chloe = discord.user("Ben"), discord.user("Chloe")
        thread, other = discord.thread(channel), discord.guild_channel("other")
        assert await may(aiko, channel)
        for permission in (Permission.VIEW_CHANNEL, Permission.READ_MESSAGE_HISTORY):
            discord.forbid(aiko, permission, channel)
            assert [await may(aiko, place) for place in (channel, thread, other)] == [False, False, True]
            discord.permit(aiko, permission, channel)
        private = discord.thread(channel, owner=ben, private=True)
        assert [await may(user, private) for user in (ben, aiko)] == [True, False]
        discord.add_to_thread(aiko, private)
        discord.permit(chloe, Permission.MANAGE_THREADS)
        assert [await may(user, private) for user in (aiko, chloe)] == [True, True]
        for user in (aiko, discord.owner):
            discord.forbid(user, Permission.VIEW_CHANNEL, channel)
        discord.permit(aiko, Permission.ADMINISTRATOR)
        assert [await may(user, channel) for user in (aiko, discord.owner)] == [True, True]
        assert not await may(aiko, channel, discord.add_guild("other").id)
        assert not await may(aiko, discord.dm(aiko))
        discord.leave(aiko)
        with pytest.raises(hikari.NotFoundError):
            await may(aiko, channel)


class TestEverybody:
    async def test_may_read_what_is_hidden_from_nobody(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, aiko: User, channel: Channel
    ) -> None:
        assert await may_read(rest, discord.guild.id, channel.id, None)
        assert not await may_read(rest, discord.guild.id, discord.thread(channel, private=True).id, None)
        discord.hide(channel, but_from=[aiko])
        read = [await may_read(rest, discord.guild.id, channel.id, each) for each in (aiko.id, None)]
        assert read == [True, False]


class TestLanguage:
    def test_is_what_a_community_chose_for_the_places_that_were_written_in_last(self) -> None:
        locales = GuildLocales(remembered=2)
        locales.place(CHANNEL, GUILD)
        for community, expected in (
            (None, None),
            (guild("COMMUNITY", locale="en-GB"), Locale.EN),
            (guild("COMMUNITY", locale="ja"), Locale.JA),
            (guild(locale="en-US"), None),  # a server that is no community has chosen none
            (guild("COMMUNITY", locale="ja"), Locale.JA),
        ):
            if community:
                locales.learn(community)
            assert locales.of(CHANNEL) is expected
        for place in (1, 2, 1, 3):
            locales.place(place, GUILD)
        assert [locales.of(place) for place in (1, 2, 3)] == [Locale.JA, None, Locale.JA]


class TestModels:
    async def test_are_the_agents_own_else_those_of_the_thread_else_of_its_channel(
        self, stores: Stores, discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path
    ) -> None:
        file = tmp_path / "agents.toml"
        file.write_text('[agents.tutor]\nprompt = "You teach."\nmodel = ["teacher"]\n', encoding="utf-8")
        chooser, channel = chooser_over(stores, rest, file), discord.guild_channel()
        thread = discord.thread(channel)

        async def models(key: ChannelKey) -> tuple[str, ...]:
            return (await chooser.in_channel(key)).models

        in_channel, in_thread = ChannelKey(channel.id), ChannelKey(channel.id, thread.id)
        assert await models(in_channel) == ()
        await stores.channel_models.set(channel.id, ("large",), set_by=9)
        assert await models(in_thread) == ("large",)
        for place, agent, expected in (
            (thread, "gone", ("default", ("large",))),
            (channel, "tutor", ("tutor", ("teacher",))),
        ):
            speaker = await chooser.choose_speaker(SessionKey(1, place.id, agent), discord.guild.id)
            assert (speaker.name, speaker.models) == expected
        await stores.channel_models.set(thread.id, ("small", "tiny"), set_by=9)
        assert [await models(key) for key in (in_thread, in_channel)] == [("small", "tiny"), ("large",)]
        await stores.agents.set_default(channel.id, 1, "tutor", 9)
        assert await models(in_channel) == ("teacher",)
