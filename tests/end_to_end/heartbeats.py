"""Heartbeats for tests of the whole program: begun by their user's command, and due when a test wants."""

import time
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, User

TOKYO = ZoneInfo("Asia/Tokyo")
NEVER_QUIET = {"quiet_from": "0:00", "quiet_to": "0:00"}
_NUMBER = "SELECT id FROM schedules WHERE user_id = ? AND kind = 'heartbeat'"
_STATES = "SELECT state FROM firings WHERE user_id = ? ORDER BY due_at"


async def begin(stage: Stage, user: User, target: Channel, **options: str | int) -> str:
    """`/heartbeat on`, at every hour of the day unless the test says otherwise; what it answers."""
    return await stage.told(user, target, "heartbeat on", **{"every": 6, **NEVER_QUIET, **options})


async def is_due(stage: Stage, user: User) -> None:
    """The time of the user's heartbeat comes now."""
    [(number,)] = stage.rows(_NUMBER, user.id)
    stage.change(f"UPDATE schedules SET due_at = {int(time.time() * 1000)} WHERE id = {number}")
    waker = stage.discord.user("Waker", locale="en-US")
    await begin(stage, waker, stage.discord.dm(waker))  # whoever writes a schedule has all looked at


async def beat(stage: Stage, user: User, *, ends: str) -> None:
    """One heartbeat, until it is noted that it was `sent`, or `skipped`."""
    before = states(stage, user)
    await is_due(stage, user)
    await stage.eventually(_STATES, user.id, gives=[(state,) for state in (*before, ends)])


def states(stage: Stage, user: User) -> list[Any]:
    return [state for (state,) in stage.rows(_STATES, user.id)]


def day(days: int) -> str:
    """So many days from now, as people write it."""
    moment = datetime.now(TOKYO) + timedelta(days=days)
    return f"{moment.month}月{moment.day}日"
