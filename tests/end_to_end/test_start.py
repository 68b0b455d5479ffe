"""When the program can't start as it is set up: one sentence, exit code 2, no traceback."""

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from cc_bot.domain.errors import RefusedToken
from cc_bot.domain.text import Locale
from cc_bot.texts import explain, texts
from cc_bot.texts.cli import CliTexts
from tests.end_to_end.stage import Stage, set_stage
from tests.loopback.discord.refusals import Refusal
from tests.loopback.model_server import says

pytestmark = pytest.mark.slow
EN = texts(Locale.EN)
APPLICATION, GATEWAY = "GET /oauth2/applications/@me", "GET /gateway/bot"
COMMANDS = "PUT /applications/{application}/commands"


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Everything in its place, and the program not started yet."""
    async with set_stage(tmp_path, {"CC_BOT_LOCALE": "en"}) as stage:
        yield stage


async def last_words(stage: Stage, **settings: str) -> str:
    before = dict(stage.program.environment)
    stage.program.environment |= settings
    code, output = await stage.program.run("run")
    stage.program.environment = before
    assert code == 2, output
    assert "Traceback" not in output
    return output.strip().splitlines()[-1]


async def test_a_database_or_port_of_another_program_is_told_before_anybody_logs_in(stage: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        assert "CC_BOT_WEB_PORT" in await last_words(stage, CC_BOT_WEB_PORT=taken)
        assert f"127.0.0.1:{taken}" in await last_words(stage, CC_BOT_METRICS_PORT=taken)
    assert stage.discord.world.gateway.identifies == 0
    await stage.start()
    async with set_stage(stage.program.folder, {"CC_BOT_LOCALE": "en"}) as second:
        assert (await last_words(second)).startswith("Another cc-bot is using")


async def test_discord_that_refuses_or_is_away_is_told(stage: Stage) -> None:
    refused = explain(RefusedToken(), EN).splitlines()[-1]
    for token in (stage.discord.other_token, "ｔｏｋｅｎ あ"):
        assert await last_words(stage, DISCORD_TOKEN=token) == refused
    away = await last_words(stage, DISCORD_API_URL="http://127.0.0.1:9/api/v10")
    assert away.startswith("Discord can't be reached.")
    await stage.start()
    assert {command.name for command in stage.discord.commands} >= {"ask", "memory", "settings"}
    await stage.discord.drop_gateway(4004, resumable=False)
    assert await stage.program.ended() == 2
    assert stage.program.output.strip().splitlines()[-1] == refused
    assert "Traceback" not in stage.program.output


async def test_discord_that_fails_or_takes_no_commands_is_outlasted(stage: Stage) -> None:
    ben = stage.discord.user("Ben", locale="en-US")
    for route, times in ((APPLICATION, 2), (GATEWAY, 2), (COMMANDS, 1)):
        stage.discord.fail_next(route, 502, times=times)
    stage.discord.refuse(COMMANDS, Refusal(403, 50001, "Missing Access"))
    stage.program.environment["CC_BOT_CHANNELS"] = "all"
    await stage.program.start("run")
    await stage.program.lives_until(stage.discord.wait(lambda: stage.discord.connected, "a connection"))
    message = await stage.discord.post(ben, stage.discord.dm(ben), "Are you there?")
    stage.model.script(says("Here I am."))
    await stage.says(message, "Here I am.")
    assert stage.discord.calls(COMMANDS, status=200) == []
    stage.discord.faults.forget()
    await stage.discord.wait(lambda: stage.discord.commands, "commands")
    told = [
        EN[CliTexts].discord_fails.format(detail="HTTP 502"),
        EN[CliTexts].commands_not_registered.format(detail="HTTP 502"),
    ]
    assert [stage.program.output.count(each) for each in told] == [2, 1]
    assert stage.program.output.count("commands_not_registered") == 1
