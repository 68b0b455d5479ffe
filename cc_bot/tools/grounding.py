"""Whether a change says only what the asker said: then it is done at once, whatever else the model has read.

A text is grounded if the asker's own message holds its words, in their order and without a gap. Models say
the same in other words, so a closed list of function words may differ on each side: particles, articles,
endings, the asker as `the user`. None of them is a negation, a number or a name. Whole clauses may be
missing, unless they may turn around what is said beside them (not, if, stopped, 嘘, なら). A date or a time
is grounded if the asker's words mean it.

Texts are compared as strings in which each word of letters and each number is one character.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from cc_bot.domain.mentioned_times import MentionedTime, find_dates, find_leads, find_times, is_meant
from cc_bot.domain.when_words import normalize
from cc_bot.search.folding import stem

# ---- function words --------------------------------------------------------------------------------------

_SELF_JA: Final = (
    "ユーザー本人 ユーザーさん ユーザー 私 わたし わたくし あたし 僕 ぼく 俺 おれ うち 自分 本人"
)
_PARTICLES: Final = (
    "が は も の を に へ で と から より まで や って には では とは にも のは のが のを という っていう"
)
_LABELS: Final = "名前 呼び名 もの こと 事 件 人 方 予定 用事"
_COPULAS: Final = (
    "だ です である でした だよ だね なんだ なの なのだ なんです する した している しています いる ある"
    " る た て ます ました なる なった になった になる ことになった ことにした"
    " ほしい てほしい 希望 がよい がいい よい いい"
)
_DROPPED: Final = (
    "か ね よ な さ わ ぞ ん んだ んです んだよ んだよね なんだよね なんだけど ですが けど けれど"
    " ので のこと のほう ということ といって と言って と言った って言った ている てる てた ておる"
    " とる ており まして ましょう たい よう みたいに になりました ことになりました ことにしました"
    " にした にしました しました します に変わった に変わりました に変更 になったよ かわった"
    " に変えて に直して なきゃ なくちゃ ないと なければ ちゃん くん さん 様 たち ども 今 いま"
    " 今は もう やっぱり やっぱ 実は ちなみに えっと あの まあ ほんと とりあえず ちょっと 一応"
    " これから 今後 今度 最近 この前 この間 さっき お ご"
)
_WORDS_EN: Final = (
    "a an the i me my mine myself we our us user users is am are be been being it its that this these there"
    " here has have got get do does and also please just really so well now as s"
    " name names named called call calls want wants wanted prefer prefers like likes use uses"
)
"""`like` and `want` may not stand for what was left out: nothing is left out between two words."""
_SUBJECT_EN: Final = "i my mine myself we our"
_OPENING_EN: Final = (
    "remember rember note keep mind bear put down save store know knows should hey hi ok okay btw fyi way"
    " future reference could can would you just memo self turns out let for actually oh ah add"
)
_ASKING_JA: Final = re.compile(
    r"(?:覚え|おぼえ|ぼえ|記憶|メモ|控え|忘れ|わすれ|頭に|頼|願|お願|よろ|記録|登録|保存|前提|更新|直し|訂正|知らせ"
    r"|教え|くれ|けろ|ください|下さ|ほし|欲し|助か|もら|いただ)"
)
"""How a request to remember begins, before and after what is to be remembered."""
_KEEPING_JA: Final = re.compile("覚え|おぼえ|記憶し|メモし|控え")
"""買い物リスト`覚えて`: 牛乳."""
_PREPOSITIONS_EN: Final = "to from by for with of about on at in"

_CASES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("は", "も", "の"), "topic"),
    "が": "subject",
    "を": "object",
    "に": "to",
    "へ": "to",
    "から": "from",
    "より": "than",
    "まで": "until",
    "で": "by",
    "と": "with",
}
"""Who does what to whom: a particle does not take the place of one of another kind, nor a preposition."""


def _differ(one: str, other: str) -> bool:
    """Return whether two cases, if both are known, are not the same. A topic may be subject or object."""
    kinds = {one, other}
    return "" not in kinds and len(kinds) > 1 and not ("topic" in kinds and kinds & {"subject", "object"})


_TURNING_JA: Final = re.compile(
    r"ない(?!と|で(?:ほし|欲し))|なかっ|なく(?!なっ|ちゃ|なり|て(?:は|も)?(?:なら|いけ|よい|いい))|ません|(?<!必)ず(?=[に、,\n]|$)|なし|無し"
    r"|無い|ねえ|嘘|うそ|ウソ|冗談|違|ちが|間違|やめ|辞め|止め|嫌|きらい|キライ|以外|禁止|無理|だめ|ダメ|駄目|もし|なら(?!な)"
    r"|場合|元[カ彼妻夫]|[うくぐすつぬぶむる]な(?=[,\n]|$|って|と)|らしい|かも|はず|と言われ|って聞|以前|昔|拒|断"
)
_TURNING_EN: Final = (
    "not no never nor neither none nothing nobody without except unless if hardly stop stopped quit hate"
    " hates dislike lie lied false wrong fake pretend pretended joke joking kidding ex former formerly deny"
    " denied refuse refused avoid used thought think said say says claim claims might maybe until instead"
    " cannot"
)
"""Words that may turn what stands beside them around: they are never left out of their sentence."""

_ASIDE: Final = re.compile(
    r"(?:絶対に?|決して)?(?:忘れ|わすれ)(?:ない(?:で|ように)|ず|るな|そう|ちゃ)[^\n、。]{0,8}"
    r"|な(?:きゃ|くちゃ|ければ|いと|くては)(?:(?:いけ|なら)ない|いけません|なりません|だめ)?"
    r"|(?:くれ|もらえ|いただけ|頂け)(?:ない|ません)|かもしれない(?=[けが])|じゃ(?:ない|ん)[？?]"
    r"|\b(?:do not|don't|dont|never|not to) (?:let me |you )?forget(?: that| to)?\b"
    r"|\bnot? (?:problem|worries)\b"
    r"|\bi'd like you to\b|\bif (?:you can|possible|you (?:don't|do not) mind)\b"
)
"""Requests that hold such a word and turn nothing around."""
_CORRECTED: Final = re.compile(
    r"(?:(?<=[^ァ-ヺー])[ァ-ヺー]+|[^\n,。、ぁ-ゖ]{1,12})(?:じゃなくて?|ではなくて?|でなく|から(?=[^\n]{1,8}(?:に|へ)(?:変|な)))[,、]?"
)
"""`モチじゃなくて`モモ: what is corrected."""


def _list(words: str) -> frozenset[str]:
    return frozenset(words.replace("ー", "").split())


_SKIPPED_JA: Final = _list(f"{_SELF_JA} {_PARTICLES} {_LABELS} {_COPULAS} {_DROPPED}")
_LONGEST_SKIPPED: Final = max(map(len, _SKIPPED_JA))


def _any(words: str) -> str:
    return "|".join(sorted(map(re.escape, _list(words)), key=lambda word: (-len(word), word)))


_ADDED_JA: Final = re.compile(
    rf"(?:(?:{_any(_SELF_JA)})(?:の|は|が|を|に)?)?"
    rf"(?P<first>{_any(_PARTICLES)})?(?:(?:{_any(_LABELS)})(?:{_any(_PARTICLES)})?)?(?:{_any(_COPULAS)})?(?:の|こと)?"
)
"""All that may be added in one place: `の名前は`, `を希望している`. No name is made of it."""
_ENDING: Final = re.compile(
    r"[いうえおきくけこぎぐげごさしすせそたちつてなぬねばびぶべぼまみむめらりるれろわっん][るれっ]?"
)
"""What a verb may end in after its kanji, where no particle begins."""

# ---- encoding --------------------------------------------------------------------------------------------

_FIRST_CODE: Final = 0xF0000
_KNOWN: Final = {
    word: f"!{word}" for word in f"you your their {_OPENING_EN} {_WORDS_EN} {_PREPOSITIONS_EN}".split()
} | {word: f"!{stem(word)}" for word in _TURNING_EN.split()}
"""What stands for each, so that `note` is not taken for `not`."""
_CODES: Final = {word: chr(_FIRST_CODE + at) for at, word in enumerate(sorted(set(_KNOWN.values())))}
_PREPOSITIONS: Final = {_CODES[_KNOWN[word]]: word for word in _PREPOSITIONS_EN.split()} | {
    _CODES[_KNOWN[word]]: "at" for word in ("on", "in")
}
_FREE_EN: Final = frozenset(_CODES[_KNOWN[word]] for word in _WORDS_EN.split()) | _PREPOSITIONS.keys()
_ADDED_EN: Final = _FREE_EN | {_CODES["!you"], _CODES["!your"], _CODES["!their"]}
"""A model calls the asker so; the asker, the bot and others."""
_OPENS_EN: Final = frozenset(_CODES[_KNOWN[word]] for word in _OPENING_EN.split())
_SUBJECTS_EN: Final = frozenset(_CODES[_KNOWN[word]] for word in _SUBJECT_EN.split())
_POSSESSIVE: Final = _CODES["!s"]
_TURNS_EN: Final = frozenset(_CODES[_KNOWN[word]] for word in _TURNING_EN.split())
_CLAUSE: Final = ","
_SENTENCE: Final = "\n"
_ASKED: Final = "?"
_MARKS: Final = frozenset({_CLAUSE, _SENTENCE, _ASKED})
_NAME: Final = re.compile(r"@[^\s@]{1,40}")
"""Of somebody who is mentioned (discord/incoming): they chose it, so it is one word."""
_TOKEN: Final = re.compile(
    r"(?P<name>@[^\s@]{1,40})"
    r"|(?P<number>(?:(?<![0-9a-z-])-)?\d+(?:,\d{3})*(?!\d)(?:\.\d+)?)"
    r"|(?P<word>[a-z\u00c0-\u024f\u0370-\u04ff_]+(?:['’][a-z]+)?)"
    r"|(?P<asked>\?)"
    r"|(?P<sentence>[。!\n]|(?<!\bmr)(?<!\bms)(?<!\bdr)(?<!\bmrs)\.(?=\s|$))"
    r"|(?P<clause>[、,;:()「」『』〈〉【】…—・/]|\s-\s)"
    r"|(?P<sign>[々〇㐀-䶿一-鿿豈-﫿ぁ-ゖァ-ヺ\uac00-\ud7a3\U00020000-\U0003ffff])"
)
_CONTRACTED: Final = {
    "n't": "not",
    "'m": "am",
    "'re": "are",
    "'ve": "have",
    "'ll": "will",
    "'d": "would",
    "'s": "s",
}
_IRREGULAR: Final = {
    "can't": "can not",
    "won't": "will not",
    "dont": "do not",
    "cant": "can not",
    "im": "i am",
}

_ASKING_EN: Final = "".join(
    _CODES[f"!{word}"] for word in ("remember", "keep", "mind", "note", "save", "know")
)
_QUESTION: Final = re.compile(
    rf"(?:(?<=\n)|^)(?:(?!覚え|おぼえ|記憶|メモ|忘れ|知らせ|教え|くれ|もらえ|いただけ|ほし|[{_ASKING_EN}])[^\n?])*\?"
)
_NOT, _NO, _INSTEAD, _OF = (_CODES[f"!{word}"] for word in ("not", "no", "instead", "of"))
_BUT: Final = chr(_FIRST_CODE - 1)
_NOT_THAT: Final = re.compile(
    rf"(?<=[,\n]){_NOT}[^,\n]{{1,4}}(?=[,\n]|$)|{_NOT}[^,\n]{{1,4}}{_BUT}"
    rf"|(?<=[^,\n]){_INSTEAD}{_OF}[^,\n]{{1,4}}(?=[,\n]|$)|(?:^|(?<=[,\n]))[^,\n]?{_NO}(?=[,\n])"
)
"""It's Momo, `not Mochi`: nor does this turn around what stands beside it."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A text as it is compared."""

    codes: str
    places: tuple[int, ...]
    """Where each of them begins in the text as `normalize` left it."""

    def at(self, place: int) -> int:
        """Return the first code that does not begin before this place."""
        return bisect_left(self.places, place)


