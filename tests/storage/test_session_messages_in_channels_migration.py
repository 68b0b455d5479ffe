"""Upgrading a file of version 0022: what was asked in sessions before stands in no channel's context."""

from pathlib import Path

from cc_bot.domain import ChannelKey
from cc_bot.storage import Statement, apply_pending, open_database
from cc_bot.storage.migrate import known_migrations
from cc_bot.stores import open_stores

_INSERT = (
    "INSERT INTO messages (discord_id, session_id, user_id, channel_id, parent_channel_id, author_id, role,"
    " content, timestamp, created_at) VALUES "
)
BEFORE = (
    "INSERT INTO sessions (id, user_id, channel_id, agent, created_at, last_active)"
    " VALUES ('s', 1, 10, 'default', '2026-11-22T09:00:00.000000+00:00', '2026-11-22T09:00:00.000000+00:00')",
    f"{_INSERT} (NULL, 's', 1, 10, 10, 1, 'user', 'お昼は？', 0, 0)",
    f"{_INSERT} (40, 's', 1, 10, 10, 0, 'assistant', 'うどんです。', 0, 0)",
    f"{_INSERT} (50, NULL, NULL, 10, 10, 2, 'user', 'こんにちは', 0, 0)",
)


class TestMessagesOfSessions:
    async def test_from_before_stay_out_of_their_channel(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/old.db"
        async with open_database(url) as database:
            await apply_pending(database, known_migrations()[:22])
            await database.transaction([Statement(sql) for sql in BEFORE], ())
        async with open_stores(url) as stores:
            page = await stores.blocks.get_page(ChannelKey(10), first=0, before=99, limit=9)
        assert [(each.id, each.content) for each in page] == [(50, "こんにちは")]
