"""A second user beside an attack: how long they wait, and how much memory the program takes meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User

MAX_WAIT_S = 1.0
MAX_GROWTH_MIB = 100
ASK_EVERY_S = 0.1
SAMPLE_EVERY_S = 0.02


@dataclass
class Watched:
    """What a bystander saw of one attack."""

    waits_s: list[float] = field(default_factory=list)
    grown_mib: float = 0.0
    """Most memory beyond that at the beginning, of the program and its children together."""


@asynccontextmanager
async def bystander(
    stage: Stage,
    user: User,
    channel: Channel,
    *,
    max_wait_s: float = MAX_WAIT_S,
    max_growth_mib: float = MAX_GROWTH_MIB,
) -> AsyncIterator[Watched]:
    """Have a user give a command again and again while the body attacks. Fails when one of the commands was
    acknowledged late, or when the program and its children grew by more than that."""
    watched = Watched()
    watched.waits_s.append(await _acknowledged_after(stage, user, channel))
    watching = [asyncio.create_task(_ask(stage, user, channel, watched))]
    watching.append(asyncio.create_task(_measure(stage.program.process_id, watched)))
    try:
        yield watched
    finally:
        for task in watching:
            task.cancel()
        ended = await asyncio.gather(*watching, return_exceptions=True)
    failed = [each for each in ended if isinstance(each, Exception)]
    assert failed == []
    watched.waits_s.append(await _acknowledged_after(stage, user, channel))
    assert max(watched.waits_s) < max_wait_s
    assert watched.grown_mib < max_growth_mib


async def _ask(stage: Stage, user: User, channel: Channel, watched: Watched) -> None:
    while True:
        watched.waits_s.append(await _acknowledged_after(stage, user, channel))
        await asyncio.sleep(ASK_EVERY_S)


async def _acknowledged_after(stage: Stage, user: User, channel: Channel) -> float:
    reply = await stage.discord.slash(user, channel, "help")
    return (await reply.acknowledged()).acknowledged_after_s


async def _measure(process_id: int, watched: Watched) -> None:
    before = last = _resident_mib(process_id)
    while True:
        now = _resident_mib(process_id)
        # A child that was just forked counts as a second program for a moment.
        watched.grown_mib = max(watched.grown_mib, min(last, now) - before)
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
