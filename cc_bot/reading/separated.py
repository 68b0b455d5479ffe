"""Values with separators, in any encoding of Japanese: a long file becomes a table in stretches of rows."""

import csv
import io

from cc_bot.domain.encodings import decode_text
from cc_bot.reading.content import Content, DocumentRefused, add_sheet

_SEPARATORS = ",\t;"
_LOOKED_AT = 20
"""Lines that tell what separates."""
_ENCODINGS = ("utf-8-sig", "cp932", "euc_jp", "euc_jis_2004", "iso2022_jp_ext")
_TOLD_BY_BYTES = 2**18
"""So much of a file tells its encoding: to try each on all of it takes seconds."""


def read_separated(data: bytes) -> Content:
    """Read the rows. Raises DocumentRefused."""
    text = _decoded(data)
    content = Content("csv", "part")
    try:
        add_sheet(content, "", csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text)))
    except csv.Error as error:
        raise DocumentRefused("unreadable") from error
    return content


def _decoded(data: bytes) -> str:
    if len(data) <= _TOLD_BY_BYTES:
        return _found(decode_text(data))
    beginning = data[:_TOLD_BY_BYTES]
    beginning = beginning[: beginning.rfind(b"\n") + 1] or beginning
    told = _found(decode_text(beginning))
    wholes = (_as(data, encoding) for encoding in _ENCODINGS if _as(beginning, encoding) == told)
    return _found(next(filter(None, wholes), None))


def _found(text: str | None) -> str:
    if text is None:
        raise DocumentRefused("not_supported")
    return text


def _as(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeError:
        return None


def _separator(text: str) -> str:
    lines = text[:20000].splitlines()[:_LOOKED_AT]
    return max(_SEPARATORS, key=lambda each: sum(line.count(each) for line in lines))
