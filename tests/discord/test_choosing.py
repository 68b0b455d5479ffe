"""Which models play the agent that answers: its own, else those of the place."""

from collections.abc import AsyncIterator
from pathlib import Path

import hikari
import pytest

from cc_bot.discord.agents import Chooser
from cc_bot.domain import ChannelKey, SessionKey
from cc_bot.stores import Stores, open_stores
from tests.databases import laid_out
from tests.discord.choosing import chooser_over
from tests.loopback.discord import LoopbackDiscord

CHANNEL, THREAD, OWNER = 5, 6, 9
FILE = """
[agents.tutor]
prompt = "You teach."
model = ["teacher"]
"""


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db"), embedder=None) as stores:
        yield stores


@pytest.fixture
def chooser(stores: Stores, discord: LoopbackDiscord, rest: hikari.api.RESTClient, tmp_path: Path) -> Chooser:
    file = tmp_path / "agents.toml"
    file.write_text(FILE, encoding="utf-8")
    return chooser_over(stores, rest, file)


async def models_in(chooser: Chooser, key: ChannelKey) -> tuple[str, ...]:
    return (await chooser.in_channel(key)).models


class TestModels:
    async def test_are_the_operators_where_nobody_chose_any(self, chooser: Chooser) -> None:
        assert await models_in(chooser, ChannelKey(CHANNEL)) == ()

    async def test_of_a_thread_go_before_those_of_its_channel(self, chooser: Chooser, stores: Stores) -> None:
        await stores.channel_models.set(CHANNEL, ("large",), set_by=OWNER)
        assert await models_in(chooser, ChannelKey(CHANNEL, THREAD)) == ("large",)
        await stores.channel_models.set(THREAD, ("small", "tiny"), set_by=OWNER)
        assert await models_in(chooser, ChannelKey(CHANNEL, THREAD)) == ("small", "tiny")
        assert await models_in(chooser, ChannelKey(CHANNEL)) == ("large",)

    async def test_play_whoever_speaks_there_unasked(
        self, chooser: Chooser, stores: Stores, discord: LoopbackDiscord
    ) -> None:
        channel = discord.guild_channel()
        thread = discord.thread(channel)
        await stores.channel_models.set(channel.id, ("large",), set_by=OWNER)
        speaker = await chooser.choose_speaker(SessionKey(1, thread.id, "gone"), discord.guild.id)
        assert (speaker.name, speaker.models) == ("default", ("large",))
        speaker = await chooser.choose_speaker(SessionKey(1, channel.id, "tutor"), discord.guild.id)
        assert (speaker.name, speaker.models) == ("tutor", ("teacher",))

    async def test_of_an_agent_go_before_those_of_the_channel(self, chooser: Chooser, stores: Stores) -> None:
        await stores.channel_models.set(CHANNEL, ("large",), set_by=OWNER)
        await stores.agents.set_default(CHANNEL, 1, "tutor", OWNER)
        assert await models_in(chooser, ChannelKey(CHANNEL)) == ("teacher",)
