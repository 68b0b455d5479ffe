"""The index terms of a note, and the terms that a query asks for.

Japanese terms are single kanji and pairs of adjacent characters, with kana loosened; other words are
stemmed. Numbers are terms with and without units. Prefixes mark derived terms: ideas (=ペット), and pairs of
the kana that kanji may be read as (~しゆ). Queries ignore particles, endings and question phrases unless
there is nothing else.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import add
from typing import Final

from cc_bot.features.memory.search.folding import (
    KANJI,
    Line,
    fold,
    join_numbers,
    joined_numbers,
    loosen,
    parse_line,
)
from cc_bot.features.memory.search.lexicon import Idea, Span, lexicon
from cc_bot.features.memory.search.readings import readings

TERMS_VERSION: Final = 3
"""Increase it when the same text gives other terms: stored terms are then rebuilt. test_terms_version.py
checks this."""

READING_PREFIX: Final = "~"

_CJK: Final = rf"{KANJI}ぁ-ゖ\uac00-\ud7a3"
_CHUNK: Final = re.compile(rf"([{_CJK}]+)|(\d[\d.]*)(?=([{KANJI}]?))|([^\s\d{_CJK}]+)")
_KANJI: Final = re.compile(f"[{KANJI}]")

# Kanji with okurigana (食べ), but without a likely particle (犬の).
_KANJI_WORD: Final = re.compile(rf"[{KANJI}]+(?:[ぁ-ゖ](?<![のはがをにでともへや]))?")
_MAX_READ_LENGTH: Final = 6
_READINGS: Final = 4


def document_terms(content: str, tags: Sequence[str] = ()) -> Counter[str]:
    """Count the terms of a note and its tags; none has white space or control characters."""
    terms = list[str]()
    for text in (content, *tags):
        folded = fold(text)
        line = parse_line(folded)
        terms += joined_numbers(folded)
        terms += plain_terms(line.text)
        terms += lexicon().terms(line)
        words = (word for word in _KANJI_WORD.findall(line.text) if len(word) <= _MAX_READ_LENGTH)
        terms += set[str]().union(*map(_read_terms, words))
    return Counter(terms)


@lru_cache(maxsize=4096)  # words recur, and reading them takes half the time
def _read_terms(word: str) -> tuple[str, ...]:
    """Return pairs of the kana that a word may be read as."""
    spellings = readings(word, _READINGS)
    return tuple({READING_PREFIX + pair for kana in spellings for pair in pairs(loosen(kana))})


def plain_terms(text: str) -> list[str]:
    """Return the terms of a line or a part of it, as written."""
    terms: list[str] = []
    for run, number, counted, word in _CHUNK.findall(text):
        if run:
            terms += pairs(run)
            terms += _KANJI.findall(run)
        elif number:
            terms.append(number)
            if counted:
                terms.append(number + counted)
        else:
            terms.append(word)
    return terms


def pairs(run: str) -> list[str]:
    """Return the pairs of adjacent characters; a single kana is a term."""
    if len(run) == 1 and not _KANJI.match(run):
        return [run]
    return list(map(add, run, run[1:]))


_PARTICLES: Final = "はがをにでとものへやかねよなさ"
_OKURIGANA_WEIGHT: Final = 0.4
_READING_WEIGHT: Final = 0.7
_QUERY_READINGS: Final = 3
_KANJI_WEIGHT: Final = 0.35
_MAX_QUERY_LENGTH: Final = 1000
_QUERY_WORD: Final = re.compile(r"k+h*|t+|h+|o+|l+|d+k?")


@dataclass(frozen=True, slots=True)
class Wording:
    """One way to say something: weighted terms. If `whole`, a note must contain all."""

    terms: Mapping[str, float]
    whole: bool = False


TermGroup = tuple[Wording, ...]  # wordings of one thing; the best in a note counts


@dataclass(frozen=True)
class Query:
    folded: str  # searched for as written

    groups: tuple[TermGroup, ...]

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """Each term's greatest weight in any wording."""
        return _max_weights(wording.terms for group in self.groups for wording in group)


