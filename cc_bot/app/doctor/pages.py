"""Checks the web pages: port, address and certificate."""

import asyncio
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from cc_bot.app.doctor.report import Finding, failed, ok, warning
from cc_bot.config import Config
from cc_bot.domain.clock import Clock
from cc_bot.texts import Texts

TIMEOUT_S: Final = 5.0
SOON: Final = timedelta(days=14)
"""Before a certificate expires; automatic renewal happens a month before."""
ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is bound here
FILE: Final = "live.js"
"""Served without signing in."""


async def check_pages(config: Config, texts: Texts, clock: Clock, *, offline: bool) -> Sequence[Finding]:
    if config.web_port is None:
        return [ok("pages", texts.doctor.pages_off)]
    found = [await _check_port(ANY_ADDRESS.get(config.web_host, config.web_host), config.web_port, texts)]
    if not offline and urlsplit(config.web_url).scheme == "https":
        found.append(await _check_address(config.web_url, texts, clock))
    return found


async def _check_port(host: str, port: int, texts: Texts) -> Finding:
    said, where = texts.doctor, f"{f'[{host}]' if ':' in host else host}:{port}"
    try:
        if await _serves_pages(f"http://{where}"):
            return ok("pages", said.pages_served.format(where=where))
    except aiohttp.ClientConnectorError:
        return ok("pages", said.pages_free.format(where=where))
    except (aiohttp.ClientError, TimeoutError):
        pass
    return failed("pages", said.pages_taken.format(where=where))


async def _check_address(url: str, texts: Texts, clock: Clock) -> Finding:
    said, address = texts.doctor, urlsplit(url)
    try:
        is_ours = await _serves_pages(url)
        left = await _expiry(address.hostname or "", address.port or 443) - clock()
    except (aiohttp.ClientConnectorCertificateError, ssl.SSLError):
        return failed("pages", said.pages_uncertified.format(url=url))
    except (aiohttp.ClientError, OSError, TimeoutError):
        return warning("pages", said.pages_unreached.format(url=url))
    if not is_ours:
        return warning("pages", said.pages_unreached.format(url=url))
    if left < SOON:
        return warning("pages", said.pages_ending.format(days=left.days))
    return ok("pages", said.pages_reached.format(url=url, days=left.days))


async def _serves_pages(url: str) -> bool:
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(TIMEOUT_S)) as client,
        client.get(f"{url}/static/{FILE}", ssl=ssl.create_default_context()) as answer,
    ):
        return await answer.read() == (files("cc_bot.web") / "static" / FILE).read_bytes()


async def _expiry(host: str, port: int) -> datetime:
    """Return when the certificate expires. Raises OSError, TimeoutError and ssl.SSLError."""
    async with asyncio.timeout(TIMEOUT_S):
        _, writer = await asyncio.open_connection(host, port, ssl=ssl.create_default_context())
        try:
            certificate: dict[str, Any] = writer.get_extra_info("peercert")
        finally:
            writer.close()
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
