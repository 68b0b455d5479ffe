"""Adapts a model's Markdown to Discord: tables become lists, code fences get their own lines, and spoilers
are closed in each message."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from cc_bot.discord.pages.links import CLOSE_LIMIT, without_previews
from cc_bot.discord.pages.split import MESSAGE_LIMIT, split, utf16_length
from cc_bot.domain.fences import Fence, next_line, with_fence_lines
from cc_bot.domain.message import is_blank
from cc_bot.domain.text import shorten


def for_discord(text: str, *, growing: bool = False) -> str:
    """Return the text with tables as lists, and code fences on their own lines. `growing`: more text follows,
    so a table that may begin in the last lines is left out."""
    return _without_tables(with_fence_lines(text), growing=growing)


def messages(text: str, *, limit: int, most: int | None = None, ended: bool = True) -> tuple[str, ...]:
    """Split a model's text into messages, without link previews or revealed spoilers. Each has at most
    MESSAGE_LIMIT UTF-16 code units: `limit` of text, and the added brackets and marks. `most` limits their
    number. `ended`: the text is complete."""
    pieces = _messages(text, limit, most, ended=ended)
    if all(utf16_length(piece) <= MESSAGE_LIMIT for piece in pieces):
        return pieces
    return _messages(text, min(limit, CLOSE_LIMIT), most, ended=ended)


def _messages(text: str, limit: int, most: int | None, *, ended: bool) -> tuple[str, ...]:
    pieces = split(text, limit=limit, most=most)
    shut = keep_spoilers_shut(pieces, ended=ended and (most is None or len(pieces) < most))
    return tuple(map(without_previews, shut))


# ---- tables ----------------------------------------------------------------------------------------------
# Discord shows a table's pipes, and phones wrap its rows. Each row becomes a list item with the column names,
# `- **apple** — price: 100 / origin: Aomori`, below the first column's name, `**fruit**`.

_COLUMN_CHARACTERS: Final = 40
_BETWEEN_CELLS: Final = re.compile(r"(?<![\\|])\|(?!\|)")  # not the marks of a spoiler
_LINE_BREAK: Final = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_HEADER_ON_ITS_WAY: Final = re.compile(r"(?:\A|\n)[ \t]*\|(?!\|)[^\n]*(?:\n[|:\- \t]*)?\n?\Z")


def _without_tables(text: str, *, growing: bool) -> str:
    if "|" not in text:
        return text
    lines, shown, at = text.split("\n"), list[str](), 0
    fence: Fence | None = None
    while at < len(lines):
        kind, fence = next_line(fence, lines[at])
        end = _table_end(lines, at) if kind == "prose" else at
        if end > at:
            shown += _list_of(lines[at], lines[at + 2 : end])
        else:
            shown.append(lines[at])
        at = max(end, at + 1)
    listed = "\n".join(shown)
    if growing:
        return _HEADER_ON_ITS_WAY.sub("", listed)
    return text if is_blank(listed) else listed  # the table may be empty


def _table_end(lines: Sequence[str], at: int) -> int:
    """Return the end of the table with its header at `at`; `at` if there is none, or it has no rows."""
    if at + 2 >= len(lines) or "|" not in lines[at] or len(_cells(lines[at])) < 2:
        return at
    below = lines[at + 1]
    if "-" not in below or "|" not in below or below.strip("|:- \t"):
        return at
    rows = at + 2
    while rows < len(lines) and "|" in lines[rows]:
        rows += 1
    return rows if rows > at + 2 else at


def _list_of(header: str, rows: Sequence[str]) -> Iterator[str]:
    indent = header[: len(header) - len(header.lstrip())]
    heading, *names = (shorten(name, _COLUMN_CHARACTERS) for name in _cells(header))
    if any(map(str.isalpha, heading)):  # not "#"
        yield f"{indent}{_bold(heading)}"
    for row in rows:
        first, *cells = _cells(row) or [""]
        named = (
            f"{name}: {cell}" if name else cell
            for name, cell in zip_longest(names, cells, fillvalue="")
            if cell
        )
        if shown := " — ".join(filter(None, (_bold(first), " / ".join(named)))):
            yield f"{indent}- {shown}"


def _bold(cell: str) -> str:
    return f"**{cell}**" if cell and "*" not in cell else cell


def _cells(line: str) -> list[str]:
    cells = [_LINE_BREAK.sub(" ", cell).strip() for cell in _BETWEEN_CELLS.split(line.strip())]
    return cells[not cells[0] : len(cells) - (not cells[-1])]


# ---- spoilers --------------------------------------------------------------------------------------------
# Discord hides text between two `||` in one message. Outside of a spoiler, code takes precedence.

SPOILER: Final = "||"
_MARK: Final = re.compile(r"\\.|`+|\|\|", re.DOTALL)
_QUOTE: Final = re.compile(r"\A(?:>++ )?")


def keep_spoilers_shut(pieces: Sequence[str], *, ended: bool) -> tuple[str, ...]:
    """Close an open spoiler at the end of each message, and reopen it in the next.

    `ended`: no more messages follow, so an unmatched mark is not a spoiler.
    """
    shown, begun = list[str](), list[str]()
    opened_in: int | None = None
    for number, piece in enumerate(pieces):
        text = piece if opened_in is None else _open_again(piece)
        at = _find_open(text)
        goes_on = len(text) > len(piece) and at == text.find(SPOILER)
        if at is None:
            opened_in = None
        elif not goes_on:
            opened_in = number
        begun.append(text)
        shown.append(text if at is None else _shut(text, at))
    if ended and opened_in is not None:
        shown[opened_in:] = (begun[opened_in], *pieces[opened_in + 1 :])
    return tuple(filter(str.strip, shown))  # a message may be only the closing mark


def _open_again(piece: str) -> str:
    """Reopen a spoiler, without its mark if that would close it at once."""
    at = _QUOTE.match(piece).end()  # type: ignore[union-attr]  # it matches nothing as well
    quote, text = piece[:at], piece[at:]
    closes = text.startswith(SPOILER)
    return f"{quote}{text.removeprefix(SPOILER).lstrip()}" if closes else f"{quote}{SPOILER}{text}"


def _find_open(text: str) -> int | None:
    at = 0
    while match := _MARK.search(text, at):
        at = match.end()
        if match[0] == SPOILER:
            closing = text.find(SPOILER, at + 1)
            if closing < 0:
                return match.start()
            at = closing + len(SPOILER)
        elif match[0].startswith("`") and (code := re.search(rf"(?<!`){match[0]}(?!`)", text[at:])):
            at += code.end()
    return None


def _shut(text: str, at: int) -> str:
    if not text[at + len(SPOILER) :].strip():  # nothing to hide yet
        return text[:at].rstrip() or text
    return f"{text}\n{SPOILER}" if text.endswith("```") else f"{text}{SPOILER}"
