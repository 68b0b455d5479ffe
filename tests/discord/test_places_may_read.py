"""Whether somebody may read a channel, asked of Discord."""

import hikari
import pytest

from cc_bot.discord.places import may_read
from tests.loopback.discord import Channel, LoopbackDiscord, Permission, User


@pytest.fixture
def aiko(discord: LoopbackDiscord) -> User:
    return discord.user("Aiko", locale="ja")


@pytest.fixture
def channel(discord: LoopbackDiscord) -> Channel:
    return discord.guild_channel()


async def may(discord: LoopbackDiscord, rest: hikari.api.RESTClient, user: User, channel: Channel) -> bool:
    return await may_read(rest, discord.guild.id, channel.id, user.id)


class TestAMember:
    async def test_may_read_unless_a_channel_says_otherwise(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, aiko: User, channel: Channel
    ) -> None:
        thread, other = discord.thread(channel), discord.guild_channel("other")
        assert await may(discord, rest, aiko, channel)
        discord.forbid(aiko, Permission.VIEW_CHANNEL, channel)
        assert not await may(discord, rest, aiko, channel)
        assert not await may(discord, rest, aiko, thread)
        assert await may(discord, rest, aiko, other)

    async def test_may_not_without_the_history(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, aiko: User, channel: Channel
    ) -> None:
        discord.forbid(aiko, Permission.READ_MESSAGE_HISTORY, channel)
        assert not await may(discord, rest, aiko, channel)

    async def test_who_administrates_or_owns_the_server_may_always(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, aiko: User, channel: Channel
    ) -> None:
        for user in (aiko, discord.owner):
            discord.forbid(user, Permission.VIEW_CHANNEL, channel)
        discord.permit(aiko, Permission.ADMINISTRATOR)
        assert await may(discord, rest, aiko, channel)
        assert await may(discord, rest, discord.owner, channel)

    async def test_needs_to_be_in_a_private_thread_or_look_after_threads(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, aiko: User, channel: Channel
    ) -> None:
        ben, chloe = discord.user("Ben"), discord.user("Chloe")
        thread = discord.thread(channel, owner=ben, private=True)
        assert await may(discord, rest, ben, thread)
        assert not await may(discord, rest, aiko, thread)
        discord.add_to_thread(aiko, thread)
        assert await may(discord, rest, aiko, thread)
        discord.permit(chloe, Permission.MANAGE_THREADS)
        assert await may(discord, rest, chloe, thread)

    async def test_who_left_is_none(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, aiko: User, channel: Channel
    ) -> None:
        discord.leave(aiko)
        with pytest.raises(hikari.NotFoundError):
            await may(discord, rest, aiko, channel)

    async def test_of_another_server_reads_nothing_here(
        self, discord: LoopbackDiscord, rest: hikari.api.RESTClient, aiko: User, channel: Channel
    ) -> None:
        other = discord.add_guild("other")
        assert not await may_read(rest, other.id, channel.id, aiko.id)
        assert not await may_read(rest, discord.guild.id, discord.dm(aiko).id, aiko.id)
