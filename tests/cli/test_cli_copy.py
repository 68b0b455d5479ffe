"""`cc-bot copy` and `cc-bot erasures apply`, as an operator calls them.

With `--engine postgresql` the database that is copied to, or erased from, is on a server.
"""

import asyncio
import re
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from cc_bot.chat.stores.opening import open_stores
from cc_bot.db import open_database
from cc_bot.db.engines import dialect_of, without_password
from cc_bot.db.erasure_log import ErasureLog
from cc_bot.db.files import instance_lock
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import SameDatabase
from tests.databases import laid_out
from tests.end_to_end.program import Program

ME = 123456789012345678
THE_TERMINALS = 0
NOWHERE = "postgresql://cc_bot:geheim@127.0.0.1:1/cc_bot"
ONTO_ITSELF = SameDatabase.en


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """With a database that is to be copied."""
    (tmp_path / "data").mkdir()
    laid_out(tmp_path / "data" / "sessions.db")
    return Program(tmp_path, {"CC_BOT_LOCALE": "en"})


@pytest.fixture
def source(program: Program) -> Path:
    return program.folder / "data" / "sessions.db"


@pytest.fixture
def target(url: str, tmp_path: Path) -> str:
    """Not the source, where both are files."""
    return url if dialect_of(url) == "postgresql" else laid_out(tmp_path / "target.db")


@pytest.fixture
def at(target: str, tmp_path: Path) -> Path:
    on_a_server = dialect_of(target) == "postgresql"
    return tmp_path / "data" / "postgresql" if on_a_server else tmp_path / "target.db"


async def remembered(url: str, folder: Path) -> list[str]:
    async with open_stores(url, data_folder=folder / "data", embedder=None) as stores:
        return sorted(memory.content for memory in await stores.memories.list(ME))


def only_sentence(output: str) -> str:
    [line] = output.splitlines()
    return line


class TestCopy:
    async def test_tells_counts_what_stays_and_what_to_set_and_takes_the_record_of_erasures_along(
        self, program: Program, source: Path, target: str, at: Path
    ) -> None:
        async with open_stores(f"sqlite:///{source}", embedder=None) as stores:
            await stores.memories.add(ME, "忘れて")
            await stores.personal_data.erase(ME)
            for text in ("猫が好き", "犬も好き"):
                await stores.memories.add(ME, text)
        (program.folder / "data" / "agents.toml").write_text("")
        code, output = await program.run("copy", "--to", target)
        assert code == 0
        assert re.search(r"^  memories +rows: +2$", output, re.MULTILINE)
        assert re.search(r"^  \d+ more tables are empty$", output, re.MULTILINE)
        assert f"Copied sqlite:///data/sessions.db to {without_password(target)}: " in output
        next_step = f"To use it, set CC_BOT_DATABASE_URL in .env to {without_password(target)}"
        assert any(line.startswith(next_step) for line in output.splitlines())
        assert await remembered(target, program.folder) == ["犬も好き", "猫が好き"]
        log = ErasureLog.beside(at).path
        assert log.read_bytes() == ErasureLog.beside(source).path.read_bytes()
        assert log.stat().st_mode & 0o777 == 0o600
        if dialect_of(target) == "sqlite":  # else that is its folder as well
            assert "These files were not moved; if you need them, put them into" in output
            assert "data/agents.toml" in output

    async def test_of_a_backup_leaves_it_as_it_is_and_brings_nobody_back(
        self, program: Program, source: Path, target: str, at: Path
    ) -> None:
        async with open_stores(f"sqlite:///{source}", embedder=None) as stores:
            await stores.memories.add(ME, "忘れて")
            await stores.memories.add(THE_TERMINALS, "これも")
        code, output = await program.run("backup", "--to", "backup")
        assert code == 0, output
        async with open_stores(f"sqlite:///{source}", embedder=None) as stores:
            await stores.personal_data.erase(ME)
            await stores.personal_data.erase(THE_TERMINALS)
        folder = program.folder / "backup"
        before = {path: path.read_bytes() for path in folder.iterdir()}
        [backup] = folder.glob("*.db")
        code, output = await program.run("copy", "--from", f"sqlite:///backup/{backup.name}", "--to", target)
        assert (code, "is erased again (users: 2, " in output) == (0, True)
        assert {path: path.read_bytes() for path in folder.iterdir()} == before
        async with open_stores(target, data_folder=program.folder / "data", embedder=None) as stores:
            assert not await stores.personal_data.list_users()
        assert ErasureLog.beside(at).path.read_bytes() == ErasureLog.beside(source).path.read_bytes()

    async def test_adds_its_record_of_erasures_to_that_of_the_target(
        self, program: Program, source: Path, target: str, at: Path
    ) -> None:
        logs = [ErasureLog.beside(location) for location in (at, source)]
        for log in logs:
            await log.note("user", ME)
        entries = [log.path.read_bytes() for log in logs]
        code, output = await program.run("copy", "--to", target)
        assert code == 0, output
        assert logs[0].path.read_bytes() == b"".join(entries)


