"""A real process on the file: what it was killed with is never said again, and the rest is not lost."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
from cc_bot.domain.schedule import Firing
from cc_bot.scheduler import Scheduler
from cc_bot.stores import open_stores

async def main(url):
    async with open_stores(url, embedder=None) as stores:
        async for each in Scheduler(stores.schedules, places=("channel",), look_every_s=0.05).run():
            if isinstance(each, Firing):
                print(each.schedule.text, flush=True)
                await asyncio.sleep(3600)

asyncio.run(main(*sys.argv[1:]))
"""


@asynccontextmanager
async def claimed(url: str) -> AsyncIterator[str]:
    """What another process has claimed, until it is killed between the claim and the note."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM, url), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            yield (await process.stdout.readline()).decode().strip()
    finally:
        process.kill()
        await process.communicate()


async def test_a_killed_process_leaves_its_time_unsaid_and_all_that_it_did_not_claim(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/sessions.db"
    async with open_stores(url, embedder=None) as stores:
        now = datetime.now(UTC)
        for number in range(5):
            await stores.schedules.add(KEY, str(number), now)
        async with claimed(url) as lost:
            pass
        found = await Scheduler(stores.schedules, places=["channel"]).due()
        texts = [each.schedule.text for each in found if isinstance(each, Firing)]
        assert sorted([lost, *texts]) == ["0", "1", "2", "3", "4"]
        for each in found:
            assert isinstance(each, Firing)
            await stores.schedules.mark_skipped(each)
        later = Scheduler(stores.schedules, places=["channel"], clock=lambda: now + timedelta(minutes=10))
        [told] = await later.due()
        assert isinstance(told, MissedReminders)
        assert [firing.schedule.text for firing in told.uncertain] == [lost]
        assert await later.due() == []
