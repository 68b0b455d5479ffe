"""The web server: middleware that all requests pass, and headers of all responses.

A request must name one of our hosts, a change must come from one of our pages, and the user passes the same
gate as with commands. An error is a page with one sentence in the reader's language.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from cc_bot.domain.errors import (
    AccessError,
    AttachmentTooLarge,
    CanvasSwitched,
    CcBotError,
    FilesInLine,
    ForeignHost,
    ForeignRequest,
    InputError,
    LinkOver,
    MemoryHidden,
    NothingHere,
    NotSignedIn,
    OwnersOnly,
    PageOfAnother,
    RequestTooLarge,
    ScheduleNotFound,
    StorageError,
    TooManyCommands,
    TooManyImports,
    TooManyLinks,
    TooManyRequests,
)
from cc_bot.domain.locale import Locale
from cc_bot.domain.web import WebSession
from cc_bot.listener import ConnectionLimits, Port, listen, reserve
from cc_bot.texts import texts
from cc_bot.web.form import read_form, text_of
from cc_bot.web.page import (
    ENVIRONMENT,
    WHOSE,
    make_environment,
    read_static_files,
    render_for_anyone,
    sentence_on,
)
from cc_bot.web.services import WebServices, WebSettings, What
from cc_bot.web.visitor import (
    VISITOR,
    RequestRates,
    cookie_name,
    drop_cookie,
    find_session,
    locale_of,
    read_cookie,
    recognize,
)

_log = structlog.get_logger(__name__)

# ---- what every response carries ---------------------------------------------------------------------------

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Source: Content Security Policy Level 3."""
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


async def _secure(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


# ---- where a request comes from ----------------------------------------------------------------------------
# Another site's name pointed at this machine (DNS rebinding) is not ours, and another site's requests have
# another origin. Our pages set a referrer policy, so that their forms send an origin rather than `null`
# (Fetch standard, "append a request `Origin` header").

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def is_ours(host: str, settings: WebSettings) -> bool:
    """Return whether a `Host` header names these pages or this machine."""
    return host.lower() == urlsplit(settings.url).netloc or _is_loopback(host)


def is_secure(host: str, settings: WebSettings) -> bool:
    """Return whether a request for that host came over https."""
    ours = urlsplit(settings.url)
    return ours.scheme == "https" and host.lower() == ours.netloc


def is_from_ours(request: web.Request, settings: WebSettings) -> bool:
    """Return whether a request came from one of our pages."""
    origin, host = only_header(request, "Origin").lower(), request.host.lower()
    if is_secure(host, settings):
        return origin == settings.url
    return origin in (f"http://{host}", settings.url if host == urlsplit(settings.url).netloc else "")


def only_header(request: web.Request, name: str) -> str:
    """Return a header; empty if it is missing, or contradicts itself."""
    said = request.headers.getall(name, [])
    return said[0] if len(said) == 1 else ""


_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([0-9a-z.-]+))(?::[0-9]{1,5})?", re.IGNORECASE)
"""A `Host` header as browsers send it."""


def _is_loopback(host: str) -> bool:
    named = _HOST.fullmatch(host)
    name = (named[1] or named[2]).lower() if named else ""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def address_of(request: web.Request, settings: WebSettings) -> str:
    """Return the client's address: the nearest one that is not our proxy's. For IPv6 its network, which is
    one household or machine (RFC 6177)."""
    came = request.remote or ""
    forwarded = [each.strip() for each in request.headers.get("X-Forwarded-For", "").split(",")]
    while forwarded and _is_proxy(came, settings):
        came = forwarded.pop() or came
    with suppress(ValueError):
        address = ip_address(came)
        if isinstance(address, IPv6Address) and not address.ipv4_mapped:
            return str(ip_network((address, 64), strict=False))
    return came


def _is_proxy(address: str, settings: WebSettings) -> bool:
    try:
        return any(ip_address(address) in network for network in settings.proxies)
    except ValueError:
        return False


