"""The bounds of what a server sends, however it is reached."""

import asyncio
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

import anyio
from mcp.client._transport import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCResponse

from cc_bot.mcp.unanswered import Unanswered

LONGEST_MESSAGE: Final = 12 << 20
"""Bytes: 8 MB of pictures, as texts."""
MOST_BYTES: Final = 64 << 20
MOST_MESSAGES: Final = 5000
WINDOW_S: Final = 60.0
"""The time that the last two are for."""


class Flooded(Exception):
    """A server sends more than anybody asked for."""


class Inflow:
    """The messages and bytes of a server within a minute."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._messages = 0
        self._bytes = 0

    def spend(self, size: int) -> None:
        """Count a message of so many bytes. Raises Flooded."""
        now = time.monotonic()
        if now - self._since > WINDOW_S:
            self._since, self._messages, self._bytes = now, 0, 0
        self._messages += 1
        self._bytes += size
        if self._messages > MOST_MESSAGES or self._bytes > MOST_BYTES:
            raise Flooded


def with_plain_tools(message: JSONRPCMessage) -> JSONRPCMessage:
    """Return a list of tools with what is used of them, in a form that the client takes: for one tool that is
    not as the protocol has it, it would let go of them all. The schemas of their results are not used: it
    would check results by them, and they may hold patterns that take for ever."""
    if isinstance(message, JSONRPCResponse) and isinstance(tools := message.result.get("tools"), list):
        known = (tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str))
        message.result["tools"] = [_plain(tool) for tool in known]
    return message


_HINTS: Final = ("readOnlyHint", "openWorldHint")


def _plain(tool: Mapping[str, Any]) -> dict[str, Any]:
    words = {key: tool[key] for key in ("name", "title", "description") if isinstance(tool.get(key), str)}
    given = tool.get("annotations")
    known = given if isinstance(given, dict) else {}
    hints = {key: known[key] for key in _HINTS if isinstance(known.get(key), bool)}
    return {**words, "inputSchema": _of_object(tool.get("inputSchema")), "annotations": hints}


def _of_object(schema: object) -> dict[str, Any]:
    """Return a schema that says of itself that it is one of an object; what is none is said within it, and
    refused there (see schemas.py)."""
    if isinstance(schema, dict) and schema.get("type", "object") == "object" and _has_readable_parts(schema):
        return {**schema, "type": "object"}
    return {"type": "object", "allOf": [schema]}


def _has_readable_parts(schema: Mapping[str, Any]) -> bool:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    return (
        isinstance(properties, dict)
        and all(isinstance(each, dict | bool) for each in properties.values())
        and isinstance(required, list)
        and all(isinstance(each, str) for each in required)
        and isinstance(schema.get("$schema", ""), str)
    )


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


class Incoming(ServerStream):
    """The messages of a server, as the library reads them; where they come from is up to each kind."""

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises EndOfStream."""
        raise NotImplementedError

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class GuardedStream(Incoming):
    """The messages of a stream, within bounds."""

    def __init__(
        self, stream: ReadStream[SessionMessage | Exception], closed: asyncio.Event, unanswered: Unanswered
    ) -> None:
        """Set `closed` when nothing more comes."""
        self._stream = stream
        self._unanswered = unanswered
        self._closed = closed
        self._allowance = Inflow()

    @property
    def last_context(self) -> object:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message. Raises EndOfStream."""
        try:
            item = await self._stream.receive()
            self._allowance.spend(0)
        except (anyio.EndOfStream, anyio.ClosedResourceError, Flooded):
            self._closed.set()
            raise anyio.EndOfStream from None
        if isinstance(item, SessionMessage):
            self._unanswered.note_came(item.message)
            with_plain_tools(item.message)
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

    async def aclose(self) -> None:
        await self._stream.aclose()
