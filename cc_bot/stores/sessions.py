"""Sessions: the conversation of a user in a channel, and the history that a turn sees.

A turn takes two trips to the database: `open` before the model is asked, `commit_turn` after. No transaction
is open in between and no conversation is kept in the process, so a restart changes nothing.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import uuid4

from cc_bot.domain.canvas import Canvas, Drawn, reduce_all
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ConversationGone, StorageError, TurnLost
from cc_bot.domain.message import FILE_QUOTA, ChannelKey, FileQuota, Message, Visibility
from cc_bot.domain.proposal import Proposal, ProposedCalls
from cc_bot.domain.session import Session, SessionKey
from cc_bot.storage import MAINTENANCE_LOCK, Database, Row, Statement, Steps, user
from cc_bot.stores.blocks import BLOCKS_FROM_MESSAGE, THAW_FROM
from cc_bot.stores.canvas_json import EMPTY_CANVAS
from cc_bot.stores.canvases import NEWEST_CLOSED, clear_canvas, put_canvas, read_current, select_current
from cc_bot.stores.columns import (
    MESSAGE,
    Parameters,
    from_ms,
    idle_since,
    key_columns,
    of_place,
    to_ms,
    to_text,
)
from cc_bot.stores.history import (
    DELETE_ATTACHMENTS_NO_LONGER_SEEN,
    DELETE_ATTACHMENTS_OF_CLOSED,
    DELETE_ATTACHMENTS_OF_IDLE,
    DELETE_FILES_BEYOND_QUOTA,
    DELETE_FREED_FILES,
    PAGE_SIZE,
    SELECT_EARLIER,
    SELECT_FILE_BYTES,
    SELECT_FILES,
    SELECT_IMAGES,
    SELECT_OPEN_SESSION,
    UNBOUNDED,
    Opening,
    Paging,
    free_files,
    has_files,
    has_question,
    image_room,
    insert_files,
    message_id,
    newest_images,
    opening,
    read_history,
    read_session,
    tail,
    unstored_session,
    with_images,
)
from cc_bot.stores.ledger import ANSWERED
from cc_bot.stores.memory.references import read_texts
from cc_bot.stores.proposals import DROP_OF_ANSWER, INSERT_PROPOSAL, PROPOSAL, insert_proposals
from cc_bot.stores.summaries import DELETE_SUMMARIES, STOP_SUMMARIZING
from cc_bot.stores.usage import Settlement, settle_stored

# ---- turn writing ----------------------------------------------------------------------------------------

# Its Discord id goes to the answer that replaces it, in the same message.
_MARK_REPLACED: Final = """
    UPDATE messages SET status = 'replaced', discord_id = NULL
    WHERE id = $3 AND session_id = $1 AND user_id = $2 AND role = 'assistant'
"""

# Run before _MARK_REPLACED.
_THAW_REPLACED: Final = f"""
    DELETE FROM block_boundaries WHERE id IN (
        {BLOCKS_FROM_MESSAGE}
        WHERE m.id = $3 AND m.session_id = $1 AND m.user_id = $2 AND m.in_channel = 1
    )
"""  # noqa: S608 - put together from constants alone

_SAID: Final = Parameters((name for name in MESSAGE.names if name not in ("id", "created_at")), first=7)

# Owner and channel come from the session's row, so another user's session is refused. A replacing answer
# stays where the former one was. $1 session, $2 user, $3 now, $4 and $5 channel and thread if it is public,
# $6 the answer that it replaces, then _SAID
_INSERT_MESSAGE: Final = f"""
    INSERT INTO messages (
        session_id, user_id, channel_id, parent_channel_id, thread_id, in_channel, timestamp, created_at,
        {_SAID.names}
    )
    SELECT
        s.id, s.user_id, s.channel_id, coalesce(r.parent_channel_id, $4, s.channel_id),
        coalesce(r.thread_id, $5, 0),
        coalesce(r.in_channel, CASE WHEN CAST($4 AS BIGINT) IS NULL THEN 0 ELSE 1 END),
        $3, $3, {_SAID.marks}
    FROM sessions AS s
    LEFT JOIN messages AS r ON r.id = $6 AND r.user_id = $2
    WHERE s.id = $1 AND s.user_id = $2
    RETURNING id
