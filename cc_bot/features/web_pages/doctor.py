import asyncio
from collections.abc import Iterator, Sequence
from typing import Final

from cc_bot.chat.checks import Check, CheckContext, Finding, failed, off, ok, warning
from cc_bot.features.web_pages.addresses import parse_address
from cc_bot.features.web_pages.errors import PageError, PagesNotConfined, SearchFailed, SearchJsonOff
from cc_bot.features.web_pages.parts import make_searches, make_web_access
from cc_bot.features.web_pages.searches import SearchService
from cc_bot.features.web_pages.texts import WebPageCheckTexts
from cc_bot.features.web_pages.turn import PageSource, can_read_pages
from cc_bot.texts import Texts, explain

PAGE: Final = "https://example.com/"  # maintained by IANA
QUERY: Final = "cc-bot"
_SETTINGS: Final = {"searxng": "CC_BOT_SEARCH_URL", "brave": "CC_BOT_BRAVE_KEY"}


def list_checks(context: CheckContext) -> Iterator[Check]:
    config, words = context.config, context.words
    sentences, reader = words[WebPageCheckTexts], make_web_access(config).pages if context.online else None
    yield Check("reading", check_reading(reader, words, enabled=config.read_pages), label=sentences.reading)
    if context.online:
        yield Check("search", check_search(make_searches(config), words), label=sentences.search)


async def check_reading(
    reader: PageSource | None, words: Texts, *, enabled: bool, page: str = PAGE
) -> Sequence[Finding]:
    """Without a `reader` nothing is fetched."""
    sentences = words[WebPageCheckTexts]
    if not enabled or not can_read_pages():
        return [off("reading", sentences.reading_not_installed if enabled else sentences.reading_off)]
    if reader is None:
        return []
    try:
        await reader.read(parse_address(page), asyncio.Semaphore())
    except PagesNotConfined:  # reported by features/documents/doctor.py
        return []
    except PageError as error:
        return [warning("reading", explain(error, words), sentences.reading_failed_fix.format(url=page))]
    return [ok("reading", sentences.reading_ok)]


async def check_search(services: Sequence[SearchService], words: Texts) -> Sequence[Finding]:
    sentences, findings = words[WebPageCheckTexts], list[Finding]()
    for service in services:
        names = {"name": service.name, "variable": _SETTINGS[service.name]}
        try:
            await service.search(QUERY)
            findings.append(ok("search", sentences.search_ok.format(**names)))
        except SearchJsonOff:
            findings.append(failed("search", sentences.search_format_off))
        except SearchFailed:
            findings.append(failed("search", sentences.search_failed.format(**names)))
    return findings or [off("search", sentences.search_none)]
