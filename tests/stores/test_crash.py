"""What a crash leaves: whole turns, and every one that was said to be stored."""

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

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
