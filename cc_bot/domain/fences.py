"""Code fences in Markdown, on lines of their own or within a line."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

# As in CommonMark (0.31, section 4.5), also in quotes and lists. As on Discord, a fence may be indented by
# any depth, and less indented text does not end it.

LineKind = Literal["prose", "opening", "code", "closing"]
_PREFIX = (
    r"\A(?P<quote>(?:[ \t]{0,3}+>(?!>>)[ \t]?+)*+)"
    r"(?P<indent>(?:[ \t]*+(?:[-*+]|\d{1,9}[.)]|>>>)[ \t])*+[ \t]*+)"
)
_LINE_PREFIX = re.compile(_PREFIX)
_FENCE_OPENING = re.compile(rf"{_PREFIX}(?P<marks>`{{3,}}+(?=[^`]*$)|~{{3,}}+)(?P<info>.*)", re.DOTALL)
_QUOTE_MARK = re.compile(r"[ \t]{0,3}>[ \t]?")


@dataclass(frozen=True, slots=True)
class Fence:
    quote: str
    """Before each of its lines: `> `, or empty."""
    indent: str
    marks: str
    info: str
    """Usually the language."""

    @property
    def opening(self) -> str:
        return f"{self.closing}{self.info}"

    @property
    def closing(self) -> str:
        return f"{self.quote}{self.indent}{self.marks}"

    def is_closed_by(self, line: str) -> bool | None:
        """None outside of the fence's quote."""
        for _ in range(self.quote.count(">")):
            mark = _QUOTE_MARK.match(line)
            if mark is None:
                return None
            line = line[mark.end() :]
        marks = line.strip(" \t\r")
        return len(marks) >= len(self.marks) and not marks.strip(self.marks[0])


def next_line(
    fence: Fence | None, line: str, *, max_fence_line: int | None = None
) -> tuple[LineKind, Fence | None]:
    """Return the kind of a line and the fence open after it. Longer lines than `max_fence_line` open and
    close nothing."""
    may_be_fence_line = max_fence_line is None or len(line) <= max_fence_line
    if fence and (closes := fence.is_closed_by(line)) is not None:
        return ("closing", None) if closes and may_be_fence_line else ("code", fence)
    match = _FENCE_OPENING.fullmatch(line) if may_be_fence_line else None
    if match is None:
        return "prose", None
    return "opening", Fence(match["quote"], _indent_of(match), match["marks"], match["info"].rstrip())


def close_fences(text: str) -> str:
    """Close the fence that the text leaves open."""
    fence: Fence | None = None
    for line in text.split("\n"):
        _, fence = next_line(fence, line)
    return f"{text}{'' if text.endswith(chr(10)) else chr(10)}{fence.closing}" if fence else text


def line_prefix(line: str) -> str:
    """Return the beginning of a further line in the same quote and list item."""
    match = cast("re.Match[str]", _LINE_PREFIX.match(line))
    return match["quote"] + _indent_of(match)


def _indent_of(match: re.Match[str]) -> str:
    return re.sub(r"[^ \t]", " ", match["indent"])  # a list item has its mark once


# Discord opens a code block at three backticks anywhere in a line, and closes it at the next three.

_FENCE: Final = "```"
_TICKS: Final = re.compile(r"\\.|`+")
_LANGUAGE: Final = re.compile(r"[a-z0-9_+\-.#]{1,40}+[ \t]{0,8}+(?:\n|\Z)", re.IGNORECASE)


def with_fence_lines(text: str) -> str:
    return "\n".join(_part_lines(text)) if _FENCE in text else text


def _part_lines(text: str) -> Iterator[str]:
    fence: Fence | None = None
    following = 0
    for line in text.split("\n"):
        following += len(line) + 1
        kind, _ = next_line(fence, line)
        parts: Sequence[str] = (line,)
        if kind == "prose":
            parts = _part_opening(line, text, following)
        elif kind == "code" and fence and fence.marks == _FENCE:
            parts = _part_closing(line, fence)
        for part in parts:
            _, fence = next_line(fence, part)
        yield from parts


def _part_opening(line: str, text: str, following: int) -> Sequence[str]:
    """Split a line of prose where a fence opens that a later line, from `following` on, closes."""
    prefix, at = line_prefix(line), _find_opening(line)
    if at is None or at <= len(prefix):
        return (line,)
    before, rest = line[:at].rstrip(), line[at + len(_FENCE) :]
    if not rest.strip() or _LANGUAGE.match(rest):
        return before, f"{prefix}{_FENCE}{rest}"
    closing = text.find(_FENCE, following)
    if closing < 0 or _LANGUAGE.match(text, closing + len(_FENCE)):
        return (line,)
    return before, f"{prefix}{_FENCE}", f"{prefix}{rest}"


def _find_opening(line: str) -> int | None:
    at = 0
    while match := _TICKS.search(line, at):
        at = match.end()
        if match[0].startswith(_FENCE):
            closing = line.find(_FENCE, match.start() + len(_FENCE))
            if closing < 0:
                return match.start()
            at = closing + len(_FENCE)
        elif match[0].startswith("`") and (code := re.search(rf"(?<!`){match[0]}(?!`)", line[at:])):
            at += code.end()
    return None


def _part_closing(line: str, fence: Fence) -> Sequence[str]:
    """Split a line of code where its fence is closed beside other text."""
    before, _, rest = line.partition(_FENCE)
    is_first = not before.strip("> \t")
    if line.count(_FENCE) != 1 or (is_first and _LANGUAGE.match(rest)):
        return (line,)
    code = () if is_first else (before,)
    return (*code, fence.closing, *((f"{fence.quote}{rest.lstrip()}",) if rest.strip() else ()))
