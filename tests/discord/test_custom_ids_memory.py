"""What the buttons, menus and forms of /memory know is in their custom ids."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.custom_ids import (
    ConfirmButton,
    Control,
    Decision,
    EditForm,
    ListButton,
    MemoryAction,
    MemoryButton,
    OpenMenu,
    SearchButton,
    parse_custom_id,
)
from cc_bot.domain.memory import MAX_CATEGORY_CHARACTERS, Order

users = st.integers(0, 2**63 - 1)
ids = st.integers(0, 10**12)
pages = st.integers(1, 10**6)
categories = st.text(max_size=MAX_CATEGORY_CHARACTERS)
controls = st.one_of(
    st.builds(ListButton, users, st.sampled_from(get_args(Order)), pages, categories),
    st.builds(SearchButton, users, pages, categories),
    st.builds(MemoryButton, st.sampled_from(get_args(MemoryAction)), users, ids, ids),
    st.builds(OpenMenu, users),
    st.builds(EditForm, users, ids),
    st.builds(ConfirmButton, users, st.sampled_from(get_args(Decision)), ids, st.integers(0, 2**40)),
)


class TestCustomIds:
    @given(controls)
    def test_are_read_back(self, control: Control) -> None:
        assert parse_custom_id(control.custom_id()) == control

    @given(controls)
    def test_fit_what_discord_takes(self, control: Control) -> None:
        assert 1 <= len(control.custom_id()) <= 100

    @pytest.mark.parametrize(
        "custom_id",
        [
            "",
            "list",
            "list:1",
            "list:1:sideways:1:",
            "search:1",
            "memory:1:burn:1:1",
            "open:1:2",
            "edit:1:",
            "x:1",
        ],
    )
    def test_of_others_are_none_of_ours(self, custom_id: str) -> None:
        assert parse_custom_id(custom_id) is None

    @given(st.text())
    def test_of_any_text_break_nothing(self, custom_id: str) -> None:
        found = parse_custom_id(custom_id)
        assert found is None or parse_custom_id(found.custom_id()) == found
