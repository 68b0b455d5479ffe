"""Lines from a pipe or a file, read beside the event loop.

An event loop can wait for a pipe but not for a file, and a thread of the loop's own pool that waits for a
pipe keeps the program from ending. So a daemon thread reads, straight from the descriptor: one that sleeps
inside Python's buffered stdin would be caught holding its lock when the interpreter goes.
"""

import asyncio
import codecs
import os
import threading
from collections.abc import Iterator
from itertools import chain, repeat
from queue import SimpleQueue

_CHUNK = 65536


class PipedLines:
    """The lines of a file descriptor as UTF-8; bytes that are none become U+FFFD."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._wanted: SimpleQueue[asyncio.Future[str | None]] = SimpleQueue()
        self._thread = threading.Thread(target=self._pump, daemon=True)

    async def read(self) -> str | None:
        """The next line without its end; None after the last."""
        if self._thread.ident is None:
            self._thread.start()
        wanted = asyncio.get_running_loop().create_future()
        self._wanted.put(wanted)
        line: str | None = await wanted
        return line

    def _pump(self) -> None:
        """Hand out a line for each one that is wanted, and no more: the rest stays in the pipe."""
        for line in chain(read_lines(self._descriptor), repeat(None)):
            wanted = self._wanted.get()
            try:
                wanted.get_loop().call_soon_threadsafe(_give, wanted, line)
            except RuntimeError:  # the loop is closed: the program is ending
                return


def _give(wanted: asyncio.Future[str | None], line: str | None) -> None:
    if not wanted.done():
        wanted.set_result(line)


def read_lines(descriptor: int) -> Iterator[str]:
    """Every line until the end, the last one also without a line end."""
    decode = codecs.getincrementaldecoder("utf-8-sig")(errors="replace").decode
    rest = ""
    while chunk := os.read(descriptor, _CHUNK):
        *lines, rest = (rest + decode(chunk)).split("\n")
        yield from (line.removesuffix("\r") for line in lines)
    rest += decode(b"", final=True)
    if rest:
        yield rest