class TestACopyThatCantBe:
    async def test_is_refused_in_one_sentence_that_names_what_to_correct(
        self, program: Program, source: Path, tmp_path: Path, target: str
    ) -> None:
        (tmp_path / "link.db").symlink_to(source)
        ours = "sqlite:///data/sessions.db"
        refused = {
            ("mysql://cc_bot:geheim@db/cc_bot", "sqlite:///other.db"): "The setting --from is not valid.",
            (ours, "mysql://cc_bot:geheim@db/cc_bot"): "The setting --to is not valid.",
            (ours, "sqlite:///nowhere/copy.db"): "The database folder nowhere does not exist.",
            (ours, "sqlite:///data/../data/sessions.db"): ONTO_ITSELF,
            (ours, "sqlite:///link.db"): ONTO_ITSELF,
            (target, target.replace("postgresql://", "postgres://")): ONTO_ITSELF,
            ("sqlite:///data/typo.db", "sqlite:///other.db"): (
                "There is no database to copy at data/typo.db. Check --from."
            ),
        }
        for (from_, to), sentence in refused.items():
            code, output = await program.run("copy", "--from", from_, "--to", to)
            assert (code, only_sentence(output)[: len(sentence)]) == (2, sentence)
            assert "geheim" not in output
        assert not (program.folder / "data" / "typo.db").exists()

    async def test_beside_a_running_bot_or_chat_is_refused_on_either_side(
        self, program: Program, source: Path, target: str, at: Path
    ) -> None:
        for location in (source, at):
            with instance_lock(location):
                code, output = await program.run("copy", "--to", target)
            assert (code, location.name in only_sentence(output)) == (2, True)
            assert output.startswith("Another cc-bot is using ")
        async with open_database(f"sqlite:///{source}"):
            code, output = await program.run("copy", "--to", target)
        assert (code, "data/sessions.db" in only_sentence(output)) == (2, True)
        assert (await program.run("copy", "--to", target))[0] == 0

    @pytest.mark.postgresql("a file is used on one machine")
    async def test_beside_a_bot_on_another_machine_is_refused(self, program: Program, target: str) -> None:
        async with open_database(target) as elsewhere:
            working = asyncio.create_task(elsewhere.query("SELECT 1 FROM pg_sleep(8)"))
            code, output = await program.run("copy", "--to", target)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        assert (code, "Another cc-bot is using" in only_sentence(output)) == (2, True)

    async def test_for_want_of_a_server_says_which_and_not_its_password(self, program: Program) -> None:
        for ends in (("--from", NOWHERE, "--to", "sqlite:///other.db"), ("--to", NOWHERE)):
            code, output = await program.run("copy", *ends)
            assert code == 2
            unreachable = "The database server postgresql://cc_bot@127.0.0.1:1/cc_bot can't be reached."
            assert only_sentence(output).startswith(unreachable)
            assert "geheim" not in output


@pytest.fixture
async def log(program: Program, source: Path, target: str) -> Path:
    start = utc_now() - timedelta(hours=3)
    async with open_stores(f"sqlite:///{source}", embedder=None, clock=lambda: start) as stores:
        await stores.memories.add(ME, "猫が好き")
    code, output = await program.run("copy", "--to", target)
    assert code == 0, output
    later = start + timedelta(hours=1)
    async with open_stores(f"sqlite:///{source}", embedder=None, clock=lambda: later) as stores:
        await stores.personal_data.erase(ME)
    program.environment["CC_BOT_DATABASE_URL"] = target
    return ErasureLog.beside(source).path


class TestErasuresApply:
    async def test_tells_how_many_and_never_whose_and_only_where_no_bot_runs(
        self, program: Program, target: str, at: Path, log: Path
    ) -> None:
        shutil.copyfile(log, ErasureLog.beside(at).path)
        with instance_lock(at):
            code, output = await program.run("erasures", "apply")
        assert (code, "Another cc-bot is using" in only_sentence(output)) == (2, True)
        assert await remembered(target, program.folder) == ["猫が好き"]
        code, output = await program.run("erasures", "apply")
        assert code == 0
        assert "is erased again (users: 1, memories: 0, conversations: 0, deleted on Discord: 0)." in output
        assert str(ME) not in output
        assert await remembered(target, program.folder) == []
        code, output = await program.run("erasures", "apply", str(log))
        assert (code, "Nothing that was erased after " in output) == (0, True)
