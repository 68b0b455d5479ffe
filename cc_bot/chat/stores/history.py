"""A session's history: the query that reads it, and how its rows are read.

It is the tail of the archive: one query reads the session, its last messages, summaries and canvas. Only
files take a second trip, and images a third. A JSON copy of the history made a turn cost 2.9 times as much.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import dropwhile
from typing import Final, NamedTuple

from cc_bot.db import Database, Row, Statement, Steps
from cc_bot.db.columns import MESSAGE, Columns
from cc_bot.domain.message import (
    MAX_REQUEST_IMAGE_BYTES,
    Attachment,
    FileQuota,
    Message,
    Reference,
    Role,
    document_from_json,
    document_to_json,
)
from cc_bot.domain.session import EMPTY_CANVAS, Recollection, Session, SessionKey


class _SessionMessage(NamedTuple):
    replied: str | None
    """The beginning of the message it replies to, if visible in the turn."""
    replied_role: Role | None
    message: Message


REPLIED_CHARACTERS: Final = 100
_SAID: Final = Columns(_SessionMessage, message=MESSAGE)

_OF_TAIL: Final = f"substr(r.content, 1, {REPLIED_CHARACTERS}), r.role, {MESSAGE.of('m')}"

# Only the user's own message or the bot's. {visibility}: the parameter with the turn's visibility.
_JOIN_REPLIED: Final = """
    LEFT JOIN messages AS r
        ON r.discord_id = m.reply_to AND r.user_id = $1 AND r.visibility IN ('public', {visibility})
"""


def _of(id_: str, role: str, **columns: str) -> str:
    """The same columns for rows that are not the session's messages: `role` says what they are."""
    return _SAID.filled(id=id_, role=f"'{role}'", **columns)


# $1 user, $2 channel, $3 agent, $4 the last activity that is too long ago
_OPEN: Final = """
    user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL AND last_active > $4
"""

# A subquery, so that PostgreSQL reads the index backwards. $5 the turn's visibility, $6 limit. A public turn
# sees public messages, a private one all.
_SELECT_TAIL: Final = f"""
    SELECT {_OF_TAIL}
    FROM messages AS m
    {_JOIN_REPLIED.format(visibility="$5")}
    WHERE m.user_id = $1 AND m.status <> 'replaced' AND m.visibility IN ('public', $5)
        AND m.session_id = (SELECT id FROM sessions WHERE {_OPEN})
    ORDER BY m.id DESC
    LIMIT $6
"""  # noqa: S608 - put together from constants alone

