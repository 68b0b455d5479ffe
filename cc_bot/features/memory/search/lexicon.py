"""Everyday words of personal notes, and their relations.

The files of `words/` have one idea per line:

    ペット, pet > 犬, 猫, うさぎ ~ 飼う
    いつ, when ? @日付, @時刻

Synonyms come first, then narrower ideas (`>`: pets finds dogs), related ideas in both directions (`~`) and
kinds of answer to a question word (`?`). @ marks names that are not words. 0 matches any number; 〜犬 also
ends a longer word (柴犬). A line that starts with `-` lists stop words.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from cc_bot.features.memory.search.folding import Line, fold, forms, parse_line

# Kana that usually end a word, and kana that follow one.
_BEFORE_A_WORD: Final = frozenset("のはがをにでともへや")
_AFTER_A_WORD: Final = frozenset("のはがをにでともへやかだじでなねよまさつし")
_LONG_KANA: Final = 4  # matches of this length are hardly accidental


class Span(NamedTuple):
    """A known word in a line; a stop word has no ideas."""

    start: int
    end: int
    ideas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Idea:
    terms: tuple[str, ...]  # its own terms, and those of broader ideas
    query_terms: Mapping[str, float]  # weights of the terms searched for
    is_question: bool  # a question word is not searched for literally


class Lexicon:
    """Finds the words of ideas in a line: from left to right, the longest first.

    A short kana word must be delimited by a particle, another script or nothing, a single kanji by anything
    but kanji: 家 in 作家 is not a house. `endings` may also end a longer word. 0 at the start of a word
    matches any number.
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
        text, scripts = line
        lengths = self._lengths
        at = covered_to = 0
        while at < len(text):
            span = None
            if scripts[at] == "d":
                span = self._find_counted(line, at)
            elif text[at : at + 2] in lengths or text[at] in lengths:
                span = self._find_longest(line, at, covered_to)
            if span is not None:
                yield span
                at = covered_to = span.end
            elif scripts[at] in "dl":
                at = _token_end(scripts, at)
            else:
                at += 1

    def terms(self, line: Line) -> list[str]:
        return [term for span in self.spans(line) for idea in span.ideas for term in self.ideas[idea].terms]

    def _find_longest(self, line: Line, at: int, covered_to: int) -> Span | None:
        text = line.text
        for start in (text[at : at + 2], text[at]):
            for length in self._lengths.get(start, ()):
                word = text[at : at + length]
                end = at + len(word)
                ideas = self._words.get(word)
                if ideas is not None and self._is_whole_word(
                    line, at, end, covered_to, word in self._endings
                ):
                    return Span(at, end, ideas)
            if len(start) == 1:
                break
        return None

    def _find_counted(self, line: Line, at: int) -> Span | None:
        text, scripts = line
        end = _token_end(scripts, at)
        whole = self._find_longest(line, at, at)
        if whole is not None:
            return whole
        for length in self._lengths.get("0" + text[end : end + 1], ()):
            counted = text[end : end + length - 1]
            ideas = self._words.get("0" + counted)
            if ideas is not None and self._is_whole_word(line, at, end + len(counted), at, ending=True):
                return Span(at, end + len(counted), ideas)
        return None

    def _is_whole_word(self, line: Line, start: int, end: int, covered_to: int, ending: bool) -> bool:
        """Return whether the match is not part of a longer word."""
        text, scripts = line
        length = end - start
        joined_before = start > covered_to and scripts[start - 1] == scripts[start]
        joined_after = end < len(text) and scripts[end] == scripts[end - 1]
        is_separate = not joined_after and (ending or not joined_before)
        match scripts[start]:
            case "k":
                return length > 1 or is_separate
            case "t" | "h" if length >= _LONG_KANA:
                return True
            case "t":
                return is_separate or (length == _LONG_KANA - 1 and not (joined_before and joined_after))
            case "h":
                starts = not joined_before or text[start - 1] in _BEFORE_A_WORD
                ends = not joined_after or scripts[end - 1] != "h" or text[end] in _AFTER_A_WORD
                return starts and ends
            case _:
                return not joined_before and not joined_after


