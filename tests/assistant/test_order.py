"""Who may run when."""

import asyncio

import pytest

from cc_bot.assistant.queue import MAX_WAITING
from cc_bot.domain import Notice, SessionKey
from cc_bot.domain.errors import Busy
from tests.assistant.conftest import Table


class TestTurnsOfOneUser:
    async def test_run_one_after_the_other_in_order(self, table: Table) -> None:
        await asyncio.gather(*(table.ask(f"質問{number}") for number in range(5)))
        questions = (await table.said())[::2]
        assert questions == [f"質問{number}" for number in range(5)]
        assert [len(request.prompt) for request in table.model.requests] == [3, 5, 7, 9, 11]

    async def test_tell_that_they_wait(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate]]
        first = asyncio.create_task(table.ask("一つ目"))
        await table.model.asked()
        second = asyncio.create_task(table.ask("二つ目"))
        await asyncio.sleep(0.01)
        gate.set()
        assert Notice("queued") not in await first
        assert (await second)[:2] == [Notice("queued"), Notice("started")]

    async def test_are_refused_when_too_many_wait(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate]]
        waiting = [asyncio.create_task(table.ask(f"質問{number}")) for number in range(MAX_WAITING + 1)]
        await table.model.asked()
        with pytest.raises(Busy):
            await table.ask("もう一つ")
        gate.set()
        await asyncio.gather(*waiting)
        assert len(await table.said()) == 2 * (MAX_WAITING + 1)


class TestTurnsOfManyUsers:
    async def test_run_side_by_side(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate], ["はい", gate]]
        turns = [asyncio.create_task(table.ask("質問", key=SessionKey(user, 10))) for user in (1, 2)]
        await table.model.asked()
        await table.model.asked()  # the second is asked while the first still answers
        gate.set()
        await asyncio.gather(*turns)

    async def test_are_capped(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate] for _ in range(5)]
        turns = [asyncio.create_task(table.ask("質問", key=SessionKey(user, 10))) for user in range(5)]
        for _ in range(4):
            await table.model.asked()
        await asyncio.sleep(0.02)
        assert len(table.model.requests) == 4
        gate.set()
        await asyncio.gather(*turns)
        assert len(table.model.requests) == 5

    async def test_fifty_at_once_all_get_their_own_answer(self, table: Table) -> None:
        async def converse(user: int) -> list[str]:
            key = SessionKey(user, 10)
            for number in range(3):
                await table.ask(f"{user}の{number}", key=key)
            return await table.said(key)

        said = await asyncio.gather(*(converse(user) for user in range(1, 51)))
        for user, messages in enumerate(said, start=1):
            assert messages[::2] == [f"{user}の{number}" for number in range(3)]
            assert messages[1::2] == [f"You said: {user}の{number}" for number in range(3)]
