"""What is done in the background goes on, whatever happens to it once."""

import asyncio

import pytest
from structlog.testing import capture_logs

from cc_bot.app.core import keep_running


class TestWork:
    async def test_that_breaks_is_on_record_and_taken_up_again(self) -> None:
        ends = iter([ValueError("何かが壊れた"), KeyError("again"), None])
        done = list[bool]()

        async def work() -> None:
            if error := next(ends):
                raise error
            done.append(True)

        with capture_logs() as records:
            await keep_running(work, pause_s=0)
        assert done == [True]
        assert [record["event"] for record in records] == ["upkeep_broke", "upkeep_broke"]

    async def test_that_is_cancelled_ends(self) -> None:
        begun = asyncio.Event()

        async def work() -> None:
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(keep_running(work, pause_s=0))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
