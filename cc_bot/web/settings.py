"""One's own settings, as `/settings` has them, and the browsers that are signed in."""

from collections.abc import Sequence
from typing import Final

from aiohttp import web

from cc_bot.domain.errors import InputError
from cc_bot.domain.locale import Locale
from cc_bot.domain.timezones import suggest_zones, zone_of
from cc_bot.web.form import text_of
from cc_bot.web.page import render, see_other
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import visitor_of

_LANGUAGES: Final[dict[str, Locale | None]] = {"": None, **{locale: locale for locale in Locale}}
LONGEST_ZONE: Final = 64
"""Characters, as the command takes them."""


class SettingsPages:
    def __init__(self, services: WebServices) -> None:
        self._services = services

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (web.get("/settings", self.show), web.post("/settings", self.save))

    async def show(self, request: web.Request) -> web.Response:
        """Show what is chosen, and who is signed in."""
        visitor, services = visitor_of(request), self._services
        return render(
            request,
            "settings.html",
            visitor,
            chosen=await services.stores.settings.get(visitor.user_id),
            zones=suggest_zones(""),
            default_zone=services.settings.timezone.key,
            may_speak=services.settings.speaks,
            sessions=await services.stores.web_sessions.list(visitor.user_id),
        )

    async def save(self, request: web.Request) -> web.StreamResponse:
        """Choose all of it. Raises UnknownTimezone, and InputError for a language that there is not."""
        visitor, services = visitor_of(request), self._services
        language, typed = await text_of(request, "language"), (await text_of(request, "timezone")).strip()
        if language not in _LANGUAGES or len(typed) > LONGEST_ZONE:
            raise InputError
        before = await services.stores.settings.get(visitor.user_id)
        zone = zone_of(typed) if typed else None
        await services.stores.settings.set(visitor.user_id, locale=_LANGUAGES[language], timezone=zone)
        if zone != before.timezone:
            holds = zone or services.settings.timezone.key
            await services.stores.schedules.rezone(visitor.user_id, holds)
        if services.settings.speaks:
            spoken = bool(await text_of(request, "spoken"))
            await services.stores.settings.speak(visitor.user_id, spoken)
        return see_other("/settings", "settings_saved")
