"""The Meter that keeps count for Prometheus: the one place where metrics have their names.

The names follow Prometheus' conventions (a prefix, base units, `_total` for what only grows). Labels take few
values: names that the operator or the program gave, never those of users, channels or servers.
https://prometheus.io/docs/practices/naming/
"""

from collections.abc import Mapping
from typing import Final, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from cc_bot.domain.events import Usage
from cc_bot.domain.measures import Ending, Held, Phase, Purpose

_QUICK_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600)
"""From a commit to the longest turn."""
_WAITS_S: Final = (0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300)


class PrometheusMeter:
    """A Meter (see there) with a registry of its own, so that two programs in one process don't add up."""

    def __init__(self, version: str) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        Gauge("cc_bot_build_info", "The program.", ["version"], registry=self.registry).labels(version).set(1)
        self._turns = self._counter("turns", "Turns by how they ended.", "status")
        self._turn_seconds = self._histogram("turn_seconds", "From the question to the stored answer.")
        self._phase_seconds = self._histogram("phase_seconds", "Where the time of turns goes.", "phase")
        self._unshown = self._counter("answers_not_shown", "Answers that could not be shown to their end.")
        self._tokens = self._counter(
            "tokens", "Tokens as servers count them; `prompt` without those in `cached`.", "kind", "model"
        )
        self._purposes = self._counter("tokens_by_purpose", "The same by what they were spent on.", "purpose")
        self._tools = self._counter("tool_calls", "Calls of tools by models.", "tool", "outcome")
        self._errors = self._counter("errors", "What went wrong, by its kind.", "kind")
        self._limits = self._counter("rate_limits", "How often requests to Discord had to wait.", "held")
        self._waits = self._histogram(
            "rate_limit_wait_seconds", "How long they waited, where that is known.", buckets=_WAITS_S
        )

        for counted, values in (
            (self._turns, get_args(Ending)),
            (self._phase_seconds, get_args(Phase)),
            (self._limits, get_args(Held)),
        ):
            for value in values:  # there from the beginning, so that the first one is seen as growth
                counted.labels(value)

    def turn_ended(self, ending: Ending, seconds: float, phases: Mapping[Phase, float]) -> None:
        self._turns.labels(ending).inc()
        self._turn_seconds.observe(seconds)
        for phase, spent in phases.items():
            self._phase_seconds.labels(phase).observe(spent)

    def shown(self, seconds: float, *, ok: bool) -> None:
        if ok:
            self._phase_seconds.labels("discord").observe(seconds)
        else:
            self._unshown.inc()

    def tokens_spent(self, purpose: Purpose, model: str, usage: Usage) -> None:
        fresh = max(usage.prompt_tokens - usage.cached_tokens, 0)
        kinds = {"prompt": fresh, "cached": usage.cached_tokens, "completion": usage.completion_tokens}
        for kind, tokens in kinds.items():
            self._tokens.labels(kind, model).inc(tokens)
        self._purposes.labels(purpose).inc(sum(kinds.values()))

    def tool_called(self, name: str, *, ok: bool) -> None:
        self._tools.labels(name, "ok" if ok else "failed").inc()

    def failed(self, kind: str) -> None:
        self._errors.labels(kind).inc()

    def rate_limited(self, held: Held, seconds: float | None) -> None:
        self._limits.labels(held).inc()
        if seconds is not None:
            self._waits.observe(seconds)

    def _counter(self, name: str, help_: str, *labels: str) -> Counter:
        return Counter(f"cc_bot_{name}", help_, labels, registry=self.registry)

    def _histogram(
        self, name: str, help_: str, *labels: str, buckets: tuple[float, ...] = _QUICK_S
    ) -> Histogram:
        return Histogram(f"cc_bot_{name}", help_, labels, buckets=buckets, registry=self.registry)
