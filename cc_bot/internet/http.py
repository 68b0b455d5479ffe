"""HTTP requests to untrusted servers.

All addresses of a name must be allowed, and each socket's address is checked again when it is made, so DNS
rebinding changes nothing. No proxy, cookie or password is used. Responses are read on a thread of their own,
within bounds (`run_apart`, MAX_OVERHEAD_BYTES).
"""

import asyncio
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from typing import Any, Final, TypeVar

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from cc_bot.domain.errors import AddressNotPublic, PageGarbled, PageTooLarge, PageUnreachable
from cc_bot.internet.addresses import IpAddress, WebAddress, is_public
from cc_bot.version import __version__

T = TypeVar("T")

CONNECT_TIMEOUT_S: Final = 4.0
"""Per address of a name."""
MAX_ADDRESSES_TRIED: Final = 3
MAX_LOOKUPS: Final = 32
MAX_HEADER_BYTES: Final = 32 << 10
MAX_OVERHEAD_BYTES: Final = 256 << 10
"""Bytes that a session may receive beside bodies: TLS, headers, interim responses, chunk sizes, trailers.
Limits how much a server can have parsed."""
_READ_OVERHEAD_BYTES: Final = 64
"""Overhead counted per read from a socket, so that a server can't send single bytes forever."""
_MAX_READ_BYTES: Final = 16 << 10

# ---- thread ----------------------------------------------------------------------------------------------


@cache
def _fetch_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.SelectorEventLoop()  # others do not read by a socket's own methods
    threading.Thread(target=loop.run_forever, name="fetch", daemon=True).start()
    return loop


async def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the fetching thread's event loop, so that parsing does not block the bot."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _fetch_loop()))


# ---- network ---------------------------------------------------------------------------------------------

SocketAddress = tuple[str, int]
"""A numeric address and a port."""
Resolve = Callable[[str, int], Awaitable[Sequence[SocketAddress]]]

_lookups = threading.BoundedSemaphore(MAX_LOOKUPS)


async def resolve(name: str, port: int) -> Sequence[SocketAddress]:
    """Resolve a name. Raises OSError. Uses daemon threads: a name server that never answers delays neither
    other work nor the exit."""
    if not _lookups.acquire(blocking=False):
        raise OSError("too many names are being looked up")
    found: Future[Sequence[SocketAddress]] = Future()
    found.set_running_or_notify_cancel()

    def look_up() -> None:
        try:
            answers = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
            found.set_result([(str(address[0]), int(address[1])) for *_, address in answers])
        except (OSError, UnicodeError) as error:
            found.set_exception(OSError(str(error)))
        finally:
            _lookups.release()

    threading.Thread(target=look_up, name="look up a name", daemon=True).start()
    return await asyncio.wrap_future(found)


@cache
def _authorities() -> ssl.SSLContext:
    return ssl.create_default_context()


@dataclass(frozen=True, slots=True)
class Network:
    """How to reach servers, and which are allowed."""

    resolve: Resolve = resolve
    is_allowed: Callable[[IpAddress], bool] = is_public
    tls: Callable[[], ssl.SSLContext] = _authorities


PUBLIC: Final = Network()
"""For addresses by anyone."""
UNRESTRICTED: Final = Network(is_allowed=lambda _: True)
"""For addresses by the operator."""


