"""Texts in any encoding, cut to fit, and what is written in several ways made one."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.encodings import decode_declared, decode_text
from cc_bot.domain.summary import MAX_SUMMARY_CHARACTERS, clean_summary, listed
from cc_bot.domain.text import hiragana, in_digits, shorten, without_controls, without_sign


def test_a_shortened_text_has_no_more_than_the_limit_with_its_ellipsis() -> None:
    shown = {"": "", "猫": "猫", "猫が好き": "猫が好き", "猫が好きだ": "猫が好…"}
    assert {text: shorten(text, 4) for text in shown} == shown


def test_hiragana_is_made_of_all_katakana_and_of_nothing_else() -> None:
    assert hiragana("ヴァイオリン、ヵヶ・カーa漢") == "ゔぁいおりん、ゕゖ・かーa漢"


def test_numerals_are_digits_and_other_kanji_are_refused() -> None:
    digits = {"十": "10", "二十": "20", "十五": "15", "九十九": "99", "二〇二六": "2026", "零": "0"}
    assert {kanji: in_digits(kanji) for kanji in digits} == digits
    assert in_digits("一" * 5000) == "1" * 5000
    for word in ("百", "十十", "十a"):
        with pytest.raises(KeyError):
            in_digits(word)


def test_a_sentence_is_left_without_the_sign_before_it() -> None:
    shown = {
        "🗑️ すべて消しました。": "すべて消しました。",
        "⏸️ Paused: DMs are closed.": "Paused: DMs are closed.",
        "👨‍👩‍👧 家族": "家族",
        "「⏸️」は残ります": "「⏸️」は残ります",
        "": "",
    }
    assert {told: without_sign(told) for told in shown} == shown


def test_a_text_without_controls_is_what_people_see() -> None:
    assert without_controls("a\0b\x1b[1mc\x9fd\u202ee\u2069f") == "ab[1mcdef"
    assert without_controls("一\r\n二\r三\x0b四\x85五\u2028六\t七\n") == "一\n二\n三\n四\n五\n六\t七\n"
    for text in ("👨\u200d👩\u200d👧", "❤\ufe0f", "葛\U000e0100", "שלום\u200f", "ｶﾞ"):
        assert without_controls(text) == text


class TestSummary:
    @given(st.text(max_size=4000))
    def test_bounds_the_length_and_leaves_no_blank_line(self, text: str) -> None:
        cleaned = clean_summary(text)
        assert len(cleaned) <= MAX_SUMMARY_CHARACTERS
        assert all(line.strip() for line in cleaned.splitlines())
        assert bool(cleaned) == bool("".join(text.split()))

    def test_ends_with_a_sentence_or_says_that_it_is_cut(self) -> None:
        assert clean_summary("Version 3.5 is fine. " * 100).endswith("is fine.")
        assert clean_summary("東京に住んでいる。" * 300).endswith("いる。")
        assert clean_summary("あ" * 2000) == "あ" * (MAX_SUMMARY_CHARACTERS - 1) + "…"


class TestListedSummaries:
    def test_has_each_statement_once_on_one_line_and_fills_its_room(self) -> None:
        assert listed(["犬が\n好き", "猫", " ", "犬が 好き"]) == "- 猫\n- 犬が 好き"
        newest = ["い" * 97 + f"{number:02}" for number in range(12)]
        oldest = "あ" * (MAX_SUMMARY_CHARACTERS - len(listed(newest)) - 4)
        assert listed([oldest, *newest]) == f"- {oldest}\n{listed(newest)}"
        assert listed([f"{oldest}あ", *newest]) == listed(newest)

    @given(st.lists(st.text(max_size=500)))
    def test_keeps_the_newest_when_there_is_too_much(self, statements: list[str]) -> None:
        lines = listed(statements)
        assert len(lines) <= MAX_SUMMARY_CHARACTERS
        said = [statement for statement in statements if statement.strip()]
        assert bool(lines) == bool(said)
        if said:
            assert lines.splitlines()[-1][:50] == f"- {' '.join(said[-1].split())}"[:50]


SENTENCES = [
    "吾輩は猫である。名前はまだ無い。",
    "会議は3月15日（金）の午後2時から、第一会議室で行います。\r\nよろしくお願いします。\r\n",
    "品名,数量,単価\nりんご,3,120\nﾊﾞﾅﾅ,2,98\n",
    "「えっ、本当ですか？」……彼女は静かに笑った。",
    "Python 3.11で書きました。print('こんにちは') と表示されます。",
]
WORDS = [
    *["日本語", "東京", "漢字", "学校", "会議", "議事録", "こんにちは", "テスト", "請求書", "山田太郎"],
    *["都道府県", "買い物", "株式会社", "天気", "牛乳", "人参", "猫", "雨", "はい"],
]
HALF_WIDTH = ["ﾃｽﾄ", "ｶﾀｶﾅ", "ﾊﾝｶｸ", "ﾔﾏﾀﾞ ﾀﾛｳ", "ｺｰﾋｰ", "ﾃﾞｰﾀ", "ﾄｳｷｮｳ", "ｽｽﾞｷ,ｻﾄｳ,ﾀﾅｶ\r\n", "ﾊﾟｽﾜｰﾄﾞ"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "cp932", "euc_jp", "iso2022_jp_ext"]

japanese = st.text(
    st.sampled_from(
        "あいうえおかがきくけこさしすせそたっちつてとなにのはまもやよらりるれわをん、。「」日本人大学会社時間"
    ),
    min_size=3,
)
lines = st.lists(japanese | st.text("abc XYZ-019,.", max_size=12), min_size=1).map("\n".join)


def misread(texts: Iterable[str], *encodings: str) -> list[tuple[str, str]]:
    """Those that are not read as they were written, with their encoding."""
    both = [(text, encoding) for text in texts for encoding in encodings]
    return [(text, encoding) for text, encoding in both if decode_text(text.encode(encoding)) != text]


class TestJapaneseText:
    def test_is_read_in_every_encoding_also_when_it_is_a_single_word(self) -> None:
        assert misread([*SENTENCES, *WORDS], *ENCODINGS) == []
        assert misread(HALF_WIDTH, "utf-8", "cp932", "iso2022_jp_ext") == []
        assert misread(["①予定②結果"], "cp932", "euc_jis_2004") == []  # of old machines
        assert misread([*SENTENCES, "plain English", "Grüße", "こんにちは"], "utf-16-le", "utf-16-be") == []
        assert decode_text("終わりです。\r\n\x1a".encode("cp932")) == "終わりです。\r\n"

    @given(text=lines, encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp932", "euc_jp"]))
    def test_comes_back_as_it_was_written(self, text: str, encoding: str) -> None:
        assert decode_text(text.encode(encoding)) == text

    @given(text=japanese)
    def test_comes_back_from_iso_2022_jp(self, text: str) -> None:
        assert decode_text(text.encode("iso2022_jp")) == text


class TestOtherText:
    def test_in_utf_8_is_read(self) -> None:
        texts = ["", "hello", "café", "25°C ± 1", "Привет", "γεια", "한국어", "👍🏽", "\tx\f\n"]
        assert misread([*texts, "\x1b[31mred\x1b(B\x1b[m"], "utf-8") == []

    @given(text=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"])))
    def test_in_marked_utf_8_or_utf_16_is_always_read(self, text: str) -> None:
        assert decode_text(text.encode("utf-8-sig")) == text
        assert decode_text(text.encode("utf-16")) == text


class TestWhatIsNoText:
    def test_is_told_apart(self) -> None:
        no_texts = [
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
            b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0",
            b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
            b"text with a \0 in it",
            b"text with a \x01 in it",
            b"\xef\xbb\xbf\xff not what its mark says",
            b"\xff\xfeo",
            "señor".encode("latin-1"),
        ]
        assert [data for data in no_texts if decode_text(data) is not None] == []


class TestADeclaredText:
    @pytest.mark.parametrize(
        ("name", "encoding"), [("Shift_JIS", "cp932"), ("utf-8", "utf-8"), ("", "utf-8")]
    )
    def test_with_a_damaged_byte_is_read_for_the_rest(self, name: str, encoding: str) -> None:
        data = SENTENCES[1].encode(encoding) + b"\xff\n" + SENTENCES[1].encode(encoding)
        text = decode_declared(data, name)
        assert text is not None
        assert text.replace("\ufffd", "").startswith(SENTENCES[1])
        assert text.endswith(SENTENCES[1])

    @pytest.mark.parametrize("name", ["Shift_JIS", "utf-8", ""])
    def test_that_is_none_is_not_read(self, name: str) -> None:
        assert decode_declared(random.Random(1).randbytes(2000), name) is None
