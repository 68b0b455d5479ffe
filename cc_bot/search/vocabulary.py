"""Finding known words in a line that has no spaces between its words.

From left to right, always the longest word that is known; then on behind it. What a script does by itself to
part words is made use of: a short word of kana is one only where kana of its own kind end beside it, a single
kanji only where no other kanji stands beside it, since 家 in 作家 is no house.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from cc_bot.search.line import Line

# Kana that most often end a word before the next one, and those that follow a word.
_BEFORE_A_WORD: Final = frozenset("のはがをにでともへや")
_AFTER_A_WORD: Final = frozenset("のはがをにでともへやかだじでなねよまさつし")
_FIRM: Final = 4  # characters of kana that hardly stand together by chance


class Span(NamedTuple):
    """A known word in a line: where it stands, and what it means: nothing, if it asks for nothing."""

    start: int
    end: int
    ideas: tuple[int, ...]


class Vocabulary:
    """Words as they stand in lines, each with the numbers of its ideas.

    `endings` are those that may also end a longer word of the same script: 犬 in 柴犬.
    A word that begins with 0 stands behind any number.
    """

    def __init__(self, words: Mapping[str, tuple[int, ...]], endings: frozenset[str]) -> None:
        self._words = words
        self._endings = endings
        lengths: dict[str, set[int]] = {}
        for word in words:
            lengths.setdefault(word[:2], set()).add(len(word))
        self._lengths = {start: tuple(sorted(found, reverse=True)) for start, found in lengths.items()}

    def spans(self, line: Line) -> Iterator[Span]:
        """The known words of a line in order; none overlaps another."""
        text, kinds = line
        lengths = self._lengths
        at = known_to = 0
        while at < len(text):
            span = None
            if kinds[at] == "d":
                span = self._counted(line, at)
            elif text[at : at + 2] in lengths or text[at] in lengths:
                span = self._longest(line, at, known_to)
            if span is not None:
                yield span
                at = known_to = span.end
            elif kinds[at] in "dl":
                at = _token_end(kinds, at)
            else:
                at += 1

    def _longest(self, line: Line, at: int, known_to: int) -> Span | None:
        text = line.text
        for start in (text[at : at + 2], text[at]):
            for length in self._lengths.get(start, ()):
                word = text[at : at + length]
                end = at + len(word)
                ideas = self._words.get(word)
                if ideas is not None and self._stands(line, at, end, known_to, word in self._endings):
                    return Span(at, end, ideas)
            if len(start) == 1:
                break
        return None

    def _counted(self, line: Line, at: int) -> Span | None:
        """A number with what it counts."""
        text, kinds = line
        end = _token_end(kinds, at)
        whole = self._longest(line, at, at)
        if whole is not None:
            return whole
        for length in self._lengths.get("0" + text[end : end + 1], ()):
            counted = text[end : end + length - 1]
            ideas = self._words.get("0" + counted)
            if ideas is not None and self._stands(line, at, end + len(counted), at, ending=True):
                return Span(at, end + len(counted), ideas)
        return None

    def _stands(self, line: Line, start: int, end: int, known_to: int, ending: bool) -> bool:
        """Whether the word at this place is one, and no part of a longer one."""
        text, kinds = line
        length = end - start
        joined_before = start > known_to and kinds[start - 1] == kinds[start]
        joined_after = end < len(text) and kinds[end] == kinds[end - 1]
        alone = not joined_after and (ending or not joined_before)
        match kinds[start]:
            case "k":
                return length > 1 or alone
            case "t" | "h" if length >= _FIRM:
                return True
            case "t":
                return alone or (length == _FIRM - 1 and not (joined_before and joined_after))
            case "h":
                starts = not joined_before or text[start - 1] in _BEFORE_A_WORD
                ends = not joined_after or kinds[end - 1] != "h" or text[end] in _AFTER_A_WORD
                return starts and ends
            case _:
                return not joined_before and not joined_after


def _token_end(kinds: str, at: int) -> int:
    """Where the number or the word of letters ends that begins here."""
    kind = kinds[at]
    while at < len(kinds) and kinds[at] == kind:
        at += 1
    return at
