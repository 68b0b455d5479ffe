"""Where a line of text may be parted, and where never.

Japanese writes no spaces, so it may be parted nearly everywhere; kinsoku (JIS X 4051) says where not:
before 、。」ー and small kana, after an opening bracket. Latin words, numbers and runs of katakana are
parted at white space or punctuation only. What Discord renders as one thing (an emoji, a mention, a
link, a code span) is never parted. A place is also out of the question if the rest, at the start of a
message, would turn into Markdown that it was not: `1. `, `- `, `> ` or a fence.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import cast

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies

NEVER_FIRST = (
    "、。，．」』）〕］｝〉》】〙〗｣ゝゞヽヾ々〻ー"
    "ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶㇰㇱㇲㇳㇴㇵㇶㇷㇸㇹㇺㇻㇼㇽㇾㇿ｡､ｧｨｩｪｫｬｭｮｯｰﾞﾟ"
)
"""What no piece of prose starts with."""

NEVER_LAST = "（〔［｛〈《「『【〘〖｢“‘([{＃＠￥＄£€$#@"
"""What no piece of prose ends with."""


class Rank(IntEnum):
    """How good a place to part a text is, best first."""

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
_NOT_FIRST_IN_LINE = _characters(NEVER_FIRST + "・：；！？‼⁇⁈⁉…‥—―–〜～゛゜％‰℃′″”’!?.,:;)]}%")
_BLOCK_MARK = r"(?:[-*+>]|\#{1,3}|-\#|\d{1,9}[.)])(?:\s|\Z)"
_ALLOWED = (
    rf"(?<![{_characters(NEVER_LAST)}])"
    rf"(?!\s*+(?:[{_NOT_FIRST_IN_LINE}`~]|{_BLOCK_MARK}))"
)
_OPENING = "「『（〔［｛〈《【〘〖｢“"
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
        rf"(?:(?<=\p{{Hiragana}})(?<![おご])(?=[\p{{Han}}{_KATAKANA}A-Za-z0-9{_OPENING}])"
        r"|(?<=[」』）】〉》]))"
    ),
    Rank.CHARACTER: (
        rf"(?:(?<=[{_IDEOGRAPHIC}]{_MODIFIERS})(?=\S)"
        rf"|(?<=[{_KATAKANA}]{_MODIFIERS})(?=[^\s{_KATAKANA}])"
        rf"|(?=[{_OPENING}]))"
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
    """Whether prose may be parted after its line `text[start:end]`."""
    following = after_white_space(text, end)
    starts_well = text[following : following + 1] not in _NOT_FIRST
    ends_well = not _LAST.search(text, start, end) and not _HEADING.match(text, start, end)
    return starts_well and ends_well  # a heading stays with what it is the heading of


def cluster_starts(text: str) -> Iterator[int]:
    """Where each character begins that a reader sees as one (Unicode TR 29: extended grapheme clusters)."""
    return (match.start() for match in _CLUSTER.finditer(text))


def places(text: str, rank: Rank, start: int, end: int) -> Iterator[int]:
    """The places of one rank (SENTENCE and worse) in the line `text[start:end]`, from left to right.

    A place before white space stands for all of that white space. Whether it parts something that
    must stay whole is for `whole` to say.
    """
    return (match.end() for match in _PATTERNS[rank].finditer(text, start, end) if match.end() > start)


def whole(text: str, *, longest: int) -> bytearray:
    """For each position of the text, whether it lies inside something that is never parted.

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
