"""`cc-bot copy` and `cc-bot erasures apply`, as an operator calls them.

With `--engine postgresql` the database that is copied to, or erased from, is on a server.
"""

import asyncio
import os
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from secrets import token_hex

import asyncpg
import pytest

from cc_bot.domain import SessionKey
from cc_bot.domain.clock import utc_now
from cc_bot.storage import open_database
from cc_bot.storage.engines import dialect_of, shown
from cc_bot.storage.erasures import ErasureLog
from cc_bot.storage.files import sole_bot
from cc_bot.stores import open_stores
from tests.databases import laid_out
from tests.end_to_end.program import Program
from tests.stores.backends import tables_of, turn

ME = 123456789012345678
YOU = 876543210987654321
NOWHERE = "postgresql://cc_bot:geheim@127.0.0.1:1/cc_bot"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """With a database that is to be copied."""
    (tmp_path / "data").mkdir()
    laid_out(source_file(tmp_path))
    return Program(tmp_path, {"CC_BOT_LOCALE": "en"})


def source_file(folder: Path) -> Path:
    return folder / "data" / "sessions.db"


@pytest.fixture
def target(url: str, tmp_path: Path) -> str:
    """Not the source, where both are files."""
    return url if dialect_of(url) == "postgresql" else laid_out(tmp_path / "target.db")


async def remember(url: str, folder: Path, *texts: str) -> None:
    async with open_stores(url, data_folder=folder / "data", embedder=None) as stores:
        for text in texts:
            await stores.memories.add(ME, text)


async def remembered(url: str, folder: Path) -> list[str]:
    async with open_stores(url, data_folder=folder / "data", embedder=None) as stores:
        return sorted(memory.content for memory in await stores.memories.list(ME))


async def say_much(url: str, folder: Path, messages: int) -> None:
    """A conversation that takes many pages."""
    async with open_stores(url, data_folder=folder / "data", embedder=None) as stores:
        session = await stores.sessions.commit_turn(
            await stores.sessions.open(SessionKey(ME, 2)), turn("はじめ")
        )
    with closing(sqlite3.connect(source_file(folder))) as connection, connection:
        connection.executemany(
            "INSERT INTO messages (session_id, user_id, channel_id, parent_channel_id, author_id, role,"
            " content, timestamp, created_at) VALUES (?, ?, 2, 2, ?, 'user', ?, ?, ?)",
            ((session.id, ME, ME, f"{n}番目の話" * 20, n, n) for n in range(messages)),
        )


async def count_messages(url: str) -> int:
    async with open_database(url) as database:
        [(count,)] = await database.query("SELECT count(*) FROM messages")
        return int(count)


def tenths(output: str) -> int:
    """How many tenths of the rows are copied."""
    return max((int(found) for found in re.findall(r"Copying rows… (\d+)0 %", output)), default=0)


async def gets_beyond(program: Program, reached: int) -> None:
    while tenths(program.output) <= reached:  # noqa: ASYNC110 - it is told by a program
        await asyncio.sleep(0.001)


def only_sentence(output: str) -> str:
    """What an operator reads, which is one line."""
    [line] = output.splitlines()
    return line


