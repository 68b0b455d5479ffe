"""Other users beside an attack: how long they wait, and how much memory the program takes meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Final

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel

MAX_WAIT_S: Final = 1.0
MAX_GROWTH_MIB: Final = 100
USERS: Final = 6
"""So that none of them passes the 120 commands a minute which the bot permits."""
ASK_EVERY_S: Final = 0.1
SAMPLE_EVERY_S: Final = 0.02


@dataclass
class Bystanders:
    """Users who give one command after the other, in turn."""

    stage: Stage
    channel: Channel
    waits_s: list[float] = field(default_factory=list)
    """From each command to its acknowledgement."""

    def __post_init__(self) -> None:
        self._turns = cycle([self.stage.discord.user(f"Bystander {number}") for number in range(USERS)])

    async def ask(self) -> None:
        reply = await self.stage.discord.slash(next(self._turns), self.channel, "help")
        self.waits_s.append((await reply.acknowledged()).acknowledged_after_s)

    async def ask_on(self) -> None:
        while True:
            await self.ask()
            await asyncio.sleep(ASK_EVERY_S)


@dataclass
class Growth:
    mib: float = 0.0
    """Most memory beyond that at the beginning, of the program and its children together."""


@asynccontextmanager
async def bystander(
    stage: Stage, channel: Channel, *, max_growth_mib: float = MAX_GROWTH_MIB
) -> AsyncIterator[None]:
    """Have users give a command again and again while the body attacks. Fails when one of the commands was
    acknowledged late, or when the program and its children grew by more than that."""
    others, growth = Bystanders(stage, channel), Growth()
    await others.ask()
    watching = [asyncio.create_task(others.ask_on())]
    watching.append(asyncio.create_task(_measure(stage.program.process_id, growth)))
    try:
        yield
    finally:
        for task in watching:
            task.cancel()
        ended = await asyncio.gather(*watching, return_exceptions=True)
    failed = [each for each in ended if isinstance(each, Exception)]
    assert failed == []
    await others.ask()
    assert max(others.waits_s) < MAX_WAIT_S
    assert growth.mib < max_growth_mib


async def _measure(process_id: int, growth: Growth) -> None:
    before = last = _resident_mib(process_id)
    while True:
        now = _resident_mib(process_id)
        # A child that was just forked counts as a second program for a moment.
        growth.mib = max(growth.mib, min(last, now) - before)
        last = now
        await asyncio.sleep(SAMPLE_EVERY_S)


def _resident_mib(process_id: int, parent_command: bytes = b"") -> float:
    """Resident memory of a process and all its descendants. 0 for one that has ended, and for a child that
    has not yet begun its own program: until then its memory is its parent's (vfork)."""
    try:
        command = Path(f"/proc/{process_id}/cmdline").read_bytes()
        fields = Path(f"/proc/{process_id}/statm").read_text().split()
        tasks = Path(f"/proc/{process_id}/task").iterdir()
        children = " ".join((task / "children").read_text() for task in tasks).split()
    except OSError:
        return 0.0
    if command == parent_command:
        return 0.0
    return int(fields[1]) * 4096 / 2**20 + sum(_resident_mib(int(each), command) for each in children)
