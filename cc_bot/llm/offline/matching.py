"""Which fact answers a question.

The score of a fact is the share of what was asked that it speaks of, words that few facts have
counting more. Before that come rules that no overlap can outweigh: whose fact it is, that liking is not
hating, that a colour does not answer a question for a film. The best score wins; among near equals the
newest, because a corrected fact is told later.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from cc_bot.domain.phrase import Phrase
from cc_bot.llm.offline.beings import agree, owner_at
from cc_bot.llm.offline.concepts import CONCEPTS
from cc_bot.llm.offline.facts import Fact
from cc_bot.llm.offline.fold import fold
from cc_bot.llm.offline.questions import Asked, Question
from cc_bot.llm.offline.terms import likeness, terms_of

SURE = 0.6
"""From this score on a fact is taken for the answer."""
NEAR = 0.3
"""From this score on a fact is worth mentioning, as what it is: something near the question."""
_TIE = 0.08
_UNSAID = 0.85
"""What a fact of somebody's is worth when the question does not say whose it means."""
_UNCOUNTED = 0.85
"""What a fact without a number is worth when the question is how many."""
_MET = 0.45
"""From this likeness on a word counts as spoken of."""

_OPPOSITES = (("liking", "disliking"), ("disliking", "liking"))
_POSSESSOR = Phrase(
    r"^(?P<owner>[^、。はが]{1,20}?)(?:'s\s|の)(?:[^、。はが]{1,20}?)(?:は|って|[:：=]|\s(?:is|are|was)\b)"
)
_MINE_BEFORE = Phrase(r"(?:私|僕|俺|自分)[のは]|\bmy (?!\w+'s)(?:\w+ )*$")
_MINE = Phrase(r"(?:私|僕|俺|わたし|ぼく|おれ|自分|うち|my(?: \w+)?$)")
_DATE = Phrase(
    r"[0-9]+\s*(?:[:/時月日年分]|am\b|pm\b|o'clock)|[月火水木金土日]曜|来週|再来週|来月"
    r"|来年|明日|明後日|毎[日朝晩週月年]"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:january|february|march|april"
    r"|may|june|july|august"
    r"|september|october|november|december)\b|\btomorrow\b|\bnext (?:week|month|year)\b|\b(?:19|20)[0-9]{2}\b"
)


_COUNT = Phrase(
    r"[0-9]|[一二三四五六七八九十百千万](?=[人匹本個枚台冊回円つ])|\b(?:one|two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve|[a-z]*teen|twenty|thirty|forty|fifty|hundred|no|both|a|an)\b"
)


@dataclass(frozen=True, slots=True)
class Match:
    fact: Fact
    score: float

    @property
    def sure(self) -> bool:
        return self.score >= SURE


def best_match(question: Question, facts: Sequence[Fact]) -> Match | None:
    """The fact that answers the question best; None when none is even near."""
    if not question.asked and not question.beings:
        return None
    rarity = _rarities(question, facts)
    matches = [Match(fact, score) for fact in facts if (score := _score(question, fact, rarity)) >= NEAR]
    if not matches:
        return None
    limit = max(match.score for match in matches) - _TIE
    near_best = [match for match in matches if match.score >= limit]
    return max(near_best, key=lambda match: (match.fact.order, match.sure, -match.fact.size, match.score))


def _rarities(question: Question, facts: Sequence[Fact]) -> dict[str, float]:
    wholes = [fact for fact in facts if fact.size > 0] or list(facts)
    return {
        part.key: 1 + 0.25 * math.log((len(wholes) + 1) / (1 + sum(_met(part, fact) for fact in wholes)))
        for part in question.asked
    }


def _score(question: Question, fact: Fact, rarity: dict[str, float]) -> float:
    if _answers_something_else(question, fact):
        return 0.0
    weights = {part.key: part.weight * rarity[part.key] for part in question.asked}
    likenesses = {part.key: _likeness(part, fact) for part in question.asked}
    total = sum(weights.values()) + len(question.beings)
    got = sum(weights[key] * likenesses[key] for key in weights) + len(question.beings)
    if question.asked and not any(likenesses.values()):
        return 0.0
    score = got / total
    if any(likenesses[key] < _MET for key in question.needed):
        score *= 0.6
    if score < SURE and not _solid(question, likenesses):
        return 0.0
    if _may_be_someone_elses(question, fact):
        score *= _UNSAID
    if question.count and not _COUNT.search(fact.folded):
        score *= _UNCOUNTED
    return score + (0.03 if question.time and _DATE.search(fact.folded) else 0.0)


def _solid(question: Question, likenesses: dict[str, float]) -> bool:
    """Whether something that says much is shared: a mere `work` or `take` is no nearness, but a
    being's is (`What position does my son play?`, `my son plays …`)."""
    return any(
        (part.weight >= (0.9 if part.concept else 0.7) or part.key == "liking" or question.beings)
        and likenesses[part.key] >= _MET
        for part in question.asked
    )


