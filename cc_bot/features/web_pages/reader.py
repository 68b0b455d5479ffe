"""Reads web pages: a thread fetches them (`http`), a process converts them to text
(`cc_bot.features.documents`)."""

import asyncio
import io
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from typing import Final, Literal

import aiohttp
import structlog

from cc_bot.domain import errors
from cc_bot.domain.message import MEDIA_TYPES
from cc_bot.domain.text import one_line, printable, shorten
from cc_bot.features.documents.reader import DocumentReader, reading_command, run_reading_process
from cc_bot.features.web_pages.addresses import WebAddress
from cc_bot.features.web_pages.errors import (
    DocumentPagesNotInstalled,
    PageError,
    PageIsScan,
    PageKindRefused,
    PageNotThere,
    PageReaderBusy,
    PagesNotConfined,
    PagesNotInstalled,
    PageTemporarilyUnavailable,
    PageTooLong,
    PageTooSlow,
    PageUnreadable,
    TooManyRedirects,
)
from cc_bot.features.web_pages.http import (
    PUBLIC_NETWORK,
    Network,
    get,
    header,
    open_session,
    read_body,
    run_on_fetch_loop,
)
from cc_bot.features.web_pages.turn import ReadPage

FETCH_TIMEOUT_S: Final = 10.0
MAX_PAGE_BYTES: Final = 2 << 20
MAX_DOCUMENT_BYTES: Final = 8 << 20
MAX_REDIRECTS: Final = 5
MAX_CONTENT_TYPE_CHARACTERS: Final = 200  # parsing takes quadratic time

PageKind = Literal["html", "text", "json", "document"]

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_TOO_MANY_REQUESTS: Final = 429
_KINDS: Final[dict[str, PageKind]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "text/markdown": "text",
    "application/json": "json",
    **dict.fromkeys(MEDIA_TYPES.values(), "document"),
}
_GENERIC_MEDIA_TYPES: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
"""With these, the first bytes of the body decide whether the page is a document."""
_DOCUMENT_BEGINNINGS: Final = (b"%PDF-", b"PK\x03\x04")
_HEADERS: Final = {"Accept": "text/html,application/xhtml+xml,text/plain,application/json;q=0.9,*/*;q=0.1"}


@dataclass(frozen=True, slots=True)
class FetchedPage:
    address: WebAddress
    kind: PageKind
    encoding: str
    data: bytes


async def fetch(address: WebAddress, network: Network = PUBLIC_NETWORK) -> FetchedPage:
    """Follow redirects. Raises a PageError, which contains no text of the server."""
    return await run_on_fetch_loop(_fetch(address, network))


async def _fetch(address: WebAddress, network: Network) -> FetchedPage:
    requested = address
    try:
        async with asyncio.timeout(FETCH_TIMEOUT_S), open_session(network) as session:
            for _ in range(MAX_REDIRECTS + 1):
                async with get(session, address, _HEADERS) as response:
                    location = header(response, "location") if response.status in _REDIRECTS else ""
                    if not location:
                        return await _read_response(address, response)
                address = address.follow(location)
    except PageError as error:
        if "host" in error.params:
            error.params["host"] = requested.host  # a redirect's host is text of the server
        raise
    except TimeoutError as error:
        raise PageTooSlow(host=requested.host, seconds=round(FETCH_TIMEOUT_S)) from error
    raise TooManyRedirects(limit=MAX_REDIRECTS)


async def _read_response(address: WebAddress, response: aiohttp.ClientResponse) -> FetchedPage:
    if not 200 <= response.status < 300:
        is_temporary = response.status == _TOO_MANY_REQUESTS or response.status >= 500
        error = PageTemporarilyUnavailable if is_temporary else PageNotThere
        raise error(host=address.host, status=response.status)
    content_type = header(response, "content-type")[:MAX_CONTENT_TYPE_CHARACTERS]
    parsed = Message()
    parsed["content-type"] = "".join(filter(str.isprintable, content_type))
    media_type = parsed.get_content_type() if content_type else ""
    kind = _KINDS.get(media_type, "json" if media_type.endswith("+json") else None)
    is_named_pdf = address.target.partition("?")[0].lower().endswith(".pdf")
    if kind is None and not is_named_pdf and media_type not in _GENERIC_MEDIA_TYPES:
        raise PageKindRefused
    limit = MAX_DOCUMENT_BYTES if kind in (None, "document") else MAX_PAGE_BYTES
    data = await read_body(response, address.host, limit)
    if kind is None and not data.startswith(_DOCUMENT_BEGINNINGS):
        raise PageKindRefused
    return FetchedPage(address, kind or "document", parsed.get_content_charset(""), data)