"""  # noqa: S608 - put together from constants alone

# A session that was closed or expired meanwhile stays so.
_TOUCH: Final = """
    UPDATE sessions SET last_active = $3, active_hour = substr($3, 1, 13)
    WHERE id = $1 AND user_id = $2 AND closed_at IS NULL AND last_active > $4
"""


@dataclass(frozen=True, slots=True)
class NewTurn:
    session: Session
    messages: tuple[Message, ...]
    now: datetime
    replaces: int | None
    """The answer that it replaces."""
    drawn: tuple[Drawn, ...]
    entry: str = ""
    """The turn's id in the ledger, if it has one."""
    proposals: tuple[ProposedCalls, ...] = ()
    settlement: Settlement | None = None
    """The usage to be counted with it."""
    place: ChannelKey | None = None
    """Where it is public; None if only its user sees it."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    messages: tuple[Message, ...]
    """With ids and times."""
    canvas: Canvas | None = None
    """The resulting canvas, if the turn changed it."""
    proposals: tuple[Proposal, ...] = ()
    """With ids."""
    files_deleted: int = 0
    """Older files of the user that were deleted to make room."""


async def store_turn(
    database: Database, turn: NewTurn, idle_since: str, limit: int, quota: FileQuota
) -> StoredTurn:
    """Store a turn, whole or not at all. `idle_since`: sessions last active before then have expired;
    `limit`: messages in a history, 0 for no limit.

    Raises StorageError, and ConversationGone if the session is not the user's.
    """
    batch = _statements(turn, idle_since, limit, quota.user_bytes)
    about = (user(turn.session.key.user_id), *(of_place(turn.place) if turn.place else ()))
    results, canvas = await database.write(lambda: _steps(batch, turn), about)
    inserted = [row for rows in _rows_of(_INSERT_MESSAGE, batch, results) for row in rows]
    made = [row for rows in _rows_of(INSERT_PROPOSAL, batch, results) for row in rows]
    held = (size for rows in _rows_of(SELECT_FILE_BYTES, batch, results) for _, size in rows)
    if sum(held) > quota.total_bytes:
        with suppress(StorageError):  # the turn is stored, and the next one with a file tries again
            await database.write(lambda: free_files(quota.total_bytes), [MAINTENANCE_LOCK])
    deleted = (_rows_of(sql, batch, results) for sql in (DELETE_FREED_FILES, DELETE_FILES_BEYOND_QUOTA))
    files_deleted = sum(len(rows) for found in deleted for rows in found)
    return replace(_stored(turn, inserted, canvas, made), files_deleted=files_deleted)


def _stored(
    turn: NewTurn, inserted: Sequence[Row], canvas: Canvas | None, proposals: Sequence[Row]
) -> StoredTurn:
    if len(inserted) < len(turn.messages):
        raise ConversationGone  # the session is not this user's, or is no longer there
    messages = (
        replace(
            message,
            id=int(row[0]),
            created_at=turn.now,
            author_id=_author(message, turn.session.key),
            tainted=message.taints,
        )
        for message, row in zip(turn.messages, inserted, strict=True)
    )
    return StoredTurn(tuple(messages), canvas, tuple(map(PROPOSAL.read, proposals)))


def _rows_of(sql: str, batch: Sequence[Statement], results: Sequence[Sequence[Row]]) -> list[Sequence[Row]]:
    return [rows for each, rows in zip(batch, results, strict=True) if each.sql is sql]


def _statements(turn: NewTurn, idle_since: str, limit: int, max_file_bytes: int) -> list[Statement]:
    owned = (turn.session.id, turn.session.key.user_id)
    batch = _thawing(turn)
    if turn.replaces is not None:
        batch.append(Statement(_THAW_REPLACED, (*owned, turn.replaces)))
        batch.append(Statement(_MARK_REPLACED, (*owned, turn.replaces)))
        batch.append(Statement(DROP_OF_ANSWER, (turn.session.key.user_id, turn.replaces)))
    for message in turn.messages:
        batch.append(_insert(turn, message))
        if message.attachments:
            batch.extend(insert_files(owned, message))
    if turn.proposals:
        visibility = turn.messages[-1].visibility
        batch += insert_proposals(
            turn.session.key, turn.session.id, turn.proposals, turn.now, visibility=visibility
        )
    batch.append(Statement(_TOUCH, (*owned, to_text(turn.now), idle_since)))
    brings_files = any(message.attachments for message in turn.messages)
    if limit and (turn.session.has_files or brings_files):
        batch.append(Statement(DELETE_ATTACHMENTS_NO_LONGER_SEEN, (*owned, limit)))
    if turn.session.has_files:
        batch.append(Statement(DELETE_FREED_FILES, owned))
    if brings_files:
        batch.append(Statement(DELETE_ATTACHMENTS_OF_CLOSED, owned))
        batch.append(Statement(DELETE_FILES_BEYOND_QUOTA, (turn.session.key.user_id, max_file_bytes)))
        batch.append(Statement(SELECT_FILE_BYTES))
    if turn.entry:
        session_id, user_id = owned
        shown_in = turn.messages[-1].discord_id
        batch.append(Statement(ANSWERED, (turn.entry, user_id, session_id, shown_in)))
    return batch


def _steps(batch: Sequence[Statement], turn: NewTurn) -> Steps[tuple[list[Sequence[Row]], Canvas | None]]:
    results = []
    for statement in batch:
        results.append((yield statement))
    if turn.settlement:
        try:
            yield from settle_stored(turn.settlement)
        except TurnLost:
            if not all(_rows_of(_INSERT_MESSAGE, batch, results)):
                raise ConversationGone from None
            raise
    # Last, as all turns that draw wait here for each other (canvas_clock).
    canvas = (yield from _draw(turn)) if turn.drawn else None
    return results, canvas


def _draw(turn: NewTurn) -> Steps[Canvas | None]:
    """Apply the turn's canvas changes to the current canvas, which may have changed meanwhile. After `/clear`
    another session has the canvas, and it stays empty."""
    session = turn.session
    found = read_current((yield select_current(session.key)))
    if found is not None and found.session_id != session.id:
        return None
    before = found.canvas if found else Canvas()
    canvas = reduce_all(before, turn.drawn)
    if canvas == before:
        return None
    yield from put_canvas(session.id, session.key, canvas)
    return canvas


def _author(message: Message, key: SessionKey) -> int:
    return message.author_id or (key.user_id if message.role == "user" else 0)


def _insert(turn: NewTurn, message: Message) -> Statement:
    session, place = turn.session, turn.place
    author_id = _author(message, session.key)
    columns = MESSAGE.write(message) | {"author_id": author_id, "tainted": int(message.taints)}
    where = (place.channel_id, place.thread_id) if place else (None, None)
    owned = (session.id, session.key.user_id)
    return Statement(_INSERT_MESSAGE, (*owned, to_ms(turn.now), *where, turn.replaces, *_SAID.of(columns)))


def _thawing(turn: NewTurn) -> list[Statement]:
    ids = [message.discord_id for message in turn.messages if message.discord_id is not None]
    if turn.place is None or not ids:
        return []
    return [Statement(THAW_FROM, (turn.place.channel_id, turn.place.thread_id, min(ids)))]


# ---- sessions --------------------------------------------------------------------------------------------

CLOSE_EXPIRED: Final = """
    UPDATE sessions SET closed_at = $2
    WHERE closed_at IS NULL AND active_hour <= substr($1, 1, 13) AND last_active <= $1
    RETURNING id /* all users */
