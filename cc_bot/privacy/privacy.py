"""What is stored about a user: shown, handed over, erased.

Erasing begins when no turn of the user is on its way any more. What a kill has left undone is gone on with at
the next start.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import date
from typing import Final

import structlog

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.privacy import Holdings, Retention
from cc_bot.privacy.exporting import MOST_BYTES, export_parts
from cc_bot.stores import Stores

WithoutTurnsOf = Callable[[int], AbstractAsyncContextManager[None]]
"""Entered when no turn of a user is on its way; until it is left none begins."""


async def nothing_counts(_: int) -> None:
    """Where nobody's tokens are limited."""


_log: Final = structlog.get_logger(__name__)


class Privacy:
    def __init__(
        self,
        stores: Stores,
        without_turns_of: WithoutTurnsOf,
        *,
        retention: Retention,
        clock: Clock = utc_now,
        counting_on: Callable[[int], Awaitable[date | None]] = nothing_counts,
    ) -> None:
        """`counting_on` tells what day is today where a user's tokens are limited, else None."""
        self._stores = stores
        self._without_turns_of = without_turns_of
        self._clock = clock
        self._counting_on = counting_on
        self.retention = retention
        """How long the operator keeps what."""

    async def overview(self, user_id: int) -> Holdings:
        """How much of what is stored."""
        return await self._stores.personal_data.overview(user_id)

    def export(self, user_id: int, *, most_bytes: int = MOST_BYTES) -> AsyncIterator[bytes]:
        """Everything, as JSON files of at most that size; none when nothing is stored."""
        records = self._stores.personal_data.records(user_id)
        return export_parts(records, user_id, self._clock(), most_bytes=most_bytes)

    async def erase(self, user_id: int) -> Holdings:
        """Erase everything for good, and tell what that was. How many tokens count for limits that hold is
        kept until they reset: nobody gets more of them that way.

        What SQLite may leave in unused room of a large file goes later (see purge.py). Raises StorageError;
        the rest is erased at the next start then, or when this is called again.
        """
        async with self._without_turns_of(user_id):
            held = await self._stores.personal_data.overview(user_id)
            counting_on = await self._counting_on(user_id)
            await self._stores.personal_erasure.erase(user_id, counting_on=counting_on)
        await self._stores.memory_removal.write_back()
        _log.info("user_erased", rows=sum(each.count for each in held.kinds.values()))
        return held

    async def go_on(self) -> None:
        """Erase what a former run has begun to. A failure is logged, and left to the next start."""
        try:
            for user_id in await self._stores.personal_erasure.begun():
                await self.erase(user_id)
        except CcBotError as error:
            _log.warning("erasing_failed", error=type(error).__name__)
