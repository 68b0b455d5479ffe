"""Conversations: what was said under each session key, and the window of it that a turn sees.

A turn is two trips to the database: `open` before the model is asked, and `commit_turn` after. No
transaction is held while the model thinks, and no conversation is kept in the process, so a restart changes
nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import StorageError
from cc_bot.domain.message import Message, Visibility
from cc_bot.domain.session import Session, SessionKey
from cc_bot.storage import Database, Row, Statement
from cc_bot.stores.attachments import (
    DELETE_ATTACHMENTS_NO_LONGER_SEEN,
    DELETE_ATTACHMENTS_OF_CLOSED,
    DELETE_ATTACHMENTS_OF_IDLE,
    insert_files,
)
from cc_bot.stores.columns import from_ms, to_ms, to_text
from cc_bot.stores.history import (
    PAGE_SIZE,
    SELECT_EARLIER,
    SELECT_FILES,
    SELECT_OPEN_SESSION,
    UNBOUNDED,
    Opening,
    Paging,
    has_files,
    has_question,
    message_id,
    opening,
    read_history,
    read_session,
    tail,
)
from cc_bot.stores.memory_calls import NOTE_CALLS, note_calls
from cc_bot.stores.message_columns import tool_calls_to_json
from cc_bot.stores.summaries import DELETE_SUMMARIES, STOP_SUMMARIZING
from cc_bot.stores.unscoped import CLOSE_EXPIRED, DELETE_EXPIRED_ATTACHMENTS

_BEGINNING_OF_TIME: Final = ""
_END_OF_TIME: Final = to_text(datetime.max.replace(tzinfo=UTC))

# Discord's id of it goes to the answer that takes its place, in the same message.
_MARK_REPLACED: Final = """
    UPDATE messages SET status = 'replaced', discord_id = NULL
    WHERE id = $3 AND session_id = $1 AND user_id = $2 AND role = 'assistant'
"""

# $1 user, $2 channel, $3 agent, $4 the last activity that is too long ago, $5 now
_CLOSE_IDLE: Final = """
    UPDATE sessions SET closed_at = $5
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL AND last_active <= $4
"""

# Who comes second finds the key taken and reads the first one's session.
_INSERT_SESSION: Final = """
    INSERT INTO sessions (user_id, channel_id, agent, id, created_at, last_active)
    VALUES ($1, $2, $3, $4, $5, $5)
    ON CONFLICT (user_id, channel_id, agent) WHERE closed_at IS NULL DO NOTHING
"""

# Taking owner and channel from the session's own row refuses a session that is not the user's.
_INSERT_MESSAGE: Final = """
    INSERT INTO messages (
        session_id, user_id, channel_id, parent_channel_id, author_id, author_name,
        discord_id, role, content, tool_calls, visibility, status, timestamp, created_at
    )
    SELECT id, user_id, channel_id, channel_id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11
    FROM sessions WHERE id = $1 AND user_id = $2
    RETURNING id
"""

# A session that was closed while the model was thinking stays closed, and one that expired stays expired.
_TOUCH: Final = """
    UPDATE sessions SET last_active = $3
    WHERE id = $1 AND user_id = $2 AND closed_at IS NULL AND last_active > $4
