"""How much of the history is left after a refusal."""

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.context.prompt import shrunk_history

tokens = st.integers(0, 10**6)


@given(history=tokens, beside=tokens)
def test_at_least_a_quarter_of_what_was_sent_is_left_out_or_all_of_the_history(
    history: int, beside: int
) -> None:
    kept = shrunk_history(history, beside, None)
    assert kept == 0 or kept + beside <= (history + beside) * 3 / 4


@given(history=tokens, beside=tokens, limit=st.integers(1, 10**6))
def test_a_limit_that_the_server_told_is_kept_with_room_for_the_answer(
    history: int, beside: int, limit: int
) -> None:
    kept = shrunk_history(history, beside, limit)
    assert kept <= shrunk_history(history, beside, None)
    assert kept == 0 or kept + beside <= limit * 3 / 4


def test_a_long_history_keeps_its_newer_half() -> None:
    assert shrunk_history(9_000, 1_000, None) == 4_500
    assert shrunk_history(9_000, 1_000, 4_096) == 2_072


def test_a_short_history_makes_way_for_a_long_question() -> None:
    assert shrunk_history(500, 4_000, None) == 0
