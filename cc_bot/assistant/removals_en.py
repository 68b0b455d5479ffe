"""What an English sentence says was removed."""

import re
from typing import Final

from cc_bot.assistant.removals import NEAR, Claims, claims_of, last_named

_VERB: Final = (
    r"(?:deleted|removed|erased|cleared|wiped|purged|discarded|dropped|cancell?ed|turned off|switched off"
    r"|disabled|called off|unscheduled|gotten rid of|got rid of|scrubbed)"
)
_WELL: Final = (
    r"(?:(?:now|just|also|successfully|completely|permanently|both|all|gone ahead and|went ahead and|then) )*"
)
_GREETING: Final = re.compile(r"^\W*(?:no problem|no worries|not a problem)\b[\s,!:—–-]*", re.IGNORECASE)
_OK: Final = (
    r"^\W*+(?:(?:ok|okay|got it|sure(?: thing)?|alright|all right|great|done|of course|understood"
    r"|yes|certainly|absolutely|perfect|all set)\b\W++)*"
)
_BE: Final = (
    r"(?:(?:has|have) (?:now )?been|(?:is|are)(?: now| all)?|(?:was|were) (?:now |successfully )"
    r"|'s(?: been| now)?)"
)
_ACTIVE: Final = re.compile(
    rf"\bi(?:'ve| have)? ?{_WELL}(?:{_VERB}|stopped)\b"
    rf"|\bi(?:'ve| have) {_WELL}forgotten\b(?P<forgot>)"
    r"|\bi(?:'ll| will) (?:now |just |certainly |gladly )*forget\b(?P<forgets>)"
    r"|\bi (?P<no_longer>no longer) (?:have|remember|know|store)\b"
    rf"|{_OK}(?:i |consider (?:it|that) )?(?:{_VERB}|forgotten)(?! by\b)\b",
    re.IGNORECASE,
)
_PASSIVE: Final = re.compile(
    rf"{_BE} ?(?:now |all |successfully |completely |permanently )*(?:{_VERB}|forgotten|gone|off)\b"
    r"|\b(?:is|are) no longer (?:stored|saved|remembered|kept|active|set|scheduled)\b"
    rf"|{_OK}(?:(?:the|your|that|this|my|all|both) )?(?:[\w:'…-]++ ){{0,5}}?"
    rf"(?:memor(?:y|ies)|notes?|reminders?|alarms?)(?: [^\s,.;]++){{0,4}}? {_VERB}\b",
    re.IGNORECASE,
)
_FROM: Final = re.compile(r"^\W*(?:from|in) ", re.IGNORECASE)
_SILENT: Final = re.compile(
    r"\b(?:i won't|i will not|i'll no longer|i will no longer|i'll stop|you won't be|you will not be"
    r"|you'll no longer be|you will no longer be) (?:remind(?:ing|ed)?|notify(?:ing)?|notified)\b"
    r"(?=[^.]{0,80}\b(?:any ?more|again|about|of)\b|\W*+$)"
    r"|\b(?:reminder|alarm)s? (?:won't|will no longer|will not) (?:go off|fire|ring|be sent|come|run)\b",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"\b(?:(?P<memory>(?:from|in) (?:(?:my|your|the) )?(?:long-term )?memory"
    r"|(?:your|that|this|those) memor(?:y|ies)|(?:what|everything|anything|all) (?:that )?"
    r"(?:i|you)(?:'ve| have)? (?:knew|know|remember|told|said|shared|saved))"
    r"|(?P<reminder>reminders?)|(?P<maybe_memory>memor(?:y|ies)(?! (?:usage|sticks?|lane|limits?|foam)))"
    r"|(?P<maybe_reminder>alarms?|timers?|notifications?|schedules?|scheduled))\b",
    re.IGNORECASE,
)
_THAT: Final = (
    r"(?:notes?|information|info|facts?|details?|preferences?|entry|entries|birthday|name|items?|ones?|records?"
    r"|address|phone number|email|age|job|hobby|hobbies|allergy|data|number \d+|#\d+)"
)
_UNNAMED: Final = re.compile(
    r"^\s*(?:(?:(?:all|both|each)(?: of)? )?(?:it|that|this|them|those|these|everything|all|both|…)"
    rf"|(?:(?:the|your|that|this|those|these|my|all|about) )+(?:[\w'-]+ ){{0,3}}?{_THAT}|{_THAT})"
    r"(?: (?:number )?#?\d+)?(?:[*_~]*\s*(?:$|[.,!;:()—–-])"
    r"|\s+(?:and|for|from|now|as|too|about|that|of|you|successfully|completely)\b|\W*$)"
    r"|^\W*$",
    re.IGNORECASE,
)
_FORGOTTEN: Final = re.compile(
    r"^\s*(?:(?:about )?(?:that|it|this|them|those|these|everything|all|your)\b|what you"
    r"|the (?:fact|note|memory|info))",
    re.IGNORECASE,
)
_SUBJECT: Final = re.compile(
    rf"(?:\b(?:it|that|this|they|those|these|everything|all|both)|…|\b{_THAT})[*_~]*\s*$", re.IGNORECASE
)
_ALSO: Final = re.compile(r"^[^.,;]{0,30}?(?:,? and|,| plus| as well as| &) ", re.IGNORECASE)
_EARLIER: Final = re.compile(
    r"\b(?:already|previously)\b|^\W*(?:earlier|before|yesterday|last \w+|as i (?:said|mentioned))\b"
    r"|\b(?:i|was|were|been|it|that|this|them|one|ones|those|reminders?|alarms?|memory|memories|notes?"
    r"|cancell?ed|deleted|removed)"
    r" (?:earlier|before|yesterday|(?:a|some) (?:moment|minute|while|time|few \w+) ago"
    r"|last \w+|this morning|in (?:our|an|a|the) (?:last|earlier|previous|past) \w+)\W*$",
    re.IGNORECASE,
)
_SET_EARLIER: Final = re.compile(
    r"\b(?:set|saved|made|created|told|asked|mentioned|said|gave|shared|added|scheduled|stored|remembered)\b[^,;]{0,40}$",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"\b(?:no(?! longer)|none|neither|nothing|never|not|if|when|once|whenever|unless|until|should|would"
    r"|could|can|may|might"
    r"|(?:he|she|they|you|people|somebody|someone|who) (?:said|says?|wrote|asked|told|think|thought)"
    r"|whether|make sure|let me know|\w+n't)\b",
    re.IGNORECASE,
)
_SORRY: Final = re.compile(r"\b(?:sorry|afraid|apolog\w+|oops|unfortunately)\b", re.IGNORECASE)
_BY: Final = re.compile(
    r"^\W*(?:by|because|in case|only)\b|^[^.,;]*\b(?:when|once|unless|automatically|if)\b", re.I
)


