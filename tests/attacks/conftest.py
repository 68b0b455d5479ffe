"""The running program that is attacked, and who attacks it. It is shared by what leaves it as it was."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.databases import DatabaseSettings
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, LoopbackDiscord, User
from tests.loopback.model_server import says


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def attacked(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    folder, discord = tmp_path_factory.mktemp("attacked"), LoopbackDiscord(patience_s=180.0)
    async with running_stage(folder, database_settings(), discord) as stage:
        stage.model.script(says("はい。"))  # so that what the first question loads is there
        await stage.ask(stage.discord.user("Cleo", locale="ja"), stage.discord.guild_channel())
        yield stage


@pytest.fixture
def stage(attacked: Stage) -> Stage:
    attacked.forget()
    return attacked


@pytest.fixture
def aiko(stage: Stage) -> User:
    return stage.discord.user("Aiko", locale="ja")


@pytest.fixture
def channel(stage: Stage) -> Channel:
    return stage.discord.guild_channel()
