"""A bot with two connections: each makes up for what was missed in its own servers, and in no others."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

import pytest
import pytest_asyncio

from tests.end_to_end.canvases import SHOPPING, board, draw
from tests.end_to_end.stage import Stage, set_stage
from tests.end_to_end.test_catch_up import asked_for, heard, is_stored, write
from tests.loopback.discord import Channel, Guild, LoopbackDiscord, User

UNKNOWN_CHANNEL = 10003
MESSAGE = "GET /channels/{channel}/messages/{message}"


def shard_of(guild: Guild) -> int:
    return (guild.id >> 22) % 2


@dataclass
class Servers:
    """One of each connection."""

    by_shard: dict[int, Guild]

    def channel(self, stage: Stage, shard: int) -> Channel:
        return stage.discord.guild_channel(guild=self.by_shard[shard])


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def two_shards(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Stage, Servers]]:
    discord = LoopbackDiscord(message_content=True, shards=2)
    async with set_stage(tmp_path_factory.mktemp("shards"), {"CC_BOT_CHANNELS": "all"}, discord) as stage:
        servers = {shard_of(discord.guild): discord.guild}
        while len(servers) < 2:
            await asyncio.sleep(0.001)  # a server's shard comes from the millisecond in which it was made
            guild = discord.add_guild("もう一つ")
            servers.setdefault(shard_of(guild), guild)
        await stage.start()
        yield stage, Servers(servers)


@pytest_asyncio.fixture(loop_scope="session")
async def stage(two_shards: tuple[Stage, Servers]) -> AsyncIterator[Stage]:
    stage, _ = two_shards
    count_anew(stage)
    yield stage
    stage.check()


@pytest.fixture
def first(stage: Stage, two_shards: tuple[Stage, Servers]) -> Channel:
    return two_shards[1].channel(stage, 0)


@pytest.fixture
def second(stage: Stage, two_shards: tuple[Stage, Servers]) -> Channel:
    return two_shards[1].channel(stage, 1)


def count_anew(stage: Stage) -> None:
    stage.forget()
    stage.excused.add(UNKNOWN_CHANNEL)  # one test deletes a channel, and the database keeps its messages


class TestALostConnection:
    async def test_is_made_up_for_in_its_own_servers_alone(
        self, stage: Stage, aiko: User, first: Channel, second: Channel
    ) -> None:
        places = (first, second)
        for place in places:
            await heard(stage, aiko, place, "切れる前")
            await draw(stage, aiko, place, SHOPPING)
            await board(stage, place)
        for lost in (0, 1):
            count_anew(stage)
            held = stage.discord.world.gateway.held[lost] = asyncio.Event()
            await stage.discord.drop_gateway(resumable=False, shard=lost)
            for place in places:
                await write(stage, aiko, place, f"切れている間{lost}")
            held.set()
            await stage.program.lives_until(stage.discord.ready())
            for place in places:
                await is_stored(stage, place, f"切れている間{lost}")
            await stage.discord.wait(partial(looks, stage, places[lost]), "a look at the canvas")
            await stage.discord.quiet(0.5)
            assert [len(asked_for(stage, place)) for place in places] == [lost == 0, lost == 1]
            assert [looks(stage, place) for place in places] == [lost == 0, lost == 1]


def looks(stage: Stage, place: Channel) -> int:
    """How often a message of a place was asked for."""
    return sum(call.params["channel"] == str(place.id) for call in stage.discord.calls(MESSAGE))
