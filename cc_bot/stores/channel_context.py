"""A channel's context: the rows that a request shows, read newest first, by the page, by index alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cc_bot.domain.message import ChannelKey, ContextMessage
from cc_bot.storage import Database

UNBOUNDED: Final = 2**62
"""A later id than any."""

# $1 channel, $2 the place: the thread, or the channel, $3 bot
_SELECT_RESETS: Final = """
    SELECT thread_id, last_reset_discord_message_id FROM thread_metadata
    WHERE thread_id IN ($1, $2) AND bot_id IN (0, $3)
"""

# What a request shows of a message, and the beginning of what it replies to, which is one row that everybody
# reads there, by messages_by_discord_id. An answer without words has nothing to show. $1 channel, $2 thread,
# $3 the first id, $4 the one after the last, $7 what is read no more: up to that id nothing is told of what
# is replied to either
_SHOWN: Final = """
    SELECT m.discord_id AS discord_id, m.role, m.author_name, m.content, coalesce(m.author_id, 0),
        m.reply_to, substr(r.content, 1, 60), CASE r.role WHEN 'user' THEN r.author_name END,
        coalesce(r.author_id, 0), CASE WHEN m.tainted = 1 OR r.tainted = 1 THEN 1 ELSE 0 END
    FROM messages AS m
    LEFT JOIN messages AS r
        ON r.discord_id = m.reply_to AND r.parent_channel_id = $1 AND r.thread_id = $2
        AND (r.user_id IS NULL OR r.in_channel = 1) AND r.visibility = 'public' AND r.discord_id > $7
    WHERE m.parent_channel_id = $1 AND m.thread_id = $2 AND m.discord_id >= $3 AND m.discord_id < $4
        AND m.content <> '' AND m.visibility = 'public' AND m.status <> 'replaced'
"""

# The channel's own, by messages_by_channel, and what everybody read of sessions, by
# messages_asked_in_channel: the newest of both, as they come from there. After the question only the
# channel's own answers are told. $5 the question, $6 limit
SELECT_ROWS: Final = f"""
    {_SHOWN} AND m.user_id IS NULL AND (m.discord_id < $5 OR m.role = 'assistant')
    UNION ALL
    {_SHOWN} AND m.in_channel = 1 AND m.discord_id < $5
    ORDER BY discord_id DESC
    LIMIT $6 /* channel */
"""


@dataclass(frozen=True, slots=True)
class ChannelContextStore:
    database: Database

    async def get_resets(self, key: ChannelKey, *, bot_id: int) -> Mapping[int, int]:
        """Return, by thread id, the last message that is never read again: in a place and its channel."""
        resets: dict[int, int] = {}
        rows = await self.database.query(_SELECT_RESETS, key.channel_id, key.place_id, bot_id)
        for place_id, discord_id in rows:  # there by Discord's own id of the place
            thread = 0 if place_id == key.channel_id else place_id
            resets[thread] = max(resets.get(thread, 0), discord_id)
        return resets

    async def get_page(
        self,
        key: ChannelKey,
        *,
        first: int,
        before: int,
        asked: int = UNBOUNDED,
        limit: int,
        reset: int = 0,
    ) -> list[ContextMessage]:
        """Return the messages of one place, newest first: from the id `first` to the one before `before`.

        After the question `asked` only the channel's answers are told: one may have been posted since it
        came. Up to the id `reset` nothing is told of what they reply to.
        """
        rows = await self.database.query(
            SELECT_ROWS, key.channel_id, key.thread_id, first, before, asked, limit, reset
        )
        return list(map(ContextMessage._make, rows))
