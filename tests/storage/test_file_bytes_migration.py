"""Upgrading a file of version 0037: the files in it count as well."""

from pathlib import Path

from cc_bot.storage import Statement, apply_pending, open_database
from cc_bot.storage.migrate import known_migrations
from cc_bot.stores import open_stores

AT = "2026-11-22T09:00:00.000000+00:00"
BEFORE = (
    "INSERT INTO sessions (id, user_id, channel_id, agent, created_at, last_active)"
    f" VALUES ('s', 1, 10, 'default', '{AT}', '{AT}')",
    "INSERT INTO messages (id, session_id, user_id, channel_id, parent_channel_id, author_id, role,"
    " content, timestamp, created_at) VALUES (1, 's', 1, 10, 10, 1, 'user', 'これ', 0, 0)",
    "INSERT INTO attachments (message_id, position, session_id, user_id, name, content_type, data, document)"
    " VALUES (1, 0, 's', 1, 'a.png', 'image/png', x'010203', NULL),"
    " (1, 1, 's', 1, 'a.pdf', 'application/pdf', x'0102', '{}')",
)


async def test_stored_files_have_their_sizes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/old.db"
    async with open_database(url) as database:
        await apply_pending(database, known_migrations()[:37])
        await database.transaction([Statement(sql) for sql in BEFORE], ())
    async with open_stores(url) as stores:
        assert (await stores.personal_data.get_overview(1)).file_bytes == 3 + 2 + 2
