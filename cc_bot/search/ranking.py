"""The rank of a note as the answer to a query, among the notes of one user.

BM25: a rare term says more than a common one, and a term says less in a long note. Rarity is counted over the
user's own notes, so that nobody's results hang on what others keep. Two stages: the sum over all terms finds
the candidates cheaply; `rank` then looks at each, and counts for each thing asked for only its best wording.

Notes that hardly fit are left out: five wrong notes are worse than none.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Final, NamedTuple

from cc_bot.search.query import Query, TermGroup

# ---- fusion ----------------------------------------------------------------------------------------------
# One order of what a note's words say and what its meaning says.
#
# Words are sure where they are: who names a thing means it. Meaning helps where words fail: 'wife' for
# 奥さん. So neither has a fixed share. A note's nearness counts as it is, in standard scores over the user's
# own notes, which makes encoders comparable; to it comes what part of the query the note's words cover. Where
# the query's words stand in no note, meaning decides alone; where they all stand in one, that outweighs most
# nearness.
#
# Measured with the local encoder on five sets (1937 questions in 13 classes), split by note 20 times: weight,
# floor and trust in kana chosen on either half leave recall@5 on the other at most 0.011 below the better of
# words alone and encoder alone, in the mean of any class, and 0.056 in the worst split (35 questions,
# standard error 0.045). Those below do as well, 0.006 and 0.056, so they stay; any weight from 5 to 8 is
# within 0.006 on all notes. The cut-offs cost a class at most 0.029 of its recall, and leave out wrong notes:
# of 70 questions that nothing answers 14 % get nothing, by words alone 29 %, without cut-offs none.

_WORDS: Final = 6.0
"""Standard scores that a note gains whose words cover the query."""

_UNKNOWN: Final = 1.5
"""The nearness of a note that has no vector yet: near enough for its words to be heard."""

_UNLIKE: Final = 0.25
"""The cosine below which texts have nothing to do with each other, for encoders that use the whole scale."""
_NEAR_BY_CHANCE: Final = 1.0
"""The greatest nearness of a note that is unlike the query: some note is always the nearest."""

_TOO_FAR: Final = 2.5
_FAR_BEHIND: Final = 5.0
"""By so much a note is beaten by one that answers; what is behind it is there by chance."""
_SURE: Final = 7.5
"""What a note counts as, beside others, that contains the query as written."""

_FEW: Final = 20
"""Of three notes none is far from their average. So few are filled up to so many with what is usual."""

_KANA_ALONE: Final = re.compile(r"[\u3041-\u309fー\W]+")
_TRUST_IN_KANA: Final = 0.5


@dataclass(frozen=True, slots=True)
class Usual:
    """The cosines that an encoder gives to a query and a note that have nothing to do with each other."""

    mean: float
    spread: float
    """Their standard deviation."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A note that answers, and how surely: from 0, not at all, to 1, as written."""

    id: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a note's words: whether it contains the query as written, what part (0 to 1) it covers,
    and whether that would be enough for itself."""

    id: int
    as_written: bool
    covered: float
    enough: bool = False


def nearness(
    cosines: Mapping[int, float], *, query: str = "", usual: Usual | None = None
) -> dict[int, float]:
    """Return how much nearer to the query each note is than the user's notes are on average, in standard
    scores.

    `cosines` are those of all the user's notes. Beside few notes, what is `usual` with their encoder counts
    for the average too. Where that is not known, few notes have small scores, so that words decide: 0.75 is
    near with one encoder, and with another what any two texts have.
    A query in hiragana alone counts half: encoders have learned from what is written, and few people write
    刺繍 as ししゅう. (Of 29 such questions the local encoder alone answers 7, words alone 26, and both
    together 26 at half weight as at full, with fewer wrong notes.) So does one of signs alone: to the local
    encoder any emoji is like any food.
    """
    if not cosines:
        return {}
    mean, spread = _average(list(cosines.values()), usual)
    trust = _TRUST_IN_KANA if _KANA_ALONE.fullmatch(unicodedata.normalize("NFKC", query)) else 1.0
    return {note: _near(value, trust * (value - mean) / spread) for note, value in cosines.items()}


def fuse(evidence: Iterable[Evidence], near: Mapping[int, float]) -> list[Hit]:
    """The notes that answer, best first, the newest (greatest id) of equal ones; not the hopeless.

    `near` is from `nearness`: at least of the nearest notes and of those that there is evidence of. A note
    that contains the query as written is always among the hits, before those that do not.
    """
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


def _average(values: Sequence[float], usual: Usual | None) -> tuple[float, float]:
    """The mean of these cosines and their spread; few are filled up with usual ones."""
    own = fmean(values)
    squares = math.fsum((value - own) ** 2 for value in values)
    notes = len(values)
    if usual and notes < _FEW:
        added = _FEW - notes
        own = (own * notes + usual.mean * added) / _FEW
        squares += added * usual.spread**2
        notes = _FEW
    return own, math.sqrt(squares / notes) or 1.0


def _near(cosine: float, score: float) -> float:
    return score if cosine >= _UNLIKE else min(score, _NEAR_BY_CHANCE)


def _confidence(score: float, behind: float) -> float:
    """The share of notes of this score, so much behind the best, that were right: a fit to the sets."""
    return 1 / (1 + math.exp(-(0.4 * score - 1.5 * max(behind, 0.0) - 1.9)))


# ---- ranking ---------------------------------------------------------------------------------------------

_SATURATION: Final = 1.2
_LENGTH_PART: Final = 0.5
_TOO_LITTLE: Final = 0.17
"""Below this part of the query a note shares no more with it than notes do with what they say nothing of."""
_BESIDE_THE_BEST: Final = 0.4
"""Notes of a smaller share of the best one's part are there by chance, since the best one is to be had."""
_SUREST: Final = 0.99
"""What is not as written is never as sure."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """The counts of a user's notes; `frequency` says of each term of the query how many notes have it."""

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
    """Return what each term adds to a note's score before saturation: its weight in the query, times its
    rarity."""
    return {
        term: weight * rarity(statistics.frequency.get(term, 0), statistics.documents)
        for term, weight in query.weights.items()
    }


def saturation(count: int, length: int, average_length: float) -> float:
    """Return how much `count` times a term counts in a note of `length` terms: BM25's share of its weight."""
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


def _weigh(group: TermGroup, statistics: Statistics) -> _Asked:
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
    """Return what a group adds to a note's score, and how well (0 to 1) the note says it.

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
