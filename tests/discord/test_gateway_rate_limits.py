"""Waits for Discord's limits are told: the real hikari waits, for a double that counts as Discord does."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import hikari
import pytest

from cc_bot.discord.gateway import (
    AT_ONCE,
    REFUSALS,
    WAITS,
    RestShare,
    hold_to_the_limit,
    observe_rate_limits,
)
from cc_bot.domain.measures import Held, NullMeter
from tests.loopback.discord import Allowance, LoopbackDiscord

POST = "POST /channels/{channel}/messages"
ROOMY = Allowance(50, 1.0)


@dataclass
class Waits(NullMeter):
    noted: list[tuple[Held, float | None]] = field(default_factory=list)

    def record_rate_limit(self, held: Held, seconds: float | None) -> None:
        self.noted.append((held, seconds))


@asynccontextmanager
async def posting(
    *, channel: Allowance = ROOMY, everywhere: Allowance = ROOMY
) -> AsyncIterator[tuple[LoopbackDiscord, hikari.api.RESTClient, int]]:
    async with LoopbackDiscord(channel_rate=channel, global_rate=everywhere) as discord:
        app = hikari.RESTApp(url=discord.api_url, max_retries=0)
        await app.start()
        async with app.acquire(discord.token, hikari.TokenType.BOT) as rest:
            yield discord, rest, discord.guild_channel().id
        await app.close()


@pytest.fixture
def waits() -> Waits:
    return Waits()


class TestWaits:
    async def test_for_a_route_whose_limit_is_used_up_are_told_with_their_length(self, waits: Waits) -> None:
        async with posting(channel=Allowance(1, 0.1)) as (_, rest, channel):
            with observe_rate_limits(waits):
                for _ in range(2):
                    await rest.create_message(channel, "やあ")
        assert [held for held, _ in waits.noted] == ["bucket"]
        seconds = waits.noted[0][1]
        assert seconds is not None
        assert 0 < seconds <= 0.11

    async def test_after_a_refusal_are_told_as_far_as_they_are_known(self, waits: Waits) -> None:
        async with posting() as (discord, rest, channel):
            discord.fail_next(POST, 429, retry_after_s=0.01)
            with observe_rate_limits(waits):
                await rest.create_message(channel, "やあ")
        assert waits.noted == [("refused", None)]

    async def test_for_the_bots_own_limit_are_told(self, waits: Waits) -> None:
        async with posting(everywhere=Allowance(1, 0.1)) as (_, rest, channel):
            with observe_rate_limits(waits):
                for _ in range(2):
                    await rest.create_message(channel, "やあ")
        assert "global" in [held for held, _ in waits.noted]

    async def test_are_not_told_any_more_afterwards(self, waits: Waits) -> None:
        with observe_rate_limits(waits):
            pass
        async with posting() as (discord, rest, channel):
            discord.fail_next(POST, 429, retry_after_s=0.01)
            await rest.create_message(channel, "やあ")
        assert waits.noted == []


@asynccontextmanager
async def held(*, everywhere: Allowance) -> AsyncIterator[tuple[LoopbackDiscord, hikari.api.RESTClient]]:
    async with LoopbackDiscord(global_rate=everywhere) as discord, client(discord, RestShare()) as rest:
        yield discord, rest


@asynccontextmanager
async def client(discord: LoopbackDiscord, share: RestShare) -> AsyncIterator[hikari.api.RESTClient]:
    bot = hikari.GatewayBot(discord.token, rest_url=discord.api_url, banner=None, max_retries=0)
    hold_to_the_limit(bot.rest, share)
    rest = cast("hikari.impl.RESTClientImpl", bot.rest)
    rest.start()
    try:
        yield rest
    finally:
        await rest.close()


class TestTheBotsOwnLimit:
    async def test_is_kept_to_before_discord_refuses(self) -> None:
        async with held(everywhere=Allowance(50, 1.0)) as (discord, rest):
            channels = [discord.guild_channel(f"c{n}").id for n in range(3 * AT_ONCE)]
            found = await asyncio.gather(*(rest.fetch_channel(channel) for channel in channels))
            assert [int(channel.id) for channel in found] == channels
            assert discord.violations == []

    async def test_is_kept_to_by_several_processes_together(self) -> None:
        async with LoopbackDiscord(global_rate=Allowance(50, 1.0)) as discord, AsyncExitStack() as opened:
            share = RestShare(lambda: True, lambda: 4)
            clients = [await opened.enter_async_context(client(discord, share)) for _ in range(4)]
            channels = [discord.guild_channel(f"c{n}").id for n in range(20)]
            await asyncio.gather(*(rest.fetch_channel(channel) for rest in clients for channel in channels))
            assert discord.violations == []

    async def test_leaves_each_of_very_many_processes_something(self) -> None:
        share = RestShare(lambda: True, lambda: 10 * AT_ONCE)
        async with LoopbackDiscord() as discord, client(discord, share) as rest:
            channel = discord.guild_channel().id
            assert (await rest.fetch_channel(channel)).id == channel

    async def test_is_no_ones_who_is_buried(self) -> None:
        async with LoopbackDiscord() as discord, client(discord, RestShare(lambda: False)) as rest:
            with pytest.raises(hikari.ComponentStateConflictError):
                await rest.fetch_channel(discord.guild_channel().id)
            assert discord.transcript == []

    async def test_holds_up_no_channel_by_anothers(self) -> None:
        """The route was never used before, and each channel has a limit of its own."""
        async with held(everywhere=Allowance(50, 1.0)) as (discord, rest):
            channels = [discord.guild_channel(f"c{n}").id for n in range(20)]
            async with asyncio.timeout(14):  # at one channel's limit it takes 15
                await asyncio.gather(*(rest.create_message(channel, "やあ") for channel in channels))

    async def test_is_waited_for_by_routes_that_were_never_used(self) -> None:
        async with held(everywhere=Allowance(1, 0.2)) as (discord, rest):
            await rest.fetch_my_user()
            await asyncio.gather(rest.fetch_application(), rest.fetch_channel(discord.guild_channel().id))
            assert len(discord.violations) <= 4


class TestTheLog:
    def test_is_as_loud_as_before(self, waits: Waits, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.WARNING)
        logger = logging.getLogger(WAITS)
        with observe_rate_limits(waits):
            logger.debug("you are being rate limited on bucket %s, backing off for %ss", "b", 0.5)
            logger.warning("you are being globally rate limited for %ss", 2)
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert waits.noted == [("bucket", 0.5), ("global", 2.0)]

    def test_is_left_as_it_was(self, waits: Waits) -> None:
        loggers = [logging.getLogger(name) for name in (WAITS, REFUSALS)]
        before = [(logger.level, list(logger.filters)) for logger in loggers]
        with observe_rate_limits(waits):
            pass
        assert [(logger.level, list(logger.filters)) for logger in loggers] == before
