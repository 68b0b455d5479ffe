"""Texts that are cut to fit, and what is written in several ways made one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

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

    def test_ends_with_a_sentence(self) -> None:
        assert clean_summary("Version 3.5 is fine. " * 100).endswith("is fine.")
        assert clean_summary("東京に住んでいる。" * 300).endswith("いる。")

    def test_says_that_it_is_cut_where_no_sentence_ends(self) -> None:
        assert clean_summary("あ" * 2000) == "あ" * (MAX_SUMMARY_CHARACTERS - 1) + "…"


class TestListedSummaries:
    def test_has_each_statement_once_on_one_line(self) -> None:
        assert listed(["犬が\n好き", "猫", " ", "犬が 好き"]) == "- 猫\n- 犬が 好き"

    def test_fills_its_room_to_the_last_character(self) -> None:
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