TOTAL_TIMEOUT_S: Final = 19.0  # less than a tool's timeout
MAX_PAGES_IN_MEMORY: Final = 4
MAX_CONCURRENT_CONVERSIONS: Final = 1
MAX_TITLE_CHARACTERS: Final = 200

_SAFE_ENCODING_NAME: Final = re.compile(r"[A-Za-z0-9_.:-]{1,40}")
"""The encoding is sent to the process within one line."""

_log = structlog.get_logger(__name__)


class PageReader:
    """Implements PageSource for all turns."""

    def __init__(
        self,
        network: Network = PUBLIC_NETWORK,
        command: Sequence[str] = (),
        documents: DocumentReader | None = None,
        *,
        unconfined: bool = False,
    ) -> None:
        """`documents` reads PDFs and office files. `unconfined` permits reading without a sandbox."""
        self._network = network
        self._command = tuple(command) or reading_command("page", unconfined=unconfined)
        self._documents = documents or DocumentReader(unconfined=unconfined)
        self._memory_slots = asyncio.Semaphore(MAX_PAGES_IN_MEMORY)
        self._conversion_slots = asyncio.Semaphore(MAX_CONCURRENT_CONVERSIONS)

    async def read(self, address: WebAddress, slots: asyncio.Semaphore) -> ReadPage:
        """Wait for one of the turn's `slots` and one of the bot's. Raises a PageError, DocumentLocked or
        DocumentOldFormat."""
        started_s = time.monotonic()
        try:
            fetched, (title, text) = await self._read(address, slots)
        except errors.CcBotError as error:
            # Only the host is logged: the rest may be secret.
            seconds = round(time.monotonic() - started_s, 3)
            _log.info("page_not_read", host=address.host, error=type(error).__name__, seconds=seconds)
            raise
        seconds = round(time.monotonic() - started_s, 3)
        _log.info("page_read", host=fetched.address.host, size=len(fetched.data), seconds=seconds)
        title = shorten(one_line(printable(title)), MAX_TITLE_CHARACTERS)
        return ReadPage(fetched.address.url, title, printable(text).strip())

    async def _read(
        self, address: WebAddress, slots: asyncio.Semaphore
    ) -> tuple[FetchedPage, tuple[str, str]]:
        try:
            async with asyncio.timeout(TOTAL_TIMEOUT_S):
                async with slots, self._memory_slots:
                    fetched = await fetch(address, self._network)
                    async with self._conversion_slots:
                        return fetched, await self._convert(fetched)
        except TimeoutError as error:  # while waiting for slots: the other steps have their own timeouts
            raise PageReaderBusy from error

    async def _convert(self, fetched: FetchedPage) -> tuple[str, str]:
        """Return title and text. Raises a PageError, DocumentLocked or DocumentOldFormat."""
        is_document = fetched.kind == "document"
        try:
            if is_document:
                return "", await self._document_text(fetched.data)
            encoding = fetched.encoding if _SAFE_ENCODING_NAME.fullmatch(fetched.encoding) else ""
            data = f"{fetched.kind} {encoding}\n".encode() + fetched.data
            answer = await run_reading_process(self._command, io.BytesIO(data), "pages")
        except (errors.DocumentLocked, errors.DocumentOldFormat):
            raise
        except (errors.DocumentTooLong, TimeoutError) as error:
            raise PageTooLong from error
        except errors.DocumentsNotInstalled as error:
            missing = DocumentPagesNotInstalled if is_document else PagesNotInstalled
            raise missing from error
        except errors.DocumentsNotConfined as error:
            raise PagesNotConfined from error
        except (errors.InputError, OSError, ValueError, RecursionError) as error:
            raise PageUnreadable from error
        return str(answer.get("title", "")), str(answer.get("text", ""))

    async def _document_text(self, data: bytes) -> str:
        document = (await self._documents.read_without_queue(io.BytesIO(data))).document
        if not any(part.text.strip() for part in document.parts):
            raise PageIsScan if document.is_scan else PageUnreadable
        return document.text_with_labels(range(1, len(document.parts) + 1))
