"""How well a note answers a query, among the notes of one user.

BM25: a rare term says more than a common one, and a term says less in a long note. Rarity is counted over the
user's own notes, so that nobody's results hang on what others keep. Two stages: the sum over all terms finds
the candidates cheaply; `rank` then looks at each, and counts for each thing asked for only its best wording.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from cc_bot.search.fusion import Evidence, Hit, fuse
from cc_bot.search.query import Group, Query

_SATURATION: Final = 1.2
_LENGTH_PART: Final = 0.5
_HOPELESS: Final = 0.17
"""Below this part of the query a note shares no more with it than notes do with what they say nothing of."""
_BESIDE_THE_BEST: Final = 0.4
"""Notes of a smaller share of the best one's part are there by chance, since the best one is to be had."""
_SUREST: Final = 0.99
"""What is not as written is never as sure."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """One user's notes, counted; `frequency` says of each term of the query how many notes have it."""

    documents: int
    average_length: float
    frequency: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note that may answer. `content_folded` holds its tags too; `length` is the number of its terms."""

    id: int
    content_folded: str
    terms: Mapping[str, int]
    length: int


@lru_cache(maxsize=1024)  # of the terms of a query, most are in no note or in few
def rarity(frequency: int, documents: int) -> float:
    """BM25's inverse document frequency, in the form that is never negative."""
    return math.log(1 + (max(documents - frequency, 0) + 0.5) / (frequency + 0.5))


def term_weight(query: Query, statistics: Statistics) -> Mapping[str, float]:
    """What a term adds to a note's score before saturation: its weight in the query, times its rarity."""
    return {
        term: weight * rarity(statistics.frequency.get(term, 0), statistics.documents)
        for term, weight in query.weights.items()
    }


def saturation(count: int, length: int, average_length: float) -> float:
    """How much `count` times a term counts in a note of `length` terms: BM25's share of its weight."""
    relative = length / average_length if average_length > 0 else 1.0
    return count * (_SATURATION + 1) / (count + _SATURATION * (1 - _LENGTH_PART + _LENGTH_PART * relative))


def rank(
    query: Query,
    statistics: Statistics,
    candidates: Iterable[Candidate],
    *,
    similarity: Mapping[int, float] | None = None,
) -> list[Hit]:
    """The candidates that answer, best first, the newest (greatest id) of equal ones; not the hopeless.

    A note that contains the query as written is always among them, before those that do not: nothing is
    surer, and whoever types a part of a note looks for that note.
    `similarity` is from `fusion.nearness`, and may have notes that are no candidates; words and meaning are
    then one order (see there).
    """
    if not query.folded:
        return [Hit(note.id, 1.0) for note in sorted(candidates, key=lambda note: -note.id)]
    groups = [_weighed(group, statistics) for group in query.groups]
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
    enough = max(_HOPELESS, _BESIDE_THE_BEST * max((part for *_, part in scored), default=0.0))
    if similarity:
        evidence = (Evidence(note, written, part, part >= enough) for written, _, note, part in scored)
        return fuse(evidence, similarity)
    scored.sort(reverse=True)
    return [
        Hit(note, 1.0 if written else min(part, _SUREST))
        for written, _, note, part in scored
        if written or part >= enough
    ]


class _Wording(NamedTuple):
    """A wording with its rarities worked out."""

    whole: bool
    strength: float
    """How well it says the thing asked for, from 0 to 1."""
    total: float
    values: list[tuple[str, float]]


class _Asked(NamedTuple):
    """A group with its rarities worked out."""

    importance: float
    """Its part in the query: the value of the rarest term that it is written with."""
    wordings: list[_Wording]
    saying: Mapping[str, list[int]]
    """By term: which of the wordings have it. Of all that may be said, a note has but little."""


def _weighed(group: Group, statistics: Statistics) -> _Asked:
    wordings = []
    saying: defaultdict[str, list[int]] = defaultdict(list)
    for at, wording in enumerate(group.wordings):
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
    """What a group adds to a note's score, and how well (0 to 1) the note says it.

    A word of which only a part is found adds less than that part: キーボード is no グラフィックボード. And a
    long word, which has many terms, is more than a short one, but not by as much.
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
