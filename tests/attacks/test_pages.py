"""Addresses of an attacker's own server, eight in a question, while somebody else uses the bot."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.architecture.test_layout import ROOT
from tests.attacks.bystander import MAX_GROWTH_MIB, bystander
from tests.attacks.hostile_web import ANSWERS
from tests.databases import DatabaseSettings
from tests.end_to_end.stage import Stage, ended, running_stage
from tests.loopback.discord import LoopbackDiscord, User
from tests.loopback.model_server import Call, calls, says

pytestmark = pytest.mark.asyncio(loop_scope="session")

MAX_TREE_GROWTH_MIB = 400
"""Two processes at a time make text of pages, in 40 to 160 MiB each, and are gone afterwards. The kernel ends
them first where memory runs out; what counts is the bot's own process."""


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


def peak_mib(process_id: int) -> float:
    """Most resident memory that a process ever had."""
    [line] = (each for each in Path(f"/proc/{process_id}/status").read_text().split("\n") if "VmHWM" in each)
    return int(line.split()[1]) / 1024


@pytest.mark.parametrize("answer", [*ANSWERS])
async def test_hostile_pages_hold_nobody_up(stage: Stage, answer: str) -> None:
    attackers = [stage.discord.user(f"Attacker {number}", locale="ja") for number in range(2)]
    before_mib = peak_mib(stage.program.process_id)
    async with bystander(stage, max_growth_mib=MAX_TREE_GROWTH_MIB):
        await asyncio.gather(*(ask_for_pages(stage, user, answer) for user in attackers))
    assert peak_mib(stage.program.process_id) - before_mib < MAX_GROWTH_MIB
