"""How a fact is said back to the person who told it.

Turned into the second person where that is safe; quoted otherwise. A quotation can't be wrong.
"""

import re

from cc_bot.domain.phrase import Phrase
from cc_bot.llm.offline.facts import Fact, topic_of
from cc_bot.llm.offline.fold import fold, speaks_japanese
from cc_bot.llm.offline.matching import Match
from cc_bot.llm.offline.questions import Question
from cc_bot.llm.offline.terms import likeness, terms_of
from cc_bot.llm.offline.texts import OfflineTexts

_SECOND_PERSON = {
    "i": "you",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
    "i'm": "you're",
    "i've": "you've",
    "i'd": "you'd",
    "i'll": "you'll",
    "we": "you",
    "we're": "you're",
    "we've": "you've",
    "us": "you",
    "our": "your",
    "ours": "yours",
}
_I_BE = Phrase(
    r"\b(?:I|we)(?: (?:also|always|still|just|never|often|only|now|[a-z]+ly))? (?:am|was)(?:n't)?\b"
    r"|\b(?:am|was) I\b",
    re.IGNORECASE,
)
_WORD = Phrase(r"[A-Za-z]+(?:'[A-Za-z]+)?")
_SPEAKS_TO_ME = Phrase(r"\b(?:you|your|yours)\b|^(?:call|note|look|tell)\b", re.IGNORECASE)
_NOT_A_PERSON = Phrase(r"\bUS\b|\b(?!and |but |or |when |if |that |so )[a-z]+ I(?=[.,]|$| (?:and|is|was)\b)")
"""`US size 9`, `type I`: a country and a numeral, not `us` and `I`."""
_AROUND = Phrase(
    r"^(?:(?:just so you know|by the way|btw|fyi|well|so|oh|ok|okay|hey|hi|sorry|no|also|and|actually"
    r"|correction|update|oops|wait)\b[,:.! ]+)+"
    r"|[, ]+(?:btw|by the way)$",
    re.IGNORECASE,
)
_ENDING_JA = Phrase(
    r"(?:です|だ|である|でした|だった|なの|なん(?:です|だ)|といいます|と言います|と申します|という"
    r"|って(?:いう|言う)(?:んです|んだ)?)?"
    r"(?:よね|よ|ね|な|さ|けど|から|ので)*(?:[。．！\s]|(?<=[ぁ-ゖァ-ヺ一-鿿ー])[.!])*$"
)
_LEAD_JA = Phrase(
    r"^(?:(?:やっぱり|やはり)[、。\s]*"
    r"|(?:やっぱ|訂正|間違え(?:た|ました)|違った|実は|ちなみに|あと|あっ?|えっと|ねえ)[、。：:\s]+"
    r"|(?:私|僕|俺|わたし|ぼく|おれ)(?:は(?!い)|、)\s*)+(?=.)"
)
_TONE_JA = Phrase(
    r"(?:(?<=[一-鿿ァ-ヺーA-Za-z0-9])なん(?:だ|です)|(?<=[てでたるい])(?:ん|の)です)?(?:よね|よ|ね|なあ)?$"
)
_BARE = Phrase(r"[^ぁ-ゖ。、]$|(?:くん|ちゃん|さん|さま)$")
_ENDS_IN_COPULA = Phrase(
    r"(?:です|だ|でした|だった|である|なの|なんです|なんだ|といいます|と言います"
    r"|と申します|という)(?:よね|よ|ね|な|さ|けど|から|ので)*(?:[。．！\s]|(?<=[ぁ-ゖァ-ヺ一-鿿ー])[.!])*$"
)


def answer(match: Match, question: Question, words: OfflineTexts) -> str:
    """The sentence that answers a question with a fact."""
    fact = match.fact
    quoted = _quote(fact.text)
    if not match.sure:
        return words.near.format(fact=quoted)
    if speaks_japanese(question.text):
        value = _value(fact, question)
        if value is not None:
            return words.value.format(value=value)
    else:
        turned = second_person(fact.text)
        if turned is not None:
            return turned if turned.endswith("!") else words.value.format(value=turned)
    return (words.from_memory if fact.remembered else words.from_conversation).format(fact=quoted)


def _quote(text: str) -> str:
    """The fact without what only belongs to the moment of telling: `やっぱり…だよね`."""
    plain = _without_mark(text.strip().rstrip("。！"))
    if not speaks_japanese(plain):
        return plain
    return _TONE_JA.sub("", _LEAD_JA.sub("", plain)) or plain


def _without_mark(text: str) -> str:
    """Without a closing `!`, unless it may belong to the last word: a password, the name of a band."""
    last = text.rsplit(maxsplit=1)[-1] if text.split() else ""
    belongs = last.isascii() and not last.rstrip("!").islower()
    return text if belongs else text.rstrip("!")


def second_person(text: str) -> str | None:
    """`My cat is …` as `Your cat is …`, without a full stop; None where turning it is not safe."""
    plain = _AROUND.sub("", _without_mark(text.strip().replace("’", "'").rstrip(".")))
    unsafe = _SPEAKS_TO_ME.search(plain) or _NOT_A_PERSON.search(plain) or re.search('["“”]', plain)
    if unsafe or speaks_japanese(plain) or len(plain) > 200:
        return None
    agreed = _I_BE.sub(lambda found: _agree(found.group()), plain)
    turned = _WORD.sub(lambda word: _SECOND_PERSON.get(word.group().lower(), word.group()), agreed)
    polite = re.sub(r"^Your ([a-z]+) and you\b", r"you and your \1", turned, flags=re.IGNORECASE)
    return polite[:1].upper() + polite[1:]


def _agree(pair: str) -> str:
    """`I was` as `I were`, which becomes `you were`."""
    return re.sub(r"\bwas", "were", re.sub(r"\bam\b", "are", pair, flags=re.IGNORECASE), flags=re.IGNORECASE)


def _value(fact: Fact, question: Question) -> str | None:
    """Y of `X は Y` when the question asks for X and Y is a noun; None otherwise."""
    topic = fact.topic or topic_of(fact.text)
    if fact.beings and not question.beings:
        return None  # the bare value would not say whose it is
    if topic is None or not speaks_japanese(fact.text) or len(topic.said) > 60:
        return None
    said_keys = terms_of(topic.said)
    subject = fold(topic.subject)
    for part in question.asked:
        if part.concept:
            continue
        if any(likeness(part.key, term.key) >= 0.9 for term in said_keys):
            return None
        if not any(likeness(part.key, term.key) >= 0.4 for term in terms_of(subject)):
            return None
    value = _ENDING_JA.sub("", topic.said).strip()
    nominal = bool(_ENDS_IN_COPULA.search(topic.said)) or bool(_BARE.search(value))
    unfit = re.search(r"[。？?]|(?:ん|じゃ|では)ない|(?:が|も|を|に)$", value)
    return value if value and nominal and not unfit else None
