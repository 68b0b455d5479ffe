"""Processes that share a database: who lives, who has a duty, and what is written in whose name."""

from typing import Final

import pytest

from cc_bot.domain.errors import DutyLost
from cc_bot.domain.locale import Locale
from cc_bot.domain.process import LEASE, Process
from cc_bot.storage import EVERYBODY, Database, Statement
from cc_bot.storage.fence import FencedDatabase, fenced
from cc_bot.stores import ProcessStore, SettingsStore, Stores
from cc_bot.stores.processes import fence_of

FIRST: Final = Process("first", "a.example", "1.0", (0, 1), 4)
SECOND: Final = Process("second", "b.example", "1.0", (2, 3), 4)
USER: Final = 123456789012345678


@pytest.fixture
async def processes(stores: Stores) -> ProcessStore:
    for process in (FIRST, SECOND):
        assert not await stores.processes.join(process)
    return stores.processes


async def let_pass(database: Database, process: Process, seconds: float) -> None:
    """Have a process not be renewed for so long."""
    sql = "UPDATE processes SET until = until - $2 WHERE name = $1"
    await database.transaction([Statement(sql, (process.name, round(seconds * 1000)))], [EVERYBODY])


OVER: Final = LEASE.total_seconds() + 1


class TestProcesses:
    @pytest.mark.parametrize(
        "other",
        [
            Process("other", "c.example", "1.0", (1,), 4),
            Process("other", "c.example", "1.0", (7,), 8),
            Process("other", "c.example", "1.0", None),
        ],
        ids=["the same shard", "another count", "all shards"],
    )
    async def test_with_shards_of_a_living_one_are_not_let_in(
        self, processes: ProcessStore, other: Process
    ) -> None:
        [found, *_] = await processes.join(other)
        assert found.process == FIRST
        assert other.name not in [each.process.name for each in await processes.list_all()]

    async def test_without_shards_are_let_in(self, processes: ProcessStore) -> None:
        assert not await processes.join(Process("terminal", "a.example", "1.0"))

    async def test_are_told_of_each_other(self, processes: ProcessStore) -> None:
        renewal = await processes.renew(FIRST)
        assert renewal
        assert [each.process for each in renewal.living] == [FIRST, SECOND]
        assert not any(each.lapsed for each in renewal.living)

    async def test_that_are_not_renewed_are_found_dead_by_others(
        self, processes: ProcessStore, database: Database
    ) -> None:
        await let_pass(database, SECOND, OVER)
        renewal = await processes.renew(FIRST)
        assert renewal
        assert renewal.died == ("second",)
        assert await processes.renew(SECOND) is None

    async def test_that_could_not_be_renewed_all_together_find_nobody_dead(
        self, processes: ProcessStore, database: Database
    ) -> None:
        for process in (FIRST, SECOND):
            await let_pass(database, process, OVER)
        renewal = await processes.renew(FIRST)
        assert renewal
        assert not renewal.died
        assert await processes.renew(SECOND)

    async def test_that_are_late_find_nobody_dead(self, processes: ProcessStore, database: Database) -> None:
        """What kept one from it for a while may have kept the others from it a little longer."""
        await let_pass(database, SECOND, OVER)
        renewal = await processes.renew(FIRST, late=True)
        assert renewal
        assert not renewal.died
        renewal = await processes.renew(FIRST)
        assert renewal
        assert renewal.died == ("second",)

    async def test_hold_their_shards_until_they_are_found_dead(
        self, processes: ProcessStore, database: Database
    ) -> None:
        await let_pass(database, SECOND, OVER)
        [held] = await processes.join(Process("third", "c.example", "1.0", (3,), 4))
        assert held.lapsed
        assert await processes.remove(["second", "nobody"]) == ("second",)
        assert not await processes.join(Process("third", "c.example", "1.0", (3,), 4))

    async def test_tell_when_they_last_were_connected(
        self, processes: ProcessStore, database: Database
    ) -> None:
        await processes.renew(FIRST, connected=True)
        await let_pass(database, FIRST, 5)
        await processes.renew(FIRST)
        first, second = await processes.list_all()
        assert first.connected_at
        assert first.started_at <= first.connected_at <= first.renewed_at
        assert second.connected_at is None

    async def test_that_lapsed_give_way_to_one_that_watched_them(
        self, processes: ProcessStore, database: Database
    ) -> None:
        await let_pass(database, SECOND, OVER)
        assert not await processes.join(Process("third", "c.example", "1.0", (3,), 4), ["second"])
        [held] = await processes.join(Process("fourth", "c.example", "1.0", (3,), 4), ["first", "third"])
        assert held.process.name == "third"
        assert [each.process.name for each in await processes.list_all()] == ["first", "third"]


