"""The values that a browser sends: fields of a form are text, and numbers of things are numbers."""

import asyncio
import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

from cc_bot.domain.errors import NothingHere

_MOST_DIGITS: Final = 18
"""Of a number that SQLite can hold."""


async def text_of(request: web.Request, name: str) -> str:
    """Return what stands in a field; nothing where there is none, or it is a file."""
    found = (await request.post()).get(name, "")
    return found.replace("\r\n", "\n") if isinstance(found, str) else ""


def id_in(request: web.Request, name: str = "id") -> int:
    """Return the number that stands in a path. Raises NothingHere for what is none."""
    return number_of(request.match_info[name])


def number_of(text: str) -> int:
    """Return the number of something. Raises NothingHere for what is none."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise NothingHere
    return int(text)


# ---- forms that are sent twice ---------------------------------------------------------------------------
# A double click without scripts sends a form twice. Each page gives its forms a key, and what was sent under
# it counts once; other words under the same key, as after going back, are another form.

MOST_SENT: Final = 1000
"""Forms that are remembered, of all users."""


def make_form_key() -> str:
    """Make the key of a form, for one page."""
    return secrets.token_urlsafe(12)


@dataclass(eq=False, slots=True)
class SentForm:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    done: bool = False


@dataclass(eq=False, slots=True)
class SentForms:
    """The forms that were sent of late."""

    most: int = MOST_SENT
    _sent: OrderedDict[bytes, SentForm] = field(default_factory=OrderedDict)

    async def once(
        self, user_id: int, key: str, words: tuple[str, ...], act: Callable[[], Awaitable[None]]
    ) -> None:
        """Do what a form asks for, unless that was done for the same one. Raises what `act` raises: a form
        that was refused may be sent again. What has no key is done each time."""
        if not key:
            await act()
            return
        form = hashlib.sha256(repr((user_id, key, words)).encode("utf-8", "replace")).digest()
        sent = self._sent.setdefault(form, SentForm())
        if len(self._sent) > self.most:
            self._sent.popitem(last=False)
        async with sent.lock:
            if not sent.done:
                await act()
                sent.done = True


@dataclass(frozen=True, slots=True)
class PageNumber:
    """The number of a page, and of how many."""

    number: int
    count: int

    @classmethod
    def of(cls, request: web.Request, items: int, size: int) -> "PageNumber":
        """Return the page that is asked for. Raises NothingHere for one that there is not."""
        page = cls(max(1, number_of(request.query.get("page", "1"))), max(1, -(-items // size)))
        if page.number > page.count:
            raise NothingHere
        return page

    def offset(self, size: int) -> int:
        return (self.number - 1) * size
