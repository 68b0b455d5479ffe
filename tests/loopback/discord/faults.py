"""Failures that a test orders: server errors, rate limits, cut connections; before or after the deed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tests.loopback.discord.refusals import Refusal


@dataclass(slots=True)
class Fault:
    """One route fails `times` times. With `take_effect` the request is carried out; only its answer is lost.

    `status` None means that the connection is cut instead of an answer. With `channel_id` only requests about
    that channel are meant: a program that tests share may ask about another's at any time.
    """

    route: str
    status: int | None
    times: int
    take_effect: bool
    retry_after_s: float
    delay_s: float
    channel_id: int | None = None
    refusal: Refusal | None = None
    holding: str = ""
    """Only requests that hold this, as `held_in` has it, are meant."""

    def strikes(self, route: str, params: Mapping[str, str], held: Collection[str]) -> bool:
        channel = str(self.channel_id or params.get("channel"))
        meant = not self.holding or self.holding in held
        return meant and route == self.route and channel == str(params.get("channel"))


class Faults:
    def __init__(self) -> None:
        self._ordered: list[Fault] = []

    def order(self, fault: Fault) -> None:
        self._ordered.append(fault)

    def forget(self) -> None:
        self._ordered.clear()

    @property
    def outstanding(self) -> int:
        return sum(fault.times for fault in self._ordered)

    def take(self, route: str, params: Mapping[str, str], held: Collection[str] = ()) -> Fault | None:
        fault = next((fault for fault in self._ordered if fault.strikes(route, params, held)), None)
        if fault is not None:
            fault.times -= 1
            if not fault.times:
                self._ordered.remove(fault)
        return fault
