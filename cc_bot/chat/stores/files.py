"""Stores the files of sessions' messages, as long as a request may show them."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Final

from pydantic import TypeAdapter

from cc_bot.db import Database, Row, Statement, Transaction
from cc_bot.domain.message import MAX_REQUEST_IMAGE_BYTES, Attachment, Document, FileQuota, Message
from cc_bot.domain.session import Session

_DOCUMENT: Final = TypeAdapter(Document)
AFTER_ALL_IDS: Final = 2**62  # larger than any id

# Not joined to the messages, which would take a third longer. Images are read by _SELECT_IMAGES.
_SELECT_FILES: Final = """
    SELECT
        message_id, name, content_type,
        CASE WHEN document IS NULL AND content_type NOT LIKE 'image/%' THEN data END,
        document, source_id, bytes, position
    FROM attachments
    WHERE session_id = $1 AND user_id = $2 AND message_id >= $3 AND message_id < $4
    ORDER BY message_id, position
"""

# $3 JSON: texts `message_id position`
_SELECT_IMAGES: Final = """
    SELECT message_id, position, data FROM attachments
    WHERE session_id = $1 AND user_id = $2
        AND CAST(message_id AS TEXT) || ' ' || CAST(position AS TEXT) IN @texts($3)
"""


async def with_files(
    database: Database,
    session: Session,
    messages: tuple[Message, ...],
    *,
    before: int,
    following: Sequence[Message],
) -> tuple[Message, ...]:
    """Return the messages with their files. Only the newest images, which fit into one request with
    `following`, have data. `before`: an id after the last message."""
    if not messages or not session.has_files:
        return messages
    session_and_user = (session.id, session.key.user_id)
    files = await database.query(_SELECT_FILES, *session_and_user, messages[0].id, before)
    positions = _newest_images(files, _image_room(following))
    image_params = (*session_and_user, json.dumps(positions))
    rows = await database.query(_SELECT_IMAGES, *image_params) if positions else ()
    images = {(id_, position): image for id_, position, image in rows}
    attachments = defaultdict[int | None, list[Attachment]](list)
    for id_, name, content_type, data, document_json, source_id, size, position in files:
        if size is not None:  # NULL: emptied by FREE_OLDEST_FILES
            document = _DOCUMENT.validate_json(document_json) if document_json else None
            content = images.get((id_, position), data) or b""
            attachments[id_].append(Attachment(name, content_type, content, document, source_id))
    return tuple(
        replace(each, attachments=tuple(attachments[each.id])) if each.id in attachments else each
        for each in messages
    )


def _newest_images(files: Sequence[Row], room_bytes: int) -> list[str]:
    """Return the newest images that fit into so many bytes, as `message_id position`."""
    images = list[str]()
    for id_, _, content_type, _, document, _, size, position in reversed(files):
        if document or not content_type.startswith("image/"):
            continue
        room_bytes -= size or 0
        if room_bytes < 0:
            break
        images.append(f"{id_} {position}")
    return images


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

DELETE_ATTACHMENTS_OF_CLOSED: Final = """
    DELETE FROM attachments WHERE session_id IN @texts($1) /* scope: all users */
"""

# Keeps files that a history of all messages, or one of public messages, shows.
_DELETE_ATTACHMENTS_NO_LONGER_SEEN: Final = """
    DELETE FROM attachments
    WHERE session_id = $1 AND user_id = $2 AND message_id NOT IN (
        SELECT id FROM (
            SELECT id FROM messages
            WHERE session_id = $1 AND user_id = $2 AND status <> 'replaced'
            ORDER BY id DESC LIMIT $3
        ) AS all_messages
        UNION ALL SELECT id FROM (
            SELECT id FROM messages
            WHERE session_id = $1 AND user_id = $2 AND status <> 'replaced' AND visibility = 'public'
            ORDER BY id DESC LIMIT $3
        ) AS public_messages
    )
"""

# If the session was closed before its turn ended, no request will show the files.
_DELETE_ATTACHMENTS_OF_LATE_TURN: Final = """
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

# The rows emptied by FREE_OLDEST_FILES, which the user is now informed of.
_DELETE_EMPTIED_FILES: Final = """
    DELETE FROM attachments WHERE session_id = $1 AND user_id = $2 AND bytes IS NULL RETURNING 1
"""

SELECT_FILE_BYTES: Final = """
    SELECT user_id, CAST(sum(bytes) AS BIGINT) FROM attachments WHERE bytes IS NOT NULL GROUP BY user_id
    /* scope: all users */
"""

# Keeps the rows, until their user is informed. $2 bytes to free at least, $3 no bytes
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
    session: Session, messages: Sequence[Message], history_limit: int, quota: FileQuota
) -> Transaction[tuple[int, bool]]:
    """Delete files that no request shows or that exceed the quota. Returns how many to report to the user,
    and whether all users' files exceed the total."""
    session_and_user = (session.id, session.key.user_id)
    has_new_files = any(message.attachments for message in messages)
    deleted, sizes = list[Row](), list[Row]()
    if history_limit and (session.has_files or has_new_files):
        yield Statement(_DELETE_ATTACHMENTS_NO_LONGER_SEEN, (*session_and_user, history_limit))
    if session.has_files:
        deleted += yield Statement(_DELETE_EMPTIED_FILES, session_and_user)
    if has_new_files:
        yield Statement(_DELETE_ATTACHMENTS_OF_LATE_TURN, session_and_user)
        deleted += yield Statement(_DELETE_FILES_BEYOND_QUOTA, (session.key.user_id, quota.user_bytes))
        sizes += yield Statement(SELECT_FILE_BYTES)
    return len(deleted), sum(size for _, size in sizes) > quota.total_bytes


def free_files(total_bytes: int) -> Transaction[None]:
    """Empty the oldest files of the users with most bytes, until all files are within the limit."""
    while True:
        sizes = sorted((size, user_id) for user_id, size in (yield Statement(SELECT_FILE_BYTES)))
        excess = sum(size for size, _ in sizes) - total_bytes
        if excess <= 0:
            return
        largest, user_id = sizes[-1]
        second = sizes[-2][0] if len(sizes) > 1 else 0
        yield Statement(FREE_OLDEST_FILES, (user_id, min(excess, largest - second + 1), b""))


def _file_columns(file: Attachment) -> tuple[str, str, bytes, str | None, int | None, int]:
    document = None
    if file.document:
        document = json.dumps(asdict(file.document), ensure_ascii=False, separators=(",", ":"))
    size = len(file.data) + len((document or "").encode("utf-8", "replace"))
    return (file.name, file.content_type, file.data, document, file.source_id, size)


def insert_files(session_and_user: tuple[str, int], message: Message) -> list[Statement]:
    """Run these right after the insert of the message, which is then the session's newest."""
    sql = """
        INSERT INTO attachments (
            message_id, session_id, user_id, position, name, content_type, data, document, source_id, bytes
        )
        SELECT id, session_id, user_id, $3, $4, $5, $6, $7, $8, $9
        FROM messages WHERE session_id = $1 AND user_id = $2
        ORDER BY id DESC LIMIT 1
    """
    return [
        Statement(sql, (*session_and_user, position, *_file_columns(file)))
        for position, file in enumerate(message.attachments)
    ]
