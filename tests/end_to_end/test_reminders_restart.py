"""Reminders when the program is killed or was not there: nothing twice, and nothing lost without a word."""

import asyncio

import pytest

from tests.end_to_end.kills import pull_the_plug
from tests.end_to_end.reminders import POST, called, comes_due, firings, reminder, said, says_by_itself
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User

STAGE = "new_stage"
pytestmark = pytest.mark.slow
MINUTE_S = 60
STATE = "SELECT state FROM firings WHERE schedule_id = ?"


async def started_later(stage: Stage, seconds: int) -> None:
    """Start the program with its clock set so far ahead."""
    stage.program.environment["CC_BOT_TEST_CLOCK_OFFSET"] = str(seconds)
    await stage.start()


async def held_back(stage: Stage, user: User, number: int) -> None:
    """Its time comes, and the request that says it is on its way."""
    outstanding = stage.discord.faults.outstanding
    await comes_due(stage, user, number)
    await stage.discord.wait(lambda: stage.discord.faults.outstanding < outstanding, "the post")


@pytest.mark.parametrize("posted", [True, False])
async def test_a_kill_during_a_post_is_told(stage: Stage, aiko: User, channel: Channel, posted: bool) -> None:
    number = await reminder(stage, aiko, channel, "薬")
    stage.discord.fail_next(POST, 200 if posted else None, delay_s=0.5)
    await held_back(stage, aiko, number)
    await pull_the_plug(stage)
    assert firings(stage, number) == ["claimed"]
    await asyncio.sleep(0.6)  # what was held back is let go
    assert len(said(stage, channel)) == posted
    await stage.start()
    told = await says_by_itself(stage, stage.discord.dm(aiko), "薬")
    assert "届いていないかもしれない" in told.content
    assert firings(stage, number) == ["uncertain"]
    await stage.eventually("SELECT count(*) FROM firings WHERE reported_by <> ''", gives=[(0,)])
    await pull_the_plug(stage)
    stage.discord.forget_nonces()
    await started_later(stage, 6 * MINUTE_S)
    await stage.discord.quiet()
    assert len(said(stage, channel)) == posted
    assert len(said(stage, stage.discord.dm(aiko))) == 1
    called(stage)


async def test_half_an_hour_is_made_up_for(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    first = await reminder(stage, aiko, channel, "薬")
    second = await reminder(stage, ben, channel, "pills")
    await pull_the_plug(stage)
    await started_later(stage, 40 * MINUTE_S)
    assert "お知らせが遅れてすみません" in (await says_by_itself(stage, channel, "薬")).text
    await says_by_itself(stage, channel, "pills")
    for number in (first, second):
        await stage.eventually(STATE, number, gives=[("sent",)])
    assert sorted(map(sorted, called(stage))) == sorted([[aiko.id], [ben.id]])
    assert len(said(stage, channel)) == 2


@pytest.mark.parametrize("late", [False, True])
async def test_those_of_many_keep_discords_limits(stage: Stage, late: bool) -> None:
    users = [stage.discord.user(f"User {number}", locale="ja") for number in range(40)]
    for user in users:
        await reminder(stage, user, stage.discord.dm(user), "薬")
    await pull_the_plug(stage)
    await started_later(stage, 180 * MINUTE_S if late else 10 * MINUTE_S)
    for user in users:
        await says_by_itself(stage, stage.discord.dm(user), "薬")
    called(stage)
    assert [each for each in stage.discord.violations if each.status == 429] == []
