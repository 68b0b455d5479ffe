"""A process among others: who joins, who has a duty, and when nothing may be said any more."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from time import monotonic
from typing import Final

import pytest

from cc_bot.domain.errors import ShardsTaken, StorageError
from cc_bot.domain.process import Process
from cc_bot.process import Enrolment, Lease, Membership, join
from cc_bot.storage import EVERYBODY, Statement, apply_pending, open_database
from cc_bot.stores import ProcessStore

FIRST: Final = Process("first", "a.example", "1.0", (0, 1), 4)
SECOND: Final = Process("second", "b.example", "1.0", (2, 3), 4)
WHOLE: Final = Process("whole", "a.example", "1.0", None)


def enrolment(process: Process, *ended: str, alone: bool = False) -> Enrolment:
    return Enrolment(process, Lease(counts=True), ended, alone=alone)


def member(store: ProcessStore, process: Process) -> Membership:
    return Membership(store, process, Lease(counts=True), lambda: ("", "", ""))


class OftenAway(ProcessStore):
    """The processes of a database that may be away when something is to be given back."""

    is_away = False

    async def give_back(self, duty: str, process: str, term: int) -> None:
        if self.is_away:
            raise StorageError
        await super().give_back(duty, process, term)


@pytest.fixture
async def store(url: str) -> AsyncIterator[OftenAway]:
    async with open_database(url) as database:
        await apply_pending(database)
        yield OftenAway(database)


async def starts(store: ProcessStore, process: Process) -> tuple["asyncio.Task[None]", Process]:
    """A start that has come to wait for another process, which is returned, too; it would leave at once."""
    waits_for = asyncio.get_running_loop().create_future()

    async def begin() -> None:
        async with join(store, Enrolment(process, Lease(counts=True), waits_for=waits_for.set_result)):
            pass

    starting = asyncio.create_task(begin())
    return starting, await waits_for


async def names(store: ProcessStore) -> list[str]:
    return [each.process.name for each in await store.list_all()]


async def ages(url: str, name: str, ms: int) -> None:
    """Have it be so long ago that a process was renewed."""
    async with open_database(url) as database:
        sql = "UPDATE processes SET until = until - $2 WHERE name = $1"
        await database.transaction([Statement(sql, (name, ms))], [EVERYBODY])


async def renewed(membership: Membership) -> None:
    """Let it be renewed once."""
    before = membership.lease.renewed_s
    keeper = asyncio.create_task(membership.keep_alive())
    async with asyncio.timeout(60):
        while membership.lease.renewed_s == before:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0)
    keeper.cancel()
    await asyncio.gather(keeper, return_exceptions=True)


class TestJoining:
    async def test_tells_the_others_that_it_is_connected_and_ends_with_the_row_gone(
        self, store: ProcessStore
    ) -> None:
        async with join(store, enrolment(FIRST)) as first, join(store, enrolment(SECOND)):
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

    async def test_takes_the_place_of_one_that_is_known_to_be_over_and_alone_of_any(
        self, store: ProcessStore
    ) -> None:
        """The second as after a backup was put back that was made while the program ran."""
        after = replace(WHOLE, name="next")
        for next_one in (enrolment(after, "whole"), enrolment(after, alone=True)):
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

        async with join(store, enrolment(SECOND)) as second:
            async with join(store, enrolment(FIRST)) as first:
                keeping = asyncio.create_task(first.keep("sweep", lambda: work("first")))
                await have_done("first")
                other = asyncio.create_task(second.keep("sweep", lambda: work("second")))
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
        first = member(store, FIRST)
        async with first.having("connect:0"):
            store.is_away = True
        store.is_away = False
        async with join(store, enrolment(SECOND)) as second:
            waiting = asyncio.create_task(second.having("connect:0").__aenter__())
            renewing = asyncio.create_task(first.keep_alive())
            assert await asyncio.wait_for(waiting, 60) == 2
            renewing.cancel()


def test_a_lease_holds_for_half_a_minute_and_on_for_one_that_ended_in_time_what_it_did() -> None:
    lease = Lease(counts=True)
    lease.renew(monotonic() - 29)
    assert lease.holds()
    lease.renew(monotonic() - 31)
    assert not lease.holds()
    lease.wound_up = True
    assert lease.holds()
    lease.renew(monotonic() - 31)
    assert not lease.holds()
    lease = Lease(counts=False)  # nobody could take over
    lease.renew(monotonic() - 1000)
    assert lease.holds()
