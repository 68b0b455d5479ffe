"""Adapts a model's Markdown to Discord: tables become lists, code fences get their own lines, spoilers are
closed in each message, and links have no previews.

A preview could imitate a receipt, and to make one, Discord requests the link, which may leak data if a model
was tricked. `<https://…>` has no preview. Nor has a link in code, unless formatting such as `**` that began
before the code ends in it. So links in code are bracketed from the first such mark on.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from cc_bot.discord.pages.split import MESSAGE_LIMIT, split, utf16_length
from cc_bot.domain.fences import Fence, classify_line, put_fences_on_own_lines
from cc_bot.domain.message import is_blank
from cc_bot.domain.text import shorten

REDUCED_LIMIT: Final = 1000  # limit of text that leaves room for brackets around many short links

_LINK_START: Final = r"[^\s<>)]"
_BETWEEN_PARENTHESES: Final = r"[^\s<>\[\]()、。，．「」『』（）【】！？]"
# Up to an unopened closing parenthesis, which ends a Markdown link.
_LINK_REST: Final = rf"(?:{_BETWEEN_PARENTHESES}|\({_BETWEEN_PARENTHESES}*\)|\()*+"
_LINK: Final = (
    rf"(?P<link>(?:https?|discord|steam)://(?=[^\s<>])(?:{_LINK_START}{_LINK_REST})?)"
    rf"|(?P<invite>discord(?:\.gg|(?:app)?\.com/invite)/{_LINK_START}{_LINK_REST})"
)
_COLON: Final = re.compile(r"(?<=https):(?=//)|(?<=http):(?=//)|(?<=discord):(?=//)|(?<=steam):(?=//)", re.I)
_BALANCED: Final = re.compile(r"(?:[^()]|\([^()]*\)|\()*+")
_LINK_OR_CODE: Final = re.compile(
    rf"(?P<escape>\\[^0-9A-Za-z\s])|(?<![<\\])(?P<whole><[a-z]+://[^\s<>]+>)|{_LINK}|(?P<ticks>`+)",
    re.IGNORECASE,
)
_ANY_LINK: Final = re.compile(rf"(?<![<\\])(?P<whole><[a-z]+://[^\s<>]+>)|{_LINK}", re.IGNORECASE)
_TICKS: Final = re.compile("`+")
_TRAILING: Final = ".,:;'\"*_~|`"
_MARK: Final = re.compile(r"[*_~|\[\]<>\\]")
_FENCE_LENGTH: Final = 3


def without_previews(message: str) -> str:
    shown: list[str] = []
    at = 0
    while match := _LINK_OR_CODE.search(message, at):
        shown.append(message[at : match.start()])
        at = match.end()
        if match["ticks"]:
            end = _end_of_code(message, match)
            if end is None:  # treat the rest as text
                return "".join((*shown, match[0], _ANY_LINK.sub(_bracket, message[at:])))
            inner = end - len(match[0])
            shown.append(match[0] + _bracket_after_mark(message[at:inner]) + message[inner:end])
            at = end
        else:
            shown.append(_bracket(match))
    return "".join((*shown, message[at:]))


def _bracket(match: re.Match[str]) -> str:
    text = match[0]
    if match["whole"]:
        if _BALANCED.fullmatch(text):
            return f"<{_without_inner_links(text[1:-1])}>"
        return f"< {_ANY_LINK.sub(_bracket, text[1:])}"
    if not (match["link"] or match["invite"]):
        return text
    link = _trim_link(text)
    before = " " if match.string[: match.start()].endswith(("<", "\\")) else ""
    address = link if match["link"] else f"https://{link}"
    return f"{before}<{_without_inner_links(address)}>{text[len(link) :]}"


def _without_inner_links(address: str) -> str:
    scheme, rest = address.split("//", 1)
    return f"{scheme}//{_COLON.sub('%3A', rest)}"


def _trim_link(link: str) -> str:
    """Remove punctuation that ends the sentence rather than the link."""
    end, unopened = len(link), link.count(")") - link.count("(")
    while link[end - 1] in _TRAILING or (link[end - 1] == ")" and unopened > 0):
        unopened -= link[end - 1] == ")"
        end -= 1
    shorter = link[:end]
    return link if shorter.endswith(("//", "invite/", ".gg/")) else shorter


def _end_of_code(message: str, opening: re.Match[str]) -> int | None:
    """Return the end of a fence or of inline code; None if clients may disagree about it."""
    length = len(opening[0])
    closing = _TICKS.search(message, opening.end())
    while closing and length < _FENCE_LENGTH and len(closing[0]) != length:
        closing = _TICKS.search(message, closing.end())
    if closing is None or length > _FENCE_LENGTH or len(closing[0]) != length:
        return None
    line = message[message.rfind("\n", 0, opening.start()) + 1 : opening.start()]
    is_fence = length == _FENCE_LENGTH and not line.strip(" \t>")
    is_in_line = "\n" not in message[opening.end() : closing.start()]
    return closing.end() if is_fence or is_in_line else None


def _bracket_after_mark(code: str) -> str:
    mark = _MARK.search(code)
    at = mark.start() if mark else len(code)
    return code[:at] + _ANY_LINK.sub(_bracket, code[at:])


def for_discord(text: str, *, is_partial: bool = False) -> str:
    """Convert tables and code fences. `is_partial`: leave out what may begin a table at the end."""
    return _without_tables(put_fences_on_own_lines(text), is_partial=is_partial)


def split_messages(
    text: str, *, limit: int, max_count: int | None = None, is_complete: bool = True
) -> tuple[str, ...]:
    """Split into messages of `limit`, or of REDUCED_LIMIT if marks would make one exceed MESSAGE_LIMIT."""
    shown: tuple[str, ...] = ()
    for text_limit in (limit, min(limit, REDUCED_LIMIT)):
        pieces = split(text, limit=text_limit, max_count=max_count)
        is_whole = is_complete and (max_count is None or len(pieces) < max_count)
        shown = tuple(map(without_previews, close_spoilers(pieces, is_complete=is_whole)))
        if all(utf16_length(each) <= MESSAGE_LIMIT for each in shown):
            break
    return shown


# Discord has no tables. Each row becomes an item: `- **apple** — price: 100 / origin: Aomori`.

_COLUMN_CHARACTERS: Final = 40
_BETWEEN_CELLS: Final = re.compile(r"(?<![\\|])\|(?!\|)")  # not the marks of a spoiler
_LINE_BREAK: Final = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_PARTIAL_HEADER: Final = re.compile(r"(?:\A|\n)[ \t]*\|(?!\|)[^\n]*(?:\n[|:\- \t]*)?\n?\Z")


def _without_tables(text: str, *, is_partial: bool) -> str:
    if "|" not in text:
        return text
    lines, shown, at = text.split("\n"), list[str](), 0
    fence: Fence | None = None
    while at < len(lines):
        kind, fence = classify_line(fence, lines[at])
        end = _table_end(lines, at) if kind == "prose" else at
        if end > at:
            shown += _list_rows(lines[at], lines[at + 2 : end])
        else:
            shown.append(lines[at])
        at = max(end, at + 1)
    listed = "\n".join(shown)
    if is_partial:
        return _PARTIAL_HEADER.sub("", listed)
    return text if is_blank(listed) else listed  # the table may be empty


def _table_end(lines: Sequence[str], at: int) -> int:
    """Return the end of the table whose header is at `at`; `at` if there is none."""
    if at + 2 >= len(lines) or "|" not in lines[at] or len(_cells(lines[at])) < 2:
        return at
    below = lines[at + 1]
    if "-" not in below or "|" not in below or below.strip("|:- \t"):
        return at
    rows = at + 2
    while rows < len(lines) and "|" in lines[rows]:
        rows += 1
    return rows if rows > at + 2 else at


def _list_rows(header: str, rows: Sequence[str]) -> Iterator[str]:
    indent = header[: len(header) - len(header.lstrip())]
    heading, *names = (shorten(name, _COLUMN_CHARACTERS) for name in _cells(header))
    if any(map(str.isalpha, heading)):  # not "#"
        yield f"{indent}{_bold(heading)}"
    for row in rows:
        first, *cells = _cells(row) or [""]
        others = (
            f"{name}: {cell}" if name else cell
            for name, cell in zip_longest(names, cells, fillvalue="")
            if cell
        )
        if shown := " — ".join(filter(None, (_bold(first), " / ".join(others)))):
            yield f"{indent}- {shown}"


def _bold(cell: str) -> str:
    return f"**{cell}**" if cell and "*" not in cell else cell


def _cells(line: str) -> list[str]:
    cells = [_LINE_BREAK.sub(" ", cell).strip() for cell in _BETWEEN_CELLS.split(line.strip())]
    return cells[not cells[0] : len(cells) - (not cells[-1])]


# Discord hides the text between two `||` of a message. In code outside of a spoiler, `||` is text.

SPOILER: Final = "||"
_SPOILER_MARK: Final = re.compile(r"\\.|`+|\|\|", re.DOTALL)
_QUOTE: Final = re.compile(r"\A(?:>++ )?")


def close_spoilers(pieces: Sequence[str], *, is_complete: bool) -> tuple[str, ...]:
    """Close an open spoiler in each message, and reopen it in the next. In a complete text, a mark that is
    never closed does not hide anything."""
    shown, unclosed = list[str](), list[str]()
    opened_in: int | None = None
    for number, piece in enumerate(pieces):
        text = piece if opened_in is None else _reopen_spoiler(piece)
        at = _find_open_spoiler(text)
        is_continued = len(text) > len(piece) and at == text.find(SPOILER)
        if at is None:
            opened_in = None
        elif not is_continued:
            opened_in = number
        unclosed.append(text)
        shown.append(text if at is None else _close_spoiler(text, at))
    if is_complete and opened_in is not None:
        shown[opened_in:] = (unclosed[opened_in], *pieces[opened_in + 1 :])
    return tuple(filter(str.strip, shown))  # a message may be only the closing mark


def _reopen_spoiler(piece: str) -> str:
    at = _QUOTE.match(piece).end()  # type: ignore[union-attr]  # it also matches the empty string
    quote, text = piece[:at], piece[at:]
    closes = text.startswith(SPOILER)
    return f"{quote}{text.removeprefix(SPOILER).lstrip()}" if closes else f"{quote}{SPOILER}{text}"


def _find_open_spoiler(text: str) -> int | None:
    at = 0
    while match := _SPOILER_MARK.search(text, at):
        at = match.end()
        if match[0] == SPOILER:
            closing = text.find(SPOILER, at + 1)
            if closing < 0:
                return match.start()
            at = closing + len(SPOILER)
        elif match[0].startswith("`") and (code := re.search(rf"(?<!`){match[0]}(?!`)", text[at:])):
            at += code.end()
    return None


def _close_spoiler(text: str, at: int) -> str:
    if not text[at + len(SPOILER) :].strip():  # nothing to hide yet
        return text[:at].rstrip() or text
    return f"{text}\n{SPOILER}" if text.endswith("```") else f"{text}{SPOILER}"
