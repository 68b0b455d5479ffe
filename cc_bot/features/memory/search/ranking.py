"""Ranks one user's notes for a query.

BM25, with frequencies counted over the user's own notes. The database sums all terms to find candidates; then
`rank` scores each, counting only the best wording per term group. Poor matches are left out: five wrong notes
are worse than none.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from cc_bot.features.memory.search.terms import Query, TermGroup

# Words are precise where they match; vectors help where they don't: 'wife' for 奥さん. A note's score is its
# nearness, in standard scores, plus the part of the query that its words cover.
#
# Measured with the local encoder on 1937 questions in 13 classes: recall@5 is at most 0.006 below the better
# of words and vectors in the mean of any class, with any weight from 5 to 8. The cut-offs cost a class at
# most 0.029; with them, 14 % of 70 unanswerable questions get no result (words alone: 29 %).

_WORDS: Final = 6.0
"""Added for words that cover the whole query."""

_UNKNOWN: Final = 1.5
"""A note without a vector: near enough for its words to count."""

_TOO_FAR: Final = 2.5
_FAR_BEHIND: Final = 5.0
"""Notes this far behind the best are left out."""
_SURE: Final = 7.5
"""A note that contains the query as written."""

_SATURATION: Final = 1.2
_LENGTH_PART: Final = 0.5
_TOO_LITTLE: Final = 0.17
"""Unrelated notes share up to this part of a query."""
_BESIDE_THE_BEST: Final = 0.4
"""Share of the best note's part; notes that cover less are left out."""
_SUREST: Final = 0.99
"""1 is an exact match."""


@dataclass(frozen=True, slots=True)
class Hit:
    """`confidence` is from 0 to 1 (as written)."""

    id: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """The word match of a note: `covered` is from 0 to 1, and may be `enough` by itself."""

    id: int
    as_written: bool
    covered: float
    enough: bool = False


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over a user's notes; `frequency` by term."""

    documents: int
    average_length: float
    frequency: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible match. `content_folded` includes its tags; `length` is in terms."""

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
    return count * (_SATURATION + 1) / (count + _SATURATION * (1 - _LENGTH_PART + _LENGTH_PART * relative))


def rank(
    query: Query,
    statistics: Statistics,
    candidates: Iterable[Candidate],
    *,
    similarity: Mapping[int, float] | None = None,
) -> list[Hit]:
    """Return the matching candidates, best first, ties newest (greatest id) first.

    Notes that contain the query as written are always included, and first. `similarity` (from `nearness`) may
    have other notes; with it, `fuse` makes the order.
    """
    groups = [_weigh(group, statistics) for group in query.groups]
    asked = sum(group.importance for group in groups) or 1.0
    scored = []
    for note in candidates:
        score = covered = 0.0
        for group in groups:
            if group.saying.keys().isdisjoint(note.terms):
                continue
            value, quality = _answer(group, note, statistics.average_length)
            score += value
            covered += quality * group.importance
        scored.append((query.folded in note.content_folded, score, note.id, covered / asked))
    enough = max(_TOO_LITTLE, _BESIDE_THE_BEST * max((part for *_, part in scored), default=0.0))
    if similarity:
        evidence = (Evidence(note, written, part, part >= enough) for written, _, note, part in scored)
        return fuse(evidence, similarity)
    scored.sort(reverse=True)
    return [
        Hit(note, 1.0 if written else min(part, _SUREST))
        for written, _, note, part in scored
        if written or part >= enough
    ]


def fuse(evidence: Iterable[Evidence], near: Mapping[int, float]) -> list[Hit]:
    """Order notes by words and vectors, as `rank` does. `near` is from `nearness`, and has at least the
    nearest notes and those in `evidence`."""
    words = {item.id: item for item in evidence}
    everything = [*words.values(), *(Evidence(note, False, 0.0) for note in near if note not in words)]
    scored = sorted(
        (item.as_written, near.get(item.id, _UNKNOWN) + _WORDS * item.covered, item.id) for item in everything
    )
    if not scored:
        return []
    best = _SURE if scored[-1][0] else scored[-1][1]
    return [
        Hit(note, 1.0 if as_written else _confidence(score, best - score))
        for as_written, score, note in reversed(scored)
        if as_written
        or (best - score <= _FAR_BEHIND and (score >= _TOO_FAR or (note in words and words[note].enough)))
    ]


def _confidence(score: float, behind: float) -> float:
    """The probability that a note with this score, so far behind the best, is right; fitted to the sets."""
    return 1 / (1 + math.exp(-(0.4 * score - 1.5 * max(behind, 0.0) - 1.9)))


class _Wording(NamedTuple):
    whole: bool
    strength: float
    """Match quality from 0 to 1."""
    total: float
    values: list[tuple[str, float]]


class _Asked(NamedTuple):
    importance: float
    """The value of its rarest written term."""
    wordings: list[_Wording]
    saying: Mapping[str, list[int]]
    """Indices of the wordings that have a term."""


def _weigh(group: TermGroup, statistics: Statistics) -> _Asked:
    wordings = []
    saying: defaultdict[str, list[int]] = defaultdict(list)
    for at, wording in enumerate(group):
        values = []
        total = 0.0
        for term, weight in wording.terms.items():
            value = weight * rarity(statistics.frequency.get(term, 0), statistics.documents)
            values.append((term, value))
            total += value
            saying[term].append(at)
        strength = min(1.0, max(wording.terms.values()))
        wordings.append(_Wording(wording.whole, strength, total, values))
    return _Asked(max(value for _, value in wordings[0].values), wordings, saying)


def _answer(group: _Asked, note: Candidate, average_length: float) -> tuple[float, float]:
    """Return a group's score in a note, and the match quality (0 to 1).

    A partial match scores less than its part of the word: キーボード is not グラフィックボード. Long words
    score more than short ones, but less than proportionally.
    """
    best = quality = 0.0
    terms = note.terms
    saying = group.saying
    for wording in {at for term in terms if term in saying for at in saying[term]}:
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
                part = found / total
                best = max(best, score * math.sqrt(part * min(1.0, group.importance / total)))
                quality = max(quality, strength * part)
    return best, quality
