"""Whether an answer promises to remember something, or to remind of it, or says that it was done.

Models say so without doing it, and their user would count on it. So this list of words stays where all the
others went: nothing is allowed or refused by it. Where it finds a promise and nothing was kept, the model is
asked once more to keep what it promised, under the rules of every call (tools/consent.py); if it does not,
the user is told. A promise that it does not know costs that notice, and one that it finds wrongly a request.

Each sentence is looked at by itself: questions, offers and what others said promise nothing.
"""

import re
from typing import Final

from cc_bot.assistant.sentences import ASKS, QUOTED_JA, sentences

_SOON: Final = r"(?:きます|きますね|くね|くよ|くわ|くから|きますので|いて(?:あります|います|やる))"
_PROMISE_JA: Final = re.compile(
    rf"(?:覚え|おぼえ|憶え)(?:てお{_SOON}|と(?:きます|くね|くよ|く[。！!]|く$)|ました|ます(?:ね|よ)|たよ|たぞ|たから)"
    r"|(?:覚え|おぼえ)ておきました"
    r"|(?:記憶|メモ|書き留め|書きとめ|心に留め|頭に入れ|控え)(?:し|っ)?"
    rf"(?:てお{_SOON}|ておく[。！!]|ときます|とくね|とくよ)"
    r"|(?:記憶|メモ)(?:いた)?(?:し|り|っ)(?:ました|たよ|ときました|ておきました)"
    r"|(?:覚え|おぼえ)(?:ておきま[ー〜~]+す|させていただき(?:ます|ました))|インプット(?:し(?:ました|ておきます)|完了)"
    r"|(?:記憶|心|胸|頭)に刻(?:みました|んでおき(?:ます|ました)|み込みました)"
    r"|(?:保存|記録|登録)(?:し|いたし)(?:ておきます|ておきました|ときます|ときました|ておくね|とくね)"
    r"|^(?:はい|ええ|うん|了解(?:です)?|承知しました|わかりました|OK|[、,\s])*(?:保存|記録|登録)(?:し|いたし)ました(?![^。！!]*と)"
    r"|(?:メモリー?|記憶|メモ)(?:に|へ)[^。]{0,12}?(?:保存|記録|登録|追加|残|入れ)(?:し|いたし)?"
    r"(?:ました|たよ|ます|ておきました|ておきます)"
    r"|(?:好み|情報|誕生日|名前|予定|内容|こと)(?:を|は|として)(?:保存|記録|登録)(?:し|いたし)ました"
    r"|忘れ(?:ません(?!よう|か)|ないようにします|ないよう(?:に)?覚え|ないね|ないよ)"
)
_NO_PROMISE_JA: Final = re.compile(
    r"(?:れば|たら|なら|場合|ときは|際は|時は|と(?:言|い)って|ください|くださ|ほしい|下さい)[^。]*$"
)
"""Before the promise: then it is an offer."""
_NOT_MINE_JA: Final = re.compile(
    r"(?:以前|(?<!名)前に|先日|前回|すでに|既に|これまで)[^。]*$|(?:彼|彼女|あなた|君|みんな|皆|子ども|人々)[はも][^。]*$"
)

_IT_EN: Final = r"(?:that|this|it|your|the|these|those)"
_PROMISE_EN: Final = re.compile(
    r"\bi(?:'ll| will| shall|'m going to)"
    r"(?: definitely| certainly| surely| be sure to| make sure to| try to| always| now)* "
    rf"(?:remember|keep (?:{_IT_EN}\b[^.]{{0,30}}?|in) ?(?:in mind|on file)?|memori[sz]e|note {_IT_EN}|jot"
    rf"|(?:make|take|add) (?:a |an? \w+ )?note|write {_IT_EN} down|(?:save|store|record|log) {_IT_EN}"
    r"|not forget)"
    r"|\bi won't forget\b"
    r"|\bi(?:'ve| have)(?: now| just| also| successfully| already)* "
    r"(?:remembered|memori[sz]ed|noted|made a (?:\w+ )?note|taken (?:a )?note|jotted"
    rf"|written {_IT_EN} down|(?:saved|stored|recorded|logged|added)\b[^.]{{0,60}}?"
    r"\b(?:that|this|it|your|memory|memories|note|notes|them|down))"
    rf"|\bi (?:just )?(?:saved|stored|remembered|noted|recorded) {_IT_EN}\b"
    r"|\b(?:saved|stored|added|committed|recorded)(?: (?:it|that|this))? (?:to|in) (?:my |your |the )?"
    r"(?:long-term )?memor(?:y|ies)\b"
    r"|^\W*(?:(?:ok|okay|got it|sure|alright|all right|great|perfect|thanks)[,!. ]+)*"
    r"(?:noted|remembered|saved|duly noted)\b\W*(?:$|[-:—])"
    r"|\b(?:is|are|has been|have been) now (?:saved|stored|noted|remembered)\b"
    r"|\bi(?:'ve| have)?(?: now| just| also)* updated (?:my|your) (?:memory|memories|notes)\b",
    re.IGNORECASE,
)
_NO_PROMISE_EN: Final = re.compile(
    r"\b(?:if|when|once|whenever|unless|should|would|could|can't|cannot|couldn't|not able|so that|until"
    r"|after you|let me know|want me to)\b",
    re.IGNORECASE,
)
_CONDITION_EN: Final = re.compile(r"^[^.]{0,12}\bif (?:you|that|it)\b", re.IGNORECASE)


