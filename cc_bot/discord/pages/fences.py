"""Code fences: which lines open and close them, and how an open one is closed and opened again.

A fence is what CommonMark calls one (0.31, section 4.5): three or more backticks or tildes at the
start of a line, perhaps inside quotes and lists, until a line with at least as many of the same. Two
things differ, because Discord shows them so: a fence may be indented by any depth, and text that is
indented less than the list item around a fence does not end it.
"""

import re
from dataclasses import dataclass
from typing import Literal

LineKind = Literal["prose", "opening", "code", "closing"]
"""What a line is: outside of any fence, the line of a fence, or between the two lines of one."""

_OPENING = re.compile(
    r"\A(?P<quote>(?:[ \t]{0,3}+>(?!>>)[ \t]?+)*+)"
    r"(?P<indent>(?:[ \t]*+(?:[-*+]|\d{1,9}[.)]|>>>)[ \t])*+[ \t]*+)"
    r"(?P<marks>`{3,}+(?=[^`]*$)|~{3,}+)"
    r"(?P<info>.*)",
    re.DOTALL,
)
_QUOTE_MARK = re.compile(r"[ \t]{0,3}>[ \t]?")


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence that is open."""

    quote: str
    """The quote marks in front of each of its lines: `> `, or nothing."""
    indent: str
    marks: str
    info: str
    """What follows the marks: mostly the language."""

    @property
    def opening(self) -> str:
        """The line that opens the same fence again."""
        return f"{self.quote}{self.indent}{self.marks}{self.info}"

    @property
    def closing(self) -> str:
        """A line that closes it."""
        return f"{self.quote}{self.indent}{self.marks}"

    def is_closed_by(self, line: str) -> bool:
        """Whether a line of this fence is its last."""
        inner = self._unquoted(line)
        if inner is None:
            return False
        marks = inner.strip(" \t\r")
        return len(marks) >= len(self.marks) and not marks.strip(self.marks[0])

    def holds(self, line: str) -> bool:
        """Whether a line still stands inside the quote that the fence is in."""
        return self._unquoted(line) is not None

    def _unquoted(self, line: str) -> str | None:
        """The line without the fence's quote marks; None if it has fewer of them."""
        at = 0
        for _ in range(self.quote.count(">")):
            mark = _QUOTE_MARK.match(line, at)
            if mark is None:
                return None
            at = mark.end()
        return line[at:]


def next_line(fence: Fence | None, line: str, *, longest: int | None = None) -> tuple[LineKind, Fence | None]:
    """What a line is after lines that left `fence` open, and which fence is open after it.

    The line comes without its end. Lines of more than `longest` characters are never fence lines.
    """
    may_be_fence_line = longest is None or len(line) <= longest
    if fence is not None and fence.holds(line):
        closes = may_be_fence_line and fence.is_closed_by(line)
        return ("closing", None) if closes else ("code", fence)
    opened = _opened_by(line) if may_be_fence_line else None
    return ("prose", None) if opened is None else ("opening", opened)


def close_fences(text: str) -> str:
    """The text, and after it the closing line of a code fence that it leaves open, if there is one."""
    fence: Fence | None = None
    for line in text.split("\n"):
        _, fence = next_line(fence, line)
    if fence is None:
        return text
    return f"{text}{'' if text.endswith(chr(10)) else chr(10)}{fence.closing}"


def _opened_by(line: str) -> Fence | None:
    match = _OPENING.fullmatch(line)
    if match is None:
        return None
    return Fence(
        quote=match["quote"],
        indent=re.sub(r"[^ \t]", " ", match["indent"]),  # a list's mark stands only once
        marks=match["marks"],
        info=match["info"].rstrip(),
    )
