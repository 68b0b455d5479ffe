"""How people ask to have something remembered, changed or forgotten, and how they say yes to being asked."""

import re
from typing import Final, Literal

Wish = Literal["remember", "change", "forget"]

_REMEMBER: Final = re.compile(
    r"(?:覚え|おぼえ|憶え)(?:て(?![いる]|ない|た)|と[いけ]|続け|といて|ていただ|ていてほ|ること|ていてくだ)"
    r"|忘れ(?:ないで|ず(?:に|覚)|んなよ?|るな(?!ら)|んといて)|わすれないで"
    r"|(?:メモ|記憶|記録|保存|登録|追加)(?:って|を)?"
    r"(?:して|しと|し、|しな|お願い|おねがい|よろしく|取って|残して|[:：]|$)"
    r"|メモ(?:っと|って)|(?:控え|書き留め|書きとめ|残し)て|覚え書き"
    r"|\b(?:remember|memori[sz]e)\b|\b(?:don'?t|do not|never) forget\b|\bin mind\b"
    r"|\bfor (?:future|later) reference\b|\bfyi\b|\bnote (?:that|this|down|it)\b|\bnote:"
    r"|\b(?:make|take|add|keep|save) (?:a |some |this )?(?:mental )?notes?\b"
    r"|\b(?:save|store|record|log|write|jot)\b[^.?!\n]{0,40}?"
    r"\b(?:that|this|it|down|fact|memory|memories|note|my|for me)\b",
    re.IGNORECASE,
)
_ASKS_WHETHER_KNOWN: Final = re.compile(
    r"(?:覚え|おぼえ|憶え)て(?:い?る|い?ます|い?た|くれてる|ない)"
    r"|\b(?:do|did|don't|didn't) you (?:still |even |really )?remember\b"
    r"|\bi (?:do not|don't|can't|cannot|still) remember\b"
    r"|\bwhat (?:else )?(?:do|did|can) you\b[^.?!]{0,20}\bremember\b",
    re.IGNORECASE,
)
_FORGET: Final = re.compile(
    r"忘れ(?:て(?!い?る|い?ます|い?た|ない|しま|も|は|ちゃ)|ろ|といて|ちゃって|てもいい|てほ)"
    r"|(?:消し|けし|削除し|除い|破棄し|取り消し|取消し|抹消し|捨て|クリアし|リセットし)(?:て|と[いけ]|ちゃって|なさい|たい)"
    r"|(?:消去|削除|抹消|破棄|クリア|リセット)(?:を)?(?:お願い|おねがい|よろしく|して|[。！!]|$)"
    r"|なかったことに|消せ(?:[。！!]|$)"
    r"|\b(?:forget|delete|erase|remove|discard|wipe|drop|scrap|clear|get rid of|unlearn)\b",
    re.IGNORECASE,
)
_NOT_FORGET: Final = re.compile(
    r"忘れないで|\b(?:don'?t|do not|never|did i|i (?:always|often|never)?) ?(?:forget|delete|erase)\b",
    re.IGNORECASE,
)
_CHANGE: Final = re.compile(
    r"(?:変え|かえ|直し|なおし|書き換え|書き直し|置き換え|改め)(?:て|と[いけ]|る|た|ます|ました|たい)"
    r"|変更|修正|訂正|更新|上書き|編集|アップデート|変わ(?:り|っ|る)|じゃなく|ではなく|でなく|じゃない"
    r"|間違|まちが|正しくは|実は|やっぱり|もう.{0,20}(?:ない|ません|やめ|辞め)|今は|いまは|現在は|今度は"
    r"|これからは|今日から|先月から|来月から|に(?:なり|なっ|した|しました|します)"
    r"|引っ?越|転職|異動|転校|卒業|退職|結婚|離婚|乗り換え|買い換え|機種変"
    r"|\b(?:chang|updat|correct|edit|replac|rewrit|fix|switch|renam|overwrit|modif)\w*|\bno longer\b"
    r"|\b(?:any ?more|instead|actually|rather|now|moved|wrong|mistake|from now on|as of|used to|not)\b",
    re.IGNORECASE,
)
_KEEP_AS_IT_IS: Final = re.compile(
    r"(?:覚え|変え|変更し|修正し|保存し|更新し|記憶し|メモし)ないで"
    r"|\bdon'?t (?:save|store|remember|change|update)\b",
    re.IGNORECASE,
)

_YES: Final = re.compile(
    r"(?:はい|うん|ええ|そう(?:です|して|だね)?|おけ|オッケー?|オーケー|了解|承知|どうぞ|もちろん|是非|ぜひ|それで"
    r"|お願い(?:します|いたします)?|おねがい(?:します)?|頼む|頼みます|よろしく(?:お願いします)?|いいよ|いいです(?:よ)?"
    r"|ありがとう(?:ございます)?|ok|okay|yes|yeah|yep|yup|sure|please(?: do)?|go ahead|do it|do so|of course"
    r"|certainly|absolutely|right|correct|that's right|sounds good|thanks|thank you|[、,。.!！~〜ーね\s])+",
    re.IGNORECASE,
)
_LONGEST_YES: Final = 30

_ASKS_ABOUT: Final[dict[Wish, re.Pattern[str]]] = {
    "remember": re.compile(
        r"覚え|おぼえ|憶え|メモ|記憶|記録|保存|登録|残し|remember|save|store|note|keep|memor", re.IGNORECASE
    ),
    "change": re.compile(
        r"変え|変更|修正|訂正|更新|直し|書き換え|置き換え|覚え|保存"
        r"|chang|updat|correct|edit|replac|rewrit|remember|save",
        re.IGNORECASE,
    ),
    "forget": re.compile(r"忘れ|消し|消去|削除|取り消|forget|delete|erase|remove|drop|clear", re.IGNORECASE),
}
_SENTENCE: Final = re.compile(r"[^。．.!！?？\n]+[。．.!！?？]*")
_IS_QUESTION: Final = re.compile(r"[?？]|か[。\s]*$")


def wants(wish: Wish, question: str) -> bool:
    """Whether the words of a question ask for it, whatever it is about."""
    match wish:
        case "remember":
            return bool(_REMEMBER.search(_ASKS_WHETHER_KNOWN.sub(" ", question)))
        case "forget":
            return bool(_FORGET.search(_NOT_FORGET.sub(" ", question)))
        case "change":
            return bool(_CHANGE.search(question)) and not _KEEP_AS_IT_IS.search(question)


def says_yes(question: str) -> bool:
    """Whether it is a yes and nothing else: `はい、お願いします`."""
    return len(question) <= _LONGEST_YES and _YES.fullmatch(question.strip()) is not None


def offers(wish: Wish, answer: str) -> bool:
    """Whether the bot asked its user if it should: `覚えておきましょうか？`"""
    return asks(_ASKS_ABOUT[wish], answer)


def asks(about: re.Pattern[str], answer: str) -> bool:
    """Whether a question of the bot's has one of these words."""
    asked = (sentence for sentence in _SENTENCE.findall(answer) if _IS_QUESTION.search(sentence))
    return any(about.search(sentence) for sentence in asked)


def without_wishes(question: str) -> str:
    """What is left of a question without its words for remembering and forgetting."""
    return _FORGET.sub(" ", _REMEMBER.sub(" ", question))