def parse_query(text: str) -> Query:
    """Parse a query. Without words it has no groups, and matches only as written."""
    folded = fold(text).strip()
    line = parse_line(join_numbers(folded[:_MAX_QUERY_LENGTH]))
    groups = tuple(_groups(line))
    if not groups:
        terms = dict.fromkeys(plain_terms(line.text), 1.0)
        groups = ((Wording(terms),),) if terms else ()
    return Query(folded, groups)


def _groups(line: Line) -> Iterator[TermGroup]:
    ideas = lexicon().ideas
    at = 0
    for span in [*lexicon().spans(line), Span(len(line.text), len(line.text), ())]:
        yield from _unknown_groups(line, at, span.start)
        at = span.end
        if span.ideas and (group := _known_group(line, span, [ideas[number] for number in span.ideas])):
            yield group


def _known_group(line: Line, span: Span, ideas: list[Idea]) -> TermGroup:
    weights = _max_weights(idea.query_terms for idea in ideas)
    wordings = [Wording({term: weight}) for term, weight in weights.items()]
    if not wordings or not all(idea.is_question for idea in ideas):
        wordings = [*_written_wordings(line, span.start, span.end), *wordings]
    return tuple(wordings)


def _unknown_groups(line: Line, start: int, end: int) -> Iterator[TermGroup]:
    for match in _QUERY_WORD.finditer(line.scripts, start, end):
        at, end = match.span()
        neighbours = line.scripts[max(at - 1, 0) : at] + line.scripts[end : end + 1]
        if match[0] == "k" and "k" in neighbours:  # a kanji next to a known word: 者 in 指導者
            yield (Wording({line.text[at]: _KANJI_WEIGHT}),)
        elif wordings := tuple(_written_wordings(line, at, end)):
            yield wordings


def _written_wordings(line: Line, start: int, end: int) -> Iterator[Wording]:
    """Yield a word as written, and with kana for its kanji or kanji for its kana."""
    terms = _literal_terms(line, start, end)
    if not terms:
        return
    yield Wording(terms)
    text, scripts = line.text[start:end], line.scripts[start:end]
    if set(scripts) <= {"h", "t"}:
        if len(text) > 2:
            text = text.rstrip(_PARTICLES)
        if len(text) > 1:
            yield Wording({READING_PREFIX + pair: _READING_WEIGHT for pair in pairs(text)}, whole=True)
    elif scripts[0] == "k":
        for kana in readings(text.rstrip(_PARTICLES), _QUERY_READINGS):
            if len(kana) > 2:
                yield Wording(dict.fromkeys(pairs(loosen(kana)), _READING_WEIGHT), whole=True)


def _literal_terms(line: Line, start: int, end: int) -> dict[str, float]:
    text, scripts = line.text[start:end], line.scripts[start:end]
    kana = len(scripts) - len(scripts.rstrip("h"))
    if kana == len(scripts):
        text = text.strip(_PARTICLES) if kana < 3 else text.rstrip(_PARTICLES)
        return dict.fromkeys(plain_terms(text), 1.0) if len(text) > 1 else {}
    if kana and scripts[0] == "k":
        stem, okurigana = text[:-kana], text[-kana:].rstrip(_PARTICLES)
        return dict.fromkeys(plain_terms(stem[-1] + okurigana), _OKURIGANA_WEIGHT) | _weigh_terms(stem)
    return _weigh_terms(text)


def _weigh_terms(text: str) -> dict[str, float]:
    terms = list(plain_terms(text))
    return {
        term: _KANJI_WEIGHT if len(term) == 1 and len(terms) > 1 and re.match(f"[{KANJI}]", term) else 1.0
        for term in terms
    }


def _max_weights(weights: Iterable[Mapping[str, float]]) -> dict[str, float]:
    greatest: dict[str, float] = {}
    for terms in weights:
        for term, weight in terms.items():
            if weight > greatest.get(term, 0.0):
                greatest[term] = weight
    return greatest
