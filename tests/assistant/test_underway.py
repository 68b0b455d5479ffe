"""Turns that are on their way, told without a word about whose they are."""

import asyncio

import structlog
from structlog.testing import capture_logs

from cc_bot.domain import SessionKey
from tests.assistant.conftest import Table


class TestTurns:
    async def test_are_told_by_phase_while_they_wait_and_run(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate]]
        first = asyncio.create_task(table.ask("秘密の一つ目"))
        await table.model.asked()
        second = asyncio.create_task(table.ask("秘密の二つ目"))
        await asyncio.sleep(0)
        underway = table.assistant.underway
        assert [each.phase for each in underway] == ["model", "queue"]
        assert len({each.id for each in underway}) == 2
        assert "秘密" not in repr(underway)
        gate.set()
        await asyncio.gather(first, second)
        assert table.assistant.underway == ()

    async def test_have_the_id_of_their_records(self, table: Table) -> None:
        gate = asyncio.Event()
        table.model.script = [["はい", gate]]
        asked = asyncio.create_task(table.ask("質問", key=SessionKey(7, 10)))
        await table.model.asked()
        [turn] = table.assistant.underway
        with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as records:
            gate.set()
            await asked
        assert [each["turn"] for each in records if each["event"] == "turn_done"] == [turn.id]

    async def test_that_fail_are_gone(self, table: Table) -> None:
        table.model.script = [[]]
        await asyncio.gather(table.ask("質問"), return_exceptions=True)
        assert table.assistant.underway == ()
