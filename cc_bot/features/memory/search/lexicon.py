"""Everyday words of personal notes, and their relations.

The files of `words/` have one idea per line:

    ペット, pet > 犬, 猫, うさぎ ~ 飼う
    いつ, when ? @日付, @時刻

A line has synonyms, then narrower ideas (`>`: a search for pets finds dogs), related ideas (`~`, in both
directions) and, for a question word, kinds of answers (`?`). A name with @ matches no text. 0 matches any
number. 〜犬 also matches the end of a longer word (柴犬). A line that starts with `-` lists stop words.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from cc_bot.features.memory.search.folding import Line, fold, inflect, parse_line

_KANA_BEFORE_WORD: Final = frozenset("のはがをにでともへや")
_KANA_AFTER_WORD: Final = frozenset("のはがをにでともへやかだじでなねよまさつし")
_LONG_KANA: Final = 4  # characters; longer matches are hardly accidental


class Span(NamedTuple):
    start: int
    end: int
    ideas: tuple[int, ...]  # indices in Lexicon.ideas; empty for a stop word


@dataclass(frozen=True, slots=True)
class Idea:
    terms: tuple[str, ...]  # index terms of a note with this idea, including the terms of broader ideas
    query_terms: Mapping[str, float]  # terms that a query with this idea looks for, with their weights
    is_question: bool  # a query does not look for question words as written


class Lexicon:
    """Finds the words of ideas in a line. At each position the longest word wins.

    A short kana word counts only between particles, other scripts or the ends of the line; a single kanji
    counts only if no kanji is beside it: 家 in 作家 is not a house. Words in `endings` may also end a longer
    word.
    """

    def __init__(
        self, ideas: tuple[Idea, ...], words: Mapping[str, tuple[int, ...]], endings: frozenset[str]
    ) -> None:
        self.ideas = ideas
        self._words = words
        self._endings = endings
        lengths = dict[str, set[int]]()
        for word in words:
            lengths.setdefault(word[:2], set()).add(len(word))
        self._lengths = {start: tuple(sorted(found, reverse=True)) for start, found in lengths.items()}
        """By the first two characters of a word, longest first."""

    def find_spans(self, line: Line) -> Iterator[Span]:
        """Yield the lexicon's words in order, without overlap."""
        text, scripts = line
        lengths = self._lengths
        at = last_end = 0
        while at < len(text):
            span = None
            if scripts[at] == "d":
                span = self._find_number(line, at)
            elif text[at : at + 2] in lengths or text[at] in lengths:
                span = self._find_longest(line, at, last_end)
            if span is not None:
                yield span
                at = last_end = span.end
            elif scripts[at] in "dl":
                at = _script_end(scripts, at)
            else:
                at += 1

    def list_terms(self, line: Line) -> list[str]:
        ideas = [self.ideas[number] for span in self.find_spans(line) for number in span.ideas]
        return [term for idea in ideas for term in idea.terms]

    def _find_longest(self, line: Line, at: int, last_end: int) -> Span | None:
        text = line.text
        for start in dict.fromkeys((text[at : at + 2], text[at])):
            for length in self._lengths.get(start, ()):
                word = text[at : at + length]
                end, ideas = at + len(word), self._words.get(word)
                is_ending = word in self._endings
                if ideas is not None and self._is_whole_word(line, at, end, last_end, is_ending):
                    return Span(at, end, ideas)
        return None

    def _find_number(self, line: Line, at: int) -> Span | None:
        text, scripts = line
        if exact := self._find_longest(line, at, at):
            return exact
        number_end = _script_end(scripts, at)
        for length in self._lengths.get("0" + text[number_end : number_end + 1], ()):
            unit = text[number_end : number_end + length - 1]
            ideas, end = self._words.get("0" + unit), number_end + len(unit)
            if ideas is not None and self._is_whole_word(line, at, end, at, is_ending=True):
                return Span(at, end, ideas)
        return None

    def _is_whole_word(self, line: Line, start: int, end: int, last_end: int, is_ending: bool) -> bool:
        text, scripts = line
        length = end - start
        joined_before = start > last_end and scripts[start - 1] == scripts[start]
        joined_after = end < len(text) and scripts[end] == scripts[end - 1]
        is_separate = not joined_after and (is_ending or not joined_before)
        match scripts[start]:
            case "k":
                return length > 1 or is_separate
            case "t" | "h" if length >= _LONG_KANA:
                return True
            case "t":
                return is_separate or (length == _LONG_KANA - 1 and not (joined_before and joined_after))
            case "h":
                starts_word = not joined_before or text[start - 1] in _KANA_BEFORE_WORD
                ends_word = not joined_after or scripts[end - 1] != "h" or text[end] in _KANA_AFTER_WORD
                return starts_word and ends_word
            case _:
                return not joined_before and not joined_after


