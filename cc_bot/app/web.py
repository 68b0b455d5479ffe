"""The pages in a browser, put together; and `cc-bot web`, which prints a link to them.

aiohttp's server and Jinja2 are imported when they are used: not where no port is named.
"""
# ruff: noqa: PLC0415 - see above

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from cc_bot.app.clocks import clock_of
from cc_bot.config import Config
from cc_bot.domain.clock import Clock
from cc_bot.domain.locale import Locale
from cc_bot.domain.web import WebPlace
from cc_bot.stores import open_stores
from cc_bot.texts import texts

if TYPE_CHECKING:
    from cc_bot.app.core import Core
    from cc_bot.app.owners import OwnersParts
    from cc_bot.doctor import Report
    from cc_bot.memories import Memories
    from cc_bot.web.services import Discord, WebServices

REACH_S = 2.0
"""For whatever listens on this machine to answer."""


DOCTOR_S: Final = 30.0
"""For its report, which somebody waits for in front of a page."""


def web_services(
    config: Config,
    core: "Core",
    owners: "OwnersParts",
    memories: "Memories",
    discord: "Discord",
    *,
    clock: Clock,
) -> "WebServices":
    """Put together what the pages are handed."""
    from cc_bot.web.services import ConsoleServices, WebServices, WebSettings

    settings = WebSettings(
        config.web_host,
        config.web_port or 0,
        config.web_url,
        config.web_proxies,
        config.locale,
        config.timezone,
        core.assistant.speaking.speaker is not None,
    )
    return WebServices(
        settings,
        core.stores,
        core.agents,
        ConsoleServices(
            owners.status, owners.administration, owners.records, partial(_examine, config, core)
        ),
        core.spending,
        core.moments,
        core.privacy,
        memories,
        discord,
        clock,
    )


async def _examine(config: Config, core: "Core", locale: Locale) -> "Report":
    """Have the doctor look at the program while it runs, and write in that language."""
    doctor = await asyncio.to_thread(import_module, "cc_bot.app.doctor")
    embedding, until_s = core.stores.embedding, time.monotonic() + DOCTOR_S
    report: Report = await doctor.run_doctor(
        replace(config, operator_locale=locale),
        offline=False,
        until_s=until_s,
        embedder=embedding.embedder if embedding else None,
    )
    return report


@asynccontextmanager
async def serve_web(
    config: Config,
    core: "Core",
    owners: "OwnersParts",
    memories: "Memories",
    discord: "Discord",
    *,
    clock: Clock,
    say: Callable[[str], None],
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Take the port of the pages, if one is named for them; yield what begins to serve them. Raises PortTaken
    or InvalidSetting."""
    if config.web_port is None:
        yield serve_nothing
        return
    from cc_bot.web.site import serve_pages

    async def begin_and_say() -> None:
        await begin()
        say(texts(config.operator_locale).web_start.served.format(url=config.web_url))

    async with serve_pages(web_services(config, core, owners, memories, discord, clock=clock)) as begin:
        yield begin_and_say


async def serve_nothing() -> None:
    """Serve no pages, where none are wanted."""


async def run_web(config: Config, user_id: int, say: Callable[[str], None]) -> bool:
    """Print a link that signs in a user, and return whether the pages are served at all."""
    words = texts(config.operator_locale).web_start
    if config.web_port is None:
        say(words.no_port)
        return False
    async with open_stores(config.database_url, clock=clock_of(config), embedder=None) as stores:
        code = await stores.web_sessions.make_code(WebPlace(user_id))
    if not await _is_served(config.web_host, config.web_port):
        say(words.nobody_serves.format(host=config.web_host, port=config.web_port))
    say(words.link)
    say(sign_in_url(config.web_url, code))
    return True


def sign_in_url(url: str, code: str) -> str:
    """Return the address that signs in whoever holds the code."""
    return f"{url}/sign-in?{urlencode({'code': code})}"


async def _is_served(host: str, port: int) -> bool:
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - nothing is bound here
    try:
        async with asyncio.timeout(REACH_S):
            _, writer = await asyncio.open_connection(reached, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
