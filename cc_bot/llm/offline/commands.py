"""`Remember that …`: how the command is told from talk about remembering, and what is to be kept."""

import re
from dataclasses import dataclass

from cc_bot.domain.phrase import Phrase
from cc_bot.llm.offline.facts import sentences
from cc_bot.llm.offline.fold import fold
from cc_bot.llm.offline.questions import is_question

_PLEASE_JA = (
    r"(?:(?:くれる|もらえる|いただける|くださる)と(?:嬉しい|うれしい|助かる|助かります"
    r"|ありがたい|幸い)(?:です)?|ください|下さい|頂戴|ちょうだい|くれ(?:る|ない|ますか"
    r"|ませんか)?|(?:ほしい|欲しい)(?:(?:の|ん)です(?:けど|が)|んだ(?:けど|が)?|です|な|こと(?:が|は)[^、。\s]{1,5})?"
    r"|(?:いただけ|頂け)(?:ますか|ませんか)|もらえ(?:る|ますか|ませんか)|お願い(?:します)?|おねがい(?:します)?)"
)
_KEEP_JA = (
    r"(?:(?:ちゃんと|しっかり|絶対に?|必ず|これからも|ずっと)\s*)?(?:"
    r"(?:覚え|おぼえ|憶え)(?:て(?:おいて|おき|おい|いて|て)?|と(?:いて|い|け|き)|といて)"
    r"|忘れ(?:ない(?:で|ように(?:して)?)|ずに(?:い(?:て)?)?|んなよ?|るなよ?|んといて)|わすれないで"
    r"|メモっ(?:て(?:おいて)?|といて|とい)"
    r"|(?:メモ|記憶|記録|保存|登録)(?:を)?(?:して(?:おいて|おき)?|し(?:といて|とい)"
    r"|(?:って|と)?(?:おいて|といて)|取って(?:おいて)?|お願い(?:します)?|よろしく)"
    r"|(?:控え|書き留め|書きとめ)て(?:おいて)?"
    r"|(?:メモ|覚え書き)(?=\s*[:：])|(?<=[。、！!\s])メモ(?=\s*[。！!]*$)"
    rf")(?:いて|あげて|やって)?\s*{_PLEASE_JA}?(?:\s*(?:ね|よ|な))*(?:\s*{_PLEASE_JA})?(?:の[はが])?"
)
_COMMAND_JA = Phrase(
    rf"(?P<before>.*?)(?P<command>{_KEEP_JA})(?=\s*[。！!?？、,:：\n～~…→wｗ]"
    r"|\s*$)\s*[。！!?？、,:：～~…→]*\s*(?P<after>.*)",
    re.DOTALL,
)
_LINK_JA = Phrase(
    r"(?:(?:なの|だということ|ということ|っていうこと|ってこと|であること|なこと"
    r"|こと)(?:を|は|も)?|(?:なの|の)(?:を|で)|(?:なん|ん)?(?:だ|です)(?:から|けど|が|って|と)(?:ね|さ)?"
    r"|(?:なの|の)?で|(?:から|けど)(?:ね|さ)?|ので|んで|って|と|を|は|も)?[、,\s]*$"
)
_TWICE_JA = Phrase(
    r"[。、\s]*(?:忘れ(?:ないように|ずに)|ちゃんと|しっかり"
    r"|(?<=。)(?:両方|どちらも|どっちも|全部|ぜんぶ)(?:とも)?を?)[、\s]*$"
)
"""What often stands before the command to strengthen it."""
_REASON_END = Phrase(r"(?:な?んだ|なん|(?<!も)の|な)$")
_ALONE_JA = Phrase(
    r"^(?:じゃあ|では|あと|ねえ|うん|はい|なら)?[、\s]*(?:これ|次の|以下の|それ|あれ|今の"
    r"|さっきの|上の|上記|この|その|以上|全部|直前の|前の)*"
    r"(?:話|こと|内容|発言|件|文|やつ|もの|情報|メッセージ)?(?:の|を|は|も|全部|ちゃんと|、|\s)*$"
)
_ASKS_WHETHER = Phrase(
    r"(?:覚え|おぼえ|憶え)て(?:い?る|い?ます|い?た|くれてる|くれてい)|忘れ(?:た|て)|忘れてない"
)

