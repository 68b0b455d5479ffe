import asyncio
import atexit
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.certificates import TRUSTED
from tests.end_to_end.divided import DividedProcess
from tests.end_to_end.nursery import Nursery, Order, open_nursery
from tests.reading.confinement import UNCONFINED

OUTSIDE = ("PATH", "SYSTEMROOT", "HOME")
QUICK = {"CC_BOT_EMBEDDING_MODEL": "off", "SSL_CERT_DIR": TRUSTED}
"""Unless a test says otherwise: loading the encoder takes a second of each program's time, and the
authorities of the web a tenth of its start."""
if UNCONFINED:
    QUICK["CC_BOT_READ_UNCONFINED"] = "on"


class Program:
    """A cc-bot process in a folder of its own.

    `from_nothing`: started as its operator does, by a command, and not out of the nursery. `module`: another
    program with a `main`.
    """

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str],
        *,
        from_nothing: bool = sys.platform != "linux",
        module: str = "cc_bot",
    ) -> None:
        self.folder = folder
        self.environment = dict(environment)
        self.module = module
        self.from_nothing = from_nothing
        self._process: Process | DividedProcess | None = None
        self._output: list[bytes] = []
        self._readers: list[asyncio.Task[None]] = []

    @property
    def output(self) -> str:
        """All that it wrote so far, stdout and stderr."""
        return b"".join(self._output).decode()

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self, *arguments: str, stdin: bytes | None = None) -> None:
        """Start it; with `stdin`, that is all the input it gets."""
        self._process = await (self._command if self.from_nothing else self._divide)(arguments)
        assert self._process.stdin is not None
        if stdin is not None:
            self._process.stdin.write(stdin)
            self._process.stdin.close()
        self._readers = [
            asyncio.create_task(self._read(stream))
            for stream in (self._process.stdout, self._process.stderr)
            if stream is not None
        ]

    async def _command(self, arguments: tuple[str, ...]) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", self.module, *arguments),
            cwd=self.folder,
            env=self._seen,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
        )

    async def _divide(self, arguments: tuple[str, ...]) -> DividedProcess:
        order = Order(arguments, str(self.folder), self._seen, self.module)
        return await DividedProcess.begin(_nursery(), order)

    @property
    def _seen(self) -> dict[str, str]:
        return {**_outside(), **QUICK, **self.environment}

    async def lives_until(self, condition: Awaitable[object]) -> None:
        """Wait for something, unless the program ends before; its output is in the failure then."""
        assert self._process is not None
        waiting = asyncio.ensure_future(condition)
        ending = asyncio.create_task(self._process.wait())
        try:
            await asyncio.wait((waiting, ending), return_when=asyncio.FIRST_COMPLETED)
            assert waiting.done(), f"the program ended with {ending.result()}:\n{self.output}"
            waiting.result()
        finally:
            waiting.cancel()
            ending.cancel()
            await asyncio.gather(waiting, ending, return_exceptions=True)

    async def ended(self) -> int:
        """Wait for its end; the exit code, negative for a signal."""
        assert self._process is not None
        async with asyncio.timeout(60):
            code = await self._process.wait()
            await asyncio.gather(*self._readers)
        return code

    async def run(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str]:
        """Start it and wait for its end; the exit code and all that it wrote in this run."""
        self._output.clear()
        await self.start(*arguments, stdin=stdin)
        return await self.ended(), self.output

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop, as a service manager does, and wait for its end; the exit code."""
        self.send(number)
        return await self.ended()

    async def kill(self) -> int:
        """End it at once: no code of its runs any more."""
        return await self.stop(signal.SIGKILL)

    def send(self, number: signal.Signals) -> None:
        """Send a signal, and wait for nothing."""
        assert self._process is not None
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def close(self) -> None:
        if self._process is not None and self._process.returncode is None:
            await self.kill()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(4096):
            self._output.append(chunk)


def _outside() -> dict[str, str]:
    return {name: os.environ[name] for name in OUTSIDE if name in os.environ}


@cache
def _nursery() -> Nursery:
    """One for each process that runs tests."""
    nursery = open_nursery(_outside())
    atexit.register(nursery.close)
    return nursery
