"""Serves all pages. Requests must name one of our hosts, changes must come from our pages, and users pass the
same gate as for commands."""

import asyncio
from collections import Counter, OrderedDict
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
from cc_bot.listener import ConnectionLimits, Port, bind_port, listen
from cc_bot.web.account import AccountPages, SignInPages, UsagePages
from cc_bot.web.conversations import ConversationPages
from cc_bot.web.form import form_text, read_form
from cc_bot.web.page import (
    BOT,
    ENVIRONMENT,
    NOTICES,
    PAGES,
    STATIC_FOLDER,
    USER_FIELD,
    VERSIONED_STATIC_PATH,
    Handler,
    Notices,
    Pages,
    explain_error,
    field_of,
    http_status,
    make_environment,
    render_for_anyone,
    route_name,
    see_other,
)
from cc_bot.web.search import SearchPages
from cc_bot.web.services import RequestKind, WebServices
from cc_bot.web.undo import UNDOS, UndoPages
from cc_bot.web.visitor import (
    SETTINGS,
    VISITOR,
    RequestLimiter,
    address_of,
    cookie_name,
    drop_cookie,
    has_our_host,
    has_our_origin,
    load_visitor,
    read_cookie,
    single_header,
)

_log = structlog.get_logger(__name__)

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "manifest-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
PUBLIC_PATHS: Final = ("/sign-in", "/signed-out", "/static/", "/theme", "/avatar")  # need no session
# Also open to users who may no longer use the bot.
OWN_DATA_PATHS: Final = ("/privacy", "/sign-out", "/sessions/")
MAX_FORM_BYTES: Final = 2**20  # a file of 1 MB
MAX_ANONYMOUS_FORM_BYTES: Final = 4096  # a code to sign in
MAX_FORMS_PER_SENDER: Final = 4  # at a time, by one user or address: forms are in memory
MAX_ANONYMOUS_FORMS: Final = 200  # at a time, by all who are not signed in
FORM_TIMEOUT_S: Final = 20.0
SHUTDOWN_S: Final = 2.0  # for running responses
# Proxies should close idle connections earlier (nginx: 60 s).
LIMITS: Final = ConnectionLimits(max_connections=2000, request_s=15.0, idle_s=75.0, send_s=20.0)
_ALL_ANONYMOUS: Final = ""  # counted as one sender
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@asynccontextmanager
async def serve_pages(services: WebServices) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Open the port; yields a function that starts serving. Both raise PortTaken and InvalidSetting."""
    classes: list[type[Pages]] = [page for module in modules("web") for page in module.PAGES]
    classes += [SignInPages, ConversationPages, UsagePages, AccountPages, UndoPages, SearchPages]
    pages = [each(services) for each in classes]
    app = web.Application(middlewares=[RequestGuard(services).handle])
    app.on_response_prepare.append(_add_headers)
    app[ENVIRONMENT], app[NOTICES], app[SETTINGS] = make_environment(), Notices(), services.settings
    app[UNDOS] = OrderedDict()
    app[PAGES] = sorted(pages, key=lambda each: (each.for_owners, each.menu_position))

    home = next(each.path for each in app[PAGES] if each.path)

    async def go_home(_: web.Request) -> web.StreamResponse:
        return see_other(home)

    static = (web.static(path, STATIC_FOLDER) for path in (VERSIONED_STATIC_PATH, "/static"))
    app.add_routes([web.get("/", go_home), *static, *(route for each in pages for route in each.routes())])
    settings = services.settings
    port = Port(settings.host, settings.port, "CC_BOT_WEB_HOST", "CC_BOT_WEB_PORT", "8080")
    async with AsyncExitStack() as stack:
        reserved = bind_port(app, port, LIMITS, name=__name__, shutdown_s=SHUTDOWN_S, headers=HEADERS)
        listener = await stack.enter_async_context(reserved)
        for each in pages:
            await stack.enter_async_context(each.run())

        async def start_serving() -> None:
            await listen(listener, port)
            _log.info("pages_served", host=port.host, port=port.number)

        yield start_serving


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
    if request.path.startswith((f"{VERSIONED_STATIC_PATH}/", "/avatar")) and response.status < 400:
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"


class RequestGuard:
    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._rate_limiter = RequestLimiter()
        self._forms_being_read = Counter[int | str]()

    @web.middleware
    async def handle(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await self._admit(request, handler)
        except CcBotError as error:
            return self._make_error_page(request, error)
        except web.HTTPException as raised:
            if raised.status < 400:
                raise
            refusal = NothingHere() if raised.status in (403, 404, 405) else InputError()
            return self._make_error_page(request, refusal)
        except Exception:  # noqa: BLE001 - the log has the traceback
            _log.error("page_broke", page=route_name(request), exc_info=True)
            return self._make_error_page(request, CcBotError())

    async def _admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        services, is_change = self._services, request.method not in _SAFE_METHODS
        if not has_our_host(request):
            raise ForeignHost
        same_origin = single_header(request, "Sec-Fetch-Site") == "same-origin"
        if is_change and not (same_origin and has_our_origin(request)):
            raise ForeignRequest
        if request.path.startswith("/static/"):
            response = await handler(request)
            response.headers["Vary"] = "Accept-Encoding"
            response.enable_compression()  # pages aren't: their size would tell what is in them (BREACH)
            return response
        request[BOT] = await services.discord.bot_profile()
        secret = read_cookie(request, cookie_name(request))
        session = await services.stores.web_sessions.get(secret) if secret else None
        if session is not None:
            self._rate_limiter.count(session.id, asyncio.get_running_loop().time())
            request[VISITOR] = await load_visitor(services, request, session)
        if not request.path.startswith(PUBLIC_PATHS):
            if session is None:
                raise NotSignedIn
            kind: RequestKind = "command" if is_change else "read"
            await services.discord.admit(session.origin, kind, always=request.path.startswith(OWN_DATA_PATHS))
        if is_change:
            await self._read_form(request, session)
            page_user = form_text(request, USER_FIELD)
            if session is not None and page_user not in ("", str(session.user_id)):
                raise PageOfAnother
        return await handler(request)

    async def _read_form(self, request: web.Request, session: WebSession | None) -> None:
        """Limit the forms of a sender. Raises TooManyRequests, RequestTooLarge or InputError."""
        limits: dict[int | str, int] = (
            {session.user_id: MAX_FORMS_PER_SENDER}
            if session
            else {address_of(request): MAX_FORMS_PER_SENDER, _ALL_ANONYMOUS: MAX_ANONYMOUS_FORMS}
        )
        if any(self._forms_being_read[sender] >= limit for sender, limit in limits.items()):
            raise TooManyRequests
        self._forms_being_read.update([*limits])
        try:
            async with asyncio.timeout(FORM_TIMEOUT_S):
                await read_form(request, MAX_FORM_BYTES if session else MAX_ANONYMOUS_FORM_BYTES)
        except (ValueError, TimeoutError, HttpProcessingError, web.RequestPayloadError) as error:
            raise InputError from error
        finally:
            self._forms_being_read.subtract([*limits])
            self._forms_being_read += Counter()  # forgets zeros

    def _make_error_page(self, request: web.Request, error: CcBotError) -> web.Response:
        status, page = http_status(error), route_name(request)
        if status != 401:  # expired sessions and robots are not logged
            _log.info("page_refused", page=page, error=type(error).__name__, status=status)
        hidden = isinstance(error, OwnersOnly)
        needs_sign_in = VISITOR not in request and isinstance(error, NotSignedIn)
        response = render_for_anyone(
            request,
            "landing.html" if needs_sign_in else "trouble.html",
            status=status,
            sentence=explain_error(NothingHere() if hidden else error, request),
            just_signed_out=False,
            field=field_of(error, request),
            path="/",
            here=f"/{page.split('/')[1]}" if page and not hidden else "",
        )
        if needs_sign_in and read_cookie(request, cookie_name(request)):
            drop_cookie(request, response)
        return response
