import asyncio
import json
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.app.database import run_restore
from cc_bot.chat.stores.opening import open_stores
from cc_bot.config import read_config
from cc_bot.db import back_up
from cc_bot.db.backup import announce_nothing
from cc_bot.domain.clock import utc_now
from cc_bot.domain.message import Message
from cc_bot.domain.session import SessionKey

pytestmark = pytest.mark.sqlite("a backup is a file")

ROOT = Path(__file__).parents[2]
KEY = SessionKey(123456789012345678, 2)

WRITER = """
import asyncio, sys
from cc_bot import Message, SessionKey, open_stores

async def write(url, user, channel):
    async with open_stores(url, embedder=None) as stores:
        session = await stores.sessions.open(SessionKey(user, channel))
        for number in range(1_000_000):
            turn = (Message("user", f"質問{number}"), Message("assistant", f"答え{number}"))
            session = await stores.sessions.commit_turn(session, turn)
            print(number, flush=True)

asyncio.run(write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


async def start(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )


async def stored(writer: asyncio.subprocess.Process, count: int) -> int:
    """The number of the last turn, when so many more are stored."""
    assert writer.stdout
    lines = [await writer.stdout.readline() for _ in range(count)]
    return int(lines[-1])


def turns(database: Path) -> list[tuple[str, str]]:
    """Questions with their answers."""
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        said = [text for (text,) in connection.execute("SELECT content FROM messages ORDER BY id")]
    return list(zip(said[::2], said[1::2], strict=True))


def first(count: int) -> list[tuple[str, str]]:
    return [(f"質問{number}", f"答え{number}") for number in range(count)]


async def test_drill_load_backup_kill_restore_compare(tmp_path: Path) -> None:
    database = tmp_path / "sessions.db"
    url = f"sqlite:///{database}"
    writer = await start("-c", WRITER, url, str(KEY.user_id), str(KEY.channel_id))
    before = await stored(writer, 50) + 1
    made = await back_up(database, tmp_path / "backups", utc_now())
    last = await stored(writer, 50)
    writer.send_signal(signal.SIGKILL)
    rest, _ = await writer.communicate()
    last = int(rest.splitlines()[-1]) if rest else last
    after = len(turns(database))
    assert turns(database) == first(after)
    assert after in (last + 1, last + 2)  # the last may be stored and not said
    content = database.read_bytes()
    database.write_bytes(content[:100] + b"\xa5" * (len(content) - 100))
    config = read_config({"CC_BOT_DATABASE_URL": url}, tmp_path / ".env")
    await run_restore(config, made.path, lambda _: True, announce_nothing)
    held = made.manifest.rows["messages"] // 2
    assert before <= held <= after
    assert turns(database) == first(held)
    async with open_stores(url, embedder=None) as stores:  # and it goes on from there
        session = await stores.sessions.open(KEY)
        assert session.history[-1].content == f"答え{held - 1}"
        await stores.sessions.commit_turn(session, (Message("user", "まだ"), Message("assistant", "います")))
    assert turns(database)[-1] == ("まだ", "います")


@pytest.fixture
async def template(tmp_path: Path) -> Path:
    """A backup, and a database that was written to since, the last time into its log alone."""
    folder = tmp_path / "template"
    database = folder / "bot" / "sessions.db"
    database.parent.mkdir(parents=True)
    async with open_stores(f"sqlite:///{database}", embedder=None) as stores:
        memory = await stores.memories.add(1, "消えたはず")
        await stores.memories.add(1, "古い")
        await back_up(database, folder / "backups", utc_now())
        await stores.memory_removal.erase(1, memory.id)
        await stores.memories.add(1, "新しい")
        kept = [(path, path.read_bytes()) for path in (database, database.with_name("sessions.db-wal"))]
    for path, content in kept:
        path.write_bytes(content)
    return folder


async def test_kills_at_every_step_leave_the_old_or_the_new_database_whole(
    template: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    process = await start("-m", "tests.restored.dying", str(template), str(work))
    output, _ = await process.communicate()
    assert process.returncode == 0
    kills = [json.loads(line) for line in output.splitlines()]
    old, new = ["古い", "新しい"], ["古い"]
    assert all(kill["killed"] for kill in kills)
    assert [kill["left"] for kill in kills if kill["left"] not in (old, new)] == []
    assert (kills[0]["left"], kills[-1]["left"]) == (old, new)
    assert {"os.link", "os.rename", "sqlite3.connect", "open"} <= {kill["step"] for kill in kills}
    assert all(kill["kept"] for kill in kills if kill["left"] == new)
