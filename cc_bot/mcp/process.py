"""The process of a server that is a program: started, spoken with in lines, ended with all that it started.

What comes from it is bounded: a line, the lines and bytes of a minute, and what it says on stderr. A server
that goes beyond that, or sends what nobody can read, is let go of; whoever looks after it starts it anew.

Where the bot is killed it ends as well, also if it goes on after the end of its stdin: see warden.py.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import anyio
import structlog
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, jsonrpc_message_adapter

from cc_bot.mcp.file import ServerEntry
from cc_bot.mcp.guard import LONGEST_MESSAGE, Incoming, Inflow, NotedSending, ServerStream
from cc_bot.mcp.messages import Flooded, clean_message
from cc_bot.mcp.unanswered import Unanswered

_log = structlog.get_logger(__name__)

GRACE_S: Final = 0.5
"""After its stdin was closed, for a server to end by itself."""
KILL_AFTER_S: Final = 5.0
"""After it was asked to end."""
HURRY_S: Final = 1.0
"""Likewise, where the bot ends: somebody waits for that."""
POLL_S: Final = 0.02
LONGEST_WRITE_S: Final = 10.0
MOST_STRAY_LINES: Final = 1000
"""Lines that are no JSON: some programs greet, or tell what they do."""
MOST_ERROR_LINES: Final = 100
LONGEST_ERROR_LINE: Final = 200
"""Characters of a line of stderr, in the log."""
SHORTEST_SECRET: Final = 3
_WARDEN: Final = str(Path(__file__).with_name("warden.py"))
_UNHEARD: Final = frozenset({"notifications/message", "notifications/progress"})


class ServerProcess:
    """A server's process, as a transport of the client: its streams are those of `async with`."""

    def __init__(self, entry: ServerEntry) -> None:
        self._entry = entry
        self._process: asyncio.subprocess.Process | None = None
        self._errors: asyncio.Task[None] | None = None
        self.closed = asyncio.Event()
        """Set when nothing more comes from it."""
        self.code: int | None = None
        """What it ended with, where it ended by itself."""
        self._streams: tuple[_Lines, _Outgoing] | None = None
        self.unanswered = Unanswered()
        self.was_told = False
        """Whether it knows anything that a user said: then its stderr is no longer on record."""
        self.kill_after_s = KILL_AFTER_S
        self._lifeline = ExitStack()
        """Ends the process and all that it started, at the latest when the bot does."""

    async def __aenter__(self) -> tuple["_Lines", NotedSending]:
        try:
            await _uncancelled(self._start())
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        process = self._process
        if process is None or process.stdin is None or process.stdout is None or process.stderr is None:
            raise RuntimeError("a process without pipes")
        self._errors = asyncio.create_task(self._record_errors(process.stderr))
        lines = _Lines(process.stdout, self.closed, self._entry.name, self.unanswered)
        outgoing = _Outgoing(process.stdin)
        self._streams = lines, outgoing
        return lines, NotedSending(outgoing, self.unanswered)

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
                stderr=asyncio.subprocess.PIPE,
                env=dict(entry.environment),
                cwd=entry.folder,
                start_new_session=True,
                pass_fds=passed,
                limit=LONGEST_MESSAGE,
            )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is None:
            self._lifeline.close()
        else:
            await _uncancelled(self._end(self._process))

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        drain = asyncio.create_task(_drain(process.stdout))
        by_itself = process.returncode is not None or self._is_left()
        try:
            if process.stdin is not None:
                process.stdin.close()
            if await _is_over(process, GRACE_S):
                self.code = process.returncode if by_itself else None
            else:
                _signal(process, "end")
                await _is_over(process, self.kill_after_s)
            _signal(process, "kill")  # the whole group: what it had started is still there, maybe
            await _is_over(process, KILL_AFTER_S)
        finally:
            self._lifeline.close()
            drain.cancel()
            if self._errors is not None:
                self._errors.cancel()
            transport = getattr(process, "_transport", None)
            if transport is not None:
                with suppress(OSError):
                    transport.close()

    def _is_left(self) -> bool:
        """Return whether it has closed what we read, or write to."""
        return self._streams is not None and any(stream.is_left for stream in self._streams)

    async def _record_errors(self, stderr: asyncio.StreamReader) -> None:
        """Record what it says on stderr until it was told something that a user said: from then on nobody can
        tell the two apart."""
        secrets = [text for text in self._entry.secrets if len(text) >= SHORTEST_SECRET]
        for _ in range(MOST_ERROR_LINES):
            text = (await _next_line(stderr)).decode("utf-8", "replace").strip()
            if self.was_told:
                break
            if text and not any(secret in text for secret in secrets):
                _log.debug("tool_server_said", server=self._entry.name, line=text[:LONGEST_ERROR_LINE])
        await _drain(stderr)  # in large pieces: line by line, a flood of short ones would keep the loop busy


