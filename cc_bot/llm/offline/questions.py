"""Questions: how one is told from a statement, and what it asks about."""

import re
from dataclasses import dataclass, replace

from cc_bot.domain.phrase import Phrase
from cc_bot.llm.offline.beings import beings_in, spellings_in, without_beings
from cc_bot.llm.offline.concepts import CONCEPTS, Concept
from cc_bot.llm.offline.fold import fold
from cc_bot.llm.offline.terms import Term, terms_of

_ASKS_JA = Phrase(
    r"[?？]\s*$|っけ[。！\s]*$|(?<![とい静確しばなどこ])か(?:な|しら)?[。！!\s]*$|(?:です"
    r"|ます|でした|ました|だろう|でしょう)か"
    r"|(?:教えて|おしえて)(?!あげ|おく|もら)|(?:思い出して|調べて|検索して|探して)"
    r"|(?:何|(?:(?<=[はがって、\s])|^)なん(?!だか|とな|て)|誰|だれ|どこ|いつ|どれ|どんな|どの|どちら|どっち"
    r"|いくつ|いくら|なぜ|どう(?!し?ても|やら|ぶつ|ぞ))(?![もかりせにぞ人])[^。]{0,12}[。\s]*$"
    r"|(?:わかる|分かる|覚えてる|覚えている|覚えてます|覚えています|知ってる|知っています"
    r"|知っている)[かよね]?[。\s]*$"
    r"|^[^。、]{1,20}[はって]$"
)
_ASKS_EN = Phrase(
    r"\?\s*$"
    r"|^(?:(?:and|so|but|ok|okay|hey|hi|hello|please|now|sorry|well|um)[, ]+)*(?:"
    r"(?:what|which|who|whose)(?:'s|'re)?\b"
    r"|(?:when|where|how|why)(?:'s|'re| is| are| was| were| do| does| did| can| should| will| am| have| has"
    r"| old| many| much| long| far| tall| often| big)\b"
    r"|(?:do|does|did|is|are|am|was|were|can|could|will|would|should|have|has) (?:i|you|we"
    r"|my|your|he|she|it|the|there)\b"
    r"|(?:please )?(?:tell me|remind me (?:what|when|where|who|which|how|of|about)|look up|recall)\b"
    r"|i (?:forgot|forget|can't remember|don't remember) (?:what|when|where|who|which|how|my|the)\b"
    r"|(?:any idea|do you know|what about|how about)\b)"
)
_MANNER = Phrase(
    r"(?:(?<=what )|(?<=which ))(?:time|days?|date|month|year)\b"
    r"(?= (?:is|are|was|were|do|does|did|will|should|am)\b)"
    r"|(?:を|って|、)?(?:教えて|おしえて|思い出して|調べて|検索して|探して)(?:ください"
    r"|下さい|くれ(?:る|ます|ませんか)?|ほしい|欲しい|ね|よ)?"
)
_ME = Phrase(
    r"(?:私|僕|俺|わたし|ぼく|おれ|自分|うち)(?:は|って|が|の|、)|\b(?:do|did|am|was|have"
    r"|can|could|should|would|can't|don't) i\b|\bi (?:am|was)\b|\bi\b"
)
_MINE = Phrase(r"\b(?:my|our)\b|(?:私|僕|俺|わたし|ぼく|おれ|自分)の")
_WHO = Phrase(r"\bwho(?:se)?\b|誰|だれ")
_PHRASE_EN = Phrase(
    r"\b(?:what|who|when|where|which|how)(?:'s|'re| is| are| was| were)\s+(?!i\b)(?P<phrase>[^?]+)"
)
_SUBJECT_EN = Phrase(
    r"\b(?:do|does|did|will|can|has|have) (?:the|my|our|a|an) (?P<phrase>[a-z][^?,]*?) [a-z]+"
    r"(?: (?:at|on|in|to|for|from|up|out)\b[^?]*)?\??$"
)
"""What it is that opens, leaves, costs: a fact about another thing answers something else."""
_PHRASE_JA = Phrase(
    r"^(?P<phrase>.{1,40}?)(?:(?<![でにとへ])は|って|を教えて|教えて|[、?？]|(?=何|なん|誰|いつ|どこ)|$)"
)
_KIND_EN = Phrase(
    r"\b(?:what|which)\s+(?:kind of |type of |sort of )?(?P<kind>[a-z]+)\s+(?:do|does|did"
    r"|am|is|are|was|have|has|can|should)\b"
)
_KIND_JA = Phrase(r"(?:何の|なんの|どんな|どの|何)(?P<kind>[一-鿿ァ-ヺー][一-鿿ァ-ヺーべみ]*)")
_KIND_AFTER_VERB_JA = Phrase(
    r"(?:る|た|だ)(?P<kind>[一-鿿ァ-ヺー][一-鿿ァ-ヺーべみ]*)(?:は|って)(?:何|なに|なん|どれ|どこ|だれ|誰|[?？]|$)"
)
"""`始めたスポーツは？`: the answer is one of the kind, so it need not say the word."""
_COUNT = Phrase(r"\bhow (?:many|much)\b|何[人匹本個枚台冊回階円歳杯頭羽]|いくつ|いくら")
_TIME = Phrase(r"\bwhen\b|\bwhat (?:time|day|date)\b|いつ|何時|何曜|何日|何月")
_KIND = 0.5
"""The weight of a word for the kind of thing asked for."""
_PRONOUN = Phrase(r"\b(?:he|she|his|her|hers|him|it|its|they|their|them)\b|彼(?!女|氏)|その人|その子|それ")
_ELLIPSIS = Phrase(
    r"^(?:and|what about|how about|also)\b|^(?:じゃあ|では|じゃ"
    r"|それじゃ)?[、\s]*[^\s、はの]{1,8}(?:は|も)[?？]?$"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing that a question asks about."""

    key: str
    weight: float
    concept: bool
    search: tuple[str, ...]
    """Pieces to look for in memories, the likeliest first."""


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    folded: str
    asked: tuple[Asked, ...]
    needed: frozenset[str]
    """Keys that stand in the very phrase asked for: a fact without one of them answers something else."""
    head: str | None
    """The last noun of that phrase, or the kind of thing asked for."""
    beings: frozenset[str]
    being_spellings: tuple[str, ...]
    """As the question spells them."""
    about_me: bool
    mine: bool
    who: bool
    time: bool
    count: bool


def is_question(sentence: str) -> bool:
    folded = fold(sentence).strip()
    return bool((_ASKS_EN if folded.isascii() else _ASKS_JA).search(folded))


def question_in(text: str) -> Question:
    """What a question asks about; `text` may hold more than one sentence."""
    folded = _MANNER.sub(lambda found: " " * len(found.group()), fold(text))
    concepts, terms = _parts(folded)
    parts = (*(_asked_concept(one, spelling) for one, spelling in concepts), *map(_asked_term, terms))
    kind = _KIND_AFTER_VERB_JA.search(folded)
    kinds = {term.key for term in terms_of(kind["kind"])} if kind else frozenset()
    light = (replace(one, weight=_KIND) if one.key in kinds else one for one in parts)
    asked = tuple({part.key: part for part in light}.values())
    beings = beings_in(folded)
    alone = all(part.concept for part in asked) and any(concept.about_me for concept, _ in concepts)
    return Question(
        text=text,
        folded=folded,
        asked=asked,
        needed=_keys_in(_phrase(folded), asked) - kinds,
        head=_head(folded, asked),
        beings=beings,
        being_spellings=spellings_in(folded),
        about_me=not beings and (alone or (bool(_ME.search(folded)) and not _MINE.search(folded))),
        mine=bool(_MINE.search(folded)),
        who=bool(_WHO.search(folded)) and not re.search(r"who am i", folded),
        time=bool(_TIME.search(folded)),
        count=bool(_COUNT.search(folded)),
    )


def leans_on_earlier(question: Question) -> bool:
    """Whether it is only whole together with what was asked before: `And my brother?`, `弟は？`"""
    return not question.asked and bool(question.beings) and bool(_ELLIPSIS.search(question.folded))


def speaks_of_earlier_being(question: Question) -> bool:
    """Whether a pronoun stands for somebody named before: `What is her name?`"""
    return not question.beings and bool(question.asked) and bool(_PRONOUN.search(question.folded))


def _parts(folded: str) -> tuple[list[tuple[Concept, str]], list[Term]]:
    """The concepts of a question as it spells them, and the terms that no concept covers."""
    found = []
    rest = folded
    for concept in CONCEPTS:
        if spelled := concept.asked.search(rest):
            found.append((concept, spelled.group()))
            rest = concept.asked.sub(lambda word: "\0" * len(word.group()), rest)
    covered = {place for place, character in enumerate(rest) if character == "\0"}
    terms = [
        term for term in terms_of(folded) if covered.isdisjoint(range(term.at, term.at + len(term.surface)))
    ]
    return found, terms


def _asked_concept(concept: Concept, spelled: str) -> Asked:
    first = (spelled,) if " " not in spelled else ()
    return Asked(concept.name, concept.weight, True, (*first, *concept.search))


def _asked_term(term: Term) -> Asked:
    return Asked(term.key, term.weight, False, _spellings(term))


def _spellings(term: Term) -> tuple[str, ...]:
    """The stem first: whatever ending a memory has, it contains the stem."""
    if not term.surface.isascii():
        if len(term.surface) < 3:
            return (term.surface,)
        kanji = (term.key, term.key[0]) if re.match(r"[一-鿿]", term.key) else ()
        return tuple(dict.fromkeys((term.surface, *kanji, term.surface[:2], term.surface[-2:])))
    british = term.key.replace("or", "our")
    stem = term.key if term.surface.startswith(term.key) else term.surface
    shapes = (stem, term.surface, term.key, british, stem[:5] if len(stem) > 5 else stem)
    return tuple(dict.fromkeys(shapes))


def _phrase(folded: str) -> str:
    if not folded.isascii():
        found = _PHRASE_JA.search(folded)
    else:
        found = _PHRASE_EN.search(folded) or _SUBJECT_EN.search(folded)
    return found["phrase"] if found else ""


def _keys_in(phrase: str, asked: tuple[Asked, ...]) -> frozenset[str]:
    concepts, terms = _parts(phrase)
    keys = {concept.name for concept, _ in concepts} | {term.key for term in terms}
    return frozenset(keys & {part.key for part in asked})


def _head(folded: str, asked: tuple[Asked, ...]) -> str | None:
    kind = (_KIND_EN if folded.isascii() else _KIND_JA).search(folded)
    phrase = kind["kind"] if kind else re.split(" (?:of|for) ", _phrase(folded))[0]
    blanked = without_beings(phrase)
    last: tuple[int, str] | None = None
    for part in asked:
        at = _last_place(part, blanked)
        if at is not None and (last is None or at >= last[0]):
            last = (at, part.key)
    return last[1] if last else None


def _last_place(part: Asked, phrase: str) -> int | None:
    """Where the phrase last speaks of this part."""
    if part.concept:
        pattern = next(concept.asked for concept in CONCEPTS if concept.name == part.key)
        ends = [found.end() for found in pattern.finditer(phrase)]
    else:
        ends = [term.at + len(term.surface) for term in terms_of(phrase) if term.key == part.key]
    return max(ends, default=None)
