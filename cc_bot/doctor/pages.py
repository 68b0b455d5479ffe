"""The pages in a browser: who has their port, whether they are reached under their address, and for how long
the certificate of that holds."""

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from cc_bot.doctor.checkup import Finding, FindingWriter
from cc_bot.domain.clock import Clock
from cc_bot.texts import Texts

TIMEOUT_S: Final = 5.0
SOON: Final = timedelta(days=14)
"""Before a certificate ends; what renews one by itself does so a month before."""
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is bound here
"""Where this machine itself finds what listens at all of its addresses."""


@dataclass(frozen=True, slots=True)
class PagesSide:
    """The place where the pages are to be, and what they are known by."""

    host: str
    port: int
    url: str
    path: str
    """Of a file that they serve to everybody."""
    content: bytes
    """What that holds."""
    clock: Clock


async def check_pages(side: PagesSide | None, words: Texts, *, offline: bool) -> Sequence[Finding]:
    """Check the port, and the address where that is another."""
    said, notes = words.doctor, FindingWriter("pages")
    if side is None:
        return [notes.ok(said.pages_off)]
    here = _EVERYWHERE.get(side.host, side.host)
    found = [await _check_port(side, here, words)]
    address = urlsplit(side.url)
    if not offline and address.scheme == "https":
        found += await _check_address(side, address.hostname or "", address.port or 443, words)
    return found


async def _check_port(side: PagesSide, host: str, words: Texts) -> Finding:
    said, notes = words.doctor, FindingWriter("pages")
    where = f"{f'[{host}]' if ':' in host else host}:{side.port}"
    try:
        served = await _fetch(f"http://{where}{side.path}")
    except aiohttp.ClientConnectorError:
        return notes.ok(said.pages_free.format(where=where))
    except (aiohttp.ClientError, TimeoutError):
        served = b""
    if served == side.content:
        return notes.ok(said.pages_served.format(where=where))
    return notes.failed(said.pages_taken.format(where=where), said.pages_taken_mend)


async def _check_address(side: PagesSide, host: str, port: int, words: Texts) -> list[Finding]:
    said, notes = words.doctor, FindingWriter("pages")
    try:
        served = await _fetch(f"{side.url}{side.path}")
        until = await _certificate_ends(host, port)
    except (aiohttp.ClientConnectorCertificateError, ssl.SSLError):
        return [notes.failed(said.pages_uncertified.format(url=side.url), said.pages_uncertified_mend)]
    except (aiohttp.ClientError, OSError, TimeoutError):
        return [notes.warning(said.pages_unreached.format(url=side.url), said.pages_unreached_mend)]
    if served != side.content:
        return [notes.warning(said.pages_unreached.format(url=side.url), said.pages_unreached_mend)]
    days = (until - side.clock()).days
    if until - side.clock() < SOON:
        return [notes.warning(said.pages_ending.format(days=days), said.pages_uncertified_mend)]
    return [notes.ok(said.pages_reached.format(url=side.url, days=days))]


async def _fetch(url: str) -> bytes:
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(TIMEOUT_S)) as client,
        client.get(url, ssl=ssl.create_default_context()) as answer,
    ):
        return await answer.read()


async def _certificate_ends(host: str, port: int) -> datetime:
    """Return until when the certificate holds that is shown there. Raises OSError, TimeoutError and
    ssl.SSLError."""
    async with asyncio.timeout(TIMEOUT_S):
        _, writer = await asyncio.open_connection(host, port, ssl=ssl.create_default_context())
        try:
            certificate: dict[str, Any] = writer.get_extra_info("peercert")
        finally:
            writer.close()
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
