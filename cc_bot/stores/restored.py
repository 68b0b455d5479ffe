"""A database that came from a backup: what has to be seen to before anybody works with it.

It serves all users at once by its nature, and only before the database takes its place.
"""

from datetime import datetime
from typing import Final

from cc_bot.domain.channel import ChannelKey
from cc_bot.storage import Database, Statement, memory_name

_SELECT_MEMORIES: Final = "SELECT user_id, id, created_at FROM memories ORDER BY user_id, id DESC"
_SELECT_NEWEST: Final = """
    SELECT max(at) FROM (
        SELECT max(last_active) AS at FROM sessions UNION ALL SELECT max(created_at) FROM memories
    )
"""
_SELECT_MESSAGES: Final = """
    SELECT discord_id FROM messages WHERE discord_id IS NOT NULL
    UNION ALL SELECT discord_id FROM answer_pages
"""
_SELECT_PLACES: Final = """
    SELECT DISTINCT parent_channel_id, thread_id FROM messages
    WHERE user_id IS NULL AND discord_id IS NOT NULL
"""
_LET_GO: Final = ("DELETE FROM turns", "DELETE FROM turn_calls")
# What limits are held to is counted anew: a file may say anything of it. As migration 0016 does.
_COUNT_ANEW: Final = (
    "DELETE FROM memory_usage",
    """
    INSERT INTO memory_usage (user_id, memories, bytes)
    SELECT
        user_id,
        sum(status = 'active'),
        sum(length(CAST(content AS BLOB)) + length(CAST(tags AS BLOB)) + length(CAST(metadata AS BLOB)))
    FROM memories GROUP BY user_id
    """,
)


class Restored:
    """What stands in a copy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self) -> datetime | None:
        """Up to when somebody did something, by this program's own clock; None when nobody ever did."""
        [(at,)] = await self._database.query(_SELECT_NEWEST)
        try:
            return datetime.fromisoformat(at) if at else None
        except ValueError:  # a row that somebody has changed by hand
            return None

    async def memories(self) -> dict[tuple[int, int], str]:
        """What each memory is called in the log of erasures, by user and number; newer ones first."""
        rows = await self._database.query(_SELECT_MEMORIES)
        return {(user, number): memory_name(user, number, created) for user, number, created in rows}

    async def messages(self) -> list[int]:
        """What Discord calls each message and each further page of an answer."""
        return [row[0] for row in await self._database.query(_SELECT_MESSAGES)]

    async def places(self) -> list[ChannelKey]:
        """Channels and threads of which messages are kept."""
        return [ChannelKey(*row) for row in await self._database.query(_SELECT_PLACES)]

    async def count_anew(self) -> None:
        """Count what each user has."""
        await self._database.transaction([*map(Statement, _COUNT_ANEW)])

    async def let_go(self) -> None:
        """Drop the turns that were on their way: they came to their end in the time that is not in the copy,
        or nobody waits for them any more."""
        await self._database.transaction([*map(Statement, _LET_GO)])
