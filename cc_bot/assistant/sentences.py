"""An answer as sentences that are the bot's own: code and quotations are not what it says. However long an
answer is, the time that this takes only grows with it."""

import re
from typing import Final

LOOKED_AT: Final = 4000
"""Characters at either end of an answer: nobody promises in the middle of a long one."""

# A quotation ends before the next one begins: looking from each mark to the end of the answer for the other
# mark takes the square of its length.
_NOT_SAID: Final = re.compile(
    r"```(?s:.*?)(?:```|\Z)|`[^`\n]*+`|「[^「」]*+」|『[^『』]*+』|“[^“”]*+”|\"[^\"\n]*+\"|^>[^\n]*+",
    re.MULTILINE,
)
# What goes on for longer is looked at piece by piece.
_SENTENCE: Final = re.compile(r"[^。．.!！?？\n]{1,300}+[。．.!！?？]*+")

ASKS: Final = re.compile(r"[?？]|(?:ましょう|ます|ました|ません|しよう|い)か(?:ね|な)?[。．\s]*$")
"""A sentence that asks claims nothing."""
QUOTED_JA: Final = re.compile(r"^[、,]?と(?:書|言|い[うっ]|表示|出|伝|答)")
"""After a claim: then those are somebody's words."""


def sentences(answer: str) -> list[str]:
    """What the bot itself says, sentence by sentence; `…` stands for a quotation."""
    said = _NOT_SAID.sub("…", answer.replace("’", "'"))
    if len(said) > 2 * LOOKED_AT:
        said = f"{said[:LOOKED_AT]}\n{said[-LOOKED_AT:]}"
    return [sentence.strip() for sentence in _SENTENCE.findall(said)]


_ASKED_AT_MOST: Final = 2000
"""Characters of a question that are looked at, from its end."""
# 取り消した？ "Did you cancel it?": the answer may tell of an earlier turn.
_ASKS_BACK: Final = re.compile(
    r"(?:ました|まし(?:たっけ)|した|消え?た|忘れた|くれた|もらえた|覚えた|おぼえた|かけた|入れた|済んだ|った|済み|覚えて(?:い?る|い?ます))"
    r"(?:[?？\s]++|(?:んだっけ|のか|かな|かね|っけ|よね|の|か)++[?？。\s]*+)$"
    r"|\b(?:did|have|has|had|was|were) (?:you|it|that|the|my|all|this|those|they)\b[^?]{0,80}\?"
    r"|\b(?:is|are) (?:it|that|the|my|all|this|those|they)\b"
    r"[^?]{0,60}(?:ed|gone|forgotten|off)\b[^?]{0,60}\?",
    re.IGNORECASE,
)
# 日記を書いて, "translate this": then 予約しました are somebody else's words.
_WANTS_TEXT: Final = re.compile(
    r"(?<!メモに)書いて(?!お|あ)|書き直|訳し|翻訳|和訳|英訳|(?:文|返信|返事|メール|セリフ|台詞|文章|詩)[^。]{0,8}考えて"
    r"|として(?:話|振る舞|演じ)|になりきって|ロールプレイ|添削"
    r"|(?:物語|小説|台本|例文|セリフ)[^。]{0,6}(?:作|考え|ちょうだい|ください|教えて|聞かせ)"
    r"|(?<!to )\b(?:write(?! (?:it|that|this) down)|translate|rewrite|draft|compose|role-?play|pretend"
    r"|act as)\b",
    re.IGNORECASE,
)
_WANTS_DEED: Final = re.compile(
    r"知らせて|リマインド|覚えておいて|覚えと|覚えて(?:ね|[。！!\s]*$)|\bremind me\b"
    r"|(?:^|[.!?]\s)(?:please )?remember\b",
    re.IGNORECASE,
)
_MADE_TEXT: Final = re.compile(r"^\W{0,4}(?:例文|件名|Subject)\W{0,4}[:：]", re.MULTILINE)


def asks_back(question: str) -> bool:
    """Whether somebody wants to know what was done, and does not ask for anything to be done."""
    return _ASKS_BACK.search(question.strip()[-_ASKED_AT_MOST:]) is not None


def says_what_it_did(answer: str, question: str) -> bool:
    """Whether an answer may be taken for what the bot itself has just done: no text that was asked for, and
    nothing about an earlier turn."""
    asked = question[:_ASKED_AT_MOST]
    wanted = _WANTS_TEXT.search(asked) or _MADE_TEXT.search(answer[:LOOKED_AT])
    return not asks_back(question) and (not wanted or _WANTS_DEED.search(asked) is not None)
