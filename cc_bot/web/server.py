"""Serves all pages. A request must name one of our hosts, a change must come from one of our pages, and the
user passes the same gate as with commands. An error is a page with one sentence."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from cc_bot.domain.access import WebSession
from cc_bot.domain.errors import (
    CcBotError,
    ForeignHost,
    ForeignRequest,
    InputError,
    NothingHere,
    NotSignedIn,
    OwnersOnly,
    PageOfAnother,
    TooManyRequests,
)
from cc_bot.features import modules
from cc_bot.listener import ConnectionLimits, Port, listen, reserve
from cc_bot.web.account import AccountPages, SignInPages, UsagePages
from cc_bot.web.conversations import ConversationPages
from cc_bot.web.form import read_form, text_of
from cc_bot.web.page import (
    ENVIRONMENT,
    NOTICES,
    PARTS,
    STATIC_FOLDER,
    WHOSE,
    Handler,
    Notices,
    Pages,
    make_environment,
    name_of_page,
    render_for_anyone,
    see_other,
    sentence_on,
    status_of,
)
from cc_bot.web.services import WebServices, What
from cc_bot.web.visitor import (
    SETTINGS,
    VISITOR,
    RequestRates,
    address_of,
    cookie_name,
    drop_cookie,
    find_session,
    has_our_host,
    has_our_origin,
    only_header,
    read_cookie,
    recognize,
)

_log = structlog.get_logger(__name__)

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
PUBLIC: Final = ("/sign-in", "/signed-out", "/static/")  # without signing in
# A user's own data, also for those who may no longer use the bot, as with the commands.
ALWAYS: Final = ("/privacy", "/sign-out", "/sessions/")
MAX_BYTES: Final = 2**20  # of a form: a file of 1 MB
MAX_STRANGER_BYTES: Final = 4096  # of a form without signing in: a code
MAX_RECEIVING: Final = 4  # forms of one user or address at the same time; each is held in memory
MAX_STRANGERS: Final = 200  # forms at the same time without signing in
READING_S: Final = 20.0
CLOSING_S: Final = 2.0  # for running responses at shutdown
# Proxies should close idle connections earlier (nginx: 60 s).
LIMITS: Final = ConnectionLimits(max_connections=2000, request_s=15.0, idle_s=75.0, send_s=20.0)
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@asynccontextmanager
async def serve_pages(services: WebServices) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Open the port until left; yields a function that starts serving. Both raise PortTaken and
    InvalidSetting."""
    own = (SignInPages, ConversationPages, UsagePages, AccountPages)
    kinds: list[type[Pages]] = [*(each for module in modules("web") for each in module.PAGES), *own]
    pages = [kind(services) for kind in kinds]
    app = web.Application(middlewares=[Doorway(services).pass_on])
    app.on_response_prepare.append(_secure)
    app[ENVIRONMENT], app[NOTICES], app[SETTINGS] = make_environment(), Notices(), services.settings
    app[PARTS] = sorted(pages, key=lambda each: (each.for_owners, each.rank))

    home = next(each.path for each in app[PARTS] if each.path)

    async def go_home(_: web.Request) -> web.StreamResponse:
        return see_other(home)

    app.add_routes([web.get("/", go_home), web.static("/static", STATIC_FOLDER)])
    app.add_routes([route for each in pages for route in each.routes()])
    settings = services.settings
    port = Port(settings.host, settings.port, "CC_BOT_WEB_HOST", "CC_BOT_WEB_PORT", "8080")
    async with AsyncExitStack() as opened:
        reserved = reserve(app, port, LIMITS, name=__name__, shutdown_s=CLOSING_S, headers=HEADERS)
        listener = await opened.enter_async_context(reserved)
        for each in pages:
            await opened.enter_async_context(each.running())

        async def begin() -> None:
            await listen(listener, port)
            _log.info("pages_served", host=port.host, port=port.number)

        yield begin


async def _secure(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


class Doorway:
    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._rates = RequestRates()
        self._receiving = Counter[int | str]()

    @web.middleware
    async def pass_on(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await self._let_in(request, handler)
        except CcBotError as error:
            return self._refuse(request, error)
        except web.HTTPException as sent:
            if sent.status < 400:
                raise
            return self._refuse(request, NothingHere() if sent.status in (403, 404, 405) else InputError())
        except Exception:  # noqa: BLE001 - users see no traceback; the record has the rest
            _log.error("page_broke", page=name_of_page(request), exc_info=True)
            return self._refuse(request, CcBotError())

    async def _let_in(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        services, changes = self._services, request.method not in _SAFE
        if not has_our_host(request):
            raise ForeignHost
        same_origin = only_header(request, "Sec-Fetch-Site") == "same-origin"
        if changes and not (same_origin and has_our_origin(request)):
            raise ForeignRequest
        if request.path.startswith("/static/"):
            return await handler(request)
        session = await find_session(services, request)
        if session is not None:
            self._rates.count(session.id, asyncio.get_running_loop().time())
            request[VISITOR] = await recognize(services, request, session)
        if not request.path.startswith(PUBLIC):
            if session is None:
                raise NotSignedIn
            what: What = "command" if changes else "choices"
            await services.discord.admit(session.place, what, always=request.path.startswith(ALWAYS))
        if changes:
            await self._receive(request, session)
            whose = text_of(request, WHOSE)
            if session is not None and whose not in ("", str(session.user_id)):
                raise PageOfAnother
        return await handler(request)

    async def _receive(self, request: web.Request, session: WebSession | None) -> None:
        """A few per user at a time. Raises TooManyRequests, RequestTooLarge and InputError."""
        rooms: dict[int | str, int] = (
            {session.user_id: MAX_RECEIVING}
            if session
            else {address_of(request): MAX_RECEIVING, "": MAX_STRANGERS}
        )
        if any(self._receiving[who] >= most for who, most in rooms.items()):
            raise TooManyRequests
        self._receiving.update([*rooms])
        try:
            async with asyncio.timeout(READING_S):
                await read_form(request, MAX_BYTES if session else MAX_STRANGER_BYTES)
        except (ValueError, TimeoutError, HttpProcessingError, web.RequestPayloadError) as error:
            raise InputError from error
        finally:
            self._receiving.subtract([*rooms])
            self._receiving += Counter()  # forgets those at zero

    def _refuse(self, request: web.Request, error: CcBotError) -> web.Response:
        status, page = status_of(error), name_of_page(request)
        if status != 401:  # expired sessions and robots
            _log.info("page_refused", page=page, error=type(error).__name__, status=status)
        hidden = isinstance(error, OwnersOnly)
        response = render_for_anyone(
            request,
            "trouble.html",
            status=status,
            sentence=sentence_on(NothingHere() if hidden else error, request),
            links=(),
            here=f"/{page.split('/')[1]}" if page and not hidden else "",
        )
        signed_out = VISITOR not in request and isinstance(error, NotSignedIn)
        if signed_out and read_cookie(request, cookie_name(request)):
            drop_cookie(request, response)
        return response