class _Encoder:
    """Gives each word the same code in both texts."""

    def __init__(self) -> None:
        self._codes = {**_CODES, "but": _BUT}

    def encode(self, written: str) -> _Text:
        codes, places = list[str](), list[int]()
        for match in _TOKEN.finditer(written):
            for code in self._codes_of(match):
                codes.append(code)
                places.append(match.start())
        return _Text("".join(codes), tuple(places))

    def _codes_of(self, match: re.Match[str]) -> Iterator[str]:
        kind, found = match.lastgroup, match[0]
        if kind == "sign":
            yield found
        elif kind in ("clause", "sentence", "asked"):
            yield from {"clause": _CLAUSE, "sentence": _SENTENCE, "asked": _ASKED + _SENTENCE}[kind]
        elif kind == "word":
            yield from map(self._code, _words_of(found))
        elif kind == "number":
            yield self._code(found.replace(",", "").strip())
        else:  # a name that somebody else chose: all of it or nothing
            yield self._code(found)

    def _code(self, word: str) -> str:
        return self._codes.setdefault(word, chr(_FIRST_CODE + len(self._codes)))


def _words_of(written: str) -> Iterator[str]:
    """Yield the stems of a word; of a contracted one those of both."""
    word = written.replace("’", "'")
    word = _IRREGULAR.get(word, word)
    for ending, full in _CONTRACTED.items():
        if word.endswith(ending):
            word = f"{word.removesuffix(ending)} {full}"
            break
    yield from (_KNOWN.get(each) or stem(each) for each in word.split())