_DONE_JA: Final = (
    r"(?:ておき(?:ます|ました)|とき(?:ます|ました)|とく[ねよ]|ました(?!か)|たよ|ますね|いたしました|完了です)"
)
_SET_JA: Final = r"(?:リマインダー|リマインド|アラーム|タイマー|予約)"
_TELLS_JA: Final = r"(?:お知らせ|通知|リマインド|知らせ|声(?:を)?かけ|思い出させ|起こ)"
_REMIND_JA: Final = re.compile(
    rf"{_SET_JA}を?(?:し|いたし|致し){_DONE_JA}"
    rf"|(?:{_SET_JA}|お知らせ|通知|予定|スケジュール|カレンダー)(?:を|に|へ|は|の)?[^。、]{{0,12}}?"
    rf"(?:(?:セット|設定|登録|追加|予約|作成)(?:し|いたし|致し)?|入れ|組み|かけ){_DONE_JA}"
    r"|(?:[時分秒後日朝昼晩夜]|曜|夕方|[0-9０-９])(?:に|頃|ごろ|なったら){0,3}(?:(?!れば|たら|なら)[^。]){0,24}?"
    rf"{_TELLS_JA}(?:し|いたし|致し)?(?:ます|るね|るよ)(?!か)"
)
_ALARM_EN: Final = r"(?:reminder|alarm|timer)s?"
_REMIND_EN: Final = re.compile(
    r"\bi(?:'ll| will| shall|'m going to)(?: definitely| certainly| be sure to| make sure to| also| now)* "
    r"(?:(?:remind|ping|notify|alert|wake|nudge) you"
    rf"|(?:set|schedule|create|add) (?:an?|the|your|that|this)\b[^.]{{0,30}}?\b{_ALARM_EN})\b"
    r"|\bi(?:'ve| have)?(?: now| just| also| successfully| already)* (?:set|scheduled|created|added|put)\b"
    rf"[^.]{{0,40}}?\b(?:{_ALARM_EN}|schedule|calendar)\b"
    rf"|(?<!\bno )(?<!\bany )\b{_ALARM_EN}(?: is| are| has been| have been)?(?: now| all)? "
    r"(?:set|scheduled|created|added)\b",
    re.IGNORECASE,
)


def promises_to_remind(answer: str) -> bool:
    """Whether somebody who reads the answer will count on being told at a time."""
    return any(_makes(sentence, _REMIND_JA, _REMIND_EN) for sentence in sentences(answer))


def promises_to_remember(answer: str) -> bool:
    """Whether somebody who reads the answer will count on its being remembered."""
    return any(_makes(sentence, _PROMISE_JA, _PROMISE_EN) for sentence in sentences(answer))


def _makes(sentence: str, japanese: re.Pattern[str], english: re.Pattern[str]) -> bool:
    """Whether a sentence makes a promise of these forms."""
    if ASKS.search(sentence):
        return False
    for match in japanese.finditer(sentence):
        before = sentence[: match.start()]
        if QUOTED_JA.search(sentence[match.end() :]):
            continue
        if not (_NO_PROMISE_JA.search(before) or _NOT_MINE_JA.search(before)):
            return True
    for match in english.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        if not (_NO_PROMISE_EN.search(before) or _CONDITION_EN.search(after)):
            return True
    return False
