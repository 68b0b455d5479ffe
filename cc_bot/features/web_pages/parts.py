from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cc_bot.chat.parts import PartsBuilder
from cc_bot.features.web_pages.http import PUBLIC_NETWORK
from cc_bot.features.web_pages.searches import BraveSearch, SearchService, SearxngSearch, WebSearch
from cc_bot.features.web_pages.turn import PageSource, WebAccess, can_read_pages

if TYPE_CHECKING:
    from cc_bot.config import Config


def make_parts(builder: PartsBuilder) -> Iterable[object]:
    builder.tools.turn_parts.append(make_web_access(builder.config))
    return ()


def make_web_access(config: "Config") -> WebAccess:
    services = make_searches(config)
    return WebAccess(_make_pages(config), WebSearch(services) if services else None)


def _make_pages(config: "Config") -> PageSource | None:
    if not (config.read_pages and can_read_pages()):
        return None
    from cc_bot.features.web_pages.reader import PageReader  # noqa: PLC0415 - needs the feature `documents`

    return PageReader(PUBLIC_NETWORK, unconfined=config.read_unconfined)


def make_searches(config: "Config") -> Sequence[SearchService]:
    services = list[SearchService]()
    if config.search_url:
        services.append(SearxngSearch(config.search_url))
    if config.brave_key:
        services.append(BraveSearch(config.brave_key))
    return services
