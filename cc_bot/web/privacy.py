"""Shows, exports and erases a user's data, as in `/privacy`.

The export is one file, made while it is sent. Erasing ends the session, so its reply is the browser's last
page.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from aiohttp import web

from cc_bot.domain.privacy import CONFIRM_WITHIN, LEFT_BY_ERASING, Holdings
from cc_bot.domain.text import without_sign
from cc_bot.texts import Texts
from cc_bot.web.form import text_of
from cc_bot.web.page import ENVIRONMENT, fill, go_on, render, send_file
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import SignedIn, drop_cookie, is_secure, visitor_of

_MARKS: Final = ("・", "- ", "-# ")
"""Of list items on Discord; a page has a list."""


class PrivacyPages:
    def __init__(self, services: WebServices) -> None:
        self._services = services

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/privacy", self.show),
            web.get("/privacy/export", self.export),
            web.get("/privacy/erase", self.ask),
            web.post("/privacy/erase", self.erase),
        )

    async def show(self, request: web.Request) -> web.Response:
        visitor, privacy = visitor_of(request), self._services.privacy
        held = await privacy.overview(visitor.user_id)
        kinds = visitor.words.privacy.kinds
        return render(
            request,
            "privacy.html",
            visitor,
            held=[(name, held.kinds[kind]) for kind, name in kinds.items() if kind in held.kinds],
            kept=_lines(visitor.words.privacy.kept_lines(privacy.retention, held)),
        )

    async def export(self, request: web.Request) -> web.StreamResponse:
        visitor, now = visitor_of(request), self._services.clock()
        day = now.astimezone(visitor.timezone).date().isoformat()
        pieces = self._services.privacy.export_whole(visitor.user_id)
        return await send_file(request, pieces, f"cc-bot-{day}.json", "application/json")

    async def ask(self, request: web.Request) -> web.Response:
        """Show what would be erased, with the button."""
        visitor = visitor_of(request)
        held = await self._services.privacy.overview(visitor.user_id)
        until = self._services.clock() + CONFIRM_WITHIN
        return render(
            request,
            "privacy_erase.html",
            visitor,
            goes=_that_goes(held, visitor.words),
            stays=_lines([visitor.words.privacy.what_stays(held)])[0],
            until=until,
            until_s=int(until.timestamp()),
        )

    async def erase(self, request: web.Request) -> web.StreamResponse:
        """Erase everything, unless the question expired. Raises ErasureUnfinished or another StorageError."""
        visitor = visitor_of(request)
        until = text_of(request, "until")
        if not _holds(until, self._services.clock()):
            return go_on(request, visitor_of(request), "/privacy/erase", "erase_too_late")
        async with self._services.discord.erasing(visitor.user_id):
            held = await self._services.privacy.erase(visitor.user_id)
        response = self._erased(request, visitor, held)
        drop_cookie(response, secure=is_secure(request.host, self._services.settings))
        return response

    def _erased(self, request: web.Request, visitor: SignedIn, held: Holdings) -> web.Response:
        return fill(
            request.app[ENVIRONMENT],
            "privacy_erased.html",
            visitor.words,
            visitor.timezone,
            status=200,
            visitor=None,
            owner=False,
            done="",
            told=without_sign(visitor.words.privacy.told(held)),
        )


def _holds(until: str, now: datetime) -> bool:
    return until.isascii() and until.isdecimal() and len(until) < 12 and now.timestamp() <= int(until)


def _that_goes(held: Holdings, words: Texts) -> list[tuple[str, int]]:
    return [
        (name, held.count(kind))
        for kind, name in words.privacy.kinds.items()
        if kind not in LEFT_BY_ERASING and held.count(kind)
    ]


def _lines(lines: Sequence[str]) -> list[str]:
    found = list[str]()
    for line in lines:
        mark = next((mark for mark in _MARKS if line.startswith(mark)), "")
        found.append(line.removeprefix(mark))
    return found
