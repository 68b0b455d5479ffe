"""Searches the web with SearXNG or Brave, which learn nothing about the user. Results are untrusted: invalid
addresses are dropped, and markup is removed."""

import asyncio
import html
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final
from urllib.parse import quote

import structlog

from cc_bot.domain.text import one_line, printable, shorten
from cc_bot.features.web_pages.addresses import may_be_public, parse_address
from cc_bot.features.web_pages.errors import AddressRefused, PageError, SearchFailed, SearchJsonOff
from cc_bot.features.web_pages.http import UNRESTRICTED, get, open_session, read_body, run_on_fetch_loop
from cc_bot.features.web_pages.turn import SearchResult

BRAVE_URL: Final = "https://api.search.brave.com/res/v1/web/search"
TIMEOUT_S: Final = 8.0  # per service; a tool has time for two
MAX_BYTES: Final = 512 << 10
MAX_RESULTS: Final = 8
MAX_TITLE_LENGTH: Final = 120
MAX_SNIPPET_LENGTH: Final = 400

_TAG: Final = re.compile(r"</?+[a-zA-Z][^<>]{0,100}+>")

_log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class SearxngSearch:
    base_url: str
    name: ClassVar = "searxng"

    async def search(self, query: str) -> Sequence[SearchResult]:
        """Raises SearchFailed; its subclass SearchJsonOff if SearXNG forbids JSON (403)."""
        url = f"{self.base_url.rstrip('/')}/search?q={quote(query, safe='')}&format=json"
        status, answer = await _request(url)
        if status == 403:  # JSON is not in SearXNG's `search.formats`
            raise SearchJsonOff
        match answer:
            case {"results": list(raw_results)}:
                return _read_results(raw_results, "content")
            case _:
                raise SearchFailed


@dataclass(eq=False, slots=True)
class BraveSearch:
    key: str = field(repr=False)
    base_url: str = BRAVE_URL
    name: ClassVar = "brave"

    async def search(self, query: str) -> Sequence[SearchResult]:
        """Raises SearchFailed."""
        url = f"{self.base_url}?q={quote(query, safe='')}&count={MAX_RESULTS}"
        _, answer = await _request(url, {"X-Subscription-Token": self.key})
        match answer:
            case {"web": {"results": list(raw_results)}}:
                return _read_results(raw_results, "description")
            case {"type": "search"}:  # no results
                return ()
            case _:
                raise SearchFailed


SearchService = SearxngSearch | BraveSearch


@dataclass(eq=False, slots=True)
class WebSearch:
    """Implements SearchSource: asks the services in order until one answers."""

    services: Sequence[SearchService]

    async def search(self, query: str) -> Sequence[SearchResult]:
        """Raises SearchFailed."""
        failure = SearchFailed()
        for service in self.services:
            started_s = time.monotonic()
            try:
                results = await run_on_fetch_loop(service.search(query))
            except SearchFailed as error:
                _log.warning("search_failed", service=service.name, error=type(error).__name__)
                failure = error
                continue
            seconds = round(time.monotonic() - started_s, 3)
            _log.info("searched", service=service.name, results=len(results), seconds=seconds)
            return results
        raise failure


async def _request(url: str, headers: Mapping[str, str] = {}) -> tuple[int, Any]:
    """Raises SearchFailed."""
    try:
        async with asyncio.timeout(TIMEOUT_S), open_session(UNRESTRICTED) as session:
            address = parse_address(url, ports=None)
            async with get(session, address, {"Accept": "application/json", **headers}) as response:
                if response.status != 200:
                    return response.status, None
                body = await read_body(response, address.host, MAX_BYTES)
        return 200, json.loads(body)
    except (PageError, TimeoutError, ValueError, RecursionError) as error:
        raise SearchFailed from error


def _read_results(raw_results: Iterable[Any], snippet_field: str) -> Sequence[SearchResult]:
    results = list[SearchResult]()
    for each in raw_results:
        match each:
            case {"url": str(url), "title": str(title)} if len(results) < MAX_RESULTS:
                with suppress(AddressRefused):
                    address, snippet = parse_address(url), each.get(snippet_field)
                    text = _clean_text(snippet, MAX_SNIPPET_LENGTH) if isinstance(snippet, str) else ""
                    if may_be_public(address):  # other pages can't be read
                        results.append(SearchResult(address, _clean_text(title, MAX_TITLE_LENGTH), text))
    return results


def _clean_text(text: str, limit: int) -> str:
    text = html.unescape(_TAG.sub("", text[: 4 * limit]))
    return shorten(one_line(printable(text)), limit)
