"""The index terms of a note, and the terms that a query asks for.

Japanese terms are single kanji and pairs of adjacent characters, with kana as `loosen` writes them. Other
words are stemmed. Numbers are terms with and without units. A prefix marks a derived term: = an idea of the
lexicon (=ペット), ~ a pair of kana in a reading (~しゆ). A query that has other words ignores its particles,
endings and question phrases.
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
    extract_numbers,
    fold,
    join_numbers,
    loosen,
    parse_line,
)
from cc_bot.features.memory.search.lexicon import Idea, Span, load_lexicon
from cc_bot.features.memory.search.readings import find_readings

TERMS_VERSION: Final = 3
"""Increase this when the terms of a text change, so that stored terms are recomputed."""

READING_PREFIX: Final = "~"

_CJK: Final = rf"{KANJI}ぁ-ゖ\uac00-\ud7a3"
_RUN: Final = re.compile(rf"([{_CJK}]+)|(\d[\d.]*)(?=([{KANJI}]?))|([^\s\d{_CJK}]+)")
_KANJI: Final = re.compile(f"[{KANJI}]")

# Kanji with okurigana (食べ), but without a likely particle (犬の).
_KANJI_WORD: Final = re.compile(rf"[{KANJI}]+(?:[ぁ-ゖ](?<![のはがをにでともへや]))?")
_MAX_READ_LENGTH: Final = 6  # longer kanji words are not indexed by reading
_MAX_READINGS: Final = 4


def count_terms(content: str, tags: Sequence[str] = ()) -> Counter[str]:
    """Count the terms of a note and its tags. A term contains no white space or control characters."""
    terms = list[str]()
    for text in (content, *tags):
        folded = fold(text)
        line = parse_line(folded)
        terms += extract_numbers(folded)
        terms += split_terms(line.text)
        terms += load_lexicon().list_terms(line)
        words = (word for word in _KANJI_WORD.findall(line.text) if len(word) <= _MAX_READ_LENGTH)
        terms += set[str]().union(*map(_list_reading_terms, words))
    return Counter(terms)


@lru_cache(maxsize=4096)  # half the time of count_terms
def _list_reading_terms(word: str) -> tuple[str, ...]:
    """Return pairs of kana in a word's likely readings, with READING_PREFIX."""
    spellings = find_readings(word, _MAX_READINGS)
    return tuple({READING_PREFIX + pair for kana in spellings for pair in split_pairs(loosen(kana))})


def split_terms(text: str) -> list[str]:
    """Return the terms of (part of) a line, without derived terms."""
    terms: list[str] = []
    for japanese, number, unit, word in _RUN.findall(text):
        if japanese:
            terms += split_pairs(japanese)
            terms += _KANJI.findall(japanese)
        elif number:
            terms.append(number)
            if unit:
                terms.append(number + unit)
        else:
            terms.append(word)
    return terms


def split_pairs(text: str) -> list[str]:
    """Return the pairs of adjacent characters; for a single kana, that kana."""
    if len(text) == 1 and not _KANJI.match(text):
        return [text]
    return list(map(add, text, text[1:]))


_PARTICLES: Final = "はがをにでとものへやかねよなさ"
_OKURIGANA_WEIGHT: Final = 0.4
_READING_WEIGHT: Final = 0.7
_MAX_QUERY_READINGS: Final = 3
_KANJI_WEIGHT: Final = 0.35  # for a single kanji of a longer word
_MAX_QUERY_LENGTH: Final = 1000
_WORD_SCRIPTS: Final = re.compile(r"k+h*|t+|h+|o+|l+|d+k?")  # a word in Line.scripts


@dataclass(frozen=True, slots=True)
class Wording:
    terms: Mapping[str, float]  # terms and their weights
    needs_all_terms: bool = False  # whether a note must contain all terms to match


TermGroup = tuple[Wording, ...]  # wordings of one word, of which only the best in a note counts


@dataclass(frozen=True)
class Query:
    folded: str  # a note that contains this text is an exact match
    groups: tuple[TermGroup, ...]

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """Return each term's greatest weight in any wording."""
        return _max_weights(wording.terms for group in self.groups for wording in group)