class TestDuties:
    async def test_are_of_one_process_at_a_time(self, processes: ProcessStore) -> None:
        assert await processes.take("sweep", "first") == 1
        assert await processes.take("sweep", "second") is None
        assert await processes.take("sweep", "first") == 1

    async def test_change_hands_with_a_new_term(self, processes: ProcessStore, database: Database) -> None:
        await processes.take("sweep", "first")
        await processes.give_back("sweep", "first", 1)
        assert await processes.take("sweep", "second") == 2
        await processes.remove(["second"])
        assert await processes.take("sweep", "first") == 3
        await let_pass(database, FIRST, OVER)
        assert not await processes.join(Process("third", "c.example", "1.0"))
        assert await processes.take("sweep", "third") is None, "the first is not dead yet"
        await processes.renew(Process("third", "c.example", "1.0"))
        assert await processes.take("sweep", "third") == 4

    async def test_are_given_back_only_by_whoever_has_them(self, processes: ProcessStore) -> None:
        await processes.take("sweep", "first")
        await processes.give_back("sweep", "second", 1)
        await processes.give_back("sweep", "first", 7)
        assert await processes.take("sweep", "second") is None

    async def test_are_not_taken_by_a_dead_one(self, processes: ProcessStore) -> None:
        await processes.remove(["second"])
        assert await processes.take("sweep", "second") is None

    async def test_are_listed_with_whoever_has_them(self, processes: ProcessStore) -> None:
        await processes.take("purge", "first")
        await processes.take("sweep", "second")
        await processes.remove(["second"])
        assert [(each.name, each.process) for each in await processes.list_duties()] == [
            ("purge", "first"),
            ("sweep", None),
        ]


class TestFences:
    async def test_let_write_as_long_as_the_duty_lasts(
        self, processes: ProcessStore, database: Database
    ) -> None:
        settings = SettingsStore(FencedDatabase(database))
        await processes.take("sweep", "second")
        with fenced(fence_of("sweep", "second", 1)):
            await settings.set(USER, locale=Locale.JA)
        await processes.remove(["second"])
        await processes.take("sweep", "first")
        with fenced(fence_of("sweep", "second", 1)), pytest.raises(DutyLost):
            await settings.set(USER, locale=Locale.EN)
        assert (await settings.get(USER)).locale is Locale.JA
        await settings.set(USER, locale=Locale.EN)
        assert (await settings.get(USER)).locale is Locale.EN

    async def test_hold_for_one_term_alone(self, processes: ProcessStore, database: Database) -> None:
        settings = SettingsStore(FencedDatabase(database))
        await processes.take("sweep", "first")
        await processes.give_back("sweep", "first", 1)
        await processes.take("sweep", "second")
        await processes.give_back("sweep", "second", 2)
        await processes.take("sweep", "first")
        with fenced(fence_of("sweep", "first", 1)), pytest.raises(DutyLost):
            await settings.set(USER, locale=Locale.JA)
        with fenced(fence_of("sweep", "first", 3)):
            await settings.set(USER, locale=Locale.JA)
