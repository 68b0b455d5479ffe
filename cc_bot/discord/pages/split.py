"""Cuts a long answer into Discord messages, so that each of them reads well by itself.

A message ends at the best place in its last part: after a paragraph rather than a line, after a line
rather than a sentence, and so on (`Rank`). A code fence that is open there is closed, and opened again
in the next message.

Each cut is decided from the text just behind the previous cut, up to `limit + limit // 4` characters
of it and no more. That makes the time linear, and it makes the pieces of a growing text come to rest:
see `settled`.

Discord counts code points (discord/discord-api-docs issue 1315, where its staff say so), its clients
and some libraries UTF-16 code units. A text has never fewer of the latter, so those are counted here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, islice, pairwise
from typing import Literal, cast

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies

from cc_bot.domain.kinsoku import NEVER_FIRST, NEVER_LAST, NOT_FIRST_IN_LINE

# ---- breaks ----------------------------------------------------------------------------------------------
# Where a line of text may be parted, and where never.
#
# Japanese writes no spaces, so it may be parted nearly everywhere; kinsoku (JIS X 4051) says where not:
# before 、。」ー and small kana, after an opening bracket. Latin words, numbers and runs of katakana are
# parted at white space or punctuation only. What Discord renders as one thing (an emoji, a mention, a
# link, a code span) is never parted. A place is also out of the question if the rest, at the start of a
# message, would turn into Markdown that it was not: `1. `, `- `, `> ` or a fence.


class Rank(IntEnum):
    """The rank of a place to part a text, best first."""

    PARAGRAPH = 0
    CODE_PARAGRAPH = 1
    """A blank line inside a code block."""
    LINE = 2
    SENTENCE = 3
    ASCII_SENTENCE = 4
    COMMA = 5
    SPACE = 6
    PHRASE = 7
    """Hiragana followed by anything else: mostly a particle or an ending, so mostly the end of a phrase.
    Not after お and ご, which mostly belong to what follows."""
    CHARACTER = 8
    LAST_RESORT = 9
    """A line end or white space that kinsoku forbids: still better than to cut a word."""


def _characters(text: str) -> str:
    return "".join(f"\\{character}" if character in "[]()^-\\{}&~|#" else character for character in text)


_CLOSING = _characters("」』）〕］｝〉》】〙〗｣”’\"')]")
_BLOCK_MARK = r"(?:[-*+>]|\#{1,3}|-\#|\d{1,9}[.)])(?:\s|\Z)"
_ALLOWED = (
    rf"(?<![{_characters(NEVER_LAST)}])"
    rf"(?!\s*+(?:[{_characters(NOT_FIRST_IN_LINE)}`~]|{_BLOCK_MARK}))"
)
_OPENING_BRACKETS = "「『（〔［｛〈《【〘〖｢“"
_KATAKANA = "ァ-ヺーｦ-ﾟㇰ-ㇿ"
_MODIFIERS = r"[\p{M}\u200d\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]{0,8}"
_IDEOGRAPHIC = (
    r"\p{Han}\p{Hiragana}\u3001-\u303f！-／：-＠［-｀｛-･\p{Extended_Pictographic}\p{Regional_Indicator}"
)

_PLACES = {
    Rank.SENTENCE: rf"[。！？｡‼⁇⁈⁉][。！？…!?‼⁇⁈⁉]*+[{_CLOSING}]*+",
    Rank.ASCII_SENTENCE: r"(?<=[.!?][\"'”’)\]*_]{0,4})(?=\s)",
    Rank.COMMA: "(?<=[、，；：])",
    Rank.SPACE: r"(?<=\S)(?=\s)",
    Rank.PHRASE: (
        rf"(?:(?<=\p{{Hiragana}})(?<![おご])(?=[\p{{Han}}{_KATAKANA}A-Za-z0-9{_OPENING_BRACKETS}])"
        r"|(?<=[」』）】〉》]))"
    ),
    Rank.CHARACTER: (
        rf"(?:(?<=[{_IDEOGRAPHIC}]{_MODIFIERS})(?=\S)"
        rf"|(?<=[{_KATAKANA}]{_MODIFIERS})(?=[^\s{_KATAKANA}])"
        rf"|(?=[{_OPENING_BRACKETS}]))"
    ),
}
_PATTERNS = {rank: regex.compile(place + _ALLOWED) for rank, place in _PLACES.items()} | {
    Rank.LAST_RESORT: regex.compile(r"(?<=\S)(?=\s)(?!\s*+[`~])")
}

# Each alternative stays within its line. One that is still open where the text known so far ends is
# taken to go on (\Z), so that it need not be seen whole to be kept whole.
_URL = r"https?://[^\s<>、。，．「」『』（）【】！？]+"
_WHOLE = regex.compile(
    r"\\."
    r"|(?<!`)(?P<ticks>`++)[^\n]*?(?:(?<!`)(?P=ticks)(?!`)|\Z)"
    r"|!?\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*+\]\((?:[^()\s]|\([^()\s]*\))*+(?:[ ]\"[^\"\n]*\")?(?:\)|\Z)"
    r"|!?\[[^\[\]\n]*+(?:\](?:\(\S*+(?:[ ]\"[^\"\n]*+)?)?)?\Z"
    r"|</[^<>\n]{1,100}(?:>|\Z)"
    r"|<(?:a?:\w+:|@[!&]?|\#|t:|id:)[^<>\s]*+>"
    rf"|{_URL}"
    r"|(?P<pair>\*\*|~~|\|\|)(?=\S)[^*~|\n]{1,200}+(?:(?P=pair)|\Z)"
)
_LINK = regex.compile(_URL)
_CLUSTER = regex.compile(r"\X")
_NOT_FIRST = frozenset(NEVER_FIRST)
_LAST = regex.compile(rf"[{_characters(NEVER_LAST)}]\s*\Z")
_HEADING = regex.compile(r"[ ]{0,3}\#{1,3}[ ]")


def is_good_line_end(text: str, start: int, end: int) -> bool:
    """Return whether prose may be parted after its line `text[start:end]`."""
    following = after_white_space(text, end)
    starts_well = text[following : following + 1] not in _NOT_FIRST
    ends_well = not _LAST.search(text, start, end) and not _HEADING.match(text, start, end)
    return starts_well and ends_well  # a heading stays with what it is the heading of


def cluster_starts(text: str) -> Iterator[int]:
    """Yield where each character begins that a reader sees as one (Unicode TR 29: extended grapheme
    clusters)."""
    return (match.start() for match in _CLUSTER.finditer(text))


def places(text: str, rank: Rank, start: int, end: int) -> Iterator[int]:
    """The places of one rank (SENTENCE and worse) in the line `text[start:end]`, from left to right.

    A place before white space stands for all of that white space. Whether it parts something that
    must stay whole is for `whole` to say.
    """
    return (match.end() for match in _PATTERNS[rank].finditer(text, start, end) if match.end() > start)


def whole(text: str, *, longest: int) -> bytearray:
    """Tell for each position of the text whether it lies inside something that is never parted.

    Links, code spans and the like count only up to `longest` characters: a longer one fits nowhere.
    """
    inside = bytearray(len(text) + 1)

    def keep(start: int, end: int) -> None:
        if end - start <= longest:
            inside[start + 1 : end] = b"\1" * max(0, end - start - 1)

    for match in _WHOLE.finditer(text):
        keep(*match.span())
        if match.end() - match.start() > longest:
            for link in _LINK.finditer(text, *match.span()):
                keep(*link.span())
    if not text.isascii():
        for match in _CLUSTER.finditer(text):
            inside[match.start() + 1 : match.end()] = b"\1" * (match.end() - match.start() - 1)
    return inside


def after_white_space(text: str, at: int) -> int:
    """The first position from `at` that is not white space; a space under a combining mark is a character."""
    return cast("int", _WHITE_SPACE.match(text, at).end())


_WHITE_SPACE = regex.compile(r"(?:\s(?![\p{M}\u200d]))*+")

# ---- fences ----------------------------------------------------------------------------------------------
# Code fences: which lines open and close them, and how an open one is closed and opened again.
#
# A fence is what CommonMark calls one (0.31, section 4.5): three or more backticks or tildes at the
# start of a line, perhaps inside quotes and lists, until a line with at least as many of the same. Two
# things differ, because Discord shows them so: a fence may be indented by any depth, and text that is
# indented less than the list item around a fence does not end it.

LineKind = Literal["prose", "opening", "code", "closing"]
"""What a line is: outside of any fence, the line of a fence, or between the two lines of one."""

_PREFIX = (
    r"\A(?P<quote>(?:[ \t]{0,3}+>(?!>>)[ \t]?+)*+)"
    r"(?P<indent>(?:[ \t]*+(?:[-*+]|\d{1,9}[.)]|>>>)[ \t])*+[ \t]*+)"
)
_LINE_PREFIX = re.compile(_PREFIX)
_FENCE_OPENING = re.compile(
    rf"{_PREFIX}"
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
        """Return whether a line of this fence is its last."""
        inner = self._without_quote(line)
        if inner is None:
            return False
        marks = inner.strip(" \t\r")
        return len(marks) >= len(self.marks) and not marks.strip(self.marks[0])

    def holds(self, line: str) -> bool:
        """Return whether a line still stands inside the quote that the fence is in."""
        return self._without_quote(line) is not None

    def _without_quote(self, line: str) -> str | None:
        """The line without the fence's quote marks; None if it has fewer of them."""
        at = 0
        for _ in range(self.quote.count(">")):
            mark = _QUOTE_MARK.match(line, at)
            if mark is None:
                return None
            at = mark.end()
        return line[at:]


