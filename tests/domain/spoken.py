"""Texts put together at random from the words with which people say when and how often, and from what stands
around them: in Japanese, in English, and in both."""

import random
import re
from collections.abc import Iterator
from typing import Final

from tests.domain.phrases import phrases

_JAPANESE: Final = re.findall(
    r"\S+",
    """
今日 明日 明後日 しあさって 昨日 今朝 今夜 翌朝 来週 再来週 今月 来年 再来月 月 火 水曜 木曜日 (金) 土日
次の 今度の 毎日 毎朝 毎週 毎月 毎年 毎時 毎 平日 週末 隔週 第2 第 隔月 春分の日 に1回 1日おき から 今から
あと 同じ時間 元日 成人の日 今頃 最終 最後の 月水金 月〜金 令和8年 (ない月はお休み) 開始 末日 月末 午前
午後 朝 昼 夕方 夜 深夜 未明 正午 真夜中 時 時半 時間 時間半 分 分前 分半 秒 日 日間 週 週間 か月 ヶ月 年
後 ご したら おき ごと から まで と の に は 頃 ちょうど 半 十 二十 三 〇 零 百 元 令和 薬を飲む 会議
お昼過ぎ 、 。 ・
""",
)
_ENGLISH: Final = phrases(
    """
today | tomorrow | tmrw | the day after tomorrow | tonight | yesterday | next | this | coming | mon
tuesday | wednesdays | sat | week | month | year | weekday | weekends | every | each | first | last | 3rd
of | the | on | at | in | after | from now | later | and | a half | half an | hour | hours | minutes | h
m | days | fortnight | mo | an | a | one | twelve | noon | midnight | half past | quarter to | am | p.m.
o'clock | jan | feb. | december | daily | hourly | monthly | take the pills | please | about | morning
in the evening | st | th | last day of the month | every other | fortnightly | once a | of every | through
weeks | same time | christmas eve | thanksgiving | alternate | the 1st and 15th | from
"""
)
_SIGNS: Final = (
    *("0", "1", "3", "9", "12", "24", "29", "30", "31", "59", "60", "99", "1999", "2026", "9999"),
    *("10000", "1.5", "*", "* * *", "*/5", "0 9 * * 1-5", "0 0 31 2 *", "L", "#", "-", "/", ":"),
    *("：", ".", ",", "T", "Z", "+09:00", "2026-01-01", "2026-02-30T25:61", "12/3", "2/29"),
    *("18:00", "9:60", " ", "  ", "　", "\n", "\t", "'", "(", "\x00", "９", "㍿", "㋀", "①", "½"),
    *("²", "Ⅻ", "٣", "ﬀ", "\u0301", "\u200d", "😀", "\ud800", "İ", "x"),
)


def spoken_texts(seed: int, count: int) -> Iterator[str]:
    """So many of them; the same ones for the same seed."""
    rng = random.Random(seed)
    for _ in range(count):
        words = rng.choice((_JAPANESE, _ENGLISH, (*_JAPANESE, *_ENGLISH)))
        between = rng.choice(("", "", " ", "の"))
        pieces = rng.choices((*words, *rng.choices(_SIGNS, k=12)), k=rng.randint(1, 9))
        yield between.join(pieces) * rng.choice((1, 1, 1, 1, 1, 2, 5, 30))
