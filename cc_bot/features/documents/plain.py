"""Text: separated values, and web pages that are text or JSON."""

import csv
import io
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import TextIO

from cc_bot.features.documents import MAX_CHARACTERS, Content, DocumentRefused, add_sheet
from cc_bot.files import decode_declared, decode_text

_SEPARATORS = "\t;,"
"""In order of preference: commas also appear in sentences, and in 1,200."""
_LOOKED_AT = 20
_ENCODINGS = ("utf-8-sig", "cp932", "euc_jp", "euc_jis_2004", "iso2022_jp_ext")
_TOLD_BY_BYTES = 2**18
"""Bytes that decide the encoding: trying each on a whole file takes seconds."""


def read_separated(data: bytes) -> Content:
    """Read the rows. Raises DocumentRefused."""
    beginning = data[:_TOLD_BY_BYTES]
    if len(data) > _TOLD_BY_BYTES:
        beginning = beginning[: beginning.rfind(b"\n") + 1] or beginning
    text = decode_text(beginning)
    if text is None:
        raise DocumentRefused("not_supported")
    if len(beginning) == len(data):
        return _read(io.StringIO(text, newline=""), _separator(text))
    for encoding in _ENCODINGS:
        with suppress(UnicodeError):
            if beginning.decode(encoding) == text:
                return _read(io.TextIOWrapper(io.BytesIO(data), encoding, newline=""), _separator(text))
    raise DocumentRefused("not_supported")


def _read(file: TextIO, separator: str) -> Content:
    content = Content("csv", "part")
    try:
        add_sheet(content, "", csv.reader(_lines(file), delimiter=separator))
    except csv.Error as error:
        raise DocumentRefused("unreadable") from error
    return content


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(MAX_CHARACTERS + 1):
        if len(line) > MAX_CHARACTERS:
            raise DocumentRefused("too_long")
        yield line


def _separator(text: str) -> str:
    lines = text[:20000].splitlines()[:_LOOKED_AT]
    return max(_SEPARATORS, key=lambda each: sum(len(row) > 1 for row in csv.reader(lines, delimiter=each)))


def read_page(data: bytes, declared: str = "") -> tuple[str, str]:
    """Return no title and the text, empty if it is binary. `declared`: the server's encoding."""
    text = decode_declared(data, declared) or ""
    if "\\u" in text:  # JSON with escapes, which take six times the space
        with suppress(ValueError, RecursionError):
            written = json.dumps(json.loads(text), ensure_ascii=False)
            text = written.encode("utf-8", "ignore").decode()  # without halves of characters
    return "", text
