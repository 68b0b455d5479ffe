"""RTF of Word, WordPad and TextEdit: Japanese as bytes in the font's character set, or Unicode."""

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby

from cc_bot.features.documents import Content, DocumentRefused, RunningText, as_table

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.S
)
_CHARSETS = {
    128: "cp932",
    129: "cp949",
    134: "gbk",
    136: "cp950",
    161: "cp1253",
    204: "cp1251",
    238: "cp1250",
}
_SIGNS = (
    dict.fromkeys(("par", "line", "sect", "page"), "\n")
    | dict.fromkeys(("emspace", "enspace", "nestcell"), " ")
    | {"tab": "\t", "emdash": "—", "endash": "–", "bullet": "•"}
    | {"lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”"}
)
_UNREAD = frozenset(
    [
        *("colortbl", "stylesheet", "info", "pict", "object", "header", "footer", "headerl", "headerr"),
        *("headerf", "footerl", "footerr", "footerf", "themedata", "datastore", "listtable", "bkmkend"),
        *("listoverridetable", "fldinst", "xmlnstbl", "generator", "bkmkstart", "nonshppict"),
    ]
)
_MAX_GROUPS = 1000


@dataclass(frozen=True, slots=True)
class _State:
    unread: bool = False
    charset: str = ""
    skipped: int = 1
    """Fallback characters after each Unicode character."""
    in_fonts: bool = False
    hidden: bool = False


def read_rtf(data: bytes) -> Content:
    """Read the text, with tables. Raises DocumentRefused."""
    reading = _RtfReading()
    reading.read(data)
    content = Content("rtf", "part")
    running = RunningText(content)
    for paragraph in reading.paragraphs():
        running.add(paragraph)
    running.end_part()
    return content


class _RtfReading:
    def __init__(self) -> None:
        self._state = _State()
        self._outer: list[_State] = []
        self._page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._bytes = bytearray()
        self._text: list[str] = []
        self._to_skip = 0
        self._begun = False
        """True if a group has just begun; its first word names its kind."""
        self._in_row = False
        self._in_table = False
        """In a cell a paragraph ends no line."""
        self._note: tuple[int, int] | None = None
        """An open footnote: its depth in groups, and where its text begins."""

    def paragraphs(self) -> list[str]:
        self._flush()
        lines = list[str]()
        for is_table, group in groupby("".join(self._text).split("\n"), lambda line: line.endswith(_ROW)):
            if is_table:
                lines.append(as_table(line[:-1].rstrip(_CELL).split(_CELL) for line in group))
            else:
                lines += (line.replace(_CELL, "\t") for line in group)
        return lines

    def read(self, data: bytes) -> None:
        for token in _TOKEN.finditer(data):
            word, number, byte, sign, brace, text = token.groups()
            if brace:
                self._brace(brace)
            elif word:
                self._word(word.decode().lower(), int(number) if number else None)
            elif byte:
                self._byte(int(byte, 16))
            elif sign:
                self._sign(sign)
            elif text:
                for each in text:
                    self._byte(each)

    def _brace(self, brace: bytes) -> None:
        self._flush()
        self._to_skip = 0
        if brace == b"{":
            if len(self._outer) >= _MAX_GROUPS:
                raise DocumentRefused("unreadable")
            self._outer.append(self._state)
        elif self._outer:
            self._state = self._outer.pop()
            self._end_note()
        self._begun = brace == b"{"

    def _word(self, word: str, number: int | None) -> None:
        begun, self._begun = self._begun, False
        self._flush()
        self._to_skip = 0
        match word:
            case "u" if number is not None:
                self._add(chr(number % 65536))
                self._to_skip = self._state.skipped
            case "fonttbl":
                self._state = replace(self._state, unread=True, in_fonts=True)
            case _ if begun and word in _UNREAD:
                self._state = replace(self._state, unread=True)
            case "ansicpg":
                with suppress(LookupError):
                    self._page = codecs.lookup(f"cp{number}").name
            case "uc" if number is not None:
                self._state = replace(self._state, skipped=min(max(number, 0), 16))
            case "f" if number is not None:
                self._font = number
                self._state = replace(self._state, charset=self._fonts.get(number, ""))
            case "fcharset" if number is not None and self._state.in_fonts:
                self._fonts[self._font] = _CHARSETS.get(number, "")
            case "v":
                self._state = replace(self._state, hidden=number != 0)
            case "footnote" if begun and self._outer:
                self._state = self._outer[-1]
                self._note = self._note or (len(self._outer), len(self._text))
            case _:
                self._sign_of(word)

    def _sign_of(self, word: str) -> None:
        match word:
            case "trowd":
                self._in_row = True
            case "intbl" | "pard":
                self._in_table = word == "intbl"
            case "cell":
                self._add(_CELL)
                self._in_row = True
            case "row":
                self._add(_ROW + "\n")
                self._in_row = False
            case _:
                sign = _SIGNS.get(word, "")
                self._add(" " if sign == "\n" and (self._in_row or self._in_table) else sign)

    def _end_note(self) -> None:
        if self._note and len(self._outer) < self._note[0]:
            begins, self._note = self._note[1], None
            note = " ".join("".join(self._text[begins:]).split())
            self._text[begins:] = [f" ({note})"] if note else []

    def _sign(self, sign: bytes) -> None:
        begun, self._begun = self._begun, False
        if sign == b"*" and begun:
            self._state = replace(self._state, unread=True)
            self._begun = True
        elif sign in b"\\{}":
            self._byte(sign[0])
        elif sign in b"~_":
            self._add(" " if sign == b"~" else "-")
        elif sign in b"\r\n":
            self._add("\n")

    def _byte(self, byte: int) -> None:
        self._begun = False
        if self._to_skip:
            self._to_skip -= 1
        elif not self._state.unread:
            self._bytes.append(byte)

    def _add(self, text: str) -> None:
        self._flush()
        if not (self._state.unread or self._state.hidden):
            self._text.append(text)

    def _flush(self) -> None:
        if self._bytes:
            data = bytes(self._bytes)
            self._bytes.clear()
            if not self._state.hidden:
                self._text.append(data.decode(self._state.charset or self._page, "replace"))


_CELL, _ROW = "\ue000", "\ue001"
"""Private-use marks while reading."""
