"""A user's settings, as in `/settings`, and signed-in browsers."""

from collections.abc import Sequence
from typing import Final

from aiohttp import web

from cc_bot import preferences
from cc_bot.domain.errors import InputError, NothingHere, UnknownTimezone
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import UserSettings
from cc_bot.domain.timezones import suggest_zones
from cc_bot.stores import Keep
from cc_bot.texts import explain
from cc_bot.web.conversations import channel_names
from cc_bot.web.form import form_of, number_of, text_of
from cc_bot.web.page import go_on, render, see_other
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, drop_cookie, is_secure, visitor_of

_LANGUAGES: Final[dict[str, Locale | None]] = {"": None, **{locale: locale for locale in Locale}}
MAX_ZONE_LENGTH: Final = 64
"""Characters, as in the command."""


class SettingsPages:
    def __init__(self, services: WebServices) -> None:
        self._services = services

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/settings", self.show),
            web.post("/settings", self.save),
            web.post("/sessions/end", self.end_session),
        )

    async def show(self, request: web.Request) -> web.Response:
        visitor = visitor_of(request)
        chosen = await self._services.stores.settings.get(visitor.user_id)
        return await self._page(request, visitor, chosen)

    async def _page(
        self,
        request: web.Request,
        visitor: SignedIn,
        chosen: UserSettings,
        trouble: str = "",
        *,
        status: int = 200,
    ) -> web.Response:
        """Return the form with the stored or submitted values, and the browsers; `trouble` is the problem
        with the time zone."""
        services = self._services
        sessions = await services.stores.web_sessions.list(visitor.user_id)
        return render(
            request,
            "settings.html",
            visitor,
            status=status,
            chosen=chosen,
            trouble=trouble,
            zones=suggest_zones(""),
            default_zone=services.settings.timezone.key,
            may_speak=services.settings.speaks,
            sessions=sessions,
            places=await channel_names(services, (each.place.channel_id for each in sessions), visitor),
        )

    async def save(self, request: web.Request) -> web.StreamResponse:
        """Save all settings; an invalid time zone is shown again. Raises InputError for an unknown
        language."""
        visitor, services = visitor_of(request), self._services
        if not {"language", "timezone"} <= form_of(request).keys():  # to leave it out chooses nothing
            raise InputError
        locale = _locale_in(text_of(request, "language"))
        typed = text_of(request, "timezone")
        spoken = bool(text_of(request, "spoken"))
        try:
            await preferences.choose(
                services.stores,
                visitor.user_id,
                locale=locale,
                zone=_zone_in(typed),
                spoken=spoken if services.settings.speaks else Keep.AS_IS,
                default_zone=services.settings.timezone.key,
            )
        except UnknownTimezone as error:
            written = UserSettings(locale=locale, timezone=typed, spoken=spoken)
            return await self._page(request, visitor, written, explain(error, visitor.words), status=400)
        return go_on(request, visitor_of(request), "/settings", "settings_saved")

    async def end_session(self, request: web.Request) -> web.StreamResponse:
        """Sign out one of the user's browsers by number, all, or all but this one. Raises NothingHere for an
        unknown number."""
        visitor, wanted = visitor_of(request), text_of(request, "id")
        store = self._services.stores.web_sessions
        if wanted == "others":
            await store.end_all(visitor.user_id, but=visitor.session.id)
            return go_on(request, visitor_of(request), "/settings", "sessions_ended")
        if wanted == "all":
            await store.end_all(visitor.user_id)
        elif not await store.end(visitor.user_id, number_of(wanted)):
            raise NothingHere
        if wanted in ("all", str(visitor.session.id)):
            sent = see_other("/signed-out")
            drop_cookie(sent, secure=is_secure(request.host, self._services.settings))
            return sent
        return go_on(request, visitor_of(request), "/settings", "session_ended")


def _locale_in(language: str) -> Locale | None:
    if language not in _LANGUAGES:
        raise InputError
    return _LANGUAGES[language]


def _zone_in(typed: str) -> str | None:
    """Return the entered time zone; None for the default. Raises UnknownTimezone if it is too long."""
    if len(typed) > MAX_ZONE_LENGTH:
        raise UnknownTimezone
    return typed.strip() or None