"""
"""Parameters: the last activity that is too long ago, now."""

DELETE_ATTACHMENTS_OF_EXPIRED: Final = """
    DELETE FROM attachments WHERE session_id IN @texts($1)
    /* all users */
"""
"""Parameters: the sessions that CLOSE_EXPIRED has closed; a turn that came meanwhile keeps its session and
files."""

_BEGINNING_OF_TIME: Final = ""
_END_OF_TIME: Final = to_text(datetime.max.replace(tzinfo=UTC))

# $1 user, $2 channel, $3 agent, $4 the last activity that is too long ago, $5 now
_CLOSE_IDLE: Final = """
    UPDATE sessions SET closed_at = $5
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL AND last_active <= $4
"""

# The new session takes over the canvas. Of two at once, the second reads the first one's session.
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

# $1 user, $2 the answer's row
_SELECT_QUESTION: Final = f"""
    SELECT {MESSAGE.of("q")}
    FROM messages AS a
    JOIN messages AS q ON q.session_id = a.session_id AND q.user_id = $1 AND q.id < a.id AND q.role = 'user'
    WHERE a.id = $2 AND a.user_id = $1
    ORDER BY q.id DESC
    LIMIT 1
"""  # noqa: S608 - put together from constants alone


class SessionStore:
    def __init__(
        self,
        database: Database,
        *,
        history_limit: int = 20,
        session_ttl: timedelta = timedelta(days=1),
        clock: Clock = utc_now,
        page_size: int = PAGE_SIZE,
        file_quota: FileQuota = FILE_QUOTA,
    ) -> None:
        """`history_limit`: messages, 0 for no limit; `session_ttl`: idle time until expiry; `page_size`:
        messages per read."""
        self._file_quota = file_quota
        self._database = database
        self._limit = history_limit
        self._paging = Paging(history_limit, page_size)
        self._ttl = session_ttl
        self._clock = clock

    async def open(
        self, key: SessionKey, *, visibility: Visibility = "public", beyond: int = 0, lasting: bool = True
    ) -> Session:
        """Open the current session with its history; a new one if there is none or it has expired. If not
        `lasting`, a new one is not stored and can't be committed to.

        The history of a `public` turn leaves out private messages. Of a long history the newest page is read;
        `more` says if `load_earlier` has more. `beyond`: messages to read beyond the limit, for a turn that
        regenerates the last answer.
        """
        now, size = self._clock(), self._paging.next_page() + beyond
        idle = idle_since(now, self._ttl)
        rows = await self._database.query(SELECT_OPEN_SESSION, *key_columns(key), idle, visibility, size)
        found = opening(rows)
        if not found.tail and not lasting:
            return unstored_session(found, key, now)
        if not found.tail:
            found = await self._renew(key, visibility, idle_since=idle, now=to_text(now))
        more = self._paging.may_continue(size, len(found.tail))
        session = read_session(found, key, more=more)
        if has_files(found.tail) and session.history:
            files = await self._read_files(session, found.tail, UNBOUNDED, image_room(()))
            session = read_session(found, key, files, more=more)
        history = await read_texts(self._database, key.user_id, session.history)
        return replace(session, history=history)

    async def load_earlier(self, session: Session, *, visibility: Visibility = "public") -> Session:
        """Return the session with one more page of its history, if there is one. `visibility`: as in
        `open`."""
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
        room = image_room(session.history)
        files = await self._read_files(session, rows, start, room) if rows and has_files(rows) else ()
        earlier = await read_texts(self._database, session.key.user_id, read_history(rows, files))
        return replace(session, history=(*earlier, *session.history), more=more)

    async def get_question(self, user_id: int, answer_id: int) -> Message | None:
        """Return the question of a user's answer, without its files; both by row id."""
        return MESSAGE.first(await self._database.query(_SELECT_QUESTION, user_id, answer_id))

    async def clear(self, key: SessionKey) -> Session:
        """Close the open session, if any, and open an empty one without summaries."""
        forget = [Statement(sql, key_columns(key)) for sql in (DELETE_SUMMARIES, STOP_SUMMARIZING)]
        forget += clear_canvas(key)
        now = to_text(self._clock())
        found = await self._renew(key, "public", idle_since=_END_OF_TIME, now=now, first=forget)
        return read_session(found, key)

    async def expire(self) -> int:
        """Close every idle session and delete its attachments. Returns their number."""
        now = self._clock()
        idle = idle_since(now, self._ttl)

        def steps() -> Steps[int]:
            closed = [id_ for (id_,) in (yield Statement(CLOSE_EXPIRED, (idle, to_text(now))))]
            if closed:
                yield Statement(DELETE_ATTACHMENTS_OF_EXPIRED, (json.dumps(closed),))
            return len(closed)

        return await self._database.write(steps, [MAINTENANCE_LOCK])

    async def commit_turn(
        self,
        session: Session,
        messages: Sequence[Message],
        *,
        replaces: int | None = None,
        drawn: Sequence[Drawn] = (),
    ) -> Session:
        """Store a turn, whole or not at all, and return the session with it.

        `replaces`: the answer of this session that is replaced; it stays in the archive and leaves the
        history. `drawn`: canvas changes, applied to the current canvas. A session that was closed or expired
        meanwhile gets the turn and stays closed. Turns stored since `open` appear at the next `open`.

        Raises StorageError and ConversationGone.
        """
        stored = await self.archive_turn(session, messages, replaces=replaces, drawn=drawn)
        before = [message for message in session.history if not _is_answer(message, replaces)]
        size = self._paging.next_page()
        said = stored.messages
        return replace(
            session,
            history=tail([*before, *said], size),
            last_active=(said[-1].created_at if said else None) or session.last_active,
            more=session.more or self._paging.may_continue(size, min(size, len(before) + len(said))),
            has_files=session.has_files or any(message.attachments for message in said),
            canvas=session.canvas if stored.canvas is None else stored.canvas,
        )

    async def archive_turn(
        self,
        session: Session,
        messages: Sequence[Message],
        *,
        replaces: int | None = None,
        drawn: Sequence[Drawn] = (),
        entry: str = "",
        proposals: Sequence[ProposedCalls] = (),
        settlement: Settlement | None = None,
        place: ChannelKey | None = None,
    ) -> StoredTurn:
        """Store a turn as `commit_turn` does, and return what was stored. `entry`: the turn's id in the
        ledger. `place`: where it is public; its messages with a Discord id then belong to that channel's
        context. Raises ValueError for private messages with a `place`."""
        if place and any(message.visibility == "private" for message in messages):
            raise ValueError("what is private stands in no channel")
        now = from_ms(to_ms(self._clock()))  # as it is read back
        writing = NewTurn(
            session, tuple(messages), now, replaces, tuple(drawn), entry, tuple(proposals), settlement, place
        )
        idle = idle_since(now, self._ttl)
        return await store_turn(self._database, writing, idle, self._limit, self._file_quota)

    async def _read_files(
        self, session: Session, rows: Sequence[Row], before: int, room_bytes: int
    ) -> Sequence[Row]:
        """Read the files of messages, and as many of their images as fit."""
        owned = (session.id, session.key.user_id)
        files = await self._database.query(SELECT_FILES, *owned, message_id(rows[-1]), before)
        wanted = newest_images(files, {*map(message_id, rows)}, room_bytes)
        if not wanted:
            return files
        return with_images(files, await self._database.query(SELECT_IMAGES, *owned, json.dumps(wanted)))

    async def _renew(
        self,
        key: SessionKey,
        visibility: Visibility,
        *,
        idle_since: str,
        now: str,
        first: Sequence[Statement] = (),
    ) -> Opening:
        """Close the session if it is idle, make sure that there is one, and read it."""
        columns = key_columns(key)
        results = await self._database.transaction(
            [
                *first,
                Statement(DELETE_ATTACHMENTS_OF_IDLE, (*columns, idle_since)),
                Statement(_CLOSE_IDLE, (*columns, idle_since, now)),
                Statement(INSERT_SESSION, (*columns, str(uuid4()), now)),
                Statement(
                    SELECT_OPEN_SESSION, (*columns, _BEGINNING_OF_TIME, visibility, self._paging.next_page())
                ),
            ],
            [user(key.user_id)],
        )
        return opening(results[-1])


def _is_answer(message: Message, id_: int | None) -> bool:
    return id_ is not None and message.id == id_ and message.role == "assistant"
