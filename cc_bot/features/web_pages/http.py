"""Sends HTTP requests to untrusted servers. All IP addresses of a name must be allowed, and each is checked
again at its socket, against DNS rebinding. No proxy, cookie or password is used."""

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

from cc_bot import __version__
from cc_bot.features.web_pages.addresses import IpAddress, WebAddress, is_public
from cc_bot.features.web_pages.errors import AddressNotPublic, PageGarbled, PageTooLarge, PageUnreachable

T = TypeVar("T")

CONNECT_TIMEOUT_S: Final = 4.0
MAX_ADDRESSES_TRIED: Final = 3
MAX_LOOKUPS: Final = 32  # at once
MAX_HEADER_BYTES: Final = 32 << 10


@cache
def _fetch_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="fetch", daemon=True).start()
    return loop


async def run_on_fetch_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop of the fetch thread: parsing HTTP must not block the bot."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _fetch_loop()))


SocketAddress = tuple[str, int]
Resolve = Callable[[str, int], Awaitable[Sequence[SocketAddress]]]

_lookup_slots = threading.BoundedSemaphore(MAX_LOOKUPS)


async def resolve(name: str, port: int) -> Sequence[SocketAddress]:
    """Look up in a daemon thread: a silent DNS server must not delay other work or exit. Raises OSError."""
    if not _lookup_slots.acquire(blocking=False):
        raise OSError("too many names are being looked up")
    found: Future[Sequence[SocketAddress]] = Future()
    found.set_running_or_notify_cancel()

    def run_lookup() -> None:
        try:
            answers = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
            found.set_result([(str(address[0]), int(address[1])) for *_, address in answers])
        except (OSError, UnicodeError) as error:
            found.set_exception(OSError(str(error)))
        finally:
            _lookup_slots.release()

    threading.Thread(target=run_lookup, name="look up a name", daemon=True).start()
    return await asyncio.wrap_future(found)


@cache
def _default_tls() -> ssl.SSLContext:
    return ssl.create_default_context()


@dataclass(frozen=True, slots=True)
class Network:
    """How names are resolved, which IP addresses are allowed, and which certificates are trusted."""

    resolve: Resolve = resolve
    is_allowed: Callable[[IpAddress], bool] = is_public
    tls: Callable[[], ssl.SSLContext] = _default_tls


PUBLIC_NETWORK: Final = Network()  # for addresses that users or models name
UNRESTRICTED: Final = Network(is_allowed=lambda _: True)  # for the operator's addresses


class _AddressFilter(AbstractResolver):
    def __init__(self, network: Network) -> None:
        self._network = network

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Raises OSError, and AddressNotPublic unless all addresses are allowed."""
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

    def make_socket(self, info: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
        """Raises AddressNotPublic."""
        family, kind, protocol, _, address = info
        self._check(str(address[0]), [(str(address[0]), 0)])
        return socket.socket(family, kind, protocol)

    def _check(self, host: str, addresses: Sequence[SocketAddress]) -> None:
        if not all(self._network.is_allowed(ip_address(numeric)) for numeric, _ in addresses):
            raise AddressNotPublic(host=host)

    async def close(self) -> None:
        """Required by aiohttp."""


@asynccontextmanager
async def open_session(network: Network) -> AsyncIterator[aiohttp.ClientSession]:
    address_filter = _AddressFilter(network)
    connector = aiohttp.TCPConnector(
        resolver=address_filter,
        socket_factory=address_filter.make_socket,
        ssl=network.tls(),
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
        yield session


@asynccontextmanager
async def get(
    session: aiohttp.ClientSession, address: WebAddress, headers: Mapping[str, str]
) -> AsyncIterator[aiohttp.ClientResponse]:
    """Request an address without following redirects. The caller limits the time. Raises AddressNotPublic
    before anything is sent, PageUnreachable, and PageGarbled if the response is not HTTP."""
    url = URL(address.url, encoded=True)
    try:
        response = await session.get(url, headers=headers, allow_redirects=False)
    except (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError, ValueError) as error:
        raise PageUnreachable(host=address.host) from error
    except (aiohttp.ClientError, OSError) as error:
        raise PageGarbled(host=address.host) from error
    try:
        yield response
    finally:
        response.close()


def header(response: aiohttp.ClientResponse, name: str) -> str:
    value = response.headers.get(name, "").encode("utf-8", "surrogateescape")
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


async def read_body(response: aiohttp.ClientResponse, host: str, max_bytes: int) -> bytes:
    """Return the decompressed body. `max_bytes` limits the size before and after. Raises PageTooLarge, and
    PageGarbled if the body is cut off or its compression is unknown."""
    if header(response, "content-encoding").strip().lower() not in ("", "identity", "gzip", "deflate"):
        raise PageGarbled(host=host)
    content, body = response.content, bytearray()
    try:
        async for data in content.iter_any():
            body += data
            if max(len(body), content.total_raw_bytes) > max_bytes:
                raise PageTooLarge(limit=max_bytes >> 20)
    except (aiohttp.ClientError, OSError) as error:
        raise PageGarbled(host=host) from error
    return bytes(body)
