"""Requests over HTTP/1.1, each on a socket that is looked at before anything is sent.

A name is resolved once, here. Every address that it has must be one that may be reached, what is connected to
is one of those, and what the socket says that it is connected to is asked once more: so a name that means
another machine a moment later changes nothing. No proxy, cookie or password of anybody's is ever used.
"""

import asyncio
import socket
import ssl
import threading
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from typing import Final, Literal

import h11

from cc_bot import __version__
from cc_bot.domain.errors import (
    AddressNotPublic,
    PageGarbled,
    PagePackingRefused,
    PageTooLarge,
    PageUnreachable,
)
from cc_bot.internet.addresses import IpAddress, WebAddress, is_public

CONNECT_S: Final = 4.0
"""For each address that a name has, after which the next one is tried."""
_ADDRESSES_TRIED: Final = 3
_PIECE: Final = 1 << 14
_HEADERS: Final = 1 << 16
_MOST_LOOKUPS: Final = 32
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS

# ---- network ---------------------------------------------------------------------------------------------

Place = tuple[str, int]
"""An address as numbers, and a port."""
Resolve = Callable[[str, int], Awaitable[Sequence[Place]]]

_lookups = threading.BoundedSemaphore(_MOST_LOOKUPS)


async def resolve(name: str, port: int) -> Sequence[Place]:
    """Ask the system where a name leads. Raises OSError.

    On threads of its own, which nobody waits for at the end: a name server that never answers holds up no
    other work, and not the bot's end."""
    if not _lookups.acquire(blocking=False):
        raise OSError("too many names are being looked up")
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Sequence[Place]] = loop.create_future()

    def tell(outcome: Sequence[Place] | OSError) -> None:
        if found.cancelled():
            return
        if isinstance(outcome, OSError):
            found.set_exception(outcome)
        else:
            found.set_result(outcome)

    def look_up() -> None:
        outcome: Sequence[Place] | OSError
        try:
            answers = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
            outcome = [(str(place[0]), int(place[1])) for *_, place in answers]
        except (OSError, UnicodeError) as error:
            outcome = error if isinstance(error, OSError) else OSError(str(error))
        finally:
            _lookups.release()
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(tell, outcome)

    threading.Thread(target=look_up, name="look up a name", daemon=True).start()
    return await found


@cache
def _authorities() -> ssl.SSLContext:
    return ssl.create_default_context()


@dataclass(frozen=True, slots=True)
class Network:
    """The way in which what is outside is reached, and which part of it is."""

    resolve: Resolve = resolve
    may_reach: Callable[[IpAddress], bool] = is_public
    tls: Callable[[], ssl.SSLContext] = _authorities


PUBLIC: Final = Network()
"""The internet at large, for addresses that anybody may have written."""
ANYWHERE: Final = Network(may_reach=lambda _: True)
"""For addresses that the operator has written."""


# ---- request ---------------------------------------------------------------------------------------------


class HttpAnswer:
    """A server's answer, of which the head is there."""

    def __init__(self, host: str, head: h11.Response, events: AsyncIterator[h11.Event]) -> None:
        self._host = host
        self._events = events
        self._headers = {name.lower(): value for name, value in reversed(list(head.headers))}
        self.status: int = head.status_code

    def header(self, name: str) -> str:
        """Return the first header of a name; empty where there is none."""
        value = self._headers.get(name.lower().encode(), b"")
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.decode("latin-1")

    async def read(self, most_bytes: int) -> bytes:
        """Return the body, unpacked. Raises PageTooLarge as soon as it is more than that, packed or unpacked;
        PagePackingRefused where it is packed in an unknown way, PageGarbled when it breaks off."""
        body, packed, packing = bytearray(), 0, self._packing()
        try:
            async for event in self._events:
                if isinstance(event, h11.Data):
                    packed += len(event.data)
                    body += packing.unpack(bytes(event.data), most_bytes + 1 - len(body))
                    if len(body) > most_bytes or packed > most_bytes:
                        raise PageTooLarge(limit=most_bytes >> 20)
        except (zlib.error, h11.RemoteProtocolError, OSError) as error:
            raise PageGarbled(host=self._host) from error
        if not packing.is_whole:
            raise PageGarbled(host=self._host)
        return bytes(body)

    def _packing(self) -> "_Packing":
        packing = self.header("content-encoding").strip().lower()
        if packing not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise PagePackingRefused(found=packing[:20])
        return _Packing(packed=packing not in ("", "identity"))