def next_line(fence: Fence | None, line: str, *, longest: int | None = None) -> tuple[LineKind, Fence | None]:
    """Return what a line is after lines that left `fence` open, and which fence is open after it.

    The line comes without its end. Lines of more than `longest` characters are never fence lines.
    """
    may_be_fence_line = longest is None or len(line) <= longest
    if fence is not None and fence.holds(line):
        closes = may_be_fence_line and fence.is_closed_by(line)
        return ("closing", None) if closes else ("code", fence)
    opened = _fence_of(line) if may_be_fence_line else None
    return ("prose", None) if opened is None else ("opening", opened)


def close_fences(text: str) -> str:
    """The text, and after it the closing line of a code fence that it leaves open, if there is one."""
    fence: Fence | None = None
    for line in text.split("\n"):
        _, fence = next_line(fence, line)
    if fence is None:
        return text
    return f"{text}{'' if text.endswith(chr(10)) else chr(10)}{fence.closing}"


def line_prefix(line: str) -> str:
    """What a further line begins with that belongs to the same quote and list item."""
    match = cast("re.Match[str]", _LINE_PREFIX.match(line))
    return match["quote"] + _indent_of(match)


def _indent_of(match: re.Match[str]) -> str:
    return re.sub(r"[^ \t]", " ", match["indent"])  # a list item has its mark once


