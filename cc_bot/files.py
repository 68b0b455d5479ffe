"""Reads regular files (pipes and devices can block forever), and decodes text of unknown encoding."""

import codecs
import os
import re
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path
from typing import Final

_NON_BLOCKING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


class NotRegularFile(OSError):
    """A pipe, socket, device or folder."""


def open_regular(path: Path) -> BufferedReader:
    """Raises FileNotFoundError, NotRegularFile and other OSErrors."""
    # Also checked before opening, since opening a device can have effects.
    if stat.S_ISREG(path.stat().st_mode):
        file = open(path, "rb", opener=lambda path, flags: os.open(path, flags | _NON_BLOCKING))  # noqa: SIM115
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file
        file.close()
    raise NotRegularFile(str(path))


def read_regular(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read()


_BYTE_ORDER_MARKS: Final = ((BOM_UTF8, "utf-8"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))
_ISO_2022_JP_ESCAPE: Final = re.compile(rb"\x1b\$[@B(]|\x1b\([JI]")
_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]|\x1b(?![\\[()])"
)
"""Characters that text never holds. An escape before a bracket may be a colour code of a terminal's log."""
_END_OF_FILE: Final = "\x1a"  # old DOS editors end files with it
_HALF_WIDTH: Final = re.compile("[｡-ﾟ]")  # EUC-JP decoded as Shift_JIS is full of them
_PRIVATE: Final = re.compile("[\ue000-\uf8ff]")  # user-defined in Shift_JIS; many mean another encoding
_CHARACTERS_PER_STRANGE_ONE: Final = 20  # text with more strange characters is not accepted


def decode_text(data: bytes) -> str | None:
    """Decode UTF-8, Shift_JIS, EUC-JP, ISO-2022-JP, or UTF-16 with a byte order mark; None for other data."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], encoding)
    for encoding in ("iso2022_jp_ext", "utf-8") if _ISO_2022_JP_ESCAPE.search(data) else ("utf-8",):
        if (text := _decode(data, encoding)) is not None:
            return text
    encodings = ("cp932", "euc_jp", "euc_jis_2004")  # euc_jp lacks signs such as ①
    texts = [text for encoding in encodings if (text := _decode(data, encoding)) is not None]
    text = min(texts, key=lambda text: len(_HALF_WIDTH.findall(text)), default="")
    return text if len(_PRIVATE.findall(text)) * _CHARACTERS_PER_STRANGE_ONE < len(text) else None


def _decode(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding).removesuffix(_END_OF_FILE)
    except UnicodeError:
        return None
    return None if _CONTROL.search(text) else text


# Labels of the Encoding Standard that Python lacks or reads differently.
_CODEC_BY_LABEL: Final = {
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis", "sjis", "windows-31j", "ms_kanji"), "cp932"),
    **dict.fromkeys(("x-euc-jp",), "euc_jp"),
    **dict.fromkeys(("iso-8859-1", "latin1", "us-ascii", "ascii"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "unicode": "utf-16",
}
_TEXT_CODECS: Final = re.compile(
    r"utf[_-]?8|utf[_-]?16(?:[_-]?[lb]e)?|cp932|euc_(?:jp|kr)|iso2022_jp\w*|iso8859[_-]\d{1,2}|cp125\d|gb18030|big5\w*"
    r"|koi8[_-][ru]"
)
"""Codecs that a page may declare. Python has others, such as base64."""
_REPLACEMENT_CHARACTER: Final = "\ufffd"


def decode_declared(data: bytes, *declared: str) -> str | None:
    """Decode with the first declared encoding that fits, else the detected one, else the first declared one
    with few errors. Returns None if none fits."""
    encodings = [encoding for label in declared if (encoding := _python_encoding(label))]
    if not data.startswith(tuple(mark for mark, _ in _BYTE_ORDER_MARKS)):
        for encoding in encodings:
            try:
                return data.decode(encoding)
            except UnicodeError:
                continue
    return decode_text(data) or _decode_with_few_errors(data, (*encodings, "utf-8"))


def _decode_with_few_errors(data: bytes, encodings: Sequence[str]) -> str | None:
    for encoding in encodings:
        text = data.decode(encoding, "replace")
        errors = text.count(_REPLACEMENT_CHARACTER)
        if errors * _CHARACTERS_PER_STRANGE_ONE <= len(text) and not _CONTROL.search(text):
            return text
    return None


def _python_encoding(label: str) -> str:
    label = label.strip().strip("\"'").lower()
    try:
        codec = codecs.lookup(_CODEC_BY_LABEL.get(label, label)).name if len(label) < 40 else ""
    except (LookupError, ValueError):
        return ""
    return codec if _TEXT_CODECS.fullmatch(codec) else ""
