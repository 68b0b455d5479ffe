"""The claims of an answer, what it says that it did or will do, read from its words: promises to remember and
to remind, and that something was forgotten or cancelled.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from cc_bot.domain.message import Message, ToolCall

# ---- sentences -----------------------------------------------------------------------------------------
# An answer as sentences that are the bot's own: code and quotations are not what it says. However long an
# answer is, the time that this takes only grows with it.


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
    """Split what the bot itself says into sentences; `…` stands for a quotation."""
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
    """Return whether somebody wants to know what was done, and does not ask for anything to be done."""
    return _ASKS_BACK.search(question.strip()[-_ASKED_AT_MOST:]) is not None


def says_what_it_did(answer: str, question: str) -> bool:
    """Return whether an answer may be taken for what the bot itself has just done: no text that was asked
    for, and nothing about an earlier turn."""
    asked = question[:_ASKED_AT_MOST]
    wanted = _WANTS_TEXT.search(asked) or _MADE_TEXT.search(answer[:LOOKED_AT])
    return not asks_back(question) and (not wanted or _WANTS_DEED.search(asked) is not None)


# ---- promises --------------------------------------------------------------------------------------------
# Whether an answer promises to remember something, or to remind of it, or says that it was done.
#
# Models say so without doing it, and their user would count on it. So this list of words stays where all the
# others went: nothing is allowed or refused by it. Where it finds a promise and nothing was kept, the model
# is asked once more to keep what it promised, under the rules of every call (tools/registry.py); if it does
# not, the user is told. A promise that it does not know costs that notice, and one that it finds wrongly a
# request.
#
# Each sentence is looked at by itself: questions, offers and what others said promise nothing.

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
    """Return whether somebody who reads the answer will count on being told at a time."""
    return any(_makes(sentence, _REMIND_JA, _REMIND_EN) for sentence in sentences(answer))


def promises_to_remember(answer: str) -> bool:
    """Return whether somebody who reads the answer will count on its being remembered."""
    return any(_makes(sentence, _PROMISE_JA, _PROMISE_EN) for sentence in sentences(answer))


def _makes(sentence: str, japanese: re.Pattern[str], english: re.Pattern[str]) -> bool:
    """Return whether a sentence makes a promise of these forms."""
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


# ---- removals ------------------------------------------------------------------------------------------
# What an answer may say was removed, and how its sentences are read for that.


Kind = Literal["memory", "reminder"]

NEAR: Final = 40
"""Characters between what was removed and the word that says so, at most."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The subject of a turn."""

    about: frozenset[Kind] = frozenset()
    removal: bool = False
    """Whether something is to be removed, whatever it is."""
    asks_back: bool = False
    """Whether somebody wants to know what was done, and does not ask for anything to be done."""


@dataclass(frozen=True, slots=True)
class Claims:
    """The removals that an answer, or a sentence of it, claims."""

    named: frozenset[Kind] = frozenset()
    unsure: frozenset[Kind] = frozenset()
    """By words that often mean something else: タイマー may be one of a program."""
    unnamed: bool = False
    """Whether it says so of something that it does not name."""

    def untrue(self, removed: Collection[str], wish: Wish) -> frozenset[Kind]:
        """The kinds of which nothing was removed after all. What is not named may be whatever was,
        and やめました anything where nothing is to be removed."""
        if wish.asks_back:
            return frozenset()
        claimed = self.named | (self.unsure if wish.removal else self.unsure & wish.about)
        if self.unnamed and wish.removal and not removed:
            claimed |= wish.about
        return claimed.difference(removed)


def claims_of(found: Collection[str], *, unnamed: bool) -> Claims:
    """Read what the groups of a pattern that were found mean."""
    kinds: tuple[Kind, ...] = ("memory", "reminder")
    return Claims(
        frozenset(kind for kind in kinds if kind in found),
        frozenset(kind for kind in kinds if f"maybe_{kind}" in found),
        unnamed,
    )


def last_named(names: re.Pattern[str], before: str, beside: Callable[[bool, str], bool]) -> frozenset[str]:
    """The groups that stand before a verb as what was removed: the last one, and those that are named in one
    breath with it. `beside` is told whether it is the last one, and what follows it."""
    found = list(names.finditer(before))
    if not found or not beside(True, before[found[-1].end() :]):
        return frozenset()
    return frozenset(
        match.lastgroup or "" for match in found if match is found[-1] or beside(False, before[match.end() :])
    )


