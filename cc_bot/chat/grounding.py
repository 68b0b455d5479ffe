"""Checks that a change says only what the author said.

Texts are compared by their content words in order, times by meaning. A memory must consist of whole adjacent
clauses with the same particles, so that an attacker can only choose between clauses. Words that may reverse a
meaning (if, not, a lie) are never dropped. A pasted chat, a request to translate, and a question about memory
ground no change.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from cc_bot.domain.when import mentioned as mentioned_times
from cc_bot.domain.when.grammar import normalize
from cc_bot.domain.when.mentioned import MentionedTime
from cc_bot.features.memory.search.folding import KANJI, parse_line, stem


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


_SELF_JA: Final = (
    r"(?:ユーザー(?:本人|さん)?|(?<![一-鿿])(?:私|僕|俺|自分|本人)(?![一-鿿])"
    r"|(?<![ぁ-ん])(?:わたくし|わたし|あたし|ぼく|おれ|うち)(?=[のはがもをにへと]|って|[^ぁ-ん]))"
)
_TABLE: Final = rf"""
# A request: 覚えて, 知らせて, 控えて; remember, remind me
request   覚え|おぼえ|記憶|メモ|控え|知らせ|教え|忘れ|通知|リマイン
request   \b(?:rem(?:em)?ber|remind|forget|note|keep|save)

# Work on a text, which is not the asker's own: 訳して, 敬語に直して; translate this, what does … mean
task      (?:訳|要約|添削|校正|推敲|言い換え)を?し?て(?!って|と|ほし|欲し|る|い[るた])
task      (?:敬語|丁寧|英語|日本語)に(?:直|変え)?を?し?て(?!って|と|ほし|欲し|る|い[るた])
task      \b(?:translate|summari[sz]e|proofread|rephrase|paraphrase|rewrite)\b(?! (?:for|to) me\b)
task      \b(?:fix|correct|check) (?:the|this|my) (?:grammar|spelling|text|sentence)
task      \bwhat do(?:es)? .{{1,80}} mean\b

