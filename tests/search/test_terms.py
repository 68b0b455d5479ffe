import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.features.memory.search.folding import fold
from cc_bot.features.memory.search.ranking import Statistics, rank
from cc_bot.features.memory.search.terms import count_terms, parse_query
from tests.search.notes import candidate

JAPANESE = st.text("誕生日は3月カフェえび ー・々ｶABCéß'9\u3000\n😀", max_size=40)
TEXT = st.text(max_size=60) | JAPANESE


class TestTerms:
    def test_of_a_text_are_all_that_it_may_be_found_by_counted(self) -> None:
        for content, terms in (
            ("誕生日", {"誕生", "生日", "誕", "生", "日"}),
            ("ネコ", count_terms("ねこ").keys()),
            ("３月", {"3", "3月"}),
            ("犬", {"~いぬ"}),
            ("柴犬と暮らす", {"=柴犬", "=犬", "=ペット"}),
            ("Studying for exams", {"study"}),
        ):
            assert terms <= count_terms(content).keys(), content
        assert count_terms("猫と猫")["猫"] == 2
        assert "京都" in count_terms("旅行", ["京都"])
        assert "行京" not in count_terms("旅行", ["京都"])

    @given(TEXT)
    def test_of_any_text_are_the_same_folded_and_have_no_white_space(self, content: str) -> None:
        terms = count_terms(content)
        assert not any(char.isspace() or unicodedata.category(char) == "Cc" for char in "".join(terms))
        assert count_terms(content) == count_terms(fold(content)) == terms


class TestQueries:
    def test_ask_for_things_and_not_for_grammar_and_politeness_unless_that_is_all_there_is(self) -> None:
        assert len(parse_query("妹の誕生日").groups) == 2
        assert parse_query("誕生日を教えてください").weights == parse_query("誕生日").weights
        assert parse_query("Please tell me the birthday").weights == parse_query("birthday").weights
        assert parse_query("です").weights
        assert parse_query("the").weights

    def test_have_no_syntax_and_without_a_word_are_looked_for_as_written_only(self) -> None:
        assert parse_query('"誕生日" AND (NOT -x*)').groups
        for text, folded in (("☆!?", "☆!?"), (" \u3000\n", "")):
            query = parse_query(text)
            assert (query.folded, query.groups) == (folded, ())

    @given(TEXT, TEXT, TEXT)
    def test_find_what_contains_them_as_written(self, before: str, text: str, after: str) -> None:
        content = before + text + after
        query = parse_query(text)
        assert all(weight > 0 for weight in query.weights.values())
        if query.folded in fold(content):  # a mark that joins what stands before it may part them
            statistics = Statistics(1, 10.0, dict.fromkeys(query.weights, 1))
            assert [hit.id for hit in rank(query, statistics, [candidate(7, content)])] == [7]
