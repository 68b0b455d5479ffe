"""Whether a user asked in this turn for what a model is about to do to their memories.

A model obeys whatever it reads, and it reads more than its user's words: notes, files, other people. So what
changes memories is held against the question itself. That something is asked for, words tell (wishes.py);
what it is about, the terms that the question and the memory share. A short yes says what the bot had asked.
"""

import re
from dataclasses import dataclass
from typing import Final

from cc_bot.search.terms import document_terms, written_terms
from cc_bot.tools.wishes import Wish, offers, says_yes, wants, without_wishes

SHARE_STATED: Final = 0.5
"""Of the terms of a note, how many a question has to hold that says so, without asking to have it kept."""
SHARE_ASKED: Final = 0.2
"""The same where the user asked to have something kept: models put it in other words, and dates for days."""
FEW: Final = 8
"""Terms of a question that points at something and names nothing itself."""

_POINTS: Final = re.compile(
    r"これ|それ|あれ|この|その|あの|さっき|先ほど|今[のま]|前の|上の|上記|全部|ぜんぶ|すべて"
    r"|(?<![a-z])(?:this|that|it|these|those|them|above|said|everything|all)(?![a-z])",
    re.IGNORECASE,
)
_FILES: Final = re.compile(
    r"ファイル|添付|画像|写真|スクショ|資料|書類|文書|文章|原稿|中身|(?<![a-z])(?:file|attach|image|picture|photo|pdf"
    r"|screenshot|document|text|page)",
    re.IGNORECASE,
)
_WHOSE: Final = re.compile(
    r"メモリー?|メモ|記憶|記録|データ|情報|内容|覚え(?:て(?:い?る|い?た|もらった)?|た)|(?:わたし|ぼく|おれ|私|僕|俺|自分)"
    r"|(?:これ|今|いま)まで|知って(?:い?る)?|話した|言った|教えた|保存した|登録した|(?:お願い|おねがい)|です|ます|だから"
    r"|ください|下さい|よろしく|やっぱり|もういい|から|について|に関する|こと|もの|もう|件|どうか|今すぐ|すぐ|完全に"
    r"|(?<![a-z])(?:memor(?:y|ies)|notes?|data|info(?:rmation)?|facts?|things?|you|your|know|have|ever|said|told|stored"
    r"|saved|remembered|about|me|please|now|so|far|can|could|just|completely)(?![a-z])",
    re.IGNORECASE,
)
_ALL: Final = re.compile(
    r"全部|ぜんぶ|全て|すべて|一切|みんな|何もかも|\b(?:all|everything|every)\b", re.IGNORECASE
)
_CLAUSE: Final = re.compile(r"[^。．!！?？、,;；\n]+[。．.!！?？、,;；\n]*")
_ASKING: Final = re.compile(r"[?？]|(?:か|かな|っけ)[。\s]*$")
_DATES: Final = re.compile(
    r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{4}年|\d{1,2}月(?:\d{1,2}日)?|\d{1,2}日|\d{1,2}時(?:\d{1,2}分)?"
    r"|\d{1,2}:\d{2}|[(（][月火水木金土日][)）]|[月火水木金土日]曜日?"
    r"|(?:再来|先々|来|今|先|毎)[週月年]|今日|明日|明後日|昨日|毎日"
)
_FRAME: Final = re.compile(
    r"ユーザー?(?:さん)?(?:本人)?(?:の|は|が|に|を)?|(?:私|僕|俺|自分|本人)(?:の|は|が)?"
    r"|です|ます|でした|ました|である|している|ている|という|こと|予定"
    r"|(?:以前|前)(?:に|の)|(?:言|使)っ(?:た|て)(?:いる|る)?|話し(?:た|て)"
    r"|(?<![a-z])(?:the|an?|user(?:'s)?|users|is|are|was|of|to|in|on|at|and|for|my|i|i'm|me|their|his|her|its"
    r"|has|have|they|that|this|it|s|with|be)(?![a-z])",
    re.IGNORECASE,
)


