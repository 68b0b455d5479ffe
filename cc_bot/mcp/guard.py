"""The bounds of what a server sends, however it is reached."""

import asyncio
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Final, Self

import anyio
import structlog
from mcp.client._transport import ReadStream, WriteStream
from mcp.shared.message import SessionMessage

from cc_bot.mcp.messages import Flooded
from cc_bot.mcp.unanswered import Unanswered

_log = structlog.get_logger(__name__)

LONGEST_MESSAGE: Final = 12 << 20
"""Bytes: 8 MB of pictures, as texts; what else is in it is bounded in messages.py."""
MOST_BYTES: Final = 64 << 20
MOST_MESSAGES: Final = 5000
WINDOW_S: Final = 60.0
"""The time that the last two are for."""


class Inflow:
    """Counts the messages and bytes of a server within a minute."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._messages = 0
        self._bytes = 0

    def spend(self, size: int, *, messages: int = 1) -> None:
        """Count messages of so many bytes. Raises Flooded."""
        now = time.monotonic()
        if now - self._since > WINDOW_S:
            self._since, self._messages, self._bytes = now, 0, 0
        self._messages += messages
        self._bytes += size
        if self._messages > MOST_MESSAGES or self._bytes > MOST_BYTES:
            raise Flooded


class ServerStream:
    """A direction of a connection to a server, left at the end of its context."""

    async def aclose(self) -> None:
        """Leave it. By itself there is nothing to let go of."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Incoming(ServerStream, ABC):
    """The messages of a server, as the library reads them; where they come from is up to each kind."""

    @abstractmethod
    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises EndOfStream."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class GuardedStream(Incoming):
    """The messages of a stream, of which it is noted when nothing more comes."""

    def __init__(
        self,
        stream: ReadStream[SessionMessage | Exception],
        closed: asyncio.Event,
        unanswered: Unanswered,
        *,
        server: str,
    ) -> None:
        """Set `closed` when nothing more comes."""
        self._stream = stream
        self._server = server
        self._unanswered = unanswered
        self._closed = closed

    @property
    def last_context(self) -> object:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises EndOfStream."""
        try:
            item = await self._stream.receive()
            if isinstance(item, SessionMessage):
                self._unanswered.note_came(item.message)
        except (anyio.EndOfStream, anyio.ClosedResourceError, Flooded) as end:
            if isinstance(end, Flooded):
                _log.warning("tool_server_let_go", server=self._server, problem="too much at once")
            self._closed.set()
            raise anyio.EndOfStream from None
        return item

    async def aclose(self) -> None:
        await self._stream.aclose()


class NotedSending(ServerStream):
    """A stream to a server, of which it is noted what is sent."""

    def __init__(self, stream: WriteStream[SessionMessage], unanswered: Unanswered) -> None:
        self._stream = stream
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        self._unanswered.note_sent(item.message)
        await self._stream.send(item)
        self._unanswered.note_answered(item.message)

    async def aclose(self) -> None:
        await self._stream.aclose()
