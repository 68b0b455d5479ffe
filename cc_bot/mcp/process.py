"""The transport of a server that is a program: started, spoken with in lines, ended with all that it started.

The library's own one neither bounds a line nor repairs a text, and a line that it can't read leaves a call
without an answer.

If the bot is killed the process ends as well, even if it ignores the end of its stdin: see warden.py.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

from cc_bot.mcp.file import ServerEntry
from cc_bot.mcp.messages import MAX_MESSAGE_BYTES, MessageUnreadable, Transport

GRACE_S: Final = 0.5
"""After its stdin was closed, for a server to end by itself."""
KILL_AFTER_S: Final = 1.0
"""After it was asked to end."""
POLL_S: Final = 0.02
WRITE_S: Final = 10.0
_PIECE_BYTES: Final = 1 << 16
_WARDEN: Final = str(Path(__file__).with_name("warden.py"))


class ServerProcess(Transport):
    """A transport of the client."""

    def __init__(self, entry: ServerEntry) -> None:
        super().__init__(entry.name)
        self._entry = entry
        self._process: asyncio.subprocess.Process | None = None
        self._pipes = list[asyncio.Task[None]]()
        self._has_left = False
        """Whether the server has closed one of its pipes."""
        self._lifeline = ExitStack()
        """Ends the process and all that it started, at the latest when the bot ends."""

    async def __aenter__(self) -> TransportStreams:
        try:
            await _uncancelled(self._start())
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("a process without pipes")
        received, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](0)
        pipes = self._read(process.stdout, received), self._write(process.stdin, to_send)
        self._pipes = [asyncio.create_task(each) for each in pipes]
        return incoming, outgoing

    async def _start(self) -> None:
        entry, command = self._entry, (self._entry.command, *self._entry.arguments)
        passed = tuple[int, ...]()
        with ExitStack() as ends:
            if _has_warden():
                waited_for, ours = os.pipe()
                ends.callback(os.close, waited_for)
                self._lifeline.callback(os.close, ours)
                command = (sys.executable, "-I", "-S", _WARDEN, str(waited_for), *command)
                passed = (waited_for,)
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,  # it may repeat what users say
                env=dict(entry.environment),
                cwd=entry.folder,
                start_new_session=True,
                pass_fds=passed,
            )

    async def _read(
        self, stdout: asyncio.StreamReader, received: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        """Pass on the messages, one a line; other lines are greetings or logs."""
        with received, suppress(anyio.BrokenResourceError):
            try:
                async for line in _lines(stdout):
                    if line.lstrip().startswith(b"{"):
                        message = await self.clean(line)
                        await received.send(
                            SessionMessage(jsonrpc_message_adapter.validate_json(message, by_name=False))
                        )
                    await self.pause(len(line))
                self._has_left = True
            except ConnectionError:
                self._has_left = True
            except ValueError:
                self.let_go("a message that can't be read")
            finally:
                self.closed.set()

    async def _write(
        self, stdin: asyncio.StreamWriter, to_send: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        with to_send:
            try:
                async for item in to_send:
                    line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    stdin.write(line.encode("utf-8", "replace") + b"\n")
                    async with asyncio.timeout(WRITE_S):
                        await stdin.drain()
                    if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                        self.note_answered(item.message.id)
            except TimeoutError:
                self.let_go("it reads nothing")
            except (OSError, RuntimeError):
                self._has_left = True
            finally:
                self.closed.set()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is None:
            self._lifeline.close()
        else:
            await _uncancelled(self._end(self._process))

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        by_itself = process.returncode is not None or self._has_left
        for task in self._pipes:
            task.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)
        try:
            if process.stdin is not None:
                process.stdin.close()
            if await _is_over(process, GRACE_S):
                self.code = process.returncode if by_itself else None
            else:
                _signal(process, "end")
                await _is_over(process, KILL_AFTER_S)
            _signal(process, "kill")  # the whole group: what the server started may still run
            await _is_over(process, KILL_AFTER_S)
        finally:
            self._lifeline.close()
            transport = getattr(process, "_transport", None)
            if transport is not None:
                with suppress(OSError):
                    transport.close()


async def _lines(stdout: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines, read in small pieces, so that little is kept of a flood. Raises MessageUnreadable."""
    begun = bytearray()
    while piece := await stdout.read(_PIECE_BYTES):
        *ended, rest = piece.split(b"\n")
        for end in ended:
            line = bytes(begun + end)
            begun.clear()
            yield line
        begun += rest
        if len(begun) > MAX_MESSAGE_BYTES:
            raise MessageUnreadable("a line that is too long")


async def _uncancelled(work: Coroutine[Any, Any, None]) -> None:
    """Finish the work even when cancelled, and raise the cancellation afterwards: a process that is left
    halfway through its start or its end is never waited for."""
    task, cancelled = asyncio.create_task(work), None
    with anyio.CancelScope(shield=True):
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError as error:
                cancelled = error
    try:
        task.result()
    finally:
        if cancelled is not None:
            raise cancelled


async def _is_over(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Return whether it ends within that time. Process.wait would also wait for its pipes, which what it
    started may hold open."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while process.returncode is None and clock() < until:  # noqa: ASYNC110 - see above
        await asyncio.sleep(POLL_S)
    return process.returncode is not None


def _has_warden() -> bool:
    """Return whether a warden can be started and is of use: when the first process of a container ends, the
    kernel ends all others; and that process would have to reap each warden."""
    return sys.platform != "win32" and bool(sys.executable) and os.getpid() != 1


def _signal(process: asyncio.subprocess.Process, what: str) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGTERM if what == "end" else signal.SIGKILL)
