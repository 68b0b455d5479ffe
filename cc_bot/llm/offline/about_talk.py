"""Talk that asks for no fact: about the conversation itself, greetings, thanks, requests to go on."""

from enum import Enum, auto

from cc_bot.domain.phrase import Phrase
from cc_bot.llm.offline.fold import fold


class Talk(Enum):
    """What a message is about, when it is not about facts."""

    USER_SAID = auto()
    USER_SAID_FIRST = auto()
    ASSISTANT_SAID = auto()
    EITHER_SAID = auto()
    ALL_KNOWN = auto()
    ABOUT_MODEL = auto()
    CONTINUE = auto()
    FORGET = auto()
    GREETING = auto()
    THANKS = auto()


_PATTERNS: tuple[tuple[Talk, Phrase], ...] = tuple(
    (talk, Phrase(pattern))
    for talk, pattern in (
        (
            Talk.CONTINUE,
            r"^(?:please )?(?:continue|go on|keep going|carry on)(?: please)?[.!]*$"
            r"|^(?:(?:続き|つづき)(?:を)?(?:お願い(?:します)?|書いて(?:ください)?|は)?"
            r"|(?:続けて|つづけて)(?:ください|下さい|ね)?)[。!？?]*$",
        ),
        (
            Talk.ASSISTANT_SAID,
            r"\bwhat (?:did|have|was it) you (?:just |last )?(?:say|said|answer|answered"
            r"|tell|told|reply|replied|write)\b[^,]{0,25}$"
            r"|\b(?:what was|repeat) your (?:last |previous )?(?:answer|reply|message)\b"
            r"|^(?:please )?(?:repeat (?:that|it)|say (?:that|it) again)\b"
            r"|(?:あなた|君|きみ|お前|ボット)(?:は|が|って).{0,8}(?:何|なん)(?:て|と|を)?.{0,6}(?:言|答|返事)"
            r"|(?:さっき|前|直前|今)の(?:答え|回答|返事|返答)|もう(?:一度|一回)(?:言|答え)"
            r"|何(?:て|と)(?:答え|返事)",
        ),
        (
            Talk.USER_SAID_FIRST,
            r"\bwhat (?:did|have) i (?:first )?(?:say|said|ask|asked|tell you|told you|write|wrote)"
            r"(?: to you)?(?: (?:first|at first|at the (?:start|beginning)|in the beginning))[ ?.!]*$"
            r"|\bwhat did i first (?:say|ask|tell you|write)\b[^,]{0,20}$"
            r"|\b(?:what was|repeat) (?:my first|the first) (?:question|message|sentence|statement|thing)"
            r"(?: (?:that )?i (?:said|asked|told you|wrote))?[ ?.!]*$"
            r"|^(?:(?:私|僕|俺|わたし|ぼく|おれ)(?:は|が|って|の)?)?[、\s]*(?:一番|いちばん)?"
            r"(?:最初|はじめ|初め)(?:に|の)?.{0,4}(?:何|なに|なん|言っ|言い|話し|書い|聞い|質問|発言|メッセージ)"
            r"(?!.*(?:は|って)(?:いつ|どこ|だれ|誰)).{0,14}$",
        ),
        (
            Talk.USER_SAID,
            r"\bwhat (?:did|have) i (?:just |last |previously )?(?:say|said|ask|asked|tell"
            r"|told|write|wrote|type|typed)(?: you| to you)?"
            r"(?: (?:just now|before|earlier|last|a moment ago|first|just before))?[ ?.!]*$"
            r"|\b(?:what was|repeat) my (?:last|previous|first) (?:question|message|sentence|statement)\b"
            r"|(?:私|僕|俺|わたし|ぼく|おれ)(?:は|が|って|[、\s]*(?=さっき|今|いま|前)).{0,10}"
            r"(?:何|なん)(?:て|と|を|の).{0,3}(?:言|話|聞|書|質問|訊)"
            r"|(?:さっき|直前に?|今)(?:私|僕|俺)?(?:が|の)?(?:言|話し|書い)(?:った|た)(?:こと|の|話|内容)(?:は|って|を)"
            r"|(?:さっき|前に?|直前に?|今|最初に?).{0,4}(?:何|なに|なん)(?:て|と|を).{0,2}(?:聞|質問|訊|尋)"
            r"|(?:さっき|前|直前|最初)の(?:質問|発言|私の)",
        ),
        (
            Talk.EITHER_SAID,
            r"^(?:ねえ|あれ|え)?[、\s]*(?:(?:さっき|先ほど|いま|今|直前に?|前に?"
            r"|最初に?)[、\s]*)(?:は)?(?:何|なに|なん)(?:て|と|を|って).{0,3}(?:言|いっ|話"
            r"|おっしゃ).{0,12}$"
            r"|^(?:何|なん)(?:て|と)(?:言|いっ).{0,10}$|^(?:さっき|先ほど|直前)の(?:話|会話)"
            r"|\bwhat (?:was|were) (?:just )?(?:said|we talking about)\b"
            r"|\bwhat did we (?:just )?(?:talk|say)",
        ),
        (
            Talk.ALL_KNOWN,
            r"^(?:so |and )?(?:do|did) you remember(?: that| it| this)?[ ?.!]*$"
            r"|^(?:ちゃんと|まだ|それ|これ)*[、を]*覚えて(?:い?る|い?ます|くれてる)(?:か"
            r"|よね|の)*[?？!！。]*$"
            r"|\bwhat (?:do|else do|all do) you (?:know|remember)(?: about me"
            r"| of me)?[ ?.!]*$|\b(?:list|show)(?: me)? (?:my|all|your"
            r"|the) (?:\w+ )?(?:memories|notes|facts)\b"
            r"|\bwhat have i told you(?: about me| about myself| so far)?[ ?.!]*$"
            r"|\btell me (?:what you (?:know|remember)|everything you know|about myself)"
            r"|^(?:私|僕|俺|わたし)(?:の|に(?:つ|関)|については?|のこと).{0,12}(?:何|なに"
            r"|どんなこと)?を?.{0,3}(?:知って|覚えて).{0,8}$"
            r"|^(?:覚えていること|メモリ|メモ)?を?(?:全部|ぜんぶ|すべて|一覧で?)(?:教えて|見せて)(?:ください)?[。！!]*$"
            r"|(?:何|なに)を?(?:覚え|おぼえ|知っ)て(?:い?る|い?ます|くれ)|覚えて(?:い?る)(?:こと|もの|内容)",
        ),
        (
            Talk.FORGET,
            r"^(?:please |can you |could you )*(?:forget|delete|erase|remove)\b(?!.*\?$)"
            r"|(?:忘れて(?:ください|下さい|ほしい|いい|くれ)?|消して(?:ください)?"
            r"|削除して(?:ください)?)[。！!]*$",
        ),
        (
            Talk.ABOUT_MODEL,
            r"\b(?:who|what) are you\b|\bcan you remember(?: things| stuff"
            r"| anything)?\s*\??$|\bwhat can you do\b|\bwhat(?:'s| is| are) your (?!memor)"
            r"|\bhow (?:do i use|do you work)|^help[ !?.]*$|\bare you (?:an? )?(?:ai|bot"
            r"|human|real|gpt|chatgpt|model|offline)"
            r"|(?:あなた|君|きみ|お前|ボット|bot)(?:の|は|って).{0,10}(?:誰|だれ|何者|何が"
            r"|なに|何|名前|ai|人間)|何ができ|できること|使い方|^ヘルプ",
        ),
        (
            Talk.THANKS,
            r"^(?:ok(?:ay)?[,. ]*|great[,.! ]*|perfect[,.! ]*)*(?:thank you|thanks|thx"
            r"|cheers|ta)\b[^?]{0,25}$"
            r"|^(?:どうも|ほんとに|本当に)?[、\s]*(?:ありがと|サンキュ|助かっ|感謝)[^?？]{0,15}$",
        ),
        (
            Talk.GREETING,
            r"^(?:hi|hello|hey|yo|good (?:morning|afternoon|evening|night)|bye|goodbye"
            r"|greetings)(?: there| all| bot| everyone)?[ !.,?:)]*(?:how are you)?[ !.?]*$"
            r"|^(?:こんにち[はわ]|こんばん[はわ]|おはよう(?:ございます)?|やあ|やっほー"
            r"|はじめまして|どうも|もしもし|ハロー|おやすみ(?:なさい)?"
            r"|よろしく(?:お願いします)?|さようなら|またね)[。！!\s、ー~〜]*$",
        ),
    )
)


def talk_in(text: str) -> Talk | None:
    """What kind of talk a message is; None when it states or asks a fact."""
    folded = fold(text).strip()
    return next((talk for talk, pattern in _PATTERNS if pattern.search(folded)), None)
