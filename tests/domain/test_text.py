"""Texts in any encoding, cut to fit, and what is written in several ways made one."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.text import (
    format_size,
    guess_language,
    hiragana,
    kanji_to_digits,
    remove_controls,
    remove_leading_emoji,
    shorten,
)
from cc_bot.files import decode_declared, decode_text


def test_what_is_written_in_several_ways_is_made_one() -> None:
    shown = {"": "", "猫が好き": "猫が好き", "猫が好きだ": "猫が好…"}
    assert {text: shorten(text, 4) for text in shown} == shown
    assert hiragana("ヴァイオリン、ヵヶ・カーa漢") == "ゔぁいおりん、ゕゖ・かーa漢"
    digits = {"十": "10", "二十": "20", "十五": "15", "九十九": "99", "二〇二六": "2026", "零": "0"}
    assert {kanji: kanji_to_digits(kanji) for kanji in digits} == digits
    for word in ("百", "十十", "十a"):
        with pytest.raises(KeyError):
            kanji_to_digits(word)
    sizes = {4096: "4 kB", 12_345_678: "12.3 MB", 79_288_000_000: "79.3 GB"}
    assert {count: format_size(count) for count in sizes} == sizes
    written = {"hello": "en", "ハロー": "ja", "ok、です": "ja", "漢字": None, "привет": None, "": None}
    written |= {"https://example.com/ok @Ben <:ok:1> :+1: 2+2?": None, "https://example.com って何": "ja"}
    assert {text: guess_language(text) for text in written} == written
    signed = {"🗑️ 消しました。": "消しました。", "👨‍👩‍👧 家族": "家族", "「⏸️」は": "「⏸️」は", "": ""}
    assert {told: remove_leading_emoji(told) for told in signed} == signed


def test_a_text_without_controls_is_what_people_see() -> None:
    assert remove_controls("a\0b\x1b[1mc\x9fd\u202ee\u2069f") == "ab[1mcdef"
    assert remove_controls("一\r\n二\r三\x0b四\x85五\u2028六\t七\n") == "一\n二\n三\n四\n五\n六\t七\n"
    for text in ("👨\u200d👩\u200d👧", "❤\ufe0f", "葛\U000e0100", "שלום\u200f", "ｶﾞ"):
        assert remove_controls(text) == text


SENTENCES = [
    "吾輩は猫である。名前はまだ無い。",
    "会議は3月15日（金）の午後2時から、第一会議室で行います。\r\nよろしくお願いします。\r\n",
    "品名,数量,単価\nりんご,3,120\nﾊﾞﾅﾅ,2,98\n",
    "「えっ、本当ですか？」……彼女は静かに笑った。",
    "Python 3.11で書きました。print('こんにちは') と表示されます。",
]
WORDS = [
    *["日本語", "東京", "漢字", "学校", "会議", "議事録", "こんにちは", "テスト", "請求書", "山田太郎"],
    *["都道府県", "買い物", "株式会社", "天気", "牛乳", "人参", "雨", "はい"],
]
HALF_WIDTH = ["ﾃｽﾄ", "ﾔﾏﾀﾞ ﾀﾛｳ", "ﾄｳｷｮｳ", "ｽｽﾞｷ,ｻﾄｳ,ﾀﾅｶ\r\n", "ﾊﾟｽﾜｰﾄﾞ"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "cp932", "euc_jp", "iso2022_jp_ext"]

japanese = st.text(
    st.sampled_from(
        "あいうえおかがきくけこさしすせそたっちつてとなにのはまもやよらりるれわをん、。「」日本人大学会社時間"
    ),
    min_size=3,
)
lines = st.lists(japanese | st.text("abc XYZ-019,.", max_size=12), min_size=1).map("\n".join)


def misread(texts: Iterable[str], *encodings: str) -> list[tuple[str, str]]:
    both = [(text, encoding) for text in texts for encoding in encodings]
    return [(text, encoding) for text, encoding in both if decode_text(text.encode(encoding)) != text]


class TestJapaneseText:
    def test_is_read_in_every_encoding_also_when_it_is_a_single_word(self) -> None:
        assert misread([*SENTENCES, *WORDS], *ENCODINGS) == []
        assert misread(HALF_WIDTH, "utf-8", "cp932", "iso2022_jp_ext") == []
        assert misread(["①予定②結果"], "cp932", "euc_jis_2004") == []  # of old machines
        assert decode_text("終わりです。\r\n\x1a".encode("cp932")) == "終わりです。\r\n"

    @given(text=lines, encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp932", "euc_jp"]))
    def test_comes_back_as_it_was_written(self, text: str, encoding: str) -> None:
        assert decode_text(text.encode(encoding)) == text


def test_other_text_is_read_in_utf_8_and_what_is_no_text_is_told_apart() -> None:
    texts = ["", "hello", "café", "25°C ± 1", "Привет", "γεια", "한국어", "👍🏽", "\tx\f\n"]
    assert misread([*texts, "\x1b[31mred\x1b(B\x1b[m"], "utf-8") == []
    no_texts = [
        *(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"),
        *(b"text with a \0 in it", b"text with a \x01 in it", b"\xef\xbb\xbf\xff not what its mark says"),
        *(b"\xff\xfeo", "señor".encode("latin-1")),
    ]
    assert [data for data in no_texts if decode_text(data) is not None] == []


def test_a_declared_text_with_a_damaged_byte_is_read_for_the_rest_and_one_that_is_none_is_not() -> None:
    text, noise = SENTENCES[1], random.Random(1).randbytes(2000)
    for name, encoding in (("Shift_JIS", "cp932"), ("utf-8", "utf-8"), ("", "utf-8")):
        read = decode_declared(text.encode(encoding) + b"\xff\n" + text.encode(encoding), name)
        assert read is not None
        assert read.replace("\ufffd", "").startswith(text)
        assert read.endswith(text)
        assert decode_declared(noise, name) is None
