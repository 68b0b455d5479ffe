"""Another program holds the database, for longer than anybody waits: everyone hears of it within a minute."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import asyncpg

from cc_bot.db.engines import dialect_of
from cc_bot.domain.errors import DatabaseLocked
from tests.databases import DatabaseSettings
from tests.end_to_end.stage import running_stage
from tests.loopback.discord.watched import Watched

A_MINUTE_S = 60.0
BUSY = {"ja": DatabaseLocked.ja, "en-US": DatabaseLocked.en}


async def told(reply: Watched) -> None:
    await reply.until(
        lambda shown: BUSY[reply.locale] in shown.text, "that it is locked", timeout_s=A_MINUTE_S
    )


@asynccontextmanager
async def held(url: str) -> AsyncIterator[None]:
    if dialect_of(url) == "sqlite":
        file = url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")
        return
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            await connection.execute(f"LOCK TABLE {', '.join(name for (name,) in tables)} IN EXCLUSIVE MODE")
            yield
    finally:
        await connection.close()


class TestLockedDatabase:
    async def test_is_told_to_many_within_a_minute_and_over_with_the_lock(
        self, tmp_path: Path, database_settings: DatabaseSettings
    ) -> None:
        async with running_stage(tmp_path, {**database_settings(), "CC_BOT_MAX_TURNS": "2"}) as stage:
            users = [
                stage.discord.user(f"user {number}", locale=("ja", "en-US")[number % 2])
                for number in range(10)
            ]
            channel = stage.discord.guild_channel()
            await stage.ask(users[0], channel)
            async with held(stage.inspector.url):
                asked = [await stage.begin(user, channel) for user in users]
                await asyncio.gather(*map(told, asked))
                late = await stage.begin(users[0], channel, "まだですか")
                await told(late)
            for user, answer in zip(users[:2], ("はい、どうぞ。", "Here you are."), strict=True):
                await stage.ask_in_words(user, channel, answer)
            stage.check()
