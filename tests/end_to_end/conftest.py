from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

pytest.register_assert_rewrite("tests.end_to_end.stage")

from tests.databases import DatabaseSettings  # noqa: E402 - after asserts were made to explain themselves
from tests.end_to_end.agents import FILE, write_file  # noqa: E402
from tests.end_to_end.stage import Stage, running_stage  # noqa: E402
from tests.end_to_end.tool_calls import CLAIMED, ON_THEIR_WAY, hold_no_more  # noqa: E402
from tests.loopback.discord import Channel, LoopbackDiscord, User  # noqa: E402


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A program that tests share lives in one event loop, so they all run in that one."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_stage(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), database_settings()) as stage:
        yield stage


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def restarted_stage(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), database_settings()) as stage:
        yield stage


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def own_stage(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    database_settings: DatabaseSettings,
) -> AsyncIterator[Stage]:
    settings = {**database_settings(), **getattr(request.module, "SETTINGS", {})}
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def new_stage(tmp_path: Path, database_settings: DatabaseSettings) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path, database_settings()) as stage:
        yield stage


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stage_with_agents(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("cc-bot")
    write_file(folder, FILE)
    async with running_stage(folder, database_settings()) as stage:
        yield stage


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def reading_stage(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    """One that reads along in channels."""
    folder, discord = tmp_path_factory.mktemp("all"), LoopbackDiscord(message_content=True)
    async with running_stage(folder, {**database_settings(), "CC_BOT_CHANNELS": "all"}, discord) as stage:
        yield stage


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served_stage(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("cc-bot")
    async with running_stage(folder, database_settings(), module="tests.loopback.tool_servers") as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def tool_stage(served_stage: Stage) -> AsyncIterator[Stage]:
    """The same, with what its servers have and were asked forgotten; afterwards every call is settled."""
    for each in served_stage.program.folder.glob("*.json*"):
        each.unlink()
    hold_no_more(served_stage)
    yield served_stage
    hold_no_more(served_stage)
    await served_stage.eventually(CLAIMED, gives=[(0,)])
    await served_stage.eventually(ON_THEIR_WAY, gives=[(0,)])  # a model may be asked once more at the end
    served_stage.check()


@pytest.fixture
def one_of_the_stages(request: pytest.FixtureRequest) -> Stage:
    shared = "restarted_stage" if request.node.get_closest_marker("restarts") else "shared_stage"
    chosen: Stage = request.getfixturevalue(getattr(request.module, "STAGE", shared))
    return chosen


@pytest_asyncio.fixture(loop_scope="session")
async def stage(one_of_the_stages: Stage) -> AsyncIterator[Stage]:
    """The running program, with nothing recorded yet; what always holds is checked afterwards."""
    await one_of_the_stages.come_back()
    one_of_the_stages.forget()
    yield one_of_the_stages
    one_of_the_stages.quieten()
    one_of_the_stages.check()


@pytest.fixture
def aiko(stage: Stage) -> User:
    return stage.discord.user("Aiko", locale="ja")


@pytest.fixture
def ben(stage: Stage) -> User:
    return stage.discord.user("Ben", locale="en-US")


@pytest.fixture
def channel(stage: Stage) -> Channel:
    return stage.discord.guild_channel()
