"""Tries the optional features: speech, embeddings, charts, documents, the web."""

import asyncio
import io
import wave
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

from cc_bot.app.doctor.report import Finding, failed, ok, warning
from cc_bot.charts import draw
from cc_bot.domain.canvas import Chart, Series
from cc_bot.domain.errors import (
    CcBotError,
    DocumentsNotConfined,
    InputError,
    PageError,
    PagesNotConfined,
    SearchFailed,
    SearchFormatOff,
)
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Attachment
from cc_bot.internet.addresses import parse_address
from cc_bot.internet.turn import PageSource, SearchService, can_read_pages
from cc_bot.llm.speech import Speaker, Transcriber
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
    """Transcribe a second of silence, and close the transcriber."""
    said = texts.doctor
    if transcriber is None:
        return ok("hearing", said.hearing_none)
    try:
        await transcriber.transcribe(Attachment("", "audio/wav", _silence()), Locale.EN)
    except CcBotError:
        return warning("hearing", said.hearing_failed.format(name=transcriber.name))
    finally:
        await transcriber.close()
    return ok("hearing", said.hearing_ok.format(name=transcriber.name))


def _silence() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16_000)
        sound.writeframes(bytes(32_000))
    return file.getvalue()


async def check_speaker(speaker: Speaker | None, texts: Texts) -> Finding:
    """Speak a word, and close the synthesizer."""
    said = texts.doctor
    if speaker is None:
        return ok("speaking", said.speaking_none)
    try:
        await speaker.speak("OK")
    except CcBotError:
        return warning("speaking", said.speaking_failed.format(name=speaker.name))
    finally:
        await speaker.close()
    return ok("speaking", said.speaking_ok.format(name=speaker.name))


async def check_embedder(embedder: Embedder | None, texts: Texts, *, wanted: bool) -> Finding:
    """Embed a word, and close the embedder. Search by words works without it."""
    said = texts.doctor
    if embedder is None:
        return ok("embedder", said.embedder_none if wanted else said.embedder_off)
    try:
        await embedder.embed(["猫 cat"])
    except CcBotError:
        return warning("embedder", said.embedder_failed.format(name=embedder.name))
    finally:
        await embedder.close()
    return ok("embedder", said.embedder_ok.format(name=embedder.name))


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
    """Check whether the system confines the reading process. `unconfined`: documents are read even if not."""
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
    """Read a web page. Without a `reader` nothing is fetched."""
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
