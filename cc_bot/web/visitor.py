"""Identifies a request's user, address and origin. Our referrer policy makes forms send their origin (Fetch
standard, "append a request `Origin` header"). Another host's name may point here (DNS rebinding)."""

import re
from collections import OrderedDict, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from cc_bot.chat.reply import Caller
from cc_bot.domain.access import Subject, WebSession
from cc_bot.domain.clock import zone_named
from cc_bot.domain.errors import NotSignedIn, TooManyRequests
from cc_bot.domain.text import Locale
from cc_bot.domain.usage import Payer
from cc_bot.texts import texts
from cc_bot.web.services import WebServices, WebSettings

COOKIE: Final = "cc_bot"
COOKIE_PREFIX: Final = "__Host-"  # no other host can set or read it (RFC 6265bis, section 4.1.3.2)
MAX_LANGUAGES_LENGTH: Final = 500  # characters of `Accept-Language` that are read
MAX_REQUESTS: Final = 20  # per session and second
MAX_TRACKED: Final = 5000  # senders whose requests are counted
_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([0-9a-z.-]+))(?::[0-9]{1,5})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebVisitor(Caller):
    session: WebSession
    is_owner: bool  # checked in each request
    name: str
    names: Mapping[Subject, Mapping[int, str]] = field(default_factory=dict)

    def format_mention(self, kind: Subject, id_: int) -> str:
        return self.names.get(kind, {}).get(id_) or Caller.format_mention(self, kind, id_)


VISITOR: Final = web.RequestKey("visitor", WebVisitor)
SETTINGS: Final = web.AppKey("settings", WebSettings)


def visitor_of(request: web.Request) -> WebVisitor:
    """Raises NotSignedIn."""
    visitor: WebVisitor | None = request.get(VISITOR)
    if visitor is None:
        raise NotSignedIn
    return visitor


def locale_of(request: web.Request, default: Locale) -> Locale:
    asked = f"{request.query.get('lang', '')},{request.headers.get('Accept-Language', '')}"
    for wanted in asked[:MAX_LANGUAGES_LENGTH].split(","):
        tag = wanted.partition(";")[0].strip().lower()
        if tag.partition("-")[0] in [*Locale]:
            return Locale.from_tag(tag)
    return default


def cookie_name(request: web.Request) -> str:
    return f"{COOKIE_PREFIX}{COOKIE}" if is_secure(request) else COOKIE


def set_cookie(
    request: web.Request, response: web.StreamResponse, name: str, value: str, max_age_s: int
) -> None:
    secure = is_secure(request)
    response.set_cookie(name, value, max_age=max_age_s, secure=secure, httponly=True, samesite="Lax")


def drop_cookie(request: web.Request, response: web.StreamResponse) -> None:
    response.del_cookie(cookie_name(request), secure=is_secure(request), httponly=True, samesite="Lax")


def read_cookie(request: web.Request, name: str) -> str:
    """Read a cookie in linear time: aiohttp's parser may take 14 ms per header."""
    for header in request.headers.getall("Cookie", ()):
        for pair in header.split(";"):
            found, _, value = pair.partition("=")
            if found.strip() == name:
                return value.strip()
    return ""


async def load_visitor(services: WebServices, request: web.Request, session: WebSession) -> WebVisitor:
    user_settings = await services.stores.settings.get(session.user_id)
    locale = user_settings.locale or locale_of(request, services.settings.locale)
    name = await services.discord.user_name(session.user_id) if session.user_id else ""
    guild_id = session.origin.guild_id  # a member's roles are unknown here
    return WebVisitor(
        session.user_id,
        locale,
        zone_named(user_settings.timezone, services.settings.timezone),
        texts(locale),
        memory_paused=user_settings.memory_paused,
        spoken=user_settings.spoken,
        payer=Payer(session.user_id, guild_id or 0, None if guild_id else ()),
        session=session,
        is_owner=await services.discord.is_owner(session.user_id),
        name=name or "",
    )


@dataclass(eq=False, slots=True)
class RequestLimiter:
    max_requests: int = MAX_REQUESTS
    period_s: float = 1.0
    _times_s: OrderedDict[object, deque[float]] = field(default_factory=OrderedDict)

    def count(self, sender: object, now_s: float) -> None:
        """Raises TooManyRequests."""
        times_s = self._times_s.setdefault(sender, deque(maxlen=self.max_requests))
        self._times_s.move_to_end(sender)
        if len(self._times_s) > MAX_TRACKED:
            self._times_s.popitem(last=False)
        if len(times_s) == self.max_requests and times_s[0] > now_s - self.period_s:
            raise TooManyRequests
        times_s.append(now_s)


def has_our_host(request: web.Request) -> bool:
    host = single_header(request, "Host").lower()
    return host == urlsplit(request.app[SETTINGS].url).netloc or _is_loopback(host)


def is_secure(request: web.Request) -> bool:
    ours = urlsplit(request.app[SETTINGS].url)
    return ours.scheme == "https" and request.host.lower() == ours.netloc


def has_our_origin(request: web.Request) -> bool:
    url, host = request.app[SETTINGS].url, request.host.lower()
    origin = single_header(request, "Origin").lower()
    if is_secure(request):
        return origin == url
    return origin in (f"http://{host}", url if host == urlsplit(url).netloc else "")


def single_header(request: web.Request, name: str) -> str:
    """Return a header's value; empty if it is missing or sent twice."""
    values = request.headers.getall(name, [])
    return values[0] if len(values) == 1 else ""


def _is_loopback(host: str) -> bool:
    match = _HOST.fullmatch(host)
    name = (match[1] or match[2]).lower() if match else ""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def address_of(request: web.Request) -> str:
    """Return the nearest address that is not our proxy's; for IPv6, the /64 network (RFC 6177)."""
    address_text, proxies = request.remote or "", request.app[SETTINGS].proxies
    forwarded = [each.strip() for each in request.headers.get("X-Forwarded-For", "").split(",")]
    with suppress(ValueError):
        while forwarded and any(ip_address(address_text) in network for network in proxies):
            address_text = forwarded.pop() or address_text
        address = ip_address(address_text)
        if isinstance(address, IPv6Address) and not address.ipv4_mapped:
            return str(ip_network((address, 64), strict=False))
    return address_text
