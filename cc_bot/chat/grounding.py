"""Checks whether a change is grounded: whether the author's own message says all of it.

Texts are compared by their content words in order, times by meaning. A memory must consist of whole clauses
of the author's that stand side by side, particles included. So a text that misleads the model can at most
make it pick among the author's own clauses. Words that may reverse a meaning (if, not, a lie) are never
dropped. A pasted chat, a request to translate, and a question about memory ground no change.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
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
# Each line: the kind of a phrase, and a pattern.
_PHRASE_TABLE: Final = rf"""
# A request: 覚えて, 知らせて, 控えて; remember, remind me
request   覚え|おぼえ|記憶|メモ|控え|知らせ|教え|忘れ|通知|リマイン
request   \b(?:rem(?:em)?ber|remind|forget|note|keep|save)

# A task on a text that others may have written: 訳して, 敬語に直して; translate this, what does … mean
task      (?:訳|要約|添削|校正|推敲|言い換え)を?し?て(?!って|と|ほし|欲し|る|い[るた])
task      (?:敬語|丁寧|英語|日本語)に(?:直|変え)?を?し?て(?!って|と|ほし|欲し|る|い[るた])
task      \b(?:translate|summari[sz]e|proofread|rephrase|paraphrase|rewrite)\b(?! (?:for|to) me\b)
task      \b(?:fix|correct|check) (?:the|this|my) (?:grammar|spelling|text|sentence)
task      \bwhat do(?:es)? .{{1,80}} mean\b