class _Packing:
    """The packing of a body, undone piece by piece. One may have several members (RFC 1952, 2.2); what stands
    behind the last and is none is nothing of the body."""

    def __init__(self, *, packed: bool) -> None:
        self._member = zlib.decompressobj(_GZIP_OR_ZLIB) if packed else None
        self._whole = True
        """Whether all members that began have ended."""
        self._first = True

    @property
    def is_whole(self) -> bool:
        return self._whole

    def unpack(self, data: bytes, most_bytes: int) -> bytes:
        """Return what a piece holds, so much of it at most. Raises zlib.error for what can't be read."""
        if self._member is None:
            return data
        found = b""
        while data and len(found) < most_bytes:
            if self._member.eof:
                self._member = zlib.decompressobj(_GZIP_OR_ZLIB)
                self._first = False
            try:
                piece = self._member.decompress(data, most_bytes - len(found))
            except zlib.error:
                if self._first:
                    raise
                self._whole = True
                return found
            found += piece
            self._whole = self._member.eof or not (self._first or piece)
            data = self._member.unused_data
        return found


@asynccontextmanager
async def ask(network: Network, address: WebAddress, headers: Mapping[str, str]) -> AsyncIterator[HttpAnswer]:
    """Ask for what is at an address. Raises AddressNotPublic before anything is sent, PageUnreachable, and
    PageGarbled where what answers speaks no HTTP. It waits as long as it takes: whoever asks has a clock."""
    connected = await _connect(network, address)
    try:
        secure = network.tls() if address.scheme == "https" else None
        reader, writer = await asyncio.open_connection(
            sock=connected, ssl=secure, server_hostname=address.host if secure else None
        )
    except (OSError, ValueError) as error:
        connected.close()
        raise PageUnreachable(host=address.host) from error
    except BaseException:
        connected.close()
        raise
    try:
        try:
            head, events = await _exchange(reader, writer, address, headers)
        except (h11.ProtocolError, OSError) as error:
            raise PageGarbled(host=address.host) from error
        yield HttpAnswer(address.host, head, events)
    finally:
        writer.transport.abort()


async def _exchange(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    address: WebAddress,
    headers: Mapping[str, str],
) -> tuple[h11.Response, AsyncIterator[h11.Event]]:
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEADERS)
    sent = {
        "Host": address.netloc,
        "User-Agent": f"cc-bot/{__version__}",
        "Accept-Encoding": "gzip",
        "Connection": "close",
        **headers,
    }
    request = h11.Request(method="GET", target=address.target, headers=list(sent.items()))
    writer.write((connection.send(request) or b"") + (connection.send(h11.EndOfMessage()) or b""))
    await writer.drain()

    async def events() -> AsyncIterator[h11.Event]:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(_PIECE))
            elif event is h11.PAUSED or isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                return
            elif isinstance(event, h11.Event):
                yield event

    coming = events()
    async for event in coming:
        if isinstance(event, h11.Response):
            return event, coming
    raise h11.RemoteProtocolError("no response")


async def _connect(network: Network, address: WebAddress) -> socket.socket:
    """Return a socket that is connected to where it may be. Raises AddressNotPublic and PageUnreachable."""
    try:
        places = await network.resolve(address.host, address.port)
        _check(network, address.host, places)
    except (OSError, ValueError) as error:
        raise PageUnreachable(host=address.host) from error
    for place in list(dict.fromkeys(places))[:_ADDRESSES_TRIED]:
        connected = await _try(place)
        if connected is None:
            continue
        try:
            _check(network, address.host, [connected.getpeername()[:2]])
        except OSError:  # it is closed already
            connected.close()
            continue
        except BaseException:
            connected.close()
            raise
        return connected
    raise PageUnreachable(host=address.host)


def _check(network: Network, host: str, places: Sequence[Place]) -> None:
    """Raise AddressNotPublic unless all of these may be reached."""
    if not all(network.may_reach(ip_address(numbers)) for numbers, _ in places):
        raise AddressNotPublic(host=host)


async def _try(place: Place) -> socket.socket | None:
    """Return a socket that is connected to that; None where nobody answers there."""
    family: Literal[socket.AddressFamily.AF_INET, socket.AddressFamily.AF_INET6]
    family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
    tried = None
    try:
        tried = socket.socket(family, socket.SOCK_STREAM)
        tried.setblocking(False)
        async with asyncio.timeout(CONNECT_S):
            await asyncio.get_running_loop().sock_connect(tried, place)
    except (OSError, TimeoutError):
        if tried is not None:
            tried.close()
        return None
    except BaseException:
        if tried is not None:
            tried.close()
        raise
    return tried
