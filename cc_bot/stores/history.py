"""A session's history: the query that reads it, and what its rows mean.

The history is the tail of the archive, not a copy of it. One query brings the session, its last messages
and their attachments, so that a turn begins with one trip to the database.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import dropwhile
from operator import itemgetter
from typing import Final

from cc_bot.domain.message import Attachment, Message, ToolCall
from cc_bot.domain.session import Session, SessionKey
from cc_bot.storage import Row
from cc_bot.stores.columns import from_ms

# $1 user, $2 channel, $3 agent, $4 the last activity that is too long ago, $5 the turn's visibility, $6
# limit. A public turn is not shown what was said in private; a private one has both.
SELECT_OPEN_SESSION: Final = """
    SELECT h.session_id, h.session_created_at, h.last_active,
           h.id, h.role, h.content, h.tool_calls, h.status, h.visibility,
           h.author_id, h.author_name, h.discord_id, h.created_at,
           a.position, a.name, a.content_type, a.data
    FROM (
        SELECT s.id AS session_id, s.created_at AS session_created_at, s.last_active,
               m.id, m.role, m.content, m.tool_calls, m.status, m.visibility,
               m.author_id, m.author_name, m.discord_id, m.created_at
        FROM sessions AS s
        LEFT JOIN messages AS m
            ON m.session_id = s.id AND m.user_id = $1
            AND m.status <> 'replaced' AND m.visibility IN ('public', $5)
        WHERE s.user_id = $1 AND s.channel_id = $2 AND s.agent = $3
            AND s.closed_at IS NULL AND s.last_active > $4
        ORDER BY m.id DESC
        LIMIT $6
    ) AS h
    LEFT JOIN attachments AS a ON a.message_id = h.id AND a.user_id = $1
"""

_MESSAGE_ID, _POSITION = 3, 13
_in_order = itemgetter(_MESSAGE_ID, _POSITION)


def read_session(rows: Sequence[Row], key: SessionKey) -> Session:
    """The session of SELECT_OPEN_SESSION's rows, of which there must be at least one."""
    session_id, created_at, last_active = rows[0][:3]
    return Session(
        id=session_id,
        key=key,
        history=_history(rows),
        created_at=datetime.fromisoformat(created_at),
        last_active=datetime.fromisoformat(last_active),
    )


def window(messages: Iterable[Message], limit: int) -> tuple[Message, ...]:
    """The last `limit` messages (0: all), never starting with an answer whose question has left already."""
    kept = tuple(messages)[-limit:]  # [-0:] is everything
    return tuple(dropwhile(lambda message: message.role == "assistant", kept))


def tool_calls_to_json(calls: tuple[ToolCall, ...]) -> str:
    return json.dumps([asdict(call) for call in calls], ensure_ascii=False) if calls else "[]"


def _history(rows: Sequence[Row]) -> tuple[Message, ...]:
    if rows[0][_MESSAGE_ID] is None:  # a session in which nothing was said yet
        return ()
    # The index was read newest first, and a join promises no order at all.
    ordered = sorted(rows, key=_in_order)
    files = _attachments(ordered)
    return window([_message(row, files) for row in ordered if not row[_POSITION]], 0)


def _attachments(rows: Sequence[Row]) -> dict[int, tuple[Attachment, ...]]:
    files: dict[int, tuple[Attachment, ...]] = {}
    for row in rows:
        if row[_POSITION] is not None:
            _, name, content_type, data = row[_POSITION:]
            files[row[_MESSAGE_ID]] = (*files.get(row[_MESSAGE_ID], ()), Attachment(name, content_type, data))
    return files


def _message(row: Row, files: dict[int, tuple[Attachment, ...]]) -> Message:
    (
        _,
        _,
        _,
        id_,
        role,
        content,
        tool_calls,
        status,
        visibility,
        author_id,
        author_name,
        discord_id,
        ms,
        *_,
    ) = row
    return Message(
        role,
        content,
        tool_calls=_tool_calls(tool_calls) if tool_calls != "[]" else (),
        status=status,
        visibility=visibility,
        author_id=author_id,
        author_name=author_name,
        discord_id=discord_id,
        attachments=files.get(id_, ()),
        created_at=from_ms(ms),
        id=id_,
    )


def _tool_calls(text: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**call) for call in json.loads(text))
