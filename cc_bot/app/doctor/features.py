"""Tries the optional features: speech, embeddings, charts, documents, the web and its pages."""

import asyncio
import io
import ssl
import wave
from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from cc_bot.app.doctor import Finding, failed, ok, warning
from cc_bot.charts import draw
from cc_bot.config import Config
from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.clock import Clock
from cc_bot.domain.errors import (
    CcBotError,
    DocumentsNotConfined,
    InputError,
    PageError,
    PagesNotConfined,
    SearchFailed,
    SearchFormatOff,
)
from cc_bot.domain.message import Attachment
from cc_bot.domain.text import Locale
from cc_bot.internet.addresses import parse_address
from cc_bot.internet.turn import PageSource, SearchService, can_read_pages
from cc_bot.llm.model import Speaker, Transcriber
from cc_bot.reading.reader import READ_BY_EXTRA, DocumentReader
from cc_bot.search.vectors import Embedder
from cc_bot.texts import Texts, explain

PAGE: Final = "https://example.com/"
"""Maintained by IANA for such uses."""
QUERY: Final = "cc-bot"
SMALL_PDF: Final = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 99]/Contents 4 0 R/Resources<</Font<</F<</Type/Font"
    b"/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n4 0 obj<</Length 66>>stream\n"
    b"BT /F 12 Tf 9 50 Td (A page that the checkup has read.) Tj ET      \nendstream endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF"
)
SMALL_RTF: Final = rb"{\rtf1 A page.}"
_SETTINGS: Final = {"searxng": "CC_BOT_SEARCH_URL", "brave": "CC_BOT_BRAVE_KEY"}


async def check_transcriber(transcriber: Transcriber | None, texts: Texts) -> Finding:
    said = texts.doctor
    if transcriber is None:
        return ok("hearing", said.hearing_none)
    use = transcriber.transcribe(Attachment("", "audio/wav", _silence()), Locale.EN)
    return await _try("hearing", transcriber, use, said.hearing_ok, said.hearing_failed)


def _silence() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 16_000, 0, "NONE", "not compressed"))
        sound.writeframes(bytes(32_000))
    return file.getvalue()


async def check_speaker(speaker: Speaker | None, texts: Texts) -> Finding:
    said = texts.doctor
    if speaker is None:
        return ok("speaking", said.speaking_none)
    return await _try("speaking", speaker, speaker.speak("OK"), said.speaking_ok, said.speaking_failed)


async def check_embedder(embedder: Embedder | None, texts: Texts, *, wanted: bool) -> Finding:
    """A failure is a warning: search by words works without it."""
    said = texts.doctor
    if embedder is None:
        return ok("embedder", said.embedder_none if wanted else said.embedder_off)
    use = embedder.embed(["猫 cat"])
    return await _try("embedder", embedder, use, said.embedder_ok, said.embedder_failed)


_Service = Transcriber | Speaker | Embedder


async def _try(check: str, service: _Service, use: Awaitable[object], works: str, fails: str) -> Finding:
    """Await its use, and close the service."""
    try:
        await use
    except CcBotError:
        return warning(check, fails.format(name=service.name))
    finally:
        await service.close()
    return ok(check, works.format(name=service.name))


async def check_charts(locale: Locale, texts: Texts) -> Finding:
    said = texts.doctor
    if not find_spec("resvg_py"):
        return ok("font", said.font_none)
    chart = Chart("font", "", "bar", ("晴れ", "雨"), (Series("", (2.0, 1.0)),))
    try:
        drawn = await asyncio.to_thread(draw, chart, locale)
    except (ImportError, OSError, RuntimeError):
        drawn = None
    return ok("font", said.font_ok) if drawn else failed("font", said.font_failed)


async def check_documents(reader: DocumentReader, texts: Texts) -> Sequence[Finding]:
    said = texts.doctor
    if not all(map(find_spec, READ_BY_EXTRA)):
        return [ok("documents", said.documents_none)]
    try:
        await reader.read(SMALL_PDF)
    except DocumentsNotConfined:  # reported by check_sandbox
        return []
    except InputError:
        return [failed("documents", said.documents_failed)]
    return [ok("documents", said.documents_ok)]


async def check_sandbox(reader: DocumentReader, texts: Texts, *, unconfined: bool) -> Finding:
    """`unconfined`: documents are read even without a sandbox."""
    said = texts.doctor
    try:
        await reader.read(SMALL_RTF)
    except DocumentsNotConfined:
        return warning("sandbox", said.sandbox_off if unconfined else said.sandbox_none)
    except InputError:
        return failed("sandbox", said.documents_failed)
    return ok("sandbox", said.sandbox_ok)


async def check_reading(
    reader: PageSource | None, texts: Texts, *, wanted: bool, page: str = PAGE
) -> Sequence[Finding]:
    """Without a `reader` nothing is fetched."""
    said = texts.doctor
    if not wanted or not can_read_pages():
        return [ok("reading", said.reading_none if wanted else said.reading_off)]
    if reader is None:
        return []
    try:
        await reader.read(parse_address(page), asyncio.Semaphore())
    except PagesNotConfined:  # reported by check_sandbox
        return []
    except PageError as error:
        return [warning("reading", explain(error, texts), said.reading_failed_fix.format(url=page))]
    return [ok("reading", said.reading_ok)]


async def check_search(services: Sequence[SearchService], texts: Texts) -> Sequence[Finding]:
    said, found = texts.doctor, list[Finding]()
    for service in services:
        names = {"name": service.name, "variable": _SETTINGS[service.name]}
        try:
            await service.find(QUERY)
            found.append(ok("search", said.search_ok.format(**names)))
        except SearchFormatOff:
            found.append(failed("search", said.search_format_off))
        except SearchFailed:
            found.append(failed("search", said.search_failed.format(**names)))
    return found or [ok("search", said.search_none)]


TIMEOUT_S: Final = 5.0
SOON: Final = timedelta(days=14)
"""A certificate is usually renewed a month before it expires."""
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
    async with asyncio.timeout(TIMEOUT_S):
        _, writer = await asyncio.open_connection(host, port, ssl=ssl.create_default_context())
        try:
            certificate: dict[str, Any] = writer.get_extra_info("peercert")
        finally:
            writer.close()
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
