"""Starts the reading process for one file."""

import asyncio
import io
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_MAX_ANSWER_BYTES: Final = 16 * 2**20
_PIECE_BYTES: Final = 64 * 2**10


def reading_command(*what: str, unconfined: bool = False) -> tuple[str, ...]:
    """Return the command of the reading process, in this interpreter, with an empty path. `unconfined`: also
    without a sandbox."""
    permission = ("unconfined",) if unconfined else ()
    return (sys.executable, "-s", "-P", "-m", "cc_bot.reading", *what, *permission)


async def ask_process(command: Sequence[str], file: io.BytesIO) -> bytes:
    """Return what the process answers about a file. Raises OSError and ValueError for an invalid answer,
    TimeoutError if it used up its processor time."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_environment(),
        cwd=sys.prefix,
    )
    try:
        feeding = asyncio.create_task(_feed(process, file))
        try:
            return await _hear(process)
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _feed(process: asyncio.subprocess.Process, file: io.BytesIO) -> None:
    """Write the file in pieces, as asyncio keeps a copy; a process that ends early is heard anyway."""
    stdin = process.stdin
    if stdin is not None:
        with suppress(OSError):
            while piece := file.read(_PIECE_BYTES):
                stdin.write(piece)
                await stdin.drain()
        stdin.close()
    file.close()  # its memory is free while the process reads


async def _hear(process: asyncio.subprocess.Process) -> bytes:
    stdout = process.stdout
    if stdout is None:
        raise OSError
    try:
        length = int.from_bytes(await stdout.readexactly(4), "big")
        if length > _MAX_ANSWER_BYTES:
            raise ValueError
        return await stdout.readexactly(length)
    except asyncio.IncompleteReadError as error:  # it was ended, by a limit or by a fault in it
        spent = sys.platform != "win32" and await process.wait() == -signal.SIGXCPU
        raise (TimeoutError if spent else OSError) from error


def _environment() -> Mapping[str, str]:
    """An almost empty environment: a process that reads a stranger's file gets no token."""
    windows = {"SYSTEMROOT": os.path.expandvars("%SYSTEMROOT%")} if sys.platform == "win32" else {}
    return {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONIOENCODING": "utf-8", **windows}
