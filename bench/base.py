import asyncio
import os
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from bench.figures import Block, Line, Spread, Words, by_turns
from bench.programs import ROOT, Scene, cc_bot_scene
from bench.turn import one_core

BASE = "bf2340a"
"""The commit before the stores could run on anything but SQLite."""
GOAL = 1.02
ROUNDS, TURNS = 60, 40
STARTS = 8

TURNS_OF_ONE = """
import asyncio, sys
from time import perf_counter
try:
    from cc_bot import Message, SessionKey
    from cc_bot.chat.stores.sessions import SessionStore
    from cc_bot.db import apply_pending, open_database
except ImportError:  # the base
    from cc_bot.domain import Message, SessionKey
    from cc_bot.storage import apply_pending, open_database
    from cc_bot.stores import SessionStore

async def main(path, text, turns):
    async with open_database("sqlite:///" + path) as database:
        await apply_pending(database)
        store, key = SessionStore(database), SessionKey(user_id=1, channel_id=1)
        for line in sys.stdin:
            began = perf_counter()
            for _ in range(turns):
                session = await store.open(key)
                await store.commit_turn(session, (Message("user", text), Message("assistant", text)))
            print((perf_counter() - began) / turns, flush=True)

asyncio.run(main(sys.argv[1], "今日は朝から雨が降っていました。" * 9, int(sys.argv[2])))
"""
"""Runs on both commits: but for the imports, nothing here may be newer than the base."""


@contextmanager
def worktree(folder: Path, commit: str) -> Iterator[Path]:
    """The files of a commit, for as long as this lasts."""
    location = folder / "base"
    subprocess.run(
        ["git", "-C", ROOT, "worktree", "add", "--detach", "--quiet", location, commit], check=True
    )
    try:
        yield location
    finally:
        subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", location], check=True)


@asynccontextmanager
async def turns_of(source: Path, database: Path) -> AsyncIterator[Block]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", TURNS_OF_ONE, str(database), str(TURNS)),
        env={**os.environ, "PYTHONPATH": str(source)},
        cwd=database.parent,
        stdin=PIPE,
        stdout=PIPE,
    )
    try:
        yield lambda: _block(process)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()


async def _block(process: Process) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"go\n")
    return float(await process.stdout.readline())


async def measure(folder: Path) -> list[Line]:
    commit = os.environ.get("BENCH_BASE", BASE)
    beside = Words(f"以前のコミット {commit}", f"commit {commit}")
    with worktree(folder, commit) as base:
        with one_core():
            async with turns_of(ROOT, folder / "new.db") as new, turns_of(base, folder / "old.db") as old:
                turns = await by_turns({"new": new, "old": old}, ROUNDS)
        starts = await _starts(folder, base)
    what = Words("1ターンの保存（SQLite）", "one turn's storage on SQLite")
    start = Words("起動（SQLite）", "a start on SQLite")
    return [
        Line("base", what, beside, Spread.of_ratios(turns["new"], turns["old"]), goal=GOAL),
        Line("base", start, beside, Spread.of_ratios(starts["new"], starts["old"]), goal=GOAL),
    ]


async def _starts(folder: Path, base: Path) -> dict[str, list[float]]:
    async with AsyncExitStack() as stack:
        blocks = dict[str, Block]()
        for name, source in (("new", ROOT), ("old", base)):
            scene = await stack.enter_async_context(
                cc_bot_scene(folder / f"start-{name}", {"PYTHONPATH": str(source)})
            )
            blocks[name] = _start_of(scene)
        return await by_turns(blocks, STARTS)


def _start_of(scene: Scene) -> Block:
    async def block() -> float:
        took = await scene.start()
        await scene.stop()
        return took

    return block
