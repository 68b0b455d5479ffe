"""Notices of what a press has done, each told once on the page that comes after it.

The address of that page names the notice by a random word that holds once, for the session that pressed. So
no link can claim that something was done, and a page that is loaded again does not tell it again. A restart
forgets them all, and then nothing is told.
"""

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from cc_bot.commands.reply import Reply
from cc_bot.domain.text import without_sign
from cc_bot.web.visitor import SignedIn

FIELD: Final = "done"
"""Of an address."""
MOST: Final = 2000
"""Notices that nobody has read yet."""


@dataclass(frozen=True, slots=True)
class PageNotice:
    """A sentence of `web.done` by its name, with its parameters, or the text of a reply; without either, what
    a page makes a sentence of itself."""

    name: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


class Notices:
    """The notices that nobody has read yet."""

    def __init__(self) -> None:
        self._kept = OrderedDict[tuple[int, str], PageNotice]()

    def leave(self, visitor: SignedIn, notice: PageNotice) -> str:
        """Leave one for the next page, and return the word that names it."""
        word = secrets.token_urlsafe(9)
        self._kept[visitor.session.id, word] = notice
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return word

    def take(self, visitor: SignedIn, word: str) -> PageNotice | None:
        """Return the notice of that word, once."""
        return self._kept.pop((visitor.session.id, word), None)


NOTICES: Final = web.AppKey("notices", Notices)


def go_on(request: web.Request, visitor: SignedIn, path: str, name: str = "", **params: Any) -> web.Response:
    """Redirect a browser after a press, so that reloading does not press again. The next page shows the
    sentence of that name."""
    return _redirect(request, visitor, path, PageNotice(name, params))


def go_on_with(request: web.Request, visitor: SignedIn, path: str, reply: Reply) -> web.Response:
    """Redirect likewise; the next page shows the reply of a command."""
    text = "\n".join(map(without_sign, (*reply.lines, *reply.notes)))
    return _redirect(request, visitor, path, PageNotice(text=text))


def _redirect(request: web.Request, visitor: SignedIn, path: str, notice: PageNotice) -> web.Response:
    page, _, asked = path.partition("?")
    word = request.app[NOTICES].leave(visitor, notice)
    query = urlencode([*parse_qsl(asked), (FIELD, word)])
    return web.Response(status=303, headers={"Location": f"{page}?{query}"})


def take_notice(request: web.Request, visitor: SignedIn) -> PageNotice | None:
    """Return what is to be told on the page that is asked for."""
    return request.app[NOTICES].take(visitor, request.query.get(FIELD, ""))