def _fence_of(line: str) -> Fence | None:
    match = _FENCE_OPENING.fullmatch(line)
    if match is None:
        return None
    return Fence(
        quote=match["quote"],
        indent=_indent_of(match),
        marks=match["marks"],
        info=match["info"].rstrip(),
    )


# ---- split -----------------------------------------------------------------------------------------------

MESSAGE_LIMIT = 2000
"""UTF-16 code units in one message."""

SMALLEST_LIMIT = 32

_LAST_PART = 0.4
"""The share of a message, at its end, in which a better place to cut beats a later one."""

_INNER_RANKS = [rank for rank in Rank if rank >= Rank.SENTENCE]


@dataclass(frozen=True, slots=True)
class _Piece:
    content: str
    settled: bool


@dataclass(frozen=True, slots=True)
class _Start:
    """The place where a piece begins."""

    at: int
    fence: Fence | None
    """The fence that is open there."""
    mark: str = ""
    """In the middle of a line of a quote: what stood at the line's start."""

    @property
    def opening(self) -> str:
        """The text that is put in front of the piece."""
        return f"{self.fence.opening}\n{self.mark}" if self.fence else ""


@dataclass(frozen=True, slots=True)
class _Line:
    """`view[start:end]`, without its line end."""

    start: int
    end: int
    kind: LineKind
    fence: Fence | None
    """The fence that is open after it."""


@dataclass(frozen=True, slots=True)
class _Cut:
    at: int
    fence: Fence | None
    """The fence that is open at the cut."""


