"""Serves the web pages; and `cc-bot web`, which prints a sign-in link."""
# ruff: noqa: PLC0415 - aiohttp's server and Jinja2 are imported only if a port is set

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from cc_bot.chat.stores.opening import open_stores
from cc_bot.chat.turn import AnswerSpeaker
from cc_bot.config import Config, local_address
from cc_bot.domain.access import SignInOrigin
from cc_bot.log import RecentRecords
from cc_bot.texts import texts
from cc_bot.texts.cli import CliTexts

if TYPE_CHECKING:
    from cc_bot.app.core import Core
    from cc_bot.web.services import Discord, WebServices

CONNECT_TIMEOUT_S = 2.0  # the server is on this machine


def web_services(core: "Core", records: RecentRecords, discord: "Discord") -> "WebServices":
    from cc_bot.web.services import WebServices, WebSettings

    config = core.config
    settings = WebSettings(
        config.web_host,
        config.web_port or 0,
        config.web_url,
        config.web_proxies,
        config.locale,
        config.timezone,
        core.get(AnswerSpeaker) is not None,
    )
    return WebServices(**core.as_arguments(), settings=settings, records=records, discord=discord)


@asynccontextmanager
async def serve_web(
    core: "Core", records: RecentRecords, say: Callable[[str], None], discord: "Discord"
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Bind the web pages' port, if set. Yields a function that starts serving. Raises PortTaken and
    InvalidSetting."""
    config = core.config
    if config.web_port is None:
        yield partial(asyncio.sleep, 0)
        return
    from cc_bot.web.server import serve_pages

    async def start_and_say() -> None:
        await start()
        say(texts(config.operator_locale)[CliTexts].pages_served.format(url=config.web_url))

    async with serve_pages(web_services(core, records, discord)) as start:
        yield start_and_say


async def run_web(config: Config, user_id: int, say: Callable[[str], None]) -> bool:
    """Print a sign-in link. Returns False if no port is set for the web pages."""
    words = texts(config.operator_locale)[CliTexts]
    if config.web_port is None:
        say(words.pages_no_port)
        return False
    async with open_stores(config.database_url, clock=config.clock, embedder=None) as stores:
        code = await stores.web_sessions.make_code(SignInOrigin(user_id))
    if not await _is_served(config.web_host, config.web_port):
        say(words.pages_not_served.format(host=config.web_host, port=config.web_port))
    say(words.pages_link)
    say(f"{config.web_url}/sign-in?{urlencode({'code': code})}")
    return True


async def _is_served(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            _, writer = await asyncio.open_connection(local_address(host), port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
