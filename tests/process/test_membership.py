"""A process among others: who joins, who has a duty, and when nothing may be said any more."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from time import monotonic
from typing import Final

import pytest

from cc_bot.db import MAINTENANCE_LOCK, Statement, apply_pending, open_database
from cc_bot.db.leases import END_ANSWERS_AFTER_S, JoinOptions, Membership, join
from cc_bot.db.process import Process, ProcessStore
from cc_bot.domain.errors import ShardsTaken, StorageError

FIRST: Final = Process("first", "a.example", "1.0", (0, 1), 4)
SECOND: Final = Process("second", "b.example", "1.0", (2, 3), 4)
WHOLE: Final = Process("whole", "a.example", "1.0", None)


class OftenAway(ProcessStore):
    """The processes of a database that may be away when something is to be given back."""

    is_away = False

    async def give_back(self, duty: str, process: str) -> None:
        if self.is_away:
            raise StorageError
        await super().give_back(duty, process)


@pytest.fixture
async def store(url: str) -> AsyncIterator[OftenAway]:
    async with open_database(url) as database:
        await apply_pending(database)
        yield OftenAway(database)


async def starts(store: ProcessStore, process: Process) -> tuple["asyncio.Task[None]", Process]:
    """A start that has come to wait for another process, which is returned, too; it would leave at once."""
    waits_for = asyncio.get_running_loop().create_future()

    async def begin() -> None:
        async with join(store, JoinOptions(process, on_wait=waits_for.set_result)):
            pass

    starting = asyncio.create_task(begin())
    return starting, await waits_for


async def names(store: ProcessStore) -> list[str]:
    return [each.process.name for each in await store.list_all()]


async def ages(url: str, name: str, ms: int) -> None:
    """Have it be so long ago that a process was renewed."""
    async with open_database(url) as database:
        sql = "UPDATE processes SET until = until - $2 WHERE name = $1"
        await database.transaction([Statement(sql, (name, ms))], [MAINTENANCE_LOCK])


async def renewed(membership: Membership) -> None:
    """Let it be renewed once."""
    before = membership.renewed_s
    keeper = asyncio.create_task(membership.keep_alive())
    async with asyncio.timeout(60):
        while membership.renewed_s == before:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0)
    keeper.cancel()
    await asyncio.gather(keeper, return_exceptions=True)


class TestJoining:
    async def test_tells_the_others_that_it_is_connected_and_ends_with_the_row_gone(
        self, store: ProcessStore
    ) -> None:
        async with join(store, JoinOptions(FIRST)) as first, join(store, JoinOptions(SECOND)):
            assert await names(store) == ["first", "second"]
            first.is_connected = lambda: True
            await renewed(first)
            assert (await store.list_all())[0].connected_at
        assert await names(store) == []

    async def test_is_refused_beside_one_that_holds_the_same_and_given_up_leaves_nothing(
        self, url: str, store: ProcessStore
    ) -> None:
        assert not await store.join(FIRST)
        await ages(url, FIRST.name, 9_000)
        starting, waits_for = await starts(store, WHOLE)
        assert waits_for == FIRST
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        starting, waits_for = await starts(store, replace(SECOND, shards=(1, 2)))
        assert waits_for == FIRST
        assert await store.renew(FIRST)
        with pytest.raises(ShardsTaken) as refused:
            await starting
        assert refused.value.params["theirs"] == "0-1/4"
        assert await names(store) == ["first"]

    async def test_takes_the_location_of_one_that_is_known_to_be_over_and_alone_of_any(
        self, store: ProcessStore
    ) -> None:
        """The second as after a backup was put back that was made while the program ran."""
        after = replace(WHOLE, name="next")
        for next_one in (JoinOptions(after, ["whole"]), JoinOptions(after, is_only_process=True)):
            assert not await store.join(WHOLE)
            async with join(store, next_one):
                assert await names(store) == ["next"]


class TestADuty:
    async def test_is_kept_by_one_and_goes_on_with_another(self, store: ProcessStore) -> None:
        did = list[str]()

        async def work(name: str) -> None:
            did.append(name)
            await asyncio.Event().wait()

        async def have_done(*expected: str) -> None:
            async with asyncio.timeout(60):
                while did != [*expected]:  # noqa: ASYNC110 - a look each moment
                    await asyncio.sleep(0.01)

        async with join(store, JoinOptions(SECOND)) as second:
            async with join(store, JoinOptions(FIRST)) as first:
                keeping = asyncio.create_task(first.run_as_leader("sweep", lambda: work("first")))
                await have_done("first")
                other = asyncio.create_task(second.run_as_leader("sweep", lambda: work("second")))
                await renewed(second)
                assert did == ["first"]
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)
            await renewed(second)
            await have_done("first", "second")
            other.cancel()
            await asyncio.gather(other, return_exceptions=True)
        assert [each.process for each in await store.list_duties()] == [None]

    async def test_that_could_not_be_given_back_is_with_the_next_renewal_and_waited_for(
        self, store: OftenAway
    ) -> None:
        assert not await store.join(FIRST)
        first = Membership(store, JoinOptions(FIRST))
        async with first.hold_duty("connect:0"):
            store.is_away = True
        store.is_away = False
        async with join(store, JoinOptions(SECOND)) as second:
            waiting = asyncio.create_task(second.hold_duty("connect:0").__aenter__())
            renewing = asyncio.create_task(first.keep_alive())
            await asyncio.wait_for(waiting, 60)
            renewing.cancel()


async def test_a_process_sends_nothing_once_others_may_have_taken_over(store: ProcessStore) -> None:
    for age_s, alone, may_send in ((29, False, True), (31, False, False), (1000, True, True)):
        membership = Membership(store, JoinOptions(FIRST, is_only_process=alone))
        membership.renewed_s = monotonic() - age_s
        assert membership.may_send() is may_send


async def test_a_process_without_its_database_ends_its_answers_and_may_still_say_so(
    store: ProcessStore,
) -> None:
    async with join(store, JoinOptions(FIRST)), join(store, JoinOptions(SECOND)) as second:
        await renewed(second)
        ended = asyncio.Event()
        second.on_end.append(ended.set)
        second.renewed_s = monotonic() - END_ANSWERS_AFTER_S
        await asyncio.wait_for(ended.wait(), 60)
        second.renewed_s = monotonic() - 31
        assert second.may_send()
