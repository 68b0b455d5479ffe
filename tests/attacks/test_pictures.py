"""Users who send as many and as large pictures as a question may have, to the running program."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

import pytest
import pytest_asyncio

from tests.attacks.bystander import bystander
from tests.databases import DatabaseSettings
from tests.end_to_end.stage import Stage, ended, running_stage
from tests.loopback.discord import Channel, File, LoopbackDiscord, User

pytestmark = pytest.mark.asyncio(loop_scope="session")

MAX_GROWTH_MIB: Final = 300
"""By those of many users. Without a bound they take 490."""
ROUNDS: Final = 6
MANY: Final = 20
"""Users, who together send 360 MB at once."""
PICTURE: Final = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"x" * 4_500_000
FILES: Final = {
    name: File(f"{name}.png", PICTURE, "image/png")
    for name in ("attachment", "attachment2", "attachment3", "attachment4")
}


@pytest_asyncio.fixture(loop_scope="session")
async def stage(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    folder, discord = tmp_path_factory.mktemp("pictures"), LoopbackDiscord(patience_s=60.0)
    async with running_stage(folder, database_settings(), discord) as stage:
        stage.model.responder = lambda _: "はい。"
        await stage.ask(stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel())
        yield stage


async def send(stage: Stage, users: Sequence[User], channel: Channel) -> None:
    """Have each of them ask about all these pictures, and wait for the answers."""
    begun = [stage.begin(user, channel, "?", private=True, **FILES) for user in users]
    ends = await asyncio.gather(*map(ended, await asyncio.gather(*begun)))
    assert all("はい。" in reply.text for reply in ends)
    stage.model.requests.clear()  # the doubles keep what they saw


async def test_of_one_user_in_one_conversation(stage: Stage) -> None:
    aiko, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
    async with bystander(stage, stage.discord.guild_channel()):
        for _ in range(ROUNDS):
            await send(stage, (aiko,), channel)


async def test_of_many_users_at_once(stage: Stage) -> None:
    users = [stage.discord.user(f"Aiko {number}", locale="ja") for number in range(MANY)]
    channel, elsewhere = stage.discord.guild_channel(), stage.discord.guild_channel()
    async with bystander(stage, elsewhere, max_growth_mib=MAX_GROWTH_MIB):
        await send(stage, users, channel)
