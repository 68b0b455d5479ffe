"""What holds for any text whatever."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.search import Statistics, document_terms, fold, parse_query, rank
from tests.search.notes import candidate

JAPANESE = st.text("誕生日は3月カフェえび ー・々ｶABCéß'9\u3000\n😀", max_size=40)
TEXT = st.text(max_size=60) | JAPANESE


class TestTerms:
    @given(TEXT)
    def test_have_no_white_space_and_no_control_characters(self, content: str) -> None:
        characters = "".join(document_terms(content))
        assert not any(char.isspace() or unicodedata.category(char) == "Cc" for char in characters)

    @given(TEXT)
    def test_of_the_same_text_are_the_same(self, content: str) -> None:
        assert document_terms(content) == document_terms(content)

    @given(TEXT)
    def test_of_folded_text_are_those_of_the_text(self, content: str) -> None:
        assert document_terms(fold(content)) == document_terms(content)


class TestQueries:
    @given(TEXT)
    def test_any_text_is_one(self, text: str) -> None:
        query = parse_query(text)
        assert all(weight > 0 for weight in query.weights.values())

    @given(TEXT, TEXT, TEXT)
    def test_find_what_contains_them_as_written(self, before: str, text: str, after: str) -> None:
        content = before + text + after
        query = parse_query(text)
        if query.folded in fold(content):  # a mark that joins what stands before it may part them
            statistics = Statistics(1, 10.0, dict.fromkeys(query.weights, 1))
            assert [hit.id for hit in rank(query, statistics, [candidate(7, content)])] == [7]
