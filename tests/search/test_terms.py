"""What an index holds of a note."""

import tracemalloc

import pytest

from cc_bot.search import document_terms


class TestTerms:
    def test_of_japanese_are_pairs_and_single_kanji(self) -> None:
        assert {"誕生", "生日", "誕", "生", "日"} <= document_terms("誕生日").keys()

    def test_of_kana_are_the_same_in_both_scripts(self) -> None:
        assert document_terms("ねこ").keys() == document_terms("ネコ").keys()

    def test_of_english_are_stems(self) -> None:
        assert document_terms("Studying for exams")["study"] == 1

    def test_of_a_number_are_itself_and_what_it_counts(self) -> None:
        assert {"3", "3月"} <= document_terms("３月").keys()

    def test_of_kanji_are_their_readings_too(self) -> None:
        assert {"~いぬ"} <= document_terms("犬").keys()

    def test_of_a_known_word_are_its_idea_and_all_that_it_is_a_kind_of(self) -> None:
        assert {"=柴犬", "=犬", "=ペット"} <= document_terms("柴犬と暮らす").keys()

    def test_count_how_often_each_is_there(self) -> None:
        assert document_terms("猫と猫")["猫"] == 2

    def test_come_from_tags_as_well(self) -> None:
        assert "京都" in document_terms("旅行", ["京都"])
        assert "行京" not in document_terms("旅行", ["京都"])


class TestMemory:
    @pytest.mark.slow
    def test_keeps_no_long_runs_of_characters_that_no_other_note_has(self) -> None:
        """An import of a megabyte that is one run after another would stay there for good: its letters alone
        are four times what may be kept."""
        runs = [f"{number}" + "ヘルシンキ" * 400 + f"{number}" for number in range(150)]
        document_terms("猫 cat")  # whatever is read once is read
        tracemalloc.start()
        try:
            for run in runs:
                document_terms(run)
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert kept < 2**17
