"""The passages of a long text that answer a query, by the words that memories are found by.

A text is looked at in passages of a few lines: on a whole page most words of any question stand somewhere.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate
from statistics import fmean
from typing import Final

from cc_bot.search.folding import fold
from cc_bot.search.query import Query, parse_query
from cc_bot.search.ranking import Candidate, Statistics, rank, term_weight
from cc_bot.search.terms import document_terms

CHARACTERS: Final = 240
"""Of a passage, about; each begins in the middle of the one before."""
_LINE: Final = re.compile(rf"[^\n]{{1,{CHARACTERS}}}\n?|\n")

_MOST_RANKED: Final = 400
"""Passages that are looked at closely: some fifty pages."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one of several texts."""

    text: int
    """Which of them, from 0."""
    start: int
    end: int


def find_passages(query: str, texts: Sequence[str], limit: int) -> list[Passage]:
    """Return the passages that answer, best first, at most `limit`, one of each text; where no one does,
    those that have most of the words. A million characters take half a second: no work for an event
    loop."""
    asked = parse_query(query)
    places = [place for number, text in enumerate(texts) for place in _passages(number, text)]
    if not places or not asked.folded:
        return []
    found = [
        _candidate(-number, folded)
        for number, folded in _likeliest(asked.folded, [_cut(texts, place) for place in places])
    ]
    frequency = Counter(term for each in found for term in each.terms if term in asked.weights)
    statistics = Statistics(len(places), fmean(each.length for each in found) or 1.0, frequency)
    order = [hit.id for hit in rank(asked, statistics, found)] or _by_words(asked, statistics, found)
    best = dict[int, Passage]()
    for number in order:
        best.setdefault(places[-number].text, places[-number])
    return list(best.values())[:limit]


def _cut(texts: Sequence[str], place: Passage) -> str:
    return fold(texts[place.text][place.start : place.end])


def _likeliest(query: str, passages: Sequence[str]) -> list[tuple[int, str]]:
    """The passages with most of the query's pairs of characters, with their numbers: to look closely at all
    of a book takes seconds, and what is found only by another spelling is found in what is shorter."""
    numbered = list(enumerate(passages))
    if len(numbered) <= _MOST_RANKED:
        return numbered
    pairs = {query[at : at + 2] for at in range(len(query) - 1)}
    weights = {pair: 1 / (1 + sum(pair in passage for passage in passages)) for pair in pairs}
    shared = (sum(weight for pair, weight in weights.items() if pair in each) for each in passages)
    best = nlargest(_MOST_RANKED, zip(shared, (-number for number, _ in numbered), strict=True))
    return [numbered[-negative] for _, negative in best]


def _by_words(asked: Query, statistics: Statistics, found: Sequence[Candidate]) -> list[int]:
    """The candidates that have any of the words, the most telling first."""
    weights = term_weight(asked, statistics)
    scores = {each.id: sum(weights[term] for term in each.terms if term in weights) for each in found}
    return sorted((id_ for id_, score in scores.items() if score > 0), key=lambda id_: (-scores[id_], -id_))


def _candidate(number: int, folded: str) -> Candidate:
    """Make what is ranked. Of equal ones the greatest number comes first: the passage that stands first."""
    terms = document_terms(folded)
    return Candidate(number, folded, terms, sum(terms.values()))


def _passages(number: int, text: str) -> Iterator[Passage]:
    """Yield stretches of whole lines, or pieces of endless ones, each of which shares its second half with
    the next one."""
    lines = _LINE.findall(text)
    starts = [0, *accumulate(map(len, lines))]
    first = 0
    while first < len(lines):
        last = first
        while last < len(lines) and starts[last + 1] - starts[first] < CHARACTERS:
            last += 1
        last = min(last + 1, len(lines))
        yield Passage(number, starts[first], starts[last])
        if last == len(lines):
            return
        first = max((first + last) // 2, first + 1)
