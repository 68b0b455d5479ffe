"""Heartbeats when the program is killed, is stopped, or was not there."""

import pytest

from tests.end_to_end.heartbeats import begin, day, is_due, states
from tests.end_to_end.kills import pull_the_plug
from tests.end_to_end.reminders import POST, said, says_by_itself
from tests.end_to_end.stage import Stage
from tests.loopback.discord import User
from tests.loopback.model_server import Hang, Reply, says


@pytest.fixture
def one_of_the_stages(own_stage: Stage) -> Stage:
    return own_stage


@pytest.fixture
def dentist() -> str:
    return f"{day(2)}に歯医者"


async def begun(stage: Stage, user: User, memory: str) -> None:
    """The user wants heartbeats by DM, and has something to be told there."""
    await begin(stage, user, stage.discord.dm(user))
    await stage.told(user, stage.discord.dm(user), "memory add", content=memory)


async def claim_is_given_up(stage: Stage, user: User) -> None:
    """Start the program six minutes later, when nobody can be at work on a heartbeat any more."""
    claimed = "UPDATE firings SET claimed_at = claimed_at - 360000 WHERE user_id = ?"
    stage.change(claimed, user.id)
    await stage.start()
    await stage.eventually("SELECT state FROM firings WHERE user_id = ?", user.id, gives=[("uncertain",)])
    await stage.discord.quiet()


class TestKill:
    async def test_during_the_post_leads_to_no_second_one(
        self, stage: Stage, aiko: User, dentist: str
    ) -> None:
        dm = stage.discord.dm(aiko)
        await begun(stage, aiko, dentist)
        stage.model.script(says("歯医者です。"))
        stage.discord.fail_next(POST, 200, delay_s=0.5)
        await is_due(stage, aiko)
        await stage.discord.wait(lambda: not stage.discord.faults.outstanding, "the post")
        await pull_the_plug(stage)
        await stage.discord.wait(lambda: said(stage, dm), "what was held back")
        await claim_is_given_up(stage, aiko)
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
