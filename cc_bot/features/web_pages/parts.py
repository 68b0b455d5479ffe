"""Builds what the settings ask for. What they leave out is not imported."""
# ruff: noqa: PLC0415

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cc_bot.chat.parts import Building
from cc_bot.features.web_pages.turn import PageSource, SearchService, WebAccess, can_read_pages

if TYPE_CHECKING:
    from cc_bot.config import Config


def make_parts(given: Building) -> Iterable[object]:
    own = make_access(given.config)
    given.tools.turn_parts.append(own)
    return (own,)


def make_access(config: "Config") -> WebAccess:
    services, pages = make_searches(config), _make_pages(config)
    if not services:
        return WebAccess(pages)
    from cc_bot.features.web_pages.searches import WebSearch

    return WebAccess(pages, WebSearch(services))


def _make_pages(config: "Config") -> PageSource | None:
    if not (config.read_pages and can_read_pages()):
        return None
    from cc_bot.features.web_pages.http import PUBLIC
    from cc_bot.features.web_pages.reader import PageReader

    return PageReader(PUBLIC, unconfined=config.read_unconfined)


def make_searches(config: "Config") -> tuple[SearchService, ...]:
    if not (config.search_url or config.brave_key):
        return ()
    from cc_bot.features.web_pages.searches import BraveSearch, SearxngSearch

    own: list[SearchService] = [SearxngSearch(config.search_url)] if config.search_url else []
    return (*own, *([BraveSearch(config.brave_key)] if config.brave_key else []))
