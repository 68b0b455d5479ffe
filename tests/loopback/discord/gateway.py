"""The gateway: sessions that outlive their connections, and the events that are sent to them.

Source: "Gateway" of the documentation. A session keeps every event that it was sent, so that RESUME replays
what a lost connection missed.
"""

import asyncio
import json
import secrets
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any

from aiohttp import WSMsgType, web


class Codec:
    def __init__(self, compress: str | None) -> None:
        self._zstd, self._zlib = compress == "zstd-stream", compress == "zlib-stream"
        if self._zstd:  # hikari asks for it when it finds a zstd module, so one is there to import
            if sys.version_info >= (3, 14):
                from compression import zstd
            else:
                from backports import zstd
            self._compressor: Any = zstd.ZstdCompressor()
        elif self._zlib:
            self._compressor = zlib.compressobj()

    def encode(self, payload: dict[str, Any]) -> str | bytes:
        text = json.dumps(payload, ensure_ascii=False)
        if self._zstd:
            return bytes(self._compressor.compress(text.encode(), self._compressor.FLUSH_BLOCK))
        if self._zlib:
            return bytes(self._compressor.compress(text.encode()) + self._compressor.flush(zlib.Z_SYNC_FLUSH))
        return text


DISPATCH, HEARTBEAT, IDENTIFY, RESUME, INVALID_SESSION, HELLO, ACK = 0, 1, 2, 6, 9, 10, 11
HEARTBEAT_MS = 41_250
SENDS_PER_MINUTE = 120


class Intent(IntFlag):
    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    DIRECT_MESSAGES = 1 << 12
    MESSAGE_CONTENT = 1 << 15


PRIVILEGED = Intent.GUILD_MEMBERS | Intent.GUILD_PRESENCES | Intent.MESSAGE_CONTENT


@dataclass(eq=False, slots=True)
class Session:
    id: str
    intents: Intent
    shard: tuple[int, int]
    link: "Link | None"
    log: list[dict[str, Any]] = field(default_factory=list)
    resumable: bool = True
    synced: bool = False

    def serves(self, guild_id: int | None) -> bool:
        """Direct messages and private interactions go to shard 0."""
        number, count = self.shard
        return ((guild_id or 0) >> 22) % count == number

    async def dispatch(self, name: str, data: dict[str, Any]) -> None:
        payload = {"op": DISPATCH, "t": name, "s": len(self.log) + 1, "d": data}
        self.log.append(payload)
        if self.link is not None:
            await self.link.send(payload)


@dataclass(eq=False, slots=True)
class Link:
    """One websocket connection. Sends are serialised, because a compressed stream has an order."""

    socket: web.WebSocketResponse
    request: web.Request
    codec: Codec
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    received: list[float] = field(default_factory=list)

    async def send(self, payload: dict[str, Any]) -> None:
        async with self.lock:
            if self.socket.closed:
                return
            data = self.codec.encode(payload)
            try:
                await (self.socket.send_str(data) if isinstance(data, str) else self.socket.send_bytes(data))
            except (ConnectionError, RuntimeError):
                return  # the peer went away; its session keeps the event for RESUME

    def cut(self) -> None:
        """Without a goodbye, as a broken network does."""
        if self.request.transport is not None:
            self.request.transport.abort()

    def is_flooded(self, now: float) -> bool:
        self.received = [moment for moment in self.received if moment > now - 60] + [now]
        return len(self.received) > SENDS_PER_MINUTE


@dataclass(frozen=True, slots=True)
class Closed(Exception):
    """The server ends the connection with one of the gateway's close codes."""

    code: int
    reason: str


