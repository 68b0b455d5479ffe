"""Stores sessions: the conversation of a user in a channel, and the history that a turn's prompt shows.

A turn accesses the database twice: `open` before the model is asked, `commit_turn` after. No transaction is
open in between.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

from cc_bot.chat.drawing import Redraw
from cc_bot.chat.stores.blocks import THAW_FROM, thaw
from cc_bot.chat.stores.canvases import NEWEST_CLOSED, clear_canvas, put_canvas, read_current, select_current
from cc_bot.chat.stores.history import (
    DELETE_ATTACHMENTS_OF_IDLE,
    PAGE_SIZE,
    SELECT_EARLIER,
    SELECT_OPEN_SESSION,
    UNBOUNDED,
    Parts,
    free_files,
    has_question,
    insert_files,
    make_room,
    message_id,
    read_history,
    read_session,
    split,
    tail,
    with_files,
)
from cc_bot.chat.stores.ledger import ANSWERED, QUESTION_OF
from cc_bot.chat.stores.proposals import DELETE_OF_ANSWER, PROPOSAL, insert_proposals
from cc_bot.chat.stores.summaries import DELETE_SUMMARIES, STOP_SUMMARIZING
from cc_bot.chat.stores.usage import Settlement, settle_stored
from cc_bot.db import MAINTENANCE_LOCK, Database, Row, Statement, Steps, user
from cc_bot.db.columns import MESSAGE, Parameters, from_ms, idle_since, key_columns, of_place, to_ms, to_text
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ConversationGone, StorageError
from cc_bot.domain.message import FILE_QUOTA, ChannelKey, FileQuota, Message, Visibility
from cc_bot.domain.proposal import Proposal, ProposedCalls
from cc_bot.domain.session import EMPTY_CANVAS, Session, SessionKey
from cc_bot.features.memory.stores.rows import read_texts

# The new answer, shown in the same message, takes over the Discord id.
_MARK_REPLACED: Final = """
    UPDATE messages SET status = 'replaced', discord_id = NULL
    WHERE id = $3 AND session_id = $1 AND user_id = $2 AND role = 'assistant'
"""

_THAW_REPLACED: Final = thaw("m.id = $3 AND m.session_id = $1 AND m.user_id = $2 AND m.in_channel = 1")

_MESSAGE_PARAMETERS: Final = Parameters(
    (name for name in MESSAGE.names if name not in ("id", "created_at")), first=7
)

# Owner and channel come from the session's row, so another user's session is refused. $1 session, $2 user, $3
# now, $4 and $5 channel and thread of a public message, $6 the replaced answer, then _MESSAGE_PARAMETERS
_INSERT_MESSAGE: Final = f"""
    INSERT INTO messages (
        session_id, user_id, channel_id, parent_channel_id, thread_id, in_channel, timestamp, created_at,
        {_MESSAGE_PARAMETERS.names}
    )
    SELECT
        s.id, s.user_id, s.channel_id, coalesce(r.parent_channel_id, $4, s.channel_id),
        coalesce(r.thread_id, $5, 0),
        coalesce(r.in_channel, CASE WHEN CAST($4 AS BIGINT) IS NULL THEN 0 ELSE 1 END),
        $3, $3, {_MESSAGE_PARAMETERS.marks}
    FROM sessions AS s
    LEFT JOIN messages AS r ON r.id = $6 AND r.user_id = $2
    WHERE s.id = $1 AND s.user_id = $2
    RETURNING id
"""  # noqa: S608 - put together from constants alone

# A session that was closed or has expired meanwhile is left as it is.
_TOUCH: Final = """
    UPDATE sessions SET last_active = $3, active_hour = substr($3, 1, 13)
    WHERE id = $1 AND user_id = $2 AND closed_at IS NULL AND last_active > $4
