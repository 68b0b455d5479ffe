"""Lists, reads and deletes a user's conversations. A deletion includes their summaries, and their messages in
a channel's context."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import uuid4

from cc_bot.chat.stores.blocks import delete_messages
from cc_bot.chat.stores.canvases import COUNT_SWITCH, put_canvas, read_current_canvas
from cc_bot.chat.stores.sessions import INSERT_SESSION
from cc_bot.chat.stores.summaries import forget_summaries_of
from cc_bot.db import Statement, Transaction, channel_lock, run_all, user_lock
from cc_bot.db.columns import ISO, KEY, MESSAGE, Columns, Store, key_columns, to_ms, to_text
from cc_bot.domain.message import Attachment, Message
from cc_bot.domain.session import EMPTY_CANVAS, ArchivedSession, SessionKey
from cc_bot.features.memory.stores.rows import RECORD_ERASURE

OPENING_CHARACTERS: Final = 200
MAX_NOTIFICATION_AGE: Final = timedelta(days=1)

_SESSION: Final = Columns(ArchivedSession, datetimes=ISO)

# ruff: noqa: S608 - SQL is built from constants

# The user's sessions that have messages.
_FROM_ALL: Final = """
    FROM sessions AS s
    WHERE s.user_id = $1
        AND EXISTS (SELECT 1 FROM messages AS m WHERE m.session_id = s.id AND m.user_id = $1)
"""
_FROM_SESSIONS: Final = f"{_FROM_ALL} AND s.deleted_at IS NULL"
_FROM_HIDDEN: Final = f"{_FROM_ALL} AND s.deleted_at IS NOT NULL"

_SELECT_SESSION: Final = f"""
    SELECT
        s.id, s.user_id, s.channel_id, s.agent, s.created_at, s.last_active, s.closed_at,
        (
            SELECT count(*) FROM messages AS m
            WHERE m.session_id = s.id AND m.user_id = $1 AND m.status <> 'replaced'
        ),
        coalesce((
            SELECT substr(m.content, 1, {OPENING_CHARACTERS}) FROM messages AS m
            WHERE m.session_id = s.id AND m.user_id = $1 AND m.role = 'user'
            ORDER BY m.id LIMIT 1
        ), '')
"""

_HAS_WORD: Final = """
    AND EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.session_id = s.id AND m.user_id = $1 AND m.status <> 'replaced'
            AND @position(lower(m.content), lower({word})) > 0
    )
"""
MAX_WORDS: Final = 5  # of a search; further words are ignored


_GET: Final = f"{_SELECT_SESSION} {_FROM_SESSIONS} AND s.id = $2"

_SELECT_MESSAGES: Final = f"""
    SELECT {MESSAGE.select} FROM messages
    WHERE session_id = $2 AND user_id = $1 AND status <> 'replaced'
    ORDER BY id LIMIT $3 OFFSET $4
"""

_SELECT_FILES: Final = """
    SELECT message_id, name, content_type FROM attachments
    WHERE session_id = $2 AND user_id = $1 AND message_id BETWEEN $3 AND $4
    ORDER BY message_id, position
"""

# The channels whose context has messages of the session.
_SELECT_CHANNELS: Final = """
    SELECT parent_channel_id FROM messages WHERE session_id = $2 AND user_id = $1 AND in_channel = 1
