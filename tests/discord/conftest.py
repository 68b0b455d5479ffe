"""The real REST client between a test and the loopback Discord; no gateway, no program."""

from collections.abc import AsyncIterator

import hikari
import pytest

from tests.loopback.discord import LoopbackDiscord


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord(message_content=True) as double:
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