_KANJI: Final = re.compile("[々〇㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff]")
_KATAKANA: Final = re.compile("[ァ-ヺ]")


def _parts_word(before: str, after: str) -> bool:
    """Return whether two neighbours are of one word: 東|京, モ|チ."""
    return any(kind.match(before) and kind.match(after) for kind in (_KANJI, _KATAKANA))


# ---- what was said ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Said:
    """What the asker said, and what of it may be left out."""

    codes: str
    times: Mapping[int, Sequence[int]]
    """Where a time is named, and where its words may end."""
    meant: Sequence[tuple[int, MentionedTime]]
    """Where each is named."""
    whole: bool = True
    """Whether whole clauses must be taken, and no questions: a part may be about somebody else, or not so."""
    forgiving: bool = False
    """Whether words of correction turn nothing around: a change is asked for."""
    _reached: dict[tuple[int, int], frozenset[int]] = field(default_factory=dict)

    @cached_property
    def corrected(self) -> Mapping[int, int]:
        """What is said not to be so, from where to where: all of it or nothing is taken."""
        return dict(match.span() for each in (_CORRECTED, _NOT_THAT) for match in each.finditer(self.codes))

    @cached_property
    def _inside_corrected(self) -> frozenset[int]:
        return frozenset(at for begin, end in self.corrected.items() for at in range(begin + 1, end))

    @cached_property
    def _turning(self) -> Sequence[int]:
        """How many codes before each place may not be left out."""
        fine = set(self.corrected) | self._inside_corrected
        if self.forgiving:
            fine |= {at for match in _CORRECTS.finditer(self.codes) for at in range(*match.span())}
        return (
            0,
            *accumulate(
                at not in fine and turns
                for at, turns in enumerate(_turning(self.codes, questions=self.whole))
            ),
        )

    def turns(self, begin: int, end: int) -> bool:
        """Return whether to leave this part out may turn around what stands beside it."""
        return self._turning[end] > self._turning[begin]

    @cached_property
    def _bounds(self) -> Sequence[tuple[int, int]]:
        """Where the clause of each place begins, and where the sentence does."""
        found, clause, sentence = list[tuple[int, int]](), 0, 0
        for at, code in enumerate(f"{self.codes} "):
            found.append((clause, sentence))
            clause = at + 1 if code in _MARKS else clause
            sentence = at + 1 if code == _SENTENCE else sentence
        return found

    @cached_property
    def _ends(self) -> Sequence[tuple[int, int]]:
        """Where the clause of each place ends, and where the sentence does."""
        found, clause, sentence = list[tuple[int, int]](), len(self.codes), len(self.codes)
        for at in range(len(self.codes), -1, -1):
            code = self.codes[at : at + 1]
            clause = at if code and code in _MARKS else clause
            sentence = at if code == _SENTENCE else sentence
            found.append((clause, sentence))
        return found[::-1]

    def clause(self, at: int) -> tuple[int, int]:
        return self._bounds[at][0], self._ends[at][0]

    def may_begin(self, at: int) -> bool:
        """Return whether what stands before a place in its sentence may be left out: in its clause nothing of
        what is said, if this is to be `whole`."""
        if self.turns(self._bounds[at][1], at) or at in self._inside_corrected or not self._parts(at):
            return False
        begin, end = self.clause(at)
        before = self.codes[at - 1 : at]
        if not self.whole or begin == at or before in _SUBJECTS_EN:
            return True
        return before != _POSSESSIVE and at in self.reached(begin, end)

    def may_end(self, at: int) -> bool:
        """Likewise what follows in its sentence."""
        if self.turns(at, self._ends[at][1]) or at in self._inside_corrected or not self._parts(at):
            return False
        if not self.whole:
            return True
        _, end = self.clause(at)
        return self.codes[at : at + 1] != _POSSESSIVE and any(
            each == end or self.codes[each] in _OPENS_EN or _ASKING_JA.match(self.codes, each)
            for each in self.reached(at, end)
        )

    def _parts(self, at: int) -> bool:
        """Return whether a word ends here, and does not go on: a time or a function word may stand in a run
        of kanji."""
        if not 0 < at < len(self.codes) or not _parts_word(self.codes[at - 1], self.codes[at]):
            return True
        return at in self._time_bounds or any(
            self.codes[at : at + length] in _SKIPPED_JA or self.codes[max(at - length, 0) : at] in _SKIPPED_JA
            for length in range(1, 4)
        )

    @cached_property
    def _time_bounds(self) -> frozenset[int]:
        return frozenset((*self.times, *(end for ends in self.times.values() for end in ends)))

    def reached(self, begin: int, end: int) -> frozenset[int]:
        """Find the places up to which all from the beginning on is no part of what is said."""
        if (begin, end) not in self._reached:
            found, left = set[int](), [begin, *_endings(self.codes, begin)]
            while left:
                if (at := left.pop()) in found or at > end:
                    continue
                found.add(at)
                left += [each for each, _ in self.dropped(at)]
                left += self.times.get(at, ())
                if self.codes[at : at + 1] in _OPENS_EN:
                    left.append(at + 1)
                if match := _ASKING_JA.match(self.codes, at):
                    left += _endings(self.codes, match.end())
            self._reached[begin, end] = frozenset(found)
        return self._reached[begin, end]

    def dropped(self, at: int) -> Sequence[tuple[int, str]]:
        """Find how far function words may be left out from here, with the case of what is."""
        code = self.codes[at : at + 1]
        if code in _FREE_EN:
            return ((at + 1, _PREPOSITIONS.get(code, "")),)
        if at in self.corrected:
            return ((self.corrected[at], ""),)
        words = (self.codes[at : at + length] for length in range(1, _LONGEST_SKIPPED + 1))
        return [
            (at + len(word), _CASES.get(word, ""))
            for word in words
            if word in _SKIPPED_JA and not self.turns(at, at + len(word))
        ]

    def names(self, times: Sequence[MentionedTime], at: int, *, begun: bool) -> bool:
        """Return whether the clause names one of the times, or else one that says nothing else. A clause of
        which no word is claimed must say nothing else."""
        begin, end = self.clause(at)
        if not begun and end not in self.reached(begin, end):
            return False
        here = [each for place, each in self.meant if begin <= place < end]
        return any(each in times for each in here or self._alone)

    @cached_property
    def _alone(self) -> Sequence[MentionedTime]:
        clauses = ((self.clause(at), each) for at, each in self.meant)
        return [each for (begin, end), each in clauses if end in self.reached(begin, end)]


