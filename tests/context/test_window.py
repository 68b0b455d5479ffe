"""What of a history fits a budget."""

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.context.window import window
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
def test_a_window_is_as_large_as_the_budget_allows(
    conversation: list[tuple[Message, Message]], budget: int
) -> None:
    history = [message for pair in conversation for message in pair]
    kept = window(history, budget, cost)
    if len(kept) < len(history):
        next_pair = history[-len(kept) - 2 : -len(kept) or None]
        assert sum(map(cost, (*next_pair, *kept))) > budget
