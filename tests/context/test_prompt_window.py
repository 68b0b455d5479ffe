"""What of a history fits a budget."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.context.prompt import KEPT_SHARE, window
from cc_bot.domain.message import Message

pairs = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50)).map(
        lambda lengths: (Message("user", "あ" * lengths[0]), Message("assistant", "い" * lengths[1]))
    ),
    max_size=12,
)


def cost(message: Message) -> int:
    return 1 + len(message.content)


@given(pairs, st.integers(0, 300))
def test_a_window_keeps_its_budget_and_its_pairs(
    conversation: list[tuple[Message, Message]], budget: int
) -> None:
    history = [message for pair in conversation for message in pair]
    kept = window(history, budget, cost)
    assert sum(map(cost, kept)) <= budget
    assert len(kept) % 2 == 0
    assert list(kept) == history[len(history) - len(kept) :]


@given(pairs, st.integers(0, 300))
def test_a_window_holds_all_that_fits_or_half_of_its_budget(
    conversation: list[tuple[Message, Message]], budget: int
) -> None:
    history = [message for pair in conversation for message in pair]
    kept = window(history, budget, cost)
    if len(kept) == len(history):
        return
    largest = max(sum(map(cost, pair)) for pair in conversation)
    assert sum(map(cost, kept)) >= min(budget * KEPT_SHARE, budget - largest)


def test_a_window_begins_at_one_message_for_many_turns() -> None:
    history: list[Message] = []
    starts: list[int | None] = []
    for row in range(1, 801, 2):
        history += (Message("user", "あ" * 30, id=row), Message("assistant", "い" * 30, id=row + 1))
        starts.append(window(history, 5000, cost)[0].id)
    later = starts[100:]
    assert sum(before != after for before, after in pairwise(later)) <= len(later) / 15
    assert later == sorted(later, key=lambda row: row or 0)
