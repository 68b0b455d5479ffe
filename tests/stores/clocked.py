"""Schedules for tests, over a clock that is set by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cc_bot.chat.stores.archive import ArchiveStore
from cc_bot.db import Database
from cc_bot.domain.message import Target
from cc_bot.features.reminders.model import Firing, Schedule
from cc_bot.features.reminders.store import ScheduleStore
from tests.stores.backends import KEY

TARGETS: Final[tuple[Target, ...]] = ("channel", "dm")
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
DAILY = "0 21 * * *"  # 21:00 in Tokyo: NOON


class Clocked(ScheduleStore):
    """A store with a clock that is set by hand."""

    def __init__(self, database: Database, *, process: str = "") -> None:
        self.now = NOON - HOUR
        super().__init__(database, clock=lambda: self.now, process=process)
        self.archive = ArchiveStore(database, clock=lambda: self.now)

    async def at(self, moment: datetime, **options: Any) -> list[Firing]:
        self.now = moment
        return [*await self.claim_due(moment, TARGETS, limit=10, **options)]

    async def told(self) -> list[tuple[str, str]]:
        found = list[tuple[str, str]]()
        while untold := await self.take_unreported(TARGETS):
            found += [(str(firing.state), firing.schedule.text) for firing in untold]
        return sorted(found)


async def once(schedules: ScheduleStore, due: datetime = NOON, **fields: Any) -> Schedule:
    return await schedules.add(KEY, fields.pop("text", "薬"), due, **fields)


def times(firings: list[Firing]) -> list[datetime]:
    return [firing.due_at for firing in firings]
