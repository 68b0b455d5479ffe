"""How a turn is stored in its session: its messages, their files, and what it drew."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from cc_bot.domain.canvas import Canvas, Drawn
from cc_bot.domain.canvas_reducer import reduce_all
from cc_bot.domain.errors import ConversationGone
from cc_bot.domain.message import Message
from cc_bot.domain.proposal import Proposal, ProposedChange
from cc_bot.domain.session import Session, SessionKey
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.attachments import (
    DELETE_ATTACHMENTS_NO_LONGER_SEEN,
    DELETE_ATTACHMENTS_OF_CLOSED,
    insert_files,
)
from cc_bot.stores.canvas_statements import current, put, select_current
from cc_bot.stores.columns import to_ms, to_text
from cc_bot.stores.ledger import ANSWERED
from cc_bot.stores.memory_calls import NOTE_CALLS, note_calls
from cc_bot.stores.message_columns import tool_calls_to_json
from cc_bot.stores.proposals import DROP_OF_ANSWER, INSERT_PROPOSAL, insert_proposals, read_proposal

# Discord's id of it goes to the answer that takes its place, in the same message.
_MARK_REPLACED: Final = """
    UPDATE messages SET status = 'replaced', discord_id = NULL
    WHERE id = $3 AND session_id = $1 AND user_id = $2 AND role = 'assistant'
"""

# Taking owner and channel from the session's own row refuses a session that is not the user's.
_INSERT_MESSAGE: Final = """
    INSERT INTO messages (
        session_id, user_id, channel_id, parent_channel_id, author_id, author_name,
        discord_id, role, content, tool_calls, visibility, status, timestamp, created_at, tainted
    )
    SELECT id, user_id, channel_id, channel_id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12
    FROM sessions WHERE id = $1 AND user_id = $2
    RETURNING id
"""

# A session that was closed while the model was thinking stays closed, and one that expired stays expired.
_TOUCH: Final = """
    UPDATE sessions SET last_active = $3
    WHERE id = $1 AND user_id = $2 AND closed_at IS NULL AND last_active > $4
"""


@dataclass(frozen=True, slots=True)
class NewTurn:
    session: Session
    messages: tuple[Message, ...]
    now: datetime
    replaces: int | None
    """The answer that the turn's takes the place of."""
    drawn: tuple[Drawn, ...]
    entry: str = ""
    """Of the turn in the ledger; empty where it has none."""
    proposals: tuple[ProposedChange, ...] = ()
    """What its answer proposes."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    messages: tuple[Message, ...]
    """With their ids and times."""
    canvas: Canvas | None = None
    """All that is up now, where the turn has changed it."""
    proposals: tuple[Proposal, ...] = ()
    """With their ids."""


async def store_turn(database: Database, turn: NewTurn, idle_since: str, limit: int) -> StoredTurn:
    """Store it, whole or not at all. `idle_since`: the last moment of activity that is too long ago for the
    session to be open still; `limit`: messages in a history, 0 for no bound.

    Raises StorageError; ConversationGone when the session is not its key's user's.
    """
    batch = _statements(turn, idle_since, limit)
    if turn.drawn:
        results, canvas = await database.write(lambda: _with_drawing(batch, turn))
    else:
        results, canvas = await database.transaction(batch), None
    inserted = _rows_of(_INSERT_MESSAGE, batch, results)
    messages = (
        replace(
            message,
            id=_stored_id(rows),
            created_at=turn.now,
            author_id=_author(message, turn.session.key),
            tainted=message.taints,
        )
        for message, rows in zip(turn.messages, inserted, strict=True)
    )
    made = [row for rows in _rows_of(INSERT_PROPOSAL, batch, results) for row in rows]
    return StoredTurn(tuple(messages), canvas, tuple(map(read_proposal, made)))


def _rows_of(sql: str, batch: Sequence[Statement], results: Sequence[Sequence[Row]]) -> list[Sequence[Row]]:
    return [rows for each, rows in zip(batch, results, strict=True) if each.sql is sql]


def _statements(turn: NewTurn, idle_since: str, limit: int) -> list[Statement]:
    owned = (turn.session.id, turn.session.key.user_id)
    batch = []
    if turn.replaces is not None:
        batch.append(Statement(_MARK_REPLACED, (*owned, turn.replaces)))
        batch.append(Statement(DROP_OF_ANSWER, (turn.session.key.user_id, turn.replaces)))
    for message in turn.messages:
        batch.append(_insert(owned, message, _author(message, turn.session.key), to_ms(turn.now)))
        batch.extend(note_calls(NOTE_CALLS, *owned, message.tool_calls))
        batch.extend(insert_files(owned, message))
    batch += insert_proposals(
        turn.session.key,
        turn.session.id,
        turn.proposals,
        turn.now,
        visibility=turn.messages[-1].visibility,
    )
    batch.append(Statement(_TOUCH, (*owned, to_text(turn.now), idle_since)))
    if limit:
        batch.append(Statement(DELETE_ATTACHMENTS_NO_LONGER_SEEN, (*owned, limit)))
    if any(message.attachments for message in turn.messages):
        batch.append(Statement(DELETE_ATTACHMENTS_OF_CLOSED, owned))
    if turn.entry:
        session_id, user_id = owned
        batch.append(Statement(ANSWERED, (turn.entry, user_id, session_id)))
    return batch


def _with_drawing(
    batch: Sequence[Statement], turn: NewTurn
) -> Steps[tuple[list[Sequence[Row]], Canvas | None]]:
    results = []
    for statement in batch:
        results.append((yield statement))
    return results, (yield from _draw(turn))


def _draw(turn: NewTurn) -> Steps[Canvas | None]:
    """Do once more what the turn did to the canvas, on what that is now: a heartbeat may have drawn since, or
    its user cleared it. After `/clear` the canvas is another session's, and stays as clean as it is."""
    session = turn.session
    found = current((yield select_current(session.key)))
    if found is not None and found.session_id != session.id:
        return None
    before = found.canvas if found else Canvas()
    canvas = reduce_all(before, turn.drawn)
    if canvas == before:
        return None
    yield put(session.id, session.key, canvas)
    return canvas


def _author(message: Message, key: SessionKey) -> int:
    """Who wrote it; a question of nobody in particular is the user's."""
    return message.author_id or (key.user_id if message.role == "user" else 0)


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
        int(message.taints),
    )
    return Statement(_INSERT_MESSAGE, (*owned, *columns))


def _stored_id(rows: Sequence[Row]) -> int:
    if not rows:
        raise ConversationGone  # the session is not this user's, or is no longer there
    return int(rows[0][0])
