"""Facts: what the user stated, cut into the smallest pieces that still say something.

A long note often holds several facts (`the cat is Momo and the dog is Kuro`). Each clause, each
sentence and the whole are candidates for an answer; the matcher takes the smallest that answers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cc_bot.domain.phrase import Phrase
from cc_bot.llm.offline.beings import beings_in, goes_on_about_it, introduced_in, names_a_being
from cc_bot.llm.offline.concepts import CONCEPTS
from cc_bot.llm.offline.fold import fold
from cc_bot.llm.offline.terms import Term, terms_of

_SENTENCE_END = Phrase(
    r"(?<=[。！？\n])\s*|(?<=[ぁ-ゖァ-ヺ一-鿿ー]!)\s*|(?<=[?.!])\s+(?=[A-Z0-9ぁ-ゖァ-ヺ一-鿿])"
)
_TITLE_END = Phrase(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|e\.g|i\.e)\.\s*$", re.IGNORECASE)
_CLAUSE_END = Phrase(
    r"(?:(?<!ん)で|であり)?[、,;；]\s*(?=[^、,;；。]{1,12}(?:は|って|が)[^、])"
    r"|[、,]\s*(?=[^、,は]{1,10}[0-9]+[歳才])"
    r"|,?\s+and\s+(?=i(?:'m|'ve)\b)|;\s*|,?\s+(?:and|but|while)\s+(?=(?:my|our|his|her|the|i|i'm|it|she|he|(?-i:[A-Z][a-z]+(?:'s)?))\b[^,]*\b(?:is|are|was|has|have|lives?|likes?"
    r"|loves?|hates?|works?|am|[a-z]+s)\b)",
    re.IGNORECASE,
)
_UNFINISHED = Phrase(r"^[^はがも]*[てで]$")
"""`引っ越して、…` says nothing before what follows."""
_TOPIC_JA = Phrase(
    r"^(?P<topic>.{1,40}?)(?:(?<![でにとへ、])は(?![い])|\s*(?<![0-9])[:：=＝](?!//))\s*(?P<rest>.+)$",
    re.DOTALL,
)
_TOPIC_EN = Phrase(
    r"^(?P<topic>(?!i\b|i'|we\b|you\b|he\b|she\b|it\b|there\b|this\b|that\b|what\b"
    r"|where\b)(?:[^\s,.]+\s+){0,7}?[^\s,.:=]+?)"
    r"(?:'s(?=\s+(?:in|on|at|called|named)\b)|\s+(?:is|are|was|were|will be|=)\b"
    r"|\s*(?<![0-9])[:=](?!//))\s*(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_CORRECTION = Phrase(
    r"^(?:(?:no|oops|sorry|wait|correction|actually|i mean|i meant)[,:.! ]+)+(?:it's|it is"
    r"|that's|that is|it was|make that|[0-9])"
    r"|^(?:いや|いえ|あっ?|訂正|違った|ちがった|間違え(?:た|ました)|まちがえ(?:た|ました)"
    r"|ごめん(?:なさい)?|すみません|やっぱり|正しくは|本当は)"
    r"[、。!！:：\s]*(?!.*(?:は|の))"
)
_FIRST_PERSON_TOPIC = Phrase(r"^(?:私|僕|俺|わたし|ぼく|おれ|自分|うち|今|実|最近|今日|毎日|朝|夜)$")


@dataclass(frozen=True, slots=True)
class Topic:
    """`X は Y`, `X is Y`: what is spoken of, and what is said of it."""

    subject: str
    said: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement of the user."""

    text: str
    folded: str
    terms: tuple[Term, ...]
    beings: frozenset[str]
    concepts: frozenset[str]
    topic: Topic | None
    size: int
    """0 a clause, 1 a sentence, 2 a whole message: the smaller, the more exact an answer."""
    order: float
    """Larger is newer."""
    remembered: bool
    """Whether it comes from the user's memories and not from the conversation."""


def facts_in(text: str, *, order: float, remembered: bool, about: str = "") -> tuple[Fact, ...]:
    """The whole text, its sentences and their clauses, each as a fact.

    `about` is what the text leaves unsaid: the subject of what it corrects.
    """
    pieces: dict[str, tuple[int, str]] = {text.strip(): (2, about)}
    being = None
    for sentence in sentences(text):
        folded = fold(sentence)
        owner = f"{being}'s" if being and being.isascii() else f"{being}の"
        unsaid = owner if being and goes_on_about_it(folded) else about
        being = introduced_in(folded) or (being if unsaid == owner else None)
        pieces.setdefault(sentence, (1, unsaid))
        for clause in clauses(sentence):
            pieces.setdefault(clause, (0, unsaid))
    return tuple(
        _fact(piece, size, order, remembered, unsaid) for piece, (size, unsaid) in pieces.items() if piece
    )


def sentences(text: str) -> tuple[str, ...]:
    """Split after 。！？ and line ends, and after a full stop that no abbreviation explains."""
    merged: list[str] = []
    for piece in _SENTENCE_END.split(text):
        if merged and _TITLE_END.search(merged[-1]):
            merged[-1] = f"{merged[-1]} {piece}"
        elif piece.strip():
            merged.append(piece)
    return tuple(piece.strip() for piece in merged)


def clauses(sentence: str) -> tuple[str, ...]:
    """The parts of a sentence that have a subject of their own; the sentence itself when it is one."""
    parts: list[str] = []
    for part in _CLAUSE_END.split(sentence):
        if parts and _UNFINISHED.search(parts[-1]):
            parts[-1] = f"{parts[-1]}、{part.strip(' 、,')}"
        elif part and part.strip(" 、,"):
            parts.append(part.strip(" 、,"))
    return tuple(parts)


def topic_of(text: str) -> Topic | None:
    """What a statement speaks of; None when it has another form."""
    for found in _topics(text):
        if not _FIRST_PERSON_TOPIC.match(found.subject):
            return found
    return None


def _topics(text: str) -> Iterator[Topic]:
    pattern = _TOPIC_EN if text.isascii() or (re.match(r"[A-Za-z]", text) and " is " in text) else _TOPIC_JA
    rest = text
    while found := pattern.match(rest):
        yield Topic(found["topic"].strip(" 「『、"), found["rest"].strip())
        rest = found["rest"].strip(" 、")


def corrects(text: str) -> bool:
    """Whether a statement has no subject of its own and mends what was said before: `Actually it's …`"""
    return _CORRECTION.search(fold(text)) is not None


def _fact(text: str, size: int, order: float, remembered: bool, about: str) -> Fact:
    folded = fold(f"{about} {text}" if about else text)
    return Fact(
        text=text,
        folded=folded,
        terms=terms_of(folded),
        beings=beings_in(folded),
        concepts=_concepts_in(text, folded),
        topic=topic_of(text),
        size=size,
        order=order,
        remembered=remembered,
    )


def _concepts_in(text: str, folded: str) -> frozenset[str]:
    told = {concept.name for concept in CONCEPTS if concept.told.search(folded)}
    return frozenset(told | {"name"} if names_a_being(text) else told)
