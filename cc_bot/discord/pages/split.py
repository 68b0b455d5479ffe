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

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from cc_bot.discord.pages.breaks import (
    Rank,
    after_white_space,
    cluster_starts,
    is_good_line_end,
    places,
    whole,
)
from cc_bot.discord.pages.fences import Fence, LineKind, next_line

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
    """Where a piece begins."""

    at: int
    fence: Fence | None
    """The fence that is open there."""
    mark: str = ""
    """In the middle of a line of a quote: what stood at the line's start."""

    @property
    def opening(self) -> str:
        """What is put in front of the piece."""
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
    """What is known of the text when a cut is chosen."""

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
        """Whether a line of code fits in a piece of `longest` code units, inside its fence."""
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


def settled(text: str, *, limit: int = MESSAGE_LIMIT) -> int:
    """How many of the first pieces of a text stay as they are, whatever is appended to it.

    With `n = settled(text)`, `split(text + more)[:n] == split(text)[:n]` for every `more`. A piece is
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
    """Where the next piece begins after a cut, and what it opens with."""
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
    return _inside(view, line_ends, view.limit) or _inside(view, line_ends, 0) or _forced(view)


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
    """Every line end at which a piece may end, with its rank. Neither a blank line nor an opening may."""
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


def _forced(view: _View) -> _Cut:
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