_COMMAND_EN = Phrase(
    r"(?:(?:can|could|would|will) you |i(?:'d| would) like you to |i (?:want|need) you to "
    r"|you should |you must |(?:make|be) sure (?:that you |you |to )|just so you )?"
    r"(?:please |pls |kindly |just |also )*"
    r"(?:(?:always )?remember(?! (?:when (?:we|you)|the time))|(?:don't|do not|never) forget"
    r"|(?:keep|bear) (?:(?P<inner>this|that|it) )?in mind"
    r"|(?:make|take) (?:a )?note(?: of)?|note(?: down)?(?= that| this|:|,)|memori[sz]e"
    r"|(?:write|jot|note) (?:this|that|it) down|write down|(?:keep|add|save) a (?:\w+ )?note(?: of)?"
    r"|(?:add|save|store|commit|put)(?: (?:this|that|it))? (?:to|in|into) (?:your |the )?(?:memory|notes)"
    r"|(?:here's |here is |let me tell you )?something (?:to|you should) remember(?=:)"
    r"|(?:save|store|record|log)(?= this| that| it|:)"
    r"|for (?:your|the) (?:record|records|information|reference)|for future reference|fyi)"
    r"(?P<tail>(?: (?:this|that|it|both|them|everything|the following|for me|for later|for the future"
    r"|for next time|somewhere|forever|too|as well|please))*)"
)
_START_EN = Phrase(r"^(?:(?:hey|hi|hello|ok|okay|also|and|oh|so|well|now|yes)[,!. ]+)*[\s,!.]*")
_OF_SOMEBODY_EN = Phrase(r"\b(?:i|to|we|they|he|she|you)\s*$")
_MAY_FOLLOW_EN = Phrase(r"[.,;:!?\n-]\s*$|\b(?:so|and|but|please|hey|ok|also)[,\s]*$")
_LINK = 100
"""Characters before a command in which the words that tie it to the fact are looked for."""
_MORE_COMMANDS = 2
"""Beside the first, which people write around one fact."""
_LINK_EN = Phrase(
    r"(?:[,;:.\s-]|\b(?:so|and|but|please|pls|that|which|okay|ok|would you|could you|can you|will you)\b)+$"
)
_LEAD_EN = Phrase(r"^(?:[,;:.!?\s-]|(?:that|please|pls|thanks|thank you|ok|okay)\b)+", re.IGNORECASE)
_THANKS_EN = Phrase(r"[,.!]? (?:thanks|thank you|please|pls|ok|okay)[.!? ]*$", re.IGNORECASE)
_ALONE_EN = Phrase(
    r"^(?:(?:all|of|this|that|it|what|i|just|said|told|you|the|above|last|message|my"
    r"|previous|one|thing|please|for|me|later|too|ok)\b[\s.,!?]*)*$"
)
_TALK_EN = Phrase(
    r"\b(?:can|do) you remember(?: things| stuff| anything)?\s*\??$|\b(?:do|did|what do"
    r"|what did|what else do|what can) you (?:still |even |really )?remember\b"
    r"|\bi (?:can't|cannot|don't|do not|didn't|could not|couldn't"
    r"|never) (?:really )?remember\b"
    r"|\b(?:can|could) you (?:please )?remember (?:what|when|where|who|which|how"
    r"|my)\b(?!.* (?:is|are|was) )[^.]*\?|\bi (?:always |still |will )?remember\b"
)


_BARE_EN = Phrase(r"(?:my|our)(?: (?!is\b|am\b|are\b)[a-z'-]+){1,4}")
_SAYS_EN = Phrase(r"(?:my|our)(?: [a-z-]+){1,2} [a-z]{2,}(?:(?<!s)s|ed) [a-z]", re.IGNORECASE)
"""`my son plays chess`: a verb stands between two nouns."""
_BARE_JA = Phrase(r"(?:私|僕|俺|わたし|ぼく|おれ)の[^はがをにだ、。：:0-9０-９]{1,12}(?<!です)(?<!だ)")


