"""Signing in with a one-time link, and signing out. Opening a link changes nothing, so that link previews and
mail scanners do not use it up."""

import asyncio
from collections.abc import Sequence
from typing import Final

from aiohttp import web

from cc_bot.domain.access import WebPlace
from cc_bot.domain.errors import CcBotError, LinkOver, NotSignedIn, TooManyLinks, TooManyRequests
from cc_bot.texts import texts
from cc_bot.web.form import text_of
from cc_bot.web.page import render_for_anyone, see_other
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import (
    VISITOR,
    RequestRates,
    address_of,
    drop_cookie,
    is_secure,
    language_of,
    set_cookie,
    visitor_of,
)

MAX_TRIES: Final = 5
"""Invalid links of one address within TRIES_S."""
TRIES_S: Final = 60.0


class SignInPages:
    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._tries = RequestRates(MAX_TRIES, TRIES_S)

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/sign-in", self.show),
            web.post("/sign-in", self.sign_in),
            web.post("/sign-out", self.sign_out),
            web.get("/signed-out", self.show_signed_out),
        )

    async def show(self, request: web.Request) -> web.Response:
        """Raises LinkOver or TooManyLinks."""
        code = request.query.get("code", "")
        if not code:
            raise NotSignedIn
        place = await self._services.stores.web_sessions.find_code(code)
        if place is None:
            raise self._refused(request)
        words = texts(language_of(request, self._services))
        zone = self._services.settings.timezone
        name = await name_of_user(self._services, place, words.web.terminal_user)
        return render_for_anyone(request, "sign_in.html", words, zone, code=code, name=name)

    async def sign_in(self, request: web.Request) -> web.StreamResponse:
        """Raises as `show`, and errors of the gate."""
        code = text_of(request, "code")
        store = self._services.stores.web_sessions
        place = await store.find_code(code)
        if place is None:
            raise self._refused(request)
        await self._services.discord.admit(place, "command")
        made = await store.sign_in(code)
        if made is None:
            raise self._refused(request)
        former = request.get(VISITOR)
        if former is not None:
            await store.end(former.user_id, former.session.id)
        sent = see_other("/")
        set_cookie(sent, made[0], secure=is_secure(request.host, self._services.settings))
        return sent

    async def show_signed_out(self, request: web.Request) -> web.Response:
        words = texts(language_of(request, self._services))
        return render_for_anyone(request, "signed_out.html", words, self._services.settings.timezone)

    async def sign_out(self, request: web.Request) -> web.StreamResponse:
        visitor = visitor_of(request)
        await self._services.stores.web_sessions.end(visitor.user_id, visitor.session.id)
        sent = see_other("/signed-out")
        drop_cookie(sent, secure=is_secure(request.host, self._services.settings))
        return sent

    def _refused(self, request: web.Request) -> CcBotError:
        """Count an invalid link. Codes of 256 bits can't be guessed, so valid ones always work."""
        address = address_of(request, self._services.settings)
        try:
            self._tries.count(address, asyncio.get_running_loop().time())
        except TooManyRequests:
            return TooManyLinks()
        return LinkOver()


async def name_of_user(services: WebServices, place: WebPlace, terminal: str) -> str:
    if place.user_id == 0:
        return terminal
    return await services.discord.name_of(place.user_id) or str(place.user_id)