def _script_end(scripts: str, at: int) -> int:
    script = scripts[at]
    while at < len(scripts) and scripts[at] == script:
        at += 1
    return at


# Weights of an idea's terms in a query.
_SYNONYM_WEIGHT: Final = 0.9
_RELATED_WEIGHT: Final = 0.55
_ANSWER_WEIGHT: Final = 0.3
_MARKED_PART: Final = re.compile("([=>~?])([^>~?]*)")


@dataclass
class _ParsedIdea:
    """A line of a file. The lists contain names of other ideas."""

    name: str
    narrower: list[str] = field(default_factory=list)
    related: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    folder = files("cc_bot.features.memory.search").joinpath("words")
    sources = sorted(folder.iterdir(), key=lambda file: file.name)
    return parse_lexicon(line for file in sources for line in file.read_text(encoding="utf-8").splitlines())


def parse_lexicon(lines: Iterable[str]) -> Lexicon:
    parser = _LexiconParser()
    for line in lines:
        if line.startswith("-"):
            for word in _split_names(line[1:]):
                parser.add_name(word)
        elif line.strip() and not line.startswith("#"):
            parser.add_idea(line)
    return parser.build()


class _LexiconParser:
    def __init__(self) -> None:
        self._words: dict[str, tuple[int, ...]] = {}
        self._endings: set[str] = set()
        self._ideas: list[_ParsedIdea] = []

    def add_idea(self, line: str) -> None:
        parts = dict.fromkeys("=>~?", "")
        for mark, words in _MARKED_PART.findall("=" + line):
            parts[mark] = words
        names = _split_names(parts["="])
        others = (_split_names(parts[mark]) for mark in ">~?")
        self._ideas.append(_ParsedIdea(names[0].lstrip("〜"), *others))
        for word in names:
            self.add_name(word, len(self._ideas) - 1)

    def add_name(self, name: str, number: int | None = None) -> None:
        """Add a name in all inflections: for the idea with this number or, without one, as a stop word."""
        ideas = () if number is None else (number,)
        for form in inflect(name.lstrip("〜")):
            key = _word_key(form)
            earlier = self._words.get(key, ())
            self._words[key] = earlier if number in earlier else earlier + ideas
            if name.startswith("〜"):
                self._endings.add(key)

    def build(self) -> Lexicon:
        parents: defaultdict[int, set[int]] = defaultdict(set)
        for parent, idea in enumerate(list(self._ideas)):
            for number in self._find_ideas(idea.narrower):
                parents[number].add(parent)
        weights: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for number, idea in enumerate(list(self._ideas)):
            for other in self._find_ideas(idea.related):
                weights[number][other] = weights[other][number] = _RELATED_WEIGHT
            for other in self._find_ideas(idea.answers):
                weights[number][other] = _ANSWER_WEIGHT
        terms = ["=" + "".join(idea.name.split()) for idea in self._ideas]
        ideas = (self._build_idea(number, parents, weights[number], terms) for number in range(len(terms)))
        return Lexicon(tuple(ideas), self._words, frozenset(self._endings))

    def _find_ideas(self, names: Iterable[str]) -> Iterator[int]:
        """Yield the numbers of the named ideas. Adds an idea for each unknown name."""
        for name in names:
            key = _word_key(name.lstrip("〜"))
            if not self._words.get(key):
                self._ideas.append(_ParsedIdea(name.lstrip("〜")))
                self.add_name(name, len(self._ideas) - 1)
            yield from self._words[key]

    def _build_idea(
        self, number: int, parents: Mapping[int, set[int]], weights: Mapping[int, float], terms: Sequence[str]
    ) -> Idea:
        ancestors = [number]  # grows while it is read
        for child in ancestors:
            ancestors += sorted(parents.get(child, set()).difference(ancestors))
        is_question = bool(self._ideas[number].answers)
        synonyms = {} if is_question else {terms[number]: _SYNONYM_WEIGHT}
        return Idea(
            () if is_question else tuple(terms[other] for other in ancestors),
            synonyms | {terms[other]: weight for other, weight in weights.items() if other != number},
            is_question,
        )


def _word_key(written: str) -> str:
    """Return a word as `Line.text` would have it; a name with @ unchanged, so that no line has it."""
    return written if written.startswith("@") else parse_line(fold(written)).text


def _split_names(names: str) -> list[str]:
    return [name for part in names.split(",") if (name := part.strip())]
