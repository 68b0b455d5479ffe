"""How much of the history a request may keep after its server refused it for its length."""


def shrunk_history(history: int, beside: int, limit: int | None) -> int:
    """The tokens of history to keep, all of them as estimated; 0 when there is no room for any.

    `history` is what the refused request had of it, `beside` everything else in it, which has to stay. Half
    of the history is kept; none where it was the smaller part, as halving it would save next to nothing, and
    there is one more try only. Where the server told its `limit`, the request is to take three quarters of it
    at most, since the answer has to fit as well.
    """
    half = history // 2 if history >= beside else 0
    return half if limit is None else min(half, fitting_history(beside, limit))


def fitting_history(beside: int, limit: int) -> int:
    """The tokens of history for which there is room in a request to a model that takes `limit`."""
    return max(0, limit * 3 // 4 - beside)