"""
_DELETE_MESSAGES: Final = "DELETE FROM messages WHERE session_id = $2 AND user_id = $1"
_DELETE_SESSION: Final = "DELETE FROM sessions WHERE user_id = $1 AND id = $2"


def _have_words(words: Sequence[str], *, first: int) -> str:
    return "".join(_HAS_WORD.format(word=f"${first + at}") for at in range(len(words)))


class ArchiveStore(Store):
    async def get_notification(self, discord_id: int) -> tuple[int, Message] | None:
        """Return the user and the reminder or heartbeat that a message shows; None if it shows neither."""
        sql = f"""
            SELECT m.user_id, {MESSAGE.with_alias("m")} FROM messages AS m
            WHERE m.discord_id = $1 AND m.session_id IS NULL AND m.user_id IS NOT NULL
                AND m.role = 'assistant' /* scope: all users */
        """
        rows = await self._database.query(sql, discord_id)
        return (rows[0][0], MESSAGE.read(rows[0][1:])) if rows else None

    async def get_last_notification(self, user_id: int, channel_id: int) -> Message | None:
        """Return the newest reminder or heartbeat of the last day; None if its user has written since."""
        sql = f"""
            SELECT {MESSAGE.with_alias("m")} FROM messages AS m
            WHERE m.user_id = $1 AND m.channel_id = $2 AND m.session_id IS NULL AND m.created_at >= $3
                AND NOT EXISTS (
                    SELECT 1 FROM sessions AS s
                    WHERE s.user_id = $1 AND s.channel_id = $2
                        AND s.last_active > @iso(m.created_at)
                )
            ORDER BY m.id DESC LIMIT 1
        """
        since = to_ms(self._clock() - MAX_NOTIFICATION_AGE)
        return MESSAGE.read_first(await self._database.query(sql, user_id, channel_id, since))

    async def list_keys(self, user_id: int, *, search: str = "") -> list[SessionKey]:
        """List the key of each session whose messages have all words of `search`."""
        words = search.split()[:MAX_WORDS]
        sql = f"""
            SELECT s.user_id, s.channel_id, s.agent {_FROM_SESSIONS} {_have_words(words, first=2)}
            ORDER BY s.created_at DESC, s.id DESC
        """
        rows = await self._database.read_long(Statement(sql, (user_id, *words)).as_transaction)
        return [*map(KEY.read, rows)]

    async def list_sessions(
        self,
        user_id: int,
        *,
        channel_id: int | None = None,
        agent: str | None = None,
        search: str = "",
        limit: int = 20,
        offset: int = 0,
    ) -> list[ArchivedSession]:
        """List the sessions, newest first, whose messages have all words of `search`."""
        words = search.split()[:MAX_WORDS]
        # $2 channel and $3 agent, or NULL for all
        sql = f"""
            {_SELECT_SESSION}
            {_FROM_SESSIONS} AND (CAST($2 AS BIGINT) IS NULL OR s.channel_id = $2)
                AND (CAST($3 AS TEXT) IS NULL OR s.agent = $3) {_have_words(words, first=6)}
            ORDER BY s.created_at DESC, s.id DESC LIMIT $4 OFFSET $5
        """
        listing = Statement(sql, (user_id, channel_id, agent, limit, offset, *words))
        rows = await self._database.read_long(listing.as_transaction)
        return [*map(_SESSION.read, rows)]

    async def get_session(self, user_id: int, session_id: str) -> ArchivedSession | None:
        """Return a session; None if it is missing or has no messages."""
        return _SESSION.read_first(await self._database.query(_GET, user_id, session_id))

    async def list_messages(
        self, user_id: int, session_id: str, *, limit: int = 50, offset: int = 0
    ) -> list[Message]:
        """List messages, oldest first, without replaced answers. Their files have no data."""
        rows = await self._database.query(_SELECT_MESSAGES, user_id, session_id, limit, offset)
        messages = [*map(MESSAGE.read, rows)]
        ids = [message.id for message in messages if message.id is not None]
        if not ids:
            return messages
        files: dict[int, tuple[Attachment, ...]] = {}
        file_rows = await self._database.query(_SELECT_FILES, user_id, session_id, ids[0], ids[-1])
        for id_, name, content_type in file_rows:
            files[id_] = (*files.get(id_, ()), Attachment(name, content_type, b""))
        return [replace(each, attachments=files.get(each.id or 0, ())) for each in messages]

    async def find_messages(self, user_id: int, session_ids: Sequence[str], word: str) -> dict[str, str]:
        """Return, by session, its first message that has the word."""
        ids = ", ".join(f"${3 + at}" for at in range(len(session_ids)))
        sql = f"""
            SELECT session_id, content FROM messages WHERE user_id = $1 AND id IN (
                SELECT min(m.id) FROM messages AS m
                WHERE m.user_id = $1 AND m.status <> 'replaced'
                    AND @position(lower(m.content), lower($2)) > 0 AND m.session_id IN ({ids})
                GROUP BY m.session_id
            )
        """
        rows = await self._database.query(sql, user_id, word, *session_ids)
        return {row[0]: row[1] for row in rows}

    async def hide_session(self, user_id: int, session_id: str) -> SessionKey | None:
        """Close a session and hide it from lists and prompts. Returns its key; None if the user has no such
        session. A turn that runs in the session will not be stored. Its channel's context keeps its messages
        until `delete_session`."""
        if key := await self._get_key(user_id, session_id):
            await self._database.write(partial(self._hide_session, key, session_id), [user_lock(user_id)])
        return key

    async def restore_session(self, user_id: int, session_id: str) -> SessionKey | None:
        """Undo `hide_session`, but leave the session closed. The canvas returns unless something was drawn
        since. Returns the key; None if the user has no such hidden session."""
        steps = partial(self._restore_session, user_id, session_id)
        return await self._database.write(steps, [user_lock(user_id)])

    async def list_hidden(self, user_id: int) -> list[ArchivedSession]:
        """List the sessions that can be restored."""
        sql = f"{_SELECT_SESSION} {_FROM_HIDDEN}"
        return [*map(_SESSION.read, await self._database.query(sql, user_id))]

    async def list_due(self, until: datetime) -> list[tuple[int, str]]:
        """List the users and ids of sessions hidden until then, to be deleted for good."""
        sql = "SELECT user_id, id FROM sessions WHERE deleted_at <= $1 /* scope: all users */"
        return [(user_id, id_) for user_id, id_ in await self._database.query(sql, to_text(until))]

    async def delete_session(self, user_id: int, session_id: str) -> SessionKey | None:
        """Delete a session for good. Returns its key; None if the user has no such session. SQLite's unused
        pages keep the texts until `MemoryRemovalStore.scrub`."""
        key = await self._get_key(user_id, session_id)
        if key is None:
            return None
        if self._log:
            await self._log.note("session", session_id)
        rows = await self._database.query(_SELECT_CHANNELS, user_id, session_id)
        lock_keys = {user_lock(user_id), *(channel_lock(id_) for (id_,) in rows)}
        await self._database.write(partial(self._delete_session, key, session_id), [*lock_keys])
        return key

    def _delete_session(self, key: SessionKey, session_id: str) -> Transaction[None]:
        user_and_session = (key.user_id, session_id)
        yield from self._hide_session(key, session_id)
        yield from forget_summaries_of(key, session_id)
        select_discord_ids = """
            SELECT discord_id FROM messages WHERE session_id = $2 AND user_id = $1 AND discord_id IS NOT NULL
        """
        rows = yield Statement(select_discord_ids, user_and_session)
        yield from run_all(delete_messages([discord_id for (discord_id,) in rows]))
        for sql in (_DELETE_MESSAGES, _DELETE_SESSION):
            yield Statement(sql, user_and_session)
        yield Statement(RECORD_ERASURE)

    async def _get_key(self, user_id: int, session_id: str) -> SessionKey | None:
        sql = f"SELECT {KEY.select} FROM sessions WHERE user_id = $1 AND id = $2"
        return KEY.read_first(await self._database.query(sql, user_id, session_id))

    def _hide_session(self, key: SessionKey, session_id: str) -> Transaction[None]:
        now, current = to_text(self._clock()), (yield from read_current_canvas(key))
        sql = """
            UPDATE sessions SET
                deleted_at = coalesce(deleted_at, $3), closed_at = coalesce(closed_at, $3), summarize = 0
            WHERE user_id = $1 AND id = $2
        """
        yield Statement(sql, (key.user_id, session_id, now))
        if current is not None and current.session_id == session_id and current.revision:
            # Otherwise its canvas, or that of an earlier session, would be the current one.
            next_id = str(uuid4())
            yield Statement(INSERT_SESSION, (*key_columns(key), next_id, now))
            yield from put_canvas(next_id, key, EMPTY_CANVAS)
        yield Statement(COUNT_SWITCH)

    def _restore_session(self, user_id: int, session_id: str) -> Transaction[SessionKey | None]:
        # A session that was open then counts as expired, so that it will be summarized.
        sql = f"""
            UPDATE sessions SET
                deleted_at = NULL, summarize = CASE WHEN closed_at = deleted_at THEN 1 ELSE 0 END
            WHERE user_id = $1 AND id = $2 AND deleted_at IS NOT NULL
            RETURNING {KEY.select}, canvas_state, canvas_revision
        """
        rows = yield Statement(sql, (user_id, session_id))
        if not rows:
            return None
        *_, state, revision = rows[0]
        key = KEY.read(rows[0])
        current = yield from read_current_canvas(key)
        if current and (current.state, current.revision) == (EMPTY_CANVAS, revision + 1):
            yield from put_canvas(current.session_id, key, state)
        yield Statement(COUNT_SWITCH)
        return key