# ---- alignment -------------------------------------------------------------------------------------------

_MAX_CODES: Final = 1500
_MAX_STATES: Final = 4000
"""What is longer, or takes more steps, is not grounded."""
_LONGEST_ADDED: Final = 12
_OF_TIMES: Final = frozenset("はにのでも")


class _State(NamedTuple):
    """How far a claim was followed in what was said."""

    i: int
    """In the claim."""
    j: int
    """In what was said."""
    added: str = ""
    """The case of what the claim has after the last word, and of what was said there."""
    dropped: str = ""
    has_added: bool = False
    has_dropped: bool = False
    begun: bool = True
    """Whether a word of this clause is claimed."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A text that was claimed to be said."""

    codes: str
    times: Mapping[int, Sequence[tuple[int, tuple[MentionedTime, ...]]]]
    """Where it names a time by its numbers that may be one of these, and where its words end."""

    def follows_from(self, said: _Said) -> bool:
        """Return whether what was said holds all of it, in order and without a gap."""
        if max(len(self.codes), len(said.codes)) > _MAX_CODES:
            return False
        begins = (at for at in range(len(said.codes)) if said.may_begin(at))
        left = [_State(0, at) for at in begins]
        seen = set(left)
        while left and len(seen) < _MAX_STATES:
            state = left.pop()
            if state.i == len(self.codes) and said.may_end(state.j):
                return True
            following = [each for each in self._next(state, said) if each not in seen]
            seen.update(following)
            left += following[::-1]  # what is the same in both first
        return False

    def _next(self, state: _State, said: _Said) -> Iterator[_State]:
        i, j, added, dropped, has_added, has_dropped, begun = state
        code = said.codes[j : j + 1]
        if code and code == self.codes[i : i + 1]:
            yield from self._matched(state, said)
        for end, found in said.dropped(j):
            case = dropped if has_dropped else found
            if not _differ(added, case):
                yield state._replace(j=end, dropped=case, has_dropped=True)
        if _KEEPING_JA.match(said.codes, j) and not said.turns(j, end := said.clause(j)[1]):
            yield _State(i, end, begun=begun)
        if code and code in _MARKS and not said.turns(j, j + 1):
            yield _State(i, j + 1, begun=False)
            _, end = said.clause(j + 1)
            if end > j + 1 and not said.turns(j + 1, end):
                yield _State(i, end, begun=False)
        for mine, theirs in self._times(i, j, said, begun=begun):
            yield _State(mine, theirs, begun=begun)
        for end, found in self._added(i, has_added=has_added):
            case = added if has_added else found
            if not _differ(dropped, case):
                yield state._replace(i=end, added=case, has_added=True)

    def _matched(self, state: _State, said: _Said) -> Iterator[_State]:
        i, j, added, dropped, has_added, has_dropped, _ = state
        case = _CASES.get(said.codes[j]) or _PREPOSITIONS.get(said.codes[j], "")
        if (not has_added and _differ(dropped, case)) or (not has_dropped and _differ(added, case)):
            return
        yield _State(i + 1, j + 1)
        if _KANJI.match(said.codes[j]):
            for mine in _endings(self.codes, i + 1):
                for theirs in _endings(said.codes, j + 1):
                    yield _State(mine, theirs, has_added=True)

    def _added(self, i: int, *, has_added: bool) -> Iterator[tuple[int, str]]:
        """Yield how far the claim may have function words from here, with the case of these."""
        if (code := self.codes[i : i + 1]) in _ADDED_EN:
            yield i + 1, _PREPOSITIONS.get(code, "")
        elif not has_added:
            for end in range(i + 1, min(len(self.codes), i + _LONGEST_ADDED) + 1):
                if match := _ADDED_JA.fullmatch(self.codes, i, end):
                    yield end, _CASES.get(match["first"] or "", "")

    def _times(self, i: int, j: int, said: _Said, *, begun: bool) -> Iterator[tuple[int, int]]:
        """Yield how far a time may be left out of what was said, or added to the claim, with its particle."""
        for end in said.times.get(j, ()):
            yield i, end
            if said.codes[end : end + 1] in _OF_TIMES:
                yield i, end + 1
        for end, times in self.times.get(i, ()):
            if said.names(times, j, begun=begun):
                yield end, j
                if self.codes[end : end + 1] in _OF_TIMES:
                    yield end + 1, j


