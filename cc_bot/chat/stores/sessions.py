"""Stores sessions: a user's conversation in a channel, and the history that a turn's prompt shows.

The history is the tail of the archive, read in one query: a JSON copy made a turn cost 2.9 times as much. No
transaction is open while the model is asked.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import dropwhile
from typing import Final, NamedTuple
from uuid import uuid4

from cc_bot.chat.drawing import Redraw
from cc_bot.chat.stores.blocks import THAW_FROM, thaw_sql
from cc_bot.chat.stores.canvases import NEWEST_CLOSED, clear_canvas, put_canvas, read_current, select_current
from cc_bot.chat.stores.files import (
    DELETE_ATTACHMENTS_OF_CLOSED,
    DELETE_ATTACHMENTS_OF_IDLE,
    UNBOUNDED,
    free_files,
    insert_files,
    make_room,
    with_files,
)
from cc_bot.chat.stores.ledger import MARK_TURN_ANSWERED, QUESTION_OF
from cc_bot.chat.stores.proposals import DELETE_OF_ANSWER, PROPOSAL, insert_proposals
from cc_bot.chat.stores.summaries import DELETE_SUMMARIES, STOP_SUMMARIZING
from cc_bot.chat.stores.usage import Settlement, settle_stored
from cc_bot.db import MAINTENANCE_LOCK, Database, Row, Statement, Transaction, user_lock
from cc_bot.db.columns import (
    MESSAGE,
    Columns,
    Parameters,
    channel_locks,
    from_ms,
    idle_since,
    key_columns,
    to_ms,
    to_text,
)
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ConversationGone, StorageError
from cc_bot.domain.message import FILE_QUOTA, ChannelKey, FileQuota, Message, Reference, Role, Visibility
from cc_bot.domain.proposal import Proposal, ProposedCalls
from cc_bot.domain.session import EMPTY_CANVAS, PromptNote, Session, SessionKey
from cc_bot.features.memory.stores.rows import fill_in_texts

# ruff: noqa: S608 - SQL is built from constants


class _SessionMessage(NamedTuple):
    replied: str | None  # the beginning of the message that it replies to, if the turn may show it
    replied_role: Role | None
    message: Message


MAX_REPLIED_CHARACTERS: Final = 100
_MESSAGE_ROW: Final = Columns(_SessionMessage, message=MESSAGE)

_MESSAGE_ROW_COLUMNS: Final = f"substr(r.content, 1, {MAX_REPLIED_CHARACTERS}), r.role, {MESSAGE.of('m')}"

# Replies to messages of this user and the bot only.
_JOIN_REPLIED: Final = """
    LEFT JOIN messages AS r
        ON r.discord_id = m.reply_to AND r.user_id = $1 AND r.visibility IN ('public', {visibility})
"""


def _part_columns(id_: str, role: str, **columns: str) -> str:
    """Return the columns of one part of the result."""
    return _MESSAGE_ROW.select_values(id=id_, role=f"'{role}'", **columns)


# $4 the last activity that is too long ago
_IS_OPEN: Final = """
    user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL AND last_active > $4
"""

# A subquery, so that PostgreSQL reads the index backwards. A public turn sees only public messages.
_SELECT_TAIL: Final = f"""
    SELECT {_MESSAGE_ROW_COLUMNS}
    FROM messages AS m
    {_JOIN_REPLIED.format(visibility="$5")}
    WHERE m.user_id = $1 AND m.status <> 'replaced' AND m.visibility IN ('public', $5)
        AND m.session_id = (SELECT id FROM sessions WHERE {_IS_OPEN})
    ORDER BY m.id DESC
    LIMIT $6
"""

_SESSION_COLUMNS: Final = _part_columns(
    *("0", "session"),
    content="s.id",
    author_name="s.created_at",
    heard="s.last_active",
    tainted="""
        CASE WHEN EXISTS (
            SELECT 1 FROM attachments AS a WHERE a.session_id = s.id AND a.user_id = $1
        ) THEN 1 ELSE 0 END
    """,
)
_SELECT_SESSION: Final = f"SELECT {_SESSION_COLUMNS} FROM sessions AS s WHERE {_IS_OPEN}"

_FROM_LAST_EXPIRED: Final = """
    FROM sessions
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND summarize = 1 AND closed_at IS NOT NULL
    ORDER BY closed_at DESC LIMIT 1
