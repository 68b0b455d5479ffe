"""Stores sessions: the conversations of a user in a channel. A prompt's history is read from the messages: a
copy in the session's row made a turn write 2.9 times as many bytes."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import dropwhile
from typing import Any, Final, NamedTuple
from uuid import uuid4

from cc_bot.chat.drawing import Redraw
from cc_bot.chat.stores.blocks import THAW_FROM, thaw_sql
from cc_bot.chat.stores.canvases import WHERE_NEWEST_CLOSED, clear_canvas, put_canvas, read_current_canvas
from cc_bot.chat.stores.files import (
    AFTER_ALL_IDS,
    DELETE_ATTACHMENTS_OF_CLOSED,
    DELETE_ATTACHMENTS_OF_IDLE,
    free_files,
    insert_files,
    make_room,
    with_files,
)
from cc_bot.chat.stores.ledger import FROM_QUESTION, MARK_TURN_ANSWERED
from cc_bot.chat.stores.proposals import DELETE_PROPOSALS_OF_ANSWER, PROPOSAL, insert_proposals
from cc_bot.chat.stores.summaries import DELETE_SUMMARIES, NONE_DELETED, STOP_SUMMARIZING
from cc_bot.chat.stores.usage import Settlement, settle_stored
from cc_bot.db import MAINTENANCE_LOCK, Database, Row, Statement, Transaction, run_all, user_lock
from cc_bot.db.columns import (
    MESSAGE,
    Columns,
    Parameters,
    channel_locks,
    from_ms,
    get_idle_cutoff,
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
    replied_text: str | None  # beginning of the message replied to, if the turn may show it
    replied_role: Role | None
    message: Message


MAX_REPLIED_CHARACTERS: Final = 100
_MESSAGE_ROW: Final = Columns(_SessionMessage, message=MESSAGE)

_ROW_COLUMNS: Final = f"substr(r.content, 1, {MAX_REPLIED_CHARACTERS}), r.role, {MESSAGE.with_alias('m')}"

# The message that was replied to, if it is in this user's sessions.
_JOIN_REPLIED: Final = """
    LEFT JOIN messages AS r
        ON r.discord_id = m.reply_to AND r.user_id = $1 AND r.visibility IN ('public', {visibility})
"""


# The five parts of _SELECT_OPEN_SESSION have the columns of a message. A row of another kind has that
# kind in `role`, and its values in other columns of the same types.
def _part_columns(id_: str, kind: str, **columns: str) -> str:
    return _MESSAGE_ROW.select_values(id=id_, role=f"'{kind}'", **columns)


# $4 idle_cutoff
_IS_OPEN: Final = """
    user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL AND last_active > $4
"""

# With a subquery for the session, PostgreSQL reads the index backwards. A public turn ($5) sees only public
# messages.
_SELECT_TAIL: Final = f"""
    SELECT {_ROW_COLUMNS}
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
_opened_at, _last_active, _has_files = map(_MESSAGE_ROW.getter, ("author_name", "heard", "tainted"))
_SELECT_SESSION: Final = f"SELECT {_SESSION_COLUMNS} FROM sessions AS s WHERE {_IS_OPEN}"

# A session that was cleared instead has `summarize = 0`.
_FROM_LAST_EXPIRED: Final = """
    FROM sessions
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND summarize = 1 AND closed_at IS NOT NULL
    ORDER BY closed_at DESC LIMIT 1
"""

_UNSUMMARIZED_COLUMNS: Final = _part_columns(
    *("m.id", "unsummarized"), content="m.content", visibility="m.visibility", tainted="m.tainted"
)
# The user's messages of the last expired session that are in no summary yet.
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
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND visibility IN ('public', $5) AND {NONE_DELETED}
"""

_SELECT_CANVAS: Final = f"""
    SELECT {_part_columns("0", "canvas", content="canvas_state")}
    FROM sessions
    WHERE {_IS_OPEN} AND canvas_state <> '{EMPTY_CANVAS}'
"""

# A join would repeat the session with every message.
_SELECT_OPEN_SESSION: Final = f"""
    SELECT * FROM ({_SELECT_TAIL}) AS tail
    UNION ALL {_SELECT_SESSION}
    UNION ALL SELECT * FROM ({_SELECT_UNSUMMARIZED}) AS unsummarized
    UNION ALL {_SELECT_SUMMARIES}
    UNION ALL {_SELECT_CANVAS}
