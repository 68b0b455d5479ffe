"""Opens regular files only, as pipes and devices can block forever; and decodes text."""

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


class NotRegular(OSError):
    """A pipe, socket, device or folder."""


def open_regular(path: Path) -> BufferedReader:
    """Raises FileNotFoundError, NotRegular and other OSErrors."""
    # Also checked before: opening a socket fails, and opening a device can have an effect.
    if stat.S_ISREG(path.stat().st_mode):
        file = open(path, "rb", opener=lambda path, flags: os.open(path, flags | _NON_BLOCKING))  # noqa: SIM115
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file
        file.close()
    raise NotRegular(str(path))


def read_regular(path: Path) -> bytes:
    """Raises as `open_regular`."""
    with open_regular(path) as file:
        return file.read()


_MARKS: Final = ((BOM_UTF8, "utf-8"), (BOM_UTF16_LE, "utf-16-le"), (BOM_UTF16_BE, "utf-16-be"))
_ISO_2022_JP_ESCAPE: Final = re.compile(rb"\x1b\$[@B(]|\x1b\([JI]")
_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]|\x1b(?![\\[()])"
)
"""Text never holds these. Colour codes of terminal logs have escapes."""
_END_OF_FILE: Final = "\x1a"  # old DOS editors end files with it
_HALF_WIDTH: Final = re.compile("[｡-ﾟ]")  # EUC-JP decoded as Shift_JIS is full of them
_PRIVATE: Final = re.compile("[\ue000-\uf8ff]")  # user-defined in Shift_JIS; many mean another encoding
_TOLERATED_ONE_IN: Final = 20  # strange characters


def decode_text(data: bytes) -> str | None:
    """Decode UTF-8, Shift_JIS (cp932), EUC-JP, ISO-2022-JP or marked UTF-16; None for other data."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], encoding)
    for encoding in ("iso2022_jp_ext",) * bool(_ISO_2022_JP_ESCAPE.search(data)) + ("utf-8",):
        if (text := _decode(data, encoding)) is not None:
            return text
    encodings = ("cp932", "euc_jp", "euc_jis_2004")  # the last has ①
    texts = [text for encoding in encodings if (text := _decode(data, encoding)) is not None]
    text = min(texts, key=lambda text: len(_HALF_WIDTH.findall(text)), default="")
    return text if len(_PRIVATE.findall(text)) * _TOLERATED_ONE_IN < len(text) else None


def _decode(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding).removesuffix(_END_OF_FILE)
    except UnicodeError:
        return None
    return None if _CONTROL.search(text) else text


# Labels that Python lacks or reads differently (Encoding Standard).
_NAMES: Final = {
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
"""Those that pages may declare. Other codecs of Python, such as base64, are not text encodings."""
_DAMAGED: Final = "\ufffd"


def decode_declared(data: bytes, *declared: str) -> str | None:
    """Decode with the first declared encoding that fits, else the detected one, else the first declared one
    with little damage; None if none fits."""
    named = [encoding for name in declared if (encoding := _python_encoding(name))]
    if not data.startswith(tuple(mark for mark, _ in _MARKS)):
        for encoding in named:
            try:
                return data.decode(encoding)
            except UnicodeError:
                continue
    return decode_text(data) or _decode_with_few_errors(data, (*named, "utf-8"))


def _decode_with_few_errors(data: bytes, encodings: Sequence[str]) -> str | None:
    for encoding in encodings:
        text = data.decode(encoding, "replace")
        if text.count(_DAMAGED) * _TOLERATED_ONE_IN <= len(text) and not _CONTROL.search(text):
            return text
    return None


def _python_encoding(name: str) -> str:
    name = name.strip().strip("\"'").lower()
    try:
        found = codecs.lookup(_NAMES.get(name, name)).name if name.isascii() and len(name) < 40 else ""
    except (LookupError, ValueError):
        return ""
    return found if _TEXT_CODECS.fullmatch(found) else ""
