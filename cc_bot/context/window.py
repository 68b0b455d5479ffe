"""How much of the history is sent: what fits the token budget, newest first, in whole pairs.

Where not all of it fits, it begins at the same message for many turns and then moves on by many at once, so
that a provider's cache knows most of each request. Nobody has to remember where it began: of the messages at
which it may begin, it is the one whose hash is the least, and that stays the least until it fits no more.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final

from cc_bot.domain.message import Message

KEPT_SHARE: Final = 0.5
"""How much of the budget is used at least. Half lets it begin anew every twentieth turn or so, and uses 72 %
of the budget on average; three quarters would begin anew twice as often."""


def window(
    history: Sequence[Message], budget_tokens: float, cost: Callable[[Message], float]
) -> tuple[Message, ...]:
    """The newest messages that fit the budget together, oldest first.

    A question is never parted from its answer: the window starts with a user message.
    """
    spent = 0.0
    starts: list[tuple[int, float]] = []
    for index in range(len(history) - 1, -1, -1):
        spent += cost(history[index])
        if spent > budget_tokens:
            return tuple(history[_steady(history, starts, budget_tokens) :])
        if history[index].role == "user":
            starts.append((index, spent))
    return tuple(history[starts[-1][0] :]) if starts else ()


def tokens_up_to(history: Sequence[Message], enough: float, cost: Callable[[Message], float]) -> float:
    """What the newest messages cost together, counted only until it is more than enough."""
    spent = 0.0
    for message in reversed(history):
        spent += cost(message)
        if spent > enough:
            break
    return spent


def _steady(history: Sequence[Message], starts: Sequence[tuple[int, float]], budget_tokens: float) -> int:
    """Where to begin; `starts` are the places that fit, newest first, with what is used from there on."""
    if not starts:
        return len(history)
    enough = [index for index, spent in starts if spent >= budget_tokens * KEPT_SHARE]
    return min(enough or [starts[-1][0]], key=lambda index: _hash(history[index]))


def _hash(message: Message) -> bytes:
    named = message.content if message.id is None else str(message.id)
    return blake2b(named.encode(errors="replace"), digest_size=8).digest()