_COUNTED: Final = "[年月日時分秒歳才人回個円階本枚匹台冊杯泊度点週万千百億つ%A-Za-z]|[かヶ]月|丁目|号室"
"""After a number: then it tells how many, or when, and not which memory."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was said in a turn, as far as it may be consent."""

    question: str
    previous_answer: str = ""
    """What the bot said last before it; empty where nobody knows."""
    earlier: str = ""
    """What the same user said before; empty where nobody knows."""
    informed: bool = False
    """Whether the model has read anything that may speak for somebody else: notes, in this turn or before."""

    def to_keep(self, content: str) -> bool:
        """Whether the user wants this kept: they asked for it, or it is what they just stated."""
        if self._agreed("remember"):
            return _share(content, f"{self.previous_answer}\n{self.question}") >= SHARE_ASKED
        if not wants("remember", self.question):
            return _share(content, _statements(self.question)) >= SHARE_STATED
        return not self.informed or _share(content, self._said) >= SHARE_ASKED

    def to_change(self, former: str, number: int, content: str = "") -> bool:
        """Whether the user wants this memory changed, or replaced by the other text; without one, only what
        it is filed under changes."""
        if self._agreed("change"):
            return _related(f"{former} {content}", self.previous_answer)
        if not (wants("change", self.question) or wants("remember", self.question)):
            return False
        if not content:
            return _related(former, self._said) or _names(number, self._said)
        if not (wants("change", self.question) or _akin(former, f"{content} {self.question}")):
            return False
        return _share(content, self._said) >= SHARE_ASKED

    def to_forget(self, memory: str, number: int) -> bool:
        """Whether the user wants this memory deleted."""
        if self._agreed("forget"):
            return _related(memory, self.previous_answer) or _names(number, self.previous_answer)
        if not wants("forget", self.question):
            return False
        if _means_all(self.question) or _names(number, self.question) or _related(memory, self.question):
            return True
        before = f"{self.previous_answer}\n{self.earlier}"
        return points_elsewhere(self.question) and _related(memory, before)

    @property
    def _said(self) -> str:
        return f"{self.question}\n{self.previous_answer}\n{self.earlier}"

    def _agreed(self, wish: Wish) -> bool:
        """Whether the question is a short yes to the bot's own one."""
        return says_yes(self.question) and offers(wish, self.previous_answer)


def points_elsewhere(question: str) -> bool:
    """Whether a question names nothing itself: `それを忘れて`, `覚えて`."""
    left = without_wishes(question)
    terms = _terms(left)
    return not terms or (len(terms) <= FEW and _POINTS.search(left) is not None)


def speaks_of_files(question: str) -> bool:
    """Whether what is attached may be what a question is about: `このファイルを覚えて`."""
    return points_elsewhere(question) or _FILES.search(question) is not None


def _means_all(question: str) -> bool:
    """Whether a question that asks to forget names no more than all there is: `覚えたこと全部忘れて`, not
    `みんなで行った旅行は忘れて`."""
    left, found = _ALL.subn(" ", without_wishes(question))
    return bool(found) and all(re.fullmatch("[ぁ-ん]", term) for term in _terms(_WHOSE.sub(" ", left)))


def _statements(question: str) -> str:
    """What the question states, without what it asks: nobody states what they ask for."""
    return " ".join(clause for clause in _CLAUSE.findall(question) if not _ASKING.search(clause))


def _terms(text: str) -> frozenset[str]:
    """What a text is about, without dates, which models work out, and the words around every note. Only what
    stands there: what else that may mean or be read as would relate a cat to a dog."""
    return written_terms(_FRAME.sub(" ", _DATES.sub(" ", text)))


def _share(content: str, said: str) -> float:
    """How much of a note stands in what was said: 0 to 1. What is all date stands there as it is."""
    terms = _terms(content) or written_terms(content)
    return len(terms & (_terms(said) | written_terms(said))) / len(terms) if terms else 0.0


def _akin(one: str, other: str) -> bool:
    """Whether two texts may be about the same thing, put in other words: a dog may be akin to a cat."""
    return bool(document_terms(_FRAME.sub(" ", one)).keys() & document_terms(_FRAME.sub(" ", other)).keys())


def _related(memory: str, said: str) -> bool:
    return bool(_terms(memory) & _terms(said))


def _names(number: int, said: str) -> bool:
    """Whether a memory is meant by its number: `#3`, `3番`, `3を消して`; not by `3月` or `3人`."""
    return bool(re.search(rf"(?<!\d)(?<!\d[.:/-]){number}(?!\d|[.:/-]\d|{_COUNTED})", said))
