"""Everyday words of personal notes, and their relations.

The words are in the text files of `words/`, one idea per line:

    ペット, pet > 犬, 猫, うさぎ ~ 飼う
    いつ, when ? @日付, @時刻

First come the idea's names, which are synonyms; after `>` narrower ideas: a query for pets also finds dogs;
after `~` related ideas, in both directions; after `?` the kinds of answer to a question word. Names with @
are not words. 0 matches any number. 〜 lets a name end a longer word (〜犬: 柴犬). A line with `-`
at its start lists stop words.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from cc_bot.features.memory.search.folding import Line, fold, forms, read

# Kana that usually end a word, and kana that follow one.
_BEFORE_A_WORD: Final = frozenset("のはがをにでともへや")
_AFTER_A_WORD: Final = frozenset("のはがをにでともへやかだじでなねよまさつし")
_FIRM: Final = 4  # kana; such long matches are hardly accidental


class Span(NamedTuple):
    """A known word in a line, with its ideas; none for a stop word."""

    start: int
    end: int
    ideas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Idea:
    terms: tuple[str, ...]
    """For a note that mentions it: its own term, and those of all broader ideas."""
    asked: Mapping[str, float]
    """Terms that match a query for it, with their weights."""
    question: bool
    """A question word is not searched for literally."""


class Lexicon:
    """Ideas and their words, which it finds in a line without spaces: from left to right, the longest first.

    A short word of kana counts only if kana of its kind end beside it, a single kanji only without kanji
    beside it: 家 in 作家 is not a house. `endings` may also end a longer word. 0 at the start matches any
    number.
    """

    def __init__(
        self, ideas: tuple[Idea, ...], words: Mapping[str, tuple[int, ...]], endings: frozenset[str]
    ) -> None:
        self.ideas = ideas
        self._words = words
        self._endings = endings
        self._lengths = dict[str, tuple[int, ...]]()
        lengths = dict[str, set[int]]()
        for word in words:
            lengths.setdefault(word[:2], set()).add(len(word))
        shared = dict[tuple[int, ...], tuple[int, ...]]()
        for start, found in lengths.items():
            longest_first = tuple(sorted(found, reverse=True))
            self._lengths[start] = shared.setdefault(longest_first, longest_first)

    def spans(self, line: Line) -> Iterator[Span]:
        """Yield the known words in order, without overlap."""
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

    def terms(self, line: Line) -> list[str]:
        return [term for span in self.spans(line) for idea in span.ideas for term in self.ideas[idea].terms]

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
        """Return whether this match is not part of a longer word."""
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
    kind = kinds[at]
    while at < len(kinds) and kinds[at] == kind:
        at += 1
    return at


_SAME: Final = 0.9
_RELATED: Final = 0.55
_ANSWER: Final = 0.3
_PART: Final = re.compile("([=>~?])([^>~?]*)")


@dataclass
class _Idea:
    name: str
    kinds: list[str] = field(default_factory=list)
    related: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """Return the built-in lexicon; parsed on first use."""
    folder = files("cc_bot.features.memory.search").joinpath("words")
    lists = sorted(folder.iterdir(), key=lambda file: file.name)
    return parse_lexicon(line for file in lists for line in file.read_text(encoding="utf-8").splitlines())


def parse_lexicon(lines: Iterable[str]) -> Lexicon:
    reading = _Reading()
    for line in lines:
        if line.startswith("-"):
            for word in _words(line[1:]):
                reading.name(word)
        elif line.strip() and not line.startswith("#"):
            reading.idea(line)
    return reading.lexicon()


class _Reading:
    def __init__(self) -> None:
        self._words: dict[str, tuple[int, ...]] = {}
        self._endings: set[str] = set()
        self._ideas: list[_Idea] = []

    def idea(self, line: str) -> None:
        parts = dict.fromkeys("=>~?", "")
        for sign, words in _PART.findall("=" + line):
            parts[sign] = words
        names = _words(parts["="])
        self._ideas.append(_Idea(names[0].lstrip("〜"), *(_words(parts[sign]) for sign in ">~?")))
        for word in names:
            self.name(word, len(self._ideas) - 1)

    def name(self, written: str, number: int | None = None) -> None:
        """Add an idea to a word, in all of its forms."""
        own = () if number is None else (number,)
        for form in forms(written.lstrip("〜")):
            key = _key(form)
            known = self._words.get(key, ())
            self._words[key] = known if number in known else known + own
            if written.startswith("〜"):
                self._endings.add(key)

    def lexicon(self) -> Lexicon:
        """Resolve references: a name may have its line later, or none."""
        parents: defaultdict[int, set[int]] = defaultdict(set)
        for parent, idea in enumerate(list(self._ideas)):
            for kind in idea.kinds:
                for number in self._numbers(kind):
                    parents[number].add(parent)
        asked: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for number, idea in enumerate(list(self._ideas)):
            for written in idea.related:
                for other in self._numbers(written):
                    asked[number][other] = asked[other][number] = _RELATED
            for written in idea.answers:
                for other in self._numbers(written):
                    asked[number][other] = _ANSWER
        terms = ["=" + "".join(idea.name.split()) for idea in self._ideas]
        ideas = (self._linked(number, parents, asked[number], terms) for number in range(len(terms)))
        return Lexicon(tuple(ideas), self._words, frozenset(self._endings))

    def _numbers(self, written: str) -> tuple[int, ...]:
        """The ideas with a name; a new one if it has no line."""
        key = _key(written.lstrip("〜"))
        if not self._words.get(key):
            self._ideas.append(_Idea(written.lstrip("〜")))
            self.name(written, len(self._ideas) - 1)
        return self._words[key]

    def _linked(
        self, number: int, parents: Mapping[int, set[int]], asked: Mapping[int, float], terms: Sequence[str]
    ) -> Idea:
        general, found = [number], {number}
        for child in general:
            new = parents.get(child, set()) - found
            found |= new
            general += sorted(new)
        question = bool(self._ideas[number].answers)
        own = {} if question else {terms[number]: _SAME}
        return Idea(
            () if question else tuple(terms[other] for other in general),
            own | {terms[other]: weight for other, weight in asked.items() if other != number},
            question,
        )


def _key(written: str) -> str:
    """A word as spelled in lines; names with @ stay."""
    return written if written.startswith("@") else read(fold(written)).text


def _words(listed: str) -> list[str]:
    return [word for part in listed.split(",") if (word := part.strip())]