class _Lines(Incoming):
    """The messages that a server writes, one a line."""

    def __init__(
        self, stdout: asyncio.StreamReader, closed: asyncio.Event, server: str, unanswered: Unanswered
    ) -> None:
        self._stdout = stdout
        self._unanswered = unanswered
        self._closed = closed
        self._server = server
        self._allowance = Inflow()
        self._stray = 0
        self.is_left = False
        """Whether the server has closed it."""

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises EndOfStream."""
        try:
            while True:
                line = await self._stdout.readuntil(b"\n")
                self._allowance.spend(len(line))
                # What is there already is read without waiting, and others want to go on.
                await asyncio.sleep(0)
                if message := await self._read(line):
                    return message
        except (asyncio.IncompleteReadError, ConnectionError):
            problem, self.is_left = "", True
        except asyncio.LimitOverrunError:
            problem = "a line that is too long"
        except Flooded:
            problem = "too much at once"
        except ValueError:
            problem = "what can't be read"
        if problem:
            _log.warning("tool_server_let_go", server=self._server, problem=problem)
        self._closed.set()
        raise anyio.EndOfStream

    async def _read(self, line: bytes) -> SessionMessage | None:
        """Return the message in a line; None where it is none for us. Raises ValueError."""
        if not line.lstrip().startswith(b"{"):
            self._stray += 1
            if self._stray > MOST_STRAY_LINES:
                raise Flooded
            return None
        message = jsonrpc_message_adapter.validate_json(await clean_message(line), by_name=False)
        if isinstance(message, JSONRPCNotification) and message.method in _UNHEARD:
            return None
        self._unanswered.note_came(message)
        return SessionMessage(message)


class _Outgoing(ServerStream):
    """The messages that a server reads, one a line."""

    def __init__(self, stdin: asyncio.StreamWriter) -> None:
        self._stdin = stdin
        self.is_left = False
        """Whether the server reads nothing any more."""

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message. Raises BrokenResourceError where nobody reads it."""
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            self._stdin.write(line.encode("utf-8", "replace") + b"\n")
            async with asyncio.timeout(LONGEST_WRITE_S):
                await self._stdin.drain()
        except TimeoutError:
            raise anyio.BrokenResourceError from None
        except (OSError, RuntimeError):
            self.is_left = True
            raise anyio.BrokenResourceError from None

    async def aclose(self) -> None:
        self._stdin.close()


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


async def _next_line(stream: asyncio.StreamReader) -> bytes:
    """Return the next line, or a piece of one that is long; empty at the end."""
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        return await stream.read(error.consumed or 1)


async def _drain(stream: asyncio.StreamReader | None) -> None:
    """Take what is still written, so that nobody who wants to end waits for a reader."""
    while stream is not None and await stream.read(1 << 16):
        pass


async def _is_over(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Return whether it ends within that time. What it has started may hold its pipes open for longer."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while process.returncode is None and clock() < until:  # noqa: ASYNC110 - Process.wait waits for pipes, too
        await asyncio.sleep(POLL_S)
    return process.returncode is not None


def _has_warden() -> bool:
    """Return whether a warden can be had, and is of use: with the first process of a container the kernel
    ends all others, and that one would have to take leave of each warden, as nobody's child."""
    return sys.platform != "win32" and bool(sys.executable) and os.getpid() != 1


def _signal(process: asyncio.subprocess.Process, what: str) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGTERM if what == "end" else signal.SIGKILL)
