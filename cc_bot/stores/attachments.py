"""The bytes of files that came with questions: kept as long as their turn is in the history."""

from typing import Final

from cc_bot.domain.message import Message
from cc_bot.storage import Statement

# $1 user, $2 channel, $3 agent, $4 the last activity that is too long ago
DELETE_ATTACHMENTS_OF_IDLE: Final = """
    DELETE FROM attachments
    WHERE user_id = $1 AND session_id IN (
        SELECT id FROM sessions
        WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL AND last_active <= $4
    )
"""

# Run next after its message, in the same transaction: that is the session's newest.
_INSERT_ATTACHMENT: Final = """
    INSERT INTO attachments (message_id, session_id, user_id, position, name, content_type, data)
    SELECT id, session_id, user_id, $3, $4, $5, $6
    FROM messages WHERE session_id = $1 AND user_id = $2
    ORDER BY id DESC LIMIT 1
"""

# There are two windows on a session: of what was said in public, and of everything. Either one keeps a
# file. Where there is no file, the windows are not looked at.
DELETE_ATTACHMENTS_NO_LONGER_SEEN: Final = """
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

# A late turn of a closed session brings files that nobody will read.
DELETE_ATTACHMENTS_OF_CLOSED: Final = """
    DELETE FROM attachments
    WHERE session_id = $1 AND user_id = $2 AND session_id IN (
        SELECT id FROM sessions WHERE id = $1 AND user_id = $2 AND closed_at IS NOT NULL
    )
"""


def insert_files(owned: tuple[str, int], message: Message) -> list[Statement]:
    return [
        Statement(_INSERT_ATTACHMENT, (*owned, position, file.name, file.content_type, file.data))
        for position, file in enumerate(message.attachments)
    ]
