"""Japanese text without spaces, taken apart without a dictionary.

Scripts do most of the work: a run of kanji, katakana or Latin letters is a word. Hiragana is mostly
grammar, so a run of it is covered as cheaply as possible with the pieces of grammar listed here; what
no piece covers is a word too (すし, りんご).
"""

import re
from collections.abc import Iterator

from cc_bot.domain.phrase import Phrase


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_GRAMMAR = _listed(
    """
    は が を に で と の も へ や か ね よ な だ さ わ し て た から まで より だけ しか ほど など とか には
    では とは への との での にも でも からは までに について です でした だった でしょう だろう ます ました
    ません ましょう であり である ではない じゃない ない いない なかった いなかった なく って という といい
    といいます とは なんて なに なん なの なのは なんだ なので ので のに けど けれど だから だけど だよ
    だよね だね だっけ っけ でしたっけ かな かしら よね ですね ですよ ですか ますか んだ んです のだ のです
    いる います いた いました いて ある あります あった ありました する します した しました して している
    しています してる なる なります なった なりました れる られる せる させる たい たく ながら そう よう
    こと もの ため ところ これ それ あれ どれ この その あの どの ここ そこ あそこ どこ どこか こう どう
    いつ だれ どんな どういう どちら どっち いくつ いくら いつも もう まだ また とても すごく やっぱり
    やはり ちょっと たぶん きっと ちなみに あと そして でも じゃあ わたし ぼく おれ あたし うち じぶん
    あなた きみ ください くれ くれる くださる ちょうだい ほしい おしえて しって わかる わかります おぼえて
    わすれないで おねがい えっと えーと ねえ ところで そういえば ほら さん ちゃん くん さま たち お ご め
    """
)
_LONGEST = max(map(len, _GRAMMAR))

STOP_WORDS = _listed(
    """
    私 僕 俺 自分 我 私達 君 貴方 何 誰 今 事 時 物 方 日 月 年 分 人 者 所 的 言 教 聞 知 覚 忘 思 話
    質問 答 前 度 本当 曜日 時間 一番 最近 現在 今日 今年 番 目 次 回 個 記憶 達 色々 普段 毎日 毎
    """
)
"""Kanji words that say nothing about what is asked; counters and dates among them."""

_LEADING_ADVERB = Phrase(
    r"(?:最近|普段|毎[日朝晩週月年]|今[日朝夜年]|昨[日夜年]|去年|先[日週月]|来[週月年]|明日|明後日|一番|現在|全部)"
    r"(?=[一-鿿])"
)
"""An adverb may stand right before a verb, without kana between the two: 最近始めた, 毎晩飲む."""

_RUNS = Phrase(
    r"(?P<latin>[a-z0-9]+(?:['._:/@#+-]+[a-z0-9]+)*)"
    r"|(?P<kanji>[一-鿿々〆ヶ]+(?:[きしちみりえけせべめれっげぎじびせわ]{1,2}[一-鿿々]+)*)"
    r"|(?P<katakana>[ァ-ヺー・]+)"
    r"|(?P<hiragana>[ぁ-ゖー]+)"
)
"""Kanji may hold the inner kana of one word (食べ物, 引っ越し); the kana of 赤い車 part two words."""


def words(text: str) -> tuple[tuple[str, str, int], ...]:
    """Script, word and offset of each run that may carry meaning; `text` is folded."""
    return tuple(_runs(text))


def _runs(text: str) -> Iterator[tuple[str, str, int]]:
    before = ""
    for run in _RUNS.finditer(text):
        script = str(run.lastgroup)
        if script == "hiragana":
            for offset, word in _content(run.group(), inflects=before == "kanji"):
                yield script, word, run.start() + offset
        else:
            for part in re.finditer("[^何]+", run.group()):
                for offset, word in _without_adverb(part.group()):
                    if word not in STOP_WORDS:
                        yield script, word, run.start() + part.start() + offset
        before = script


def _without_adverb(run: str) -> Iterator[tuple[int, str]]:
    """The parts of a run of kanji, a leading adverb being a part of its own."""
    adverb = _LEADING_ADVERB.match(run)
    end = adverb.end() if adverb else 0
    if end:
        yield 0, run[:end]
    yield end, run[end:]


def _content(run: str, *, inflects: bool) -> Iterator[tuple[int, str]]:
    """The words in a run of hiragana. After kanji its first piece is an inflection, not a word."""
    for start, end in _uncovered(run):
        if end - start >= 2 and not (inflects and start == 0):
            yield start, run[start:end]


def _uncovered(run: str) -> tuple[tuple[int, int], ...]:
    """The stretches that grammar leaves over in its cheapest cover (shortest path over the characters)."""
    best: list[tuple[float, tuple[tuple[int, int], ...]]] = [(0.0, ())]
    for end in range(1, len(run) + 1):
        options = []
        for start in range(max(0, end - max(_LONGEST, 8)), end):
            cost, words_before = best[start]
            length = end - start
            if run[start:end] in _GRAMMAR:
                options.append((cost + 0.4 + 0.05 / length, words_before))
            options.append(
                (cost + (2.0 if length == 1 else 1.0 + 0.3 * length), (*words_before, (start, end)))
            )
        best.append(min(options))
    return best[-1][1]