def _endings(text: str, at: int) -> Iterator[int]:
    """Yield where a verb whose kanji ends here may end."""
    yield at
    if match := _ENDING.match(text, at):
        yield from range(at + 1, match.end() + 1)


def _turning(codes: str, *, questions: bool = False) -> Sequence[bool]:
    """Return of each code whether it may turn around what stands beside it, as `questions` do: they say
    nothing."""
    turning = [code in _TURNS_EN for code in codes]
    asked = _QUESTION.finditer(codes) if questions else ()
    for match in (*_TURNING_JA.finditer(codes), *asked):
        turning[match.start() : match.end()] = [True] * (match.end() - match.start())
    return turning


# ---- grounding -------------------------------------------------------------------------------------------


def is_grounded(claim: str, said: str, now: datetime, zone: ZoneInfo, *, whole: bool = True) -> bool:
    """Return whether a text says only what the asker said: in `whole` clauses, or also in parts of them."""
    return _compare(claim, said, now, zone).is_said(whole=whole)


def is_change_grounded(
    former: str, content: str, said: str, now: datetime, zone: ZoneInfo, *, shown: bool
) -> bool:
    """Return whether the asker's words change a memory to this content: all of it is theirs, or the former
    text with parts of it replaced by theirs. They share words with it, or correct what was just `shown`."""
    mine, words, new = _content_words(former), _content_words(_unnamed(said)), _content_words(content)
    if not new - mine:  # it only takes away
        return False
    is_meant = bool(mine & words) or (shown and _CORRECTS.search(_unnamed(said)) is not None)
    compared = _compare(content, said, now, zone)
    return (bool(is_meant or mine & new) and compared.is_said()) or (is_meant and compared.is_changed(former))