@dataclass(frozen=True, slots=True)
class KeepRequest:
    """A command to remember."""

    content: str
    """What to keep, without the command; empty when the command speaks of what was said before."""


def keep_in(text: str) -> KeepRequest | None:
    """The command to remember in a message; None when there is none."""
    return _keep_en(text) if fold(text).isascii() else _keep_ja(text) or _keep_en(text)


def only_names_a_thing(content: str) -> bool:
    """Whether the content has no fact in it: `my address`, `私の住所`."""
    plain = content.strip(" .!?")
    if _SAYS_EN.match(plain):
        return False
    return bool(_BARE_EN.fullmatch(plain) or _BARE_JA.fullmatch(content.strip(" 。！!？?")))


def statement_of(text: str) -> str:
    """A message as a statement: without questions and without a command to remember."""
    keep = keep_in(text)
    told = keep.content if keep else text
    return " ".join(sentence for sentence in sentences(told) if not is_question(sentence)).strip()


def _keep_ja(text: str) -> KeepRequest | None:
    if _ASKS_WHETHER.search(text):
        return None
    found = _COMMAND_JA.fullmatch(text.strip())
    if not found:
        return None
    before = found["before"]
    if _ALONE_JA.match(before) and (
        not found["after"].strip() or _ALONE_JA.match(found["after"].strip(" 。！!"))
    ):
        return KeepRequest("")
    if _ALONE_JA.match(before):
        return KeepRequest(_tidy(found["after"]))
    after = _tidy(found["after"])
    if after and before.rstrip().endswith("を"):
        return KeepRequest(f"{_unlink(before)}：{after}")
    return KeepRequest(_tidy(f"{_unlink(before)} {after}".strip() if after else _unlink(before)))


def _unlink(before: str) -> str:
    """Without the particle or the `because` that ties a fact to the command."""
    cut = _TWICE_JA.sub("", before).rstrip(" 、,")
    if cut.endswith(("。", "！", "!", "」", ".")):
        return cut
    return _REASON_END.sub("", _LINK_JA.sub("", cut)).strip()


def _keep_en(text: str) -> KeepRequest | None:
    """`FYI the gate is green, remember that`: one command is cut, another may stand behind what is kept."""
    keep = _cut_en(text)
    for _ in range(_MORE_COMMANDS):
        again = _cut_en(keep.content) if keep else None
        if not keep or not again or not again.content or not keep.content.startswith(again.content):
            break
        keep = again
    return keep


def _cut_en(text: str) -> KeepRequest | None:
    """What is to be kept, without the first command."""
    folded = text.replace("’", "'").strip()
    lowered = folded.lower()
    if _TALK_EN.search(lowered):
        return None
    for found in _COMMAND_EN.finditer(lowered):
        before, after = folded[: found.start()], folded[found.end() :]
        near = before[-_LINK:].lower()
        if _OF_SOMEBODY_EN.search(near) and not near.endswith("to you"):
            continue
        if before.strip() and not _may_follow(near, after):
            continue
        fact = (before[:-_LINK] + _LINK_EN.sub("", before[-_LINK:])).strip()
        rest = _LEAD_EN.sub("", after).strip()
        if _ALONE_EN.match(rest.lower()):
            rest = ""
        greeting = _START_EN.fullmatch(f"{fact.lower()} ")
        content = rest if greeting or not fact else f"{_ended(fact)} {rest}" if rest else fact
        return KeepRequest("" if _ALONE_EN.match(content.lower()) else _tidy(_THANKS_EN.sub("", content)))
    return None


def _may_follow(near: str, after: str) -> bool:
    """Whether a command may stand here: at the start of a sentence or after a comma, or at the very end."""
    return bool(_MAY_FOLLOW_EN.search(near)) or not after.strip(" .!?")


def _ended(fact: str) -> str:
    return fact if fact.endswith((".", "!", "?", ":")) else f"{fact}."


def _tidy(content: str) -> str:
    return content.strip(" 　、,：:\n").rstrip("?？ ")
