"""What buttons know is in their custom ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.custom_ids import (
    AnswerButton,
    Control,
    StopButton,
    SummaryButton,
    parse_custom_id,
)

snowflakes = st.integers(0, 2**63 - 1)
buttons = st.one_of(
    st.builds(SummaryButton, snowflakes),
    st.builds(StopButton, snowflakes, st.text("0123456789abcdef", min_size=8, max_size=8)),
    st.builds(
        AnswerButton,
        st.sampled_from(["again", "more"]),
        snowflakes,
        st.integers(1, 10**12),
        st.lists(snowflakes, max_size=4).map(tuple),
    ),
)


@given(buttons)
def test_a_button_is_read_back_from_its_custom_id(button: Control) -> None:
    assert parse_custom_id(button.custom_id()) == button


@given(buttons)
def test_a_custom_id_fits_what_discord_takes(button: Control) -> None:
    assert 1 <= len(button.custom_id()) <= 100


@given(st.text())
def test_anything_else_is_nobodys_button(custom_id: str) -> None:
    found = parse_custom_id(custom_id)
    assert found is None or parse_custom_id(found.custom_id()) == found


@pytest.mark.parametrize(
    "custom_id", ["", "stop", "again:", "again:1", "list:newest:1:1:", "more:ü:1", "x:1:2"]
)
def test_a_broken_custom_id_is_nobodys_button(custom_id: str) -> None:
    assert parse_custom_id(custom_id) is None
