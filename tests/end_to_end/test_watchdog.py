import asyncio
import signal
from pathlib import Path

import pytest

from tests.end_to_end.stage import set_stage

pytestmark = pytest.mark.slow

CUSTOMIZED = """
import ctypes, os, re, signal, threading, time

def stand(*_):
    os.write(2, b"stands from now on\\n")
    {way}

signal.signal(signal.SIGUSR1, stand)
"""

WAYS = {
    "in python": 'while True: time.sleep(0.01 * bool("geheim"))',
    "in a pattern": 're.match(r"(a+)+$", "a" * 60 + "geheim")',
    "in c": "lock, c = ctypes.create_string_buffer(64), ctypes.PyDLL(None)\n"
    "    c.pthread_mutex_lock(lock), c.pthread_mutex_lock(lock)",  # which keeps the interpreter's lock
    "in a thread": "threading.Thread(target=time.sleep, args=(120,)).start()",
}
TOLD_TO_STOP = ("in c", "in a thread")
"""The first holds the interpreter's lock, so that no handler of ours hears of the signal."""


def customized(tmp_path_factory: pytest.TempPathFactory, way: str) -> Path:
    folder = tmp_path_factory.mktemp("standing")
    (folder / "sitecustomize.py").write_text(CUSTOMIZED.format(way=WAYS[way]))
    return folder


async def end_of(folder: Path, way: str) -> tuple[int, str]:
    """Its exit code and log."""
    async with set_stage(folder, {"PYTHONPATH": str(folder)}) as stage:
        stage.program.from_nothing = True
        await stage.start()
        stage.program.send(signal.SIGUSR1)
        await stage.logs("stands from now on")
        if way in TOLD_TO_STOP:
            stage.program.send(signal.SIGTERM)
        return await stage.program.ended(), stage.program.output


async def test_a_loop_that_stands_is_ended(tmp_path_factory: pytest.TempPathFactory) -> None:
    ends = await asyncio.gather(*(end_of(customized(tmp_path_factory, way), way) for way in WAYS))
    assert [code for code, _ in ends] == [1] * len(WAYS)
    assert "geheim" not in "".join(log for _, log in ends)
    logs = {way: log for way, (_, log) in zip(WAYS, ends, strict=True)}
    for way in ("in python", "in a pattern", "in c"):
        assert "in stand\n" in logs[way]
