"""Waiting for one's turn: what is told meanwhile, and every way in which the wait can end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from cc_bot.assistant.assistant import TURN_LIMIT_S
from cc_bot.assistant.queue import MAX_WAIT_S, MAX_WAITING_A_PLACE, Load, TurnQueue
from cc_bot.assistant.turn import Stop
from cc_bot.domain import Notice
from cc_bot.domain.errors import Crowded, ShuttingDown

TOKEN_LIFE_S = 900
"""Of an interaction, as Discord has it."""


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
        with queue.join((user_id,), guild_id) as place:
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
    assert queue.load == Load(0, 0), "somebody's place was lost"


class TestWaiting:
    async def test_is_told_of_only_where_there_is_a_wait(self) -> None:
        async with a_queue() as queue:
            first = Someone(queue, 1)
            await first.begins()
            second = Someone(queue, 2)
            await second.is_told(Notice("queued", ahead=0))
            await first.ends()
            await second.begins()
            await second.ends()
            assert first.told == []
            assert second.told == [Notice("queued", ahead=0), Notice("started")]

    async def test_tells_how_many_are_ahead_as_that_changes(self) -> None:
        async with a_queue() as queue:
            people = [Someone(queue, user) for user in range(4)]
            await people[3].is_told(Notice("queued", ahead=2))
            await people[0].ends()
            await people[3].is_told(Notice("queued", ahead=1))
            for someone in people[1:]:
                await someone.ends()
            assert [notice.ahead for notice in people[3].told[:2]] == [2, 1]

    async def test_for_an_earlier_question_of_ones_own_tells_that_and_no_number(self) -> None:
        async with a_queue(places=5) as queue:
            first, second = Someone(queue, 1), Someone(queue, 1)
            await second.is_told(Notice("queued"))
            await first.ends()
            await second.ends()

    async def test_of_a_burst_in_one_server_lets_another_server_through(self) -> None:
        async with a_queue() as queue:
            burst = [Someone(queue, user, guild_id=1) for user in range(5)]
            await burst[0].begins()
            other = Someone(queue, 100, guild_id=2)
            await other.is_told(Notice("queued", ahead=0))
            await burst[0].ends()
            await other.begins()
            for someone in (other, *burst[1:]):
                await someone.ends()

    def test_leaves_enough_of_an_interactions_life_for_the_answer(self) -> None:
        assert MAX_WAIT_S + TURN_LIMIT_S < TOKEN_LIFE_S - 60


class TestTheWaitEnds:
    async def test_at_once_on_a_stop_request_without_holding_up_anybody(self) -> None:
        async with a_queue() as queue:
            first, stopped, last = (Someone(queue, user) for user in range(3))
            await last.is_told(Notice("queued", ahead=1))
            stopped.stop.request()
            await stopped.begins()  # so that it can say how it ended
            await stopped.ends()
            await last.is_told(Notice("queued", ahead=0))
            await first.ends()
            await last.ends()

    async def test_when_it_takes_too_long_and_holds_up_nobody(self) -> None:
        async with a_queue(max_wait_s=0.05) as queue:
            first, late = Someone(queue, 1), Someone(queue, 2)
            with pytest.raises(Crowded):
                await asyncio.wait_for(late.task, 60)
            assert late.told == [Notice("queued", ahead=0)]
            assert queue.load == Load(1, 0)
            await first.ends()

    async def test_when_the_program_stops(self) -> None:
        async with a_queue() as queue:
            first, second = Someone(queue, 1), Someone(queue, 2)
            await second.is_told(Notice("queued", ahead=0))
            queue.close()
            with pytest.raises(ShuttingDown):
                await second.task
            late = Someone(queue, 3)
            with pytest.raises(ShuttingDown):
                await late.task
            await first.ends()

    @pytest.mark.parametrize("when", ["while it waits", "in the moment that it is admitted"])
    async def test_when_it_is_cancelled_and_its_place_goes_to_the_next(self, when: str) -> None:
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

    async def test_before_it_begins_for_a_server_of_which_too_many_wait_and_not_for_another(self) -> None:
        async with a_queue() as queue:
            burst = [Someone(queue, user, guild_id=1) for user in range(1 + MAX_WAITING_A_PLACE)]
            await burst[0].begins()
            with pytest.raises(Crowded), queue.join((1000,), guild_id=1):
                pass
            assert queue.load == Load(1, MAX_WAITING_A_PLACE)
            other = Someone(queue, 1001, guild_id=2)
            await other.is_told(Notice("queued", ahead=0))
            for someone in (burst[0], other, *burst[1:]):
                await someone.ends()
