"""Ranks a user's notes for a query by BM25, with term frequencies over that user's notes.

The database finds candidates by the summed weights of all terms; `rank` counts only the best wording of each
term group, and leaves out poor matches: five wrong notes are worse than none.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from cc_bot.features.memory.search.terms import Query, TermGroup

# With vectors, a note's score is its nearness (see vectors.py) plus _WORDS_WEIGHT times its coverage: the
# share of the query that its words cover. Measured with the local encoder on 1937 questions in 13 classes:
# with weights from 5 to 8, each class's mean recall@5 is at most 0.006 below that of words alone or vectors
# alone, whichever is better. The cut-offs lower a class's recall by at most 0.029. With them 14 % of 70
# unanswerable questions rightly get no result; without vectors it is 29 %.

_WORDS_WEIGHT: Final = 6.0
_NEARNESS_WITHOUT_VECTOR: Final = 1.5
_MIN_SCORE: Final = 2.5
_MAX_BEHIND: Final = 5.0  # notes further below the best score are left out
_BEST_IF_EXACT: Final = 7.5  # what other notes are compared with if one contains the query as written

_SATURATION: Final = 1.2  # BM25's k1
_LENGTH_WEIGHT: Final = 0.5  # BM25's b
_MIN_COVERAGE: Final = 0.17  # an unrelated note may cover up to this share of a query
_MIN_SHARE_OF_BEST: Final = 0.4  # of the best note's coverage
_MAX_INEXACT_CONFIDENCE: Final = 0.99  # 1 is an exact match


@dataclass(frozen=True, slots=True)
class Hit:
    id: int
    confidence: float  # 0 to 1; 1 is an exact match


@dataclass(frozen=True, slots=True)
class WordMatch:
    id: int
    is_exact: bool
    coverage: float
    words_suffice: bool = False  # covers enough of the query to match without a near vector


@dataclass(frozen=True, slots=True)
class Statistics:
    note_count: int
    average_length: float  # in terms
    frequency: Mapping[str, int]  # number of notes with each term


@dataclass(frozen=True, slots=True)
class Candidate:
    id: int
    folded_text: str  # includes tags
    term_counts: Mapping[str, int]
    length: int  # in terms


def inverse_document_frequency(term: str, statistics: Statistics) -> float:
    """Return BM25's factor for rare terms, in the variant that is never negative."""
    frequency = statistics.frequency.get(term, 0)
    return math.log(1 + (max(statistics.note_count - frequency, 0) + 0.5) / (frequency + 0.5))


def weigh_terms(query: Query, statistics: Statistics) -> Mapping[str, float]:
    return {
        term: weight * inverse_document_frequency(term, statistics) for term, weight in query.weights.items()
    }


def saturate_count(count: int, length: int, average_length: float) -> float:
    """Return BM25's factor for the number of occurrences."""
    relative = length / average_length if average_length > 0 else 1.0
    norm = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * relative
    return count * (_SATURATION + 1) / (count + _SATURATION * norm)


def rank(
    query: Query,
    statistics: Statistics,
    candidates: Iterable[Candidate],
    *,
    similarity: Mapping[int, float] | None = None,
) -> list[Hit]:
    """Return the matches: exact ones first, then by score, then the newest (greatest id).

    With `similarity` (nearness by note id, see vectors.py), `fuse` orders the matches and may add other
    notes.
    """
    groups = [_weigh_group(group, statistics) for group in query.groups]
    total_importance = sum(group.importance for group in groups) or 1.0
    scored = []
    for note in candidates:
        score = coverage = 0.0
        for group in groups:
            if group.wordings_by_term.keys().isdisjoint(note.term_counts):
                continue
            group_score, quality = _score_group(group, note, statistics.average_length)
            score += group_score
            coverage += quality * group.importance
        scored.append((query.folded in note.folded_text, score, note.id, coverage / total_importance))
    best_coverage = max((coverage for *_, coverage in scored), default=0.0)
    min_coverage = max(_MIN_COVERAGE, _MIN_SHARE_OF_BEST * best_coverage)
    if similarity:
        matches = (
            WordMatch(id_, exact, coverage, coverage >= min_coverage) for exact, _, id_, coverage in scored
        )
        return fuse(matches, similarity)
    scored.sort(reverse=True)
    return [
        Hit(id_, 1.0 if is_exact else min(coverage, _MAX_INEXACT_CONFIDENCE))
        for is_exact, _, id_, coverage in scored
        if is_exact or coverage >= min_coverage
    ]