class TestCopy:
    async def test_tells_counts_and_sums_and_what_to_set(self, program: Program, target: str) -> None:
        source = f"sqlite:///{source_file(program.folder)}"
        await remember(source, program.folder, "猫が好き", "犬も好き")
        code, output = await program.run("copy", "--to", target)
        assert code == 0
        assert re.search(r"^  memories +rows: +2  checksum: [0-9a-f]{16}$", output, re.MULTILINE)
        assert re.search(r"^  \d+ more tables are empty$", output, re.MULTILINE)
        assert f"Copied sqlite:///data/sessions.db to {shown(target)}: " in output
        next_step = f"To use it, set CC_BOT_DATABASE_URL in .env to {shown(target)}"
        assert output.splitlines()[-1].startswith(next_step)
        assert output.count("%") == 0  # of what is done in a moment no tenths are told
        assert await remembered(target, program.folder) == ["犬も好き", "猫が好き"]

    @pytest.mark.slow
    async def test_that_is_killed_again_and_again_ends_right(self, program: Program, target: str) -> None:
        source = f"sqlite:///{source_file(program.folder)}"
        await say_much(source, program.folder, 40_000)
        reached = 0
        for _ in range(3):
            program._output.clear()
            await program.start("copy", "--to", target)
            await program.lives_until(gets_beyond(program, reached))
            assert await program.kill() < 0
            reached = tenths(program.output)
        code, output = await program.run("copy", "--to", target)
        assert (code, f"Copied sqlite:///data/sessions.db to {shown(target)}" in output) == (0, True)
        assert await count_messages(target) == 40_002
        assert await tables_are_whole(target)

    async def test_takes_the_record_of_erasures_along_and_names_what_stays(
        self, program: Program, target: str, tmp_path: Path
    ) -> None:
        source = f"sqlite:///{source_file(tmp_path)}"
        at = beside_target(program, target)
        async with open_stores(source, embedder=None) as stores:
            await stores.memories.add(ME, "猫が好き")
            await stores.personal_erasure.erase(ME)
        (tmp_path / "data" / "agents.toml").write_text("")
        code, output = await program.run("copy", "--to", target)
        assert code == 0
        assert "These files were not moved; if you need them, put them into" in output
        assert "data/agents.toml" in output
        log = ErasureLog.beside(at)
        assert log.path.read_bytes() == ErasureLog.beside(source_file(tmp_path)).path.read_bytes()
        assert log.path.stat().st_mode & 0o777 == 0o600

    async def test_puts_the_record_of_erasures_in_the_place_of_none_and_of_no_other(
        self, program: Program, target: str, tmp_path: Path
    ) -> None:
        log = ErasureLog.beside(beside_target(program, target))
        source = ErasureLog.beside(source_file(tmp_path))
        log.path.touch()  # which is no record
        await source.note("user", ME)
        code, output = await program.run("copy", "--to", target)
        assert (code, log.path.name in output.splitlines()[-1], log.path.read_bytes()) == (2, True, b"")
        log.path.unlink()
        await ErasureLog(log.path).ensure()  # it tells of none
        code, output = await program.run("copy", "--to", target)
        assert (code, "record of erasures" in output) == (0, False)
        assert log.path.read_bytes() == source.path.read_bytes()

    async def test_leaves_the_record_of_another_database_alone(
        self, program: Program, target: str, tmp_path: Path
    ) -> None:
        at = beside_target(program, target)
        for place in (at, source_file(tmp_path)):
            await ErasureLog.beside(place).note("user", ME)
        before = ErasureLog.beside(at).path.read_bytes()
        code, output = await program.run("copy", "--to", target)
        assert (code, "The target has a record of erasures of its own" in output) == (0, True)
        assert ErasureLog.beside(at).path.read_bytes() == before


def beside_target(program: Program, target: str) -> Path:
    """What the target's record of erasures is named after; on a server it stands in a folder of its own."""
    if dialect_of(target) == "sqlite":
        return program.folder / "target.db"
    program.environment["CC_BOT_DATA_FOLDER"] = "server"
    (program.folder / "server").mkdir()
    return program.folder / "server" / "postgresql"


async def tables_are_whole(url: str) -> bool:
    async with open_database(url) as database:
        return "unfinished_copy" not in await tables_of(database)


