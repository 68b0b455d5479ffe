import asyncio

from cc_bot.chat.stores.opening import Stores
from cc_bot.discord.locations import Locations, may_read
from cc_bot.discord.recipients import GuildDirectory
from cc_bot.domain.message import ChannelKey
from cc_bot.domain.text import Locale
from tests.discord.parts import BotChannel, Rest, recipients_over
from tests.loopback.discord import Channel, LoopbackDiscord, Permission, User

LOOK_UP = "GET /channels/{channel}"


class TestALocation:
    async def test_is_looked_up_once_with_its_channel_and_its_server(self, location: BotChannel) -> None:
        """A server's are known after a restart and to other processes, a DM is not noted."""
        channel, discord = location.channel, location.discord
        runs = [Locations(location.rest, location.stores.channels) for _ in range(2)]
        thread, dm = discord.thread(channel), discord.dm(location.aiko)
        await asyncio.gather(*(runs[0].key_of(channel.id) for _ in range(5)))
        assert await runs[0].key_of(channel.id) == ChannelKey(channel.id)
        assert await runs[0].key_of(thread.id) == ChannelKey(channel.id, thread.id)
        for each in (channel, thread):
            known = await runs[0].get(each.id)
            assert known.guild_id == discord.guild.id
            assert await runs[1].get(each.id) == known
        assert len(discord.calls(LOOK_UP)) == 2
        for run in runs:
            assert ((await run.get(dm.id)).guild_id, (await run.get(dm.id)).is_dm) == (None, True)
        assert await location.stores.channels.find_channel(dm.id) is None
        assert len(discord.calls(LOOK_UP)) == 4

    async def test_is_called_as_discord_last_said(self, location: BotChannel) -> None:
        discord, thread = location.discord, location.discord.thread(location.channel, "梅雨の予定")
        locations = Locations(location.rest, location.stores.channels)
        key = ChannelKey(location.channel.id, thread.id)
        for _ in range(2):
            assert (await locations.title_of(key)).text == "梅雨の予定"
            assert not (await locations.title_of(key.parent)).text
        assert len(discord.calls(LOOK_UP)) == 1
        thread.name = "夏の予定"
        locations.cache_title(await location.rest.fetch_channel(thread.id))
        assert (await locations.title_of(key)).text == "夏の予定"
        assert not (await locations.title_of(ChannelKey(location.channel.id, 1))).text


async def test_a_member_may_read_by_the_permissions_of_channel_and_thread(
    discord: LoopbackDiscord, rest: Rest, aiko: User, channel: Channel
) -> None:
    async def may(user: User | None, location: Channel, guild_id: int = discord.guild.id) -> bool:
        channel = await rest.fetch_channel(location.id)
        return await may_read(rest, guild_id, channel, user.id if user else None)

    ben, chloe = discord.user("Ben"), discord.user("Chloe")
    thread, other = discord.thread(channel), discord.guild_channel("other")
    assert [await may(aiko, channel), await may(None, channel)] == [True, True]
    for permission in (Permission.VIEW_CHANNEL, Permission.READ_MESSAGE_HISTORY):
        discord.forbid(aiko, permission, channel)
        assert [await may(aiko, location) for location in (channel, thread, other)] == [False, False, True]
        discord.permit(aiko, permission, channel)
    private = discord.thread(channel, owner=ben, private=True)
    assert [await may(user, private) for user in (ben, aiko, None)] == [True, False, False]
    discord.add_to_thread(aiko, private)
    discord.permit(chloe, Permission.MANAGE_THREADS)
    assert [await may(user, private) for user in (aiko, chloe)] == [True, True]
    discord.hide(other, but_from=[aiko])
    assert [await may(user, other) for user in (aiko, None)] == [True, False]
    for user in (aiko, discord.owner):
        discord.forbid(user, Permission.VIEW_CHANNEL, channel)
    discord.permit(aiko, Permission.ADMINISTRATOR)
    assert [await may(user, channel) for user in (aiko, discord.owner)] == [True, True]
    assert not await may(aiko, channel, discord.add_guild("other").id)
    assert not await may(aiko, discord.dm(aiko))


async def test_a_locations_language_is_what_its_community_chose(discord: LoopbackDiscord, rest: Rest) -> None:
    locales, guild = GuildDirectory(), await rest.fetch_guild(discord.guild.id)
    locales.by_channel[1] = guild.id
    for features, chosen, expected in (
        (["COMMUNITY"], "en-GB", Locale.EN),
        (["COMMUNITY"], "ja", Locale.JA),
        ([], "en-US", None),  # a server that is no community has chosen none
    ):
        guild.features, guild.preferred_locale = features, chosen
        locales.store_profile(guild)
        assert locales.locale_of_channel(1) is expected


async def test_a_users_language_is_the_one_chosen_or_the_servers_or_the_one_they_write_in(
    discord: LoopbackDiscord, rest: Rest, stores: Stores
) -> None:
    recipients, guild = recipients_over(stores), await rest.fetch_guild(discord.guild.id)

    async def read(typed: str, user_id: int = 1) -> Locale:
        return (await recipients.for_author(5, user_id, typed)).locale

    assert [await read(typed) for typed in ("2+2?", "hello", "やあ", "TypeError: line 3")] == [
        *(Locale.JA, Locale.EN, Locale.JA, Locale.JA)
    ]
    guild.features, guild.preferred_locale = ["COMMUNITY"], "ja"
    recipients.guilds.store_profile(guild)
    recipients.guilds.by_channel[5] = guild.id
    assert await read("hello", 2) is Locale.JA
    await stores.settings.set(2, locale=Locale.EN)
    assert await read("やあ", 2) is Locale.EN
