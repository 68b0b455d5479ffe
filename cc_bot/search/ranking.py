"""Ranks one user's notes for a query.

BM25, with frequencies counted over the user's own notes, so that results don't depend on other users. First
the sum over all terms finds candidates cheaply; then `rank` scores each, counting only the best wording per
term group.

Poor matches are left out: five wrong notes are worse than none.
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
# Merges word and vector scores into one order.
#
# Words are precise where they match; vectors help where they don't: 'wife' for 奥さん. So neither has a fixed
# share. A note's score is its nearness, in standard scores over the user's own notes (comparable between
# encoders), plus the part of the query that its words cover. If the query's words are in no note, vectors
# decide alone; if all are in one note, they outweigh most nearness.
#
# Measured with the local encoder on five sets (1937 questions in 13 classes), split by note 20 times: weight,
# floor and trust in kana chosen on one half leave recall@5 on the other at most 0.011 below the better of
# words alone and encoder alone in the mean of any class, and 0.056 in the worst split (35 questions, standard
# error 0.045). The values below reach 0.006 and 0.056; any weight from 5 to 8 is within 0.006 on all notes.
# The cut-offs cost a class at most 0.029 of its recall: of 70 unanswerable questions 14 % get no result, by
# words alone 29 %, without cut-offs none.

_WORDS: Final = 6.0
"""Standard scores added for words that cover the whole query."""

_UNKNOWN: Final = 1.5
"""The nearness of a note without a vector: near enough for its words to count."""

_UNLIKE: Final = 0.25
"""The cosine below which texts are unrelated, for encoders that use the whole scale."""
_NEAR_BY_CHANCE: Final = 1.0
"""The maximum nearness of an unrelated note: some note is always the nearest."""

_TOO_FAR: Final = 2.5
_FAR_BEHIND: Final = 5.0
"""Notes this far behind the best are left out."""
_SURE: Final = 7.5
"""The score of a note that contains the query as written."""

_FEW: Final = 20
"""The average of three notes means little: smaller sets are padded to this size with the usual cosines."""

_KANA_ALONE: Final = re.compile(r"[\u3041-\u309fー\W]+")
_TRUST_IN_KANA: Final = 0.5


@dataclass(frozen=True, slots=True)
class Usual:
    """The cosines of an encoder for unrelated queries and notes."""

    mean: float
    spread: float
    """Standard deviation."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching note, with a confidence from 0 to 1 (as written)."""

    id: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """The word match of a note: whether it contains the query as written, which part (0 to 1) it covers, and
    whether that is enough by itself."""

    id: int
    as_written: bool
    covered: float
    enough: bool = False


def nearness(
    cosines: Mapping[int, float], *, query: str = "", usual: Usual | None = None
) -> dict[int, float]:
    """Return how much nearer to the query each note is than the user's average note, in standard scores.

    `cosines` are those of all the user's notes. If there are few, `usual` is averaged in; without `usual`,
    few notes get small scores, so that words decide: 0.75 is near with one encoder, and average with another.
    Queries in hiragana alone count half, since encoders rarely saw 刺繍 written as ししゅう. (Of 29 such
    questions the local encoder alone answers 7, words alone 26, and both together 26 at half weight as at
    full, with fewer wrong notes.) So do queries without letters: to the local encoder any emoji is like any
    food.
    """
    if not cosines:
        return {}
    mean, spread = _average(list(cosines.values()), usual)
    trust = _TRUST_IN_KANA if _KANA_ALONE.fullmatch(unicodedata.normalize("NFKC", query)) else 1.0
    return {note: _near(value, trust * (value - mean) / spread) for note, value in cosines.items()}


def fuse(evidence: Iterable[Evidence], near: Mapping[int, float]) -> list[Hit]:
    """Return the matching notes, best first, ties newest (greatest id) first.

    `near` is from `nearness`, and has at least the nearest notes and those in `evidence`. Notes that contain
    the query as written are always included, and first.
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
    """Estimate the probability that a note with this score, so far behind the best, is right. Fitted to the
    sets."""
    return 1 / (1 + math.exp(-(0.4 * score - 1.5 * max(behind, 0.0) - 1.9)))


# ---- ranking ---------------------------------------------------------------------------------------------

_SATURATION: Final = 1.2
_LENGTH_PART: Final = 0.5
_TOO_LITTLE: Final = 0.17
"""Unrelated notes share up to this part of a query."""
_BESIDE_THE_BEST: Final = 0.4
"""Notes that cover less than this share of the best one's part are left out."""
_SUREST: Final = 0.99
"""Only an exact match has 1."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over a user's notes; `frequency` is the number of notes that have each term of the query."""

    documents: int
    average_length: float
    frequency: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible match. `content_folded` includes its tags; `length` is the number of its terms."""

    id: int
    content_folded: str
    terms: Mapping[str, int]
    length: int


@lru_cache(maxsize=1024)  # most terms of a query are in few notes or none
def rarity(frequency: int, documents: int) -> float:
    """Return BM25's inverse document frequency, in the variant that is never negative."""
    return math.log(1 + (max(documents - frequency, 0) + 0.5) / (frequency + 0.5))


def term_weight(query: Query, statistics: Statistics) -> Mapping[str, float]:
    """Return each term's weight in the query times its rarity."""
    return {
        term: weight * rarity(statistics.frequency.get(term, 0), statistics.documents)
        for term, weight in query.weights.items()
    }


def saturation(count: int, length: int, average_length: float) -> float:
    """Return BM25's term frequency factor for `count` occurrences in a note of `length` terms."""
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

    Notes that contain the query as written are always included, and first. `similarity` is from `nearness`,
    and may have notes that are not candidates; with it, `fuse` makes the order.
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
    whole: bool
    strength: float
    """The match quality of this wording, from 0 to 1."""
    total: float
    values: list[tuple[str, float]]


class _Asked(NamedTuple):
    importance: float
    """Its share of the query: the value of its rarest written term."""
    wordings: list[_Wording]
    saying: Mapping[str, list[int]]
    """Indices of the wordings that have a term."""


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
    """Return a group's score in a note, and the match quality (0 to 1).

    A partial match scores less than its part of the word: キーボード is not グラフィックボード. Long words,
    which have many terms, score more than short ones, but less than proportionally.
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