# A question about memory, or a wish that nothing is kept: 覚えてる？, 覚えなくていい; don't note
no_wish   (?:覚え|おぼえ)てい?(?:る|ます)[かのよねな]*\s*(?=[?。、\n]|$)
no_wish   (?:覚え|おぼえ|記憶し|メモし|控え)(?:て[おい]?)?か?な(?:い(?!と)|く(?!ちゃ|ては))
no_wish   \b(?:do|did|don't|can't) (?:you|u) (?:still )?remember\b
no_wish   (?:\bnot|n't|\bnever|\bno need) (?:(?:have|need|want you) )?(?:to )?(?:remember|note|save|keep)\b

# The end of a memory or reminder: 忘れて, 消して, もういらない; forget, cancel, no longer
ends      忘れ|わすれ|消[しせすさ去え]|けし|削除|取り?消|破棄|捨て|外し|[い要]らな|不要|やめ|止め|とめ
ends      もういい|なし|なくし|なかった|覚え(?:て(?:い)?)?なく|キャンセル|解除|ストップ|終わ|済
ends      \bno (?:longer|need|more)\b|\banymore\b|(?:not|n't) (?:need to )?(?:know|remember|keep)\b
ends      \b(?:forget|delet|remov|eras|cancel|drop|clear|stop|skip|scratch|kill|bin|toss|lose|off|done)
ends      \bnever mind|\bwip

# A fact that changed, or a task that is done: やっぱり, 変わった, もう買った; actually, moved, paid
corrects  やっぱ|じゃなく|ではなく|変え|変更|変わ|かわ|ずらし|訂正|直し|なおし|まちが|間違|になっ|になり
corrects  だった|でした|更新|引っ?越|今は|もう|大丈夫|(?:知らせ|教え|言わ|起こさ|覚えて)[なん]
corrects  \b(?:actually|instead|change[ds]?|move[ds]?|renamed|resch\w+|not?|correct|rather|now|update)\b
corrects  \b(?:any ?more|already|sorted|returned|paid|bought)\b

# Words without content: 私の, ちなみに, 実は; user's, named, by the way
left_out  (?:(?<=[、。,!?:\s])|^){_SELF_JA}(?:の[こ事]と?)?(?:[のはもが]|って)?[、,]?|{_SELF_JA}の
left_out  (?:(?<=[、。,!?:\s])|^)(?:もう|やっぱり?|あの|えっと|ちなみに|まあ|あ)[、,]?
left_out  お?名前|呼び名|(?<=の)[件事]|予定|用事|今後|今度|今(?![年月週日朝晩夜])|最近|実は|一応|本当に?
left_out  \buser's\b|\bcall(?= me\b)|\b(?:named?|names|called|calls|from (?:now|here) on)\b
left_out  \b(?:by the way|for future reference|turns out)\b

# Polite phrases with a negation that negates nothing: 忘れないで, しなきゃ; don't forget, if you can
aside     (?:絶対に?|決して)?忘れ(?:ない(?:で|ように)|ん(?:ように|で)|ず|るな|そう|ちゃ)[^\n、。]{{0,8}}
aside     な(?:きゃ|くちゃ|ければ|いと|くては|あ)(?:(?:いけ|なら|あか)(?:ない|ん(?:ねん)?)|だめ)?
aside     (?:くれ|もらえ|いただけ|頂け)(?:ない|ません)|かもしれない(?=[けが])|じゃ(?:ない|ん)\?
aside     \b(?:do not|don't|dont|never|not to) (?:let me |you )?forget(?: that| to)?\b
aside     \bno (?:problem|worries)\b|\bi'd like you to\b|\bjust so you know\b
aside     \bif (?:you can|possible|you (?:don't|do not) mind)\b

# Words that may reverse a meaning: 嘘, もし, 以外, かも, 聞いた; never, unless, a lie, said, maybe
reversing 嘘|うそ|ウソ|冗談|違|ちが|間違|やめ|辞め|止め|嫌|以外|禁止|無[理い]|だめ|ダメ|駄目|もし|なら(?!な)
reversing 場合|元[カ彼妻夫]|らしい|かも|みたい(?!な)|もんか|はず|と言われ|って聞|か(?:どうか|聞|尋)|以前|昔
reversing 拒|断|(?<!なっ)[ただ]ら|[けげせてねべめれえ]ば
reversing \b(?:no|never|nor|neither|none|nothing|without|except|unless|if|whether|hardly|avoid|instead)\b
reversing \b(?:stop(?:ped)?|quit|hates?|lied?|false|wrong|fake|pretend|jok(?:e|ing)|kidding|ex|former)\b
reversing \b(?:den(?:y|ied)|refused?|used|thought|think|said|says?|claims?|might|maybe|until)\b

# The part that a correction rejects: モチじゃなくてモモ; Momo, not Mochi; no, …
corrected (?:(?<=[^ァ-ヺー])[ァ-ヺー]+|[^\s,。、ぁ-ゖ]{{1,12}})(?:じゃ|では|で)なくて?[,、]?
corrected (?:,\s?| (?=not \d))not [^,.\n]{{1,30}}$| instead of [^,.\n]{{1,30}}
corrected (?:^|(?<=[,.\n] ))no,\s|(?:^|(?<=[,.\n]))[^,.\n]{{1,40}} any ?more\b,?
"""
_ROWS: Final = [line.split(maxsplit=1) for line in _TABLE.splitlines() if line and line[0] != "#"]
_PHRASES: Final = {
    kind: re.compile("|".join(pattern for each, pattern in _ROWS if each == kind), re.MULTILINE)
    for kind, _ in _ROWS
}
_QUOTED: Final = re.compile(r"「[^「」]*+」|『[^『』]*+』")
_LOG_LINE: Final = re.compile(
    r" {0,4}(?:\[?\d{1,2}:\d{2}\]?\s|[^\s:]{1,20}(?: [^\s:]{1,20})?:\s|.{1,40}[—-] .{0,20}\d:\d{2})"
)
_POINTERS: Final = re.compile(r"それ|これ|今の|さっきの|いまの|\b(?:that|it|this)\b")
_COMMANDS: Final = re.compile(r"忘れ|覚え|消|削除|記憶|取り?消|教え|番号")
_ENDING: Final = re.compile(rf"(?:{_PHRASES['ends'].pattern})[a-z]*")


def _own_text(said: str, *, wish: bool = True) -> str:
    """Return the text without code and quoted requests; empty if it is a pasted chat or a task, and with
    `wish` if it asks about memory or to remember nothing."""
    own = "、".join(normalize(said).split("```")[::2])
    own = _QUOTED.sub(lambda quoted: "、" if _PHRASES["request"].search(quoted[0]) else quoted[0], own)
    pasted = sum(_LOG_LINE.match(line) is not None for line in own.splitlines()) > 1
    if pasted or _PHRASES["task"].search(own):
        return ""
    return "" if wish and _PHRASES["no_wish"].search(_PHRASES["aside"].sub("、", own)) else own


_SELF: Final = re.compile(rf"{_SELF_JA}|\b(?:im?|ive|me|myself|we|us|user)\b")
_ASKING_JA: Final = re.compile(
    r"(?:って|と|のを?|から|ので|んで|けん|ように?|を)?[,、]?(?:覚え|おぼえ|ぼえ(?=て|と)|記憶|メモ(?=[しっ、,。:\s]|お願|更新|$)|控え"
    r"|頭に入れ|知らせ|教え|通知|リマイン(?:ド|ダー?)|りまいんど|言って|言うて|頼|お?願い|よろ|くれる?と(?=助|嬉|あり))"
    r"(?:[ぁ-んー~]|願い|頼|下さ|頂|欲し|助か|幸い|言|教|更新|前提|致){0,30}(?=$|[、。,!?\n:\s…])"
)
_FUNCTION_WORDS: Final = _stems(
    "a an the my mine our your is am are be being it its that this these there here has have got do does did"
    " also please pls hey hi ok okay btw fyi oh ah so just really well now m re ve ll d s will would"
    " use too then again"
)
_REMEMBER: Final = _stems("remember rember remembering note keep mind save store memo down know remind remnd")
_ASKING: Final = _stems(
    "bear put should can could you u for actually wait add ping poke nudge tell alert notify set make sure to"
    " in that of about reminder y all @i"
)
"""Allowed around `_REMEMBER` at the start or end of a clause."""
_PREPOSITIONS: Final = _stems("on in at to about for with of and")
_NOT: Final = re.compile(r"\bcan(?:'t|not|t)\b|(?:n't|(?<=\bdo)nt|(?<=\bdoes)nt)\b|\bnot\b")
_PARTICLE: Final = (
    "(?:から|まで|より|には|では|とは|のは|のが|のを|への|での|との|という|って|とか|[はがもをにへでとの])"
)
_GRAMMAR: Final = (
    "(?:っていう|って|[てで](?:い?[るた]|おる|て|い)?|とる|ており|[ただ]ら|ます|ました|です|でした|だった|である|だから|なので|なの|なん"
    "|んだ|んです|こと|もの|たい|そう|よう|みたい|する|した|しろ|せな|に?なる|に?なった|になり|になって|に?し[てた]|しました|します|ある"
    "|あった|あります|いる|います|(?<![てで])(?:よい|いい)|ほしい|といって|いう|けど|けれど|ので|のに|やつ|ばっか|じゃん|ちゃん|くん|さん"
    "|たち|やっぱり?|ちょっと|もう|あの|あと|とりあえず|これから|これ|それ|さっき|また|くらい|くれる?|ください|けろ|[てでただしんや])"
)
_TAIL: Final = rf"{_GRAMMAR}{{0,5}}(?:{_PARTICLE})?(?:よ|わ|か)?(?:ね|な|さ|ぞ|けど)?[おご]?"
_ONLY_GRAMMAR: Final = re.compile(rf"(?:{_PARTICLE})?{_TAIL}")
_ENDS_KANJI: Final = re.compile(rf"(?:[ぁ-ん][るっんい]?)?(?:{_PARTICLE})?{_TAIL}")
_KANA_WORD: Final = re.compile(rf"(?:{_PARTICLE})?(?P<word>[ぁ-ゖー]+?){_TAIL}")
_CASE: Final = re.compile("が|を|[にへ]|から|より|まで|で|と(?!か)")
_NEGATION: Final = re.compile(
    r"ない|なかっ|なく(?!な)|なし|ません|ねえ|へん|ず(?=に?$)|(?<=[うくぐすつぬぶむる])な(?=$|って|と)"
    r"|(?<=[かがたなばまらわ])ん(?=と|で?$)"
)
_NAME: Final = re.compile(r"@[^\s@]{1,40}")  # a display name, which another user chose
_EMOJI: Final = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]")
_TOKEN: Final = re.compile(
    r"(?P<number>(?:(?<![0-9a-z-])-)?\d+(?:,\d{3})*(?!\d)(?:\.\d+)?)|(?P<name>@i|@[^\s@]{1,40})"
    rf"|(?P<word>[a-z\u00c0-\u024f\u0370-\u04ff_]+)|(?P<kana>[ぁ-ゖ][ぁ-ゖー]*)|(?P<kanji>[{KANJI}])"
    r"|(?P<other>[ァ-ヺ][ァ-ヺー]*|[^\s\0!\"'()*,./:;?@\[\]^_`{|}~、。「」『』〈〉【】…・—–‘’“”〜ー\\-])"
)
_CLAUSE_END: Final = re.compile(
    r"[、;:()「」『』〈〉【】…—・/!。?\n]|,(?!\d{3}(?!\d))|(?<!\bmr)(?<!\bms)(?<!\bdr)\.(?=\s|$)|\s-\s"
)


class _Word(NamedTuple):
    text: str
    case: str = ""
    joins: bool = False  # True for a kanji directly after another


class _Clause(NamedTuple):
    words: tuple[_Word, ...]
    times: tuple[tuple[int, MentionedTime], ...] = ()  # each with the number of words before it
    written: str = ""

    @property
    def reversing(self) -> frozenset[str]:
        negated = [each.text for each in self.words if each.text == "¬"]
        return frozenset((*_PHRASES["reversing"].findall(self.written), *negated))


class _Sentence(NamedTuple):
    clauses: tuple[_Clause, ...]
    asks: bool


def _as_blanks(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _as_separator(found: re.Match[str]) -> str:
    return "、".ljust(len(found[0]))


def _without_asking(words: list[tuple[int, _Word]]) -> list[tuple[int, _Word]]:
    stems = [word.text for _, word in words]
    rest = [at for at, each in enumerate(stems) if each not in _FUNCTION_WORDS | _REMEMBER | _ASKING] or [
        len(stems)
    ]
    asks = [at for at, each in enumerate(stems) if each in _REMEMBER]
    begin = max((at + 1 for at in asks if at < rest[0]), default=0)
    return words[begin : min((at for at in asks if at > rest[-1]), default=len(stems))]


def _parse_words(written: str) -> Iterator[tuple[int, _Word]]:
    case, past, before = "", -1, ""
    plain = _NOT.sub(lambda each: "¬".ljust(len(each[0])), written)
    for match in _TOKEN.finditer(plain):
        kind, text, at = match.lastgroup or "", match[0], match.start()
        follows, past = at == past, match.end()
        if kind == "kana":
            grammar = _ENDS_KANJI if follows and before == "kanji" else _ONLY_GRAMMAR
            yield from ((at, _Word(each)) for each in _kana_words(text, grammar))
        elif text in _PREPOSITIONS:
            case = text
        elif kind == "word":
            yield at, _Word(stem(text), case)
            case = "" if stem(text) not in _FUNCTION_WORDS else case
        else:
            particle = _CASE.match(plain, past)
            found = parse_line(text).text or text if kind in ("kanji", "other") else text.replace(",", "")
            joins = kind == before == "kanji" and follows
            yield at, _Word(found, particle[0] if particle else case, joins)
            case = ""
        before = kind


def _kana_words(run: str, grammar: re.Pattern[str]) -> Iterator[str]:
    begin = 0
    for end in (*_NEGATION.finditer(run), None):
        part = run[begin : end.start() if end else None]
        if not grammar.fullmatch(part) and (word := _KANA_WORD.fullmatch(part)):
            yield parse_line(word["word"] if len(word["word"]) > 1 else part).text
        if end:
            yield "¬"
            begin, grammar = end.end(), _ONLY_GRAMMAR


_MAX_CHARACTERS: Final = 1500
_MAX_OTHERS_CHARACTERS: Final = 6000  # of all memories that a message is compared with
_NEUTRAL_WORDS: Final = frozenset("飲行出時間確認開始起床知通過経") | _stems(
    "check do take get go time start begin ready wake up reminder らせ りまいんだ りまいんど"
)
"""Words that a reminder may add, as an attacker gains nothing by them."""
_MAX_NEUTRAL: Final = 3
_COMMON_WORDS: Final = frozenset({"好", "大好", "嫌", "大嫌", "苦手", "メモ", "話"}) | _stems(
    "like love hate dislike prefer favourite favorite want need memory note one thing entry forget"
)
"""Words that do not distinguish memories."""
_OPTIONAL_ENDINGS: Final = frozenset("置取入決")  # verbs that a memory may drop: 鍵は机に`置いた`


def _word_texts(words: Sequence[_Word]) -> list[str]:
    return [each.text for each in words]


def _match(mine: Sequence[_Word], theirs: Sequence[_Word]) -> bool:
    return _word_texts(mine) == _word_texts(theirs) and all(
        a.case == b.case or not (a.case and b.case) for a, b in zip(mine, theirs, strict=True)
    )


def _times_match(mine: Iterable[MentionedTime], theirs: Sequence[MentionedTime]) -> bool:
    return all(any(said.includes(each) for said in theirs) for each in mine)


def _join_clauses(sentences: Sequence[_Sentence]) -> _Clause:
    words, times = list[_Word](), list[tuple[int, MentionedTime]]()
    for clause in (clause for sentence in sentences for clause in sentence.clauses):
        times += [(len(words) + at, each) for at, each in clause.times]
        words += clause.words
    written = " ".join(clause.written for sentence in sentences for clause in sentence.clauses)
    return _Clause(tuple(words), tuple(times), written)


def _variants(clause: _Clause) -> Iterator[Sequence[_Word]]:
    yield clause.words
    yield [word for word in clause.words if word.text != "@i"]
    if clause.words and clause.words[-1].text in _OPTIONAL_ENDINGS:
        yield clause.words[:-1]


def _has_clauses(said: Sequence[_Sentence], claim: _Clause) -> bool:
    """Return whether the claim consists of whole clauses, adjacent within a sentence."""
    reached = {0}
    lone_times = [
        each for every in said for clause in every.clauses if not clause.words for _, each in clause.times
    ]
    for sentence in said:
        states = {(at, "before") for at in reached}
        for clause in sentence.clauses:
            following = set() if clause.reversing else states
            if clause.words:
                following = {(at, "before" if state == "before" else "after") for at, state in following}
            times = [each for _, each in clause.times] or lone_times
            usable = not sentence.asks and clause.reversing <= claim.reversing
            for words in filter(None, _variants(clause)) if usable else ():
                for begin, end in ((at, at + len(words)) for at, state in states if state != "after"):
                    mine = (each for at, each in claim.times if begin < at <= end or at == begin == 0)
                    if _match(claim.words[begin:end], words) and _times_match(mine, times):
                        following = following | {(end, "among")}
            states = following
        reached = {at for at, _ in states}
    return bool(claim.words) and len(claim.words) in reached


def _has_part(said: Sequence[_Sentence], claim: _Clause, neutral: frozenset[str] = frozenset()) -> bool:
    """Return whether a sentence has the claim's words in a row. A few neutral ones may be missing."""
    theirs = _join_clauses(said)
    own = {word.text for word in theirs.words} | {"@i"}
    mine = [each for each in claim.words if each.text in own or each.text not in neutral]
    if len(claim.words) - len(mine) > _MAX_NEUTRAL:
        return False
    mine = [each for each in mine if each.text != "@i"]
    meant = _times_match((each for _, each in claim.times), [each for _, each in theirs.times])
    return meant and any(_has_run(each, mine, claim.reversing) for each in said)


def _has_run(sentence: _Sentence, mine: Sequence[_Word], reversing: frozenset[str]) -> bool:
    words = [word for word in _join_clauses([sentence]).words if word.text != "@i"]
    for begin in range(len(words) - len(mine) + 1):
        end = begin + len(mine)
        splits_kanji = any(word.joins for word in (*words[begin : begin + 1], *words[end : end + 1]))
        negated = any(word.text == "¬" for word in (*words[:begin], *words[end:]))
        if _match(mine, words[begin:end]) and not splits_kanji and not negated:
            return _join_clauses([sentence]).reversing <= reversing
    return False


def _split_words(words: Sequence[_Word]) -> list[tuple[_Word, ...]]:
    """Split into single words and runs of kanji."""
    begins = [at for at, word in enumerate(words) if not (at and word.joins)]
    return [tuple(words[at:end]) for at, end in zip(begins, [*begins[1:], len(words)], strict=False)]


@dataclass(frozen=True, slots=True)
class OwnWords:
    """The author's message, and earlier messages that it may point to."""

    said: str
    now: datetime
    zone: ZoneInfo
    earlier: tuple[str, ...] = ()

    def says(self, content: str) -> bool:
        messages = (self, *self._earlier_meant())
        return any(
            _has_clauses(*both) for own in messages for both in own._pairs_to_compare(content, asking=True)
        )

    def says_phrase(self, text: str) -> bool:
        return any(_has_part(*both) for both in self._pairs_to_compare(text))

    def says_reminder(self, text: str) -> bool:
        """Return whether a reminder says only what the author said, or that it is time."""
        messages = (self, *self._earlier_meant())
        return any(
            _has_part(*both, _NEUTRAL_WORDS) for own in messages for both in own._pairs_to_compare(text)
        )

    def means_time(self, due: datetime, repeat: str) -> bool:
        own = _NAME.sub(" ", _own_text(self.said))
        if repeat:
            return mentioned_times.mentions_repeat(due, repeat, own, self.now, self.zone)
        return mentioned_times.mentions_time(due, own, self.now, self.zone)

    def means_day(self, moment: datetime) -> bool:
        """Return whether the author mentions the day of this moment, or the day that ends at it."""
        own, day = _NAME.sub(" ", _own_text(self.said)), moment.astimezone(self.zone).date()
        return any(
            mentioned_times.mentions_day(day - timedelta(days=days), own, self.now, self.zone)
            for days in (0, 1)
        )

    def asks_to_end(
        self, text: str, *, others: Sequence[str] = (), shown: bool = False, may_be_done: bool = False
    ) -> bool:
        """Return whether the author asks to end this memory or reminder. The message must match it better
        than all `others`, or only point to the only one `shown`. `may_be_done`: corrections count too."""
        own = _NAME.sub(" ", _own_text(self.said, wish=False))
        if not (_PHRASES["ends"].search(own) or (may_be_done and _PHRASES["corrects"].search(own))):
            return False
        if sum(map(len, others)) > _MAX_OTHERS_CHARACTERS:
            return False
        is_pointer = shown and _POINTERS.search(own) is not None
        is_only_pointer = is_pointer and not self._topic(_ENDING.sub(" ", own))
        return is_only_pointer or self._is_named(own, self._topic(text), [*map(self._topic, others)])

    def asks_to_change(
        self, former: str, content: str, *, others: Sequence[str] = (), shown: bool = False
    ) -> bool:
        """Return whether the author asks for this change, in their own words. The message must match the
        former text better than all `others`; or match none, and correct the only memory `shown`."""
        if sum(map(len, others)) > _MAX_OTHERS_CHARACTERS:
            return False
        own = _NAME.sub(" ", _own_text(self.said))
        old, new = self._topic(former), self._topic(content)
        rest, corrects = [*map(self._topic, others)], _PHRASES["corrects"].search(own) is not None
        names, none_named = self._is_named(own, old, rest), not self._topic(own) & set().union(*rest)
        if not new - old or not (names or (none_named and ((shown and corrects) or old & new))):
            return False
        return (corrects and (names or shown) and self._replaces_parts(former, content, own)) or self.says(
            content
        )

    def _is_named(self, own: str, topic: set[str], others: Sequence[set[str]]) -> bool:
        """Return whether the message matches this topic best: more common words, or as many and all of it."""
        said = self._topic(own)
        match, *matches = [(len(each & said), bool(each) and each <= said) for each in (topic, *others)]
        return match > max(matches, default=(0, False))

    def _replaces_parts(self, former: str, content: str, own: str) -> bool:
        old, new = (
            _join_clauses(self._parse(normalize(former))),
            _join_clauses(self._parse(normalize(content))),
        )
        sentences = self._parse(_PHRASES["corrected"].sub("", re.sub("まちが|間違", "", own)))
        said = [each for each in sentences if not (each.asks or _join_clauses([each]).reversing)]
        if sum(each.text == "¬" for each in old.words) != sum(each.text == "¬" for each in new.words):
            return False
        known, kept = [each.written for _, each in old.times], [*map(_word_texts, _split_words(old.words))]
        times = [each for _, each in new.times if each.written not in known]
        changed = [each for each in _split_words(new.words) if _word_texts(each) not in kept]
        rest = iter(kept)
        return bool(changed or times) and (
            all(_word_texts(each) in rest for each in _split_words(new.words) if each not in changed)
            and all(
                any(_is_time_said(each, t, known) for _, t in _join_clauses(said).times) for each in times
            )
            and all(any(_has_run(sentence, piece, frozenset()) for sentence in said) for piece in changed)
        )

    def _earlier_meant(self) -> Iterator["OwnWords"]:
        own = _own_text(self.said) if self.earlier else ""
        if _PHRASES["request"].search(own) and not _join_clauses(self._parse(own, asking=True)).words:
            yield from (replace(self, said=each, earlier=()) for each in self.earlier)

    def _parse(self, text: str, *, asking: bool = False) -> list[_Sentence]:
        written = _PHRASES["left_out"].sub(_as_blanks, text.replace("’", "'"))
        times = mentioned_times.find_mentioned(_NAME.sub(_as_blanks, written), self.now, self.zone)
        for each in times:
            written = written[: each.begin] + "\0" * (each.end - each.begin) + written[each.end :]
        written = _PHRASES["aside"].sub(_as_separator, written)
        written = _ASKING_JA.sub(_as_separator, _EMOJI.sub(_as_blanks, written)) if asking else written
        found, clauses, begin, first = list[_Sentence](), list[_Clause](), 0, 0
        for end in (*_CLAUSE_END.finditer(written), None):
            stop, mark = (end.start(), end[0]) if end else (len(written), "\n")
            words = list(_parse_words(_SELF.sub(lambda each: "@i".ljust(len(each[0])), written[begin:stop])))
            words = _without_asking(words) if asking else words
            words = [each for each in words if each[1].text not in _FUNCTION_WORDS]
            words = words[1:] if words and words[0][1].text == "@i" else words
            inside = (each for each in times if begin <= each.begin < stop)
            counted = ((sum(begin + at < each.begin for at, _ in words), each) for each in inside)
            clauses.append(_Clause(tuple(word for _, word in words), tuple(counted), written[begin:stop]))
            begin = end.end() if end else stop
            if mark in "!。?\n.":
                asks = mark == "?" and not _PHRASES["request"].search(text, first, stop)
                found.append(_Sentence(tuple(clauses), asks))
                clauses, first = [], begin
        return found

    def _pairs_to_compare(
        self, claim: str, *, asking: bool = False
    ) -> Iterator[tuple[list[_Sentence], _Clause]]:
        """Yield pairs of message and claim, with and without corrected parts and the word `want`."""
        own, mine = _own_text(self.said), normalize(claim).replace("@", "")
        for name in _NAME.findall(own):
            for written in {name[1:], name[1:].replace("_", " ")}:
                mine = mine.replace(written, f" {name} ")
        if own and max(len(mine), len(own)) <= _MAX_CHARACTERS:
            claimed = _join_clauses(self._parse(mine))
            plain = claimed._replace(words=tuple(each for each in claimed.words if each.text != "want"))
            for said in dict.fromkeys((own, _PHRASES["corrected"].sub("", own))):
                sentences = self._parse(said, asking=asking)
                yield from ((sentences, each) for each in dict.fromkeys((claimed, plain)))

    def _topic(self, text: str) -> set[str]:
        """Return the pairs of kanji, the kana between particles, the other words and the times."""
        found = set[str]()
        for sentence in self._parse(_COMMANDS.sub(" ", _NAME.sub(" ", normalize(text))), asking=True):
            for clause in sentence.clauses:
                found |= {each.written for _, each in clause.times}
                for piece in _split_words(clause.words):
                    run = "".join(word.text for word in piece)
                    if re.match(f"[{KANJI}]", run):
                        found |= {a + b for a, b in pairwise(run)} or {run}
                    elif run in clause.written and "ぁ" <= run[0] <= "ゖ":
                        found |= {part for part in re.split("[はがをの]", run) if part[1:]}
                    else:
                        found |= {run} - {"¬", "@i"}
        return found - _COMMON_WORDS


def _is_time_said(new: MentionedTime, said: MentionedTime, known: Sequence[str]) -> bool:
    """Return whether the author said this time, or the last part of it after a known part: 3月`16日`."""
    rest = new.written.removesuffix(said.written)
    return said.includes(new) or (rest != new.written and any(each.startswith(rest) for each in known))
