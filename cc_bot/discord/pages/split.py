"""Splits a long answer into Discord messages, each readable by itself.

A message ends at the best position near its limit. A code fence that is cut is closed and reopened. A cut
depends on little text after it, so the first messages of a growing text soon stop changing. UTF-16 code units
are counted, as by Discord's clients.
"""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Final, NamedTuple, cast

import regex  # type: ignore[import-untyped]

from cc_bot.domain.fences import Fence, LineKind, classify_line
from cc_bot.domain.kinsoku import NOT_FIRST_IN_LINE, NOT_FIRST_IN_MESSAGE, NOT_LAST

MESSAGE_LIMIT: Final = 2000  # UTF-16 code units

# Kinsoku (JIS X 4051) forbids cuts before 、。」ー and small kana, and after opening brackets. Latin words,
# numbers and katakana are cut only at white space or punctuation. Emoji, mentions, links and code spans stay
# whole. No cut may turn the rest into Markdown at the start of a message: `1. `, `- `, `> ` or a fence.

_PARAGRAPH, _CODE_PARAGRAPH, _LINE, _IN_LINE = range(4)
"""Ranks of cuts, best first. From `_IN_LINE` on, they are those of `_PATTERNS`."""


def _characters(text: str) -> str:
    return "".join(f"\\{character}" if character in "[]()^-\\{}&~|#" else character for character in text)


_CLOSING = _characters("」』）〕］｝〉》】〙〗｣”’\"')]")
_BLOCK_MARK = r"(?:[-*+>]|\#{1,3}|-\#|\d{1,9}[.)])(?:\s|\Z)"
_ALLOWED = (
    rf"(?<![{_characters(NOT_LAST)}])"
    rf"(?!\s*+(?:[{_characters(NOT_FIRST_IN_LINE)}`~]|{_BLOCK_MARK}))"
)
_OPENING_BRACKETS = "「『（〔［｛〈《【〘〖｢“"
_KATAKANA = "ァ-ヺーｦ-ﾟㇰ-ㇿ"
_MODIFIERS = r"[\p{M}\u200d\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]{0,8}"
_IDEOGRAPHIC = (
    r"\p{Han}\p{Hiragana}\u3001-\u303f！-／：-＠［-｀｛-･\p{Extended_Pictographic}\p{Regional_Indicator}"
)

_AT_CHARACTER = (
    rf"(?:(?<=[{_IDEOGRAPHIC}]{_MODIFIERS})(?=\S)"
    rf"|(?<=[{_KATAKANA}]{_MODIFIERS})(?=[^\s{_KATAKANA}])"
    rf"|(?=[{_OPENING_BRACKETS}]))"
)
_PATTERNS = (
    regex.compile(rf"[。！？｡‼⁇⁈⁉][。！？…!?‼⁇⁈⁉]*+[{_CLOSING}]*+{_ALLOWED}"),  # after a sentence
    regex.compile(rf"(?<=[.!?][\"'”’)\]*_]{{0,4}})(?=\s){_ALLOWED}"),
    regex.compile(rf"(?<=[、，；：]){_ALLOWED}"),
    regex.compile(rf"(?<=\S)(?=\s){_ALLOWED}"),
    # Hiragana mostly ends a phrase, but お and ご belong to the next word.
    regex.compile(
        rf"(?:(?<=\p{{Hiragana}})(?<![おご])(?=[\p{{Han}}{_KATAKANA}A-Za-z0-9{_OPENING_BRACKETS}])"
        rf"|(?<=[」』】）〉》])){_ALLOWED}"
    ),
    regex.compile(_AT_CHARACTER + _ALLOWED),
    # White space that kinsoku forbids is still better than a cut word.
    regex.compile(r"(?<=\S)(?=\s)(?!\s*+[`~])"),
)
_LAST_RESORT = _IN_LINE + len(_PATTERNS) - 1
_CHARACTER = _LAST_RESORT - 1