def claims_en(sentence: str) -> Claims:
    """What a sentence says in English."""
    found: set[str] = set()
    unnamed = False
    said = _GREETING.sub("", sentence)  # "No problem" denies nothing
    if _said_earlier(said):
        return Claims()
    if (silent := _SILENT.search(said)) and not _NO.search(said[: silent.start()]):
        found.add("reminder")
    for match in _ACTIVE.finditer(said):
        after = said[match.end() :]
        if _NO.search(said[: match.start()]):
            continue
        named = _named_after(after)
        if any(match[form] is not None for form in ("forgot", "forgets", "no_longer")):
            if _FORGOTTEN.search(after) and not _SORRY.search(said):
                found.add("maybe_memory")
        elif named:
            found |= named
        else:
            unnamed = unnamed or _UNNAMED.search(after) is not None
    for match in _PASSIVE.finditer(said):
        subject = said[: match.start()]
        if _NO.search(subject) or _NO.search(match[0]) or _BY.search(said[match.end() :]):
            continue
        after = said[match.end() :]
        named = last_named(_NAMED, said[: match.end()], _beside)
        if named := named or (_named_after(after) if _FROM.search(after) else frozenset()):
            found |= named
        else:
            unnamed = unnamed or _SUBJECT.search(subject) is not None
    return claims_of(found, unnamed=unnamed)


def _beside(first: bool, after: str) -> bool:
    return len(after) <= 2 * NEAR if first else _ALSO.search(after) is not None


def _named_after(after: str) -> frozenset[str]:
    """What was removed, behind the verb: the first, and what is named in one breath with it."""
    named: set[str] = set()
    end = 0
    for match in _NAMED.finditer(after):
        if not (_ALSO.search(after[end : match.end()]) if named else match.start() <= 2 * NEAR):
            break
        named.add(match.lastgroup or "")
        end = match.end()
    return frozenset(named)


def _said_earlier(sentence: str) -> bool:
    """`the reminder I set earlier` is one that is removed now."""
    found = _EARLIER.search(sentence)
    return found is not None and not _SET_EARLIER.search(sentence[: found.end()].rsplit(" ", 1)[0])