def is_removal_grounded(text: str, said: str, *, shown: bool, may_be_done: bool = False) -> bool:
    """Return whether the asker's words end this memory or reminder: they tell that something goes, and share
    words with it or mean what was `shown`. A reminder `may_be_done` by now."""
    words = _unnamed(said)
    if not (_ENDS_IT.search(words) or (may_be_done and _IS_DONE.search(words))):
        return False
    return bool(_content_words(text) & _content_words(words)) or (shown and _THAT.search(words) is not None)


def is_time_grounded(due: datetime, repeat: str, said: str, now: datetime, zone: ZoneInfo) -> bool:
    """Return whether the asker's words mean this time, and this repeat."""
    times, local = find_times(_unnamed(said), now, zone), due.astimezone(zone)
    if repeat:
        return any(each.repeat and each.has_rhythm(local, repeat, zone) for each in times)
    once = [each for each in times if not each.repeat]
    return any(is_meant(local + lead, once) for lead in (timedelta(), *find_leads(_unnamed(said))))


def is_day_grounded(moment: datetime, said: str, now: datetime, zone: ZoneInfo) -> bool:
    """Return whether the asker's words mean the day that this moment is on, or that it ends."""
    days = [(moment.astimezone(zone) - timedelta(days=days)).date() for days in (0, 1)]
    return any(each.dated and any(map(each.fits_day, days)) for each in find_times(_unnamed(said), now, zone))


