"""Failures that a test orders: server errors, rate limits, cut connections; before or after the deed."""

from dataclasses import dataclass


@dataclass(slots=True)
class Fault:
    """One route fails `times` times. With `take_effect` the request is carried out; only its answer is lost.

    `status` None means that the connection is cut instead of an answer.
    """

    route: str
    status: int | None
    times: int
    take_effect: bool
    retry_after_s: float
    delay_s: float


class Faults:
    def __init__(self) -> None:
        self._ordered: list[Fault] = []

    def order(self, fault: Fault) -> None:
        self._ordered.append(fault)

    def forget(self) -> None:
        """Nothing more fails."""
        self._ordered.clear()

    @property
    def outstanding(self) -> int:
        """How many ordered failures no request has met yet."""
        return sum(fault.times for fault in self._ordered)

    def take(self, route: str) -> Fault | None:
        fault = next((fault for fault in self._ordered if fault.route == route), None)
        if fault is not None:
            fault.times -= 1
            if not fault.times:
                self._ordered.remove(fault)
        return fault
