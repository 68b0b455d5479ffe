"""The two programs that the smoke journeys share: one that is never ended, and one to kill and erase in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

pytest.register_assert_rewrite("tests.end_to_end.stage")

from tests.end_to_end import conftest as shared  # noqa: E402
from tests.end_to_end.stage import Stage, running_stage  # noqa: E402 - after its asserts are rewritten
from tests.loopback.discord import Channel  # noqa: E402
from tests.loopback.web import Answer, LoopbackWeb  # noqa: E402
from tests.mcp.running import hostile, write  # noqa: E402

WEATHER = Answer("<title>明日の天気</title><p>東京は雨、最高気温は十八度です。</p>".encode())
aiko, ben, channel, stage = shared.aiko, shared.ben, shared.channel, shared.stage


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A shared program lives in one event loop, so its tests all run in that one."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def reading_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A program with a web to read and a server of tools, `notes`, which has `echo` and `write`."""
    folder = tmp_path_factory.mktemp("cc-bot")
    (folder / "data").mkdir()
    write(folder / "data" / "mcp.json", {"notes": hostile("--count", folder / "calls.jsonl")})
    async with LoopbackWeb({"/weather": WEATHER}) as web:
        settings = {"TEST_WEB_PORT": str(web.port), "PYTHONPATH": str(Path(__file__).parents[2])}
        async with running_stage(folder, settings, module="tests.end_to_end.reading_program") as stage:
            await accept_tools(stage, "notes")
            yield stage


async def accept_tools(stage: Stage, server: str) -> None:
    """Accept a server's tools as the bot's owner: until then every change needs a press."""
    owner, channel = stage.discord.owner, stage.discord.guild_channel()
    await stage.eventually("SELECT server FROM tool_lists", gives=[(server,)])
    shown = await stage.told(owner, channel, "admin tools show", server=server)
    await stage.told(owner, channel, "admin tools accept", server=server, code=shown.rsplit("`", 2)[1])
    assert stage.rows("SELECT vouched FROM tool_lists") == [(1,)]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def restarted_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path_factory.mktemp("cc-bot"), {}) as stage:
        yield stage


@pytest.fixture
def one_of_the_stages(request: pytest.FixtureRequest) -> Stage:
    restarts = request.node.get_closest_marker("restarts")
    chosen: Stage = request.getfixturevalue("restarted_stage" if restarts else "reading_stage")
    return chosen


@pytest.fixture
def other_channel(stage: Stage) -> Channel:
    return stage.discord.guild_channel("other")