class _Guard(AbstractResolver):
    """Restricts a session to allowed addresses and a number of bytes."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._overhead_left = MAX_OVERHEAD_BYTES

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name. Raises OSError, and AddressNotPublic unless all are allowed."""
        try:
            found = list(dict.fromkeys(await self._network.resolve(host, port)))
            self._check(host, found)
        except ValueError as error:
            raise OSError(str(error)) from error
        flags = socket.AI_NUMERICHOST
        return [
            ResolveResult(hostname=host, host=numeric, port=port, family=family, proto=0, flags=flags)
            for numeric, port in found[:MAX_ADDRESSES_TRIED]
        ]

    def make_socket(self, info: tuple[int, int, int, str, tuple[Any, ...]]) -> "_CountingSocket":
        """Return a socket for an address. Raises AddressNotPublic if it is not allowed."""
        family, kind, protocol, _, address = info
        self._check(str(address[0]), [(str(address[0]), 0)])
        return _CountingSocket(self, family, kind, protocol)

    def _check(self, host: str, addresses: Sequence[SocketAddress]) -> None:
        if not all(self._network.is_allowed(ip_address(numeric)) for numeric, _ in addresses):
            raise AddressNotPublic(host=host)

    def count_read(self, size: int) -> None:
        """Count what a socket received. Raises OSError above the limit."""
        self._overhead_left -= size + _READ_OVERHEAD_BYTES
        self.check_overhead()

    def check_overhead(self) -> None:
        """Raise OSError if too much was received beside bodies."""
        if self._overhead_left < 0:
            raise OSError("too much beside the body")

    def count_body(self, size: int) -> None:
        """Count received bytes as body, not overhead."""
        self._overhead_left += size

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class _CountingSocket(socket.socket):
    """Reports what it receives to the guard."""

    def __init__(self, guard: _Guard, family: int, kind: int, protocol: int) -> None:
        super().__init__(family, kind, protocol)
        self._guard = guard

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        data = super().recv(min(bufsize, _MAX_READ_BYTES), flags)
        self._guard.count_read(len(data))
        return data

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        size = super().recv_into(buffer, min(nbytes or len(buffer), _MAX_READ_BYTES), flags)
        self._guard.count_read(size)
        return size


# ---- request ---------------------------------------------------------------------------------------------


class HttpClient:
    """Made by `open_client`."""

    def __init__(self, session: aiohttp.ClientSession, guard: _Guard, network: Network) -> None:
        self._session = session
        self._guard = guard
        self._network = network

    @asynccontextmanager
    async def get(self, address: WebAddress, headers: Mapping[str, str]) -> AsyncIterator["HttpAnswer"]:
        """Request an address, without redirects. Raises AddressNotPublic before anything is sent,
        PageUnreachable, and PageGarbled if the response is not HTTP. The caller limits the time."""
        try:
            response = await self._session.get(
                URL(address.url, encoded=True),
                headers=headers,
                allow_redirects=False,
                ssl=self._network.tls() if address.scheme == "https" else True,
            )
        except (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError, ValueError) as error:
            raise PageUnreachable(host=address.host) from error
        except (aiohttp.ClientError, OSError) as error:
            raise PageGarbled(host=address.host) from error
        try:
            yield HttpAnswer(address.host, response, self._guard)
        finally:
            response.close()


@asynccontextmanager
async def open_client(network: Network) -> AsyncIterator[HttpClient]:
    """Open a client for a page and its redirects, which share one overhead limit."""
    guard = _Guard(network)
    connector = aiohttp.TCPConnector(
        resolver=guard,
        socket_factory=guard.make_socket,
        use_dns_cache=False,
        force_close=True,
        happy_eyeballs_delay=None,
    )
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": f"cc-bot/{__version__}", "Accept-Encoding": "gzip", "Connection": "close"},
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
        max_line_size=MAX_HEADER_BYTES,
        max_field_size=MAX_HEADER_BYTES,
    ) as session:
        yield HttpClient(session, guard, network)


class HttpAnswer:
    """A response whose headers were read."""

    def __init__(self, host: str, response: aiohttp.ClientResponse, guard: _Guard) -> None:
        self._host = host
        self._response = response
        self._guard = guard
        self.status: int = response.status

    def header(self, name: str) -> str:
        """Return the first header of a name, or an empty string."""
        value = self._response.headers.get(name, "").encode("utf-8", "surrogateescape")
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.decode("latin-1")

    async def read(self, max_bytes: int) -> bytes:
        """Return the decompressed body. Raises PageTooLarge above this size, packed or unpacked, and
        PageGarbled if it is cut off or compressed in an unknown way."""
        if self.header("content-encoding").strip().lower() not in ("", "identity", "gzip", "deflate"):
            raise PageGarbled(host=self._host)
        content, body, packed = self._response.content, bytearray(), 0
        try:
            async for data in content.iter_any():
                body += data
                self._guard.count_body(content.total_raw_bytes - packed)
                packed = content.total_raw_bytes
                if max(len(body), packed) > max_bytes:
                    raise PageTooLarge(limit=max_bytes >> 20)
            self._guard.check_overhead()  # without a length, a broken connection looks like the end
        except (aiohttp.ClientError, OSError) as error:
            raise PageGarbled(host=self._host) from error
        return bytes(body)
