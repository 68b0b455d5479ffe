"""Finds the passages of a long text that match a query, with the ranking of memories.

Passages are a few lines long: a whole page would contain most words of any question.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate
from statistics import fmean
from typing import Final

from cc_bot.features.memory.search.folding import fold
from cc_bot.features.memory.search.ranking import Candidate, Statistics, rank, term_weight
from cc_bot.features.memory.search.terms import Query, document_terms, parse_query

CHARACTERS: Final = 240
"""About; each passage overlaps half of the previous one."""
_LINE: Final = re.compile(rf"[^\n]{{1,{CHARACTERS}}}\n?|\n")

_MAX_RANKED: Final = 400
"""Some fifty pages."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A range of one of several texts."""

    text: int
    """The index of the text."""
    start: int
    end: int


def find_passages(query: str, texts: Sequence[str], limit: int) -> list[Passage]:
    """Return at most `limit` matching passages, best first, one per text; without matches, those with most of
    the words. Takes half a second for a million characters: not for the event loop."""
    asked = parse_query(query)
    passages = [passage for number, text in enumerate(texts) for passage in _passages(number, text)]
    if not passages or not asked.folded:
        return []
    folds = [fold(texts[each.text][each.start : each.end]) for each in passages]
    found = list[Candidate]()
    for number, folded in _likeliest(asked.folded, folds):
        terms = document_terms(folded)
        # ids descend, so that ties go to the earlier passage
        found.append(Candidate(-number, folded, terms, sum(terms.values())))
    frequency = Counter(term for each in found for term in each.terms if term in asked.weights)
    statistics = Statistics(len(passages), fmean(each.length for each in found) or 1.0, frequency)
    order = [hit.id for hit in rank(asked, statistics, found)] or _by_words(asked, statistics, found)
    best = dict[int, Passage]()
    for number in order:
        best.setdefault(passages[-number].text, passages[-number])
    return list(best.values())[:limit]


def _likeliest(query: str, passages: Sequence[str]) -> list[tuple[int, str]]:
    """Preselect by shared character pairs: ranking a whole book takes seconds."""
    numbered = list(enumerate(passages))
    if len(numbered) <= _MAX_RANKED:
        return numbered
    pairs = {query[at : at + 2] for at in range(len(query) - 1)}
    weights = {pair: 1 / (1 + sum(pair in passage for passage in passages)) for pair in pairs}
    shared = (sum(weight for pair, weight in weights.items() if pair in each) for each in passages)
    best = nlargest(_MAX_RANKED, zip(shared, (-number for number, _ in numbered), strict=True))
    return [numbered[-negative] for _, negative in best]


def _by_words(asked: Query, statistics: Statistics, found: Sequence[Candidate]) -> list[int]:
    weights = term_weight(asked, statistics)
    scores = {each.id: sum(weights[term] for term in each.terms if term in weights) for each in found}
    return sorted((id_ for id_, score in scores.items() if score > 0), key=lambda id_: (-scores[id_], -id_))


def _passages(number: int, text: str) -> Iterator[Passage]:
    """Yield ranges of whole lines, or pieces of very long ones."""
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
