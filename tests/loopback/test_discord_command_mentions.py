"""Mentions of commands: what their reader sees, and which of them Discord would not show."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.loopback.discord import LoopbackDiscord
from tests.loopback.discord.interactions import Callback
from tests.loopback.discord.raw import RawBot

Body = dict[str, Any]
MEMORY: Body = {
    "name": "memory",
    "name_localizations": {"ja": "メモリ"},
    "description": "Memories",
    "options": [
        {"type": 1, "name": "add", "name_localizations": {"ja": "追加"}, "description": "Keeps"},
    ],
}


@pytest.fixture
async def discord() -> AsyncIterator[LoopbackDiscord]:
    async with LoopbackDiscord() as double:
        yield double


@pytest.fixture
async def bot(discord: LoopbackDiscord) -> AsyncIterator[RawBot]:
    async with RawBot(discord) as raw:
        await raw.register(MEMORY)
        yield raw


async def shown(bot: RawBot, discord: LoopbackDiscord, data: Body, locale: str = "ja") -> str:
    """The bot's answer as its reader sees it; `ID` stands for that of the command."""
    reply = await discord.slash(discord.user("Aiko", locale=locale), discord.guild_channel(), "memory add")
    number = discord.commands[0].id
    await bot.answer(reply, Callback.MESSAGE, json.loads(json.dumps(data).replace("ID", str(number))))
    return reply.text


class TestMention:
    @pytest.mark.parametrize(("locale", "name"), [("ja", "/メモリ 追加"), ("en-US", "/memory add")])
    async def test_is_read_in_its_readers_language(
        self, bot: RawBot, discord: LoopbackDiscord, locale: str, name: str
    ) -> None:
        assert await shown(bot, discord, {"content": "</memory add:ID>"}, locale) == name
        embed = {"description": "</memory add:ID>", "fields": [{"name": "?", "value": "</memory add:ID>"}]}
        assert await shown(bot, discord, {"embeds": [embed]}, locale) == f"{name}\n?\n{name}"
        assert discord.misnamed_commands == []

    @pytest.mark.parametrize(
        "data",
        [
            {"content": "</memory add>"},
            {"content": "</memory add:1>"},
            {"content": "</memory:ID>"},
            {"content": "</memory drop:ID>"},
            {"content": "`</memory add:ID>`"},
            {"content": "```\n</memory add:ID>\n```"},
            {"embeds": [{"title": "</memory add:ID>"}]},
            {"embeds": [{"description": "x", "footer": {"text": "</memory add:ID>"}}]},
            {"embeds": [{"fields": [{"name": "</memory add:ID>", "value": "x"}]}]},
        ],
    )
    async def test_that_discord_would_not_show_is_found(
        self, bot: RawBot, discord: LoopbackDiscord, data: Body
    ) -> None:
        await shown(bot, discord, data)
        assert len(discord.misnamed_commands) == 1

    async def test_is_no_other_mark(self, bot: RawBot, discord: LoopbackDiscord) -> None:
        assert await shown(bot, discord, {"content": "`<b>x</b>` <@1>"}) == "`<b>x</b>` <@1>"
        assert discord.misnamed_commands == []
