"""Stores the summaries of each session key, and finds messages that are in no summary yet.

A session's row records how far it is summarized. A summary is rejected if this has changed since its messages
were read, as the session was cleared, expired, deleted or summarized meanwhile.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from cc_bot.db import MAINTENANCE_LOCK, Statement, Transaction, run_all, user_lock
from cc_bot.db.columns import KEY, MESSAGE, MS, Columns, Store, key_columns, to_ms, to_text
from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.session import Backlog, SessionKey, Summary

# ruff: noqa: S608 - SQL is built from constants


class _BacklogRow(NamedTuple):
    session_id: str
    closed: bool
    summarized_to: int
    message: Message


_SUMMARY: Final = Columns(Summary, datetimes=MS)
_BACKLOG_ROW: Final = Columns(_BacklogRow, message=MESSAGE)

MAX_BACKLOG: Final = 200  # messages

# No summary is shown while it may tell of a session that its user may still restore.
NONE_DELETED: Final = """
    NOT EXISTS (
        SELECT 1 FROM sessions
        WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND deleted_at IS NOT NULL
    )
"""

_SELECT: Final = f"""
    SELECT {_SUMMARY.select} FROM summaries
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND {NONE_DELETED}
    ORDER BY visibility DESC
"""

DELETE_SUMMARIES: Final = """
    DELETE FROM summaries WHERE user_id = $1 AND channel_id = $2 AND agent = $3 RETURNING id
"""

STOP_SUMMARIZING: Final = """
    UPDATE sessions SET summarize = 0
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND summarize = 1
"""

# Excludes all messages so far from summaries, also from one that is being written. Callers may append AND.
SET_SUMMARIZED_TO_END: Final = """
    UPDATE sessions SET summarized_to = coalesce(
        (
            SELECT m.id FROM messages AS m
            WHERE m.user_id = $1 AND m.session_id = sessions.id AND m.id > sessions.summarized_to
            ORDER BY m.id DESC LIMIT 1
        ),
        summarized_to
    )
    WHERE user_id = $1 AND summarize = 1
"""
_MARK_KEY_SUMMARIZED: Final = f"{SET_SUMMARIZED_TO_END} AND channel_id = $2 AND agent = $3"

# Reads a single session, so that no rows have to be sorted.
_SELECT_BACKLOG: Final = f"""
    SELECT s.id, CASE WHEN s.closed_at IS NULL THEN 0 ELSE 1 END, s.summarized_to, {MESSAGE.with_alias("m")}
    FROM sessions AS s
    JOIN messages AS m
        ON m.session_id = s.id AND m.user_id = $1 AND m.id > s.summarized_to AND m.status <> 'replaced'
    WHERE s.user_id = $1 AND s.id = coalesce(
        (
            SELECT id FROM sessions
            WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND summarize = 1 AND closed_at IS NOT NULL
                AND EXISTS (
                    SELECT 1 FROM messages
                    WHERE user_id = $1 AND session_id = sessions.id AND id > summarized_to
                        AND status <> 'replaced'
                )
            ORDER BY closed_at LIMIT 1
        ),
        (
            SELECT id FROM sessions
            WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND summarize = 1 AND closed_at IS NULL
        )
    )
    ORDER BY m.id
    LIMIT $4
"""

# Run after _MARK_SUMMARIZED, in its transaction.
_PUT: Final = """
    INSERT INTO summaries (
        session_id, user_id, channel_id, agent, visibility, content,
        first_message_id, last_message_id, created_at, tainted
    )
    SELECT id, user_id, channel_id, agent, $3, $4, $5, $6, $7, $8
    FROM sessions
    WHERE id = $1 AND user_id = $2
    ON CONFLICT (user_id, channel_id, agent, visibility) DO UPDATE SET
        session_id = excluded.session_id,
        content = excluded.content,
        last_message_id = excluded.last_message_id,
        created_at = excluded.created_at,
        tainted = CASE WHEN summaries.tainted = 1 THEN 1 ELSE excluded.tainted END
    WHERE summaries.user_id = $2
