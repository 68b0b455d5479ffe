"""A form that was sent: its fields are text, whatever else a browser puts there."""

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


def page_of(request: web.Request) -> int:
    """Return which page is asked for, from 1 on. Raises NothingHere for what is none."""
    return max(1, number_of(request.query.get("page", "1")))