"""

_THAW_REPLACED: Final = thaw_sql("m.id = $3 AND m.session_id = $1 AND m.user_id = $2 AND m.in_channel = 1")

_MESSAGE_PARAMETERS: Final = Parameters(
    (name for name in MESSAGE.names if name not in ("id", "created_at")), first=7
)

# Inserts nothing if the session is another user's or deleted. $1 session, $2 user, $3 now, $4 channel and $5
# thread whose context gets the message (NULL: none), $6 the replaced answer
_INSERT_MESSAGE: Final = f"""
    INSERT INTO messages (
        session_id, user_id, channel_id, parent_channel_id, thread_id, in_channel, timestamp, created_at,
        {_MESSAGE_PARAMETERS.names}
    )
    SELECT
        s.id, s.user_id, s.channel_id, coalesce(old.parent_channel_id, $4, s.channel_id),
        coalesce(old.thread_id, $5, 0),
        coalesce(old.in_channel, CASE WHEN CAST($4 AS BIGINT) IS NULL THEN 0 ELSE 1 END),
        $3, $3, {_MESSAGE_PARAMETERS.placeholders}
    FROM sessions AS s
    LEFT JOIN messages AS old ON old.id = $6 AND old.user_id = $2
    WHERE s.id = $1 AND s.user_id = $2 AND s.deleted_at IS NULL
    RETURNING id
"""


# The new answer, shown in the same Discord message, takes over its id.
_MARK_REPLACED: Final = """
    UPDATE messages SET status = 'replaced', discord_id = NULL
    WHERE id = $3 AND session_id = $1 AND user_id = $2 AND role = 'assistant'
"""


def _insert_message(message: Message, params: tuple[Any, ...]) -> Transaction[Message]:
    """Insert a message and its files. `params`: $1 to $6 of _INSERT_MESSAGE. Raises ConversationGone."""
    session_id, user_id, now_ms = params[:3]
    author_id = message.author_id or (user_id if message.role == "user" else 0)
    tainted = message.is_tainting  # also by files and references, which are in other tables
    columns = MESSAGE.write(message) | {"author_id": author_id, "tainted": int(tainted)}
    rows = yield Statement(_INSERT_MESSAGE, (*params, *_MESSAGE_PARAMETERS.pick(columns)))
    if not rows:
        raise ConversationGone
    yield from run_all(insert_files((session_id, user_id), message))
    now = from_ms(now_ms)
    return replace(message, created_at=now, author_id=author_id, tainted=tainted, id=int(rows[0][0]))


@dataclass(frozen=True, slots=True)
class StoredTurn:
    messages: tuple[Message, ...]
    canvas: str | None = None
    proposals: tuple[Proposal, ...] = ()
    files_deleted: int = 0  # older files of the user that were deleted to make room


def _apply_redraw(session: Session, redraw: Redraw) -> Transaction[str | None]:
    """Change the current canvas and return it. Returns None if nothing changed, or if a newer session has the
    canvas, as after `/clear`."""
    current = yield from read_current_canvas(session.key)
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
        COALESCE((SELECT canvas_state FROM sessions {WHERE_NEWEST_CLOSED}), '{EMPTY_CANVAS}'),
        COALESCE((SELECT canvas_revision FROM sessions {WHERE_NEWEST_CLOSED}), 0)
    )
    ON CONFLICT (user_id, channel_id, agent) WHERE closed_at IS NULL DO NOTHING
"""


_PAGE_SIZE: Final = 200

_message_id, _role, _content = map(_MESSAGE_ROW.getter, ("id", "role", "content"))
_visibility, _tainted = map(_MESSAGE_ROW.getter, ("visibility", "tainted"))


SessionRows = Mapping[str, Sequence[Row]]
"""The rows of _SELECT_OPEN_SESSION by kind, newest first."""


def _split_by_kind(rows: Sequence[Row]) -> SessionRows:
    parts = defaultdict[str, list[Row]](list)
    for row in sorted(rows, key=_message_id, reverse=True):
        kind = _role(row)
        parts["messages" if kind in ("user", "assistant") else kind].append(row)
    return parts


def _read_session(parts: SessionRows, key: SessionKey, now: datetime, *, has_more: bool = False) -> Session:
    """Return the open session without files, or a new one that is not stored."""
    session = next(iter(parts["session"]), None)
    return Session(
        id=_content(session) if session else "",
        key=key,
        history=_read_history(parts["messages"]),
        created_at=datetime.fromisoformat(_opened_at(session)) if session else now,
        last_active=datetime.fromisoformat(_last_active(session)) if session else now,
        has_more=has_more,
        has_files=session is None or bool(_has_files(session)),
        summaries=_prompt_notes(parts["summary"]),
        unsummarized=_prompt_notes(parts["unsummarized"]),
        canvas=_content(parts["canvas"][0]) if parts["canvas"] else EMPTY_CANVAS,
    )