# ---- removals ja ---------------------------------------------------------------------------------------
# What a Japanese sentence says was removed.


_MEMORIES: Final = frozenset({"memory", "maybe_memory"})

_DID: Final = (
    r"(?:(?:て(?:おき|しまい|あげ)?|とき)?ました(?!ら|か|っけ|よ?ね|場合|際|とき|時|の[はがでに])"
    r"|(?:た|ておいた|といた)(?:よ(?!ね)|ぞ|から)|て(?:おきます|おくね|おくよ)|とき(?:ます)|とくね|とくよ"
    r"|(?:済|ず)みです)"
)
_REMOVED: Final = re.compile(
    r"(?:(?:削除|消去|取消|キャンセル|解除|破棄|抹消|クリア|リセット)(?:を|が)?(?:完了)?(?:(?:いた|致)?し|され|させていただき)"
    r"|(?:取り?消|取りけ|消|けし)(?:しを)?(?:(?:いた)?し|え|され|させていただき)|取り(?:除き|下げ|やめ)|(?P<forgot>忘れ(?:させていただき|ることにし)?)"
    r"|(?P<stopped>(?:停止|中止|オフに)(?:いた)?し|止め|とめ|やめ))"
    rf"{_DID}"
    r"|(?:削除|消去|取り?消し|キャンセル|解除)(?:が|は)?(?:完了(?:です|しました|いたしました)|済みです|となりました)"
    r"|(?:削除し|消去し|取り?消し|キャンセルし|解除し)て?、(?=[^。]{0,40}ました)"
    r"|(?P<silent>(?:もう|これ以上|今後は?|二度と)、?[^。、]{0,12}?(?:お知らせ|通知|リマインド)(?:は)?(?:し|いたし)ません"
    r"|(?:お知らせ|リマインダー|通知)は、?もう(?:届|来|鳴)[^。、]{0,3}(?:ません|ないよ))"
)
_NAMED_JA: Final = re.compile(
    r"(?P<memory>(?:記憶|メモリー?)(?=から)|覚え(?:てい?た|ておいた|た|てい?る)(?:こと|内容|情報|もの))"
    r"|(?P<reminder>リマインダー|リマインド|お知らせ)|(?P<maybe_memory>記憶|メモリー?|(?:という|との|についての)(?:メモ|情報|記録))"
    r"|(?P<maybe_reminder>アラーム|通知|タイマー|スケジュール|(?<![のと])予定|[時分日朝昼晩夜後]の予定"
    r"|(?<![のルン店席室])予約|(?:[時分日朝昼晩夜後]|お知らせ|通知)の予約)"
)
_BESIDE: Final = re.compile(
    r"^(?:[^をがは。、]{0,12}?(?:と|や|、|・|および|及び|も)(?!い|の|し)"
    r"|を[^。、]{0,6}?(?:削除し|消し|消去し|取り?消し|忘れ|キャンセルし)(?:て)?[、,])"
)
"""After what was removed together with what is named next."""
_ALWAYS: Final = (
    r"(?:すべて|全て|全部|ぜんぶ|両方|完全に|きれいに|綺麗に|きれいさっぱり|さっぱり|すっかり|無事に?|正常に|確かに|確実に|しっかり"
    r"|たった今|ただいま|今|いま|もう|ちゃんと|きちんと|さっそく|早速|いったん|まとめて|ご希望どおり|ご依頼どおり"
    r"|ご希望通り|ご依頼通り|[0-9０-９]++件(?:とも)?|ひとつ|一つ|[、,，\s*_~＊])"
)
_UNNAMED_JA: Final = re.compile(
    r"(?:^|[、,，])[^\w…]{0,8}"
    r"(?:(?:はい|ええ|うん|了解|承知|かしこまりました|わかりました|分かりました|OK|もちろん|では|それでは|です|しました)"
    rf"[、,，\s]{{0,4}}){{0,6}}{_ALWAYS}{{0,8}}+$"
    r"|(?:…|メモ|情報|好み|誕生日|名前|内容|こと|件|話|データ|項目|事実|プロフィール|登録|記録|それ|これ|そちら|こちら"
    r"|住所|電話番号|アドレス|年齢|職業|仕事|趣味|家族|アレルギー|出身|好物|それら|これら|もの|分|やつ|(?<![0-9０-９])[0-9０-９]++(?:番|つ|個)?)"
    rf"(?:[（(][^（()）]{{0,30}}[）)])?(?:について|に関して)?(?:を|は|も)?{_ALWAYS}{{0,8}}+$"
)
_FORGOTTEN_JA: Final = re.compile(
    r"(?:(?:その|この|あの|あなたの|お客様の|という|との|の|た|な)(?:こと|件|情報|内容|話|お話|名前|好み|誕生日)"
    rf"|それ|…)(?:について|に関して)?(?:は|を|も)?{_ALWAYS}{{0,8}}+$"
)
_AS_FOR_THAT: Final = re.compile(rf"は{_ALWAYS}{{0,8}}+$")
"""Before 忘れました: 会社の住所は says what was to be forgotten, 傘を what was left behind."""
_TOLD: Final = re.compile(rf"{QUOTED_JA.pattern}|^[、,]?と[^。、]{{0,8}}(?:発表|説明|述べ|話|連絡)")
_EARLIER_JA: Final = re.compile(
    r"(?:先ほど|先程|さきほど|さっき|以前|(?<![名午])前に|先日|前回|昨日|きのう|おととい|今朝|昨夜|ゆうべ|先週|先月"
    r"|すでに|既に|これまで|過去)"
    r"(?!の|[^、。]{0,16}?た[ぁ-んァ-ヶ一-龠…]|[^、。]{0,16}?ていた)"
    r"|(?:お伝え|お話|申し上げ)[^、。]{0,8}?(?:とおり|通り|ように)"
)
"""さっきのお知らせ and 先ほど設定したお知らせ are those that are removed now."""
_BY_NOW: Final = re.compile(r"もう(?!一度)[^。、]{0,6}$")
"""Before whatever but 忘れました: もう取り消しました tells of an earlier turn."""
_SOMEBODY: Final = re.compile(
    r"(?:彼|彼女|あなた|あなた方|君|みんな|皆|皆さん|子ども|子供|人々|母|父|兄|姉|弟|妹|祖母|祖父|夫|妻|友人|友達|先生|上司"
    r"|部長|社員|店員|運営|管理者|開発者|ユーザー|誰か|誰も|相手|犯人|主人公|店|会社"
    r"|[ぁ-んァ-ヶ一-龠A-Za-z]{1,8}(?:さん|さま|様|くん|ちゃん|氏|社|者|たち))(?:は|が|も|に)"
    r"(?![^。]{0,100}(?:という|との|こと|情報|記憶|メモ|好み|件))"
)
_SORRY_JA: Final = re.compile(r"すみません|ごめん|申し訳|失礼|うっかり|残念|つい(?!て)|ど忘れ")
_CONDITION: Final = re.compile(
    r"(?:れば|たら|なら|場合|ときは|際は|時は|ると(?!い|の|き)|ても|と(?:言|い)って)[^。]*$"
)


