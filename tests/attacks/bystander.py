"""Other users beside an attack on the running program: how long they wait, and how much memory it takes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Final

from tests.end_to_end.stage import Stage

MAX_WAIT_S: Final = 1.0
"""Discord shows 'did not respond' after three seconds."""
MAX_GROWTH_MIB: Final = 100
USERS: Final = 6
"""So that none of them passes the 120 commands a minute which the bot permits."""
TRIES: Final = 3


class Bystanders:
    """Users who give one command after the other, in turn, until they are cancelled."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.channel = stage, stage.discord.guild_channel()
        self.waits_s = list[float]()
        """From each command at the loopback Discord to its acknowledgement."""
        self.growth_mib = 0.0
        """Most memory beyond that at the beginning, of the program and its children together."""
        self._turns = cycle([stage.discord.user(f"Bystander {number}") for number in range(USERS)])

    async def ask(self) -> None:
        reply = await self.stage.discord.slash(next(self._turns), self.channel, "help")
        self.waits_s.append((await reply.acknowledged()).acknowledged_after_s)

    async def ask_on(self) -> None:
        while True:
            await self.ask()
            await asyncio.sleep(0.1)

    async def measure(self) -> None:
        before = last = _resident_mib(self.stage.program.process_id)
        while True:
            now = _resident_mib(self.stage.program.process_id)
            # A child that was just forked counts as a second program for a moment.
            self.growth_mib = max(self.growth_mib, min(last, now) - before)
            last = now
            await asyncio.sleep(0.02)


@asynccontextmanager
async def bystander(stage: Stage, *, max_growth_mib: float = MAX_GROWTH_MIB) -> AsyncIterator[None]:
    """Have users give a command again and again while the body attacks. Fails when one of the commands was
    acknowledged late, or when the program and its children grew by more than that."""
    others = Bystanders(stage)
    await others.ask()
    watching = [asyncio.create_task(each) for each in (others.ask_on(), others.measure())]
    try:
        yield
    finally:
        for task in watching:
            task.cancel()
        ended = await asyncio.gather(*watching, return_exceptions=True)
    assert [each for each in ended if isinstance(each, Exception)] == []
    await others.ask()
    assert max(others.waits_s) < MAX_WAIT_S
    assert others.growth_mib < max_growth_mib


async def holds_up_nobody(stage: Stage, attack: Callable[[], Awaitable[object]]) -> None:
    """A busy machine holds everybody up now and then; what the program does to others, it does each time."""
    for left in reversed(range(TRIES)):
        try:
            async with bystander(stage):
                await attack()
            return
        except AssertionError:
            if not left:
                raise


async def at_once(attack: Callable[[], Awaitable[object]], times: int) -> None:
    await asyncio.gather(*(attack() for _ in range(times)))


def _resident_mib(process_id: int, parent_command: bytes = b"") -> float:
    """Resident memory of a process and all its descendants. 0 for one that has ended, and for a child that
    has not yet begun its own program: until then its memory is its parent's (vfork)."""
    try:
        command = Path(f"/proc/{process_id}/cmdline").read_bytes()
        resident = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
        tasks = Path(f"/proc/{process_id}/task").iterdir()
        children = " ".join((task / "children").read_text() for task in tasks).split()
    except (OSError, IndexError):
        return 0.0
    if command == parent_command:
        return 0.0
    return resident * 4096 / 2**20 + sum(_resident_mib(int(each), command) for each in children)
