"""The recipe of docs/litestream.md: the program itself, and deploy/litestream.yml."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cc_bot.app.database import run_restore
from cc_bot.chat.stores.opening import open_stores
from cc_bot.config import read_config
from cc_bot.db.backup import announce_nothing
from cc_bot.domain.clock import utc_now
from tests.storage.files import memories

CONFIGURATION = Path(__file__).parents[2] / "deploy" / "litestream.yml"
PROGRAM = shutil.which(
    "litestream", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
)


async def start(folder: Path, command: str, *arguments: str) -> asyncio.subprocess.Process:
    """Start the program, for the database and the replica in this folder."""
    assert PROGRAM
    replica = {
        "LITESTREAM_DATABASE": f"{folder / 'sessions.db'}",
        "LITESTREAM_REPLICA": f"file://{folder / 'replica'}",
    }
    return await asyncio.create_subprocess_exec(
        *(PROGRAM, command, "-config", str(CONFIGURATION), *arguments),
        env={**os.environ, **replica},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


@asynccontextmanager
async def replicating(folder: Path) -> AsyncIterator[None]:
    """Until it is killed, as with its machine."""
    process = await start(folder, "replicate")
    try:
        yield
    finally:
        process.kill()
        await process.communicate()


async def restored(folder: Path, *arguments: str) -> Path | None:
    path = folder / "restored.db"
    path.unlink(missing_ok=True)
    process = await start(folder, "restore", *arguments, "-o", str(path), str(folder / "sessions.db"))
    await process.communicate()
    return path if process.returncode == 0 else None


async def replica_has(folder: Path, content: str) -> None:
    """Wait until the replica has a memory."""
    async with asyncio.timeout(60):
        while (copy := await restored(folder)) is None or content not in await memories(copy):
            pass


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="litestream is not on this machine")
async def test_a_replica_has_any_moment_back_after_the_machine_is_lost(tmp_path: Path) -> None:
    database = tmp_path / "sessions.db"
    async with open_stores(f"sqlite:///{database}", embedder=None) as stores, replicating(tmp_path):
        await stores.memories.add(1, "猫が好き")
        await replica_has(tmp_path, "猫が好き")
        moment = utc_now().isoformat().replace("+00:00", "Z")
        await stores.memories.add(1, "犬が好き")
        await replica_has(tmp_path, "犬が好き")
    copy = await restored(tmp_path, "-timestamp", moment)
    assert copy
    assert await memories(copy) == ["猫が好き"]
    config = read_config({"CC_BOT_DATABASE_URL": f"sqlite:///{database}"}, tmp_path / ".env")
    done = await run_restore(config, copy, lambda _: True, announce_nothing, without_erasures=True)
    assert done.old_database
    assert await memories(done.old_database) == ["犬が好き", "猫が好き"]
    assert await memories(database) == ["猫が好き"]
