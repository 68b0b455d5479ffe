"""Heartbeats when the program is killed, is stopped, or was not there."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.databases import DatabaseSettings
from tests.end_to_end.heartbeats import beat, begin, day, is_due, states
from tests.end_to_end.reminders import POST, called, said, says_by_itself
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import User
from tests.loopback.model_server import Hang, Reply, says

MINUTE_S = 60
HOUR_S = 60 * MINUTE_S


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path, database_settings: DatabaseSettings) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path, {**database_settings(), "CC_BOT_SUMMARY_EVERY": "1"}) as stage:
        yield stage
        stage.check()


@pytest.fixture
def dentist() -> str:
    return f"{day(2)}に歯医者"


async def begun(stage: Stage, user: User, memory: str) -> None:
    """The user wants heartbeats by DM, and has something to be told there."""
    await begin(stage, user, stage.discord.dm(user))
    await stage.told(user, stage.discord.dm(user), "memory add", content=memory)


async def killed(stage: Stage) -> None:
    await stage.program.kill()
    await stage.discord.gone()


async def started_later(stage: Stage, seconds: int) -> None:
    """Start the program with its clock set so far ahead."""
    stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = str(seconds)
    await stage.start()


class TestKill:
    async def test_while_the_model_thinks_loses_one_heartbeat_and_nothing_of_what_there_was_to_say(
        self, stage: Stage, aiko: User, dentist: str
    ) -> None:
        dm = stage.discord.dm(aiko)
        await begun(stage, aiko, dentist)
        stage.model.script(Reply(Hang()))
        await is_due(stage, aiko)
        await stage.model.arrived(1)
        await killed(stage)
        assert states(stage, aiko) == ["claimed"]
        await started_later(stage, 6 * MINUTE_S)
        await stage.eventually("SELECT state FROM firings WHERE user_id = ?", aiko.id, gives=[("uncertain",)])
        await stage.discord.quiet()
        assert said(stage, dm) == []
        assert len(stage.model.requests) == 1
        stage.model.script(says("歯医者です。"))
        await is_due(stage, aiko)
        await says_by_itself(stage, dm, "歯医者です。")

    async def test_during_the_post_leads_to_no_second_one(
        self, stage: Stage, aiko: User, dentist: str
    ) -> None:
        dm = stage.discord.dm(aiko)
        await begun(stage, aiko, dentist)
        stage.model.script(says("歯医者です。"))
        stage.discord.fail_next(POST, 200, delay_s=0.5)
        await is_due(stage, aiko)
        await stage.discord.wait(lambda: not stage.discord.faults.outstanding, "the post")
        await killed(stage)
        await asyncio.sleep(0.6)  # what was held back is let go
        await started_later(stage, 6 * MINUTE_S)
        await stage.eventually("SELECT state FROM firings WHERE user_id = ?", aiko.id, gives=[("uncertain",)])
        await stage.discord.quiet()
        assert len(said(stage, dm)) == 1
        await is_due(stage, aiko)
        await stage.discord.quiet()
        assert len(said(stage, dm)) == 1
        assert len(stage.model.requests) == 1


class TestStop:
    async def test_while_the_model_thinks_waits_a_moment_and_puts_it_off(
        self, stage: Stage, aiko: User, dentist: str
    ) -> None:
        await begun(stage, aiko, dentist)
        stage.model.script(Reply(Hang()), says("歯医者です。"))
        await is_due(stage, aiko)
        await stage.model.arrived(1)
        assert await stage.program.stop() == 0
        assert states(stage, aiko) == ["skipped"]
        await stage.discord.gone()
        await stage.start()
        await is_due(stage, aiko)
        await says_by_itself(stage, stage.discord.dm(aiko), "歯医者です。")


class TestAbsence:
    async def test_of_less_than_an_hour_is_made_up_for(self, stage: Stage, aiko: User, dentist: str) -> None:
        await begun(stage, aiko, dentist)
        await killed(stage)
        stage.model.script(says("歯医者です。"))
        await started_later(stage, 6 * HOUR_S + 30 * MINUTE_S)
        await says_by_itself(stage, stage.discord.dm(aiko), "歯医者です。")

    async def test_of_more_than_an_hour_is_nothing_to_tell(
        self, stage: Stage, aiko: User, dentist: str
    ) -> None:
        await begun(stage, aiko, dentist)
        await killed(stage)
        await started_later(stage, 8 * HOUR_S)
        await stage.eventually("SELECT state FROM firings WHERE user_id = ?", aiko.id, gives=[("skipped",)])
        await stage.discord.quiet()
        assert said(stage, stage.discord.dm(aiko)) == []
        assert stage.model.requests == []
        [(due_ms,)] = stage.rows("SELECT due_at FROM schedules WHERE user_id = ?", aiko.id)
        assert 11.9 * HOUR_S < due_ms / 1000 - time.time() < 12.1 * HOUR_S


class TestSummary:
    async def test_knows_nothing_of_heartbeats(self, stage: Stage, aiko: User, dentist: str) -> None:
        channel = stage.discord.guild_channel()
        await begin(stage, aiko, channel, where="channel")
        await stage.told(aiko, channel, "memory add", content=dentist)
        await stage.ask(aiko, channel, "やあ")
        await stage.model.noted(1)
        stage.model.script(says("合言葉は山です。"))
        await beat(stage, aiko, ends="sent")
        assert called(stage) == [{aiko.id}]
        await stage.ask(aiko, channel, "元気？")
        await stage.model.noted(2)
        assert all("合言葉" not in str(note.messages) for note in stage.model.notes)
