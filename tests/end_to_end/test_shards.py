"""A bot with two connections: each makes up for what was missed in its own servers, and in no others."""

import asyncio
from pathlib import Path

import pytest

from tests.end_to_end.stage import set_stage
from tests.end_to_end.test_catch_up import asked_for, heard, is_stored, write
from tests.loopback.discord import LoopbackDiscord

pytestmark = pytest.mark.slow


async def test_a_loss_is_made_up_for_in_its_own_servers_alone(tmp_path: Path) -> None:
    discord = LoopbackDiscord(message_content=True, shards=2)
    async with set_stage(tmp_path, {"CC_BOT_CHANNELS": "all"}, discord) as stage:
        servers = {(discord.guild.id >> 22) % 2: discord.guild}
        while len(servers) < 2:
            await asyncio.sleep(0.001)  # a server's shard comes from the millisecond in which it was made
            guild = discord.add_guild("もう一つ")
            servers.setdefault((guild.id >> 22) % 2, guild)
        await stage.start()
        aiko = discord.user("Aiko", locale="ja")
        locations = [discord.guild_channel(guild=servers[shard]) for shard in (0, 1)]
        for location in locations:
            await heard(stage, aiko, location, "切れる前")
        for lost in (0, 1):
            stage.forget()
            held = stage.discord.world.gateway.held[lost] = asyncio.Event()
            await stage.discord.drop_gateway(resumable=False, shard=lost)
            for location in locations:
                await write(stage, aiko, location, f"切れている間{lost}")
            held.set()
            await stage.program.lives_until(stage.discord.ready())
            for location in locations:
                await is_stored(stage, location, f"切れている間{lost}")
            await stage.discord.quiet(0.5)
            assert [len(asked_for(stage, location)) for location in locations] == [lost == 0, lost == 1]
        stage.check()