# ---- what every request passes -----------------------------------------------------------------------------

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
PUBLIC: Final = ("/sign-in", "/signed-out", "/static/")
"""Without signing in."""
ALWAYS: Final = ("/privacy", "/sign-out", "/sessions/")
"""A user's own data, also for those who may no longer use the bot, as with the commands."""
MAX_BYTES: Final = 2**20
"""Per request: a file of 1 MB with its form."""
MAX_STRANGER_BYTES: Final = 4096
"""Per request without signing in: a code."""
MAX_RECEIVING: Final = 4
"""Forms that one user or address sends at the same time; each is held in memory."""
MAX_STRANGERS: Final = 200
"""Forms sent at the same time without signing in."""
READING_S: Final = 20.0
"""For the body of a request."""

STATUSES: Final[Mapping[type[CcBotError], int]] = {
    NotSignedIn: 401,
    PageOfAnother: 409,
    LinkOver: 410,
    TooManyLinks: 429,
    TooManyRequests: 429,
    TooManyCommands: 429,
    TooManyImports: 429,
    FilesInLine: 429,
    RequestTooLarge: 413,
    AttachmentTooLarge: 413,
    MemoryHidden: 404,
    NothingHere: 404,
    ScheduleNotFound: 404,
    OwnersOnly: 404,
    AccessError: 403,
    CanvasSwitched: 409,
    InputError: 400,
    StorageError: 503,
}
"""The first class that matches."""


def status_of(error: CcBotError) -> int:
    return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)


