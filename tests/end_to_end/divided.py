"""A process out of the nursery, with as much of asyncio's own `Process` as the tests use."""

import asyncio
import os
import signal
import socket
from typing import Self

from tests.end_to_end.nursery import Nursery, Order


class DividedProcess:
    """Made by `begin`."""

    def __init__(
        self,
        process_id: int,
        told: socket.socket,
        stdin: asyncio.WriteTransport,
        stdout: asyncio.StreamReader,
        stderr: asyncio.StreamReader,
    ) -> None:
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        self.pid = process_id
        self._ending = asyncio.create_task(_exit_code(told))

    @classmethod
    async def begin(cls, nursery: Nursery, order: Order) -> Self:
        (stdin, written), (stdout, printed), (stderr, complained) = os.pipe(), os.pipe(), os.pipe()
        process_id, told = nursery.begin(order, stdin, printed, complained)
        for given in (stdin, printed, complained):
            os.close(given)
        loop = asyncio.get_running_loop()
        writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(written, "wb", 0))
        return cls(process_id, told, writer, await _reader(stdout), await _reader(stderr))

    @property
    def returncode(self) -> int | None:
        return self._ending.result() if self._ending.done() else None

    async def wait(self) -> int:
        return await asyncio.shield(self._ending)

    def send_signal(self, number: signal.Signals) -> None:
        if not self._ending.done():
            os.kill(self.pid, number)


async def _exit_code(told: socket.socket) -> int:
    told.setblocking(False)
    with told:
        return int(await asyncio.get_running_loop().sock_recv(told, 32))


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", 0)
    )
    return reader