def parse_query(text: str) -> Query:
    """Parse a query. A query without terms has no groups, so it only matches exactly."""
    folded = fold(text).strip()
    line = parse_line(join_numbers(folded[:_MAX_QUERY_LENGTH]))
    groups = tuple(_parse_groups(line))
    if not groups:
        terms = dict.fromkeys(split_terms(line.text), 1.0)
        groups = ((Wording(terms),),) if terms else ()
    return Query(folded, groups)


def _parse_groups(line: Line) -> Iterator[TermGroup]:
    ideas = load_lexicon().ideas
    end = 0
    for span in [*load_lexicon().find_spans(line), Span(len(line.text), len(line.text), ())]:
        yield from _parse_unknown_words(line, end, span.start)
        end = span.end
        if span.ideas and (group := _build_group(line, span, [ideas[number] for number in span.ideas])):
            yield group


def _build_group(line: Line, span: Span, ideas: list[Idea]) -> TermGroup:
    weights = _max_weights(idea.query_terms for idea in ideas)
    wordings = [Wording({term: weight}) for term, weight in weights.items()]
    if not wordings or not all(idea.is_question for idea in ideas):
        wordings = [*_list_wordings(line, span.start, span.end), *wordings]
    return tuple(wordings)


def _parse_unknown_words(line: Line, start: int, end: int) -> Iterator[TermGroup]:
    for match in _WORD_SCRIPTS.finditer(line.scripts, start, end):
        at, end = match.span()
        neighbours = line.scripts[max(at - 1, 0) : at] + line.scripts[end : end + 1]
        if match[0] == "k" and "k" in neighbours:  # 者 in 指導者, where the lexicon has 指導
            yield (Wording({line.text[at]: _KANJI_WEIGHT}),)
        elif wordings := tuple(_list_wordings(line, at, end)):
            yield wordings


def _list_wordings(line: Line, start: int, end: int) -> Iterator[Wording]:
    """Yield a word as written; a kana word also as the reading of kanji, a kanji word also in kana."""
    terms = _weigh_word(line, start, end)
    if not terms:
        return
    yield Wording(terms)
    text, scripts = line.text[start:end], line.scripts[start:end]
    if set(scripts) <= {"h", "t"}:
        if len(text) > 2:
            text = text.rstrip(_PARTICLES)
        if len(text) > 1:
            yield Wording(
                {READING_PREFIX + pair: _READING_WEIGHT for pair in split_pairs(text)}, needs_all_terms=True
            )
    elif scripts[0] == "k":
        for kana in find_readings(text.rstrip(_PARTICLES), _MAX_QUERY_READINGS):
            if len(kana) > 2:
                yield Wording(dict.fromkeys(split_pairs(loosen(kana)), _READING_WEIGHT), needs_all_terms=True)


def _weigh_word(line: Line, start: int, end: int) -> dict[str, float]:
    text, scripts = line.text[start:end], line.scripts[start:end]
    final_kana = len(scripts) - len(scripts.rstrip("h"))
    if final_kana == len(scripts):
        text = text.strip(_PARTICLES) if final_kana < 3 else text.rstrip(_PARTICLES)
        return dict.fromkeys(split_terms(text), 1.0) if len(text) > 1 else {}
    if final_kana and scripts[0] == "k":
        stem, okurigana = text[:-final_kana], text[-final_kana:].rstrip(_PARTICLES)
        return dict.fromkeys(split_terms(stem[-1] + okurigana), _OKURIGANA_WEIGHT) | _weigh_terms(stem)
    return _weigh_terms(text)


def _weigh_terms(text: str) -> dict[str, float]:
    terms = split_terms(text)
    is_long = len(terms) > 1
    return {term: _KANJI_WEIGHT if is_long and _KANJI.fullmatch(term) else 1.0 for term in terms}


def _max_weights(weights: Iterable[Mapping[str, float]]) -> dict[str, float]:
    greatest: dict[str, float] = {}
    for terms in weights:
        for term, weight in terms.items():
            if weight > greatest.get(term, 0.0):
                greatest[term] = weight
    return greatest
