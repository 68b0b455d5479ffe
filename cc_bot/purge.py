"""Deleted memories are removed for good once their undo is over.

What is due stands in the database, and so does what is still owed after a removal: nothing is lost when the
program ends, and whoever starts next goes on with it. Last comes what takes long in a large database, to
write it anew (see MemoryRemovalStore.rewrite): in a quiet moment, or after a day without one.
"""

import asyncio
from datetime import timedelta
from time import monotonic
from typing import Final

import structlog

from cc_bot.correlation import job
from cc_bot.domain.clock import Clock
from cc_bot.domain.memory import UNDO_TIME
from cc_bot.stores.memory.removal import QUIET, MemoryRemovalStore

LOOK_EVERY_S: Final = 60.0
"""Far shorter than UNDO_TIME, so that a clock that was set or a machine that slept delays little."""
TRY_AGAIN_S: Final = 5.0
TRY_LATER_S: Final = 3600.0
NO_LONGER_S: Final = 86_400.0
"""So long a moment is waited for in which nobody writes."""

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


async def keep_purging(removal: MemoryRemovalStore, clock: Clock, *, quiet: timedelta = QUIET) -> None:
    """Remove what is due, each in its time, until cancelled."""
    rewriting = Rewriting(removal, quiet)
    while True:
        with job("purge"):
            done = await purge_due(removal, clock) and await rewriting.attempt()
        await asyncio.sleep(await _pause_s(removal, clock) if done else TRY_AGAIN_S)


class Rewriting:
    """Has the database written anew where that is owed."""

    def __init__(self, removal: MemoryRemovalStore, quiet: timedelta) -> None:
        self._removal = removal
        self._quiet = quiet
        self._waits_since: float | None = None
        self._not_before = 0.0

    async def attempt(self) -> bool:
        """Do it if this is the time. False when what came of it has to be written back soon."""
        now = monotonic()
        if now < self._not_before:
            return True
        waited = 0.0 if self._waits_since is None else now - self._waits_since
        try:
            outcome = await self._removal.rewrite(quiet=timedelta() if waited > NO_LONGER_S else self._quiet)
            if outcome == "done":
                self._waits_since = None
                return await self._removal.write_back()
        except Exception as error:  # noqa: BLE001 - likewise
            _log.warning("rewriting_failed", error=type(error).__name__)
            self._not_before = now + TRY_LATER_S
            return True
        if outcome == "no_room":
            _log.warning("no_room_to_rewrite_the_database", again_in_s=TRY_LATER_S)
            self._not_before = now + TRY_LATER_S
        self._waits_since = now if self._waits_since is None else self._waits_since
        return True


async def _pause_s(removal: MemoryRemovalStore, clock: Clock) -> float:
    try:
        due = await removal.next_purge()
    except Exception:  # noqa: BLE001 - likewise
        return TRY_AGAIN_S
    return LOOK_EVERY_S if due is None else min(max((due - clock()).total_seconds(), 0.0), LOOK_EVERY_S)