def _met(part: Asked, fact: Fact) -> bool:
    return _likeness(part, fact) >= _MET


def _likeness(part: Asked, fact: Fact) -> float:
    if part.concept:
        return 1.0 if part.key in fact.concepts else 0.0
    return max((likeness(part.key, term.key) for term in fact.terms), default=0.0)


def _answers_something_else(question: Question, fact: Fact) -> bool:
    return (
        not agree(question.beings, fact.beings)
        or any(
            wanted in _keys(question) and opposite in fact.concepts and wanted not in fact.concepts
            for wanted, opposite in _OPPOSITES
        )
        or ((question.about_me or question.mine) and _is_someone_elses(question, fact))
        or _has_another_head(question, fact)
        or _is_another_of_its_kind(question, fact)
    )


def _keys(question: Question) -> set[str]:
    return {part.key for part in question.asked}


def _may_be_someone_elses(question: Question, fact: Fact) -> bool:
    """Whether the fact is another's while a Japanese question, as usual, leaves unsaid whose it means."""
    unsaid = not (question.about_me or question.mine) and not fact.folded.isascii()
    return unsaid and _is_someone_elses(question, fact)


def _is_someone_elses(question: Question, fact: Fact) -> bool:
    """Whether the fact is another's, and the question is for nobody or for the user."""
    if question.beings or (question.who and not question.about_me):
        return False
    if question.mine and _has_another_possessor(question, fact):
        return True
    owner = owner_at(fact.folded)
    if owner is None:
        return question.about_me and _only_concepts(question) and _speaks_of_a_thing(question, fact)
    places = sorted(
        {term.at for part in question.asked for term in fact.terms if likeness(part.key, term.key) >= _MET}
    )
    if any(at < owner for at in places) or (not question.mine and _is_named(fact, owner, places)):
        return False
    mine = _MINE_BEFORE.search(fact.folded[: min(places, default=0)])
    after_owner = mine is not None and mine.start() > owner
    return not after_owner


def _has_another_possessor(question: Question, fact: Fact) -> bool:
    """Whether the fact is of the form `Kim's X is …`, `KimのXは…` and Kim was not asked about."""
    found = _POSSESSOR.match(fact.folded)
    if found is None or _MINE.match(found["owner"]):
        return False
    names = terms_of(found["owner"])
    return bool(names) and not any(_names(part, found["owner"]) for part in question.asked)


def _names(part: Asked, phrase: str) -> bool:
    """Whether a folded phrase speaks of what is asked, in a question's words."""
    if part.concept:
        return any(concept.asked.search(phrase) for concept in CONCEPTS if concept.name == part.key)
    return any(likeness(part.key, term.key) >= _MET for term in terms_of(phrase))


def _is_named(fact: Fact, owner: int, places: Sequence[int]) -> bool:
    """Whether the being is one that the question calls by name: 友達の美咲の… for 美咲の…"""
    if len(places) < 2:
        return False
    return re.fullmatch(r"[^、。]{1,6}の", fact.folded[owner : places[0]]) is not None and bool(
        re.search(r"の$", fact.folded[places[0] : places[1]])
    )


def _only_concepts(question: Question) -> bool:
    return all(part.concept for part in question.asked)


def _speaks_of_a_thing(question: Question, fact: Fact) -> bool:
    """Whether the fact's subject is a thing, which has names and ages of its own."""
    if fact.topic is None:
        return False
    subject = fold(fact.topic.subject)
    covered = subject
    for concept in CONCEPTS:
        if concept.name in _keys(question):
            covered = concept.told.sub(" ", covered)
    return bool(terms_of(covered)) and covered.strip() != ""


def _has_another_head(question: Question, fact: Fact) -> bool:
    """Whether the question is for one thing and the fact, of the form `X is Y`, about another."""
    if question.head is None or fact.topic is None:
        return False
    part = next(part for part in question.asked if part.key == question.head)
    if _met(part, fact):
        return False
    subject = fold(fact.topic.subject)
    nouns = terms_of(re.split(" (?:of|for) ", subject)[0])
    if not nouns:
        return False
    return not any(_names(part, nouns[-1].surface) for part in question.asked)


def _is_another_of_its_kind(question: Question, fact: Fact) -> bool:
    """Whether both speak of one kind of thing, and of different ones: phone password, laptop password."""
    if question.head is None or fact.topic is None or len(question.needed) < 2:
        return False
    subject = fold(fact.topic.subject)
    parts = {part.key: part for part in question.asked}
    if not _names(parts[question.head], subject):
        return False
    only_asked = [key for key in question.needed if not _met(parts[key], fact)]
    only_told = [
        term for term in terms_of(subject) if not any(_names(part, term.surface) for part in question.asked)
    ]
    return bool(only_asked and only_told)
