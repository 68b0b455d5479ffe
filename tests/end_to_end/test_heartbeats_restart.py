"""Heartbeats when the program is killed."""

import pytest

from tests.end_to_end.heartbeats import begin, day, is_due
from tests.end_to_end.kills import pull_the_plug
from tests.end_to_end.reminders import POST, said
from tests.end_to_end.stage import Stage
from tests.loopback.discord import User
from tests.loopback.model_server import says

STAGE = "own_stage"
pytestmark = pytest.mark.slow


async def test_a_kill_during_the_post_leads_to_no_second(stage: Stage, aiko: User) -> None:
    dm = stage.discord.dm(aiko)
    await begin(stage, aiko, dm)
    await stage.told(aiko, dm, "memory add", content=f"{day(2)}に歯医者")
    stage.model.script(says("歯医者です。"))
    stage.discord.fail_next(POST, 200, delay_s=0.5)
    await is_due(stage, aiko)
    await stage.discord.wait(lambda: not stage.discord.faults.outstanding, "the post")
    await pull_the_plug(stage)
    await stage.discord.wait(lambda: said(stage, dm), "what was held back")
    six_minutes_ago = "UPDATE firings SET claimed_at = claimed_at - 360000 WHERE user_id = ?"
    stage.change(six_minutes_ago, aiko.id)  # nobody can be at work on it any more
    await stage.start()
    await stage.eventually("SELECT state FROM firings WHERE user_id = ?", aiko.id, gives=[("uncertain",)])
    await stage.discord.quiet()
    await is_due(stage, aiko)
    await stage.discord.quiet()
    assert len(said(stage, dm)) == 1
    assert len(stage.model.requests) == 1
