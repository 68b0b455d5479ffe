"""Metrics, which name no user, channel or message, and the health of the gateway connection."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from cc_bot.domain.turn import Usage

Phase = Literal["queue", "hearing", "store", "model_first_token", "model", "tools", "discord"]
"""Where a turn's time goes. store: reading the conversation, building the prompt and writing the turn;
model_first_token: until the first word or tool call; model: all streams; discord: from the end of the turn
until it is shown."""

Ending = Literal["complete", "stopped", "cut", "refused", "failed"]
"""How a turn ended. refused: the user may not ask that, or not now; failed: by an error."""

Purpose = Literal["turn", "summary", "heartbeat", "schedule", "speech"]  # speech: answers that are read aloud


class Meter:
    """Ignores reports. Implementations do no I/O, raise nothing and return at once. Times are in seconds."""

    def record_turn(self, ending: Ending, seconds: float, phases: Mapping[Phase, float]) -> None:
        """Record the end of a turn; phases that it skipped are left out."""

    def record_shown(self, seconds: float, *, ok: bool) -> None:
        """Record how long after its turn an answer was fully shown, or that it was not."""

    def record_tokens(self, purpose: Purpose, model: str, usage: Usage) -> None:
        pass

    def record_tool_call(self, name: str, *, ok: bool) -> None:
        pass

    def record_server_call(self, server: str, tool: str, seconds: float, *, ok: bool) -> None:
        pass

    def record_failure(self, kind: str) -> None:
        """Record an error by class name."""


NULL_METER: Final = Meter()

LatencyReader = Callable[[], float | None]
"""Returns the seconds that the last heartbeat took; None while disconnected, NaN before the first one."""


@dataclass(slots=True)
class GatewayHealth:
    read_latency_s: LatencyReader | None = None  # set while the bot answers

    @property
    def latency_s(self) -> float | None:
        return self.read_latency_s() if self.read_latency_s else None

    @property
    def is_connected(self) -> bool:
        return self.latency_s is not None
