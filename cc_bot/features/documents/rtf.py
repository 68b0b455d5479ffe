"""Reads RTF of Word, WordPad and TextEdit. Japanese is Unicode or bytes in the font's encoding."""

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby

from cc_bot.features.documents import Content, DocumentRefused, PartBuilder, as_table

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.S
)
_ENCODINGS = {  # by number in RTF
    128: "cp932",
    129: "cp949",
    134: "gbk",
    136: "cp950",
    161: "cp1253",
    204: "cp1251",
    238: "cp1250",
}
_CHARACTER_WORDS = (
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
_CELL, _ROW = "\ue000", "\ue001"  # put at the ends of cells and rows


@dataclass(frozen=True, slots=True)
class _GroupState:
    is_skipped: bool = False
    encoding: str = ""
    fallback_length: int = 1  # characters for old programs after a Unicode character
    is_font_table: bool = False
    is_hidden: bool = False


def read_rtf(data: bytes) -> Content:
    """Raises DocumentRefused."""
    parser = _RtfParser()
    parser.read(data)
    content = Content("rtf", "part")
    parts = PartBuilder(content)
    for paragraph in parser.take_paragraphs():
        parts.add(paragraph)
    parts.end_part()
    return content


class _RtfParser:
    def __init__(self) -> None:
        self._state = _GroupState()
        self._outer_states: list[_GroupState] = []
        self._code_page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._undecoded = bytearray()
        self._text: list[str] = []
        self._fallback_left = 0
        self._at_group_start = False  # the first word of a group names its kind
        self._in_row = False
        self._in_table = False  # the end of a paragraph does not end the line
        self._footnote: tuple[int, int] | None = None
        """An open footnote's depth of groups, and its index in `_text`."""

    def take_paragraphs(self) -> list[str]:
        self._decode_bytes()
        lines = list[str]()
        for is_table, group in groupby("".join(self._text).split("\n"), lambda line: line.endswith(_ROW)):
            if is_table:
                lines.append(as_table(line[:-1].rstrip(_CELL).split(_CELL) for line in group))
            else:
                lines += (line.replace(_CELL, "\t") for line in group)
        return lines

    def read(self, data: bytes) -> None:
        for token in _TOKEN.finditer(data):
            word, number, byte, character, brace, text = token.groups()
            if brace:
                self._read_brace(brace)
            elif word:
                self._read_word(word.decode().lower(), int(number) if number else None)
            elif byte:
                self._read_byte(int(byte, 16))
            elif character:
                self._read_symbol(character)
            elif text:
                for each in text:
                    self._read_byte(each)

    def _read_brace(self, brace: bytes) -> None:
        self._decode_bytes()
        self._fallback_left = 0
        if brace == b"{":
            if len(self._outer_states) >= _MAX_GROUPS:
                raise DocumentRefused("unreadable")
            self._outer_states.append(self._state)
        elif self._outer_states:
            self._state = self._outer_states.pop()
            self._end_footnote()
        self._at_group_start = brace == b"{"

    def _read_word(self, word: str, number: int | None) -> None:
        at_group_start, self._at_group_start = self._at_group_start, False
        self._decode_bytes()
        self._fallback_left = 0
        match word:
            case "u" if number is not None:
                self._add_text(chr(number % 65536))
                self._fallback_left = self._state.fallback_length
            case "fonttbl":
                self._state = replace(self._state, is_skipped=True, is_font_table=True)
            case _ if at_group_start and word in _SKIPPED_GROUPS:
                self._state = replace(self._state, is_skipped=True)
            case "ansicpg":
                with suppress(LookupError):
                    self._code_page = codecs.lookup(f"cp{number}").name
            case "uc" if number is not None:
                self._state = replace(self._state, fallback_length=min(max(number, 0), 16))
            case "f" if number is not None:
                self._font = number
                self._state = replace(self._state, encoding=self._fonts.get(number, ""))
            case "fcharset" if number is not None and self._state.is_font_table:
                self._fonts[self._font] = _ENCODINGS.get(number, "")
            case "v":
                self._state = replace(self._state, is_hidden=number != 0)
            case "footnote" if at_group_start and self._outer_states:
                self._state = self._outer_states[-1]
                self._footnote = self._footnote or (len(self._outer_states), len(self._text))
            case _:
                self._read_character_word(word)

    def _read_character_word(self, word: str) -> None:
        match word:
            case "trowd":
                self._in_row = True
            case "intbl" | "pard":
                self._in_table = word == "intbl"
            case "cell":
                self._add_text(_CELL)
                self._in_row = True
            case "row":
                self._add_text(_ROW + "\n")
                self._in_row = False
            case _:
                character = _CHARACTER_WORDS.get(word, "")
                self._add_text(" " if character == "\n" and (self._in_row or self._in_table) else character)

    def _end_footnote(self) -> None:
        if self._footnote and len(self._outer_states) < self._footnote[0]:
            start, self._footnote = self._footnote[1], None
            note = " ".join("".join(self._text[start:]).split())
            self._text[start:] = [f" ({note})"] if note else []

    def _read_symbol(self, character: bytes) -> None:
        at_group_start, self._at_group_start = self._at_group_start, False
        if character == b"*" and at_group_start:
            self._state = replace(self._state, is_skipped=True)
            self._at_group_start = True
        elif character in b"\\{}":
            self._read_byte(character[0])
        elif character in b"~_":
            self._add_text(" " if character == b"~" else "-")
        elif character in b"\r\n":
            self._add_text("\n")

    def _read_byte(self, byte: int) -> None:
        self._at_group_start = False
        if self._fallback_left:
            self._fallback_left -= 1
        elif not self._state.is_skipped:
            self._undecoded.append(byte)

    def _add_text(self, text: str) -> None:
        self._decode_bytes()
        if not (self._state.is_skipped or self._state.is_hidden):
            self._text.append(text)

    def _decode_bytes(self) -> None:
        if self._undecoded:
            data = bytes(self._undecoded)
            self._undecoded.clear()
            if not self._state.is_hidden:
                self._text.append(data.decode(self._state.encoding or self._code_page, "replace"))
