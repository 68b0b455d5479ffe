import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from tests.end_to_end.stage import Stage
from tests.loopback.discord.faults import Fault

CALLBACK = "POST /interactions/{interaction}/{token}/callback"
EDIT = "PATCH /webhooks/{application}/{token}/messages/@original"
FOLLOW_UP = "POST /webhooks/{application}/{token}"
POST = "POST /channels/{channel}/messages"
EDIT_POST = "PATCH /channels/{channel}/messages/{message}"

HELD_S = 0.3
"""Longer than a kill takes."""
_PATIENCE_S = 20.0
_ALL = 1000


class Moment(Protocol):
    """When to kill, counted from the moment at which a wave of questions was sent."""

    async def comes(self, stage: Stage, rng: Random) -> None: ...


@dataclass(frozen=True, slots=True)
class AtRequest:
    """When the program asks this of Discord for the n-th time in the wave. `arrives`: it is carried out."""

    route: str
    arrives: bool
    nth: int = 1

    async def comes(self, stage: Stage, rng: Random) -> None:
        discord = stage.discord
        before = len(discord.calls(self.route))
        await discord.wait(
            lambda: len(discord.calls(self.route)) >= before + self.nth - 1, str(self), timeout_s=_PATIENCE_S
        )
        status = 200 if self.arrives else None
        hold = Fault(self.route, status, _ALL, take_effect=self.arrives, retry_after_s=0.1, delay_s=HELD_S)
        discord.faults.order(hold)
        await discord.wait(lambda: hold.times < _ALL, str(self), timeout_s=_PATIENCE_S)

    def __str__(self) -> str:
        way = "arrived" if self.arrives else "about to be sent"
        return f"{self.route} for the {self.nth}. time, {way}"


@dataclass(frozen=True, slots=True)
class AtModel:
    """When the model was asked so often in the wave (`answered`: and had answered), and a moment later."""

    nth: int
    answered: bool
    within_s: float = 0.0

    async def comes(self, stage: Stage, rng: Random) -> None:
        before = len(stage.model.requests)
        async with asyncio.timeout(_PATIENCE_S):
            request = await stage.model.arrived(before + self.nth)
            if self.answered:
                await request.answered.wait()
        await asyncio.sleep(rng.uniform(0.0, self.within_s))

    def __str__(self) -> str:
        what = "answered" if self.answered else "was asked"
        return f"the model {what} for the {self.nth}. time, and up to {self.within_s} s"


@dataclass(frozen=True, slots=True)
class AnyTime:
    """At random."""

    within_s: float = 1.6

    async def comes(self, stage: Stage, rng: Random) -> None:
        await asyncio.sleep(rng.uniform(0.0, self.within_s))

    def __str__(self) -> str:
        return f"any time in {self.within_s} s"


STEPS: Sequence[Moment] = (
    *(AtRequest(CALLBACK, arrives, nth) for arrives in (True, False) for nth in (1, 4)),
    AtModel(1, answered=False),
    AtModel(5, answered=False, within_s=0.1),
    *(AtRequest(EDIT, arrives, nth) for arrives in (True, False) for nth in (1, 3, 6)),
    *(AtModel(nth, answered=True, within_s=0.06) for nth in (1, 2, 3, 5)),
    *(AtRequest(FOLLOW_UP, arrives) for arrives in (True, False)),
    *(AtRequest(POST, arrives, nth) for arrives in (True, False) for nth in (1, 2, 3)),
    *(AtRequest(EDIT_POST, arrives, nth) for arrives in (True, False) for nth in (1, 4)),
)
"""In the order of a turn: acknowledged, asked of the model, shown as it comes, stored, shown page by page."""


def moments(number: int, campaigns: int, kills: int) -> list[Moment]:
    share = list(STEPS[number::campaigns])
    assert len(share) <= kills, "not all steps would be met"
    return share + [AnyTime()] * (kills - len(share))
