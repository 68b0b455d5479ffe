import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.test_layout import ROOT
from tests.attacks.bystander import MAX_GROWTH_MIB, bystander
from tests.attacks.heavy_server import FLOODS, LISTS, RESULTS
from tests.end_to_end.stage import Stage, ended, set_stage
from tests.end_to_end.test_tool_servers import accept, name_servers, results_of
from tests.loopback.discord import LoopbackDiscord
from tests.loopback.model_server import Call, calls, says
from tests.mcp.running import closed_port

RULES = {"timeout_s": 10, "approve": "never", "local": ["*"]}
STDIO = [*RESULTS, *LISTS, *FLOODS, "errors"]
HTTP = [
    "halves",
    "long_numbers",
    "a_million_keys",
    "thirty_thousand_parts",
    "some_depth",
    "one_byte_chunks",
    "blank_lines",
    "punycode",
    "lines_of_data",
    "forms",
    "samples",
]
AT_ONCE = 4
"""Servers of one program: so each attack stays short."""


def groups(names: list[str]) -> list[list[str]]:
    others = [name for name in names if name != "picture"]
    return [["picture"]] * ("picture" in names) + [
        others[at : at + AT_ONCE] for at in range(0, len(others), AT_ONCE)
    ]


@asynccontextmanager
async def served(folder: Path, servers: dict[str, Any]) -> AsyncIterator[Stage]:
    name_servers(folder, **servers)
    discord = LoopbackDiscord(patience_s=120.0)
    async with set_stage(folder, {"CC_BOT_LOCALE": "en"}, discord) as stage:
        await stage.start()
        told, channel = "starting", stage.discord.guild_channel()
        async with asyncio.timeout(60):
            while "starting" in told or not told:
                told = await stage.told(stage.discord.owner, channel, "admin tools show")
        for server in servers:
            with suppress(IndexError, ValueError):  # of what was never there nothing is known
                await accept(stage, stage.discord.owner, server)
        stage.model.script(says("はい。"))  # so that what the first question loads is there
        await stage.ask(stage.discord.user("Cleo", locale="ja"), channel, "?")
        yield stage


async def look_with_each(stage: Stage, names: list[str]) -> list[str]:
    aiko = stage.discord.user("Aiko", locale="ja")
    told = list[str]()
    # A picture of 8 MB also goes to the model and to Discord, as one of a user's does.
    async with bystander(stage, max_growth_mib=150 if names == ["picture"] else MAX_GROWTH_MIB):
        for name in names:
            stage.model.script(calls(Call(f"{name}__look", {"text": "a"})), says("はい。"))
            await ended(await stage.begin(aiko, stage.discord.guild_channel(), f"{name}?"))
            told += results_of(stage)
    return told


@pytest.mark.parametrize("names", groups(STDIO), ids=lambda names: names[0])
async def test_a_program_that_sends_the_worst_holds_up_nobody_else(tmp_path: Path, names: list[str]) -> None:
    heavy = {"command": sys.executable, "env": {"PYTHONPATH": str(ROOT)}, "cc_bot": RULES}
    servers = {name: {**heavy, "args": ["-m", "tests.attacks.heavy_server", "stdio", name]} for name in names}
    async with served(tmp_path, servers) as stage:
        told = await look_with_each(stage, names)
    assert len(told) == len(names)


@pytest.mark.parametrize("form", ["json", "events"])
@pytest.mark.parametrize("names", groups(HTTP), ids=lambda names: names[0])
async def test_a_server_over_http_that_sends_the_worst_holds_up_nobody_else(
    tmp_path: Path, names: list[str], form: str
) -> None:
    port = closed_port()
    heavy = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.attacks.heavy_server", str(port)), cwd=ROOT
    )
    servers = {name: {"url": f"http://127.0.0.1:{port}/{form}/{name}", "cc_bot": RULES} for name in names}
    try:
        async with served(tmp_path, servers) as stage:
            told = await look_with_each(stage, names)
    finally:
        heavy.kill()
        await heavy.wait()
    assert len(told) == len(names)
