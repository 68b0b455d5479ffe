"""The measures that the program takes of itself, told to whoever counts: a Meter.

A meter is handed down like any other part, so that whoever reports knows nothing of metrics or of how they
are read; without one, NULL_METER takes the reports and keeps nothing. No report names a user, a place or what
was said: what is counted can be read by others than the operator.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal, Protocol

from cc_bot.domain.turn import Usage

Phase = Literal["queue", "hearing", "store", "model_first_token", "model", "tools", "discord"]
"""Where the time of a turn goes. queue: waiting for its place; hearing: its recordings are written down;
store: reading the conversation, making a request of it, and writing the turn; model_first_token: from the
first request to the first word or tool call; model: all of the model's streams; tools: running tools;
discord: from the end of the turn until Discord shows it."""

Ending = Literal["complete", "stopped", "cut", "refused", "failed"]
"""How a turn ended: as its answer's status has it, or without an answer. refused: as it should be, since the
user can't ask that, or not now; failed: something did not work."""

Purpose = Literal["turn", "summary", "heartbeat", "schedule", "speech"]
"""What tokens were spent on. speech: answers that are read aloud."""


class Meter(Protocol):
    """A taker of reports. It does no I/O, raises nothing and returns at once. Times are in seconds."""

    def record_turn(self, ending: Ending, seconds: float, phases: Mapping[Phase, float]) -> None:
        """Record that a turn is over, stored or failed; phases that it never came to are left out."""

    def record_shown(self, seconds: float, *, ok: bool) -> None:
        """Record that an answer stands whole on Discord, so long after the turn was over; or that it could
        not be shown."""

    def record_tokens(self, purpose: Purpose, model: str, usage: Usage) -> None:
        """Record that a model has answered, and what its server charges for."""

    def record_tool_call(self, name: str, *, ok: bool) -> None:
        """Record that a tool that there is was run, or refused what it was asked for."""

    def record_server_call(self, server: str, tool: str, seconds: float, *, ok: bool) -> None:
        """Record that a server of the operator's was called, by its name and that of its tool."""

    def record_failure(self, kind: str) -> None:
        """Record that something went wrong that a user or the operator is told of, by the name of the error's
        class."""


class NullMeter:
    """A Meter that keeps nothing."""

    def record_turn(self, ending: Ending, seconds: float, phases: Mapping[Phase, float]) -> None:
        pass

    def record_shown(self, seconds: float, *, ok: bool) -> None:
        pass

    def record_tokens(self, purpose: Purpose, model: str, usage: Usage) -> None:
        pass

    def record_tool_call(self, name: str, *, ok: bool) -> None:
        pass

    def record_server_call(self, server: str, tool: str, seconds: float, *, ok: bool) -> None:
        pass

    def record_failure(self, kind: str) -> None:
        pass


NULL_METER: Final[Meter] = NullMeter()

# ---- pulse -----------------------------------------------------------------------------------------------
# The connection of the bot: told by whoever holds it, asked for by whoever watches over it.
#
# It stands between two siblings that do not know each other: the front end, and what serves /healthz.

Look = Callable[[], float | None]
"""How long the last heartbeat took, in seconds; None while there is no connection. NaN: no heartbeat yet."""


class GatewayHealth:
    """The connection of one run of the program. Before `begin` and after `end` there is none."""

    def __init__(self) -> None:
        self._look: Look | None = None

    def begin(self, look: Look) -> None:
        """Begin: the bot answers from now on; `look` tells how it is connected at the moment."""
        self._look = look

    def end(self) -> None:
        """End: the bot is about to leave."""
        self._look = None

    @property
    def latency_s(self) -> float | None:
        """See Look."""
        return self._look() if self._look else None

    @property
    def connected(self) -> bool:
        return self.latency_s is not None