"""

_UNSUMMARIZED_COLUMNS: Final = _part_columns(
    *("m.id", "unsummarized"), content="m.content", visibility="m.visibility", tainted="m.tainted"
)
# User messages of an expired session that are not summarized yet.
_SELECT_UNSUMMARIZED: Final = f"""
    SELECT {_UNSUMMARIZED_COLUMNS}
    FROM messages AS m
    WHERE m.user_id = $1 AND m.role = 'user' AND m.visibility IN ('public', $5)
        AND m.session_id = (SELECT id {_FROM_LAST_EXPIRED})
        AND m.id > (SELECT summarized_to {_FROM_LAST_EXPIRED})
    ORDER BY m.id DESC
    LIMIT 20
"""

_SELECT_SUMMARIES: Final = f"""
    SELECT {_part_columns("id", "summary", content="content", visibility="visibility", tainted="tainted")}
    FROM summaries
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND visibility IN ('public', $5)
"""

_SELECT_CANVAS: Final = f"""
    SELECT {_part_columns("0", "canvas", content="canvas_state")}
    FROM sessions
    WHERE {_IS_OPEN} AND canvas_state <> '{EMPTY_CANVAS}'
"""

# Five parts in one trip, which differ in `role`; a join would repeat the session with every message.
_SELECT_OPEN_SESSION: Final = f"""
    SELECT * FROM ({_SELECT_TAIL}) AS tail
    UNION ALL
    {_SELECT_SESSION}
    UNION ALL
    SELECT * FROM ({_SELECT_UNSUMMARIZED}) AS unsummarized
    UNION ALL
    {_SELECT_SUMMARIES}
    UNION ALL
    {_SELECT_CANVAS}
"""

_THAW_REPLACED: Final = thaw_sql("m.id = $3 AND m.session_id = $1 AND m.user_id = $2 AND m.in_channel = 1")

_MESSAGE_PARAMETERS: Final = Parameters(
    (name for name in MESSAGE.names if name not in ("id", "created_at")), first=7
)

# Owner and channel come from the session's row, so another user's session is refused. $6 the replaced answer
_INSERT_MESSAGE: Final = f"""
    INSERT INTO messages (
        session_id, user_id, channel_id, parent_channel_id, thread_id, in_channel, timestamp, created_at,
        {_MESSAGE_PARAMETERS.names}
    )
    SELECT
        s.id, s.user_id, s.channel_id, coalesce(r.parent_channel_id, $4, s.channel_id),
        coalesce(r.thread_id, $5, 0),
        coalesce(r.in_channel, CASE WHEN CAST($4 AS BIGINT) IS NULL THEN 0 ELSE 1 END),
        $3, $3, {_MESSAGE_PARAMETERS.placeholders}
    FROM sessions AS s
    LEFT JOIN messages AS r ON r.id = $6 AND r.user_id = $2
    WHERE s.id = $1 AND s.user_id = $2
    RETURNING id
"""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    messages: tuple[Message, ...]
    canvas: str | None = None
    proposals: tuple[Proposal, ...] = ()
    files_deleted: int = 0  # older files of the user that were deleted to make room


def _apply_redraw(session: Session, redraw: Redraw) -> Transaction[str | None]:
    """Change the current canvas and return it; None if nothing changed, or if another session has the canvas
    (after `/clear`)."""
    current = read_current((yield select_current(session.key)))
    if current is not None and current.session_id != session.id:
        return None
    before = current.state if current else EMPTY_CANVAS
    after = redraw(before)
    if after == before:
        return None
    yield from put_canvas(session.id, session.key, after)
    return after


_BEGINNING_OF_TIME: Final = ""
_END_OF_TIME: Final = to_text(datetime.max.replace(tzinfo=UTC))

# The new session takes over the canvas.
INSERT_SESSION: Final = f"""
    INSERT INTO sessions (
        user_id, channel_id, agent, id, created_at, last_active, active_hour, canvas_state, canvas_revision
    )
    VALUES (
        $1, $2, $3, $4, $5, $5, substr($5, 1, 13),
        COALESCE((SELECT canvas_state FROM sessions {NEWEST_CLOSED}), '{EMPTY_CANVAS}'),
        COALESCE((SELECT canvas_revision FROM sessions {NEWEST_CLOSED}), 0)
    )
    ON CONFLICT (user_id, channel_id, agent) WHERE closed_at IS NULL DO NOTHING
