"""Serves all pages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from cc_bot.web.canvas import CanvasPages
from cc_bot.web.canvas_feed import CanvasFeed
from cc_bot.web.console import ConsolePages
from cc_bot.web.conversations import ConversationPages
from cc_bot.web.memory import MemoryPages
from cc_bot.web.memory_files import MemoryFilePages
from cc_bot.web.page import NOTICES, Notices, see_other
from cc_bot.web.privacy import PrivacyPages
from cc_bot.web.reminders import ReminderPages
from cc_bot.web.server import Begin, make_app, serve
from cc_bot.web.services import WebServices
from cc_bot.web.settings import SettingsPages
from cc_bot.web.sign_in import SignInPages
from cc_bot.web.usage import UsagePages


@asynccontextmanager
async def serve_pages(services: WebServices) -> AsyncIterator[Begin]:
    """Open the port for all pages until left; yields a function that starts serving. Raises PortTaken or
    InvalidSetting."""
    feed = CanvasFeed(services)
    pages = (
        SignInPages(services),
        CanvasPages(services, feed),
        MemoryFilePages(services),
        MemoryPages(services),
        ConversationPages(services),
        ReminderPages(services),
        UsagePages(services),
        SettingsPages(services),
        PrivacyPages(services),
        ConsolePages(services),
    )
    routes = [route for each in pages for route in each.routes()]
    app = make_app(services, [web.get("/", _go_home), *routes])
    app[NOTICES] = Notices()
    async with serve(services.settings, app) as begin, feed.running():
        yield begin


async def _go_home(_: web.Request) -> web.StreamResponse:
    return see_other("/canvas")
