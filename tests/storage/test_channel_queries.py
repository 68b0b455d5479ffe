"""What is asked of the tables of channels, here or by who reads the file: each is served by an index."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cc_bot.storage import Database, Statement, apply_pending, open_database

SAID = """
    SELECT * FROM messages
    WHERE parent_channel_id = $1 AND thread_id = $2 AND user_id IS NULL
"""

QUERIES = {
    "the blocks of a channel and of one of its threads": (
        """
        SELECT * FROM (
            SELECT * FROM block_boundaries WHERE channel_id = $1 AND thread_id = 0 ORDER BY last_message_id
        )
        UNION ALL
        SELECT * FROM (
            SELECT * FROM block_boundaries WHERE channel_id = $1 AND thread_id = $2 ORDER BY last_message_id
        )
        """,
        "block_boundaries_by_last",
    ),
    "the messages of a block": (
        f"{SAID} AND discord_id >= $3 AND discord_id <= $4 ORDER BY discord_id",
        "messages_by_channel",
    ),
    "the messages after the last block": (
        f"{SAID} AND discord_id > $3 ORDER BY discord_id",
        "messages_by_channel",
    ),
    "whether a message is known": ("SELECT 1 FROM messages WHERE discord_id = $1", "messages_by_discord_id"),
    "whether a block is frozen": (
        "SELECT 1 FROM block_boundaries WHERE channel_id = $1 AND thread_id = $2 AND first_message_id = $3",
        "sqlite_autoindex_block_boundaries_1",
    ),
    "the last block": (
        "SELECT max(last_message_id) FROM block_boundaries WHERE channel_id = $1 AND thread_id = $2",
        "block_boundaries_by_last",
    ),
    "the channels that have messages": (
        """
        WITH RECURSIVE channels (id) AS (
            SELECT min(parent_channel_id) FROM messages
            WHERE parent_channel_id > 0 AND user_id IS NULL AND discord_id IS NOT NULL
            UNION ALL
            SELECT (
                SELECT min(parent_channel_id) FROM messages
                WHERE parent_channel_id > channels.id AND user_id IS NULL AND discord_id IS NOT NULL
            )
            FROM channels WHERE channels.id IS NOT NULL
        )
        SELECT id FROM channels WHERE id IS NOT NULL
        """,
        "messages_by_channel",
    ),
    "the threads of a channel": (
        """
        WITH RECURSIVE threads (id) AS (
            SELECT min(thread_id) FROM messages
            WHERE parent_channel_id = $1 AND thread_id > 0 AND user_id IS NULL AND discord_id IS NOT NULL
            UNION ALL
            SELECT (
                SELECT min(thread_id) FROM messages
                WHERE parent_channel_id = $1 AND thread_id > threads.id
                    AND user_id IS NULL AND discord_id IS NOT NULL
            )
            FROM threads WHERE threads.id IS NOT NULL
        )
        SELECT id FROM threads WHERE id IS NOT NULL
        """,
        "messages_by_channel",
    ),
    "the reset markers of a place": (
        "SELECT * FROM thread_metadata WHERE thread_id = $1 AND bot_id IN (0, $2)",
        "sqlite_autoindex_thread_metadata_1",
    ),
}


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with open_database(f"sqlite:///{tmp_path}/sessions.db") as opened:
        await apply_pending(opened)
        yield opened


async def store(database: Database, discord_id: int, channel_id: int, thread_id: int) -> None:
    sql = """
        INSERT INTO messages (
            discord_id, parent_channel_id, thread_id, channel_id,
            author_id, role, content, timestamp, created_at
        ) VALUES ($1, $2, $3, $4, 7, 'user', 'はい', 0, 0)
    """
    await database.transaction(
        [Statement(sql, (discord_id, channel_id, thread_id, thread_id or channel_id))], ()
    )


class TestQuery:
    @pytest.mark.parametrize("name", QUERIES)
    async def test_is_served_by_its_index_alone(self, database: Database, name: str) -> None:
        sql, index = QUERIES[name]
        params = range(1, 1 + len(set(re.findall(r"\$\d", sql))))
        steps = [str(row[3]) for row in await database.query(f"EXPLAIN QUERY PLAN {sql}", *params)]
        reads = [step for step in steps if re.match(r"(?:SEARCH|SCAN) (?:messages|block|thread_)", step)]
        assert reads
        assert all(step.startswith("SEARCH") and f"INDEX {index} " in step for step in reads)
        assert not [step for step in steps if "TEMP B-TREE" in step]

    async def test_by_skipping_tells_the_same_as_by_reading_all(self, database: Database) -> None:
        places = [(5, 0), (5, 50), (5, 9), (70, 0), (70, 71), (8, 80)]
        for number in range(60):
            await store(database, 100 + number, *places[number % 6])
        channels, _ = QUERIES["the channels that have messages"]
        threads, _ = QUERIES["the threads of a channel"]
        assert await database.query(channels) == [(5,), (8,), (70,)]
        assert await database.query(threads, 5) == [(9,), (50,)]
        assert await database.query(threads, 6) == []
