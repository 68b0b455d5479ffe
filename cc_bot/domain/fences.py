"""Code fences in Markdown."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

# Follows CommonMark (0.31, section 4.5), also in quotes and lists. As on Discord, fences may have any indent,
# and text with less indent does not end them.

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
    quote: str  # the prefix of each of its lines: `> `, or empty
    indent: str
    marks: str
    info: str  # usually the language

    @property
    def opening(self) -> str:
        return f"{self.closing}{self.info}"

    @property
    def closing(self) -> str:
        return f"{self.quote}{self.indent}{self.marks}"

    def is_closed_by(self, line: str) -> bool | None:
        """Return whether the line closes the fence; None if it is outside of the fence's quote."""
        for _ in range(self.quote.count(">")):
            mark = _QUOTE_MARK.match(line)
            if mark is None:
                return None
            line = line[mark.end() :]
        marks = line.strip(" \t\r")
        return len(marks) >= len(self.marks) and not marks.strip(self.marks[0])


def classify_line(
    fence: Fence | None, line: str, *, max_fence_line: int | None = None
) -> tuple[LineKind, Fence | None]:
    """Return the kind of a line, and the fence that is open after it. Lines longer than `max_fence_line`
    neither open nor close a fence."""
    may_be_fence_line = max_fence_line is None or len(line) <= max_fence_line
    if fence and (closes := fence.is_closed_by(line)) is not None:
        return ("closing", None) if closes and may_be_fence_line else ("code", fence)
    match = _FENCE_OPENING.fullmatch(line) if may_be_fence_line else None
    if match is None:
        return "prose", None
    return "opening", Fence(match["quote"], _indent_of(match), match["marks"], match["info"].rstrip())


_MARK: Final = re.compile(r"(?P<escape>\\.)|(?<!`)`{1,2}(?!`)|\*{2,3}|~~")


def close_marks(text: str) -> str:
    """Close the code block or formatting in which the text ends; leave out marks that nothing follows."""
    kind: LineKind = "prose"
    fence: Fence | None = None
    for line in text.split("\n"):
        kind, fence = classify_line(fence, line)
    if kind == "opening":
        return text.rpartition("\n")[0]
    if fence:
        return "\n".join((text.removesuffix("\n"), fence.closing))
    if kind == "closing":
        return text
    text, marks = text.rstrip(), dict[str, re.Match[str]]()
    for match in _MARK.finditer(text, text.rfind("\n\n") + 1):
        is_in_code = any(mark[0] == "`" for mark in marks)
        if match[0] in marks:
            while marks.popitem()[0] != match[0]:
                pass
        elif not match["escape"] and not is_in_code:
            marks[match[0]] = match
    for mark, match in reversed(marks.items()):
        is_empty = not text[match.end() :].strip()
        text = text[: match.start()].rstrip() if is_empty else text.rstrip(mark[0]) + mark
    return text


def line_prefix(line: str) -> str:
    """Return the prefix of a next line in the same quote and list item."""
    match = cast("re.Match[str]", _LINE_PREFIX.match(line))
    return match["quote"] + _indent_of(match)


def _indent_of(match: re.Match[str]) -> str:
    return re.sub(r"[^ \t]", " ", match["indent"])  # only the first line of a list item has its marker


# Discord opens a code block at three backticks anywhere in a line, and closes it at the next three.

_INLINE_FENCE: Final = "```"
_ESCAPE_OR_TICKS: Final = re.compile(r"\\.|`+")
_LANGUAGE_LINE: Final = re.compile(r"[a-z0-9_+\-.#]{1,40}+[ \t]{0,8}+(?:\n|\Z)", re.IGNORECASE)


def put_fences_on_own_lines(text: str) -> str:
    return "\n".join(_split_at_fences(text)) if _INLINE_FENCE in text else text


def _split_at_fences(text: str) -> Iterator[str]:
    fence: Fence | None = None
    next_start = 0
    for line in text.split("\n"):
        next_start += len(line) + 1
        kind, _ = classify_line(fence, line)
        parts: Sequence[str] = (line,)
        if kind == "prose":
            parts = _split_at_opening(line, text, next_start)
        elif kind == "code" and fence and fence.marks == _INLINE_FENCE:
            parts = _split_at_closing(line, fence)
        for part in parts:
            _, fence = classify_line(fence, part)
        yield from parts


def _split_at_opening(line: str, text: str, next_start: int) -> Sequence[str]:
    """Split a line of prose at a fence that opens a code block. The next line begins at `next_start`."""
    prefix, opening_at = line_prefix(line), _find_opening(line)
    if opening_at is None or opening_at <= len(prefix):
        return (line,)
    text_before, rest = line[:opening_at].rstrip(), line[opening_at + len(_INLINE_FENCE) :]
    if not rest.strip() or _LANGUAGE_LINE.match(rest):
        return text_before, f"{prefix}{_INLINE_FENCE}{rest}"
    closing_at = text.find(_INLINE_FENCE, next_start)
    if closing_at < 0 or _LANGUAGE_LINE.match(text, closing_at + len(_INLINE_FENCE)):
        return (line,)
    return text_before, f"{prefix}{_INLINE_FENCE}", f"{prefix}{rest}"


def _find_opening(line: str) -> int | None:
    at = 0
    while match := _ESCAPE_OR_TICKS.search(line, at):
        at = match.end()
        if match[0].startswith(_INLINE_FENCE):
            closing_at = line.find(_INLINE_FENCE, match.start() + len(_INLINE_FENCE))
            if closing_at < 0:
                return match.start()
            at = closing_at + len(_INLINE_FENCE)
        elif match[0].startswith("`") and (code := re.search(rf"(?<!`){match[0]}(?!`)", line[at:])):
            at += code.end()
    return None


def _split_at_closing(line: str, fence: Fence) -> Sequence[str]:
    text_before, _, rest = line.partition(_INLINE_FENCE)
    is_first = not text_before.strip("> \t")
    if line.count(_INLINE_FENCE) != 1 or (is_first and _LANGUAGE_LINE.match(rest)):
        return (line,)
    lines = [fence.closing] if is_first else [text_before, fence.closing]
    return [*lines, f"{fence.quote}{rest.lstrip()}"] if rest.strip() else lines