class TestACopyThatCantBe:
    async def test_is_refused_in_one_sentence_that_names_what_to_correct(
        self, program: Program, tmp_path: Path
    ) -> None:
        (tmp_path / "link.db").symlink_to(source_file(tmp_path))
        ours, onto_itself = "sqlite:///data/sessions.db", "This copies a database onto itself."
        refused = {
            ("mysql://cc_bot:geheim@db/cc_bot", "sqlite:///other.db"): "The setting --from is not valid.",
            ("sessions.db", "sqlite:///other.db"): "The setting --from is not valid.",
            (ours, "mysql://cc_bot:geheim@db/cc_bot"): "The setting --to is not valid.",
            (ours, "sqlite:///nowhere/copy.db"): "The database folder nowhere does not exist.",
            (ours, "sqlite:///data/../data/sessions.db"): onto_itself,
            (ours, "sqlite:///link.db"): onto_itself,
            ("sqlite:///data/typo.db", "sqlite:///other.db"): (
                "There is no database to copy at data/typo.db. Check --from."
            ),
        }
        for (source, to), sentence in refused.items():
            code, output = await program.run("copy", "--from", source, "--to", to)
            assert (code, only_sentence(output)[: len(sentence)]) == (2, sentence)
            assert "geheim" not in output
        assert not (program.folder / "data" / "typo.db").exists()

    @pytest.mark.parametrize("given", ["--to", "--from", "CC_BOT_DATABASE_URL"])
    @pytest.mark.postgresql("a file asks for no name")
    async def test_names_where_the_url_stands_that_a_server_refuses(
        self, program: Program, target: str, given: str
    ) -> None:
        refused = target.replace("postgres:@", "nobody:@")
        if given == "CC_BOT_DATABASE_URL":
            program.environment[given] = refused
        ends = {"--to": "sqlite:///copy.db", **({given: refused} if given.startswith("--") else {})}
        code, output = await program.run("copy", *(word for pair in ends.items() for word in pair))
        assert (code, f" and the database in {given} (" in only_sentence(output)) == (2, True)

    @pytest.mark.postgresql("a file stands in its folder")
    async def test_names_the_setting_of_the_folder_beside_a_server(
        self, program: Program, target: str
    ) -> None:
        program.environment |= {"CC_BOT_DATA_FOLDER": "nowhere", "DISCORD_TOKEN": "x.y.z"}
        program.environment["CC_BOT_DATABASE_URL"] = target
        copy = ("copy", "--from", "sqlite:///data/sessions.db", "--to", target)
        apply = ("erasures", "apply", str(source_file(program.folder).with_name("log")))
        await ErasureLog(Path(apply[-1])).ensure()
        for command in (copy, apply, ("run",), ("chat",)):
            code, output = await program.run(*command, stdin=b"")
            assert (code, only_sentence(output)) == (
                *(2,),
                "The database folder nowhere does not exist. Create it or correct CC_BOT_DATA_FOLDER.",
            )

    @pytest.mark.postgresql("a server has many names")
    async def test_of_a_servers_database_onto_itself_says_so_by_another_name(
        self, program: Program, target: str
    ) -> None:
        code, output = await program.run(
            *("copy", "--from", target, "--to", target.replace("postgresql://", "postgres://"))
        )
        assert (code, only_sentence(output)) == (
            *(2,),
            "This copies a database onto itself. Check --from and --to.",
        )

    async def test_beside_a_running_bot_or_chat_is_refused_on_either_side(
        self, program: Program, target: str
    ) -> None:
        at = Path("data/postgresql") if dialect_of(target) == "postgresql" else Path("target.db")
        for place in (Path("data/sessions.db"), at):
            with sole_bot(program.folder / place):
                code, output = await program.run("copy", "--to", target)
            assert (code, place.name in only_sentence(output)) == (2, True)
            assert output.startswith("Another cc-bot is using ")
        async with open_database(f"sqlite:///{source_file(program.folder)}"):
            code, output = await program.run("copy", "--to", target)
        assert (code, "Another cc-bot is working on data/sessions.db" in only_sentence(output)) == (2, True)
        assert (await program.run("copy", "--to", target))[0] == 0

    @pytest.mark.postgresql("a file is used on one machine")
    async def test_beside_a_bot_on_another_machine_is_refused(self, program: Program, target: str) -> None:
        async with open_database(target) as elsewhere:
            working = asyncio.create_task(elsewhere.query("SELECT 1 FROM pg_sleep(8)"))
            code, output = await program.run("copy", "--to", target)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        assert (code, "Another cc-bot is working on" in only_sentence(output)) == (2, True)

    async def test_for_want_of_a_server_says_which_and_not_its_password(self, program: Program) -> None:
        for ends in (("--from", NOWHERE, "--to", "sqlite:///other.db"), ("--to", NOWHERE)):
            code, output = await program.run("copy", *ends)
            assert code == 2
            line = only_sentence(output)
            assert line.startswith(
                "The database server postgresql://cc_bot@127.0.0.1:1/cc_bot can't be reached."
            )
            assert line.endswith("run the same command again: it goes on from there.")
            assert "geheim" not in output


@asynccontextmanager
async def reading_role(url: str, *grants: str) -> AsyncIterator[str]:
    """The URL of a database as a role of its own has it that was granted only this."""
    role = f"reader_{token_hex(4)}"
    connection = await asyncpg.connect(url)  # which is no other cc-bot at work
    try:
        for each in (f"CREATE ROLE {role} LOGIN", *(f"GRANT {grant} TO {role}" for grant in grants)):
            await connection.execute(each)
        yield url.replace("//postgres:@", f"//{role}@")
        await connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
    finally:
        await connection.close()


@pytest.mark.postgresql("a file has no roles")
class TestASourceOnAServer:
    async def test_is_read_by_a_role_that_may_do_no_more(self, program: Program, target: str) -> None:
        await remember(target, program.folder, "猫が好き", "犬も好き")
        copy = "sqlite:///copy.db"
        async with reading_role(target, "pg_read_all_data") as source:
            code, output = await program.run("copy", "--from", source, "--to", copy)
        assert (code, f" to {copy}: " in output) == (0, True), output
        at = f"sqlite:///{program.folder / 'copy.db'}"
        assert await remembered(at, program.folder) == ["犬も好き", "猫が好き"]

    @pytest.mark.parametrize(("granted", "hidden"), [("TABLES", "_id_seq"), ("SEQUENCES", "access_rules")])
    async def test_is_refused_to_a_role_that_may_not_read_all(
        self, program: Program, target: str, granted: str, hidden: str
    ) -> None:
        async with reading_role(target, f"SELECT ON ALL {granted} IN SCHEMA public") as source:
            code, output = await program.run("copy", "--from", source, "--to", "sqlite:///copy.db")
        assert (code, "GRANT pg_read_all_data to it" in only_sentence(output)) == (2, True)
        assert re.search(rf" may not read \w*{hidden}\.", output)

    async def test_is_refused_beside_a_bot_whose_role_is_another(self, program: Program, target: str) -> None:
        async with reading_role(target, "pg_read_all_data") as source, open_database(target):
            code, output = await program.run("copy", "--from", source, "--to", "sqlite:///copy.db")
        assert (code, "Another cc-bot is working on" in only_sentence(output)) == (2, True)