def claims_ja(sentence: str) -> Claims:
    """Read what a sentence says in Japanese."""
    found: set[str] = set()
    unnamed = False
    for match in _REMOVED.finditer(sentence):
        before = sentence[: match.start()]
        forgot = match["forgot"] is not None
        if (
            _TOLD.search(sentence[match.end() :])
            or any(words.search(before) for words in (_EARLIER_JA, _CONDITION, _SOMEBODY))
            or (_SORRY_JA.search(sentence) if forgot else _BY_NOW.search(before))
        ):
            continue
        named = last_named(_NAMED_JA, before, _beside_ja)
        if match["silent"]:
            found.add("reminder")
        elif forgot and (named & _MEMORIES or _FORGOTTEN_JA.search(before)):
            found.add("maybe_memory")
        elif match["stopped"] and named:
            found |= named - _MEMORIES
        elif named and not forgot:
            found |= named
        elif not named and forgot and _AS_FOR_THAT.search(before):
            unnamed = True
        elif not named:
            unnamed = unnamed or _UNNAMED_JA.search(before) is not None
    return claims_of(found, unnamed=unnamed)


def _beside_ja(first: bool, after: str) -> bool:
    if first:
        return len(after) <= NEAR and after.count("を") < 2 and not after.startswith("が")
    return _BESIDE.search(after) is not None


