"""The commands of an operator, run as a process."""

import re
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end.program import Program


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path, {})


def english(tmp_path: Path, **more: str) -> Program:
    return Program(tmp_path, {"CC_BOT_LOCALE": "en", **more})


class TestHelp:
    async def test_lists_the_commands_in_the_operators_language(self, program: Program) -> None:
        code, output = await program.run("--help")
        assert code == 0
        assert all(command in output for command in ("run", "chat", "backup", "migrate"))
        assert "ターミナルで話します" in output

    async def test_needs_neither_discord_nor_a_model(self, tmp_path: Path) -> None:
        program = Program(tmp_path, {"PYTHONPROFILEIMPORTTIME": "1"})
        code, output = await program.run("--version")
        assert code == 0
        assert re.search(r"^cc-bot \d+\.\d+\.\d+$", output, re.MULTILINE)
        assert not re.search(r"\| +(hikari|lightbulb|openai)\b", output)


class TestRun:
    async def test_without_a_token_says_how_to_set_one(self, tmp_path: Path) -> None:
        code, output = await english(tmp_path).run("run")
        assert code == 2
        assert "DISCORD_TOKEN" in output
        assert "cc-bot chat" in output
        assert "Traceback" not in output

    async def test_with_something_that_is_no_token_says_so(self, tmp_path: Path) -> None:
        code, output = await english(tmp_path, DISCORD_TOKEN="nonsense").run("run")
        assert (code, "Discord did not accept DISCORD_TOKEN" in output) == (2, True)
        assert "nonsense" not in output


class TestMigrate:
    async def test_tells_what_it_applies_and_then_that_there_is_nothing_left(self, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        program = english(tmp_path)
        code, output = await program.run("migrate")
        assert (code, "Applying 0001" in output) == (0, True)
        code, output = await program.run("migrate")
        assert (code, "Applying" in output, "up to date" in output) == (0, False, True)


class TestBackup:
    async def test_makes_a_checked_copy_for_its_owner_alone(self, tmp_path: Path) -> None:
        program = english(tmp_path)
        await program.run("migrate")
        code, output = await program.run("backup", "--to", "copies")
        assert code == 0
        [copy] = (tmp_path / "copies").iterdir()
        assert copy.name in output
        assert re.fullmatch(r"sessions_\d{8}-\d{6}\.db", copy.name)
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        with closing(sqlite3.connect(copy)) as database:
            assert database.execute("SELECT count(*) FROM sessions").fetchone() == (0,)

    async def test_of_nothing_is_refused(self, tmp_path: Path) -> None:
        code, output = await english(tmp_path).run("backup")
        assert (code, "sessions.db" in output) == (2, True)
        assert not (tmp_path / "backup").exists()


class TestBadSettings:
    async def test_are_one_sentence(self, tmp_path: Path) -> None:
        code, output = await english(tmp_path, CC_BOT_SESSION_TTL="soon").run("chat")
        assert code == 2
        assert output.splitlines() == [
            "The setting CC_BOT_SESSION_TTL is not valid. Write it like this, for example: 86400"
        ]

    async def test_for_a_folder_that_is_not_there_make_no_new_database(self, tmp_path: Path) -> None:
        program = english(tmp_path, CC_BOT_DATABASE_URL="sqlite:///dta/sessions.db")
        code, output = await program.run("chat")
        assert (code, "dta" in output) == (2, True)
        assert not (tmp_path / "dta").exists()
