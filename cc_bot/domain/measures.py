"""The Meter for metrics, and the health of the gateway connection.

A meter is passed to whatever reports; NULL_METER ignores reports. No report names a user, a channel or a
message.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from cc_bot.domain.turn import Usage

Phase = Literal["queue", "hearing", "store", "model_first_token", "model", "tools", "discord"]
"""Where a turn's time goes. store: reading the conversation, building the prompt and writing the turn;
model_first_token: from the first request to the first word or tool call; model: all streams; discord: from
the end of the turn until it is shown."""

Ending = Literal["complete", "stopped", "cut", "refused", "failed"]
"""How a turn ended: its answer's status, or without an answer. refused: as intended, since the user may not
ask that or not now; failed: an error."""

Purpose = Literal["turn", "summary", "heartbeat", "schedule", "speech"]
"""What tokens were spent on. speech: answers that are read aloud."""


class Meter:
    """Takes reports; this one ignores them. It does no I/O, raises nothing and returns at once.

    Times are in seconds."""

    def record_turn(self, ending: Ending, seconds: float, phases: Mapping[Phase, float]) -> None:
        """Record the end of a turn, stored or failed; phases that it skipped are left out."""

    def record_shown(self, seconds: float, *, ok: bool) -> None:
        """Record how long after its turn an answer was fully shown, or that it could not be."""

    def record_tokens(self, purpose: Purpose, model: str, usage: Usage) -> None:
        """Record a model's answer and the usage that its server reported."""

    def record_tool_call(self, name: str, *, ok: bool) -> None:
        """Record that a tool ran or refused its arguments."""

    def record_server_call(self, server: str, tool: str, seconds: float, *, ok: bool) -> None:
        """Record a call to a tool server."""

    def record_failure(self, kind: str) -> None:
        """Record an error reported to a user or the operator, by class name."""


NULL_METER: Final = Meter()

Look = Callable[[], float | None]
"""Seconds that the last heartbeat took; None while disconnected, NaN before the first one."""


class GatewayHealth:
    """The connection of one run. Disconnected before `begin` and after `end`."""

    def __init__(self) -> None:
        self._look: Look | None = None

    def begin(self, look: Look) -> None:
        """The bot answers from now on; `look` reports the connection."""
        self._look = look

    def end(self) -> None:
        """The bot is about to disconnect."""
        self._look = None

    @property
    def latency_s(self) -> float | None:
        return self._look() if self._look else None

    @property
    def connected(self) -> bool:
        return self.latency_s is not None
