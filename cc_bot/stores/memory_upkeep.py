"""What searches of memories need done, but nobody should wait for: folding into the index, making anew.

One background task for all users. It never knows more than that something may be due: what is, it reads from
the database in the transaction that does it. So nothing is lost when the program ends in between, and two
programs on one file are in each other's way no more than two writers are. It rests after each transaction for
as long as that took.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final

import structlog

from cc_bot.storage import Database
from cc_bot.stores.memory_index import SEGMENTS, WAITING, WAITING_BYTES, fold_in, join_segments
from cc_bot.stores.memory_keys import KEY_BYTES
from cc_bot.stores.memory_remaking import all_remade, remake_some, remake_waiting

_LOOK_EVERY: Final = 64
"""Memories: after one in so many it is looked whether its user's have to be folded in."""
_MOST_DUE: Final = 10_000
"""Users; a search says again what is due for those beyond."""
_MANY_TERMS: Final = WAITING_BYTES // KEY_BYTES
_PAUSE_S: Final = 30.0

_log = structlog.get_logger(__name__)


class MemoryUpkeep:
    """Does it in the background while `running`, or at once by `catch_up`."""

    def __init__(self, database: Database, *, waiting: int = WAITING, segments: int = SEGMENTS) -> None:
        """`waiting` is how many rows of a user may stay out of the index, `segments` how many segments."""
        self._database = database
        self._waiting = waiting
        self._segments = segments
        self._due: dict[int, bool] = {}
        self._woken = asyncio.Event()
        self._all_remade = False

    def written(self, user_id: int, memory_id: int) -> None:
        """A memory was written just now. Returns at once."""
        if memory_id % _LOOK_EVERY == 0:
            self._look_at(user_id, outdated=False)

    def searched(self, user_id: int, *, waiting: int, waiting_terms: int, outdated: bool) -> None:
        """A search had to read so many rows with so many terms; `outdated`: and to make something of their
        texts. Returns at once."""
        if waiting >= self._waiting or waiting_terms >= _MANY_TERMS or outdated:
            self._look_at(user_id, outdated=outdated)

    async def catch_up(self, user_id: int | None = None) -> None:
        """Do all that is due, for this user as well. Raises StorageError."""
        if user_id is not None:
            self._look_at(user_id, outdated=True)
        while await self._step():
            pass

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _look_at(self, user_id: int, *, outdated: bool) -> None:
        if len(self._due) < _MOST_DUE:
            self._due[user_id] = outdated or self._due.get(user_id, False)
            self._woken.set()

    async def _run(self) -> None:
        while True:
            begun = monotonic()
            try:
                more = await self._step()
            except Exception as error:  # noqa: BLE001 - it is for all users, and ends with the program alone
                _log.warning("memory_upkeep_put_off", error=type(error).__name__, pause_s=_PAUSE_S)
                await asyncio.sleep(_PAUSE_S)
                continue
            if more:
                await asyncio.sleep(monotonic() - begun)
            else:
                await self._woken.wait()

    async def _step(self) -> bool:
        """One transaction; whether there may be more to do. Users who were just here go first."""
        self._woken.clear()
        for user_id in self._due:
            await self._step_for(user_id, outdated=self._due.pop(user_id))
            return True
        if not self._all_remade:
            self._all_remade = await self._database.read(all_remade) or not await self._database.write(
                remake_some
            )
            return True
        return False

    async def _step_for(self, user_id: int, *, outdated: bool) -> None:
        if outdated and await self._database.write(lambda: remake_waiting(user_id)):
            self._look_at(user_id, outdated=True)
            return
        folded = await self._database.write(lambda: fold_in(user_id, waiting=self._waiting))
        if folded or await self._database.write(lambda: join_segments(user_id, most=self._segments)):
            self._look_at(user_id, outdated=False)
