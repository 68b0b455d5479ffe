"""Another program holds the database, for longer than anybody waits: everyone hears of it within a minute."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.end_to_end.stage import running_stage
from tests.loopback.discord.watched import Watched

A_MINUTE_S = 60.0
"""DESIGN: a user is told within 60 s, whatever hangs."""
BUSY = {"ja": "ふさがっていて", "en-US": "is busy with something else"}


async def told(reply: Watched) -> None:
    await reply.until(
        lambda shown: BUSY[reply.locale] in shown.text, "that it is locked", timeout_s=A_MINUTE_S
    )


class TestLockedDatabase:
    async def test_is_told_to_many_within_a_minute_and_over_with_the_lock(self, tmp_path: Path) -> None:
        async with running_stage(tmp_path, {"CC_BOT_MAX_TURNS": "2"}) as stage:
            users = [
                stage.discord.user(f"user {number}", locale=("ja", "en-US")[number % 2])
                for number in range(10)
            ]
            channel = stage.discord.guild_channel()
            await stage.ask(users[0], channel)
            with closing(sqlite3.connect(stage.database, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                asked = [await stage.begin(user, channel) for user in users]
                await asyncio.gather(*map(told, asked))
                late = await stage.begin(users[0], channel, "まだですか")
                await told(late)
                other.execute("ROLLBACK")
            for user, answer in zip(users[:2], ("はい、どうぞ。", "Here you are."), strict=True):
                await stage.ask_in_words(user, channel, answer)
            stage.check()
