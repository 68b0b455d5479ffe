"""Deleted memories are removed for good once their undo is over.

What is due stands in the database, and so does what is still owed after a removal: nothing is lost when the
program ends, and whoever starts next goes on with it.
"""

import asyncio
from typing import Final

import structlog

from cc_bot.domain.clock import Clock
from cc_bot.domain.memory import UNDO_TIME
from cc_bot.stores.memory_removal import MemoryRemovalStore

LOOK_EVERY_S: Final = 60.0
"""Far shorter than UNDO_TIME, so that a clock that was set or a machine that slept delays little."""
TRY_AGAIN_S: Final = 5.0

_log = structlog.get_logger(__name__)


async def purge_due(removal: MemoryRemovalStore, clock: Clock) -> bool:
    """Remove what is due now. Whether all of it is out of the database's files as well; a failure, and
    somebody who is reading, ask for another attempt."""
    try:
        if count := await removal.purge(clock() - UNDO_TIME):
            _log.info("memories_purged", count=count)
        return await removal.write_back()
    except Exception as error:  # noqa: BLE001 - what people had deleted goes, whatever went wrong once
        _log.warning("purge_failed", error=type(error).__name__)
        return False


async def keep_purging(removal: MemoryRemovalStore, clock: Clock) -> None:
    """Remove what is due, each in its time, until cancelled."""
    while True:
        done = await purge_due(removal, clock)
        await asyncio.sleep(await _pause_s(removal, clock) if done else TRY_AGAIN_S)


async def _pause_s(removal: MemoryRemovalStore, clock: Clock) -> float:
    try:
        due = await removal.next_purge()
    except Exception:  # noqa: BLE001 - likewise
        return TRY_AGAIN_S
    return LOOK_EVERY_S if due is None else min(max((due - clock()).total_seconds(), 0.0), LOOK_EVERY_S)
