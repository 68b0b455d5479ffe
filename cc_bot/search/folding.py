"""How text is made comparable: what looks or reads alike becomes alike.

Two strengths, for two purposes. `fold` keeps a text readable as what it was: it decides whether a note
contains the query as written. `loosen` goes on from there, and makes one of what Japanese writers spell as
they like: katakana and hiragana, small and large kana, and long vowels with or without their mark (サーバー,
サーバ). It is for terms only, since a few different words become the same by it.
"""

import re
import unicodedata
from typing import Final

_TO_HIRAGANA: Final = {code: code - 0x60 for code in range(ord("ァ"), ord("ヶ") + 1)}
_SMALL_TO_LARGE: Final = str.maketrans("ぁぃぅぇぉっゃゅょゎゕゖ", "あいうえおつやゆよわかけ")
_WITHOUT_MARKS: Final = _SMALL_TO_LARGE | str.maketrans("", "", "ー・")

# Sounds that Japanese borrowed and spells in several ways: ヴァイオリン, バイオリン; ウィスキー, ウイスキー.
_BORROWED: Final = {
    "ゔぁ": "ば", "ゔぃ": "び", "ゔぇ": "べ", "ゔぉ": "ぼ", "ゔ": "ぶ", "ぢ": "じ", "づ": "ず", "でぃ": "じ",
    "てぃ": "ち", "とぅ": "つ", "どぅ": "ず", "ふぉ": "ほ", "しぇ": "せ", "じぇ": "ぜ",
}  # fmt: skip
_BORROWED_SOUND: Final = re.compile("|".join(sorted(_BORROWED, key=len, reverse=True)))

# う and お that only draw a vowel out. Not after の, と, も, よ: there they may begin a word of their own.
_LONG_VOWEL: Final = re.compile("(?<=[おこそほろごぞどぼぽょ])[うお]|(?<=ゅ)う")

_DIGITS: Final = {"〇": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
# Of a run of 〇, which is no kanji here, only the beginning is one of a number: a run is looked at once.
_COUNTED: Final = re.compile(
    "(?:(?<![一-鿿])|(?<=[年月時]))"
    "(?:(?<![^一-鿿]〇)(?<!^〇)[〇一二三四五六七八九]++|"
    "[一二三四五六七八九]?十[一二三四五六七八九]?)"
    "(?=[月日年時分歳才人回個円階本枚匹台冊杯番号級週度泊目])"
)


def fold(text: str) -> str:
    """Text as it is compared: NFKC, then case. ｶﾌｪ becomes カフェ, and STRASSE and straße one word."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def loosen(folded: str) -> str:
    """Folded text as terms are made of it: all kana hiragana, none of them small, long vowels short."""
    hiragana = folded.translate(_TO_HIRAGANA)
    short = _LONG_VOWEL.sub("", hiragana)
    return _BORROWED_SOUND.sub(lambda match: _BORROWED[match[0]], short).translate(_WITHOUT_MARKS)


def in_digits(folded: str) -> str:
    """Folded text with its counted numbers in digits: 三月十五日 becomes 3月15日, and 三重県 stays."""
    return _COUNTED.sub(lambda match: _number(match[0]), folded)


def _number(kanji: str) -> str:
    """A number below a hundred with 十, or a row of digits of any length: 二十三, 二〇二六."""
    if "十" in kanji:
        tens, ones = kanji.split("十")
        return str(_DIGITS.get(tens, 1) * 10 + _DIGITS.get(ones, 0))
    return "".join(str(_DIGITS[digit]) for digit in kanji).lstrip("0") or "0"
