"""Ranks one user's notes for a query by BM25, with frequencies over that user's notes.

The database finds candidates by the summed weights of all terms; `rank` counts only the best wording of each
term group. It drops poor matches: five wrong notes are worse than none.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from cc_bot.features.memory.search.terms import Query, TermGroup

# Words are precise; vectors find what words miss: 'wife' for 奥さん. A note's score is its nearness, in
# standard scores, plus the weighted share of the query that its words cover. Measured with the local encoder
# on 1937 questions in 13 classes: weights from 5 to 8 keep each class's mean recall@5 within 0.006 of the
# better of words and vectors. The cut-offs cost a class at most 0.029; 14 % of 70 unanswerable questions
# then get no result (29 % without vectors).

_WORDS_WEIGHT: Final = 6.0  # score of words that cover the whole query

_WITHOUT_VECTOR: Final = 1.5  # nearness of notes without a vector, so that their words count

_MIN_SCORE: Final = 2.5
_MAX_BEHIND: Final = 5.0  # notes further below the best are left out
_EXACT_SCORE: Final = 7.5  # score of a note that contains the query as written

_SATURATION: Final = 1.2
_LENGTH_WEIGHT: Final = 0.5
_MIN_COVERED: Final = 0.17  # unrelated notes cover up to this share of a query
_MIN_SHARE_OF_BEST: Final = 0.4  # share of what the best note covers
_MAX_INEXACT_CONFIDENCE: Final = 0.99  # 1 is an exact match


@dataclass(frozen=True, slots=True)
class Hit:
    """A match. `confidence` is 0 to 1 (contains the query as written)."""

    id: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """How well a note's words match: the share of the query `covered`, and whether it is `enough` without
    vectors."""

    id: int
    as_written: bool
    covered: float
    enough: bool = False


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over a user's notes; `frequency` is by term."""

    documents: int
    average_length: float
    frequency: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible match. `content_folded` includes tags; `length` is in terms."""

    id: int
    content_folded: str
    terms: Mapping[str, int]
    length: int


def rarity(frequency: int, documents: int) -> float:
    """BM25's inverse document frequency, in the variant that is never negative."""
    return math.log(1 + (max(documents - frequency, 0) + 0.5) / (frequency + 0.5))


def term_weight(query: Query, statistics: Statistics) -> Mapping[str, float]:
    """Return each term's weight in the query times its rarity."""
    return {
        term: weight * rarity(statistics.frequency.get(term, 0), statistics.documents)
        for term, weight in query.weights.items()
    }


def saturation(count: int, length: int, average_length: float) -> float:
    """BM25's term frequency factor."""
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
    """Return the matches, exact ones first, then best first; of equals the greatest id first.

    `similarity` (from `nearness`) may add other notes; with it, `fuse` decides the order.
    """
    groups = [_weigh(group, statistics) for group in query.groups]
    total_importance = sum(group.importance for group in groups) or 1.0
    scored = []
    for note in candidates:
        score = covered = 0.0
        for group in groups:
            if group.wordings_by_term.keys().isdisjoint(note.terms):
                continue
            value, quality = _score_group(group, note, statistics.average_length)
            score += value
            covered += quality * group.importance
        scored.append((query.folded in note.content_folded, score, note.id, covered / total_importance))
    min_covered = max(_MIN_COVERED, _MIN_SHARE_OF_BEST * max((share for *_, share in scored), default=0.0))
    if similarity:
        evidence = (
            Evidence(note, written, share, share >= min_covered) for written, _, note, share in scored
        )
        return fuse(evidence, similarity)
    scored.sort(reverse=True)
    return [
        Hit(note, 1.0 if written else min(share, _MAX_INEXACT_CONFIDENCE))
        for written, _, note, share in scored
        if written or share >= min_covered
    ]


def fuse(evidence: Iterable[Evidence], near: Mapping[int, float]) -> list[Hit]:
    """Order notes by words and vectors. `near` (from `nearness`) contains the nearest notes and those in
    `evidence`."""
    words = {item.id: item for item in evidence}
    all_evidence = [*words.values(), *(Evidence(note, False, 0.0) for note in near if note not in words)]
    scored = sorted(
        (item.as_written, near.get(item.id, _WITHOUT_VECTOR) + _WORDS_WEIGHT * item.covered, item.id)
        for item in all_evidence
    )
    if not scored:
        return []
    best = _EXACT_SCORE if scored[-1][0] else scored[-1][1]
    return [
        Hit(note, 1.0 if as_written else _confidence(score, best - score))
        for as_written, score, note in reversed(scored)
        if as_written
        or (best - score <= _MAX_BEHIND and (score >= _MIN_SCORE or (note in words and words[note].enough)))
    ]


def _confidence(score: float, behind: float) -> float:
    """Return the probability that a note is right, fitted to the question sets."""
    return 1 / (1 + math.exp(-(0.4 * score - 1.5 * max(behind, 0.0) - 1.9)))


class _WeighedWording(NamedTuple):
    whole: bool
    strength: float  # match quality, 0 to 1
    total: float
    values: list[tuple[str, float]]


class _WeighedGroup(NamedTuple):
    importance: float  # value of its rarest term as written
    wordings: list[_WeighedWording]
    wordings_by_term: Mapping[str, list[int]]  # indices of the wordings that contain a term


def _weigh(group: TermGroup, statistics: Statistics) -> _WeighedGroup:
    wordings = []
    wordings_by_term: defaultdict[str, list[int]] = defaultdict(list)
    for at, wording in enumerate(group):
        values = []
        total = 0.0
        for term, weight in wording.terms.items():
            value = weight * rarity(statistics.frequency.get(term, 0), statistics.documents)
            values.append((term, value))
            total += value
            wordings_by_term[term].append(at)
        strength = min(1.0, max(wording.terms.values()))
        wordings.append(_WeighedWording(wording.whole, strength, total, values))
    return _WeighedGroup(max(value for _, value in wordings[0].values), wordings, wordings_by_term)


def _score_group(group: _WeighedGroup, note: Candidate, average_length: float) -> tuple[float, float]:
    """Return a group's score in a note, and the match quality (0 to 1).

    A partial match scores less than its share: キーボード is not グラフィックボード.
    Longer words score more, but not in proportion.
    """
    best = quality = 0.0
    terms = note.terms
    wordings_by_term = group.wordings_by_term
    for wording in {at for term in terms if term in wordings_by_term for at in wordings_by_term[term]}:
        whole, strength, total, values = group.wordings[wording]
        score = found = 0.0
        for term, value in values:
            count = terms.get(term)
            if count:
                found += value
                score += value * saturation(count, note.length, average_length)
            elif whole:
                break
        else:
            if found:
                share = found / total
                best = max(best, score * math.sqrt(share * min(1.0, group.importance / total)))
                quality = max(quality, strength * share)
    return best, quality
