import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from tests.end_to_end.program import Program
from tests.end_to_end.stage import Stage, ended, set_stage
from tests.loopback.discord import Channel, File, User
from tests.loopback.model_server import says

pytestmark = [
    pytest.mark.slow,
    pytest.mark.sqlite("a file and its disk; a server's are in tests/faults/test_server.py"),
]

PAGE = 4096
WAL_HEADER = 32
LIMIT = 2**21
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Everything in its place, and the program not started yet."""
    async with set_stage(tmp_path, {}) as stage:
        yield stage
        stage.check()


@contextmanager
def small_files() -> Iterator[None]:
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def answers(stage: Stage, channel: Channel) -> list[str]:
    return [text for role, text, _ in stage.stored(channel) if role == "assistant"]


def garble(stage: Stage) -> None:
    """All pages are overwritten but for the first, in the file and in its log."""
    with closing(sqlite3.connect(stage.database, isolation_level=None)) as other:
        other.execute("PRAGMA user_version = 1")  # so that the program looks at the file anew
        for path, kept in ((stage.database, PAGE), (Path(f"{stage.database}-wal"), WAL_HEADER)):
            content = path.read_bytes()
            with path.open("r+b") as file:
                file.write(content[:kept] + b"\xa5" * (len(content) - kept))


async def test_a_full_disk_is_told_while_it_is(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.program.from_nothing = True
    with small_files():
        await stage.start()
    await stage.ask_in_words(aiko, channel, "覚えました。")
    stage.model.script(says("Nice picture."))
    large = File("large.png", PNG + bytes(2 * LIMIT), "image/png")
    reply = await stage.begin(ben, channel, "What is this?", attachment=large)
    await reply.finished(lambda shown: "I could not save that" in shown.text)
    await stage.logs("database_trouble")
    await stage.ask_in_words(aiko, channel, "まだいます。")
    assert answers(stage, channel) == ["覚えました。", "まだいます。"]


async def test_a_damaged_file_is_told_to_all(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    await stage.start()
    await stage.ask_in_words(aiko, channel, "バックアップに入ります。")
    beside = Program(stage.program.folder, stage.program.environment)
    assert (await beside.run("backup", "--to", "copies"))[0] == 0
    garble(stage)
    for user, words in ((aiko, "保存場所が壊れている"), (ben, "is damaged")):
        reply = await stage.begin(user, channel)
        await ended(reply)
        assert words in reply.text
        assert words in await stage.told(user, channel, "memory list")
    await stage.says(await stage.write(aiko, channel, "聞こえますか"), "保存場所が壊れている")
    await stage.says(await stage.write(aiko, stage.discord.dm(aiko), "聞こえますか"), "保存場所が壊れている")
    [record] = [line for line in stage.program.output.splitlines() if "database_trouble" in line]
    assert "cc-bot restore" in record
    assert await stage.program.stop() == 0

    code, output = await stage.program.run("run")
    assert code == 2
    assert "cc-bot restore" in output.splitlines()[-1]
    assert "Traceback" not in output
    [copy] = (stage.program.folder / "copies").glob("sessions_*.db")
    code, output = await stage.program.run("restore", str(copy), "--yes")
    assert code == 0, output
    await stage.discord.gone()
    await stage.start()
    await stage.ask_in_words(ben, channel, "Back again.")
    assert answers(stage, channel) == ["バックアップに入ります。", "Back again."]
