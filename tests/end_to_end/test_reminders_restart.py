"""Reminders when the program is killed or was not there: nothing twice, and nothing lost without a word."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from tests.databases import DatabaseSettings
from tests.end_to_end.reminders import POST, called, comes_due, firings, reminder, said, says_by_itself
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Channel, User

MINUTE_S = 60
STATE = "SELECT state FROM firings WHERE schedule_id = ?"


@pytest_asyncio.fixture(loop_scope="session")
async def stage(tmp_path: Path, database_settings: DatabaseSettings) -> AsyncIterator[Stage]:
    async with running_stage(tmp_path, database_settings()) as stage:
        yield stage
        stage.check()


async def killed(stage: Stage) -> None:
    await stage.program.kill()
    await stage.discord.gone()


async def started_later(stage: Stage, seconds: int) -> None:
    """Start the program with its clock set so far ahead."""
    stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = str(seconds)
    await stage.start()


async def held_back(stage: Stage, user: User, number: int) -> None:
    """Its time comes, and the request that says it is on its way."""
    outstanding = stage.discord.faults.outstanding
    await comes_due(stage, user, number)
    await stage.discord.wait(lambda: stage.discord.faults.outstanding < outstanding, "the post")


class TestKill:
    @pytest.mark.parametrize("posted", [True, False])
    async def test_during_a_post_leads_to_no_second_one_and_its_owner_is_told(
        self, stage: Stage, aiko: User, channel: Channel, posted: bool
    ) -> None:
        number = await reminder(stage, aiko, channel, "薬")
        stage.discord.fail_next(POST, 200 if posted else None, delay_s=0.5)
        await held_back(stage, aiko, number)
        await killed(stage)
        assert firings(stage, number) == ["claimed"]
        await asyncio.sleep(0.6)  # what was held back is let go
        assert len(said(stage, channel)) == posted
        await stage.start()
        told = await says_by_itself(stage, stage.discord.dm(aiko), "薬")
        assert "届いていないかもしれない" in told.content
        assert firings(stage, number) == ["uncertain"]
        await stage.eventually("SELECT count(*) FROM firings WHERE told_by <> ''", gives=[(0,)])
        await killed(stage)
        stage.discord.forget_nonces()
        await started_later(stage, 6 * MINUTE_S)
        await stage.discord.quiet()
        assert len(said(stage, channel)) == posted
        assert len(said(stage, stage.discord.dm(aiko))) == 1
        called(stage)

    async def test_while_several_are_told_what_they_missed_tells_each_once(
        self, stage: Stage, channel: Channel
    ) -> None:
        users = [stage.discord.user(f"User {number}", locale="ja") for number in range(6)]
        await all_due(stage, channel, users, late_s=5400)
        stage.discord.fail_next(POST, None, times=len(users), delay_s=5)  # on its way for so long
        await stage.start()
        await stage.eventually("SELECT count(*) FROM firings WHERE told_by <> ''", gives=[(len(users),)])
        await killed(stage)
        stage.discord.faults.forget()
        await stage.start()
        for user in users:
            await says_by_itself(stage, stage.discord.dm(user), "お知らせの時刻が過ぎていました")
        await stage.eventually("SELECT count(*) FROM firings WHERE told_by <> ''", gives=[(0,)])
        await stage.restart()
        await stage.discord.quiet()
        assert [len(said(stage, stage.discord.dm(user))) for user in users] == [1] * len(users)
        assert said(stage, channel) == []
        called(stage)


class TestAbsence:
    async def test_of_less_than_an_hour_is_made_up_for_at_the_start(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        first = await reminder(stage, aiko, channel, "薬")
        second = await reminder(stage, ben, channel, "pills")
        await killed(stage)
        await started_later(stage, 40 * MINUTE_S)
        assert "お知らせが遅れてすみません" in (await says_by_itself(stage, channel, "薬")).text
        await says_by_itself(stage, channel, "pills")
        for number in (first, second):
            await stage.eventually(STATE, number, gives=[("sent",)])
        assert sorted(map(sorted, called(stage))) == sorted([[aiko.id], [ben.id]])
        assert len(said(stage, channel)) == 2

    @pytest.mark.parametrize("late", [False, True])
    async def test_of_many_is_told_without_more_requests_than_discord_takes(
        self, stage: Stage, late: bool
    ) -> None:
        users = [stage.discord.user(f"User {number}", locale="ja") for number in range(40)]
        for user in users:
            await reminder(stage, user, stage.discord.dm(user), "薬")
        await killed(stage)
        await started_later(stage, 180 * MINUTE_S if late else 10 * MINUTE_S)
        for user in users:
            await says_by_itself(stage, stage.discord.dm(user), "薬")
        called(stage)
        assert [each for each in stage.discord.violations if each.status == 429] == []


async def all_due(stage: Stage, channel: Channel, users: Sequence[User], *, late_s: int) -> None:
    """A reminder of each, whose times came at once, so long ago, while the program was away."""
    for user in users:
        await reminder(stage, user, channel, "薬")
    await killed(stage)
    due_ms = int((time.time() - late_s) * 1000)
    stage.change(f"UPDATE schedules SET due_at = {due_ms}")
