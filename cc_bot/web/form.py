"""The values that a browser sends: fields of a form are text, and numbers of things are numbers."""

from dataclasses import dataclass
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
