"""Summaries stay short and in one piece."""

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.summary import MAX_SUMMARY_CHARACTERS, clean_summary, listed


class TestCleaning:
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


class TestListing:
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
