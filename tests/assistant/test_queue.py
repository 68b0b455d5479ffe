"""Who may run when: order, fairness, what is told meanwhile, and that no slot of the queue is ever lost."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from cc_bot.assistant.queue import (
    MAX_WAIT_S,
    MAX_WAITING,
    MAX_WAITING_A_PLACE,
    FairLine,
    Load,
    Ticket,
    TurnQueue,
)
from cc_bot.assistant.turn import Stop
from cc_bot.domain import Notice
from cc_bot.domain.errors import Busy, Crowded
from tests.assistant.conftest import Table

PARTIES = ["東京", "Osaka", "京都"]


class TestTurnsOfOneUser:
    async def test_are_refused_when_too_many_wait(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate]]
        waiting = [asyncio.create_task(table.ask(f"質問{number}")) for number in range(MAX_WAITING + 1)]
        await table.model.asked()
        with pytest.raises(Busy):
            await table.ask("もう一つ")
        gate.set()
        first, second, *_ = await asyncio.gather(*waiting)
        assert Notice("queued") not in first
        assert second[:2] == [Notice("queued"), Notice("started")]
        assert len(await table.said()) == 2 * (MAX_WAITING + 1)


class Someone:
    """Waits for a turn of a queue, and holds it until told to end."""

    def __init__(self, queue: TurnQueue, user_id: int, guild_id: int | None = None) -> None:
        self.told: list[Notice] = []
        self.news = asyncio.Event()
        self.stop = Stop()
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.task = asyncio.create_task(self._come(queue, user_id, guild_id))

    async def _come(self, queue: TurnQueue, user_id: int, guild_id: int | None) -> None:
        with queue.join(user_id, guild_id) as place:
            await queue.wait(place, self.stop, self._hear)
            self.begun.set()
            await self.may_end.wait()

    async def begins(self) -> None:
        await asyncio.wait_for(self.begun.wait(), 60)

    async def ends(self) -> None:
        self.may_end.set()
        await asyncio.wait_for(self.task, 60)

    async def is_told(self, notice: Notice) -> None:
        async with asyncio.timeout(60):
            while notice not in self.told:
                self.news.clear()
                await self.news.wait()

    def _hear(self, notice: Notice) -> None:
        self.told.append(notice)
        self.news.set()


@asynccontextmanager
async def a_queue(places: int = 1, max_wait_s: float = MAX_WAIT_S) -> AsyncIterator[TurnQueue]:
    queue = TurnQueue(places, news_every_s=0.001, max_wait_s=max_wait_s)
    yield queue
    assert queue.load == Load(0, 0), "a slot was lost"


class TestWaiting:
    async def test_tells_how_many_are_ahead_as_that_changes_and_only_those_who_wait(self) -> None:
        async with a_queue() as queue:
            people = [Someone(queue, user) for user in range(4)]
            await people[3].is_told(Notice("queued", ahead=2))
            await people[0].ends()
            await people[3].is_told(Notice("queued", ahead=1))
            for someone in people[1:]:
                await someone.ends()
            assert people[0].told == []
            assert [notice.ahead for notice in people[3].told[:2]] == [2, 1]
            assert people[3].told[-1] == Notice("started")

    async def test_of_a_burst_in_one_server_lets_another_server_through(self) -> None:
        async with a_queue() as queue:
            burst = [Someone(queue, user, guild_id=1) for user in range(1 + MAX_WAITING_A_PLACE)]
            await burst[0].begins()
            with pytest.raises(Crowded), queue.join(1000, guild_id=1):
                pass
            assert queue.load == Load(1, MAX_WAITING_A_PLACE)
            other = Someone(queue, 1001, guild_id=2)
            await other.is_told(Notice("queued", ahead=0))
            await burst[0].ends()
            await other.begins()
            for someone in (other, *burst[1:]):
                await someone.ends()


class TestThoseAhead:
    @given(st.lists(st.tuples(st.sampled_from(PARTIES), st.integers(0, 2)), max_size=12))
    def test_are_those_who_are_served_before(self, visitors: list[tuple[str, int]]) -> None:
        line = FairLine(1)
        running = line.join("first", "東京", "first")
        line.admit()
        waiting = [line.join(n, party, user) for n, (party, user) in enumerate(visitors)]
        expected = sorted(waiting, key=line.ahead)
        served = list[Ticket]()
        for _ in waiting:
            line.leave(running)
            [running] = line.admit()
            served.append(running)
        assert served == expected


class TestTheWaitEnds:
    async def test_when_it_takes_too_long(self) -> None:
        async with a_queue(max_wait_s=0.05) as queue:
            first, late = Someone(queue, 1), Someone(queue, 2)
            with pytest.raises(Crowded):
                await asyncio.wait_for(late.task, 60)
            assert late.told == [Notice("queued", ahead=0)]
            assert queue.load == Load(1, 0)
            await first.ends()

    @pytest.mark.parametrize("when", ["while it waits", "in the moment that it is admitted"])
    async def test_when_it_is_cancelled_and_its_slot_goes_to_the_next(self, when: str) -> None:
        async with a_queue() as queue:
            first, cancelled, last = (Someone(queue, user) for user in range(3))
            await last.is_told(Notice("queued", ahead=1))
            if when == "in the moment that it is admitted":
                first.may_end.set()
                await first.task
            cancelled.task.cancel()
            await asyncio.gather(cancelled.task, return_exceptions=True)
            await first.ends()
            await last.begins()
            await last.ends()


class Crowd(RuleBasedStateMachine):
    """People come, are served, end and go away in any order."""

    places = 3

    def __init__(self) -> None:
        super().__init__()
        self.line = FairLine(self.places)
        self.waiting: list[Ticket] = []
        self.running: list[Ticket] = []
        self.overtaken: dict[Hashable, list[Hashable]] = {}
        """For each party that could be served all the while: those that were, meanwhile."""

    def ready(self) -> list[Ticket]:
        """By the rule, put plainly: nothing of its line runs, and nobody in it came before."""
        return [
            ticket
            for at, ticket in enumerate(self.waiting)
            if all(ticket.line != other.line for other in (*self.running, *self.waiting[:at]))
        ]

    def move_up(self) -> None:
        for ticket in self.line.admit():
            ready = self.ready()
            assert ticket in ready
            for party in {other.party for other in ready} - {ticket.party}:
                self.overtaken.setdefault(party, []).append(ticket.party)
            self.waiting.remove(ticket)
            self.running.append(ticket)
            self.look_again(served=ticket.party)
        self.look_again()

    def look_again(self, served: Hashable = None) -> None:
        could_be = {ticket.party for ticket in self.ready()} - {served}
        self.overtaken = {party: by for party, by in self.overtaken.items() if party in could_be}

    @rule(party=st.sampled_from(PARTIES), user=st.integers(0, 6))
    def asks(self, party: str, user: int) -> None:
        self.waiting.append(self.line.join(user, party, user))
        self.move_up()

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def ends(self, data: st.DataObject) -> None:
        self.leave(self.running, data)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def gives_up(self, data: st.DataObject) -> None:
        self.leave(self.waiting, data)

    def leave(self, tickets: list[Ticket], data: st.DataObject) -> None:
        ticket = data.draw(st.sampled_from(tickets))
        tickets.remove(ticket)
        self.line.leave(ticket)
        self.move_up()

    @invariant()
    def nobody_is_lost_and_no_slot_stays_free_while_it_could_be_taken(self) -> None:
        assert (self.line.running, self.line.waiting) == (len(self.running), len(self.waiting))
        assert len(self.running) == self.places or not self.ready()

    @invariant()
    def no_more_run_than_there_are_slots_and_one_a_line(self) -> None:
        lines = [ticket.line for ticket in self.running]
        assert len(self.running) <= self.places
        assert len(lines) == len(set(lines))

    @invariant()
    def no_party_overtakes_another_twice(self) -> None:
        for by in self.overtaken.values():
            assert len(by) == len(set(by))


class TestACrowd:
    @pytest.mark.slow
    def test_is_served_in_turn(self) -> None:
        bounds = settings(max_examples=60, stateful_step_count=30, deadline=None)
        run_state_machine_as_test(Crowd, settings=bounds)
