"""Whether the bot is connected: told by whoever holds the connection, asked by whoever watches over it.

It stands between two siblings that do not know each other: the front end, and what serves /healthz.
"""

from collections.abc import Callable

Look = Callable[[], float | None]
"""How long the last heartbeat took, in seconds; None while there is no connection. NaN: no heartbeat yet."""


class Pulse:
    """Of one run of the program. Before `begin` and after `end` there is no connection."""

    def __init__(self) -> None:
        self._look: Look | None = None

    def begin(self, look: Look) -> None:
        """The bot answers from now on; `look` tells how it is connected at the moment."""
        self._look = look

    def end(self) -> None:
        """The bot is about to leave."""
        self._look = None

    @property
    def latency_s(self) -> float | None:
        """See Look."""
        return self._look() if self._look else None

    @property
    def connected(self) -> bool:
        return self.latency_s is not None
