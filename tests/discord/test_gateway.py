"""Before and beside the connection: what the bot may read, and how it keeps to Discord's limits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import cast

import hikari
import pytest

from cc_bot.db.process import Shard
from cc_bot.discord.gateway import RateLimitShare, check_token, fetch_reading, pace_requests
from cc_bot.domain.errors import DiscordUnreachable, RefusedToken
from cc_bot.domain.message import ChannelReading
from tests.discord.parts import BotChannel
from tests.loopback.discord import Allowance, LoopbackDiscord

APPLICATION = "GET /applications/@me"
ROOMY = Allowance(50, 1.0)


async def granted(discord: LoopbackDiscord, wanted: ChannelReading = "all") -> ChannelReading:
    return await fetch_reading(wanted, discord.token, discord.api_url)


class TestReading:
    async def test_of_everything_is_granted_by_either_flag_and_else_becomes_mentions(self) -> None:
        for intent, verified, reading in (
            (True, False, "all"),
            (True, True, "all"),
            (False, False, "mentions"),
        ):
            async with LoopbackDiscord(message_content=intent, verified=verified) as discord:
                assert await granted(discord) == reading

    async def test_is_asked_for_again_when_discord_fails_and_not_at_all_for_less(
        self, discord: LoopbackDiscord
    ) -> None:
        assert [await granted(discord, wanted) for wanted in ("off", "mentions")] == ["off", "mentions"]
        assert discord.calls(APPLICATION) == []
        discord.fail_next(APPLICATION, 503)
        assert await granted(discord) == "all"

    async def test_is_not_known_of_a_refused_token_or_without_a_connection(
        self, discord: LoopbackDiscord
    ) -> None:
        check_token(discord.token)
        with pytest.raises(RefusedToken):
            await fetch_reading("all", discord.other_token, discord.api_url)
        with pytest.raises(DiscordUnreachable):
            await fetch_reading("all", discord.token, "http://127.0.0.1:9/api/v10")
        for token in ("ｔｏｋｅｎ あ", "token", "a.b.c"):
            with pytest.raises(RefusedToken):
                check_token(token)


class TestAShard:
    async def test_has_the_channels_of_its_servers_and_the_first_also_dms(self, location: BotChannel) -> None:
        shards, dm = location.shards, location.discord.dm(location.aiko)
        shards.guilds.by_channel[1] = 5 << 22

        async def having(channel_id: int) -> list[int]:
            return [number for number in range(4) if await shards.gets_events(Shard(number, 4), channel_id)]

        assert [await having(1), await having(dm.id)] == [[1], [0]]
        for status, expected in ((403, [0]), (503, [0, 1, 2, 3])):
            location.discord.fail_next("GET /channels/{channel}", status, times=4)
            assert await having(7) == expected


@asynccontextmanager
async def client(
    discord: LoopbackDiscord, share: RateLimitShare | None
) -> AsyncIterator[hikari.api.RESTClient]:
    bot = hikari.GatewayBot(discord.token, rest_url=discord.api_url, banner=None, max_retries=0)
    if share:
        pace_requests(bot.rest, share)
    rest = cast("hikari.impl.RESTClientImpl", bot.rest)
    rest.start()
    try:
        yield rest
    finally:
        await rest.close()


@asynccontextmanager
async def opened(
    *, channel: Allowance = ROOMY, everywhere: Allowance = ROOMY, share: RateLimitShare | None = None
) -> AsyncIterator[tuple[LoopbackDiscord, hikari.api.RESTClient]]:
    async with (
        LoopbackDiscord(channel_rate=channel, global_rate=everywhere) as discord,
        client(discord, share) as rest,
    ):
        yield discord, rest


class TestTheBotsOwnLimit:
    @pytest.mark.slow
    async def test_is_kept_to_before_discord_refuses_by_several_processes_together(self) -> None:
        async with LoopbackDiscord(global_rate=ROOMY) as discord, AsyncExitStack() as clients:
            share = RateLimitShare(lambda: True, lambda: 4)
            several = [await clients.enter_async_context(client(discord, share)) for _ in range(4)]
            channels = [discord.guild_channel(f"c{n}").id for n in range(20)]
            await asyncio.gather(*(rest.fetch_channel(channel) for rest in several for channel in channels))
            assert discord.violations == []

    async def test_leaves_nothing_to_a_process_that_is_buried(self) -> None:
        async with opened(share=RateLimitShare(lambda: False)) as (discord, rest):
            with pytest.raises(hikari.ComponentStateConflictError):
                await rest.fetch_channel(discord.guild_channel().id)
            assert discord.transcript == []

    async def test_holds_up_no_channel_by_anothers(self) -> None:
        """The route was never used before, and each channel has a limit of its own."""
        never = Allowance(5, 3600.0)
        async with opened(channel=never, share=RateLimitShare()) as (discord, rest):
            channels = [discord.guild_channel(f"c{n}").id for n in range(20)]
            async with asyncio.timeout(60):
                await asyncio.gather(*(rest.create_message(channel, "やあ") for channel in channels))
