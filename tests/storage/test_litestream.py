"""The recipe of docs/backup.md for continuous replication: the program itself, and deploy/litestream.yml."""

import asyncio
import os
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import datetime
from pathlib import Path

import pytest

from cc_bot.app.restoring import RestoreRequest, run_restore
from cc_bot.config import read_config
from cc_bot.domain.clock import utc_now
from cc_bot.storage.manifest import ignore_progress
from cc_bot.stores import open_stores

pytestmark = pytest.mark.slow

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "litestream.yml"
PROGRAM = shutil.which(
    "litestream", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
)
ME = 123456789012345678


class Litestream:
    """The program, for the database and the replica in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "sessions.db"
        self.environment = {
            **os.environ,
            "LITESTREAM_DATABASE": str(self.database),
            "LITESTREAM_REPLICA": f"file://{folder / 'replica'}",
        }

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        assert PROGRAM
        return await asyncio.create_subprocess_exec(
            PROGRAM,
            *arguments,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )

    @asynccontextmanager
    async def replicating(self) -> AsyncIterator[None]:
        """Until it is killed, as with its machine."""
        process = await self.start("replicate", "-config", str(CONFIGURATION))
        try:
            yield
        finally:
            process.kill()
            await process.communicate()

    async def restored(self, *arguments: str) -> Path | None:
        """What the replica has; None when it has nothing yet."""
        path = self.folder / "restored.db"
        path.unlink(missing_ok=True)
        process = await self.start(
            *("restore", "-config", str(CONFIGURATION), *arguments, "-o", str(path), str(self.database))
        )
        await process.communicate()
        return path if process.returncode == 0 else None

    async def has(self, content: str) -> None:
        """Wait until the replica has a memory."""
        async with asyncio.timeout(60):
            found = list[str]()
            while content not in found:
                found = memories(await self.restored())


def memories(path: Path | None) -> list[str]:
    if path is None:
        return []
    with closing(sqlite3.connect(path)) as connection:
        return [content for (content,) in connection.execute("SELECT content FROM memories ORDER BY id")]


@pytest.mark.skipif(PROGRAM is None, reason="litestream is not on this machine")
class TestReplica:
    async def test_has_any_moment_back_after_the_machine_is_lost(self, tmp_path: Path) -> None:
        litestream, url = Litestream(tmp_path), f"sqlite:///{tmp_path / 'sessions.db'}"
        async with open_stores(url, embedder=None) as stores, litestream.replicating():
            await stores.memories.add(ME, "猫が好き")
            await litestream.has("猫が好き")
            moment: datetime = utc_now()
            await stores.memories.add(ME, "犬が好き")
            await litestream.has("犬が好き")
        copy = await litestream.restored("-timestamp", moment.isoformat().replace("+00:00", "Z"))
        assert copy
        assert memories(copy) == ["猫が好き"]
        config = read_config({"CC_BOT_DATABASE_URL": url}, tmp_path / ".env")
        done = await run_restore(
            config, RestoreRequest(copy, lambda _: True, without_erasures=True), ignore_progress
        )
        assert memories(done.replaced) == ["猫が好き", "犬が好き"]
        async with open_stores(url, embedder=None) as stores:
            assert [memory.content for memory in await stores.memories.list(ME)] == ["猫が好き"]