# Units, which are not cut. One that the end of the text cuts off (\Z) may continue.
_URL = r"https?://[^\s<>、。，．「」『』（）【】！？]+"
_UNIT = regex.compile(
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
_FENCE_MARKS = regex.compile("`{3}|~{3}")
_GRAPHEME = regex.compile(r"\X")
_LAST = regex.compile(rf"[{_characters(NOT_LAST)}]\s*\Z")
_HEADING = regex.compile(r"[ ]{0,3}\#{1,3}[ ]")
_WHITE_SPACE = regex.compile(r"(?:\s(?![\p{M}\u200d]))*+")  # a space under a combining mark is a character


def _positions_inside_units(text: str, limit: int) -> set[int]:
    inside = set[int]()
    for match in _UNIT.finditer(text):
        fits = match.end() - match.start() <= limit  # else only its links are units
        for unit in [match] if fits else _LINK.finditer(text, *match.span()):
            if unit.end() - unit.start() <= limit:
                inside.update(range(unit.start() + 1, unit.end()))
    return inside


def _after_white_space(text: str, at: int) -> int:
    return cast("int", _WHITE_SPACE.match(text, at).end())


_LATE_SHARE = 0.4  # in this last share of a message, the better cut is preferred to the later one


class _Line(NamedTuple):
    start: int
    end: int
    kind: LineKind
    fence: Fence | None


class _Cut(NamedTuple):
    at: int
    fence: Fence | None
    rank: int = _LAST_RESORT
    splits_unit: bool = False


def utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(text: str, *, limit: int = MESSAGE_LIMIT, max_count: int | None = None) -> tuple[str, ...]:
    """Split a Markdown text into at most `max_count` messages; none if it is blank.

    Each has at most `limit` UTF-16 code units and is not blank. Without added fence lines and white space at
    cuts, they are the text. Fence lines of more than `limit // 5` characters count as text.
    """
    text, pieces = text.rstrip(), list[str]()
    at, fence = _resume(text, 0, None, limit)
    while at < len(text) and (max_count is None or len(pieces) < max_count):
        in_line = at and text[at - 1] != "\n"
        opening = f"{fence.opening}\n{fence.quote if in_line else ''}" if fence else ""
        view = text[at : at + limit + limit // 4]
        is_rest = at + len(view) == len(text)
        if is_rest and not fence and not _FENCE_MARKS.search(view) and utf16_length(view) <= limit:
            return (*pieces, view)
        lines = _lines(view, fence, fence.quote if fence and in_line else "", limit)
        cut = _best_cut(view, lines, limit, limit - utf16_length(opening), is_rest=is_rest)
        if body := view[: cut.at].rstrip():
            pieces.append(f"{opening}{body}{f'{chr(10)}{cut.fence.closing}' if cut.fence else ''}")
        at, fence = _resume(text, at + cut.at, cut.fence, limit)
    return tuple(pieces)


def _resume(text: str, at: int, fence: Fence | None, limit: int) -> tuple[int, Fence | None]:
    """Return where the next message begins after a cut, and the fence to reopen there."""
    begin = _after_white_space(text, at)
    line_ends = text.count("\n", at, begin)
    if at and not line_ends:
        return begin, fence
    begin = text.rfind("\n", 0, begin) + 1  # indentation is kept
    if fence is None or (fence.quote and line_ends > 1):  # a blank line ends a quote
        return begin, None
    line = text[begin : begin + limit].partition("\n")[0]
    kind, fence = classify_line(fence, line, max_fence_line=limit // 5)
    if kind == "closing":  # the last message has closed the fence already
        return _resume(text, begin + len(line), None, limit)
    return begin, fence if kind == "code" else None


def _lines(view: str, fence: Fence | None, mark: str, limit: int) -> list[_Line]:
    lines, at = list[_Line](), 0
    for line in view.split("\n"):
        kind, fence = classify_line(fence, line if at else mark + line, max_fence_line=limit // 5)
        lines.append(_Line(at, at + len(line), kind, fence))
        at += len(line) + 1
    return lines


def _best_cut(view: str, lines: list[_Line], limit: int, room: int, *, is_rest: bool) -> _Cut:
    units = [0, *accumulate(1 + (character > "\uffff") for character in view)]

    def fits(cut: _Cut) -> bool:
        closing = 1 + utf16_length(cut.fence.closing) if cut.fence else 0
        return cut.at > 0 and units[cut.at] + closing <= room

    def preference(cut: _Cut) -> tuple[bool, int, int, int]:
        is_late = units[cut.at] >= room * (1 - _LATE_SHARE)
        return cut.splits_unit, max(cut.rank, _CHARACTER), cut.rank if is_late else _CHARACTER, -cut.at

    everything = _Cut(len(view), lines[-1].fence)
    if is_rest and fits(everything):
        return everything
    starts = {match.start() for match in _GRAPHEME.finditer(view)}
    inside = _positions_inside_units(view, limit)
    cuts = [
        *_cuts_at_line_ends(view, lines),
        *(cut for cut in _cuts_in_lines(view, lines, inside, limit) if cut.at in starts),
    ]
    if best := min(filter(fits, cuts), key=preference, default=None):
        return best
    # A unit fills the message. The next should not begin with a tick, which could open a fence.
    anywhere = (
        _Cut(at, line.fence)
        for line in lines
        if line.kind in ("prose", "code")
        for at in range(line.start, line.end + 1)
    )
    return max(filter(fits, anywhere), key=lambda cut: (cut.at in starts, view[cut.at] not in "`~", cut.at))


def _cuts_at_line_ends(view: str, lines: list[_Line]) -> Iterator[_Cut]:
    for line, following in pairwise(lines):
        if line.kind == "opening" or not view[line.start : line.end].strip():
            continue
        next_at = _after_white_space(view, line.end)
        is_blank = not view[following.start : following.end].strip()
        rank = _PARAGRAPH if is_blank or following.kind == "opening" else _LINE
        if line.kind == "closing" or following.kind == "closing":
            rank = _PARAGRAPH
        elif line.kind == "code":
            rank = _CODE_PARAGRAPH if is_blank else _LINE
        elif (
            view[next_at : next_at + 1] in [*NOT_FIRST_IN_MESSAGE]
            or _LAST.search(view, line.start, line.end)
            or _HEADING.match(view, line.start, line.end)  # a heading stays with its text
        ):
            rank = _LAST_RESORT
        yield _Cut(line.end, line.fence, rank)


def _cuts_in_lines(view: str, lines: list[_Line], inside: set[int], limit: int) -> Iterator[_Cut]:
    for line in lines:
        if line.kind not in ("prose", "code"):
            continue
        fence_lines = f"{line.fence.opening}\n\n{line.fence.closing}" if line.fence else ""
        is_whole = line.kind == "code" and utf16_length(view[line.start : line.end] + fence_lines) <= limit
        for rank, pattern in enumerate(_PATTERNS, _IN_LINE):
            for match in pattern.finditer(view, line.start, line.end):
                if match.end() > line.start:
                    yield _Cut(match.end(), line.fence, rank, is_whole or match.end() in inside)
