"""Turns of several processes that share a database: whose each is, and which of a user's runs."""

import asyncio
from datetime import date, datetime, timedelta
from typing import Final

import pytest

from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import ConversationGone, TurnLost
from cc_bot.domain.member import ModelUsage, UsageSubject
from cc_bot.domain.process import Process
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import PendingTurn, Usage
from cc_bot.storage import Database
from cc_bot.stores import PersonalErasureStore, ProcessStore, ScheduleStore, SessionStore, TurnLedger
from cc_bot.stores.members import Reservation, ReservationRequest, Settlement, TurnLine, UsageStore
from tests.stores.backends import got, turn
from tests.stores.test_ledger import ASKED

AIKO, KEN, MIO = 11, 12, 13
HOUR: Final = timedelta(hours=1)
KEY: Final = ASKED.key


class Machine:
    """A process, as its stores have it. Its clock moves with every look, so that its turns have an order."""

    def __init__(self, database: Database, name: str) -> None:
        self.name = name
        self._now = utc_now()
        self.processes = ProcessStore(database)
        self.usage = UsageStore(database, process=name, clock=self.clock)
        self.ledger = TurnLedger(database, process=name)
        self.sessions = SessionStore(database)
        self.schedules = ScheduleStore(database, process=name)

    def clock(self) -> datetime:
        self._now += timedelta(milliseconds=1)
        return self._now

    async def join(self, *shards: int) -> "Machine":
        assert not await self.processes.join(Process(self.name, "a.example", "1.0", shards, 4))
        return self

    async def reserve(
        self,
        user_id: int = AIKO,
        line: TurnLine = "session",
        *,
        entered: PendingTurn | None = None,
        held: bool = False,
    ) -> Reservation:
        wish = ReservationRequest(UsageSubject(user_id), "turn", "small", 100, line)
        return await self.usage.reserve(wish, {}, entered, held=held)

    async def settle(self, reservation: Reservation) -> bool:
        return await self.usage.settle(used(reservation))

    async def die(self) -> None:
        await self.processes.remove([self.name])


def used(reservation: Reservation) -> Settlement:
    return Settlement(reservation, ((ModelUsage("small", Usage(10, 5)), 3),))


@pytest.fixture
async def here(database: Database) -> Machine:
    return await Machine(database, "here").join(0, 1)


@pytest.fixture
async def there(database: Database) -> Machine:
    return await Machine(database, "there").join(2, 3)


class TestATurnOfOneUser:
    async def test_is_held_back_by_another_process_alone(self, here: Machine, there: Machine) -> None:
        first, own, second = await here.reserve(), await here.reserve(), await there.reserve()
        assert (first.held, own.held, second.held) == (False, False, True)
        assert not (await there.reserve(KEN)).held
        assert not (await there.reserve(line="channels")).held
        assert not (await there.reserve(line="")).held
        assert not await there.usage.enter(second)
        await here.settle(first)
        await here.usage.release(own)
        assert await there.usage.enter(second)

    async def test_enters_in_its_order_unless_a_process_died(self, here: Machine, there: Machine) -> None:
        runs, first, second = await here.reserve(), await there.reserve(), await there.reserve()
        await here.settle(runs)
        assert (await there.reserve()).held
        assert not await there.usage.enter(second)
        assert await there.usage.enter(first)
        assert await there.usage.enter(second)
        runs, waits = await here.reserve(KEN), await there.reserve(KEN)
        await here.settle(runs)
        assert not (await here.reserve(KEN)).held, "one that waits holds back none of another process"
        assert not await there.usage.enter(waits)
        in_channel = await here.reserve(MIO, "channels", held=True)  # it stands in the channel's queue
        assert in_channel.held
        assert not (await there.reserve(MIO, "channels")).held
        assert not await here.usage.enter(in_channel)
        await here.die()
        assert await there.usage.enter(waits)
        assert not (await there.reserve(KEN)).held

    async def test_runs_in_one_process_whoever_is_first(self, here: Machine, there: Machine) -> None:
        for _ in range(20):
            both = await asyncio.gather(here.reserve(), there.reserve())
            assert sorted(each.held for each in both) == [False, True]
            for machine, each in zip((here, there), both, strict=True):
                await machine.settle(each)


class TestAnErasure:
    async def test_holds_turns_and_ends_them(self, here: Machine, there: Machine, database: Database) -> None:
        erasing = PersonalErasureStore(database)
        await erasing.begin(AIKO)
        held = await there.reserve()
        assert held.held
        assert not (await there.reserve(KEN)).held
        assert not await there.usage.enter(held)
        await erasing.erase(AIKO)
        with pytest.raises(TurnLost):
            await there.usage.enter(held)
        assert not (await there.reserve()).held

    async def test_has_no_turn_stored_later(self, here: Machine, there: Machine, database: Database) -> None:
        key = SessionKey(AIKO, 2)
        reservation = await here.reserve()
        session = await here.sessions.open(key)
        await PersonalErasureStore(database).erase(AIKO)
        again = await there.sessions.open(key)
        for each, refusal in ((session, ConversationGone), (again, TurnLost)):
            with pytest.raises(refusal):
                await here.sessions.archive_turn(each, turn("？"), settlement=used(reservation))
        assert not (await here.sessions.open(key)).history


class TestADeadProcess:
    async def test_has_its_turns_finished_by_one_other(self, here: Machine, there: Machine) -> None:
        await here.ledger.accept(ASKED)
        await there.die()
        await there.join(2, 3)
        assert await there.ledger.list_unfinished() == (), "what a living one has entered"
        assert [each.id for each in await here.ledger.list_unfinished()] == [ASKED.id]
        await here.die()
        third = Machine(here.usage._database, "third")
        await third.join(0, 1)
        found = await asyncio.gather(there.ledger.list_unfinished(), third.ledger.list_unfinished())
        assert sorted(map(len, found)) == [0, 1]
        assert await there.ledger.list_unfinished() == found[0]

    async def test_has_what_it_reserved_counted_once(self, here: Machine, there: Machine) -> None:
        lost, own = await here.reserve(), await there.reserve(KEN)
        assert await there.usage.take_over(lambda *_: 0) == 0
        await here.die()
        assert await there.usage.take_over(lambda *_: 0) == 1
        assert not await here.settle(lost)
        assert await there.settle(own)
        [each] = await there.usage.list_for_user(AIKO, date(2000, 1, 1))
        assert each.tokens == 100

    async def test_has_what_it_was_to_say_told_as_uncertain(self, here: Machine, there: Machine) -> None:
        now = utc_now()
        for _ in range(2):
            await here.schedules.add(KEY, "薬", now)
        for machine in (here, there):
            [claimed] = await machine.schedules.claim_due(now, ["channel"])
        assert await there.schedules.mark_lost(now - HOUR) == 0
        await here.die()
        assert await there.schedules.mark_lost(now - HOUR) == 1
        told = got(await there.schedules.take_unreported(["channel"]))
        [uncertain] = told.uncertain
        assert uncertain.schedule.id != claimed.schedule.id

    async def test_that_wakes_stores_no_answer(self, here: Machine, there: Machine) -> None:
        reservation = await here.reserve(KEY.user_id, entered=ASKED)
        session = await here.sessions.open(KEY)
        await here.die()
        await there.usage.take_over(lambda *_: 0)
        with pytest.raises(TurnLost):
            await here.sessions.archive_turn(
                session, turn("？"), entry=ASKED.id, settlement=used(reservation)
            )
        [left] = await there.ledger.list_unfinished()
        assert left.state == "accepted"
