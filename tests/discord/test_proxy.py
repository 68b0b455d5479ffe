"""HTTPS_PROXY, HTTP_PROXY and NO_PROXY hold for all that the bot asks of Discord."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from cc_bot.config import read_config
from cc_bot.discord.attachments import fetch_bytes
from cc_bot.discord.gateway import fetch_reading, gateway_bot
from cc_bot.domain.clock import utc_now
from cc_bot.domain.text import Locale
from cc_bot.features.doctor.services import check_discord
from cc_bot.proxy import proxy_for
from cc_bot.texts import texts
from tests.loopback.discord import File, LoopbackDiscord

OUTSIDE = "http://discord.example"
"""No name server knows it: only a proxy finds the way."""


@asynccontextmanager
async def a_proxy(discord: LoopbackDiscord) -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy to the double, and the addresses that each connection to it asked for first."""
    there, asked = urlsplit(discord.world.base_url), list[str]()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readline()
        asked.append(first.split()[1].decode())
        to_reader, to_writer = await asyncio.open_connection(there.hostname, there.port)
        to_writer.write(first)
        await asyncio.gather(copy(reader, to_writer), copy(to_reader, writer), return_exceptions=True)

    server = await asyncio.start_server(carry, "127.0.0.1")
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


async def ask_all(discord: LoopbackDiscord) -> None:
    """Everything that is asked of Discord: before the start, over REST, at its gateway, a file, and by the
    doctor."""
    assert await fetch_reading("all", discord.token, discord.api_url) == "all"
    bot = gateway_bot(discord.token, discord.api_url, "all")
    await bot.start(check_for_updates=False)
    await bot.close()
    stored = discord.world.keep(discord.guild_channel())(File("a.txt", b"abc", "text/plain"))
    assert await fetch_bytes(stored.url, 10) == b"abc"
    config = read_config({"DISCORD_TOKEN": discord.token, "DISCORD_API_URL": discord.api_url})
    found = await check_discord(config, texts(Locale.JA), no_commands, utc_now)
    assert {each.check for each in found} > {"token", "intents"}


async def no_commands() -> list[str]:
    return []


class TestProxy:
    async def test_of_the_environment_carries_all_but_what_no_proxy_names(
        self, discord: LoopbackDiscord, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with a_proxy(discord) as (url, asked):
            monkeypatch.setenv("HTTP_PROXY", url)
            monkeypatch.setenv("NO_PROXY", "127.0.0.1")
            await ask_all(discord)
            assert asked == []
            discord.world.base_url = OUTSIDE
            await ask_all(discord)
        paths = [urlsplit(each).path for each in asked]
        assert {urlsplit(each).netloc for each in asked} == {urlsplit(OUTSIDE).netloc}
        assert "/gateway" in paths
        assert any(path.startswith("/attachments/") for path in paths)

    def test_is_that_of_https_for_the_gateway_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
        for url in ("https://discord.com/api/v10", "wss://gateway.discord.gg/?v=10"):
            assert proxy_for(url) == "http://proxy.example:3128"
        monkeypatch.setenv("NO_PROXY", "localhost,.discord.gg")
        assert proxy_for("wss://gateway.discord.gg/?v=10") is None
        assert proxy_for("http://127.0.0.1:8080") is None