# ---- removals en ---------------------------------------------------------------------------------------
# What an English sentence says was removed.


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
_NAMED_EN: Final = re.compile(
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
_UNNAMED_EN: Final = re.compile(
    r"^\s*(?:(?:(?:all|both|each)(?: of)? )?(?:it|that|this|them|those|these|everything|all|both|…)"
    rf"|(?:(?:the|your|that|this|those|these|my|all|about) )+(?:[\w'-]+ ){{0,3}}?{_THAT}|{_THAT})"
    r"(?: (?:number )?#?\d+)?(?:[*_~]*\s*(?:$|[.,!;:()—–-])"
    r"|\s+(?:and|for|from|now|as|too|about|that|of|you|successfully|completely)\b|\W*$)"
    r"|^\W*$",
    re.IGNORECASE,
)
_FORGOTTEN_EN: Final = re.compile(
    r"^\s*(?:(?:about )?(?:that|it|this|them|those|these|everything|all|your)\b|what you"
    r"|the (?:fact|note|memory|info))",
    re.IGNORECASE,
)
_SUBJECT: Final = re.compile(
    rf"(?:\b(?:it|that|this|they|those|these|everything|all|both)|…|\b{_THAT})[*_~]*\s*$", re.IGNORECASE
)
_ALSO: Final = re.compile(r"^[^.,;]{0,30}?(?:,? and|,| plus| as well as| &) ", re.IGNORECASE)
_EARLIER_EN: Final = re.compile(
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
_SORRY_EN: Final = re.compile(r"\b(?:sorry|afraid|apolog\w+|oops|unfortunately)\b", re.IGNORECASE)
_BY: Final = re.compile(
    r"^\W*(?:by|because|in case|only)\b|^[^.,;]*\b(?:when|once|unless|automatically|if)\b", re.I
)


def claims_en(sentence: str) -> Claims:
    """Read what a sentence says in English."""
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
            if _FORGOTTEN_EN.search(after) and not _SORRY_EN.search(said):
                found.add("maybe_memory")
        elif named:
            found |= named
        else:
            unnamed = unnamed or _UNNAMED_EN.search(after) is not None
    for match in _PASSIVE.finditer(said):
        subject = said[: match.start()]
        if _NO.search(subject) or _NO.search(match[0]) or _BY.search(said[match.end() :]):
            continue
        after = said[match.end() :]
        named = last_named(_NAMED_EN, said[: match.end()], _beside_en)
        if named := named or (_named_after(after) if _FROM.search(after) else frozenset()):
            found |= named
        else:
            unnamed = unnamed or _SUBJECT.search(subject) is not None
    return claims_of(found, unnamed=unnamed)


def _beside_en(first: bool, after: str) -> bool:
    return len(after) <= 2 * NEAR if first else _ALSO.search(after) is not None


def _named_after(after: str) -> frozenset[str]:
    """Find what was removed, behind the verb: the first, and what is named in one breath with it."""
    named: set[str] = set()
    end = 0
    for match in _NAMED_EN.finditer(after):
        if not (_ALSO.search(after[end : match.end()]) if named else match.start() <= 2 * NEAR):
            break
        named.add(match.lastgroup or "")
        end = match.end()
    return frozenset(named)


def _said_earlier(sentence: str) -> bool:
    """`the reminder I set earlier` is one that is removed now."""
    found = _EARLIER_EN.search(sentence)
    return found is not None and not _SET_EARLIER.search(sentence[: found.end()].rsplit(" ", 1)[0])


# ---- removal claims ------------------------------------------------------------------------------------
# Whether an answer says that a memory was forgotten, or a reminder cancelled, although nothing was.
#
# As with promises (rounds.py) nothing is allowed or refused by these words: where a claim is not true, its
# user is told. A false alarm tells somebody who reads a story, or has their code mended, that nothing was
# deleted. So what can be anything ("Removed!") counts only where the turn is about a memory or a reminder,
# and 記憶を消しました, which magicians do too, where something is to be removed at all. What is said to have
# been done before is no claim about this turn.


_REMOVES: Final[dict[str, Kind]] = {
    "forget": "memory",
    "update_memory": "memory",
    "cancel_schedule": "reminder",
}
_LOOKS_AT: Final[dict[str, Kind]] = {**_REMOVES, "list_memories": "memory", "list_schedules": "reminder"}
"""Tools whose use shows what a turn is about."""
_SUPERSEDES: Final = re.compile(r'"supersedes"\s*:\s*"?[1-9]')
_WISHES_AT_MOST: Final = 2000
"""Characters of a question that are looked at: the wish stands at its beginning."""

_ABOUT: Final[dict[Kind, re.Pattern[str]]] = {
    "memory": re.compile(
        r"忘れ(?:て|ろ|とい|ちゃ|る|ません)|わすれて|記憶|メモ|覚え|おぼえ|プロフィール"
        r"|\b(?:forget|forgot(?:ten)?|memor(?:y|ies)|remember(?:ed)?|notes?)\b",
        re.IGNORECASE,
    ),
    "reminder": re.compile(
        r"リマイン|お知らせ|通知|知らせ|アラーム|タイマー|予約|予定|スケジュール"
        r"|\b(?:remind(?:ers?|ing)?|alarms?|timers?|notifications?|schedul\w*)\b",
        re.IGNORECASE,
    ),
}
_WISH: Final = re.compile(
    r"消[しせす]|けして|削除|消去|取り?消|取りけ|キャンセル|解除|破棄|やめ|止め|とめて|停止|オフ|忘れ|わすれ"
    r"|なかったこと|クリア|リセット|要らな|いらな|不要|中止"
    r"|\b(?:forget|delet\w+|remov\w+|eras\w+|cancel\w*|clear|wipe|stop|turn off|drop|purge|get rid|discard"
    r"|disable|don't need|no longer)\b",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"コード|関数|変数|処理|ファイル|クラス|メソッド|スクリプト|コンポーネント|リーク|キャッシュ|カード|キャンバス"
    r"|ヒープ|ポインタ|スタック|プロセス|オブジェクト|配列|更新プログラム"
    r"|グラフ|\b(?:code|functions?|variables?|components?|imports?|lines?|leaks?|class|methods?|scripts?|files?"
    r"|handlers?|listeners?|callbacks?|buffers?|cache|cards?|canvas|chart|heap|stack|pointers?|process|scope"
    r"|allocat\w+)\b",
    re.IGNORECASE,
)
"""Talk of programs, and of what is on the canvas."""


def wish_of(question: str, before: str = "") -> Wish:
    """Read what somebody wants; はい and "the second one" mean what the answer `before` has asked."""
    said = question[:_WISHES_AT_MOST]
    last = before.strip()[-NEAR * 5 :]
    if len(said) < NEAR and last.endswith(("?", "？", "か。", "さい。")):
        said = f"{last}\n{said}"
    return Wish(
        frozenset(kind for kind, words in _ABOUT.items() if words.search(said)),
        _WISH.search(said) is not None,
        asks_back(question),
    )


def untrue_removals(
    answer: str,
    calls: Sequence[ToolCall],
    question: str,
    before: Message | None = None,
    *,
    goes_on: bool = False,
) -> frozenset[Kind]:
    """Find what an answer, with its calls, says was removed and was not. `before` is the answer that stood
    there before the question; `goes_on`: what that one removed, this one may tell of."""
    removed = _removed_by(calls)
    if before and goes_on:
        removed |= _removed_by(before.tool_calls)
    wish = wish_of(question, before.content if before else "")
    called = {_LOOKS_AT[call.name] for call in calls if call.name in _LOOKS_AT}
    tried = any(call.name in _REMOVES for call in calls)
    wish = replace(wish, about=wish.about | called, removal=wish.removal or tried)
    return removal_claims(answer).untrue(removed, wish)


def _removed_by(calls: Sequence[ToolCall]) -> frozenset[str]:
    """List what a call removed, or proposed to; a memory that another one takes the place of is gone, too."""
    done = [call for call in calls if call.ok]
    replacing = any(call.name == "remember" and _SUPERSEDES.search(call.arguments) for call in done)
    return frozenset(
        (
            *(_REMOVES[call.name] for call in done if call.name in _REMOVES),
            *(("memory",) if replacing else ()),
            *("canvas" for call in done if call.name.startswith("canvas_")),
        )
    )


def removal_claims(answer: str) -> Claims:
    """Read what an answer says was removed."""
    said = [
        claims
        for sentence in sentences(answer)
        if not (ASKS.search(sentence) or _CODE.search(sentence))
        for claims in (claims_ja(sentence), claims_en(sentence))
    ]
    return Claims(
        frozenset().union(*(claims.named for claims in said)),
        frozenset().union(*(claims.unsure for claims in said)),
        any(claims.unnamed for claims in said),
    )
