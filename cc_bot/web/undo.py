"""Offers to undo a deletion on a page, until ten minutes pass, the program ends, or the user signs out, which
erasing all data does as well."""

import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from aiohttp import web

from cc_bot.domain.clock import UNDO_TIME
from cc_bot.domain.errors import NothingHere
from cc_bot.web.page import Pages, redirect
from cc_bot.web.services import WebServices
from cc_bot.web.visitor import visitor_of

MAX_UNDOS: Final = 500


@dataclass(frozen=True, slots=True)
class Undo:
    session_id: int  # only this browser may undo
    until: datetime
    back: str  # the page shown afterwards
    run: Callable[[], Awaitable[bool]]  # returns whether it changed anything


UNDOS: Final = web.AppKey("undos", OrderedDict[str, Undo])


def offer_undo(
    request: web.Request, services: WebServices, back: str, run: Callable[[], Awaitable[bool]]
) -> str:
    """Return the path to which the button "Undo" posts."""
    undos, token = request.app[UNDOS], secrets.token_urlsafe(12)
    until = services.clock() + UNDO_TIME
    undos[token] = Undo(visitor_of(request).session.id, until, back, run)
    if len(undos) > MAX_UNDOS:
        undos.popitem(last=False)
    return f"/undo/{token}"


class UndoPages(Pages):
    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (web.post("/undo/{token}", self.undo),)

    async def undo(self, request: web.Request) -> web.Response:
        """Raises NothingHere for an undo that was used before, or offered to another browser."""
        undo = request.app[UNDOS].get(request.match_info["token"])
        if undo is None or undo.session_id != visitor_of(request).session.id:
            raise NothingHere
        del request.app[UNDOS][request.match_info["token"]]
        is_open = self._services.clock() <= undo.until
        return redirect(request, undo.back, "undone" if is_open and await undo.run() else "undo_too_late")
