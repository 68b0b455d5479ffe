"""Backup, restore and wipe, as an operator calls them."""

import asyncio
import os
import pty
import re
import shutil
import sqlite3
import sys
from contextlib import closing, suppress
from io import FileIO
from pathlib import Path

import pytest

from cc_bot.chat.stores.opening import open_stores
from cc_bot.db.files import instance_lock
from cc_bot.domain.errors import BackupChanged
from cc_bot.domain.text import Locale
from cc_bot.texts import explain, texts
from tests.end_to_end.program import Program

ME = 123456789012345678


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "data").mkdir()
    return Program(tmp_path, {"CC_BOT_LOCALE": "en"})


def database(program: Program) -> Path:
    return program.folder / "data" / "sessions.db"


async def remember(program: Program, text: str) -> None:
    async with open_stores(f"sqlite:///{database(program)}", embedder=None) as stores:
        await stores.memories.add(ME, text)


async def remembered(program: Program) -> list[str]:
    async with open_stores(f"sqlite:///{database(program)}", embedder=None) as stores:
        return sorted(memory.content for memory in await stores.memories.list(ME))


def backups(program: Program, folder: str = "backup") -> list[Path]:
    return sorted((program.folder / folder).glob("*.db"))


async def at_a_terminal(program: Program, answer: str, *arguments: str) -> tuple[int, str]:
    """Run it where a person has typed an answer; its exit code, and all that came on the terminal."""
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cc_bot", *arguments),
        cwd=program.folder,
        env={"PATH": os.environ["PATH"], **program.environment},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    with FileIO(ours) as terminal:
        output = await asyncio.to_thread(read_to_the_end, terminal)
    return await process.wait(), output.decode()


def read_to_the_end(terminal: FileIO) -> bytes:
    content = b""
    with suppress(OSError):
        while chunk := terminal.read(4096):
            content += chunk
    return content


class TestBackup:
    async def test_tells_what_it_holds_and_keeps_as_many_as_it_is_told(self, program: Program) -> None:
        await remember(program, "猫が好き")
        old = program.folder / "copies" / "sessions_20200101-000000.db"
        old.parent.mkdir()
        old.write_bytes(b"old")
        code, output = await program.run("backup", "--to", "copies", "--keep", "1", "--keep-days", "9")
        [copy] = backups(program, "copies")
        assert code == 0
        assert re.fullmatch(r"sessions_\d{8}-\d{6}\.db", copy.name)
        *stages, made, deleted = output.splitlines()
        assert stages == ["Copying…", "Checking…"]
        assert made.startswith(f"Backed up to copies/{copy.name} (")
        assert made.endswith(", messages: 0, memories: 1)")
        assert deleted == "Old backups deleted: 1."

    async def test_of_nothing_is_refused(self, program: Program) -> None:
        code, output = await program.run("backup")
        assert (code, "sessions.db" in output) == (2, True)
        assert backups(program) == []


class TestRestore:
    async def test_of_a_plain_copy_after_chats_in_the_terminal_knows_that_nothing_was_erased(
        self, program: Program
    ) -> None:
        await program.run("chat", stdin=b"Remember: I like cats\n")
        copy = shutil.copy(database(program), program.folder / "copy.db")
        code, output = await program.run("restore", str(copy), "--yes")
        assert code == 0, output

    async def test_of_a_changed_schema_is_refused_in_one_sentence(self, program: Program) -> None:
        await remember(program, "猫が好き")
        await program.run("backup")
        [copy] = backups(program)
        copy.with_suffix(".json").unlink()
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("CREATE TRIGGER spy AFTER INSERT ON memories BEGIN DELETE FROM sessions; END")
        code, output = await program.run("restore", str(copy), "--yes")
        assert code == 2
        assert explain(BackupChanged(path=str(copy), name="TRIGGER spy"), texts(Locale.EN)) in output

    @pytest.mark.slow
    async def test_does_what_a_person_at_a_terminal_says(self, program: Program) -> None:
        await remember(program, "猫が好き")
        await program.run("backup")
        await remember(program, "あとで")
        [copy] = backups(program)
        code, output = await program.run("restore", str(copy))  # where nobody can be asked
        assert (code, f"cc-bot restore {copy} --yes" in output) == (2, True)
        for answer, after in (("n", (2, ["あとで", "猫が好き"])), ("y", (0, ["猫が好き"]))):
            code, output = await at_a_terminal(program, answer, "restore", str(copy))
            assert (code, await remembered(program)) == after
            assert "memories: 1) will take the place of data/sessions.db.\r\n" in output
            assert "Continue? [y/N] " in output
        [kept] = database(program).parent.glob("sessions.replaced-*.db")
        assert f"is kept for 30 days as data/{kept.name}." in output


class TestWipe:
    async def test_takes_everything_away_and_names_what_stays(self, program: Program) -> None:
        await remember(program, "猫が好き")
        (program.folder / "data" / "agents.toml").write_text("")
        (program.folder / "data" / "chat_history").write_text("猫が好き")
        await program.run("backup")
        code, output = await program.run("wipe")
        assert (code, "cc-bot wipe --yes" in output) == (2, True)
        assert await remembered(program) == ["猫が好き"]
        code, output = await program.run("wipe", "--yes")
        assert code == 0
        assert "  data/sessions.db\n  data/chat_history\nFiles deleted: 2.\nSettings, backups" in output
        left = sorted(path.name for path in database(program).parent.iterdir())
        assert left == ["agents.toml", "sessions.db.lock", "sessions.erasures.jsonl"]
        assert len(backups(program)) == 1
        code, output = await program.run("wipe", "--yes")
        assert (code, "There is nothing to delete" in output) == (0, True)

    async def test_and_a_restore_beside_a_running_bot_are_refused(self, program: Program) -> None:
        await remember(program, "猫が好き")
        with instance_lock(database(program)):
            for command in (("wipe", "--yes"), ("restore", "backup/any.db", "--yes")):
                code, output = await program.run(*command)
                assert (code, output) == (
                    *(2,),
                    "Another cc-bot is using data/sessions.db. Stop that one first.\n",
                )
        assert await remembered(program) == ["猫が好き"]


class TestADatabaseOnAServer:
    async def test_is_not_pretended_to_be_a_file_and_told_without_its_password(
        self, program: Program
    ) -> None:
        url = "postgresql://cc_bot:geheim@127.0.0.1:1/cc_bot"
        program.environment |= {"CC_BOT_DATABASE_URL": url, "CC_BOT_WEB_PORT": "8080"}
        for command in (("backup",), ("restore", "a.db", "--yes"), ("wipe", "--yes")):
            code, output = await program.run(*command)
            assert (code, len(output.strip().splitlines())) == (2, 1)
            assert re.search("pg_dump.*pg_restore.*cc-bot erasures apply.*dropdb", output)
        for command in (("migrate",), ("chat",), ("web",), ("doctor", "--offline")):
            code, output = await program.run(*command)
            assert (code in (1, 2), "geheim" in output, "Traceback" in output) == (True, False, False)
        program.environment["CC_BOT_DATABASE_URL"] = f"{url}?prepare=x"
        code, output = await program.run("migrate")
        assert (code, "CC_BOT_DATABASE_URL" in output, "geheim" in output) == (2, True, False)