"""


class SessionStore:
    """The sessions of every key."""

    def __init__(
        self,
        database: Database,
        *,
        history_limit: int = 20,
        session_ttl: timedelta = timedelta(days=1),
        clock: Clock = utc_now,
        page_size: int = PAGE_SIZE,
    ) -> None:
        """`history_limit`: messages, 0 for no bound; `session_ttl`: the time without a turn until expiry;
        `page_size`: messages read at a time."""
        self._database = database
        self._limit = history_limit
        self._paging = Paging(history_limit, page_size)
        self._ttl = session_ttl
        self._clock = clock

    async def open(self, key: SessionKey, *, visibility: Visibility = "public", beyond: int = 0) -> Session:
        """The current session with its history, made when there is none or the last one has expired.

        `visibility` is that of the turn about to be made: the history of a public turn leaves out what was
        said in private. Of a long history this is the newest page; `more` tells, and `earlier` goes on.
        `beyond` is how many messages to read beyond the window: whoever takes the last turn apart to make it
        anew still has a whole window before it.
        """
        now, size = self._clock(), self._paging.next_page() + beyond
        idle_since = self._idle_since(now)
        rows = await self._database.query(SELECT_OPEN_SESSION, *_key(key), idle_since, visibility, size)
        found = opening(rows)
        if not found.tail:
            found = await self._renew(key, visibility, idle_since=idle_since, now=to_text(now))
        more = self._paging.may_continue(size, len(found.tail))
        session = read_session(found, key, more=more)
        if not has_files(found.tail) or not session.history:
            return session
        files = await self._files(session, found.tail, UNBOUNDED)
        return read_session(found, key, files, more=more)

    async def earlier(self, session: Session, *, visibility: Visibility = "public") -> Session:
        """The session with one more page of its history, if there is one.

        `visibility` is that of the turn, as in `open`.
        """
        if not session.more:
            return session
        known, rows, more = len(session.history), list[Row](), True
        start = before = (session.history[0].id if session.history else None) or UNBOUNDED
        while more and not has_question(rows):  # a history does not start with an answer
            size = self._paging.next_page(known + len(rows))
            page = await self._database.query(
                SELECT_EARLIER, session.key.user_id, session.id, visibility, before, size
            )
            more = self._paging.may_continue(size, len(page), known + len(rows))
            rows.extend(page)
            before = message_id(rows[-1]) if rows else before
        files = await self._files(session, rows, start) if rows and has_files(rows) else ()
        return replace(session, history=(*read_history(rows, files), *session.history), more=more)

    async def clear(self, key: SessionKey) -> Session:
        """Close the open session, if any, and open a new one with nothing in it, and nothing before it."""
        forget = [Statement(sql, _key(key)) for sql in (DELETE_SUMMARIES, STOP_SUMMARIZING)]
        now = to_text(self._clock())
        found = await self._renew(key, "public", idle_since=_END_OF_TIME, now=now, first=forget)
        return read_session(found, key)

    async def expire(self) -> int:
        """Close every session that has been idle for too long, and tell how many there were.

        Their messages stay in the archive and are no longer read; their attachments are deleted.
        """
        now = self._clock()
        idle_since = self._idle_since(now)
        [_, closed] = await self._database.transaction(
            [
                Statement(DELETE_EXPIRED_ATTACHMENTS, (idle_since,)),
                Statement(CLOSE_EXPIRED, (idle_since, to_text(now))),
            ]
        )
        return len(closed)

    async def commit_turn(
        self, session: Session, messages: Sequence[Message], *, replaces: int | None = None
    ) -> Session:
        """Store a turn, whole or not at all, and return the session with it.

        `replaces` is the id of an answer of this session that the turn's answer takes the place of: it
        stays in the archive and leaves the history. The returned messages carry their ids and times. A
        session that was closed or has expired in the meantime gets the turn and is not opened again. What
        another turn stored since `open` shows at the next `open`.

        Raises StorageError, also when the session is not its key's user's.
        """
        stored = await self.archive_turn(session, messages, replaces=replaces)
        before = [message for message in session.history if not _is_answer(message, replaces)]
        size = self._paging.next_page()
        return replace(
            session,
            history=tail([*before, *stored], size),
            last_active=(stored[-1].created_at if stored else None) or session.last_active,
            more=session.more or self._paging.may_continue(size, min(size, len(before) + len(stored))),
        )

    async def archive_turn(
        self, session: Session, messages: Sequence[Message], *, replaces: int | None = None
    ) -> tuple[Message, ...]:
        """The same as `commit_turn`; what is returned are the messages as they were stored, which also a
        history too short for them does not lose."""
        messages = tuple(messages)
        now = from_ms(to_ms(self._clock()))  # as it is read back
        batch = self._commit(session, messages, replaces, now)
        results = await self._database.transaction(batch)
        ids = [
            _stored_id(rows)
            for statement, rows in zip(batch, results, strict=True)
            if statement.sql is _INSERT_MESSAGE
        ]
        return tuple(
            replace(message, id=id_, created_at=now, author_id=_author(message, session.key))
            for message, id_ in zip(messages, ids, strict=True)
        )

    async def _files(self, session: Session, rows: Sequence[Row], before: int) -> Sequence[Row]:
        owned = (session.id, session.key.user_id)
        return await self._database.query(SELECT_FILES, *owned, message_id(rows[-1]), before)

    def _idle_since(self, now: datetime) -> str:
        """The last moment of activity that is too long ago."""
        try:
            return to_text(now - self._ttl)
        except OverflowError:  # a time to live of thousands of years: sessions never expire
            return _BEGINNING_OF_TIME

    def _commit(
        self, session: Session, turn: Sequence[Message], replaces: int | None, now: datetime
    ) -> list[Statement]:
        owned = (session.id, session.key.user_id)
        batch = [] if replaces is None else [Statement(_MARK_REPLACED, (*owned, replaces))]
        for message in turn:
            batch.append(_insert(owned, message, _author(message, session.key), to_ms(now)))
            batch.extend(note_calls(NOTE_CALLS, *owned, message.tool_calls))
            batch.extend(insert_files(owned, message))
        batch.append(Statement(_TOUCH, (*owned, to_text(now), self._idle_since(now))))
        if self._limit:
            batch.append(Statement(DELETE_ATTACHMENTS_NO_LONGER_SEEN, (*owned, self._limit)))
        if any(message.attachments for message in turn):
            batch.append(Statement(DELETE_ATTACHMENTS_OF_CLOSED, owned))
        return batch

    async def _renew(
        self,
        key: SessionKey,
        visibility: Visibility,
        *,
        idle_since: str,
        now: str,
        first: Sequence[Statement] = (),
    ) -> Opening:
        """Close the session if it has been idle since then, see that there is one, and read it."""
        columns = _key(key)
        results = await self._database.transaction(
            [
                *first,
                Statement(DELETE_ATTACHMENTS_OF_IDLE, (*columns, idle_since)),
                Statement(_CLOSE_IDLE, (*columns, idle_since, now)),
                Statement(_INSERT_SESSION, (*columns, str(uuid4()), now)),
                Statement(
                    SELECT_OPEN_SESSION,
                    (*columns, _BEGINNING_OF_TIME, visibility, self._paging.next_page()),
                ),
            ]
        )
        return opening(results[-1])


def _key(key: SessionKey) -> tuple[int, int, str]:
    return (key.user_id, key.channel_id, key.agent)


def _author(message: Message, key: SessionKey) -> int:
    """Who wrote it; a question of nobody in particular is the user's."""
    return message.author_id or (key.user_id if message.role == "user" else 0)


def _is_answer(message: Message, id_: int | None) -> bool:
    return id_ is not None and message.id == id_ and message.role == "assistant"


def _insert(owned: tuple[str, int], message: Message, author_id: int, ms: int) -> Statement:
    columns = (
        author_id,
        message.author_name,
        message.discord_id,
        message.role,
        message.content,
        tool_calls_to_json(message.tool_calls),
        message.visibility,
        message.status,
        ms,
    )
    return Statement(_INSERT_MESSAGE, (*owned, *columns))


def _stored_id(rows: Sequence[Row]) -> int:
    if not rows:
        raise StorageError  # the session is not this user's, or is no longer there
    return int(rows[0][0])