"""


_PAGE_SIZE: Final = 200

_message_id, _role, _content = map(_MESSAGE_ROW.column, ("id", "role", "content"))
_visibility, _tainted = map(_MESSAGE_ROW.column, ("visibility", "tainted"))
_opened_at, _last_active, _has_files = map(_MESSAGE_ROW.column, ("author_name", "heard", "tainted"))


SessionRows = Mapping[str, Sequence[Row]]
"""The rows of _SELECT_OPEN_SESSION by part, newest first."""


def _split_by_part(rows: Sequence[Row]) -> SessionRows:
    parts = defaultdict[str, list[Row]](list)
    for row in sorted(rows, key=_message_id, reverse=True):
        role = _role(row)
        parts["messages" if role in ("user", "assistant") else role].append(row)
    return parts


def _has_question(rows: Sequence[Row]) -> bool:
    return any(_role(row) == "user" for row in rows)


def _read_session(parts: SessionRows, key: SessionKey, now: datetime, *, more: bool = False) -> Session:
    """Return the open session without files, or a new one that is not stored."""
    session = next(iter(parts["session"]), None)
    return Session(
        id=_content(session) if session else "",
        key=key,
        history=_read_history(parts["messages"]),
        created_at=datetime.fromisoformat(_opened_at(session)) if session else now,
        last_active=datetime.fromisoformat(_last_active(session)) if session else now,
        more=more,
        has_files=session is None or bool(_has_files(session)),
        summaries=_prompt_notes(parts["summary"]),
        unsummarized=_prompt_notes(parts["unsummarized"]),
        canvas=_content(parts["canvas"][0]) if parts["canvas"] else EMPTY_CANVAS,
    )


def _read_history(rows: Sequence[Row]) -> tuple[Message, ...]:
    """The rows are newest first, the messages oldest first."""
    messages, last_id = list[Message](), None
    for row in reversed(rows):
        message = _read_message(row)
        messages.append(message.below(last_id) if message.references else message)
        last_id = message.discord_id
    return last_messages(messages, 0)


def _read_message(row: Row) -> Message:
    replied, replied_role, message = _MESSAGE_ROW.read(row)
    if message.reply_to is None or message.role == "assistant":
        return message
    name = message.author_name if replied_role == "user" else ""
    reference = Reference(
        message.pointing, replied or "", name, message.author_id, shown=replied is not None, tainted=False
    )
    return replace(message, references=(reference,))


def last_messages(messages: Iterable[Message], limit: int) -> tuple[Message, ...]:
    """Return the last `limit` messages (0: all), never starting with an answer."""
    last = tuple(messages)[-limit:]  # [-0:] is everything
    return tuple(dropwhile(lambda message: message.role == "assistant", last))


def _prompt_notes(rows: Sequence[Row]) -> tuple[PromptNote, ...]:
    return tuple(PromptNote(_visibility(row), _content(row), bool(_tainted(row))) for row in reversed(rows))


@dataclass(eq=False, slots=True)
class SessionStore:
    database: Database
    _: KW_ONLY
    history_limit: int = 20  # messages; 0 for no limit
    session_ttl: timedelta = timedelta(days=1)
    clock: Clock = utc_now
    page_size: int = _PAGE_SIZE  # messages per read
    file_quota: FileQuota = FILE_QUOTA

    async def open(
        self, key: SessionKey, *, visibility: Visibility = "public", extra: int = 0, store: bool = True
    ) -> Session:
        """Return the current session with its history, or a new one if there is none or it has expired.
        Without `store`, a new session is not stored. The history of a `public` turn has no private messages.
        Only its newest page is read; `more` tells whether `load_earlier` has more. `extra`: messages beyond
        the limit."""
        now, size = self.clock(), self._next_page_size() + extra
        idle_cutoff = idle_since(now, self.session_ttl)
        columns = (*key_columns(key), idle_cutoff, visibility, size)
        rows = await self.database.query(_SELECT_OPEN_SESSION, *columns)
        parts = _split_by_part(rows)
        if store and not parts["session"]:
            parts = await self._renew_session(key, visibility, idle_cutoff=idle_cutoff, now=to_text(now))
        newest = parts["messages"]
        session = _read_session(parts, key, now, more=self._may_have_more(size, len(newest)))
        return replace(session, history=await self._complete(session, session.history))

    async def load_earlier(self, session: Session, *, visibility: Visibility = "public") -> Session:
        """Return the session with one more page of its history, if there is one."""
        if not session.more:
            return session
        loaded, rows, more = len(session.history), list[Row](), True
        start = before = (session.history[0].id if session.history else None) or UNBOUNDED
        sql = f"""
            SELECT {_MESSAGE_ROW_COLUMNS}
            FROM sessions AS s
            JOIN messages AS m
                ON m.session_id = s.id AND m.user_id = $1 AND m.id < $4
                AND m.status <> 'replaced' AND m.visibility IN ('public', $3)
            {_JOIN_REPLIED.format(visibility="$3")}
            WHERE s.id = $2 AND s.user_id = $1 AND s.closed_at IS NULL
            ORDER BY m.id DESC
            LIMIT $5
        """
        while more and not _has_question(rows):  # a history does not start with an answer
            size = self._next_page_size(loaded + len(rows))
            page = await self.database.query(sql, session.key.user_id, session.id, visibility, before, size)
            more = self._may_have_more(size, len(page), loaded + len(rows))
            rows.extend(page)
            before = _message_id(rows[-1]) if rows else before
        earlier = await self._complete(session, _read_history(rows), before=start, following=session.history)
        return replace(session, history=(*earlier, *session.history), more=more)

    async def _complete(
        self,
        session: Session,
        messages: tuple[Message, ...],
        *,
        before: int = UNBOUNDED,
        following: Sequence[Message] = (),
    ) -> tuple[Message, ...]:
        found = await with_files(self.database, session, messages, before=before, following=following)
        return await fill_in_texts(self.database, session.key.user_id, found)

    async def get_question(self, user_id: int, answer_id: int) -> Message | None:
        """Return the question of an answer, without files; None if it is missing."""
        sql = f"SELECT {MESSAGE.of('q')} {QUESTION_OF}"
        return MESSAGE.first(await self.database.query(sql, user_id, answer_id))

    async def clear(self, key: SessionKey) -> Session:
        deletions = [Statement(sql, key_columns(key)) for sql in (DELETE_SUMMARIES, STOP_SUMMARIZING)]
        deletions += clear_canvas(key)
        now = self.clock()
        parts = await self._renew_session(
            key, "public", idle_cutoff=_END_OF_TIME, now=to_text(now), changes=deletions
        )
        return _read_session(parts, key, now)

    async def expire(self) -> int:
        """Close every idle session and delete its attachments. Returns the number of closed sessions."""
        now = self.clock()
        idle_cutoff = idle_since(now, self.session_ttl)

        def steps() -> Transaction[int]:
            sql = """
                UPDATE sessions SET closed_at = $2
                WHERE closed_at IS NULL AND active_hour <= substr($1, 1, 13) AND last_active <= $1
                RETURNING id /* all users */
            """
            closed = [id_ for (id_,) in (yield Statement(sql, (idle_cutoff, to_text(now))))]
            if closed:
                yield Statement(DELETE_ATTACHMENTS_OF_CLOSED, (json.dumps(closed),))
            return len(closed)

        return await self.database.write(steps, [MAINTENANCE_LOCK])

    async def commit_turn(
        self,
        session: Session,
        messages: Sequence[Message],
        *,
        replaces: int | None = None,
        redraw: Redraw | None = None,
    ) -> Session:
        """Store a turn in one transaction, and return the session with it. Raises StorageError and
        ConversationGone. `replaces`: the answer to remove from the history. A session that was closed
        meanwhile still gets the turn, and stays closed."""
        stored = await self.archive_turn(session, messages, replaces=replaces, redraw=redraw)
        history = session.history
        if replaces:
            history = tuple(each for each in history if (each.id, each.role) != (replaces, "assistant"))
        size = self._next_page_size()
        added = stored.messages
        return replace(
            session,
            history=last_messages([*history, *added], size),
            last_active=(added[-1].created_at if added else None) or session.last_active,
            more=session.more or self._may_have_more(size, min(size, len(history) + len(added))),
            has_files=session.has_files or any(message.attachments for message in added),
            canvas=session.canvas if stored.canvas is None else stored.canvas,
        )

    async def archive_turn(
        self,
        session: Session,
        messages: Sequence[Message],
        *,
        replaces: int | None = None,
        redraw: Redraw | None = None,
        entry: str = "",
        proposals: Sequence[ProposedCalls] = (),
        settlement: Settlement | None = None,
        channel: ChannelKey | None = None,
    ) -> StoredTurn:
        """Store a turn as `commit_turn` does. `entry`: the turn's id in the ledger. `channel`: that of a
        public turn; messages with a Discord id then belong to its context. Raises ValueError for private
        ones."""
        if channel and any(message.visibility == "private" for message in messages):
            raise ValueError("a private message belongs to no channel")
        now_ms = to_ms(self.clock())
        now = from_ms(now_ms)  # with the precision of the database
        user_id = session.key.user_id
        session_and_user = (session.id, user_id)
        locks = (user_lock(user_id), *(channel_locks(channel) if channel else ()))

        def steps() -> Transaction[tuple[StoredTurn, bool]]:
            ids = [message.discord_id for message in messages if message.discord_id is not None]
            if channel and ids:
                yield Statement(THAW_FROM, (channel.channel_id, channel.thread_id, min(ids)))
            if replaces is not None:
                # The new answer, shown in the same message, takes over the Discord id.
                mark_replaced = """
                    UPDATE messages SET status = 'replaced', discord_id = NULL
                    WHERE id = $3 AND session_id = $1 AND user_id = $2 AND role = 'assistant'
                """
                yield Statement(_THAW_REPLACED, (*session_and_user, replaces))
                yield Statement(mark_replaced, (*session_and_user, replaces))
                yield Statement(DELETE_OF_ANSWER, (user_id, replaces))
            added, proposal_rows = list[Message](), list[Row]()
            channel_ids = (channel.channel_id, channel.thread_id) if channel else (None, None)
            for message in messages:
                author_id = message.author_id or (user_id if message.role == "user" else 0)
                tainted = message.taints
                columns = MESSAGE.write(message) | {"author_id": author_id, "tainted": int(tainted)}
                rows = yield Statement(
                    _INSERT_MESSAGE,
                    (*session_and_user, now_ms, *channel_ids, replaces, *_MESSAGE_PARAMETERS.of(columns)),
                )
                if not rows:  # the session is not this user's, or was deleted
                    raise ConversationGone
                added.append(
                    replace(message, created_at=now, author_id=author_id, tainted=tainted, id=int(rows[0][0]))
                )
                for insert in insert_files(session_and_user, message):
                    yield insert
            visibility = messages[-1].visibility
            for insert in insert_proposals(session.key, session.id, proposals, now, visibility=visibility):
                proposal_rows += yield insert
            # Leaves a session that was closed or has expired meanwhile.
            touch = """
                UPDATE sessions SET last_active = $3, active_hour = substr($3, 1, 13)
                WHERE id = $1 AND user_id = $2 AND closed_at IS NULL AND last_active > $4
            """
            yield Statement(touch, (*session_and_user, to_text(now), idle_since(now, self.session_ttl)))
            deleted, is_full = yield from make_room(session, messages, self.history_limit, self.file_quota)
            if entry:
                yield Statement(MARK_TURN_ANSWERED, (entry, user_id, session.id, messages[-1].discord_id))
            if settlement:
                yield from settle_stored(settlement)
            # Last, as turns that change a canvas wait here for each other (canvas_clock).
            canvas = (yield from _apply_redraw(session, redraw)) if redraw else None
            return StoredTurn(
                tuple(added), canvas, tuple(map(PROPOSAL.read, proposal_rows)), deleted
            ), is_full

        stored, is_full = await self.database.write(steps, locks)
        if is_full:
            with suppress(StorageError):  # the turn is stored, and the next turn with a file retries
                limit = self.file_quota.total_bytes
                await self.database.write(lambda: free_files(limit), [MAINTENANCE_LOCK])
        return stored

    def _next_page_size(self, loaded: int = 0) -> int:
        """Return how many messages to read next; 0 if the history is complete."""
        return (
            max(0, min(self.page_size, self.history_limit - loaded)) if self.history_limit else self.page_size
        )

    def _may_have_more(self, limit: int, read: int, loaded: int = 0) -> bool:
        return read == limit and self._next_page_size(loaded + read) > 0

    async def _renew_session(
        self,
        key: SessionKey,
        visibility: Visibility,
        *,
        idle_cutoff: str,
        now: str,
        changes: Sequence[Statement] = (),
    ) -> SessionRows:
        columns = key_columns(key)
        sql = """
            UPDATE sessions SET closed_at = $5
            WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL AND last_active <= $4
        """
        results = await self.database.transaction(
            [
                *changes,
                Statement(DELETE_ATTACHMENTS_OF_IDLE, (*columns, idle_cutoff)),
                Statement(sql, (*columns, idle_cutoff, now)),
                Statement(INSERT_SESSION, (*columns, str(uuid4()), now)),
                Statement(
                    _SELECT_OPEN_SESSION, (*columns, _BEGINNING_OF_TIME, visibility, self._next_page_size())
                ),
            ],
            [user_lock(key.user_id)],
        )
        return _split_by_part(results[-1])
