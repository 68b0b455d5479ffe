import asyncio
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.architecture.test_layout import ROOT
from tests.attacks.bystander import bystander
from tests.attacks.hostile_web import ANSWERS
from tests.databases import DatabaseSettings
from tests.end_to_end.stage import Stage, ended, running_stage
from tests.loopback.discord import LoopbackDiscord, User
from tests.loopback.model_server import Call, calls, says

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def attacked(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    web = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.attacks.hostile_web"), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert web.stdout is not None
    settings = {
        **database_settings(),
        "TEST_WEB_PORT": (await web.stdout.readline()).decode().strip(),
        "PYTHONPATH": str(ROOT),
    }
    folder, discord = tmp_path_factory.mktemp("pages"), LoopbackDiscord(patience_s=180.0)
    async with running_stage(folder, settings, discord, module="tests.end_to_end.reading_program") as running:
        yield running
    web.kill()
    await web.wait()


async def ask_for_pages(stage: Stage, user: User, answer: str) -> None:
    """Ask for eight pages, which the model reads all at once."""
    urls = [f"http://{n}.example/{answer}/{n}" for n in range(8)]
    stage.model.script(calls(*(Call("read_page", {"url": url}) for url in urls)), says("はい。"))
    await ended(await stage.begin(user, stage.discord.guild_channel(), " ".join(urls)))


@pytest.mark.parametrize("answer", [*ANSWERS])
async def test_hostile_pages_hold_nobody_up(stage: Stage, answer: str) -> None:
    count = 8 if answer == "article" else 2
    attackers = [stage.discord.user(f"Attacker {number}", locale="ja") for number in range(count)]
    async with bystander(stage):
        await asyncio.gather(*(ask_for_pages(stage, user, answer) for user in attackers))
