"""A process among others: who joins, who has a duty, and when nothing may be said any more."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

import pytest

from cc_bot.domain.errors import ShardsTaken, StorageError
from cc_bot.domain.process import Process
from cc_bot.process import Enrolment, Lease, Membership, OwnDuties, join
from cc_bot.storage import EVERYBODY, Statement, apply_pending, open_database
from cc_bot.stores import ProcessStore

FIRST: Final = Process("first", "a.example", "1.0", (0, 1), 4)
SECOND: Final = Process("second", "b.example", "1.0", (2, 3), 4)
WHOLE: Final = Process("whole", "a.example", "1.0", None)


def enrolment(process: Process, *ended: str, alone: bool = False) -> Enrolment:
    return Enrolment(process, Lease(counts=True), ended, alone=alone)


class OftenAway(ProcessStore):
    """The processes of a database that is away when something is to be given back."""

    is_away = False

    async def give_back(self, duty: str, process: str, term: int) -> None:
        if self.is_away:
            raise StorageError
        await super().give_back(duty, process, term)


@pytest.fixture
async def away(url: str) -> AsyncIterator[OftenAway]:
    async with open_database(url) as database:
        await apply_pending(database)
        yield OftenAway(database)


@pytest.fixture
async def store(url: str) -> AsyncIterator[ProcessStore]:
    async with open_database(url) as database:
        await apply_pending(database)
        yield ProcessStore(database)


@pytest.fixture
async def left_by_a_killed_one(url: str, store: ProcessStore) -> str:
    """The name of a process that was last renewed almost half a minute ago."""
    assert not await store.join(FIRST)
    async with open_database(url) as database:
        sql = "UPDATE processes SET until = until - 28000 WHERE name = $1"
        await database.transaction([Statement(sql, (FIRST.name,))], [EVERYBODY])
    return FIRST.name


@dataclass(frozen=True)
class Starting:
    """A process that is started while another one may be in its way."""

    joined: asyncio.Task[str]
    """Leaves again at once."""
    waits_for: asyncio.Future[Process]


def begins(store: ProcessStore, process: Process) -> Starting:
    waits_for = asyncio.get_running_loop().create_future()

    async def begin() -> str:
        wish = Enrolment(process, Lease(counts=True), waits_for=waits_for.set_result)
        async with join(store, wish) as membership:
            return membership.name

    return Starting(asyncio.create_task(begin()), waits_for)


async def names(store: ProcessStore) -> list[str]:
    return [each.process.name for each in await store.list_all()]


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

    async def test_is_refused_beside_one_that_holds_the_same(self, store: ProcessStore) -> None:
        assert not await store.join(FIRST)
        starting = begins(store, replace(SECOND, shards=(1, 2)))
        assert await starting.waits_for == FIRST
        assert await store.renew(FIRST)
        with pytest.raises(ShardsTaken) as refused:
            await starting.joined
        assert refused.value.params["theirs"] == "0-1/4"
        assert await names(store) == ["first"]

    async def test_is_refused_beside_one_that_came_while_it_waited(self, store: ProcessStore) -> None:
        """Two wait for the place of the same dead one."""
        assert not await store.join(FIRST)
        starting = begins(store, replace(SECOND, shards=(1, 2)))
        await starting.waits_for
        await store.remove(["first"])
        assert not await store.join(replace(FIRST, name="faster"))
        with pytest.raises(ShardsTaken):
            await starting.joined
        assert await names(store) == ["faster"]

    @pytest.mark.slow
    async def test_waits_until_one_that_is_not_renewed_is_dead(
        self, store: ProcessStore, left_by_a_killed_one: str
    ) -> None:
        starting = begins(store, replace(WHOLE, name="next"))
        assert (await starting.waits_for).name == left_by_a_killed_one
        assert await names(store) == [left_by_a_killed_one]
        assert await asyncio.wait_for(starting.joined, 60) == "next"
        assert await names(store) == []

    async def test_that_is_given_up_while_it_waits_leaves_nothing(
        self, store: ProcessStore, left_by_a_killed_one: str
    ) -> None:
        starting = begins(store, WHOLE)
        await starting.waits_for
        starting.joined.cancel()
        await asyncio.gather(starting.joined, return_exceptions=True)
        assert await names(store) == [left_by_a_killed_one]

    async def test_takes_the_place_of_one_that_is_known_to_be_over_and_alone_of_any(
        self, store: ProcessStore
    ) -> None:
        """The second as after a backup was put back that was made while the program ran."""
        after = replace(WHOLE, name="next")
        for next_one in (enrolment(after, "whole"), enrolment(after, alone=True)):
            assert not await store.join(WHOLE)
            async with join(store, next_one):
                assert await names(store) == ["next"]


async def with_a_duty_left(away: OftenAway) -> Membership:
    """A process that could not give back what it had; now the database is there again."""
    assert not await away.join(FIRST)
    first = Membership(away, FIRST, Lease(counts=True), lambda: ("", "", ""))
    async with first.having("connect:0"):
        away.is_away = True
    away.is_away = False
    return first


async def test_the_work_of_one_that_came_and_died_between_two_renewals_is_looked_for(
    url: str, store: ProcessStore
) -> None:
    async with join(store, enrolment(SECOND)):
        membership = Membership(store, SECOND, Lease(counts=True), lambda: ("", "", ""))
        changed = asyncio.Event()
        membership.call_at_a_change(changed.set)
        await renewed(membership)
        assert not await store.join(FIRST)
        async with open_database(url) as database:
            sql = "UPDATE processes SET until = 0 WHERE name = $1"
            await database.transaction([Statement(sql, (FIRST.name,))], [EVERYBODY])
        assert not changed.is_set()
        await renewed(membership)
        assert changed.is_set()


async def renewed(membership: Membership) -> None:
    """Let it be renewed once."""
    before = membership.lease.renewed_s
    keeper = asyncio.create_task(membership.keep_alive())
    async with asyncio.timeout(60):
        while membership.lease.renewed_s == before:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0)
    keeper.cancel()
    await asyncio.gather(keeper, return_exceptions=True)


class TestADuty:
    async def test_is_kept_by_one_and_goes_on_with_another(self, store: ProcessStore) -> None:
        did = list[str]()

        async def work(name: str) -> None:
            did.append(name)
            await asyncio.Event().wait()

        async with join(store, enrolment(SECOND)) as second:
            async with join(store, enrolment(FIRST)) as first:
                keeping = asyncio.create_task(first.keep("sweep", lambda: work("first")))
                while not did:  # noqa: ASYNC110 - a look each moment
                    await asyncio.sleep(0.01)
                other = asyncio.create_task(second.keep("sweep", lambda: work("second")))
                await asyncio.sleep(0.1)
                assert did == ["first"]
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)
            await renewed(second)
            async with asyncio.timeout(60):
                while did != ["first", "second"]:  # noqa: ASYNC110 - a look each moment
                    await asyncio.sleep(0.01)
            other.cancel()
            await asyncio.gather(other, return_exceptions=True)
        assert [each.process for each in await store.list_duties()] == [None]

    async def test_ends_with_its_work(self, store: ProcessStore) -> None:
        did = list[int]()

        async def work() -> None:
            did.append(1)

        async with join(store, enrolment(FIRST)) as first:
            await first.keep("sweep", work)
        await OwnDuties().keep("sweep", work)
        assert did == [1, 1]

    async def test_that_is_soon_given_back_is_waited_for(self, store: ProcessStore) -> None:
        async with join(store, enrolment(FIRST)) as first, join(store, enrolment(SECOND)) as second:
            async with first.having("connect:0"):
                waiting = asyncio.create_task(second.having("connect:0").__aenter__())
                await asyncio.sleep(0.1)
                assert not waiting.done()
            assert await asyncio.wait_for(waiting, 60) == 2

    async def test_that_could_not_be_given_back_is_with_the_next_renewal(
        self, store: ProcessStore, away: OftenAway
    ) -> None:
        first = await with_a_duty_left(away)
        async with join(store, enrolment(SECOND)) as second:
            waiting = asyncio.create_task(second.having("connect:0").__aenter__())
            renewing = asyncio.create_task(first.keep_alive())
            assert await asyncio.wait_for(waiting, 60) == 2
            renewing.cancel()

    async def test_that_is_taken_again_is_not_given_back_for_before(
        self, store: ProcessStore, away: OftenAway
    ) -> None:
        first = await with_a_duty_left(away)
        async with first.having("connect:0"):
            renewing = asyncio.create_task(first.keep_alive())
            await asyncio.sleep(0.5)
            renewing.cancel()
            assert [each.process for each in await store.list_duties()] == ["first"]


class TestALease:
    def test_holds_for_half_a_minute_and_on_for_one_that_ended_in_time_what_it_did(self) -> None:
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
