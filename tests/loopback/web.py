import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final, Self

from cc_bot.features.web_pages.addresses import IpAddress, is_public
from cc_bot.features.web_pages.http import Network

OUTSIDE: Final = "127.0.0.1"
INSIDE: Final = "127.0.0.2"


@dataclass(frozen=True, slots=True)
class Answer:
    body: bytes = b""
    content_type: str | None = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    piece: int | None = None
    """Bytes of the body that are sent at a time."""
    pause_s: float = 0.0
    """Before each of them."""
    for_ever: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    target: str
    headers: Mapping[str, str]

    @property
    def host(self) -> str:
        return self.headers.get("host", "")


class LoopbackWeb:
    """See the module's docstring."""

    def __init__(
        self, pages: Mapping[str, Answer] | None = None, *, tls: ssl.SSLContext | None = None
    ) -> None:
        """With `tls` that is what it speaks, whatever is asked for."""
        self._tls = tls
        self.pages = dict(pages or {})
        self.names: dict[str, list[Sequence[str]]] = {}
        self.requests: list[Request] = []
        self.connections: list[str] = []
        self.received = bytearray()
        """All bytes that came, of any connection."""
        self.port = 0

    def network(self, is_allowed: Mapping[str, bool] | None = None) -> Network:
        known = {OUTSIDE: True} if is_allowed is None else is_allowed

        def judge(address: IpAddress) -> bool:
            return known.get(str(address), is_public(address))

        return Network(resolve=self.resolve, is_allowed=judge)

    async def resolve(self, name: str, port: int) -> Sequence[tuple[str, int]]:
        """Tell where a name leads; the port is always its own."""
        answers = self.names.get(name)
        if answers is not None:
            found = answers.pop(0) if len(answers) > 1 else answers[0]
            return [(numbers, self.port) for numbers in found]
        if name.endswith(".example"):
            return [(OUTSIDE, self.port)]
        try:
            return [(str(ip_address(name)), self.port)]
        except ValueError:
            raise OSError("there is no such name") from None

    async def __aenter__(self) -> Self:
        first = await asyncio.start_server(self._serve, OUTSIDE, 0, ssl=self._tls)
        self.port = first.sockets[0].getsockname()[1]
        second = await asyncio.start_server(self._serve, INSIDE, self.port, ssl=self._tls)
        self._servers = (first, second)
        self._serving = set[asyncio.Task[None]]()
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self.connections.append(writer.get_extra_info("sockname")[0])
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                request = await self._hear(reader)
                self.requests.append(request)
                answer = self.pages.get(request.target, Answer(b"not found", status=404))
                async for piece in _pieces(answer):
                    writer.write(piece)
                    await writer.drain()
        finally:
            self._serving.discard(task)
            writer.close()

    async def _hear(self, reader: asyncio.StreamReader) -> Request:
        head = await reader.readuntil(b"\r\n\r\n")
        self.received += head
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines if line)
        return Request(first.split(" ")[1], {name.lower(): value for name, value in headers.items()})


async def _pieces(answer: Answer) -> AsyncIterator[bytes]:
    if answer.raw is not None:
        yield answer.raw
        return
    headers = dict(answer.headers)
    if answer.content_type is not None:
        headers["Content-Type"] = answer.content_type
    if not answer.for_ever:
        headers["Content-Length"] = str(len(answer.body))
    lines = [f"HTTP/1.1 {answer.status} X", *(f"{name}: {value}" for name, value in headers.items())]
    yield "\r\n".join((*lines, "", "")).encode()
    piece = answer.piece or max(len(answer.body), 1)
    while True:
        for at in range(0, len(answer.body), piece):
            if answer.pause_s:
                await asyncio.sleep(answer.pause_s)
            yield answer.body[at : at + piece]
        if not answer.for_ever:
            return
