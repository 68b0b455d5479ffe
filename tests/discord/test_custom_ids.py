"""What buttons know is in their custom ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.custom_ids import (
    AnswerButton,
    AskForm,
    Control,
    StopButton,
    SummaryButton,
    UsedMemoriesButton,
    parse_custom_id,
)

snowflakes = st.integers(0, 2**63 - 1)
buttons = st.one_of(
    st.builds(SummaryButton, snowflakes),
    st.builds(AskForm, snowflakes, snowflakes),
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


@pytest.mark.parametrize(
    ("custom_id", "button"),
    [
        ("again:1:2:3", AnswerButton("again", 1, 2, (3,))),
        ("more:1:2", AnswerButton("more", 1, 2)),
        ("summary:1", SummaryButton(1)),
        ("about:1:z", AskForm(1, 35)),
        ("used:1:2:z", UsedMemoriesButton(1, (2, 35))),
    ],
)
def test_a_button_that_was_posted_long_ago_is_known(custom_id: str, button: Control) -> None:
    assert parse_custom_id(custom_id) == button


def test_a_button_has_as_many_memories_as_fit() -> None:
    """Of two characters each, and six for whose they are."""
    custom_id = UsedMemoriesButton(1, tuple(range(1, 10)) * 7).custom_id()
    assert len(custom_id) == 100
    assert parse_custom_id(custom_id) == UsedMemoriesButton(1, (tuple(range(1, 10)) * 7)[:47])


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
