"""Claims due times and yields their firings."""

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import structlog

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.message import Target
from cc_bot.features.reminders.model import Firing, UnreportedFirings
from cc_bot.features.reminders.store import CLAIM_TIMEOUT, ScheduleStore

CHECK_EVERY_S: Final = 15.0  # clocks change, and other processes die while they hold claims
MAX_SLEEP_S: Final = 2.0  # another process may add an earlier time
PRUNE_EVERY: Final = timedelta(days=1)
_MIN_PAUSE_S: Final = 0.01

_log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class Scheduler:
    """Claims due times of a user or, without `user_id`, of all users."""

    schedules: ScheduleStore
    targets: Collection[Target]
    user_id: int | None = None
    clock: Clock = utc_now
    check_every_s: float = CHECK_EVERY_S
    _changed: asyncio.Event = field(init=False)
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)
    _pruned_at: datetime | None = None

    def __post_init__(self) -> None:
        self._changed = self.schedules.changed

    async def run(self) -> AsyncGenerator[Firing | UnreportedFirings, None]:
        """Yield due firings until `stop`; retry after database failures. The caller records the outcomes."""
        while not self._stopped.is_set():
            self._changed = self.schedules.changed
            try:
                while not self._stopped.is_set() and (due := await self._claim_next()) is not None:
                    yield due
                await self._prune()
            except CcBotError as error:
                _log.warning("schedules_not_read", error=type(error).__name__)
                with suppress(TimeoutError):  # not an immediate retry
                    await asyncio.wait_for(self._stopped.wait(), self.check_every_s)
            await self.wait()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def stop(self) -> None:
        """End `run` before the next claim. To cancel `run` instead could lose a claim."""
        self._stopped.set()

    async def claim_all_due(self) -> list[Firing | UnreportedFirings]:
        self._changed = self.schedules.changed
        claimed: list[Firing | UnreportedFirings] = []
        while (each := await self._claim_next()) is not None:
            claimed.append(each)
        return claimed

    async def wait(self) -> None:
        """Wait until a schedule may be due, at most `check_every_s`."""
        clock = asyncio.get_running_loop().time
        deadline_s = clock() + self.check_every_s
        tasks = [asyncio.create_task(event.wait()) for event in (self._changed, self._stopped)]
        try:
            while (pause_s := min(await self._seconds_to_next(), deadline_s - clock())) > 0:
                done, _ = await asyncio.wait(
                    tasks, timeout=min(pause_s, MAX_SLEEP_S), return_when=asyncio.FIRST_COMPLETED
                )
                if done or pause_s <= MAX_SLEEP_S:
                    return
        finally:
            for task in tasks:
                task.cancel()

    async def _claim_next(self) -> Firing | UnreportedFirings | None:
        now, user_id = self.clock(), self.user_id
        for firing in await self.schedules.claim_due(now, self.targets, user_id=user_id):
            return firing
        await self.schedules.mark_uncertain(now - CLAIM_TIMEOUT)
        return await self.schedules.take_unreported(self.targets, user_id=user_id) or None

    async def _prune(self) -> None:
        now = self.clock()
        if self._pruned_at is None or abs(now - self._pruned_at) >= PRUNE_EVERY:
            await self.schedules.prune()
            self._pruned_at = now

    async def _seconds_to_next(self) -> float:
        try:
            due = await self.schedules.get_next_due(self.targets, user_id=self.user_id)
        except CcBotError:
            due = None
        if due is None:
            return self.check_every_s
        return min(max((due - self.clock()).total_seconds(), _MIN_PAUSE_S), self.check_every_s)
