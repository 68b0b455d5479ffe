import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.chat.active import (
    MAX_WAIT_S,
    MAX_WAITING,
    MAX_WAITING_PER_SLOT,
    ActiveTurn,
    ActiveTurns,
    Load,
    Stop,
)
from cc_bot.domain.errors import Busy, Crowded
from cc_bot.domain.turn import Notice
from tests.assistant.conftest import Table


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
    def __init__(self, queue: ActiveTurns, user_id: int) -> None:
        self.told: list[Notice] = []
        self.news = asyncio.Event()
        self.stop = Stop()
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()
        self.task = asyncio.create_task(self._come(queue, user_id))

    async def _come(self, queue: ActiveTurns, user_id: int) -> None:
        turn = ActiveTurn(user_id, self.stop, user_id)
        with queue.join(turn):
            await queue.wait_for_slot(turn, self._hear)
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
async def a_queue(locations: int = 1, max_wait_s: float = MAX_WAIT_S) -> AsyncIterator[ActiveTurns]:
    queue = ActiveTurns(locations, notice_every_s=0.001, max_wait_s=max_wait_s)
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

    async def test_of_too_many_in_all_lets_in_no_more(self) -> None:
        async with a_queue() as queue:
            burst = [Someone(queue, user) for user in range(1 + MAX_WAITING_PER_SLOT)]
            await burst[0].begins()
            with pytest.raises(Crowded), queue.join(ActiveTurn(1000, Stop(), 1000)):
                pass
            assert queue.load == Load(1, MAX_WAITING_PER_SLOT)
            for someone in burst:
                await someone.ends()


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


class TestACrowd:
    @given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), max_size=60))
    def test_is_served_in_the_order_of_arrival_one_turn_of_each_at_a_time(
        self, steps: list[tuple[bool, int]]
    ) -> None:
        slots, queue = 3, ActiveTurns(3)
        turns = list[tuple[ActiveTurn, ExitStack]]()
        for comes, number in steps:
            if comes:
                stack, turn = ExitStack(), ActiveTurn(number, Stop(), number)
                with suppress(Busy):
                    stack.enter_context(queue.join(turn))
                    turns.append((turn, stack))
            elif turns:
                turns.pop(number % len(turns))[1].close()
            running = [turn.queue_key for turn, _ in turns if turn.admitted.is_set()]
            assert len({*running}) == len(running) <= slots
            waiting = [turn.queue_key for turn, _ in turns if not turn.admitted.is_set()]
            assert len(running) == slots or {*waiting} <= {*running}
            assert queue.load == Load(len(running), len(waiting))
            for line in {*running} & {*waiting}:
                first = next(turn for turn, _ in turns if turn.queue_key == line)
                assert first.admitted.is_set(), "a user's turns keep their order"
        for _, stack in turns:
            stack.close()
        assert queue.load == Load(0, 0)