def is_reminder_text_grounded(text: str, said: str, now: datetime, zone: ZoneInfo) -> bool:
    """Return whether a reminder says what the asker said, or only that it is time."""
    own = _unquoted(said)
    rest = _DURATION.sub(lambda each: "" if each[0] in own else each[0], normalize(text))
    return _ONLY_TIME.fullmatch(rest) is not None or is_grounded(text, said, now, zone, whole=False)


_DURATION: Final = re.compile(
    r"\b\d{1,4} ?(?:秒|分|時間|時|日|週間|seconds?|minutes?|mins?|hours?|days?)(?:後|前)?"
)
_ONLY_TIME: Final = re.compile(
    r"(?:時間|になりました|です|お知らせ|知らせ|通知|リマインダー|リマインド|たちました|経ちました|過ぎました"
    r"|[のがは]|it|time|is|are|s|up|reminder|the|your|now|[\s、。,.!:'’⏰-])*+"
)

_QUOTED: Final = re.compile(r"「[^「」]*+」|『[^『』]*+』")
_REQUEST: Final = re.compile(r"覚え|おぼえ|記憶|知らせ|通知|リマイン|remember|remind")


def _unquoted(said: str) -> str:
    """Return what the asker said without what they only quote: code, and a request within 「」."""
    own = "、".join(normalize(said).split("```")[::2])
    return _QUOTED.sub(lambda quoted: "、" if _REQUEST.search(quoted[0]) else quoted[0], own)


