"""How much of the history a request may keep after its server refused it for its length."""


def shrunk_history(sent: int, beside_history: int, limit: int | None) -> int:
    """The tokens that are left for the history, all of them as estimated; 0 when there is no room for any.

    `sent` is what the refused request had in all, `beside_history` the part of it that has to stay. Half of
    what was sent is aimed at; or less, where the server told its `limit`: three quarters of that, since the
    answer has to fit as well.
    """
    aim = sent // 2 if limit is None else min(sent // 2, limit * 3 // 4)
    return max(0, aim - beside_history)
