"""Finds passages of long texts that match a query, ranked like memories.

A passage is a few lines: a page contains the words of too many questions.
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

PASSAGE_CHARACTERS: Final = 240  # approximate; each passage overlaps half of the previous one
_LINE: Final = re.compile(rf"[^\n]{{1,{PASSAGE_CHARACTERS}}}\n?|\n")

_MAX_RANKED_PASSAGES: Final = 400  # about fifty pages of text


@dataclass(frozen=True, slots=True)
class Passage:
    text_index: int
    start: int
    end: int


def find_passages(query: str, texts: Sequence[str], limit: int) -> list[Passage]:
    """Return at most `limit` matching passages, best first, one per text; if none matches, those with the
    largest share of the words.

    Takes half a second for a million characters, so don't call it on the event loop.
    """
    parsed = parse_query(query)
    passages = [passage for index, text in enumerate(texts) for passage in _split(index, text)]
    if not passages or not parsed.folded:
        return []
    folds = [fold(texts[each.text_index][each.start : each.end]) for each in passages]
    candidates = list[Candidate]()
    for number, folded in _preselect(parsed.folded, folds):
        terms = document_terms(folded)
        # with negative ids the earlier passage wins a tie
        candidates.append(Candidate(-number, folded, terms, sum(terms.values())))
    frequency = Counter(term for each in candidates for term in each.terms if term in parsed.weights)
    statistics = Statistics(len(passages), fmean(each.length for each in candidates) or 1.0, frequency)
    order = [hit.id for hit in rank(parsed, statistics, candidates)] or _by_words(
        parsed, statistics, candidates
    )
    best = dict[int, Passage]()
    for number in order:
        best.setdefault(passages[-number].text_index, passages[-number])
    return list(best.values())[:limit]


def _preselect(query: str, passages: Sequence[str]) -> list[tuple[int, str]]:
    """Return the passages that share the largest number of character pairs with the query, and their index.
    Ranking a whole book takes seconds."""
    numbered = list(enumerate(passages))
    if len(numbered) <= _MAX_RANKED_PASSAGES:
        return numbered
    pairs = {query[at : at + 2] for at in range(len(query) - 1)}
    weights = {pair: 1 / (1 + sum(pair in passage for passage in passages)) for pair in pairs}
    shared = (sum(weight for pair, weight in weights.items() if pair in each) for each in passages)
    best = nlargest(_MAX_RANKED_PASSAGES, zip(shared, (-number for number, _ in numbered), strict=True))
    return [numbered[-negative] for _, negative in best]


def _by_words(query: Query, statistics: Statistics, candidates: Sequence[Candidate]) -> list[int]:
    weights = term_weight(query, statistics)
    scores = {each.id: sum(weights[term] for term in each.terms if term in weights) for each in candidates}
    return sorted((id_ for id_, score in scores.items() if score > 0), key=lambda id_: (-scores[id_], -id_))


def _split(text_index: int, text: str) -> Iterator[Passage]:
    """Yield passages of whole lines, or pieces of very long lines."""
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