def _unnamed(said: str) -> str:
    """Return what the asker said without the names of others in it."""
    return _NAME.sub(lambda name: " " * len(name[0]), _unquoted(said))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A claim, what was said, and the times that this means."""

    mine: str
    theirs: str
    encoder: _Encoder
    times: Sequence[MentionedTime]

    def is_said(self, *, whole: bool = True) -> bool:
        text = self.encoder.encode(self.mine)
        keep = [at for at, code in enumerate(text.codes) if code not in _MARKS]
        claim = _Text("".join(text.codes[at] for at in keep), tuple(text.places[at] for at in keep))
        written = dict[int, list[tuple[int, tuple[MentionedTime, ...]]]]()
        for begin, end, meant in find_dates(self.mine, self.times):
            written.setdefault(claim.at(begin), []).append((claim.at(end), meant))
        said = self._said(whole=whole)
        # `the call` has function words alone: then it is said where it is, word for word.
        has_content = _has_content(claim.codes) or (len(claim.codes) > 1 and claim.codes in said.codes)
        return has_content and _Claim(claim.codes, written).follows_from(said)

    def is_changed(self, former: str) -> bool:
        """Return whether the claim is a former text with parts of it replaced by what was said."""
        new, old = (self.encoder.encode(each).codes for each in (self.mine, normalize(former)))
        if max(len(new), len(old)) > _MAX_CHANGED or sum(_turning(new)) != sum(_turning(old)):
            return False
        changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        pieces = [
            _whole(new, begin, end) for kind, _, _, begin, end in changes if kind in ("replace", "insert")
        ]
        contents = [_Claim(piece, {}) for piece in pieces if _has_content(piece)]
        said = self._said(whole=False, forgiving=True)
        return bool(contents) and all(each.follows_from(said) for each in contents)

    def _said(self, *, whole: bool, forgiving: bool = False) -> _Said:
        said, times = self.encoder.encode(self.theirs), dict[int, list[int]]()
        for each in self.times:
            times.setdefault(said.at(each.begin), []).append(said.at(each.end))
        return _Said(
            said.codes, times, [(said.at(each.begin), each) for each in self.times], whole, forgiving
        )


_MAX_CHANGED: Final = 400


def _whole(text: str, begin: int, end: int) -> str:
    """Return a part of a text with all of the words that it begins and ends in."""
    while 0 < begin < end and _parts_word(text[begin - 1], text[begin]):
        begin -= 1
    while begin < end < len(text) and _parts_word(text[end - 1], text[end]):
        end += 1
    return text[begin:end]


def _compare(claim: str, said: str, now: datetime, zone: ZoneInfo) -> _Comparison:
    mine, theirs = normalize(claim), _ASIDE.sub("、", _unquoted(said))
    times = find_times(_NAME.sub(lambda name: " " * len(name[0]), theirs), now, zone)
    for name in _NAME.findall(theirs):
        for written in (name, name.replace("_", " "), name[1:], name[1:].replace("_", " ")):
            if written in mine:
                mine = mine.replace(written, f" {name} ")
                break
    return _Comparison(mine, theirs, _Encoder(), times)


def _has_content(codes: str) -> bool:
    """Return whether there is a word that is more than an ending or a particle."""
    words = [code for code in codes if code not in _FREE_EN and code not in _MARKS]
    return len(words) > 2 or any(not "ぁ" <= code <= "ゖ" for code in words)


# ---- what is pointed at ----------------------------------------------------------------------------------

_ENDS_IT: Final = re.compile(
    r"忘れ|わすれ|消[しせすさ去え]|けし|削除|取り?消|破棄|捨て|外し|はず[しす]|いらな|要らな|不要|やめ|止め|とめ|なし|なくし|なかった"
    r"|もういい|覚え(?:て(?:い)?)?なく|キャンセル|解除|ストップ|終わ|おわ|済"
    r"|\banymore\b|\bno (?:longer|need)\b|(?:need to|not|n't) (?:know|remember|keep)\b"
    r"|\bnever mind|\b(?:forget|delet|remov|eras|cancel|drop|scrap|wip|clear|stop|skip|scratch|kill"
    r"|bin|toss|lose|undo|off|done)"
)
_IS_DONE: Final = re.compile(
    r"もう[^、。\n]{0,12}た|大丈夫|変更|変え|ずらし|\b(?:change|move|reschedul)\w*"
    r"|(?:知らせ|教え|言わ|起こさ|覚えて)(?:な|ん)|\b(?:already|sorted|no need|returned|paid|bought)\b"
)
_CORRECTS: Final = re.compile(
    r"やっぱ|じゃなく|ではなく|変え|変更|変わ|かわ|訂正|直し|なおし|まちが|間違|\b(?:actually|instead|change|not|no|correct|rather|now)\b"
)
_THAT: Final = re.compile(r"それ|これ|今の|さっきの|いまの|\b(?:that|it|this)\b")
_WORD_JA: Final = re.compile(r"[㐀-䶿一-鿿々]+|[ァ-ヺー]+|[ぁ-ゖ]+")
_STOP_JA: Final = re.compile(
    f"{_any(_SELF_JA)}|(?:忘れ|覚え|消し|削除|記憶|取消|教え|話|前|言|件|事|名前|番号|今|方)"
)


def _content_words(text: str) -> frozenset[str]:
    """The words of a text that are no function words: of Japanese, pairs of characters."""
    written = normalize(text)
    found = set[str]()
    for match in _TOKEN.finditer(written):
        if match.lastgroup == "word":
            found |= {each for each in _words_of(match[0]) if _CODES.get(each) not in _FREE_EN}
        elif match.lastgroup == "number":
            found.add(match[0])
    for run in _WORD_JA.findall(_STOP_JA.sub(" ", written)):
        if "ぁ" <= run[0] <= "ゖ":
            for part in re.split("[はがをのにでともへやねよ]", run):
                found |= {a + b for a, b in pairwise(part) if a + b not in _SKIPPED_JA}
        else:
            found |= {a + b for a, b in pairwise(run)} or {run}
    return frozenset(found)
