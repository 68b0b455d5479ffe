"""The passages of a long text that answer a query, by the words that memories are found by.

A text is looked at in passages of a few lines: on a whole page most words of any question stand somewhere.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

from cc_bot.search.folding import fold
from cc_bot.search.query import parse_query
from cc_bot.search.ranking import Candidate, Statistics, rank
from cc_bot.search.terms import document_terms

CHARACTERS = 240
"""Of a passage, unless a line of it is longer; each begins in the middle of the one before."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one of several texts."""

    text: int
    """Which of them, from 0."""
    start: int
    end: int


def find_passages(query: str, texts: Sequence[str], limit: int) -> list[Passage]:
    """Return the passages that answer, best first, at most `limit`, one of each text. A million characters
    take seconds: no work for an event loop."""
    asked = parse_query(query)
    places = [place for number, text in enumerate(texts) for place in _passages(number, text)]
    found = [
        _candidate(-number, texts[place.text][place.start : place.end]) for number, place in enumerate(places)
    ]
    if not found or not asked.folded:
        return []
    frequency = Counter(term for each in found for term in each.terms if term in asked.weights)
    statistics = Statistics(len(found), fmean(each.length for each in found), frequency)
    best = dict[int, Passage]()
    for hit in rank(asked, statistics, found):
        place = places[-hit.id]
        best.setdefault(place.text, place)
    return list(best.values())[:limit]


def _candidate(number: int, text: str) -> Candidate:
    """Of equal ones the greatest number is first, which is that of the passage that stands first."""
    terms = document_terms(text)
    return Candidate(number, fold(text), terms, sum(terms.values()))


def _passages(number: int, text: str) -> Iterator[Passage]:
    """Yield stretches of whole lines, each of which shares its second half with the next one."""
    lines = text.splitlines(keepends=True)
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