"""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    messages: tuple[Message, ...]
    canvas: str | None = None
    proposals: tuple[Proposal, ...] = ()
    files_deleted: int = 0
    """Older files of the user that were deleted to make room."""


def _apply_redraw(session: Session, redraw: Redraw) -> Steps[str | None]:
    """Apply changes to the current canvas, which may differ from the turn's. Returns the new canvas; None if
    nothing changed, or if another session has the canvas (after `/clear`), which stays empty."""
    current = read_current((yield select_current(session.key)))
    if current is not None and current.session_id != session.id:
        return None
    before = current.state if current else EMPTY_CANVAS
    after = redraw(before)
    if after == before:
        return None
    yield from put_canvas(session.id, session.key, after)
    return after


CLOSE_EXPIRED: Final = """
    UPDATE sessions SET closed_at = $2
    WHERE closed_at IS NULL AND active_hour <= substr($1, 1, 13) AND last_active <= $1
    RETURNING id /* all users */
"""
"""Parameters: the latest activity of an expired session, now."""

DELETE_ATTACHMENTS_OF_EXPIRED: Final = """
    DELETE FROM attachments WHERE session_id IN @texts($1)
    /* all users */
"""
"""Parameter: the ids of the sessions that CLOSE_EXPIRED has closed."""

_BEGINNING_OF_TIME: Final = ""
_END_OF_TIME: Final = to_text(datetime.max.replace(tzinfo=UTC))

_CLOSE_IDLE: Final = """
    UPDATE sessions SET closed_at = $5
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL AND last_active <= $4
"""

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
"""  # noqa: S608 - put together from constants alone

_SELECT_QUESTION: Final = f"SELECT {MESSAGE.of('q')} {QUESTION_OF}"