"""

# If it updates no row, no summary is stored. $4: 1 if the session was closed when its messages were read
_MARK_SUMMARIZED: Final = """
    UPDATE sessions SET summarized_to = $5
    WHERE id = $1 AND user_id = $2 AND summarized_to = $3 AND summarize = 1
        AND CASE WHEN closed_at IS NULL THEN 0 ELSE 1 END = $4
    RETURNING id
"""


def forget_summaries_of(key: SessionKey, session_id: str) -> Transaction[None]:
    """If a summary covers the session, delete all summaries of its key, and never summarize the messages so
    far again."""
    sql = """
        DELETE FROM summaries
        WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND (
            session_id = $4 OR EXISTS (
                SELECT 1 FROM messages AS m
                WHERE m.session_id = $4 AND m.user_id = $1
                    AND m.id BETWEEN summaries.first_message_id AND summaries.last_message_id
            )
        )
        RETURNING id
    """
    if (yield Statement(sql, (*key_columns(key), session_id))):
        yield from run_all(_forget(key))


def _forget(key: SessionKey) -> list[Statement]:
    return [Statement(sql, key_columns(key)) for sql in (DELETE_SUMMARIES, _MARK_KEY_SUMMARIZED)]


class SummaryStore(Store):
    async def list_current(self, key: SessionKey) -> tuple[Summary, ...]:
        """List the current summaries: at most one of each visibility, public first."""
        return tuple(map(_SUMMARY.read, await self._database.query(_SELECT, *key_columns(key))))

    async def get_backlog(self, key: SessionKey) -> Backlog | None:
        """Return the oldest unsummarized messages of the key's oldest session that has any."""
        rows = await self._database.query(_SELECT_BACKLOG, *key_columns(key), MAX_BACKLOG)
        backlog = [*map(_BACKLOG_ROW.read, rows)]
        if not backlog:
            return None
        first, messages = backlog[0], tuple(each.message for each in backlog)
        return Backlog(key, first.session_id, first.closed, first.summarized_to, messages)

    async def put(self, backlog: Backlog, texts: Mapping[Visibility, str]) -> bool:
        """Store new summaries and mark the backlog as summarized. Returns False if it is outdated."""
        session_and_user = (backlog.session_id, backlog.key.user_id)
        as_read = (backlog.summarized_to, int(backlog.closed))
        ids = [message.id for message in backlog.messages if message.id is not None]
        range_and_time = (ids[0], ids[-1], to_ms(self._clock()))
        puts = []
        for visibility, text in texts.items():
            tainted = any(each.is_tainting for each in backlog.messages if each.visibility == visibility)
            row = (*session_and_user, visibility, text, *range_and_time, int(tainted))
            puts.append(Statement(_PUT, row))

        def steps() -> Transaction[bool]:
            if not (yield Statement(_MARK_SUMMARIZED, (*session_and_user, *as_read, ids[-1]))):
                return False
            yield from run_all(puts)
            return True

        return await self._database.write(steps, [user_lock(backlog.key.user_id)])

    async def delete(self, key: SessionKey) -> bool:
        """Delete the summaries, and never summarize the messages so far. Returns whether there were any."""
        deleted, _ = await self._database.transaction(_forget(key), [user_lock(key.user_id)])
        return bool(deleted)

    async def list_unsummarized(self, limit: int) -> tuple[SessionKey, ...]:
        """List all users' keys with a closed session that may have unsummarized messages, newest first."""
        sql = f"""
            SELECT {KEY.select} FROM sessions
            WHERE summarize = 1 AND closed_at IS NOT NULL
            ORDER BY closed_at DESC LIMIT $1 /* scope: all users */
        """
        rows = await self._database.query(sql, limit)
        return tuple(dict.fromkeys(map(KEY.read, rows)))

    async def stop_summarizing(self, closed_until: datetime, *, give_up: bool = False) -> None:
        """Stop summarizing sessions closed until then: those that are summarized, or all to `give_up`."""
        sql = """
            UPDATE sessions SET summarize = 0
            WHERE summarize = 1 AND closed_at IS NOT NULL AND closed_at <= $1 AND ($2 = 1 OR NOT EXISTS (
                SELECT 1 FROM messages AS m
                WHERE m.session_id = sessions.id AND m.id > sessions.summarized_to
            ))
            RETURNING id /* scope: all users */
        """
        await self._change([MAINTENANCE_LOCK], sql, to_text(closed_until), int(give_up))
