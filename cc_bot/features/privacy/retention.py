"""Deletes rows older than the operator's retention settings, in small batches.

Messages are scanned in the order of their ids: an index on time would slow down every turn. Each channel's
newest deleted message is recorded, so that catching up does not fetch it again.
"""

import json
from collections.abc import Sequence
from datetime import date, datetime
from functools import partial
from itertools import product
from typing import Final

from cc_bot.chat.stores.blocks import delete_messages
from cc_bot.chat.stores.canvases import COUNT_SWITCH
from cc_bot.db import MAINTENANCE_LOCK, Database, Row, Statement, Transaction, run_all
from cc_bot.db.columns import Store, to_ms, to_text
from cc_bot.features.privacy.personal_data import personal_tables

_BATCH_SIZE: Final = 200

# $1 the last id read, $2 messages in a prompt (0: unlimited), $3 batch size. The last column is 1 if an open
# session's prompt may still contain the message: fewer than $2 messages for the same readers follow it.
_SELECT_OLDEST: Final = """
    SELECT m.id, m.discord_id, m.created_at, CASE WHEN EXISTS (
        SELECT 1 FROM sessions AS s
        WHERE s.id = m.session_id AND s.closed_at IS NULL AND ($2 = 0 OR $2 > (
            SELECT count(*) FROM (
                SELECT 1 FROM messages AS n
                WHERE n.session_id = m.session_id AND n.id > m.id AND n.status <> 'replaced'
                    AND (m.visibility = 'private' OR n.visibility = 'public')
                LIMIT $2
            ) AS later
        ))
    ) THEN 1 ELSE 0 END
    FROM messages AS m
    WHERE m.id > $1
    ORDER BY m.id
    LIMIT $3 /* scope: all users */
"""

_DELETE_MESSAGES: Final = "DELETE FROM messages WHERE id IN @ids($1) /* scope: all users */"

# Deletes summaries whose user, channel and agent have only old sessions. $1 an array of session ids, $2 the
# cutoff
_DELETE_SUMMARIES: Final = """
    DELETE FROM summaries WHERE id IN (
        SELECT y.id
        FROM @texts($1) AS ended
        @cross_join sessions AS o ON o.id = ended.value
        @cross_join summaries AS y
            ON y.user_id = o.user_id AND y.channel_id = o.channel_id AND y.agent = o.agent
        WHERE NOT EXISTS (
            SELECT 1 FROM sessions AS s
            WHERE s.user_id = o.user_id AND s.channel_id = o.channel_id AND s.agent = o.agent
                AND (s.closed_at IS NULL OR s.closed_at > $2)
        )
    ) /* scope: all users */
"""


class RetentionStore:
    def __init__(self, database: Database, *, history_limit: int = 20) -> None:
        self._database = database
        self._history_limit = history_limit

    async def prune_messages(self, before: datetime) -> int:
        """Delete messages stored before a time, except those in an open session's prompt. Returns the number
        deleted."""
        count, last_id = 0, 0
        while True:
            delete_batch = partial(_delete_old_messages, to_ms(before), last_id, self._history_limit)
            deleted, next_id = await self._database.write(delete_batch, [MAINTENANCE_LOCK])
            count += deleted
            if next_id is None:
                return count
            last_id = next_id

    async def prune_sessions(self, before: datetime) -> int:
        """Delete sessions closed before a time, and summaries that have no session left. Returns the number
        of sessions."""
        count, last_key, cutoff = 0, ("", ""), to_text(before)
        sql = """
            SELECT id, created_at, closed_at FROM sessions
            WHERE (created_at, id) > ($1, $2)
            ORDER BY created_at, id
            LIMIT $3 /* scope: all users */
        """
        while True:
            rows = await self._database.query(sql, *last_key, _BATCH_SIZE)
            closed = json.dumps([id_ for id_, _, closed_at in rows if closed_at and closed_at <= cutoff])
            while await self._database.write(partial(_delete_messages_of, closed), [MAINTENANCE_LOCK]):
                pass
            count += await self._database.write(partial(_delete_sessions, closed, cutoff), [MAINTENANCE_LOCK])
            if all(created_at > cutoff for _, created_at, _ in rows):
                return count
            last_key = (rows[-1][1], rows[-1][0])

    async def prune_usage(self, first_kept: date) -> int:
        """Delete usage before a day. Returns the number of rows."""
        day = (first_kept.isoformat(),)
        delete_usage = "DELETE FROM usage WHERE day < $1 RETURNING day /* scope: all users */"
        delete_totals = "DELETE FROM usage_totals WHERE day < $1"
        [deleted, _] = await self._database.transaction(
            [Statement(sql, day) for sql in (delete_usage, delete_totals)], [MAINTENANCE_LOCK]
        )
        return len(deleted)