@dataclass(eq=False, slots=True)
class SessionStore:
    database: Database
    _: KW_ONLY
    history_limit: int = 20
    """Messages; 0 for no limit."""
    session_ttl: timedelta = timedelta(days=1)
    clock: Clock = utc_now
    page_size: int = PAGE_SIZE
    """Messages per read."""
    file_quota: FileQuota = FILE_QUOTA

    async def open(
        self, key: SessionKey, *, visibility: Visibility = "public", beyond: int = 0, lasting: bool = True
    ) -> Session:
        """Return the current session with its history, or a new session if there is none or it has expired.
        If not `lasting`, a new session is not stored.

        The history of a `public` turn leaves out private messages. Only the newest page of a long history is
        read; `more` tells whether `load_earlier` has more. `beyond`: messages to read beyond the limit.
        """
        now, size = self.clock(), self._next_page_size() + beyond
        idle_cutoff = idle_since(now, self.session_ttl)
        columns = (*key_columns(key), idle_cutoff, visibility, size)
        rows = await self.database.query(SELECT_OPEN_SESSION, *columns)
        parts = split(rows)
        if lasting and not parts["session"]:
            parts = await self._renew(key, visibility, idle_cutoff=idle_cutoff, now=to_text(now))
        newest = parts["messages"]
        session = read_session(parts, key, now, more=self._may_have_more(size, len(newest)))
        history = await with_files(self.database, session, newest, session.history)
        history = await read_texts(self.database, key.user_id, history)
        return session if history is session.history else replace(session, history=history)

    async def load_earlier(self, session: Session, *, visibility: Visibility = "public") -> Session:
        """Return the session with one more page of its history, if there is one."""
        if not session.more:
            return session
        loaded, rows, more = len(session.history), list[Row](), True
        start = before = (session.history[0].id if session.history else None) or UNBOUNDED
        while more and not has_question(rows):  # a history does not start with an answer
            size = self._next_page_size(loaded + len(rows))
            page = await self.database.query(
                SELECT_EARLIER, session.key.user_id, session.id, visibility, before, size
            )
            more = self._may_have_more(size, len(page), loaded + len(rows))
            rows.extend(page)
            before = message_id(rows[-1]) if rows else before
        earlier = await with_files(
            *(self.database, session, rows, read_history(rows)), before=start, following=session.history
        )
        earlier = await read_texts(self.database, session.key.user_id, earlier)
        return replace(session, history=(*earlier, *session.history), more=more)

    async def get_question(self, user_id: int, answer_id: int) -> Message | None:
        """Return the question of an answer, without files; None if it is missing."""
        return MESSAGE.first(await self.database.query(_SELECT_QUESTION, user_id, answer_id))

    async def clear(self, key: SessionKey) -> Session:
        deletions = [Statement(sql, key_columns(key)) for sql in (DELETE_SUMMARIES, STOP_SUMMARIZING)]
        deletions += clear_canvas(key)
        now = self.clock()
        parts = await self._renew(key, "public", idle_cutoff=_END_OF_TIME, now=to_text(now), first=deletions)
        return read_session(parts, key, now)

    async def expire(self) -> int:
        """Close every idle session and delete its attachments. Returns the number of closed sessions."""
        now = self.clock()
        idle_cutoff = idle_since(now, self.session_ttl)

        def steps() -> Steps[int]:
            closed = [id_ for (id_,) in (yield Statement(CLOSE_EXPIRED, (idle_cutoff, to_text(now))))]
            if closed:
                yield Statement(DELETE_ATTACHMENTS_OF_EXPIRED, (json.dumps(closed),))
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
        ConversationGone.

        `replaces`: the answer to remove from the history. `redraw`: changes the current canvas. A session
        that was closed meanwhile still gets the turn, and stays closed.
        """
        stored = await self.archive_turn(session, messages, replaces=replaces, redraw=redraw)
        history = session.history
        if replaces:
            history = tuple(each for each in history if (each.id, each.role) != (replaces, "assistant"))
        size = self._next_page_size()
        added = stored.messages
        return replace(
            session,
            history=tail([*history, *added], size),
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
        place: ChannelKey | None = None,
    ) -> StoredTurn:
        """Store a turn as `commit_turn` does, and return the stored rows. `entry`: the turn's id in the
        ledger. `place`: the channel of a public turn; messages with a Discord id then belong to its context.
        Raises ValueError for private messages with a `place`."""
        if place and any(message.visibility == "private" for message in messages):
            raise ValueError("a private message belongs to no channel")
        now_ms = to_ms(self.clock())
        now = from_ms(now_ms)  # with the precision of the database
        user_id = session.key.user_id
        session_and_user = (session.id, user_id)
        locks = (user(user_id), *(of_place(place) if place else ()))

        def steps() -> Steps[tuple[StoredTurn, bool]]:
            ids = [message.discord_id for message in messages if message.discord_id is not None]
            if place and ids:
                yield Statement(THAW_FROM, (place.channel_id, place.thread_id, min(ids)))
            if replaces is not None:
                yield Statement(_THAW_REPLACED, (*session_and_user, replaces))
                yield Statement(_MARK_REPLACED, (*session_and_user, replaces))
                yield Statement(DELETE_OF_ANSWER, (user_id, replaces))
            added, proposal_rows = list[Message](), list[Row]()
            channel_ids = (place.channel_id, place.thread_id) if place else (None, None)
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
            yield Statement(_TOUCH, (*session_and_user, to_text(now), idle_since(now, self.session_ttl)))
            deleted, is_full = yield from make_room(session, messages, self.history_limit, self.file_quota)
            if entry:
                yield Statement(ANSWERED, (entry, user_id, session.id, messages[-1].discord_id))
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

    async def _renew(
        self,
        key: SessionKey,
        visibility: Visibility,
        *,
        idle_cutoff: str,
        now: str,
        first: Sequence[Statement] = (),
    ) -> Parts:
        columns = key_columns(key)
        results = await self.database.transaction(
            [
                *first,
                Statement(DELETE_ATTACHMENTS_OF_IDLE, (*columns, idle_cutoff)),
                Statement(_CLOSE_IDLE, (*columns, idle_cutoff, now)),
                Statement(INSERT_SESSION, (*columns, str(uuid4()), now)),
                Statement(
                    SELECT_OPEN_SESSION, (*columns, _BEGINNING_OF_TIME, visibility, self._next_page_size())
                ),
            ],
            [user(key.user_id)],
        )
        return split(results[-1])
