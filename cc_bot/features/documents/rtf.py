"""Reads RTF of Word, WordPad and TextEdit. Japanese is Unicode, or bytes in the font's character set."""

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
_CHARACTERS = (
    dict.fromkeys(("par", "line", "sect", "page"), "\n")
    | dict.fromkeys(("emspace", "enspace", "nestcell"), " ")
    | {"tab": "\t", "emdash": "—", "endash": "–", "bullet": "•"}
    | {"lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”"}
)
_SKIPPED_GROUPS = frozenset(
    [
        *("colortbl", "stylesheet", "info", "pict", "object", "header", "footer", "headerl", "headerr"),
        *("headerf", "footerl", "footerr", "footerf", "themedata", "datastore", "listtable", "bkmkend"),
        *("listoverridetable", "fldinst", "xmlnstbl", "generator", "bkmkstart", "nonshppict"),
    ]
)
_MAX_GROUPS = 1000


@dataclass(frozen=True, slots=True)
class _State:
    is_skipped: bool = False
    charset: str = ""
    fallback_length: int = 1  # characters after a Unicode character, for old programs
    in_fonts: bool = False
    hidden: bool = False


def read_rtf(data: bytes) -> Content:
    """Raises DocumentRefused."""
    parser = _RtfParser()
    parser.read(data)
    content = Content("rtf", "part")
    running = RunningText(content)
    for paragraph in parser.paragraphs():
        running.add(paragraph)
    running.end_part()
    return content


class _RtfParser:
    def __init__(self) -> None:
        self._state = _State()
        self._outer: list[_State] = []
        self._code_page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._bytes = bytearray()
        self._text: list[str] = []
        self._fallback_left = 0
        self._group_begun = False
        """True before a group's first word, which names its kind."""
        self._in_row = False
        self._in_table = False
        """In tables paragraphs don't end lines."""
        self._footnote: tuple[int, int] | None = None
        """Depth of groups at an open footnote, and its index in `_text`."""

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
                self._symbol(sign)
            elif text:
                for each in text:
                    self._byte(each)

    def _brace(self, brace: bytes) -> None:
        self._flush()
        self._fallback_left = 0
        if brace == b"{":
            if len(self._outer) >= _MAX_GROUPS:
                raise DocumentRefused("unreadable")
            self._outer.append(self._state)
        elif self._outer:
            self._state = self._outer.pop()
            self._end_footnote()
        self._group_begun = brace == b"{"

    def _word(self, word: str, number: int | None) -> None:
        group_begun, self._group_begun = self._group_begun, False
        self._flush()
        self._fallback_left = 0
        match word:
            case "u" if number is not None:
                self._add(chr(number % 65536))
                self._fallback_left = self._state.fallback_length
            case "fonttbl":
                self._state = replace(self._state, is_skipped=True, in_fonts=True)
            case _ if group_begun and word in _SKIPPED_GROUPS:
                self._state = replace(self._state, is_skipped=True)
            case "ansicpg":
                with suppress(LookupError):
                    self._code_page = codecs.lookup(f"cp{number}").name
            case "uc" if number is not None:
                self._state = replace(self._state, fallback_length=min(max(number, 0), 16))
            case "f" if number is not None:
                self._font = number
                self._state = replace(self._state, charset=self._fonts.get(number, ""))
            case "fcharset" if number is not None and self._state.in_fonts:
                self._fonts[self._font] = _CHARSETS.get(number, "")
            case "v":
                self._state = replace(self._state, hidden=number != 0)
            case "footnote" if group_begun and self._outer:
                self._state = self._outer[-1]
                self._footnote = self._footnote or (len(self._outer), len(self._text))
            case _:
                self._character_word(word)

    def _character_word(self, word: str) -> None:
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
                sign = _CHARACTERS.get(word, "")
                self._add(" " if sign == "\n" and (self._in_row or self._in_table) else sign)

    def _end_footnote(self) -> None:
        if self._footnote and len(self._outer) < self._footnote[0]:
            begins, self._footnote = self._footnote[1], None
            note = " ".join("".join(self._text[begins:]).split())
            self._text[begins:] = [f" ({note})"] if note else []

    def _symbol(self, sign: bytes) -> None:
        group_begun, self._group_begun = self._group_begun, False
        if sign == b"*" and group_begun:
            self._state = replace(self._state, is_skipped=True)
            self._group_begun = True
        elif sign in b"\\{}":
            self._byte(sign[0])
        elif sign in b"~_":
            self._add(" " if sign == b"~" else "-")
        elif sign in b"\r\n":
            self._add("\n")

    def _byte(self, byte: int) -> None:
        self._group_begun = False
        if self._fallback_left:
            self._fallback_left -= 1
        elif not self._state.is_skipped:
            self._bytes.append(byte)

    def _add(self, text: str) -> None:
        self._flush()
        if not (self._state.is_skipped or self._state.hidden):
            self._text.append(text)

    def _flush(self) -> None:
        if self._bytes:
            data = bytes(self._bytes)
            self._bytes.clear()
            if not self._state.hidden:
                self._text.append(data.decode(self._state.charset or self._code_page, "replace"))


_CELL, _ROW = "\ue000", "\ue001"  # mark ends of cells and rows
