"""Finds passages of long texts for a query, ranked in the same way as memories.

A passage is a few lines long: a whole page would match almost any question.
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
from cc_bot.features.memory.search.ranking import Candidate, Statistics, rank, weigh_terms
from cc_bot.features.memory.search.terms import Query, count_terms, parse_query

PASSAGE_CHARACTERS: Final = 240  # approximate; a passage overlaps half of the previous passage
_LINE: Final = re.compile(rf"[^\n]{{1,{PASSAGE_CHARACTERS}}}\n?|\n")

_MAX_RANKED_PASSAGES: Final = 400  # about fifty pages of text


@dataclass(frozen=True, slots=True)
class Passage:
    text_index: int
    start: int
    end: int


def find_passages(query: str, texts: Sequence[str], limit: int) -> list[Passage]:
    """Return the best passage of each text, best first. If `rank` finds none, order by weights of shared
    terms.

    Call it in a thread: a million characters take half a second.
    """
    parsed = parse_query(query)
    passages = [passage for index, text in enumerate(texts) for passage in _split_text(index, text)]
    if not passages or not parsed.folded:
        return []
    folded = [fold(texts[each.text_index][each.start : each.end]) for each in passages]
    candidates = list[Candidate]()
    for index in _preselect(parsed.folded, folded):
        counts = count_terms(folded[index])
        # Negative ids, so that of two equally good passages the earlier comes first.
        candidates.append(Candidate(-index, folded[index], counts, counts.total()))
    frequency = Counter(term for each in candidates for term in each.term_counts if term in parsed.weights)
    statistics = Statistics(len(passages), fmean(each.length for each in candidates) or 1.0, frequency)
    ids = [hit.id for hit in rank(parsed, statistics, candidates)]
    best_of_text = dict[int, Passage]()
    for id_ in ids or _rank_by_weights(parsed, statistics, candidates):
        passage = passages[-id_]
        best_of_text.setdefault(passage.text_index, passage)
    return list(best_of_text.values())[:limit]


def _preselect(query: str, passages: Sequence[str]) -> Sequence[int]:
    """Return the indices of the passages that share the most and rarest character pairs with the query."""
    if len(passages) <= _MAX_RANKED_PASSAGES:
        return range(len(passages))
    pairs = {query[at : at + 2] for at in range(len(query) - 1)}
    weights = {pair: 1 / (1 + sum(pair in passage for passage in passages)) for pair in pairs}
    scores = [sum(weight for pair, weight in weights.items() if pair in each) for each in passages]
    return nlargest(_MAX_RANKED_PASSAGES, range(len(passages)), key=scores.__getitem__)


def _rank_by_weights(query: Query, statistics: Statistics, candidates: Sequence[Candidate]) -> list[int]:
    weights = weigh_terms(query, statistics)
    scores = {each.id: sum(weights.get(term, 0.0) for term in each.term_counts) for each in candidates}
    return sorted((id_ for id_, score in scores.items() if score > 0), key=lambda id_: (-scores[id_], -id_))


def _split_text(text_index: int, text: str) -> Iterator[Passage]:
    """Yield passages of whole lines; very long lines are cut."""
    lines = _LINE.findall(text)
    starts = [0, *accumulate(map(len, lines))]
    first = 0
    while first < len(lines):
        last = first
        while last < len(lines) and starts[last + 1] - starts[first] < PASSAGE_CHARACTERS:
            last += 1
        last = min(last + 1, len(lines))
        yield Passage(text_index, starts[first], starts[last])
        if last == len(lines):
            return
        first = max((first + last) // 2, first + 1)
