"""Texts that are cut to fit, and what is written in several ways made one."""

import pytest

from cc_bot.domain.text import hiragana, in_digits, shorten, without_controls, without_sign


class TestShortened:
    @pytest.mark.parametrize(
        ("text", "shown"), [("", ""), ("猫", "猫"), ("猫が好き", "猫が好き"), ("猫が好きだ", "猫が好…")]
    )
    def test_has_no_more_than_the_limit_with_its_ellipsis(self, text: str, shown: str) -> None:
        assert shorten(text, 4) == shown


class TestHiragana:
    def test_is_made_of_all_katakana_and_of_nothing_else(self) -> None:
        assert hiragana("ヴァイオリン、ヵヶ・カーa漢") == "ゔぁいおりん、ゕゖ・かーa漢"


class TestInDigits:
    @pytest.mark.parametrize(
        ("kanji", "digits"),
        [("十", "10"), ("二十", "20"), ("十五", "15"), ("九十九", "99"), ("二〇二六", "2026"), ("零", "0")],
    )
    def test_is_the_number(self, kanji: str, digits: str) -> None:
        assert in_digits(kanji) == digits

    def test_has_no_longest_one(self) -> None:
        assert in_digits("一" * 5000) == "1" * 5000

    @pytest.mark.parametrize("word", ["百", "十十", "十a"])
    def test_is_not_made_of_anything_else(self, word: str) -> None:
        with pytest.raises(KeyError):
            in_digits(word)


class TestWithoutSign:
    @pytest.mark.parametrize(
        ("told", "shown"),
        [
            ("🗑️ すべて消しました。", "すべて消しました。"),
            ("⏸️ Paused: DMs are closed.", "Paused: DMs are closed."),
            ("👨‍👩‍👧 家族", "家族"),
            ("「⏸️」は残ります", "「⏸️」は残ります"),
            ("", ""),
        ],
    )
    def test_leaves_the_sentence(self, told: str, shown: str) -> None:
        assert without_sign(told) == shown


class TestWithoutControls:
    def test_is_what_people_see(self) -> None:
        assert without_controls("a\0b\x1b[1mc\x9fd\u202ee\u2069f") == "ab[1mcdef"

    def test_keeps_lines_and_tabulators(self) -> None:
        assert without_controls("一\r\n二\r三\x0b四\x85五\u2028六\t七\n") == "一\n二\n三\n四\n五\n六\t七\n"

    @pytest.mark.parametrize("text", ["👨\u200d👩\u200d👧", "❤\ufe0f", "葛\U000e0100", "שלום\u200f", "ｶﾞ"])
    def test_leaves_what_signs_are_made_of(self, text: str) -> None:
        assert without_controls(text) == text
