"""The web pages that an answer is based on."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from cc_bot.domain.message import ToolCall

READ_PAGE: Final = "read_page"
WEB_SEARCH: Final = "web_search"
LINKS_SHOWN: Final = 5
FOUND_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class PageLink:
    url: str
    title: str

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.removeprefix("www.")


def pages_behind(calls: Iterable[ToolCall]) -> tuple[PageLink, ...]:
    """Return the pages that were read, or else the first results of the last search. The model's arguments
    are ignored."""
    read, found = list[PageLink | None](), tuple[PageLink, ...]()
    for call in calls:
        result = _result_of(call) if call.name in (READ_PAGE, WEB_SEARCH) and call.ok else {}
        if call.name == READ_PAGE:
            read.append(_link(result))
        elif isinstance(results := result.get("results"), list):
            found = _each_once(map(_link, results))[:FOUND_SHOWN] or found
    return _each_once(read) or found


def _each_once(links: Iterable[PageLink | None]) -> tuple[PageLink, ...]:
    known = dict[str, PageLink]()
    for link in filter(None, links):
        known.setdefault(link.url, link)
    return tuple(known.values())


def _result_of(call: ToolCall) -> dict[str, Any]:
    try:
        result = json.loads(call.result)
    except ValueError:  # its text was erased
        return {}
    return result if isinstance(result, dict) else {}


def _link(result: Any) -> PageLink | None:
    match result:
        case {"url": str(url), "title": str(title)} if url.startswith(("http://", "https://")):
            return PageLink(url, title)
        case _:
            return None
