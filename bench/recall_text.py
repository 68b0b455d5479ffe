"""Everyday notes in Japanese, as many as one wants, and what is asked of them: the same every time.

The speed of a search depends on how many notes hold its words. Words are drawn here as they are in speech,
the second most frequent half as often as the first and so on down to those said once (Zipf's law), from a
vocabulary of four thousand: some hundred everyday ones, names, and two kanji or some kana put together.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

# Words with a blank between them, the most frequent first.
EVERYDAY = """
    仕事 会社 家族 母 父 妹 友達 犬 猫 誕生日 電話 メール 予定 会議 旅行 週末 朝ごはん 昼ごはん 夕飯 コーヒー
    ラーメン カレー お茶 ケーキ 野菜 魚 薬 病院 歯医者 学校 大学 試験 宿題 本 漫画 映画 アニメ 音楽 ライブ
    ギター ピアノ ゲーム スマホ パソコン キーボード カメラ 写真 自転車 車 電車 駅 空港 ホテル 温泉 海 山 公園
    図書館 靴 服 帽子 眼鏡 時計 鍵 財布 部屋 台所 庭 引っ越し 家賃 洗濯 掃除 買い物 料理 散歩 ジム 水泳 野球
    サッカー 英語 中国語 メモ 約束 お金 給料 締め切り 発表 資料 先生 上司 後輩 隣の人 子ども 娘 息子 いとこ
    サーバー 配信 推し
"""
FAMILY = """
    佐藤 鈴木 高橋 田中 渡辺 伊藤 中村 小林 山本 加藤 吉田 山田 松本 井上 木村 林 清水 森 池田 橋本
"""
LOCATIONS = "東京 横浜 大阪 京都 札幌 福岡 仙台 新宿 渋谷 神戸 沖縄 金沢 広島 川崎 上野 池袋 鎌倉 箱根"
ENGLISH = "coffee meeting birthday guitar laptop server deploy camera train hotel garden recipe ticket novel"
DONE = "行く 行った 買った 食べる 食べた 使っている 習っている 忘れない 決めた 直した 読み終わった 頼まれた"
WHEN = "毎朝 昨日 来週の金曜 毎週火曜 夜 3月 8月15日 午前10時 週末 年末 去年 来年の春 月に一度 2024年"
KANJI = (
    "朝昼夜春夏秋冬東西南北山川海空雨雪風花草木林森石金銀銅鉄火水土日月星光音声色形心体手足目耳口歯頭"
    "首背腹人男女子親友家店町村市県国道橋駅車船机本紙筆書読話語歌画図字文学校教室年週時分前後左右上下中"
    "外内間大小高低長短新古明暗強弱早遅近遠多少安楽正直休出入開閉行来帰送受買売借貸作切着旅食飲茶米麦"
)
MORAE = "アイウエオカキクケコサシスセソタチツテトナニネノハヒフヘホマミムメモヤユヨラリルレロン"
PLAIN = (
    "{a}は{b}の{c}",
    "{when}に{a}と{b}へ{done}",
    "{name}さんは{a}が好きで、{b}は苦手",
    "{when}、{location}で{name}さんと{a}の{b}を{done}",
    "{a}と{b}と{c}は{d}に置いてある",
    "{location}の{a}で{b}を{done}。{c}は{when}まで",
    "My {english} is about {a}, not {b}",
    "{a}の{b}は{number}番、{c}は{number}円",
)
ASKED = (
    "{a}はいつ？",
    "{a}の{b}はどこだっけ",
    "{a}について教えて",
    "{name}さんの好きなもの",
    "what is my {english}?",
)
VOCABULARY = 4000


@dataclass(frozen=True, slots=True)
class Phrase:
    """A note, and the words in it that one would ask for."""

    text: str
    words: tuple[str, ...]


@cache
def vocabulary() -> tuple[Sequence[str], Sequence[float]]:
    """The words, the most frequent first, and how often each and all before it are said."""
    chance, words = random.Random(1), dict.fromkeys(EVERYDAY.split())
    while len(words) < VOCABULARY:
        kana = chance.random() < 0.25
        made = chance.choices(MORAE, k=chance.randrange(2, 5)) if kana else chance.choices(KANJI, k=2)
        words["".join(made)] = None
    return tuple(words), tuple(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))


class Everyday:
    """An endless source of notes and questions. Those of one seed are always the same."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def note(self) -> Phrase:
        """One of about 25 characters; every fourth is twice as long."""
        first = self._filled(PLAIN)
        if self._chance.random() >= 0.25:
            return first
        second = self._filled(PLAIN)
        return Phrase(f"{first.text}。{second.text}", first.words + second.words)

    def question(self, known: Phrase) -> str:
        kinds: tuple[Callable[[], str], ...] = (
            lambda: self._chance.choice(known.words),
            lambda: " ".join(self._chance.sample(known.words, 2)),
            lambda: " ".join(reversed(known.words)),
            lambda: self._filled(ASKED).text,
            lambda: self._said(1)[0],
            lambda: f"{self._chance.choice(known.words)}っていつの話だったっけ",
            lambda: " ".join([known.words[0], *self._said(5)]),  # several wordings at once, as a model asks
        )
        return self._chance.choice(kinds)()

    def _filled(self, patterns: Sequence[str]) -> Phrase:
        words, name, location = self._said(4), self._one_of(FAMILY), self._one_of(LOCATIONS)
        text = self._chance.choice(patterns).format(
            **dict(zip("abcd", words, strict=True)),
            name=name,
            location=location,
            english=self._one_of(ENGLISH),
            when=self._one_of(WHEN),
            done=self._one_of(DONE),
            number=self._chance.randrange(10_000),
        )
        return Phrase(text, tuple(word for word in (*words, name, location) if word in text))

    def _said(self, number: int) -> list[str]:
        words, weights = vocabulary()
        return self._chance.choices(words, cum_weights=weights, k=number)

    def _one_of(self, words: str) -> str:
        return self._chance.choice(words.split())
