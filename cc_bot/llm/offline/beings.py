"""People and animals: whose fact it is.

`Where does my brother live?` must never be answered with where a sister lives, so those that facts are
told about are the one kind of word that has to agree exactly. Each being has a name for both
languages; a kind (a pet, a sibling) is met by each of its members.
"""

import re

from cc_bot.domain.phrase import Phrase

_BEINGS = {
    "elder sister": r"姉|お姉ちゃん|お姉さん",
    "younger sister": r"妹",
    "sister": r"\b(?:sister|sis)s?\b",
    "elder brother": r"兄(?!弟)|お兄ちゃん|お兄さん",
    "younger brother": r"(?<!兄)弟",
    "brother": r"\b(?:brother|bro)s?\b",
    "mother": r"\b(?:mother|mom|mum|mommy|mama)\b|(?<!祖|義)母(?!国|語)|お母さん|ママ",
    "father": r"\b(?:father|dad|daddy|papa)\b|(?<!祖|義)父|お父さん|パパ",
    "grandmother": r"\b(?:grandmother|grandma|granny|nana)\b|祖母|おばあちゃん|お婆さん",
    "grandfather": r"\b(?:grandfather|grandpa|granddad)\b|祖父|おじいちゃん|お爺さん",
    "mother-in-law": r"\bmother ?in ?law\b|義母",
    "father-in-law": r"\bfather ?in ?law\b|義父",
    "wife": r"\bwife\b|妻|嫁|奥さん|家内",
    "husband": r"\bhusband\b|夫(?!婦)|旦那|主人",
    "girlfriend": r"\bgirlfriend\b|彼女",
    "boyfriend": r"\bboyfriend\b|彼氏",
    "fiance": r"\bfianc[eé]e?\b|婚約者",
    "ex": r"\bex\b|元カレ|元カノ",
    "son": r"\bsons?\b|息子",
    "daughter": r"\bdaughters?\b|娘",
    "child": r"\b(?:kids?|child|children|baby)\b|子供|子ども|こども|赤ちゃん",
    "grandchild": r"\bgrand(?:child|children|son|daughter)s?\b|孫",
    "aunt": r"\b(?:aunt|auntie)s?\b|叔母|伯母|おばさん",
    "uncle": r"\buncles?\b|叔父|伯父|おじさん",
    "cousin": r"\bcousins?\b|いとこ|従兄弟|従姉妹",
    "niece": r"\bnieces?\b|姪",
    "nephew": r"\bnephews?\b|甥",
    "sibling": r"\bsiblings?\b|兄弟|きょうだい|姉妹",
    "parent": r"\b(?:parents?|folks)\b|両親|(?<!父|母)親(?!友|戚|切|子)",
    "partner": r"\b(?:partner|spouse)\b|パートナー|配偶者",
    "friend": r"\b(?:friend|buddy|bestie)s?\b|友達|友人|親友|ともだち",
    "boss": r"\b(?:boss|manager|supervisor)\b|上司|課長|部長|店長",
    "colleague": r"\b(?:colleague|coworker|workmate)s?\b|同僚|後輩|先輩",
    "neighbor": r"\b(?:neighbor|neighbour)s?\b|隣人|お隣さん|隣の人",
    "landlord": r"\b(?:landlord|landlady)\b|大家",
    "roommate": r"\b(?:roommate|flatmate|housemate)s?\b|ルームメイト|同居人",
    "teacher": r"\b(?:teacher|tutor|professor|coach)\b|先生|教師|教授|担任|コーチ",
    "cat": r"\b(?:cat|kitten|kitty)s?\b|猫|(?<![ぁ-ゖ])ねこ|ネコ",
    "dog": r"\b(?:dog|puppy|pup)s?\b|犬|(?<![ぁ-ゖ])いぬ|イヌ|わんこ",
    "rabbit": r"\b(?:rabbit|bunny)s?\b|兎|うさぎ|ウサギ",
    "hamster": r"\bhamsters?\b|ハムスター",
    "bird": r"\b(?:parrot|budgie|canary|bird)s?\b|インコ|文鳥|オウム",
    "fish": r"\bgoldfish\b|金魚|熱帯魚",
    "reptile": r"\b(?:turtle|tortoise|snake|lizard|gecko)s?\b|亀|トカゲ",
    "horse": r"\b(?:horse|pony)s?\b",
    "pet": r"\bpets?\b|ペット",
}