@dataclass(frozen=True, slots=True)
class _View:
    """The knowledge of the text when a cut is chosen."""

    text: str
    lines: list[_Line]
    units: list[int]
    """UTF-16 code units before each position."""
    limit: int
    room: int
    """Code units that the piece has left for its text and the line that closes its fence."""

    def fits(self, cut: _Cut) -> bool:
        closing = 0 if cut.fence is None else 1 + utf16_length(cut.fence.closing)
        return cut.at > 0 and self.units[cut.at] + closing <= self.room

    def fits_alone(self, line: _Line, longest: int) -> bool:
        """Return whether a line of code fits in a piece of `longest` code units, inside its fence."""
        around = 0 if line.fence is None else utf16_length(f"{line.fence.opening}\n\n{line.fence.closing}")
        return self.units[line.end] - self.units[line.start] + around <= longest

    def is_late(self, cut: _Cut) -> bool:
        return self.units[cut.at] >= self.room * (1 - _LAST_PART)


def utf16_length(text: str) -> int:
    """The length in UTF-16 code units."""
    return len(text) + sum(character > "\uffff" for character in text)


def split(text: str, *, limit: int = MESSAGE_LIMIT, most: int | None = None) -> tuple[str, ...]:
    """The messages that together show a Markdown text; none for a text of white space. With `most` only so
    many of them, for which no more of the text is looked at than they show.

    Each has at most `limit` UTF-16 code units and is not blank. Without the fence lines that were added,
    and without the white space at the cuts, they are the text; only a fence's own last line may be
    replaced by an added one. A word, a URL, a mention, a link, a code span or a line of code is cut only
    if it does not fit in one message, an emoji or a letter with its marks never (unless it alone is
    longer than a message). A fence line of more than `limit // 5` characters is
    taken for ordinary text. Raises ValueError for a limit under SMALLEST_LIMIT.
    """
    return tuple(piece.content for piece in islice(_pieces(text, limit), most))


def count_settled(text: str, *, limit: int = MESSAGE_LIMIT) -> int:
    """Count how many of the first pieces of a text stay as they are, whatever is appended to it.

    With `n = count_settled(text)`, `split(text + more)[:n] == split(text)[:n]` for every `more`. A piece is
    settled as soon as `limit + limit // 4` characters (2500 for Discord) follow its beginning.
    """
    return sum(piece.settled for piece in _pieces(text, limit))


def _pieces(text: str, limit: int) -> Iterator[_Piece]:
    if limit < SMALLEST_LIMIT:
        raise ValueError(f"limit must be at least {SMALLEST_LIMIT}")
    text = text.rstrip()
    horizon = limit + limit // 4
    start = _resume(text, 0, None, limit)
    while start.at < len(text):
        view = _look(text[start.at : start.at + horizon], start, limit)
        sees_all = start.at + horizon >= len(text)
        cut = (sees_all and _rest(view)) or _choose(view)
        body = view.text[: cut.at].rstrip()
        if body.strip():
            closing = f"\n{cut.fence.closing}" if cut.fence else ""
            yield _Piece(f"{start.opening}{body}{closing}", settled=start.at + horizon <= len(text))
        start = _resume(text, start.at + cut.at, cut.fence, limit)


def _resume(text: str, at: int, fence: Fence | None, limit: int) -> _Start:
    """Return where the next piece begins after a cut, and what it opens with."""
    begin = after_white_space(text, at)
    line_ends = text.count("\n", at, begin)
    if at and not line_ends:
        return _Start(begin, fence, mark=fence.quote if fence else "")
    begin = text.rfind("\n", 0, begin) + 1  # indentation is kept
    if fence is None or (fence.quote and line_ends > 1):  # a blank line ends a quote
        return _Start(begin, None)
    end = text.find("\n", begin, begin + limit)
    line = text[begin : end if end >= 0 else begin + limit]
    kind, fence = next_line(fence, line, longest=_longest_fence_line(limit))
    if kind == "closing":  # the line that closed it in the last piece stands for this one
        return _resume(text, begin + len(line), None, limit)
    return _Start(begin, fence if kind == "code" else None)


def _longest_fence_line(limit: int) -> int:
    return limit // 5


