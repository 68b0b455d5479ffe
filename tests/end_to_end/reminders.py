"""Reminders for tests of the whole program: set by their user's command, and due when a test wants."""

import time
from typing import Any

from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Shown, User

POST = "POST /channels/{channel}/messages"
STATE = "SELECT state FROM firings WHERE schedule_id = ?"
LATER = {"ja": "10分後", "en-US": "in 10 minutes"}


async def reminder(stage: Stage, user: User, target: Channel, text: str, **options: str) -> int:
    """`/remind add`, for some time from now; its row."""
    given = {"when": LATER[user.locale], **options}
    await stage.told(user, target, "remind add", text=text, **given)
    [(row,)] = stage.rows("SELECT max(id) FROM schedules WHERE user_id = ?", user.id)
    return int(row)


def number_of(stage: Stage, row: int) -> int:
    [(number,)] = stage.rows("SELECT number FROM schedules WHERE id = ?", row)
    return int(number or 0)


async def comes_due(stage: Stage, user: User, row: int, *, late_s: float = 0.0) -> None:
    """Its time comes now, or came so many seconds ago."""
    due_ms = int((time.time() - late_s) * 1000)
    stage.change(f"UPDATE schedules SET due_at = {due_ms} WHERE id = {row}")
    dm, number = stage.discord.dm(user), number_of(stage, row)
    await stage.discord.slash(user, dm, "remind resume", id=number)  # which wakes it


def said(stage: Stage, target: Channel) -> list[Shown]:
    own = (shown for shown in stage.discord.messages(target) if shown.author is stage.discord.bot)
    return [shown for shown in own if not shown.ephemeral]


async def says_by_itself(stage: Stage, target: Channel, text: str) -> Shown:
    """Wait for a message with this text in it."""
    await stage.discord.wait(lambda: any(text in each.text for each in said(stage, target)), f"{text!r}")
    return next(each for each in reversed(said(stage, target)) if text in each.text)


def firings(stage: Stage, row: int) -> list[Any]:
    return [state for (state,) in stage.rows(STATE, row)]


def called(stage: Stage) -> list[set[int]]:
    pings = [{*ping.whom.user_ids} for ping in stage.discord.pings]
    assert not any(ping.whom.everyone or ping.whom.role_ids for ping in stage.discord.pings)
    stage.discord.pings.clear()
    return pings
