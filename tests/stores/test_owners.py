"""Turns of several processes that share a database: which process each belongs to."""

import asyncio
from datetime import date, datetime, timedelta
from typing import Final

import pytest

from cc_bot.chat.stores.ledger import TurnLedger
from cc_bot.chat.stores.sessions import SessionStore
from cc_bot.chat.stores.usage import Reservation, ReservationRequest, Settlement, UsageStore
from cc_bot.db import Database
from cc_bot.db.process import Process, ProcessStore
from cc_bot.domain.clock import utc_now
from cc_bot.domain.errors import ConversationGone, TurnLost
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import PendingTurn, Usage
from cc_bot.domain.usage import ModelUsage, Payer
from cc_bot.features.privacy.personal_data import PersonalDataStore
from cc_bot.features.reminders.store import ScheduleStore
from tests.stores.backends import turn
from tests.stores.test_ledger import ASKED

AIKO, KEN = 11, 12
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

    async def reserve(self, user_id: int = AIKO, *, entered: PendingTurn | None = None) -> Reservation:
        request = ReservationRequest(Payer(user_id), "turn", "small", 100)
        return await self.usage.reserve(request, {}, entered)

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


class TestAnErasure:
    async def test_has_no_turn_stored_later(self, here: Machine, there: Machine, database: Database) -> None:
        key = SessionKey(AIKO, 2)
        reservation = await here.reserve()
        session = await here.sessions.open(key)
        await PersonalDataStore(database).erase(AIKO)
        again = await there.sessions.open(key)
        for each, refusal in ((session, ConversationGone), (again, TurnLost)):
            with pytest.raises(refusal):
                await here.sessions.store_turn(each, turn("？"), settlement=used(reservation))
        assert not (await here.sessions.open(key)).history


class TestADeadProcess:
    async def test_has_its_turns_finished_by_one_other(self, here: Machine, there: Machine) -> None:
        await here.ledger.accept(ASKED)
        await there.die()
        await there.join(2, 3)
        assert await there.ledger.adopt_unfinished() == (), "what a living one has entered"
        assert [each.id for each in await here.ledger.adopt_unfinished()] == [ASKED.id]
        await here.die()
        third = Machine(here.usage._database, "third")
        await third.join(0, 1)
        found = await asyncio.gather(there.ledger.adopt_unfinished(), third.ledger.adopt_unfinished())
        assert sorted(map(len, found)) == [0, 1]
        assert await there.ledger.adopt_unfinished() == found[0]

    async def test_has_what_it_reserved_counted_once(self, here: Machine, there: Machine) -> None:
        lost, own = await here.reserve(), await there.reserve(KEN)
        assert await there.usage.settle_abandoned(lambda *_: 0) == 0
        await here.die()
        assert await there.usage.settle_abandoned(lambda *_: 0) == 1
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
        assert await there.schedules.mark_uncertain(now - HOUR) == 0
        await here.die()
        assert await there.schedules.mark_uncertain(now - HOUR) == 1
        [uncertain] = await there.schedules.take_unreported(["channel"])
        assert uncertain.state == "uncertain"
        assert uncertain.schedule.id != claimed.schedule.id

    async def test_that_wakes_stores_no_answer(self, here: Machine, there: Machine) -> None:
        reservation = await here.reserve(KEY.user_id, entered=ASKED)
        session = await here.sessions.open(KEY)
        await here.die()
        await there.usage.settle_abandoned(lambda *_: 0)
        with pytest.raises(TurnLost):
            await here.sessions.store_turn(
                session, turn("？"), turn_id=ASKED.id, settlement=used(reservation)
            )
        [left] = await there.ledger.adopt_unfinished()
        assert left.state == "accepted"
