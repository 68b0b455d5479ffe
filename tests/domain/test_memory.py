"""What a memory's text, category and tags become before they are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import EmptyMemory, MemoryTooLong
from cc_bot.domain.memory import clean_category, clean_content, parse_tags


class TestContent:
    def test_loses_the_white_space_around_it_and_no_other(self) -> None:
        assert clean_content("\u3000 一行目\n\n二行目 \n") == "一行目\n\n二行目"

    @pytest.mark.parametrize("content", ["", " \n\u3000", "\u200b\u2060", "\u3164", "\U000e0041"])
    def test_must_be_something(self, content: str) -> None:
        with pytest.raises(EmptyMemory):
            clean_content(content)

    def test_may_have_4000_characters_and_no_more(self) -> None:
        assert len(clean_content("あ" * 4000 + " ")) == 4000
        with pytest.raises(MemoryTooLong) as refusal:
            clean_content("あ" * 4001)
        assert refusal.value.params == {"limit": 4000, "length": 4001}


class TestCategory:
    @pytest.mark.parametrize("given_as", [None, "", " \n "])
    def test_is_general_when_there_is_none(self, given_as: str | None) -> None:
        assert clean_category(given_as) == "general"

    def test_is_one_line(self) -> None:
        assert clean_category(" 仕事\u3000の\nこと ") == "仕事 の こと"

    @given(st.text())
    def test_is_short_and_cleaning_it_again_changes_nothing(self, text: str) -> None:
        cleaned = clean_category(text)
        assert 0 < len(cleaned) <= 50
        assert clean_category(cleaned) == cleaned


class TestTags:
    @pytest.mark.parametrize(
        ("text", "tags"),
        [
            ("work, home", ("work", "home")),
            ("仕事、家庭，趣味", ("仕事", "家庭", "趣味")),
            ("#旅行\u3000＃食べ物 #", ("旅行", "食べ物")),
            ("a a b a", ("a", "b")),
            (None, ()),
            (" , 、", ()),
        ],
    )
    def test_are_parted_by_commas_and_white_space(self, text: str | None, tags: tuple[str, ...]) -> None:
        assert parse_tags(text) == tags

    def test_are_twenty_at_most(self) -> None:
        assert len(parse_tags(" ".join(map(str, range(30))))) == 20