class Doorway:
    """The middleware of all requests."""

    def __init__(self, services: WebServices, rates: RequestRates) -> None:
        self._services = services
        self._rates = rates
        self._receiving = Counter[int | str]()

    @web.middleware
    async def pass_on(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await self._let_in(request, handler)
        except CcBotError as error:
            return self._told(request, error)
        except web.HTTPException as sent:
            if sent.status < 400:
                raise
            return self._told(request, NothingHere() if sent.status in (404, 405) else InputError())
        except Exception:  # noqa: BLE001 - nobody is shown a traceback; the record has the rest
            _log.error("page_broke", page=name_of_page(request), exc_info=True)
            return self._told(request, CcBotError())

    async def _let_in(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        services, settings = self._services, self._services.settings
        if not is_ours(only_header(request, "Host"), settings):
            raise ForeignHost
        if request.method not in _SAFE:
            self._require_own(request)
        if request.path.startswith("/static/"):
            return await handler(request)
        secure = is_secure(request.host, settings)
        session = await find_session(services, request, secure=secure)
        if session is not None:
            self._rates.count(session.id, asyncio.get_running_loop().time())
            request[VISITOR] = await recognize(services, request, session)
        if not request.path.startswith(PUBLIC):
            if session is None:
                raise NotSignedIn
            what: What = "choices" if request.method in _SAFE else "command"
            await services.discord.admit(session.place, what, always=request.path.startswith(ALWAYS))
        if request.method not in _SAFE:
            await self._receive(request, session)
            whose = text_of(request, WHOSE)
            if session is not None and whose not in ("", str(session.user_id)):
                raise PageOfAnother
        return await handler(request)

    def _require_own(self, request: web.Request) -> None:
        """Raise ForeignRequest for a change that does not come from our pages."""
        same = only_header(request, "Sec-Fetch-Site") == "same-origin"
        if not (same and is_from_ours(request, self._services.settings)):
            raise ForeignRequest

    async def _receive(self, request: web.Request, session: WebSession | None) -> None:
        """Receive a form, a few per user at a time. Raises TooManyRequests, RequestTooLarge and
        InputError."""
        rooms: dict[int | str, int] = (
            {session.user_id: MAX_RECEIVING}
            if session
            else {address_of(request, self._services.settings): MAX_RECEIVING, "": MAX_STRANGERS}
        )
        if any(self._receiving[who] >= most for who, most in rooms.items()):
            raise TooManyRequests
        self._receiving.update([*rooms])
        try:
            await _receive(request, MAX_BYTES if session else MAX_STRANGER_BYTES)
        finally:
            self._receiving.subtract([*rooms])
            self._receiving += Counter()  # forgets those at zero

    def _told(self, request: web.Request, error: CcBotError) -> web.Response:
        status = status_of(error)
        if status != 401:  # who is signed out by time, and every robot that comes by
            _log.info("page_refused", page=name_of_page(request), error=type(error).__name__, status=status)
        visitor, settings = request.get(VISITOR), self._services.settings
        locale = visitor.locale if visitor else locale_of(request, settings.locale)
        zone = visitor.timezone if visitor else settings.timezone
        words = texts(locale)
        told = NothingHere() if isinstance(error, OwnersOnly) else error
        response = render_for_anyone(
            request,
            "trouble.html",
            words,
            zone,
            status=status,
            sentence=sentence_on(told, words, zone),
            links=(),
            here="" if isinstance(error, OwnersOnly) else _section(request),
        )
        secure = is_secure(request.host, settings)
        left = visitor is None and isinstance(error, NotSignedIn)
        if left and read_cookie(request, cookie_name(secure=secure)):
            drop_cookie(response, secure=secure)
        return response


async def _receive(request: web.Request, max_bytes: int) -> None:
    """Receive a form for the handlers. Raises RequestTooLarge, and InputError if it is invalid or takes too
    long."""
    try:
        async with asyncio.timeout(READING_S):
            await read_form(request, max_bytes)
    except (ValueError, TimeoutError, HttpProcessingError, web.RequestPayloadError) as error:
        raise InputError from error


def _section(request: web.Request) -> str:
    """Return the first part of a page's path; empty if there is no such page."""
    name = name_of_page(request)
    return f"/{name.split('/')[1]}" if name else ""


def name_of_page(request: web.Request) -> str:
    """Return a page's name for the log: its route pattern."""
    resource = request.match_info.route.resource
    return resource.canonical if resource else ""


# ---- server ------------------------------------------------------------------------------------------------

CLOSING_S: Final = 2.0
"""For running responses at shutdown."""
LIMITS: Final = ConnectionLimits(max_connections=2000, request_s=15.0, idle_s=75.0, send_s=20.0)
"""Proxies should close idle connections earlier (nginx: 60 s)."""


def make_app(services: WebServices, routes: Iterable[web.AbstractRouteDef]) -> web.Application:
    """Build the application with these routes."""
    app = web.Application(middlewares=[Doorway(services, RequestRates()).pass_on])
    app.on_response_prepare.append(_secure)
    app[ENVIRONMENT] = make_environment()
    app.add_routes([*routes, web.get("/static/{name}", _static())])
    return app


def _static() -> Handler:
    held = read_static_files()

    async def answer(request: web.Request) -> web.Response:
        body, content_type = held.get(request.match_info["name"], (None, ""))
        if body is None:
            raise NothingHere
        return web.Response(body=body, content_type=content_type, charset="utf-8")

    return answer


Begin = Callable[[], Awaitable[None]]


@asynccontextmanager
async def serve(settings: WebSettings, app: web.Application) -> AsyncIterator[Begin]:
    """Open the port, and serve until left; yields a function that starts serving, which raises PortTaken.

    Raises PortTaken, and InvalidSetting for a forbidden port or a host that this machine does not have.
    """
    port = Port(settings.host, settings.port, "CC_BOT_WEB_HOST", "CC_BOT_WEB_PORT", "8080")
    async with reserve(app, port, LIMITS, name=__name__, shutdown_s=CLOSING_S, headers=HEADERS) as listener:
        yield partial(_begin, listener, port)


async def _begin(listener: asyncio.Server, port: Port) -> None:
    await listen(listener, port)
    _log.info("pages_served", host=port.host, port=port.number)


def language_of(request: web.Request, services: WebServices) -> Locale:
    """Return the reader's language, signed in or not."""
    visitor = request.get(VISITOR)
    return visitor.locale if visitor else locale_of(request, services.settings.locale)
