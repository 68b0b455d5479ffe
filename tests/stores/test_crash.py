"""What a crash leaves: whole turns, and every one that was said to be stored."""

import asyncio
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cc_bot.stores import open_stores
from tests.stores.backends import KEY

pytestmark = [pytest.mark.slow, pytest.mark.sqlite("what stands in its file")]

WRITER = """
import asyncio, sys
from cc_bot.domain import Attachment, Message, SessionKey
from cc_bot.stores import open_stores

async def main(url, user_id, channel_id):
    async with open_stores(url) as stores:
        session = await stores.sessions.open(SessionKey(user_id, channel_id))
        number = 0
        while True:
            number += 1
            file = Attachment("a.bin", "image/png", bytes(number * 100))
            await stores.sessions.commit_turn(session, [
                Message("user", f"質問{number}", attachments=(file,)), Message("assistant", f"答え{number}"),
            ])
            print(number, flush=True)

asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


async def write_until_killed(path: Path, turns: int) -> int:
    """The number of the last turn that the process said was stored before it was killed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", WRITER, f"sqlite:///{path}", str(KEY.user_id), str(KEY.channel_id)),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    for _ in range(turns):
        assert await process.stdout.readline()
    process.kill()
    rest, _ = await process.communicate()
    return turns + len(rest.split())


def readable(log: Path, index: Path) -> None:
    log.chmod(0o644)
    index.chmod(0o644)


def without_index(_: Path, index: Path) -> None:
    index.unlink()


def with_a_garbled_index(_: Path, index: Path) -> None:
    index.write_bytes(b"\xa5" * index.stat().st_size)


def with_a_torn_frame(log: Path, _: Path) -> None:
    """The power failed in the middle of a write."""
    with log.open("ab") as file:
        file.write(b"\xa5" * 1000)


class TestKilledProcess:
    @pytest.mark.parametrize("turns", [1, 40])
    async def test_leaves_whole_turns_and_all_that_it_reported(self, tmp_path: Path, turns: int) -> None:
        path = tmp_path / "sessions.db"
        reported = await write_until_killed(path, turns)
        with closing(sqlite3.connect(path)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert database.execute("PRAGMA foreign_key_check").fetchall() == []
            stored = [text for (text,) in database.execute("SELECT content FROM messages ORDER BY id")]
        # One more turn may have been stored than was reported before the end.
        assert reported <= len(stored) // 2 <= reported + 1
        numbers = range(1, len(stored) // 2 + 1)
        assert stored == [text for n in numbers for text in (f"質問{n}", f"答え{n}")]

    @pytest.mark.parametrize("spoil", [readable, without_index, with_a_garbled_index, with_a_torn_frame])
    async def test_loses_nothing_whatever_else_befalls_its_log(
        self, tmp_path: Path, spoil: Callable[[Path, Path], object]
    ) -> None:
        path = tmp_path / "sessions.db"
        reported = await write_until_killed(path, 3)
        log, index = path.with_name("sessions.db-wal"), path.with_name("sessions.db-shm")
        spoil(log, index)
        async with open_stores(f"sqlite:///{path}") as stores:
            history = (await stores.sessions.open(KEY)).history
            last = int(history[-1].content.removeprefix("答え"))
            assert last in (reported, reported + 1)
            assert len(history) == min(20, 2 * last)
            first = int(history[0].content.removeprefix("質問"))
            assert history[0].attachments[0].data == bytes(100 * first)
            assert [file.stat().st_mode & 0o777 for file in (path, log, index)] == [0o600] * 3
