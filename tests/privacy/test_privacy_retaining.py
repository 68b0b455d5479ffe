import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import pytest
from freezegun import freeze_time
from structlog.testing import capture_logs

from cc_bot.chat.stores.opening import Stores, open_stores
from cc_bot.db import Database, Statement, open_database
from cc_bot.domain.clock import utc_now
from cc_bot.domain.session import SessionKey
from cc_bot.features.privacy.model import Retention
from cc_bot.features.privacy.service import delete_expired, enforce_copy_retention, enforce_retention
from tests.databases import laid_out
from tests.stores.backends import turn

ME: Final = SessionKey(1, 2)
TOKYO: Final = ZoneInfo("Asia/Tokyo")


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(laid_out(tmp_path / "sessions.db")) as opened:
        yield opened


@pytest.fixture
async def database(stores: Stores, tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(f"sqlite:///{tmp_path}/sessions.db") as opened:
        yield opened


async def left(database: Database) -> tuple[int, int, list[str]]:
    [(messages,)] = await database.query("SELECT count(*) FROM messages")
    [(sessions,)] = await database.query("SELECT count(*) FROM sessions")
    return messages, sessions, [row[0] for row in await database.query("SELECT day FROM usage ORDER BY day")]


async def old_data(stores: Stores, database: Database) -> None:
    """A conversation that ended on January 1st, and usage of two days."""
    for table in ("messages", "sessions", "usage"):
        await database.transaction([Statement(f"DELETE FROM {table}")], ())
    await stores.sessions.commit_turn(await stores.sessions.open(ME), turn("古い"))
    await stores.sessions.commit_turn(await stores.sessions.clear(ME), turn("今の"))
    values = "VALUES ('2026-01-01', 1, 0, 'm', 'turn'), ('2026-01-11', 1, 0, 'm', 'turn')"
    await database.transaction(
        [Statement(f"INSERT INTO usage (day, user_id, guild_id, model, purpose) {values}")], ()
    )


class TestRetain:
    async def test_deletes_what_is_older_than_that(self, stores: Stores, database: Database) -> None:
        days = ["2026-01-01", "2026-01-11"]
        for retention, expected in (
            (Retention(), (4, 2, days)),
            (Retention(archive_days=9), (2, 2, days)),
            (Retention(session_days=9), (2, 1, days)),
            (Retention(archive_days=10, session_days=10), (4, 2, days)),
            (Retention(usage_days=1), (4, 2, days[1:])),
        ):
            with freeze_time("2026-01-01 20:00:00", real_asyncio=True) as now:
                await old_data(stores, database)
                now.move_to("2026-01-11 19:00:00")  # and the 12th in Tokyo
                await delete_expired(stores.retention, retention, utc_now, TOKYO)
            assert await left(database) == expected, retention


class TestTask:
    async def test_survives_a_failure(self, tmp_path: Path) -> None:
        async with open_stores(laid_out(tmp_path / "sessions.db")) as closed:
            pass
        with capture_logs() as logs:
            task = asyncio.create_task(
                enforce_retention(closed.retention, Retention(archive_days=1), utc_now, TOKYO)
            )
            while not logs:  # noqa: ASYNC110 - no event comes out of a log
                await asyncio.sleep(0.01)
            assert not task.done()
            task.cancel()
        assert [each["event"] for each in logs] == ["retention_failed"]


class TestCopies:
    async def test_go_in_their_time(self, tmp_path: Path) -> None:
        old = tmp_path / "sessions.replaced-20260101-000000.db"
        old.write_bytes(b"x")
        assert await logged_by_the_task(tmp_path / "sessions.db") == ["old_copies_deleted"]
        assert not old.exists()


async def logged_by_the_task(database: Path) -> list[str]:
    """Up to the first thing that it says, in the year 2030."""
    with capture_logs() as logs, freeze_time("2030-01-01", real_asyncio=True):
        task = asyncio.create_task(enforce_copy_retention(database, Retention(copy_days=30), utc_now))
        async with asyncio.timeout(60):
            while not logs:  # noqa: ASYNC110 - no event comes out of a log
                await asyncio.sleep(0.01)
        assert not task.done()
        task.cancel()
    return [each["event"] for each in logs]
