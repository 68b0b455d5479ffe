"""Processes that share a database: which live, and which holds a duty."""

from typing import Final

import pytest

from cc_bot.chat.stores.opening import Stores
from cc_bot.db import MAINTENANCE_LOCK, Database, Statement
from cc_bot.db.process import LEASE, Process, ProcessStore
from tests.stores.backends import got

FIRST: Final = Process("first", "a.example", "1.0", (0, 1), 4)
SECOND: Final = Process("second", "b.example", "1.0", (2, 3), 4)
THIRD: Final = Process("third", "c.example", "1.0", (3,), 4)
OVER: Final = LEASE.total_seconds() + 1


@pytest.fixture
async def processes(stores: Stores) -> ProcessStore:
    for process in (FIRST, SECOND):
        assert not await stores.processes.join(process)
    return stores.processes


async def let_pass(database: Database, process: Process, seconds: float) -> None:
    """Have a process not be renewed for so long."""
    sql = "UPDATE processes SET until = until - $2 WHERE name = $1"
    await database.transaction([Statement(sql, (process.name, round(seconds * 1000)))], [MAINTENANCE_LOCK])


async def died(processes: ProcessStore, *, late: bool = False) -> tuple[str, ...]:
    renewal = got(await processes.renew(FIRST, late=late))
    return tuple(renewal.dead_names)


class TestProcesses:
    async def test_are_let_in_unless_a_living_one_has_their_shards(self, processes: ProcessStore) -> None:
        for other in (
            Process("other", "c.example", "1.0", (1,), 4),
            Process("other", "c.example", "1.0", (7,), 8),
            Process("other", "c.example", "1.0", None),
        ):
            [found, *_] = await processes.join(other)
            assert found.process == FIRST
        renewal = got(await processes.renew(FIRST))
        assert [each.process for each in renewal.active] == [FIRST, SECOND]
        assert not any(each.lapsed for each in renewal.active)
        assert not await processes.join(Process("terminal", "a.example", "1.0"))

    async def test_are_dead_once_not_renewed(self, processes: ProcessStore, database: Database) -> None:
        for process in (FIRST, SECOND):
            await let_pass(database, process, OVER)
        assert await died(processes) == ()  # what kept the one may have kept the others as well
        assert await processes.renew(SECOND)
        await let_pass(database, SECOND, OVER)
        assert await died(processes, late=True) == ()
        assert await died(processes) == ("second",)
        assert await processes.renew(SECOND) is None

    async def test_hold_shards_until_found_dead(self, processes: ProcessStore, database: Database) -> None:
        await let_pass(database, SECOND, OVER)
        [held] = await processes.join(THIRD)
        assert held.lapsed
        assert await processes.remove(["second", "nobody"]) == ("second",)
        assert not await processes.join(THIRD)


class TestDuties:
    async def test_are_of_one_process_at_a_time(self, processes: ProcessStore, database: Database) -> None:
        for _ in range(2):
            assert await processes.take("sweep", "first")
        await processes.give_back("sweep", "second")
        assert not await processes.take("sweep", "second")
        await processes.give_back("sweep", "first")
        assert await processes.take("sweep", "second")
        await processes.take("purge", "first")
        await processes.remove(["second"])
        duties = [(each.name, each.process) for each in await processes.list_duties()]
        assert duties == [("purge", "first"), ("sweep", None)]
        assert not await processes.take("sweep", "second"), "it is dead"
        assert await processes.take("sweep", "first")
        await let_pass(database, FIRST, OVER)
        other = Process("third", "c.example", "1.0")
        assert not await processes.join(other)
        assert not await processes.take("sweep", "third"), "the first is not dead yet"
        await processes.renew(other)
        assert await processes.take("sweep", "third")