@dataclass(slots=True)
class Gateway:
    """`greet` gives the events of a fresh session, READY first; `allowed` are the privileged intents."""

    token: str
    allowed: Intent
    greet: Callable[[Session], list[tuple[str, dict[str, Any]]]]
    changed: Callable[[], None]
    refused: Callable[[int, str], None]
    sessions: list[Session] = field(default_factory=list)
    links: set[Link] = field(default_factory=set)
    identifies: int = 0
    resumes: int = 0
    held: dict[int, asyncio.Event] = field(default_factory=dict)
    """Shards that are not greeted before their event is set."""

    def live(self) -> list[Session]:
        return [session for session in self.sessions if session.link is not None]

    async def dispatch(
        self, name: str, payload_for: Callable[[Intent], dict[str, Any] | None], guild_id: int | None
    ) -> None:
        """To each session whose shard serves that guild, unless `payload_for` has nothing for its intents."""
        for session in list(self.sessions):
            data = payload_for(session.intents) if session.resumable and session.serves(guild_id) else None
            if data is not None:
                await session.dispatch(name, data)

    async def repeat(self, wanted: Callable[[str, dict[str, Any]], bool]) -> int:
        """Sends each session again what it was sent before; answers with the number of events."""
        count = 0
        for session in [session for session in self.sessions if session.resumable]:
            for event in [e for e in session.log if wanted(e["t"], e["d"])]:
                await session.dispatch(event["t"], event["d"])
                count += 1
        return count

    async def drop(self, code: int | None, *, resumable: bool, shard: int | None = None) -> None:
        for session in self.live():
            if shard not in (None, session.shard[0]):
                continue
            session.resumable = resumable
            link = session.link
            assert link is not None
            if code is None:
                link.cut()
            else:
                await link.socket.close(code=code, message=b"dropped by the test")

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(max_msg_size=4096 + 1, timeout=0.2)
        await socket.prepare(request)
        link = Link(socket, request, Codec(request.query.get("compress")))
        self.links.add(link)
        await link.send({"op": HELLO, "d": {"heartbeat_interval": HEARTBEAT_MS}, "s": None, "t": None})
        try:
            await self._converse(link)
        except Closed as closed:
            self.refused(closed.code, closed.reason)
            await socket.close(code=closed.code, message=closed.reason.encode())
        finally:
            self.links.discard(link)
            for session in self._of(link):
                session.link = None
            self.changed()
        return socket

    def _of(self, link: Link) -> Iterator[Session]:
        return (session for session in self.sessions if session.link is link)

    async def _converse(self, link: Link) -> None:
        async for frame in link.socket:
            if frame.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                continue
            if link.is_flooded(asyncio.get_running_loop().time()):
                raise Closed(4008, "Rate limited.")
            payload = json.loads(frame.data)
            if payload["op"] == HEARTBEAT:
                await link.send({"op": ACK, "d": None, "s": None, "t": None})
            elif payload["op"] == IDENTIFY:
                await self._identify(link, payload["d"])
            elif payload["op"] == RESUME:
                await self._resume(link, payload["d"])

    async def _identify(self, link: Link, data: dict[str, Any]) -> None:
        self._authenticate(data["token"])
        shard = tuple(data.get("shard") or (0, 1))
        intents = Intent(int(data["intents"]))
        if intents & PRIVILEGED & ~self.allowed:
            raise Closed(4014, "Disallowed intent(s).")
        if held := self.held.get(shard[0]):
            await held.wait()
        session = Session(secrets.token_hex(16), intents, (shard[0], shard[1]), link)
        self.sessions.append(session)
        self.identifies += 1
        for name, payload in self.greet(session):
            await session.dispatch(name, payload)
        self.changed()

    async def _resume(self, link: Link, data: dict[str, Any]) -> None:
        self._authenticate(data["token"])
        session = next((s for s in self.sessions if s.id == data["session_id"] and s.resumable), None)
        if session is None:
            await link.send({"op": INVALID_SESSION, "d": False, "s": None, "t": None})
            return
        seen = int(data["seq"])
        while seen < len(session.log):  # events may join the log while the old ones are sent
            await link.send(session.log[seen])
            seen += 1
        session.link = link
        self.resumes += 1
        await session.dispatch("RESUMED", {})
        self.changed()

    def _authenticate(self, token: str) -> None:
        if token.removeprefix("Bot ") != self.token:
            raise Closed(4004, "Authentication failed.")