_SESSION_COLUMNS: Final = _of(
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
_SELECT_SESSION: Final = f"SELECT {_SESSION_COLUMNS} FROM sessions AS s WHERE {_OPEN}"  # noqa: S608 - put together from constants alone

_LAST_EXPIRED: Final = """
    FROM sessions
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND summarize = 1 AND closed_at IS NOT NULL
    ORDER BY closed_at DESC LIMIT 1
"""

# User messages of an expired session that are not summarized yet.
_SELECT_REST: Final = f"""
    SELECT {_of("m.id", "rest", content="m.content", visibility="m.visibility", tainted="m.tainted")}
    FROM messages AS m
    WHERE m.user_id = $1 AND m.role = 'user' AND m.visibility IN ('public', $5)
        AND m.session_id = (SELECT id {_LAST_EXPIRED}) AND m.id > (SELECT summarized_to {_LAST_EXPIRED})
    ORDER BY m.id DESC
    LIMIT 20
"""  # noqa: S608 - put together from constants alone

_SELECT_SUMMARIES: Final = f"""
    SELECT {_of("id", "summary", content="content", visibility="visibility", tainted="tainted")}
    FROM summaries
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND visibility IN ('public', $5)
"""  # noqa: S608 - put together from constants alone

_SELECT_CANVAS: Final = f"""
    SELECT {_of("0", "canvas", content="canvas_state")}
    FROM sessions
    WHERE {_OPEN} AND canvas_state <> '{EMPTY_CANVAS}'
"""  # noqa: S608 - put together from constants alone

# Five parts in one trip, which differ in `role`; a join would repeat the session with every message.
SELECT_OPEN_SESSION: Final = f"""
    SELECT * FROM ({_SELECT_TAIL}) AS tail
    UNION ALL
    {_SELECT_SESSION}
    UNION ALL
    SELECT * FROM ({_SELECT_REST}) AS rest
    UNION ALL
    {_SELECT_SUMMARIES}
    UNION ALL
    {_SELECT_CANVAS}
"""  # noqa: S608 - put together from the constants above

# $1 user, $2 session, $3 the turn's visibility, $4 the message that they precede, $5 limit
SELECT_EARLIER: Final = f"""
    SELECT {_OF_TAIL}
    FROM sessions AS s
    JOIN messages AS m
        ON m.session_id = s.id AND m.user_id = $1 AND m.id < $4
        AND m.status <> 'replaced' AND m.visibility IN ('public', $3)
    {_JOIN_REPLIED.format(visibility="$3")}
    WHERE s.id = $2 AND s.user_id = $1 AND s.closed_at IS NULL
    ORDER BY m.id DESC
    LIMIT $5
"""  # noqa: S608 - put together from constants alone

# A query of its own, as few sessions have files: joined, they would add a third to each read. $1 session, $2
# user, $3 the oldest message shown, $4 the one after the newest
_SELECT_FILES: Final = """
    SELECT
        message_id, name, content_type,
        CASE WHEN document IS NULL AND content_type NOT LIKE 'image/%' THEN data END,
        document, source_id, bytes, position
    FROM attachments
    WHERE session_id = $1 AND user_id = $2 AND message_id >= $3 AND message_id < $4
    ORDER BY message_id, position
"""

# $1 session, $2 user, $3 names of slots (_newest_images)
_SELECT_IMAGES: Final = """
    SELECT message_id, position, data FROM attachments
    WHERE session_id = $1 AND user_id = $2
        AND CAST(message_id AS TEXT) || ' ' || CAST(position AS TEXT) IN @texts($3)
"""

PAGE_SIZE: Final = 200
UNBOUNDED: Final = 2**62
"""More than any number of messages, and larger than any id."""

message_id, _role, _content = map(_SAID.column, ("id", "role", "content"))
_visibility, _tainted = map(_SAID.column, ("visibility", "tainted"))
_opened_at, _last_active, _has_files = map(_SAID.column, ("author_name", "heard", "tainted"))


Parts = Mapping[str, Sequence[Row]]
"""The rows of SELECT_OPEN_SESSION by part: `session` if one is open, its `messages`, newest first,
`summary`, `rest` (of an expired session) and `canvas`."""


def split(rows: Sequence[Row]) -> Parts:
    parts = defaultdict[str, list[Row]](list)
    for row in sorted(rows, key=message_id, reverse=True):
        role = _role(row)
        parts["messages" if role in ("user", "assistant") else role].append(row)
    return parts


def has_question(rows: Sequence[Row]) -> bool:
    return any(_role(row) == "user" for row in rows)


def read_session(parts: Parts, key: SessionKey, now: datetime, *, more: bool = False) -> Session:
    """Read the open session without files; if there is none, one that is not stored."""
    session = next(iter(parts["session"]), None)
    return Session(
        id=_content(session) if session else "",
        key=key,
        history=read_history(parts["messages"]),
        created_at=datetime.fromisoformat(_opened_at(session)) if session else now,
        last_active=datetime.fromisoformat(_last_active(session)) if session else now,
        more=more,
        has_files=session is None or bool(_has_files(session)),
        summaries=_recollections(parts["summary"]),
        rest=_recollections(parts["rest"]),
        canvas=_content(parts["canvas"][0]) if parts["canvas"] else EMPTY_CANVAS,
    )


def read_history(rows: Sequence[Row]) -> tuple[Message, ...]:
    """Oldest first, without files; the rows are newest first."""
    messages, last_id = list[Message](), None
    for row in reversed(rows):
        message = _said(row)
        messages.append(message.below(last_id) if message.references else message)
        last_id = message.discord_id
    return tail(messages, 0)


def _said(row: Row) -> Message:
    replied, replied_role, message = _SAID.read(row)
    if message.reply_to is None or message.role == "assistant":
        return message
    name = message.author_name if replied_role == "user" else ""
    reference = Reference(
        message.pointing, replied or "", name, message.author_id, shown=replied is not None, tainted=False
    )
    return replace(message, references=(reference,))


def tail(messages: Iterable[Message], limit: int) -> tuple[Message, ...]:
    """Return the last `limit` messages (0: all), never starting with an answer."""
    kept = tuple(messages)[-limit:]  # [-0:] is everything
    return tuple(dropwhile(lambda message: message.role == "assistant", kept))


def _recollections(rows: Sequence[Row]) -> tuple[Recollection, ...]:
    return tuple(Recollection(_visibility(row), _content(row), bool(_tainted(row))) for row in reversed(rows))


async def with_files(
    database: Database,
    session: Session,
    rows: Sequence[Row],
    messages: tuple[Message, ...],
    *,
    before: int = UNBOUNDED,
    following: Sequence[Message] = (),
) -> tuple[Message, ...]:
    """Return the messages, read from these rows, with their files, and the newest of their images that fit
    into one request with the `following` messages. `before`: the message after the newest."""
    if not rows or not session.has_files:
        return messages
    owned = (session.id, session.key.user_id)
    files = await database.query(_SELECT_FILES, *owned, message_id(rows[-1]), before)
    wanted = _newest_images(files, {*map(message_id, rows)}, _image_room(following))
    found = await database.query(_SELECT_IMAGES, *owned, json.dumps(wanted)) if wanted else ()
    images = {(id_, position): image for id_, position, image in found}
    attachments = defaultdict[int | None, list[Attachment]](list)
    for id_, name, content_type, data, stored, source_id, size, position in files:
        if size is not None:  # see FREE_OLDEST_FILES
            document = document_from_json(stored) if stored else None
            content = images.get((id_, position), data) or b""
            attachments[id_].append(Attachment(name, content_type, content, document, source_id))
    return tuple(
        replace(each, attachments=tuple(attachments[each.id])) if each.id in attachments else each
        for each in messages
    )


def _newest_images(files: Sequence[Row], message_ids: Collection[int], room_bytes: int) -> list[str]:
    """Return the newest images that fit into so many bytes, as _SELECT_IMAGES names them."""
    slots = list[str]()
    for id_, _, content_type, _, document, _, size, position in reversed(files):
        if id_ not in message_ids or document or not content_type.startswith("image/"):
            continue
        room_bytes -= size or 0
        if room_bytes < 0:
            break
        slots.append(f"{id_} {position}")
    return slots


def _image_room(history: Sequence[Message]) -> int:
    """Return how many bytes of images may still precede these messages in one request."""
    images = [file.data for message in history for file in message.attachments if file.is_image]
    return MAX_REQUEST_IMAGE_BYTES - sum(map(len, images)) if all(images) else 0


DELETE_ATTACHMENTS_OF_IDLE: Final = """
    DELETE FROM attachments
    WHERE user_id = $1 AND session_id IN (
        SELECT id FROM sessions
        WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL AND last_active <= $4
    )
"""

# Run right after its message, which is then the session's newest.
_INSERT_ATTACHMENT: Final = """
    INSERT INTO attachments (
        message_id, session_id, user_id, position, name, content_type, data, document, source_id, bytes
    )
    SELECT id, session_id, user_id, $3, $4, $5, $6, $7, $8, $9
    FROM messages WHERE session_id = $1 AND user_id = $2
    ORDER BY id DESC LIMIT 1
"""

# Keeps files that either history shows: of public messages, or of all.
_DELETE_ATTACHMENTS_NO_LONGER_SEEN: Final = """
    DELETE FROM attachments
    WHERE session_id = $1 AND user_id = $2 AND message_id NOT IN (
        SELECT id FROM (
            SELECT id FROM messages
            WHERE session_id = $1 AND user_id = $2 AND status <> 'replaced'
            ORDER BY id DESC LIMIT $3
        ) AS everything
        UNION ALL
        SELECT id FROM (
            SELECT id FROM messages
            WHERE session_id = $1 AND user_id = $2 AND status <> 'replaced' AND visibility = 'public'
            ORDER BY id DESC LIMIT $3
        ) AS said_in_public
    )
"""

# A late turn of a closed session brings files that will not be read.
_DELETE_ATTACHMENTS_OF_CLOSED: Final = """
    DELETE FROM attachments
    WHERE session_id = $1 AND user_id = $2 AND session_id IN (
        SELECT id FROM sessions WHERE id = $1 AND user_id = $2 AND closed_at IS NOT NULL
    )
"""


_DELETE_FILES_BEYOND_QUOTA: Final = """
    DELETE FROM attachments
    WHERE user_id = $1 AND (message_id, position) IN (
        SELECT message_id, position FROM (
            SELECT
                message_id, position,
                sum(bytes) OVER (ORDER BY message_id DESC, position DESC) AS up_to_here
            FROM attachments WHERE user_id = $1 AND bytes IS NOT NULL
        ) AS newest_first
        WHERE up_to_here > $2
    )
    RETURNING 1
"""

# Rows left by FREE_OLDEST_FILES; reported to their user now. $1 session, $2 user
_DELETE_FREED_FILES: Final = """
    DELETE FROM attachments WHERE session_id = $1 AND user_id = $2 AND bytes IS NULL RETURNING 1
"""

SELECT_FILE_BYTES: Final = """
    SELECT user_id, CAST(sum(bytes) AS BIGINT) FROM attachments WHERE bytes IS NOT NULL GROUP BY user_id
    /* all users */
"""

# $1 user, $2 bytes to free at least, $3 no bytes
FREE_OLDEST_FILES: Final = """
    UPDATE attachments SET data = $3, document = NULL, bytes = NULL
    WHERE user_id = $1 AND (message_id, position) IN (
        SELECT message_id, position FROM (
            SELECT message_id, position, sum(bytes) OVER (ORDER BY message_id, position) - bytes AS before
            FROM attachments WHERE user_id = $1 AND bytes IS NOT NULL
        ) AS oldest_first
        WHERE before < $2
    )
"""


def make_room(
    session: Session, said: Sequence[Message], history_limit: int, quota: FileQuota
) -> Steps[tuple[int, bool]]:
    """Delete files that no request shows or that are too many. Returns how many to report to the user, and
    whether all users together have too many."""
    owned, brings_files = (session.id, session.key.user_id), any(message.attachments for message in said)
    deleted, held = list[Row](), list[Row]()
    if history_limit and (session.has_files or brings_files):
        yield Statement(_DELETE_ATTACHMENTS_NO_LONGER_SEEN, (*owned, history_limit))
    if session.has_files:
        deleted += yield Statement(_DELETE_FREED_FILES, owned)
    if brings_files:
        yield Statement(_DELETE_ATTACHMENTS_OF_CLOSED, owned)
        deleted += yield Statement(_DELETE_FILES_BEYOND_QUOTA, (session.key.user_id, quota.user_bytes))
        held += yield Statement(SELECT_FILE_BYTES)
    return len(deleted), sum(size for _, size in held) > quota.total_bytes


def free_files(total_bytes: int) -> Steps[None]:
    """Free files of the users with the most until all users together are within the limit."""
    while True:
        held = sorted((size, user_id) for user_id, size in (yield Statement(SELECT_FILE_BYTES)))
        excess = sum(size for size, _ in held) - total_bytes
        if excess <= 0:
            return
        most, user_id = held[-1]
        second = held[-2][0] if len(held) > 1 else 0
        yield Statement(FREE_OLDEST_FILES, (user_id, min(excess, most - second + 1), b""))


def _columns(file: Attachment) -> tuple[str, str, bytes, str | None, int | None, int]:
    document = document_to_json(file.document) if file.document else None
    size = len(file.data) + len((document or "").encode("utf-8", "replace"))
    return (file.name, file.content_type, file.data, document, file.source_id, size)


def insert_files(owned: tuple[str, int], message: Message) -> list[Statement]:
    return [
        Statement(_INSERT_ATTACHMENT, (*owned, position, *_columns(file)))
        for position, file in enumerate(message.attachments)
    ]
