"""The real REST client between a test and the loopback Discord, over a real database: without a program."""

from collections.abc import AsyncIterator
from pathlib import Path

import hikari
import pytest

from cc_bot.chat.stores.opening import Stores, open_stores
from tests.databases import laid_out
from tests.discord.parts import BotChannel
from tests.loopback.discord import Allowance, Channel, LoopbackDiscord, User

ROOMY = Allowance(500, 1.0)


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(message_content=True, channel_rate=ROOMY, global_rate=ROOMY) as double:
        yield double


@pytest.fixture
async def rest(discord: LoopbackDiscord) -> AsyncIterator[hikari.api.RESTClient]:
    app = hikari.RESTApp(url=discord.api_url, max_retries=0)
    await app.start()
    try:
        async with app.acquire(discord.token, hikari.TokenType.BOT) as client:
            yield client
    finally:
        await app.close()


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as opened:
        yield opened


@pytest.fixture
def aiko(discord: LoopbackDiscord) -> User:
    return discord.user("Aiko", locale="ja")


@pytest.fixture
def channel(discord: LoopbackDiscord) -> Channel:
    return discord.guild_channel()


@pytest.fixture
def location(
    discord: LoopbackDiscord,
    rest: hikari.api.RESTClient,
    stores: Stores,
    tmp_path: Path,
    aiko: User,
    channel: Channel,
) -> BotChannel:
    return BotChannel(discord, rest, stores, tmp_path, aiko, channel)