def _look(text: str, start: _Start, limit: int) -> _View:
    lines: list[_Line] = []
    fence, begin = start.fence, 0
    while begin <= limit + 1:
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        line = text[begin:end] if begin else start.mark + text[:end]
        kind, fence = next_line(fence, line, longest=_longest_fence_line(limit))
        lines.append(_Line(begin, end, kind, fence))
        if end == len(text):
            break
        begin = end + 1
    units = [0, *accumulate(1 + (character > "\uffff") for character in text)]
    return _View(text, lines, units, limit, limit - utf16_length(start.opening))


def _rest(view: _View) -> _Cut | None:
    """The cut after all that is left, if that fits in one piece."""
    last = view.lines[-1]
    cut = _Cut(last.end, last.fence)
    return cut if last.end == len(view.text) and view.fits(cut) else None


def _choose(view: _View) -> _Cut:
    line_ends = [(rank, cut) for rank, cut in _line_ends(view) if view.fits(cut)]
    late = [(rank, -cut.at, cut) for rank, cut in line_ends if view.is_late(cut) and rank <= Rank.LINE]
    if late:
        return min(late, key=lambda found: found[:2])[2]
    return _inside(view, line_ends, view.limit) or _inside(view, line_ends, 0) or _force_cut(view)


def _inside(view: _View, line_ends: list[tuple[Rank, _Cut]], longest: int) -> _Cut | None:
    """The best cut when no line ends late; what is longer than `longest` need not stay whole."""
    inside = whole(view.text, longest=longest)
    earlier: dict[bool, list[_Cut]] = {True: [], False: []}
    for rank, cut in line_ends:
        earlier[rank is Rank.LAST_RESORT].append(cut)
    for rank in _INNER_RANKS:
        cuts = [cut for cut in _places(view, rank, inside, longest) if view.fits(cut)]
        if cuts and view.is_late(cuts[-1]) and rank is not Rank.LAST_RESORT:
            return cuts[-1]
        earlier[rank is Rank.LAST_RESORT] += cuts
    return max(earlier[False] or earlier[True], key=lambda cut: cut.at, default=None)


def _line_ends(view: _View) -> Iterator[tuple[Rank, _Cut]]:
    """Find every line end at which a piece may end, with its rank. Neither a blank line nor an opening
    may."""
    for line, following in pairwise(view.lines):
        if line.kind != "opening" and view.text[line.start : line.end].strip():
            yield _line_rank(view.text, line, following), _Cut(line.end, line.fence)


def _line_rank(text: str, line: _Line, following: _Line) -> Rank:
    if line.kind == "closing" or following.kind == "closing":
        return Rank.PARAGRAPH  # in place of the closing line that follows, one is added
    ends_paragraph = not text[following.start : following.end].strip()
    if line.kind == "code":
        return Rank.CODE_PARAGRAPH if ends_paragraph else Rank.LINE
    if not is_good_line_end(text, line.start, line.end):
        return Rank.LAST_RESORT
    return Rank.PARAGRAPH if ends_paragraph or following.kind == "opening" else Rank.LINE


def _places(view: _View, rank: Rank, inside: bytearray, longest: int) -> Iterator[_Cut]:
    """The places of a rank inside lines, from left to right."""
    for line in view.lines:
        if line.kind == "prose" or (line.kind == "code" and not view.fits_alone(line, longest)):
            for at in places(view.text, rank, line.start, line.end):
                if not inside[at]:
                    yield _Cut(at, line.fence)


def _force_cut(view: _View) -> _Cut:
    """The cut through something that fits in no piece: as late as a character's end allows."""
    starts = set(cluster_starts(view.text))
    for line in reversed(view.lines):
        if line.kind not in ("prose", "code"):
            continue
        cuts = [_Cut(at, line.fence) for at in range(max(line.start, 1), line.end + 1)]
        fitting = [cut for cut in cuts if view.fits(cut)]
        between = [cut for cut in fitting if cut.at in starts]
        harmless = [cut for cut in between if view.text[cut.at] not in "`~"]  # not to open a fence by itself
        if fitting:
            return (harmless or between or fitting)[-1]
    raise AssertionError("a fence line is too short to leave no room for what follows it")