async def erased_later(program: Program, target: str) -> Path:
    """A database as it was before somebody was forgotten; the log that knows of it."""
    source = f"sqlite:///{source_file(program.folder)}"
    start = utc_now() - timedelta(hours=3)
    async with open_stores(source, embedder=None, clock=lambda: start) as stores:
        await stores.memories.add(ME, "猫が好き")
        await stores.memories.add(YOU, "犬が好き")
    code, output = await program.run("copy", "--to", target)
    assert code == 0, output
    async with open_stores(source, embedder=None, clock=lambda: start + timedelta(hours=1)) as stores:
        await stores.personal_erasure.erase(ME)
    log = ErasureLog.beside(source_file(program.folder)).path
    program.environment["CC_BOT_DATABASE_URL"] = target
    return log


class TestErasuresApply:
    async def test_tells_how_many_and_never_whose(self, program: Program, target: str) -> None:
        log = await erased_later(program, target)
        code, output = await program.run("erasures", "apply", str(log))
        assert code == 0
        assert "is erased again (users: 1, memories: 0, conversations: 0, deleted on Discord: 0)." in output
        assert str(ME) not in output
        assert await remembered(target, program.folder) == []
        code, output = await program.run("erasures", "apply", str(log))
        assert (code, "Nothing that was erased after " in output) == (0, True)

    async def test_takes_the_record_beside_the_database_where_none_is_named(
        self, program: Program, target: str, tmp_path: Path
    ) -> None:
        log = await erased_later(program, target)
        at = (
            tmp_path / "data" / "postgresql" if dialect_of(target) == "postgresql" else tmp_path / "target.db"
        )
        shutil.copyfile(log, ErasureLog.beside(at).path)
        code, output = await program.run("erasures", "apply")
        assert (code, "users: 1" in output) == (0, True)

    async def test_names_the_line_that_cant_be_read_and_erases_nothing(
        self, program: Program, target: str
    ) -> None:
        log = await erased_later(program, target)
        broken = program.folder / "broken.jsonl"
        broken.write_bytes(log.read_bytes() + b"[1]\n")
        code, output = await program.run("erasures", "apply", str(log), str(broken))
        number = len(broken.read_bytes().splitlines())
        assert (code, output.splitlines()[-1]) == (
            *(2,),
            f"Line {number} of the record of erasures {broken} can't be read. "
            "Use a good copy of it; nothing has been erased yet.",
        )
        assert await remembered(target, program.folder) == ["猫が好き"]

    async def test_of_files_that_there_are_not_is_refused_and_makes_none(
        self, program: Program, target: str, tmp_path: Path
    ) -> None:
        program.environment["CC_BOT_DATABASE_URL"] = target
        code, output = await program.run("erasures", "apply", "typo.jsonl")
        assert (code, "There is no record of erasures at typo.jsonl." in only_sentence(output)) == (2, True)
        program.environment["CC_BOT_DATABASE_URL"] = "sqlite:///data/typo.db"
        code, output = await program.run("erasures", "apply", "typo.jsonl")
        assert (code, "data/typo.db" in only_sentence(output)) == (2, True)
        assert not os.path.exists(tmp_path / "data" / "typo.db")  # noqa: ASYNC240, PTH110 - a look at the end

    async def test_beside_a_running_bot_is_refused(
        self, program: Program, target: str, tmp_path: Path
    ) -> None:
        log = await erased_later(program, target)
        at = (
            tmp_path / "data" / "postgresql" if dialect_of(target) == "postgresql" else tmp_path / "target.db"
        )
        with sole_bot(at):
            code, output = await program.run("erasures", "apply", str(log))
        assert (code, "Another cc-bot is using" in only_sentence(output)) == (2, True)
        assert await remembered(target, program.folder) == ["猫が好き"]

    async def test_takes_no_moment_that_is_none_or_yet_to_come(self, program: Program) -> None:
        for moment in ("yesterday", "2026-13-01", ""):
            code, output = await program.run("erasures", "apply", "--since", moment)
            assert (code, "must be written like 2026-11-22 or 2026-11-22T04:15" in output) == (2, True)
        code, output = await program.run("erasures", "apply", "--since", "2999-01-01")
        assert (code, "The setting --since is not valid" in only_sentence(output)) == (2, True)