def _read_history(rows: Sequence[Row]) -> tuple[Message, ...]:
    """Takes rows newest first, and returns messages oldest first."""
    messages, last_discord_id = list[Message](), None
    for row in reversed(rows):
        message = _read_message(row)
        messages.append(
            message.without_repeated_reference(last_discord_id) if message.references else message
        )
        last_discord_id = message.discord_id
    return last_messages(messages, 0)


def _read_message(row: Row) -> Message:
    text, role, message = _MESSAGE_ROW.read(row)
    if message.reply_to is None or message.role == "assistant":
        return message
    name = message.author_name if role == "user" else ""
    reference = Reference(
        message.reference_kind,
        text or "",
        name,
        message.author_id,
        is_visible=text is not None,
        tainted=False,
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
        """Return the open session, or a new one, with the newest page of its history. The history of a
        `public` turn has no private messages. `extra`: messages to read beyond the page. `store`: whether to
        store a new session."""
        now, size = self.clock(), self._next_page_size() + extra
        idle_cutoff = get_idle_cutoff(now, self.session_ttl)
        columns = (*key_columns(key), idle_cutoff, visibility, size)
        rows = await self.database.query(_SELECT_OPEN_SESSION, *columns)
        parts = _split_by_kind(rows)
        if store and not parts["session"]:
            parts = await self._renew_session(key, visibility, idle_cutoff=idle_cutoff, now=to_text(now))
        newest = parts["messages"]
        session = _read_session(parts, key, now, has_more=self._may_have_more(size, len(newest)))
        history = await self._add_files_and_memory_texts(session, session.history)
        return replace(session, history=history)

    async def load_earlier(self, session: Session, *, visibility: Visibility = "public") -> Session:
        """Return the session with one more page of its history, if there is one."""
        if not session.has_more:
            return session
        loaded, rows, has_more = len(session.history), list[Row](), True
        oldest_id = before = (session.history[0].id if session.history else None) or AFTER_ALL_IDS
        sql = f"""
            SELECT {_ROW_COLUMNS}
            FROM sessions AS s
            JOIN messages AS m
                ON m.session_id = s.id AND m.user_id = $1 AND m.id < $4
                AND m.status <> 'replaced' AND m.visibility IN ('public', $3)
            {_JOIN_REPLIED.format(visibility="$3")}
            WHERE s.id = $2 AND s.user_id = $1 AND s.closed_at IS NULL
            ORDER BY m.id DESC
            LIMIT $5
        """
        # A history does not start with an answer.
        while has_more and not any(_role(row) == "user" for row in rows):
            size = self._next_page_size(loaded + len(rows))
            page = await self.database.query(sql, session.key.user_id, session.id, visibility, before, size)
            has_more = self._may_have_more(size, len(page), loaded + len(rows))
            rows.extend(page)
            before = _message_id(rows[-1]) if rows else before
        earlier = await self._add_files_and_memory_texts(
            session, _read_history(rows), before=oldest_id, following=session.history
        )
        return replace(session, history=(*earlier, *session.history), has_more=has_more)

    async def _add_files_and_memory_texts(
        self,
        session: Session,
        messages: tuple[Message, ...],
        *,
        before: int = AFTER_ALL_IDS,
        following: Sequence[Message] = (),
    ) -> tuple[Message, ...]:
        found = await with_files(self.database, session, messages, before=before, following=following)
        return await fill_in_texts(self.database, session.key.user_id, found)

    async def get_question(self, user_id: int, answer_id: int) -> Message | None:
        """Return the question of an answer, without files; None if either is missing."""
        sql = f"SELECT {MESSAGE.with_alias('q')} {FROM_QUESTION}"
        return MESSAGE.read_first(await self.database.query(sql, user_id, answer_id))

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
        idle_cutoff = get_idle_cutoff(now, self.session_ttl)

        def steps() -> Transaction[int]:
            sql = """
                UPDATE sessions SET closed_at = $2
                WHERE closed_at IS NULL AND active_hour <= substr($1, 1, 13) AND last_active <= $1
                RETURNING id /* scope: all users */
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
        """Store a turn in one transaction, and return the session with it. A session that was closed
        meanwhile also gets the turn. `replaces`: the answer to remove from the history. Raises StorageError
        and ConversationGone."""
        stored = await self.store_turn(session, messages, replaces=replaces, redraw=redraw)
        history = session.history
        if replaces:
            history = tuple(each for each in history if (each.id, each.role) != (replaces, "assistant"))
        size = self._next_page_size()
        added = stored.messages
        return replace(
            session,
            history=last_messages([*history, *added], size),
            last_active=(added[-1].created_at if added else None) or session.last_active,
            has_more=session.has_more or self._may_have_more(size, min(size, len(history) + len(added))),
            has_files=session.has_files or any(message.attachments for message in added),
            canvas=session.canvas if stored.canvas is None else stored.canvas,
        )

    async def store_turn(
        self,
        session: Session,
        messages: Sequence[Message],
        *,
        replaces: int | None = None,
        redraw: Redraw | None = None,
        turn_id: str = "",
        proposals: Sequence[ProposedCalls] = (),
        settlement: Settlement | None = None,
        channel: ChannelKey | None = None,
    ) -> StoredTurn:
        """Store a turn, for `commit_turn` and callers that need no session. `turn_id`: in the ledger.
        `channel`: its context gets the messages that have a Discord id. Raises ValueError if one of them is
        private."""
        if channel and any(message.visibility == "private" for message in messages):
            raise ValueError("a private message belongs to no channel")
        now_ms = to_ms(self.clock())
        now = from_ms(now_ms)  # with the precision of the database
        user_id = session.key.user_id
        session_and_user = (session.id, user_id)
        lock_keys = (user_lock(user_id), *(channel_locks(channel) if channel else ()))

        def steps() -> Transaction[tuple[StoredTurn, bool]]:
            ids = [message.discord_id for message in messages if message.discord_id is not None]
            if channel and ids:
                yield Statement(THAW_FROM, (channel.channel_id, channel.thread_id, min(ids)))
            if replaces is not None:
                yield Statement(_THAW_REPLACED, (*session_and_user, replaces))
                yield Statement(_MARK_REPLACED, (*session_and_user, replaces))
                yield Statement(DELETE_PROPOSALS_OF_ANSWER, (user_id, replaces))
            channel_ids = (channel.channel_id, channel.thread_id) if channel else (None, None)
            added, proposal_rows = list[Message](), list[Row]()
            for message in messages:
                params = (*session_and_user, now_ms, *channel_ids, replaces)
                added.append((yield from _insert_message(message, params)))
            visibility = messages[-1].visibility
            for insert in insert_proposals(session.key, session.id, proposals, now, visibility=visibility):
                proposal_rows += yield insert
            # Does not extend a session that was closed or has expired meanwhile.
            set_last_active = """
                UPDATE sessions SET last_active = $3, active_hour = substr($3, 1, 13)
                WHERE id = $1 AND user_id = $2 AND closed_at IS NULL AND last_active > $4
            """
            idle_cutoff = get_idle_cutoff(now, self.session_ttl)
            yield Statement(set_last_active, (*session_and_user, to_text(now), idle_cutoff))
            deleted, is_full = yield from make_room(session, messages, self.history_limit, self.file_quota)
            if turn_id:
                yield Statement(MARK_TURN_ANSWERED, (turn_id, user_id, session.id, messages[-1].discord_id))
            if settlement:
                yield from settle_stored(settlement)
            # Last, as all turns that change a canvas wait for the row of canvas_clock.
            canvas = (yield from _apply_redraw(session, redraw)) if redraw else None
            return StoredTurn(
                tuple(added), canvas, tuple(map(PROPOSAL.read, proposal_rows)), deleted
            ), is_full

        stored, is_full = await self.database.write(steps, lock_keys)
        if is_full:
            with suppress(StorageError):  # the next turn with a file retries
                limit = self.file_quota.total_bytes
                await self.database.write(lambda: free_files(limit), [MAINTENANCE_LOCK])
        return stored

    def _next_page_size(self, loaded: int = 0) -> int:
        """Return how many messages to read next; 0 if the history is complete."""
        return (
            max(0, min(self.page_size, self.history_limit - loaded)) if self.history_limit else self.page_size
        )

    def _may_have_more(self, page_size: int, count: int, loaded: int = 0) -> bool:
        return count == page_size and self._next_page_size(loaded + count) > 0

    async def _renew_session(
        self,
        key: SessionKey,
        visibility: Visibility,
        *,
        idle_cutoff: str,
        now: str,
        changes: Sequence[Statement] = (),
    ) -> SessionRows:
        """Close the open session if it is idle, and open a new one unless one is open."""
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
        return _split_by_kind(results[-1])
