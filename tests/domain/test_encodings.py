"""Text files as people have them on their disks: which encoding they are in is found out."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.encodings import decode_declared, decode_text

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

    def test_in_utf_16_without_a_mark_is_read_where_it_is_clear(self) -> None:
        assert misread([*SENTENCES, "plain English", "Grüße", "こんにちは"], "utf-16-le", "utf-16-be") == []

    def test_may_end_with_the_mark_of_old_editors(self) -> None:
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
