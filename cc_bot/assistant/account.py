"""The account of a turn: where its time went and how it ended, in one log record and to the meter."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from cc_bot.domain.errors import (
    AgentGone,
    Busy,
    CcBotError,
    InputError,
    LimitReached,
    NotNewest,
    ShuttingDown,
)
from cc_bot.domain.measures import NULL_METER, Meter, Phase
from cc_bot.domain.turn import Done

_log = structlog.get_logger(__name__)

_FIELDS: Final[dict[Phase, str]] = {
    "queue": "queue_s",
    "store": "store_s",
    "model_first_token": "first_token_s",
    "model": "model_s",
    "tools": "tools_s",
}
"""What the log calls the phases; what Discord took is told when the answer stands there."""


_REFUSALS: Final = (AgentGone, Busy, InputError, LimitReached, NotNewest, ShuttingDown)
"""Nothing is wrong with the program when these are told."""


class Account:
    """Of one turn, from its beginning. A phase that is entered several times is their sum."""

    def __init__(self, meter: Meter = NULL_METER) -> None:
        self._meter = meter
        self._began_s = time.monotonic()
        self._asked_s: float | None = None
        self._phases: dict[Phase, float] = {}

    @contextmanager
    def phase(self, phase: Phase) -> Iterator[None]:
        """What is done within counts to the phase, however it ends."""
        began_s = time.monotonic()
        try:
            yield
        finally:
            self._phases[phase] = self._phases.get(phase, 0.0) + time.monotonic() - began_s

    @contextmanager
    def asking(self) -> Iterator[None]:
        """The model is asked within; again, maybe."""
        if self._asked_s is None:
            self._asked_s = time.monotonic()
        with self.phase("model"):
            yield

    def heard(self) -> None:
        """Something came from the model: a word, or calls of tools."""
        if self._asked_s is not None:
            self._phases.setdefault("model_first_token", time.monotonic() - self._asked_s)

    def tool_called(self, name: str, *, ok: bool) -> None:
        self._meter.record_tool_call(name, ok=ok)

    def done(self, done: Done) -> None:
        """The turn ended with an answer, whole or not."""
        seconds = self._seconds()
        _log.info(
            "turn_done",
            status=done.answer.status,
            tools=len(done.answer.tool_calls),
            prompt_tokens=done.usage.prompt_tokens,
            cached_tokens=done.usage.cached_tokens,
            completion_tokens=done.usage.completion_tokens,
            seconds=seconds,
            **self._told(),
        )
        status = done.answer.status
        self._meter.record_turn("complete" if status == "replaced" else status, seconds, self._phases)

    def failed(self, error: Exception) -> None:
        """The turn ended without an answer."""
        seconds, kind = self._seconds(), type(error).__name__
        if isinstance(error, CcBotError):  # whatever else is on record where it is caught, with its place
            limit = {"limit": error.params["what"]} if isinstance(error, LimitReached) else {}
            _log.warning("turn_failed", error=kind, seconds=seconds, **limit, **self._told())
        self._meter.record_failure(kind)
        refused = isinstance(error, _REFUSALS)
        self._meter.record_turn("refused" if refused else "failed", seconds, self._phases)

    def _seconds(self) -> float:
        return round(time.monotonic() - self._began_s, 3)

    def _told(self) -> dict[str, float]:
        return {
            field: round(self._phases[phase], 3) for phase, field in _FIELDS.items() if phase in self._phases
        }