_KINDS: dict[str, frozenset[str]] = {
    "sister": frozenset({"elder sister", "younger sister"}),
    "brother": frozenset({"elder brother", "younger brother"}),
    "elder sister": frozenset({"sister"}),
    "younger sister": frozenset({"sister"}),
    "elder brother": frozenset({"brother"}),
    "younger brother": frozenset({"brother"}),
    "sibling": frozenset(
        {"sister", "brother", "elder sister", "younger sister", "elder brother", "younger brother"}
    ),
    "parent": frozenset({"mother", "father"}),
    "child": frozenset({"son", "daughter"}),
    "son": frozenset({"child"}),
    "daughter": frozenset({"child"}),
    "partner": frozenset({"wife", "husband", "girlfriend", "boyfriend", "fiance"}),
    "pet": frozenset({"cat", "dog", "rabbit", "hamster", "bird", "fish", "reptile", "horse"}),
    "cat": frozenset({"pet"}),
    "dog": frozenset({"pet"}),
    "rabbit": frozenset({"pet"}),
    "hamster": frozenset({"pet"}),
}

_PATTERNS = {being: Phrase(pattern) for being, pattern in _BEINGS.items()}
_ANY = "|".join(f"(?:{pattern})" for pattern in _BEINGS.values())
_OWNER = Phrase(
    rf"(?:{_ANY})(?:'s\b|s'|っ子|さん|ちゃん|くん|君)*"
    r"(?:の|は(?!い)|って|が|も|'s|\s+(?:is|are|was|were|has|have|had|does|likes?|loves?"
    r"|hates?|lives?|works?"
    rf"|goes|plays?|speaks?|studies|moved|turned|wants?|needs?|can|will|[a-z]+(?:s|ed))\b)|(?:{_ANY})'s\b"
)
_NAMED = Phrase(
    rf"(?i:{_ANY})(?:,|:| is| are)? (?!I\b)[A-Z][a-z]+|(?:{_ANY})は[^、。は]{{1,8}}(?:さん"
    r"|くん|ちゃん|君)(?=です|だ|$|、|。)"
)
_SELF_NAMED = Phrase(r"^(?:I['’]m|I am) [A-Z][a-z]+(?<!ese)(?<!ish)(?<!ican)(?: [A-Z][a-z]+)*\s*(?:[,.!]|$)")
_INTRODUCED = Phrase(
    rf"(?P<ja>{_ANY})(?:が|も|を)?[^。はがを]{{0,6}}(?:いる|います|いて|飼|でき)"
    rf"|\b(?:have|has|got|adopted|own|married)\b(?: \w+){{0,3}}? (?P<en>{_ANY})"
)
_GOES_ON = Phrase(
    r"^(?:he|she|it|his|her|its|they|their)\b|^(?!(?:私|僕|俺|わたし|ぼく|おれ|自分))[^。、]{1,10}は"
)


def beings_in(text: str) -> frozenset[str]:
    """The beings that a folded text names."""
    return frozenset(being for being, pattern in _PATTERNS.items() if pattern.search(text))


def without_beings(text: str) -> str:
    """The text with each being blanked, offsets kept."""
    return re.sub(_ANY, lambda found: " " * len(found.group()), text)


def spellings_in(text: str) -> tuple[str, ...]:
    """The beings as the text spells them: what a search looks for first."""
    return tuple(dict.fromkeys(found.group().removesuffix("s") for found in re.finditer(_ANY, text)))


def spellings_of(beings: frozenset[str]) -> tuple[str, ...]:
    """Every way in which the beings, or the kinds that meet them, are spelled here."""
    names = [name for being in sorted(beings) for name in (being, *sorted(_KINDS.get(being, ())))]
    plain = (re.sub(r"\(\?<?[!=][^)]{0,200}\)|\\b|s\?", " ", _BEINGS[name]) for name in names)
    words = (word for pattern in plain for word in re.findall(r"[a-z]{3,}|[^\x00-\x7f]+", pattern))
    return tuple(dict.fromkeys(words))


def agree(asked: frozenset[str], told: frozenset[str]) -> bool:
    """Whether each being asked about is told about."""
    return all(being in told or _KINDS.get(being, frozenset()) & told for being in asked)


def owner_at(text: str) -> int | None:
    """Where the text begins to speak of a being's own (`my sister's …`, `妹は…`); None if it does not."""
    found = _OWNER.search(text)
    return found.start() if found else None


def names_a_being(text: str) -> bool:
    """Whether a text, as it was written, gives somebody's name in passing: `my brother Tom`, `I'm Tom, …`."""
    return (_NAMED.search(text) or _SELF_NAMED.search(text)) is not None


def introduced_in(text: str) -> str | None:
    """The being that a folded sentence brings up (`I have a dog`, `犬を飼っています`), as it spells it."""
    found = _INTRODUCED.search(text)
    return (found["ja"] or found["en"]) if found else None


def goes_on_about_it(text: str) -> bool:
    """Whether a folded sentence that names no being may speak of the one just brought up."""
    return not beings_in(text) and _GOES_ON.search(text) is not None
