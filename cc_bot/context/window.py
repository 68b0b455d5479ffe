"""How much of the history is sent: what fits the token budget, newest first, in whole pairs."""

from collections.abc import Callable, Sequence

from cc_bot.domain.message import Message


def window(
    history: Sequence[Message], budget_tokens: float, cost: Callable[[Message], float]
) -> tuple[Message, ...]:
    """The newest messages that fit the budget together, oldest first.

    A question is never parted from its answer: the window starts with a user message.
    """
    spent = 0.0
    start = len(history)
    for index in range(len(history) - 1, -1, -1):
        spent += cost(history[index])
        if spent > budget_tokens:
            break
        if history[index].role == "user":
            start = index
    return tuple(history[start:])


def tokens_up_to(history: Sequence[Message], enough: float, cost: Callable[[Message], float]) -> float:
    """What the newest messages cost together, counted only until it is more than enough."""
    spent = 0.0
    for message in reversed(history):
        spent += cost(message)
        if spent > enough:
            break
    return spent