def fuse(word_matches: Iterable[WordMatch], nearness: Mapping[int, float]) -> list[Hit]:
    """Rank notes by words and vectors. `nearness` has the nearest notes, and those of `word_matches`."""
    matches = {match.id: match for match in word_matches}
    for id_ in nearness:
        matches.setdefault(id_, WordMatch(id_, is_exact=False, coverage=0.0))
    scored = sorted(
        (
            match.is_exact,
            nearness.get(match.id, _NEARNESS_WITHOUT_VECTOR) + _WORDS_WEIGHT * match.coverage,
            match.id,
        )
        for match in matches.values()
    )
    if not scored:
        return []
    best = _BEST_IF_EXACT if scored[-1][0] else scored[-1][1]
    return [
        Hit(id_, 1.0 if is_exact else _estimate_confidence(score, best - score))
        for is_exact, score, id_ in reversed(scored)
        if is_exact or (best - score <= _MAX_BEHIND and (score >= _MIN_SCORE or matches[id_].words_suffice))
    ]


def _estimate_confidence(score: float, behind: float) -> float:
    """Return the probability that a note answers the query, fitted to the 1937 questions mentioned above."""
    return 1 / (1 + math.exp(-(0.4 * score - 1.5 * max(behind, 0.0) - 1.9)))


class _WeighedWording(NamedTuple):
    needs_all_terms: bool
    strength: float  # quality of a full match, 0 to 1
    total: float  # of `values`
    values: list[tuple[str, float]]  # as in `weigh_terms`


class _WeighedGroup(NamedTuple):
    importance: float  # greatest value in the first wording
    wordings: list[_WeighedWording]
    wordings_by_term: Mapping[str, list[int]]  # indices of the wordings that contain a term


def _weigh_group(group: TermGroup, statistics: Statistics) -> _WeighedGroup:
    wordings = []
    wordings_by_term: defaultdict[str, list[int]] = defaultdict(list)
    for index, wording in enumerate(group):
        values = []
        total = 0.0
        for term, weight in wording.terms.items():
            value = weight * inverse_document_frequency(term, statistics)
            values.append((term, value))
            total += value
            wordings_by_term[term].append(index)
        strength = min(1.0, max(wording.terms.values()))
        wordings.append(_WeighedWording(wording.needs_all_terms, strength, total, values))
    return _WeighedGroup(max(value for _, value in wordings[0].values), wordings, wordings_by_term)


def _score_group(group: _WeighedGroup, note: Candidate, average_length: float) -> tuple[float, float]:
    """Return the best score of a wording in a note, and the best match quality (0 to 1).

    Half of the terms score less than half: キーボード shares ボード with グラフィックボード, but differs.
    Longer words score more, but not in proportion.
    """
    best_score = best_quality = 0.0
    counts = note.term_counts
    by_term = group.wordings_by_term
    for index in {index for term in counts if term in by_term for index in by_term[term]}:
        needs_all_terms, strength, total, values = group.wordings[index]
        score = found = 0.0
        for term, value in values:
            count = counts.get(term)
            if count:
                found += value
                score += value * saturate_count(count, note.length, average_length)
            elif needs_all_terms:
                break
        else:
            if found:
                share = found / total
                damping = math.sqrt(share * min(1.0, group.importance / total))
                best_score = max(best_score, score * damping)
                best_quality = max(best_quality, strength * share)
    return best_score, best_quality
