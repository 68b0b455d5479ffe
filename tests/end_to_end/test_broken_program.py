"""A bot that lacks a part of itself must not start: Discord would lose the missing commands."""

import shutil
from pathlib import Path

import pytest

import cc_bot
from tests.end_to_end.stage import set_stage

pytestmark = pytest.mark.slow

SOURCE = Path(str(cc_bot.__file__)).parent


async def test_an_extension_that_does_not_load_stops_the_start(tmp_path: Path) -> None:
    # A program of its own: what stands in the folder it is started in comes before what is installed.
    copy = tmp_path / "cc_bot"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "discord" / "commands" / "broken.py").write_text("import no_such_module\n", encoding="utf-8")
    async with set_stage(tmp_path, {"CC_BOT_LOCALE": "en"}) as stage:
        stage.program.from_nothing = True
        code, output = await stage.program.run("run")
        assert code == 2
        assert "cc_bot.discord.commands.broken" in output.splitlines()[-1]
        assert "Traceback" not in output
        assert stage.discord.command_writes == 0
