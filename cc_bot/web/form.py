"""Parses forms. aiohttp's parser would use any codec that the request names, and some take hours."""

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
MAX_READ_FACTOR: Final = 8  # read up to this factor of the limit: browsers show a refusal only after sending
_BOUNDARY: Final = re.compile(r"""boundary="?([0-9A-Za-z'()+_,./:=?-]{1,70})""", re.IGNORECASE)
_INVALID_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_CHARSET: Final = re.compile(r"charset=\"?([^\";\s]*)", re.IGNORECASE)
_DISPOSITION: Final = re.compile(
    r'^content-disposition: ?form-data; ?name="([^"\r\n]*)"(?:; ?filename="([^"\r\n]*)")?',
    re.IGNORECASE | re.MULTILINE,
)


async def read_form(request: web.Request, max_bytes: int) -> None:
    """Read the form for `get_form`. Raises RequestTooLarge, or ValueError if it is malformed or not UTF-8."""
    header, max_read_bytes = request.headers.get("Content-Type", ""), MAX_READ_FACTOR * max_bytes
    match header.partition(";")[0].strip().lower():  # aiohttp takes seconds to parse some headers
        case "application/x-www-form-urlencoded":
            _require_utf8(header)
            body = await _read_body(request, min(max_bytes, MAX_URLENCODED_BYTES), max_read_bytes)
            request[FORM] = Form(_parse_urlencoded(body))
        case "multipart/form-data":
            _require_utf8(header)
            boundary = _BOUNDARY.search(header)
            if boundary is None:
                raise ValueError
            body = await _read_body(request, max_bytes, max_read_bytes)
            request[FORM] = Form(_parse_parts(body, boundary[1].encode()))
        case _:  # a body that is no form is not read
            pass


def get_form(request: web.Request) -> Form:
    form: Form | None = request.get(FORM)
    return Form() if form is None else form


async def _read_body(request: web.Request, max_bytes: int, max_read_bytes: int) -> bytes:
    """Raises RequestTooLarge beyond `max_bytes`, after reading up to `max_read_bytes`."""
    if (request.content_length or 0) > max_read_bytes:
        raise RequestTooLarge
    body, size = bytearray(), 0
    while chunk := await request.content.readany():
        size += len(chunk)
        if size > max_read_bytes:
            raise RequestTooLarge
        if size <= max_bytes:
            body += chunk
    if size > max_bytes:
        raise RequestTooLarge
    return bytes(body)


def _parse_urlencoded(body: bytes) -> list[tuple[str, str]]:
    if _INVALID_ESCAPE.search(body):
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
        disposition = _DISPOSITION.search(headers)
        if disposition is None:
            raise ValueError
        if disposition[2] is None:
            _require_utf8(headers)
            yield disposition[1], content.decode("utf-8")
        elif disposition[2]:
            yield disposition[1], content


def _require_utf8(header: str) -> None:
    if any(name.lower() not in ("utf-8", "utf8") for name in _CHARSET.findall(header)):
        raise ValueError


def form_text(request: web.Request, name: str) -> str:
    """Return a field's text; empty if it is missing or a file."""
    value = get_form(request).get(name, "")
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def path_id(request: web.Request, name: str = "id") -> int:
    """Raises NothingHere."""
    return parse_digits(request.match_info[name])


def parse_digits(text: str) -> int:
    """Raises NothingHere."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    if not is_number or int(text) >= 2**63:
        raise NothingHere
    return int(text)


@dataclass(frozen=True, slots=True)
class PageNumber:
    number: int
    count: int  # of pages

    @classmethod
    def parse(cls, text: str, item_count: int, page_size: int) -> "PageNumber":
        """Raises NothingHere."""
        page = cls(max(1, parse_digits(text)), max(1, -(-item_count // page_size)))
        if page.number > page.count:
            raise NothingHere
        return page

    def offset(self, size: int) -> int:
        return (self.number - 1) * size
