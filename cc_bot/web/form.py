"""Parses forms. aiohttp's parser decodes with any codec that a request names, and some of them take hours."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from aiohttp import web
from multidict import MultiDict

from cc_bot.domain.errors import NothingHere, RequestTooLarge

_MAX_DIGITS: Final = 19  # of an SQLite integer
Form = MultiDict[str | bytes]
FORM: Final = web.RequestKey("form", Form)
MAX_FIELDS: Final = 1000
MAX_URLENCODED_BYTES: Final = 2**17  # each escape takes time to decode; larger forms are multipart
MAX_READ_FACTOR: Final = 8  # times the limit, so that browsers show the refusal
_BOUNDARY: Final = re.compile(r"""boundary="?([0-9A-Za-z'()+_,./:=?-]{1,70})""", re.IGNORECASE)
_NO_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_CHARSET: Final = re.compile(r"charset=\"?([^\";\s]*)", re.IGNORECASE)
_DISPOSITION: Final = re.compile(
    r'^content-disposition: ?form-data; ?name="([^"\r\n]*)"(?:; ?filename="([^"\r\n]*)")?',
    re.IGNORECASE | re.MULTILINE,
)


async def read_form(request: web.Request, max_bytes: int) -> None:
    """Read the form for `form_of`. Raises RequestTooLarge, and ValueError if it is not in UTF-8."""
    header, max_read = request.headers.get("Content-Type", ""), MAX_READ_FACTOR * max_bytes
    match header.partition(";")[0].strip().lower():  # aiohttp takes seconds to parse some
        case "application/x-www-form-urlencoded":
            _need_utf8(header)
            body = await _read_body(request, min(max_bytes, MAX_URLENCODED_BYTES), max_read)
            request[FORM] = Form(_parse_urlencoded(body))
        case "multipart/form-data":
            _need_utf8(header)
            boundary = _BOUNDARY.search(header)
            if boundary is None:
                raise ValueError
            body = await _read_body(request, max_bytes, max_read)
            request[FORM] = Form(_parse_parts(body, boundary[1].encode()))
        case _:  # not a form, and not read
            pass


def form_of(request: web.Request) -> Form:
    form: Form | None = request.get(FORM)
    return Form() if form is None else form


async def _read_body(request: web.Request, max_bytes: int, max_read: int) -> bytes:
    """Raises RequestTooLarge beyond `max_bytes`, after reading up to `max_read`."""
    if (request.content_length or 0) > max_read:
        raise RequestTooLarge
    body, size = bytearray(), 0
    while chunk := await request.content.readany():
        size += len(chunk)
        if size > max_read:
            raise RequestTooLarge
        if size <= max_bytes:
            body += chunk
    if size > max_bytes:
        raise RequestTooLarge
    return bytes(body)


def _parse_urlencoded(body: bytes) -> list[tuple[str, str]]:
    if _NO_ESCAPE.search(body):
        raise ValueError
    text = body.decode("utf-8").rstrip()
    return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)


def _parse_parts(body: bytes, boundary: bytes) -> Iterator[tuple[str, str | bytes]]:
    """Yield the parts of a multipart body (RFC 7578) without empty file inputs. Raises ValueError."""
    before, *parts, after = (b"\r\n" + body).split(b"\r\n--" + boundary, MAX_FIELDS + 1)
    if before or not after.startswith(b"--"):
        raise ValueError
    for part in parts:
        head, _, content = part.partition(b"\r\n\r\n")
        headers = head.decode("utf-8")
        named = _DISPOSITION.search(headers)
        if named is None:
            raise ValueError
        if named[2] is None:
            _need_utf8(headers)
            yield named[1], content.decode("utf-8")
        elif named[2]:
            yield named[1], content


def _need_utf8(header: str) -> None:
    if any(name.lower() not in ("utf-8", "utf8") for name in _CHARSET.findall(header)):
        raise ValueError


def text_of(request: web.Request, name: str) -> str:
    """Return a field's text; empty if it is missing or a file."""
    found = form_of(request).get(name, "")
    return found.replace("\r\n", "\n") if isinstance(found, str) else ""


def id_in(request: web.Request, name: str = "id") -> int:
    """Raises NothingHere."""
    return number_of(request.match_info[name])


def number_of(text: str) -> int:
    """Raises NothingHere."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    if not is_number or int(text) >= 2**63:
        raise NothingHere
    return int(text)


@dataclass(frozen=True, slots=True)
class PageNumber:
    number: int
    count: int

    @classmethod
    def of(cls, number: str, items: int, size: int) -> "PageNumber":
        """Raises NothingHere."""
        page = cls(max(1, number_of(number)), max(1, -(-items // size)))
        if page.number > page.count:
            raise NothingHere
        return page

    def offset(self, size: int) -> int:
        return (self.number - 1) * size