def _token_end(scripts: str, at: int) -> int:
    kind = scripts[at]
    while at < len(scripts) and scripts[at] == kind:
        at += 1
    return at


_SYNONYM_WEIGHT: Final = 0.9
_RELATED_WEIGHT: Final = 0.55
_ANSWER_WEIGHT: Final = 0.3
_PART: Final = re.compile("([=>~?])([^>~?]*)")


@dataclass
class _Idea:
    name: str
    narrower: list[str] = field(default_factory=list)
    related: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """Return the built-in lexicon, parsed on first use."""
    folder = files("cc_bot.features.memory.search").joinpath("words")
    lists = sorted(folder.iterdir(), key=lambda file: file.name)
    return parse_lexicon(line for file in lists for line in file.read_text(encoding="utf-8").splitlines())


def parse_lexicon(lines: Iterable[str]) -> Lexicon:
    parser = _LexiconParser()
    for line in lines:
        if line.startswith("-"):
            for word in _words(line[1:]):
                parser.add_name(word)
        elif line.strip() and not line.startswith("#"):
            parser.add_idea(line)
    return parser.build()


class _LexiconParser:
    def __init__(self) -> None:
        self._words: dict[str, tuple[int, ...]] = {}
        self._endings: set[str] = set()
        self._ideas: list[_Idea] = []

    def add_idea(self, line: str) -> None:
        parts = dict.fromkeys("=>~?", "")
        for script, words in _PART.findall("=" + line):
            parts[script] = words
        names = _words(parts["="])
        self._ideas.append(_Idea(names[0].lstrip("〜"), *(_words(parts[script]) for script in ">~?")))
        for word in names:
            self.add_name(word, len(self._ideas) - 1)

    def add_name(self, written: str, number: int | None = None) -> None:
        """Add a word in all forms, and its idea; a stop word has none."""
        ideas = () if number is None else (number,)
        for form in forms(written.lstrip("〜")):
            key = _key(form)
            earlier = self._words.get(key, ())
            self._words[key] = earlier if number in earlier else earlier + ideas
            if written.startswith("〜"):
                self._endings.add(key)

    def build(self) -> Lexicon:
        """Resolve the names that ideas refer to, and return the lexicon."""
        parents: defaultdict[int, set[int]] = defaultdict(set)
        for parent, idea in enumerate(list(self._ideas)):
            for name in idea.narrower:
                for number in self._find_ideas(name):
                    parents[number].add(parent)
        weights: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for number, idea in enumerate(list(self._ideas)):
            for written in idea.related:
                for other in self._find_ideas(written):
                    weights[number][other] = weights[other][number] = _RELATED_WEIGHT
            for written in idea.answers:
                for other in self._find_ideas(written):
                    weights[number][other] = _ANSWER_WEIGHT
        terms = ["=" + "".join(idea.name.split()) for idea in self._ideas]
        ideas = (self._build_idea(number, parents, weights[number], terms) for number in range(len(terms)))
        return Lexicon(tuple(ideas), self._words, frozenset(self._endings))

    def _find_ideas(self, written: str) -> tuple[int, ...]:
        """Return the numbers of the ideas with a name, which is added if new."""
        key = _key(written.lstrip("〜"))
        if not self._words.get(key):
            self._ideas.append(_Idea(written.lstrip("〜")))
            self.add_name(written, len(self._ideas) - 1)
        return self._words[key]

    def _build_idea(
        self, number: int, parents: Mapping[int, set[int]], weights: Mapping[int, float], terms: Sequence[str]
    ) -> Idea:
        broader, found = [number], {number}
        for child in broader:
            new = parents.get(child, set()) - found
            found |= new
            broader += sorted(new)
        is_question = bool(self._ideas[number].answers)
        synonyms = {} if is_question else {terms[number]: _SYNONYM_WEIGHT}
        return Idea(
            () if is_question else tuple(terms[other] for other in broader),
            synonyms | {terms[other]: weight for other, weight in weights.items() if other != number},
            is_question,
        )


def _key(written: str) -> str:
    """Return a word as spelled in a Line; names with @ stay."""
    return written if written.startswith("@") else parse_line(fold(written)).text


def _words(listed: str) -> list[str]:
    return [word for part in listed.split(",") if (word := part.strip())]
