"""Real processes on one file: each time is handed to one of them, and a killed one's is never said again."""

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cc_bot.domain import SessionKey
from cc_bot.domain.schedule import Firing, MissedReminders
from cc_bot.scheduler import Scheduler
from cc_bot.stores import open_stores

pytestmark = pytest.mark.slow

KEY = SessionKey(user_id=1, channel_id=10)
PROGRAM = """
import asyncio, sys
from cc_bot.domain import Message
from cc_bot.domain.schedule import Firing
from cc_bot.scheduler import Scheduler
from cc_bot.stores import open_stores

async def main(url, settles):
    async with open_stores(url, embedder=None) as stores:
        print("ready", flush=True)
        async for each in Scheduler(stores.schedules, places=("channel",), look_every_s=0.05).run():
            if isinstance(each, Firing):
                print(each.schedule.text, flush=True)
                if settles == "no":
                    await asyncio.sleep(3600)
                await stores.schedules.mark_sent(each, Message("assistant", each.schedule.text))

asyncio.run(main(*sys.argv[1:]))
"""


class Program:
    """A scheduler in a process of its own, which prints what is handed to it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, url: str, *, settles: bool = True) -> "Program":
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROGRAM, url, "yes" if settles else "no"),
            stdout=asyncio.subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        program = cls(process)
        assert await program.line() == "ready"
        return program

    async def line(self) -> str:
        assert self._process.stdout is not None
        async with asyncio.timeout(60):
            return (await self._process.stdout.readline()).decode().strip()

    async def kill(self) -> list[str]:
        """Kill it (SIGKILL) and return what it printed since."""
        if self._process.returncode is None:
            self._process.kill()
        rest, _ = await self._process.communicate()
        return rest.decode().split()


class TestTwoProcesses:
    async def test_are_handed_each_time_once(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/sessions.db"
        count = 40
        async with open_stores(url, embedder=None) as stores:
            programs = [await Program.start(url) for _ in range(2)]
            try:
                due = datetime.now(UTC) + timedelta(seconds=0.5)
                for number in range(count):
                    await stores.schedules.add(KEY, str(number), due)
                async with asyncio.timeout(60):
                    while await stores.schedules.get_next_due(["channel"]):  # noqa: ASYNC110 - a row is no event
                        await asyncio.sleep(0.05)
                    await asyncio.sleep(0.3)
            finally:
                printed = [await program.kill() for program in programs]
        assert sorted([*printed[0], *printed[1]], key=int) == [str(number) for number in range(count)]


class TestKilledProcess:
    async def test_leaves_its_time_unsaid_and_told_as_uncertain_once(self, tmp_path: Path) -> None:
        """Killed between the claim and the note."""
        url = f"sqlite:///{tmp_path}/sessions.db"
        async with open_stores(url, embedder=None) as stores:
            now = datetime.now(UTC)
            await stores.schedules.add(KEY, "薬", now)
            program = await Program.start(url, settles=False)
            assert await program.line() == "薬"
            assert await program.kill() == []
            later = Scheduler(stores.schedules, places=["channel"], clock=lambda: now + timedelta(minutes=10))
            [told, *rest] = await later.due()
            assert isinstance(told, MissedReminders)
            assert [firing.schedule.text for firing in told.uncertain] == ["薬"]
            assert rest == []
            assert await later.due() == []

    async def test_leaves_all_that_it_did_not_claim(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/sessions.db"
        async with open_stores(url, embedder=None) as stores:
            now = datetime.now(UTC)
            for number in range(5):
                await stores.schedules.add(KEY, str(number), now)
            program = await Program.start(url, settles=False)
            claimed = await program.line()
            await program.kill()
            found = await Scheduler(stores.schedules, places=["channel"]).due()
            texts = [each.schedule.text for each in found if isinstance(each, Firing)]
            assert sorted([claimed, *texts]) == ["0", "1", "2", "3", "4"]