# A question about memory, or a request to remember nothing: 覚えてる？, 覚えなくていい; don't note
not_asked (?:覚え|おぼえ)てい?(?:る|ます)[かのよねな]*\s*(?=[?。、\n]|$)
not_asked (?:覚え|おぼえ|記憶し|メモし|控え)(?:て[おい]?)?か?な(?:い(?!と)|く(?!ちゃ|ては))
not_asked \b(?:do|did|don't|can't) (?:you|u) (?:still )?remember\b
not_asked (?:\bnot|n't|\bnever|\bno need) (?:(?:have|need|want you) )?(?:to )?(?:remember|note|save|keep)\b

# The end of a memory or reminder: 忘れて, 消して, もういらない; forget, cancel, no longer
ending    忘れ|わすれ|消[しせすさ去え]|けし|削除|取り?消|破棄|捨て|外し|[い要]らな|不要|やめ|止め|とめ
ending    もういい|なし|なくし|なかった|覚え(?:て(?:い)?)?なく|キャンセル|解除|ストップ|終わ|済
ending    \bno (?:longer|need|more)\b|\banymore\b|(?:not|n't) (?:need to )?(?:know|remember|keep)\b
ending    \b(?:forget|delet|remov|eras|cancel|drop|clear|stop|skip|scratch|kill|bin|toss|lose|off|done)
ending    \bnever mind|\bwip

# A fact that changed, or a task that is done: やっぱり, 変わった, もう買った; actually, moved, paid
update    やっぱ|じゃなく|ではなく|変え|変更|変わ|かわ|ずらし|訂正|直し|なおし|まちが|間違|になっ|になり
update    だった|でした|更新|引っ?越|今は|もう|大丈夫|(?:知らせ|教え|言わ|起こさ|覚えて)[なん]
update    \b(?:actually|instead|change[ds]?|move[ds]?|renamed|resch\w+|not?|correct|rather|now|update)\b
update    \b(?:any ?more|already|sorted|returned|paid|bought)\b

# Words without content: 私の, ちなみに, 実は; user's, named, by the way
filler    (?:(?<=[、。,!?:\s])|^){_SELF_JA}(?:の[こ事]と?)?(?:[のはもが]|って)?[、,]?|{_SELF_JA}の
filler    (?:(?<=[、。,!?:\s])|^)(?:もう|やっぱり?|あの|えっと|ちなみに|まあ|あ)[、,]?
filler    お?名前|呼び名|(?<=の)[件事]|予定|用事|今後|今度|今(?![年月週日朝晩夜])|最近|実は|一応|本当に?
filler    \buser's\b|\bcall(?= me\b)|\b(?:named?|names|called|calls|from (?:now|here) on)\b
filler    \b(?:by the way|for future reference|turns out)\b

# Polite phrases with a negation that negates nothing: 忘れないで, しなきゃ; don't forget, if you can
idiom     (?:絶対に?|決して)?忘れ(?:ない(?:で|ように)|ん(?:ように|で)|ず|るな|そう|ちゃ)[^\n、。]{{0,8}}
idiom     な(?:きゃ|くちゃ|ければ|いと|くては|あ)(?:(?:いけ|なら|あか)(?:ない|ん(?:ねん)?)|だめ)?
idiom     (?:くれ|もらえ|いただけ|頂け)(?:ない|ません)|かもしれない(?=[けが])|じゃ(?:ない|ん)\?
idiom     \b(?:do not|don't|dont|never|not to) (?:let me |you )?forget(?: that| to)?\b
idiom     \bno (?:problem|worries)\b|\bi'd like you to\b|\bjust so you know\b
idiom     \bif (?:you can|possible|you (?:don't|do not) mind)\b

# Words that may reverse a meaning: 嘘, もし, 以外, かも, 聞いた; never, unless, a lie, said, maybe
reversal  嘘|うそ|ウソ|冗談|違|ちが|間違|やめ|辞め|止め|嫌|以外|禁止|無[理い]|だめ|ダメ|駄目|もし|なら(?!な)
reversal  場合|元[カ彼妻夫]|らしい|かも|みたい(?!な)|もんか|はず|と言われ|って聞|か(?:どうか|聞|尋)|以前|昔
reversal  拒|断|(?<!なっ)[ただ]ら|[けげせてねべめれえ]ば
reversal  \b(?:no|never|nor|neither|none|nothing|without|except|unless|if|whether|hardly|avoid|instead)\b
reversal  \b(?:stop(?:ped)?|quit|hates?|lied?|false|wrong|fake|pretend|jok(?:e|ing)|kidding|ex|former)\b
reversal  \b(?:den(?:y|ied)|refused?|used|thought|think|said|says?|claims?|might|maybe|until)\b

# The part that a correction rejects: モチじゃなくてモモ; Momo, not Mochi; no, …
rejection (?:(?<=[^ァ-ヺー])[ァ-ヺー]+|[^\s,。、ぁ-ゖ]{{1,12}})(?:じゃ|では|で)なくて?[,、]?
rejection (?:,\s?| (?=not \d))not [^,.\n]{{1,30}}$| instead of [^,.\n]{{1,30}}
rejection (?:^|(?<=[,.\n] ))no,\s|(?:^|(?<=[,.\n]))[^,.\n]{{1,40}} any ?more\b,?
"""
_ROWS: Final = [line.split(maxsplit=1) for line in _PHRASE_TABLE.splitlines() if line and line[0] != "#"]
_PHRASES: Final = {
    kind: re.compile("|".join(pattern for each, pattern in _ROWS if each == kind), re.MULTILINE)
    for kind, _ in _ROWS
}
_QUOTED: Final = re.compile(r"「[^「」]*+」|『[^『』]*+』")
_LOG_LINE: Final = re.compile(
    r" {0,4}(?:\[?\d{1,2}:\d{2}\]?\s|[^\s:]{1,20}(?: [^\s:]{1,20})?:\s|.{1,40}[—-] .{0,20}\d:\d{2})"
)
_POINTING_WORDS: Final = re.compile(r"それ|これ|今の|さっきの|いまの|\b(?:that|it|this)\b")
_REQUEST_WORDS: Final = re.compile(r"忘れ|覚え|消|削除|記憶|取り?消|教え|番号")
_ENDING: Final = re.compile(rf"(?:{_PHRASES['ending'].pattern})[a-z]*")


def _own_text(message: str) -> str:
    """Return the message without code and quoted requests; empty if it is a pasted chat or a task."""
    own = "、".join(normalize(message).split("```")[::2])
    own = _QUOTED.sub(lambda quoted: "、" if _PHRASES["request"].search(quoted[0]) else quoted[0], own)
    log_lines = sum(_LOG_LINE.match(line) is not None for line in own.splitlines())
    return "" if log_lines > 1 or _PHRASES["task"].search(own) else own


def _usable_text(message: str) -> str:
    """Return the author's own text; empty if it asks about memory, or asks to remember nothing."""
    own = _own_text(message)
    return "" if _PHRASES["not_asked"].search(_PHRASES["idiom"].sub("、", own)) else own


_SELF_MARK: Final = "@i"  # replaces words for the author: I, me, 私
_NOT_MARK: Final = "¬"  # replaces negations
_SELF: Final = re.compile(rf"{_SELF_JA}|\b(?:im?|ive|me|myself|we|us|user)\b")
_REQUEST_JA: Final = re.compile(
    r"(?:って|と|のを?|から|ので|んで|けん|ように?|を)?[,、]?(?:覚え|おぼえ|ぼえ(?=て|と)|記憶|メモ(?=[しっ、,。:\s]|お願|更新|$)|控え"
    r"|頭に入れ|知らせ|教え|通知|リマイン(?:ド|ダー?)|りまいんど|言って|言うて|頼|お?願い|よろ|くれる?と(?=助|嬉|あり))"
    r"(?:[ぁ-んー~]|願い|頼|下さ|頂|欲し|助か|幸い|言|教|更新|前提|致){0,30}(?=$|[、。,!?\n:\s…])"
)
_FUNCTION_WORDS: Final = _stems(
    "a an the my mine our your is am are be being it its that this these there here has have got do does did"
    " also please pls hey hi ok okay btw fyi oh ah so just really well now m re ve ll d s will would"
    " use too then again"
)
_REQUEST_VERBS: Final = _stems(
    "remember rember remembering note keep mind save store memo down know remind remnd"
)
_REQUEST_FILLERS: Final = _stems(
    "bear put should can could you u for actually wait add ping poke nudge tell alert notify set make sure to"
    " in that of about reminder y all @i"
)
"""Words around `_REQUEST_VERBS` at the start or end of a clause."""
_PREPOSITIONS: Final = _stems("on in at to about for with of and")
_NEGATION_EN: Final = re.compile(r"\bcan(?:'t|not|t)\b|(?:n't|(?<=\bdo)nt|(?<=\bdoes)nt)\b|\bnot\b")
_PARTICLE: Final = (  # marks a word's role in the sentence
    "(?:から|まで|より|には|では|とは|のは|のが|のを|への|での|との|という|って|とか|[はがもをにへでとの])"
)
_GRAMMAR: Final = (  # kana words without content
    "(?:っていう|って|[てで](?:い?[るた]|おる|て|い)?|とる|ており|[ただ]ら|ます|ました|です|でした|だった|である|だから|なので|なの|なん"
    "|んだ|んです|こと|もの|たい|そう|よう|みたい|する|した|しろ|せな|に?なる|に?なった|になり|になって|に?し[てた]|しました|します|ある"
    "|あった|あります|いる|います|(?<![てで])(?:よい|いい)|ほしい|といって|いう|けど|けれど|ので|のに|やつ|ばっか|じゃん|ちゃん|くん|さん"
    "|たち|やっぱり?|ちょっと|もう|あの|あと|とりあえず|これから|これ|それ|さっき|また|くらい|くれる?|ください|けろ|[てでただしんや])"
)
# What may follow a word: inflections and particles.
_TAIL: Final = rf"{_GRAMMAR}{{0,5}}(?:{_PARTICLE})?(?:よ|わ|か)?(?:ね|な|さ|ぞ|けど)?[おご]?"
_ONLY_GRAMMAR: Final = re.compile(rf"(?:{_PARTICLE})?{_TAIL}")
_KANJI_ENDING: Final = re.compile(rf"(?:[ぁ-ん][るっんい]?)?(?:{_PARTICLE})?{_TAIL}")
_KANA_WORD: Final = re.compile(rf"(?:{_PARTICLE})?(?P<word>[ぁ-ゖー]+?){_TAIL}")
_CASE_PARTICLE: Final = re.compile("が|を|[にへ]|から|より|まで|で|と(?!か)")
_NEGATION_JA: Final = re.compile(
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
    case: str = ""  # the particle after it, or the preposition before it
    continues_kanji: bool = False  # True for a kanji directly after another


_PositionedWord = tuple[int, _Word]  # a word, after its position in the text


class _Clause(NamedTuple):
    words: tuple[_Word, ...]
    times: tuple[tuple[int, MentionedTime], ...] = ()  # each with the number of words before it
    written: str = ""

    @property
    def reversals(self) -> frozenset[str]:
        negations = [word.text for word in self.words if word.text == _NOT_MARK]
        return frozenset((*_PHRASES["reversal"].findall(self.written), *negations))


class _Sentence(NamedTuple):
    clauses: tuple[_Clause, ...]
    is_question: bool


def _pad(mark: str) -> Callable[[re.Match[str]], str]:
    """Return a replacement that is as long as what it replaces, so that positions stay."""
    return lambda found: mark.ljust(len(found[0]))


def _drop_request(words: list[_PositionedWord]) -> list[_PositionedWord]:
    """Drop a request at the beginning or end of a clause: `remember that …`."""
    stems = [word.text for _, word in words]
    verbs = [index for index, each in enumerate(stems) if each in _REQUEST_VERBS]
    no_content = _FUNCTION_WORDS | _REQUEST_VERBS | _REQUEST_FILLERS
    content = [index for index, each in enumerate(stems) if each not in no_content] or [len(stems)]
    begin = max((index + 1 for index in verbs if index < content[0]), default=0)
    end = min((index for index in verbs if index > content[-1]), default=len(stems))
    return words[begin:end]


def _parse_words(text: str) -> Iterator[_PositionedWord]:
    case, previous_kind, previous_end = "", "", -1
    text = _NEGATION_EN.sub(_pad(_NOT_MARK), text)
    for match in _TOKEN.finditer(text):
        kind, token, begin = match.lastgroup or "", match[0], match.start()
        is_adjacent, previous_end = begin == previous_end, match.end()
        if kind == "kana":
            grammar = _KANJI_ENDING if is_adjacent and previous_kind == "kanji" else _ONLY_GRAMMAR
            yield from ((begin, _Word(word)) for word in _kana_words(token, grammar))
        elif token in _PREPOSITIONS:
            case = token
        elif kind == "word":
            yield begin, _Word(stem(token), case)
            case = case if stem(token) in _FUNCTION_WORDS else ""
        else:
            particle = _CASE_PARTICLE.match(text, previous_end)
            word = parse_line(token).text or token if kind in ("kanji", "other") else token.replace(",", "")
            continues_kanji = kind == previous_kind == "kanji" and is_adjacent
            yield begin, _Word(word, particle[0] if particle else case, continues_kanji)
            case = ""
        previous_kind = kind


def _kana_words(run: str, grammar: re.Pattern[str]) -> Iterator[str]:
    """Yield the content words and negations. `grammar` matches a beginning without content."""
    begin = 0
    for negation in (*_NEGATION_JA.finditer(run), None):
        part = run[begin : negation.start() if negation else None]
        if not grammar.fullmatch(part) and (word := _KANA_WORD.fullmatch(part)):
            yield parse_line(word["word"] if len(word["word"]) > 1 else part).text
        if negation:
            yield _NOT_MARK
            begin, grammar = negation.end(), _ONLY_GRAMMAR


def _parse_clause(text: str, begin: int, times: Iterable[MentionedTime], *, drop_request: bool) -> _Clause:
    """`begin` is the clause's position in the text in which the `times` were found."""
    words = list(_parse_words(_SELF.sub(_pad(_SELF_MARK), text)))
    if drop_request:
        words = _drop_request(words)
    words = [(position, word) for position, word in words if word.text not in _FUNCTION_WORDS]
    if words and words[0][1].text == _SELF_MARK:
        words = words[1:]
    inside = [time for time in times if begin <= time.begin < begin + len(text)]
    counts = [sum(begin + position < time.begin for position, _ in words) for time in inside]
    return _Clause(tuple(word for _, word in words), tuple(zip(counts, inside, strict=True)), text)


_MAX_CHARACTERS: Final = 1500
_MAX_OTHERS_CHARACTERS: Final = 6000  # of all other memories that a message is compared with
_NEUTRAL_WORDS: Final = frozenset("飲行出時間確認開始起床知通過経") | _stems(
    "check do take get go time start begin ready wake up reminder らせ りまいんだ りまいんど"
)
"""Words that a reminder may add, as they do no harm."""
_MAX_NEUTRAL_WORDS: Final = 3
_COMMON_WORDS: Final = frozenset({"好", "大好", "嫌", "大嫌", "苦手", "メモ", "話"}) | _stems(
    "like love hate dislike prefer favourite favorite want need memory note one thing entry forget"
)
"""Words that many memories share."""
_OPTIONAL_ENDINGS: Final = frozenset("置取入決")  # verbs that a memory may drop: 鍵は机に`置いた`


def _word_texts(words: Sequence[_Word]) -> list[str]:
    return [each.text for each in words]


def _match(claimed: Sequence[_Word], said: Sequence[_Word]) -> bool:
    return _word_texts(claimed) == _word_texts(said) and all(
        a.case == b.case or not (a.case and b.case) for a, b in zip(claimed, said, strict=True)
    )


def _times_match(claimed: Iterable[MentionedTime], said: Sequence[MentionedTime]) -> bool:
    return all(any(time.includes(each) for time in said) for each in claimed)


def _join_clauses(sentences: Sequence[_Sentence]) -> _Clause:
    words, times = list[_Word](), list[tuple[int, MentionedTime]]()
    clauses = [clause for sentence in sentences for clause in sentence.clauses]
    for clause in clauses:
        times += [(len(words) + count, time) for count, time in clause.times]
        words += clause.words
    return _Clause(tuple(words), tuple(times), " ".join(clause.written for clause in clauses))


def _variants(clause: _Clause) -> Iterator[Sequence[_Word]]:
    yield clause.words
    yield [word for word in clause.words if word.text != _SELF_MARK]
    if clause.words and clause.words[-1].text in _OPTIONAL_ENDINGS:
        yield clause.words[:-1]


def _has_clauses(said: Sequence[_Sentence], claim: _Clause) -> bool:
    """Return whether the claim consists of whole clauses, adjacent within a sentence."""
    counts = {0}  # how many of the claim's words may be found so far
    times_alone = [
        time
        for sentence in said
        for clause in sentence.clauses
        if not clause.words
        for _, time in clause.times
    ]
    for sentence in said:
        # A state: number of words of the claim found, and "before", "among" or "after" the clauses with them.
        states = {(count, "before") for count in counts}
        for clause in sentence.clauses:
            following = set() if clause.reversals else states
            if clause.words:
                following = {
                    (count, "before" if place == "before" else "after") for count, place in following
                }
            times = [time for _, time in clause.times] or times_alone
            is_usable = not sentence.is_question and clause.reversals <= claim.reversals
            for words in filter(None, _variants(clause)) if is_usable else ():
                for begin in (count for count, place in states if place != "after"):
                    end = begin + len(words)
                    claimed = (time for at, time in claim.times if begin < at <= end or at == begin == 0)
                    if _match(claim.words[begin:end], words) and _times_match(claimed, times):
                        following = following | {(end, "among")}
            states = following
        counts = {count for count, _ in states}
    return bool(claim.words) and len(claim.words) in counts


def _has_part(said: Sequence[_Sentence], claim: _Clause, neutral: frozenset[str] = frozenset()) -> bool:
    """Return whether a sentence has the claim's words in a row. A few `neutral` ones may be missing."""
    all_said = _join_clauses(said)
    known = {word.text for word in all_said.words} | {_SELF_MARK}
    words = [word for word in claim.words if word.text in known or word.text not in neutral]
    if len(claim.words) - len(words) > _MAX_NEUTRAL_WORDS:
        return False
    words = [word for word in words if word.text != _SELF_MARK]
    are_times_said = _times_match((time for _, time in claim.times), [time for _, time in all_said.times])
    return are_times_said and any(_has_run(sentence, words, claim.reversals) for sentence in said)


def _has_run(sentence: _Sentence, run: Sequence[_Word], reversals: frozenset[str]) -> bool:
    """Return whether the sentence has the words in a row, and no reversal besides these."""
    words = [word for word in _join_clauses([sentence]).words if word.text != _SELF_MARK]
    for begin in range(len(words) - len(run) + 1):
        end = begin + len(run)
        splits_kanji = any(
            word.continues_kanji for word in (*words[begin : begin + 1], *words[end : end + 1])
        )
        is_negated = any(word.text == _NOT_MARK for word in (*words[:begin], *words[end:]))
        if _match(run, words[begin:end]) and not splits_kanji and not is_negated:
            return _join_clauses([sentence]).reversals <= reversals
    return False


def _split_words(words: Sequence[_Word]) -> list[tuple[_Word, ...]]:
    """Split into single words and runs of kanji."""
    begins = [index for index, word in enumerate(words) if not (index and word.continues_kanji)]
    return [tuple(words[begin:end]) for begin, end in zip(begins, [*begins[1:], len(words)], strict=False)]


_Comparison = tuple[list[_Sentence], _Clause]  # sentences of the author, and the claim of a change


@dataclass(frozen=True, slots=True)
class Grounding:
    """The author's message, and earlier messages that it may refer to."""

    message: str
    now: datetime
    zone: ZoneInfo
    earlier_messages: tuple[str, ...] = ()

    def says(self, content: str) -> bool:
        return any(_has_clauses(*pair) for pair in self._all_comparisons(content, drop_requests=True))

    def says_phrase(self, text: str) -> bool:
        return any(_has_part(*pair) for pair in self._comparisons(text))

    def says_reminder(self, text: str) -> bool:
        """Return whether a reminder has only words that the author said, or a few neutral words."""
        return any(_has_part(*pair, _NEUTRAL_WORDS) for pair in self._all_comparisons(text))

    def means_time(self, due: datetime, repeat: str) -> bool:
        own = _NAME.sub(" ", _usable_text(self.message))
        if repeat:
            return mentioned_times.mentions_repeat(due, repeat, own, self.now, self.zone)
        return mentioned_times.mentions_time(due, own, self.now, self.zone)

    def means_day(self, moment: datetime) -> bool:
        """Return whether the author mentions the day of this moment, or the day that ends at it."""
        own, day = _NAME.sub(" ", _usable_text(self.message)), moment.astimezone(self.zone).date()
        return any(
            mentioned_times.mentions_day(day - timedelta(days=days), own, self.now, self.zone)
            for days in (0, 1)
        )

    def asks_to_end(
        self, text: str, *, others: Sequence[str] = (), is_sole_shown: bool = False, may_be_done: bool = False
    ) -> bool:
        """Return whether the author asks to end this memory or reminder. The message must match it better
        than all `others`; or, if it is the only one shown, say `that`. `may_be_done`: updates count too."""
        own = _NAME.sub(" ", _own_text(self.message))
        if not (_PHRASES["ending"].search(own) or (may_be_done and _PHRASES["update"].search(own))):
            return False
        if sum(map(len, others)) > _MAX_OTHERS_CHARACTERS:
            return False
        points_to_it = is_sole_shown and _POINTING_WORDS.search(own) is not None
        only_points = points_to_it and not self._topic(_ENDING.sub(" ", own))
        return only_points or self._is_named(own, self._topic(text), [*map(self._topic, others)])

    def asks_to_change(
        self, former: str, content: str, *, others: Sequence[str] = (), is_sole_shown: bool = False
    ) -> bool:
        """Return whether the author asks for this change, in their own words. The message must match the
        former text better than all `others`; or match none of them, and either update the only memory shown,
        or the new text shares words with the former."""
        if sum(map(len, others)) > _MAX_OTHERS_CHARACTERS:
            return False
        own = _NAME.sub(" ", _usable_text(self.message))
        is_update = _PHRASES["update"].search(own) is not None
        old, new, rest = self._topic(former), self._topic(content), [*map(self._topic, others)]
        is_named, names_other = self._is_named(own, old, rest), bool(self._topic(own) & set().union(*rest))
        is_meant = is_named or (not names_other and ((is_sole_shown and is_update) or old & new))
        if not new - old or not is_meant:
            return False
        is_replacement = (
            is_update and (is_named or is_sole_shown) and self._replaces_parts(former, content, own)
        )
        return is_replacement or self.says(content)

    def _is_named(self, own: str, topic: set[str], others: Sequence[set[str]]) -> bool:
        """Return whether the message has more words in common with this topic than with any other. If
        as many, it must have all words of this topic, and not of the other."""
        said = self._topic(own)
        match, *matches = [(len(each & said), bool(each) and each <= said) for each in (topic, *others)]
        return match > max(matches, default=(0, False))

    def _replaces_parts(self, former: str, content: str, own: str) -> bool:
        """Return whether the author says all new parts of `content`, and its old parts keep their order."""
        old, new = (_join_clauses(self._parse(normalize(text))) for text in (former, content))
        sentences = self._parse(_PHRASES["rejection"].sub("", re.sub("まちが|間違", "", own)))
        said = [each for each in sentences if not (each.is_question or _join_clauses([each]).reversals)]
        if _word_texts(old.words).count(_NOT_MARK) != _word_texts(new.words).count(_NOT_MARK):
            return False
        old_times = [time.written for _, time in old.times]
        new_times = [time for _, time in new.times if time.written not in old_times]
        old_parts = [_word_texts(part) for part in _split_words(old.words)]
        new_parts = [part for part in _split_words(new.words) if _word_texts(part) not in old_parts]
        same_parts = [_word_texts(part) for part in _split_words(new.words) if _word_texts(part) in old_parts]
        said_times, rest = [time for _, time in _join_clauses(said).times], iter(old_parts)
        return (
            bool(new_parts or new_times)
            and all(part in rest for part in same_parts)
            and all(any(_is_time_said(time, each, old_times) for each in said_times) for time in new_times)
            and all(any(_has_run(sentence, part, frozenset()) for sentence in said) for part in new_parts)
        )

    def _referenced_messages(self) -> Iterator["Grounding"]:
        """Yield the earlier messages if this message only asks to remember something, without content."""
        own = _usable_text(self.message) if self.earlier_messages else ""
        if _PHRASES["request"].search(own) and not _join_clauses(self._parse(own, drop_requests=True)).words:
            yield from (replace(self, message=each, earlier_messages=()) for each in self.earlier_messages)

    def _parse(self, text: str, *, drop_requests: bool = False) -> list[_Sentence]:
        written = _PHRASES["filler"].sub(_pad(""), text.replace("’", "'"))
        times = mentioned_times.find_mentioned(_NAME.sub(_pad(""), written), self.now, self.zone)
        for time in times:
            written = written[: time.begin] + "\0" * (time.end - time.begin) + written[time.end :]
        written = _PHRASES["idiom"].sub(_pad("、"), written)
        if drop_requests:
            written = _REQUEST_JA.sub(_pad("、"), _EMOJI.sub(_pad(""), written))
        sentences, clauses, begin, sentence_begin = list[_Sentence](), list[_Clause](), 0, 0
        for separator in (*_CLAUSE_END.finditer(written), None):
            end, mark = (separator.start(), separator[0]) if separator else (len(written), "\n")
            clauses.append(_parse_clause(written[begin:end], begin, times, drop_request=drop_requests))
            begin = separator.end() if separator else end
            if mark in "!。?\n.":
                is_question = mark == "?" and not _PHRASES["request"].search(text, sentence_begin, end)
                sentences.append(_Sentence(tuple(clauses), is_question))
                clauses, sentence_begin = [], begin
        return sentences

    def _all_comparisons(self, content: str, *, drop_requests: bool = False) -> Iterator[_Comparison]:
        for own in (self, *self._referenced_messages()):
            yield from own._comparisons(content, drop_requests=drop_requests)

    def _comparisons(self, content: str, *, drop_requests: bool = False) -> Iterator[_Comparison]:
        """Yield the message, with and without parts it rejects, and the claim, with and without `want`."""
        own, claimed = _usable_text(self.message), normalize(content).replace("@", "")
        for name in _NAME.findall(own):
            for written in {name[1:], name[1:].replace("_", " ")}:
                claimed = claimed.replace(written, f" {name} ")
        if own and max(len(claimed), len(own)) <= _MAX_CHARACTERS:
            claim = _join_clauses(self._parse(claimed))
            without_want = claim._replace(words=tuple(word for word in claim.words if word.text != "want"))
            for text in dict.fromkeys((own, _PHRASES["rejection"].sub("", own))):
                said = self._parse(text, drop_requests=drop_requests)
                yield from ((said, each) for each in dict.fromkeys((claim, without_want)))

    def _topic(self, text: str) -> set[str]:
        """Return the pairs of kanji, the kana between particles, the other words and the times."""
        found = set[str]()
        for sentence in self._parse(
            _REQUEST_WORDS.sub(" ", _NAME.sub(" ", normalize(text))), drop_requests=True
        ):
            for clause in sentence.clauses:
                found |= {time.written for _, time in clause.times}
                for part in _split_words(clause.words):
                    run = "".join(_word_texts(part))
                    if re.match(f"[{KANJI}]", run):
                        found |= {a + b for a, b in pairwise(run)} or {run}
                    elif run in clause.written and "ぁ" <= run[0] <= "ゖ":
                        found |= {word for word in re.split("[はがをの]", run) if word[1:]}
                    else:
                        found |= {run} - {_NOT_MARK, _SELF_MARK}
        return found - _COMMON_WORDS


def _is_time_said(new: MentionedTime, said: MentionedTime, old_times: Sequence[str]) -> bool:
    """Return whether the author said the new time, or its end if an old one begins so: 16日 of 3月16日."""
    rest = new.written.removesuffix(said.written)
    return said.includes(new) or (rest != new.written and any(each.startswith(rest) for each in old_times))