def _delete_old_messages(
    before_ms: int, last_id: int, history_limit: int
) -> Transaction[tuple[int, int | None]]:
    """Delete one batch. Returns the number deleted, and the id to continue after, or None at the end."""
    rows = yield Statement(_SELECT_OLDEST, (last_id, history_limit, _BATCH_SIZE))
    old = [row for row in rows if row[2] < before_ms]
    to_delete = [(id_, discord_id) for id_, discord_id, _, in_prompt in old if not in_prompt]
    yield from _delete_messages(to_delete)
    return len(to_delete), rows[-1][0] if old else None


def _delete_messages_of(sessions: str) -> Transaction[bool]:
    """Delete one batch of the sessions' messages. Returns False if there are none."""
    sql = """
        SELECT m.id, m.discord_id
        FROM @texts($1) AS ended
        @cross_join messages AS m ON m.session_id = ended.value
        LIMIT $2 /* scope: all users */
    """
    rows = yield Statement(sql, (sessions, _BATCH_SIZE))
    yield from _delete_messages(rows)
    return bool(rows)


def _delete_sessions(sessions: str, cutoff: str) -> Transaction[int]:
    yield Statement(_DELETE_SUMMARIES, (sessions, cutoff))
    # A session that a summary refers to is kept, without messages.
    sql = """
        DELETE FROM sessions WHERE id IN @texts($1)
            AND NOT EXISTS (SELECT 1 FROM messages AS m WHERE m.session_id = sessions.id)
            AND NOT EXISTS (SELECT 1 FROM summaries AS y WHERE y.session_id = sessions.id)
        RETURNING user_id, channel_id, agent /* scope: all users */
    """
    keys = yield Statement(sql, (sessions,))
    tables = [each.table for each in personal_tables() if each.deleted_with_last_session]
    delete_with_last_session = """
        DELETE FROM {table}
        WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND NOT EXISTS (
            SELECT 1 FROM sessions WHERE user_id = $1 AND channel_id = $2 AND agent = $3
        )
    """
    for key, table in product(keys, tables):
        yield Statement(delete_with_last_session.format(table=table), tuple(key))
    if keys:
        yield Statement(COUNT_SWITCH)
    return len(keys)


def _delete_messages(messages: Sequence[Row]) -> Transaction[None]:
    yield from run_all(delete_messages([discord_id for _, discord_id in messages if discord_id is not None]))
    if messages:
        yield Statement(_DELETE_MESSAGES, (json.dumps([id_ for id_, _ in messages]),))


COUNT_OPEN_SESSIONS: Final = "SELECT count(*) FROM sessions WHERE closed_at IS NULL /* scope: all users */"
"""Reads an index only."""

SELECT_VERSION: Final = "SELECT max(version) FROM schema_migrations"


class VitalsStore(Store):
    async def count_open_sessions(self) -> int:
        [(count,)] = await self._database.query(COUNT_OPEN_SESSIONS)
        return int(count)

    async def get_size_bytes(self) -> int:
        return await self._database.size()

    async def get_schema_version(self) -> int:
        [(version,)] = await self._database.query(SELECT_VERSION)
        return int(version)

    async def check_writable(self) -> None:
        """Run an empty write transaction, without a disk write."""
        await self._database.transaction((), ())
