"""What people tell about themselves in many words: where they live, what they are called, what they like.

A concept stands in for the words it covers, so that `Where do I live?` finds `I moved to Lima`,
and `私の仕事は？` finds `…で働いています`. Only everyday ground is listed; everything else is matched by
its own words.
`asked` finds the concept in a question, `told` (when it differs) in a fact.
"""

from dataclasses import dataclass

from cc_bot.domain.phrase import Phrase


@dataclass(frozen=True, slots=True)
class Concept:
    name: str
    asked: Phrase
    told: Phrase
    weight: float
    search: tuple[str, ...]
    """Pieces that a memory about it is likely to contain."""
    about_me: bool = False
    """Alone in a question, it asks about the person who asks."""


def _concept(
    name: str, asked: str, told: str = "", *, weight: float = 0.7, search: str, about_me: bool = False
) -> Concept:
    told_pattern = Phrase(f"{asked}|{told}" if told else asked)
    return Concept(name, Phrase(asked), told_pattern, weight, tuple(search.split()), about_me)


CONCEPTS = (
    _concept(
        "work",
        r"\b(?:job|occupation|profession|work|works|working|employer)\b|\bfor a living\b"
        r"|\bwhat (?:do|does)\b.*\bdo\b *\??$|仕事|職業|働|勤め|勤務|職場",
        r"\b(?:employed|career)\b|\b(?:i'm|i am|is) an? [a-z ]*?"
        r"(?:[a-z]{2,}(?:er|or|ist|ian|man|woman)|nurse|chef|cook|vet|pilot|clerk|judge|student|accountant)\b"
        r"|[一-鿿ァ-ヺ](?:師|士|員|官|医|エンジニア|デザイナー|プログラマー?|コンサルタント)"
        r"(?=です|だ|で|を|の|$|、|。|に)|公務員|会社員|学生|勤務|務め|経営",
        search="work job i'm am 働 仕事 勤 職 師 員",
        about_me=True,
    ),
    _concept(
        "living",
        r"\b(?:live|lives|living|lived|reside|resides|home address|address)\b|住|暮らし|住所|引っ越し先",
        r"\bmov(?:ed|ing) to\b|\bhome is\b|\bbased in\b|引っ越|引越|在住|家は|越して",
        search="liv mov address home 住 暮ら 引っ越 在住",
        about_me=True,
    ),
    _concept(
        "school",
        r"出身(?:校|高校|大学|中学校?)|母校|\balma mater\b",
        r"卒業(?:した|の)?(?:高校|大学|中学校?|学校)?|(?:高校|大学|中学校?)(?:に|へ)通|\bgraduated\b",
        search="卒業 出身 母校 通 graduated",
        about_me=True,
    ),
    _concept(
        "origin",
        r"\bwhere\b.*\bfrom\b|\bborn\b|\bhometown\b|\bcome from\b|出身|生まれ|故郷|地元",
        r"\bfrom\b|\bgrew up\b|出身|育ち|育った",
        search="from born grew hometown 出身 生まれ 育",
        about_me=True,
    ),
    _concept(
        "name",
        r"\b(?:names?|named|called)\b|名前|なまえ|氏名|苗字|名字|\bwho am i\b|(?:私|僕|俺"
        r"|わたし)(?:は|って)(?:誰|だれ)",
        r"\bcall me\b|\bi go by\b"
        r"|^(?:はじめまして|初めまして|どうも|こんにちは)[、。!\s]+[^、。は]{1,10}です|と申し|と(?:いい|言い)ま|という名|って(?:いう|言う|いい|言い)(?:んだ|んです|の|ま|$)|と呼ば"
        r"|て呼んで|と呼んで",
        search="name call i'm 名 といいます 申し 呼 はじめまして",
        about_me=True,
    ),
    _concept(
        "age",
        r"\bhow old\b|\bage\b|\byears old\b|何歳|年齢|いくつ|何才|[0-9]+[歳才]",
        r"\b(?:i'm|i am|is|turn(?:s|ed|ing)|are) (?:[0-9]{1,3}|one|two|three|four|five|six"
        r"|seven|eight|nine|ten|eleven"
        r"|twelve|[a-z]*teen|twenty|thirty|forty|fifty|sixty)(?:[ .!-]|$)|二十歳|はたち",
        search="old age years i'm 歳 才",
        about_me=True,
    ),
    _concept(
        "liking",
        r"(?<!would )\b(?:like|likes|liked|love|loves|favou?rites?|prefer|prefers|enjoy"
        r"|enjoys|fan)\b|好き|好み"
        r"|好物|お気に入り|すき(?=な|です|だ|$|？|\?|な)|大好",
        weight=0.6,
        search="like love favo prefer enjoy 好 すき 気に入",
    ),
    _concept(
        "disliking",
        r"\b(?:hate|hates|hated|dislike|dislikes|can't stand|don't like|doesn't like|do not like|detest)\b"
        r"|嫌|苦手|きらい",
        weight=0.9,
        search="hate dislike like stand 嫌 苦手 きらい",
    ),
    _concept(
        "hobby",
        r"\bhobb(?:y|ies)\b|趣味",
        r"\bfree time\b|にはま",
        weight=0.9,
        search="hobby hobbies 趣味 free",
    ),
    _concept(
        "pastime",
        r"\bin (?:my|her|his|their) (?:free|spare) time\b",
        r"\bhobb(?:y|ies)\b|趣味",
        weight=0.9,
        search="hobby hobbies 趣味 free",
    ),
    _concept(
        "place",
        r"\bwhere (?:did|do|does|have|has|had|should) \w+(?: \w+)? "
        r"(?:leave|left|put|keep|kept|store|hide|stash)\b",
        r"\b(?:is|are) (?:in|inside|on|at|under|behind|with|next to)\b"
        r"|\b(?:left|put|keeps?|kept|stored?|hid|stashed)\b",
        weight=0.4,
        search="left put keep in on under",
    ),
    _concept("phone", r"\b(?:phone|mobile|cellphone|telephone)\b|電話|携帯", search="phone mobile 電話 携帯"),
    _concept("mail", r"\be?mail\b|メアド|メール", search="mail メール メアド"),
    _concept(
        "language",
        r"\blanguages?\b|言語|何語",
        r"\bspeak|[一-鿿ァ-ヺ]語",
        search="speak language 語",
    ),
    _concept(
        "color",
        r"\bcolou?rs?\b|何色|(?<![赤青白黒黄緑茶紫銀金桃])色",
        r"\b(?:red|blue|green|yellow|black|white|gr[ae]y|silver|brown|pink|purple|orange|gold)\b"
        r"|[赤青白黒黄緑茶紫銀金](?=い|色|の|で|だ|$|。|、)|ピンク|グレー|オレンジ",
        search="color colour 色",
        weight=0.9,
    ),
    _concept(
        "car",
        r"\b(?:cars?|vehicle)\b|(?<![転電列急馬歯風水])車(?![検庫椅])|くるま|クルマ",
        r"\bdriv(?:e|es|ing)\b",
        weight=0.9,
        search="car driv 車 クルマ",
    ),
    _concept("driving", r"\bdriv(?:e|es|ing)\b|運転", r"\bcars?\b|車", weight=0.5, search="driv car 運転 車"),
    _concept(
        "food",
        r"\b(?:foods?|dish|meal|eat|eats|eating)\b|食べ|料理|たべもの|くだもの|果物",
        weight=0.4,
        search="food eat 食",
    ),
    _concept(
        "instrument",
        r"\binstruments?\b|楽器",
        r"\bplays?\b|弾|ピアノ|ギター|バイオリン|ドラム",
        weight=0.5,
        search="play 弾",
    ),
    _concept("playing", r"\bplays?\b|\bplaying\b", weight=0.5, search="play"),
)
