"""Reads separated values, and web pages that are text or JSON."""

import csv
import io
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import TextIO

from cc_bot.features.documents import MAX_CHARACTERS, Content, DocumentRefused, add_sheet
from cc_bot.files import decode_declared, decode_text

_SEPARATORS = "\t;,"  # preferred first: commas are also part of sentences and numbers
_SNIFFED_LINES = 20
_ENCODINGS = ("utf-8-sig", "cp932", "euc_jp", "euc_jis_2004", "iso2022_jp_ext")
_ENCODING_SAMPLE_BYTES = 2**18  # trying every encoding on a whole file takes seconds


def read_separated(data: bytes) -> Content:
    """Raises DocumentRefused."""
    sample = data[:_ENCODING_SAMPLE_BYTES]
    if len(data) > _ENCODING_SAMPLE_BYTES:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    text = decode_text(sample)
    if text is None:
        raise DocumentRefused("not_supported")
    if len(sample) == len(data):
        return _read_rows(io.StringIO(text, newline=""), _guess_separator(text))
    for encoding in _ENCODINGS:
        with suppress(UnicodeError):
            if sample.decode(encoding) == text:
                file = io.TextIOWrapper(io.BytesIO(data), encoding, newline="")
                return _read_rows(file, _guess_separator(text))
    raise DocumentRefused("not_supported")


def _read_rows(file: TextIO, separator: str) -> Content:
    content = Content("csv", "part")
    try:
        add_sheet(content, "", csv.reader(_read_lines(file), delimiter=separator))
    except csv.Error as error:
        raise DocumentRefused("unreadable") from error
    return content


def _read_lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(MAX_CHARACTERS + 1):
        if len(line) > MAX_CHARACTERS:
            raise DocumentRefused("too_long")
        yield line


def _guess_separator(text: str) -> str:
    lines = text[:20000].splitlines()[:_SNIFFED_LINES]
    return max(_SEPARATORS, key=lambda each: sum(len(row) > 1 for row in csv.reader(lines, delimiter=each)))


def read_page(data: bytes, server_encoding: str = "") -> tuple[str, str]:
    """Return an empty title and the text, which is empty if the data is binary."""
    text = decode_declared(data, server_encoding) or ""
    if "\\u" in text:  # escapes take up to six times the space
        with suppress(ValueError, RecursionError):
            unescaped = json.dumps(json.loads(text), ensure_ascii=False)
            text = unescaped.encode("utf-8", "ignore").decode()  # drops lone surrogates
    return "", text
