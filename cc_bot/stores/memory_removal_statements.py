"""SQL on memories that are deleted, and on what else holds them. $1 is the user, unless it is said otherwise.

`deleted_at` is empty for what is out of reach: it comes before every moment, so it is always due.
"""
# ruff: noqa: S608 - put together from constants alone

from typing import Final

from cc_bot.stores.channel_statements import BLOCKS_FROM_MESSAGE
from cc_bot.stores.memory_rows import COLUMNS
from cc_bot.stores.memory_statements import ROOM_FOR_PIN

# $2 memory, $3 the last moment of deletion that is too long ago
UNDELETE: Final = f"""
    UPDATE memories SET
        status = 'active', deleted_at = NULL, pinned = CASE WHEN {ROOM_FOR_PIN} THEN pinned ELSE 0 END
    WHERE user_id = $1 AND id = $2 AND status = 'deleted' AND deleted_at > $3
    RETURNING {COLUMNS}
"""

# The same, as it is. With the moment of its deletion.
SELECT_HIDDEN: Final = f"""
    SELECT {COLUMNS}, deleted_at FROM memories
    WHERE user_id = $1 AND id = $2 AND status = 'deleted' AND deleted_at > $3
"""

_CHAIN: Final = """
    WITH RECURSIVE chain (id, former) AS (
        SELECT id, supersedes FROM memories WHERE user_id = $1 AND {chosen}
        UNION
        SELECT older.id, older.supersedes
        FROM chain
        JOIN memories AS older
            ON older.user_id = $1 AND older.id = chain.former AND older.status = 'superseded'
    )
"""
_ONE: Final = _CHAIN.format(chosen="id = $2 AND status IN ('active', 'deleted')")

# $2 memory
SELECT_CHAIN: Final = f"""
    {_ONE}
    SELECT id, supersedes, content, created_at FROM memories
    WHERE user_id = $1 AND id IN (SELECT id FROM chain)
"""

_CLAIM: Final = """
    UPDATE memories SET status = 'deleted', deleted_at = ''
    WHERE user_id = $1 AND id IN (SELECT id FROM chain)
    RETURNING id, supersedes, content, created_at
"""

# $2 memory
CLAIM: Final = f"{_ONE} {_CLAIM}"

# $2 an array of memories, $3 deleted until when: one that was had back since is not among them
CLAIM_DUE: Final = f"""
    {
    _CHAIN.format(
        chosen="id IN (SELECT value FROM json_each($2)) AND status = 'deleted' AND deleted_at <= $3"
    )
} {_CLAIM}
"""

CLAIM_ALL: Final = """
    UPDATE memories SET status = 'deleted', deleted_at = ''
    WHERE user_id = $1
    RETURNING id, supersedes, content, created_at
"""

# Of all users. $1 deleted until when, $2 limit
SELECT_DUE: Final = """
    SELECT user_id, id FROM memories
    WHERE status = 'deleted' AND deleted_at <= $1
    ORDER BY deleted_at
    LIMIT $2
"""

# Of all users.
SELECT_OLDEST_HIDDEN: Final = "SELECT min(deleted_at) FROM memories WHERE status = 'deleted'"

# $2 message, $3 its tool calls as they were read, $4 redacted. Served by messages' key.
REDACT: Final = """
    UPDATE messages SET tool_calls = $4
    WHERE memory_user_id = $1 AND id = $2 AND tool_calls = $3
"""

# $2 turn, $3 its calls as they were read, $4 redacted. Served by the key of turn_calls.
REDACT_TURN: Final = """
    UPDATE turn_calls SET calls = $4
    WHERE user_id = $1 AND turn = $2 AND calls = $3
"""

# $2 session, $3 its canvas as it was read, $4 what is left of it
CHANGE_CANVAS: Final = """
    UPDATE sessions SET canvas_state = $4
    WHERE user_id = $1 AND id = $2 AND canvas_state = $3
"""

# $2 an array of summaries
DELETE_SUMMARIES: Final = """
    DELETE FROM summaries
    WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2))
    RETURNING id
"""

# $2 an array of proposals
DELETE_PROPOSALS: Final = """
    DELETE FROM proposals WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2))
"""

# What was said goes into no summary any more, not even into one that is being written. $2 channel, $3 agent
COVER: Final = """
    UPDATE sessions SET summarized_to = coalesce(
        (
            SELECT m.id FROM messages AS m
            WHERE m.user_id = $1 AND m.session_id = sessions.id AND m.id > sessions.summarized_to
            ORDER BY m.id DESC LIMIT 1
        ),
        summarized_to
    )
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND summarize = 1
"""

# $2 an array of memories
DELETE_MEMORIES: Final = (
    "DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id IN (SELECT value FROM json_each($2))",
    """
    DELETE FROM memories
    WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2)) AND status = 'deleted' AND deleted_at = ''
    """,
)

# $2 an array of messages, in these
DELETE_FILES: Final = """
    DELETE FROM attachments
    WHERE user_id = $1 AND message_id IN (SELECT value FROM json_each($2))
"""

# $3 what takes their place
EMPTY: Final = """
    UPDATE messages SET content = $3, erased = 1
    WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2))
    RETURNING id
"""

# Of nobody alone, but the user asked it or it was answered to the user. $3 what takes their place
EMPTY_IN_CHANNELS: Final = """
    UPDATE messages SET content = $3, erased = 1
    WHERE user_id IS NULL AND id IN (SELECT value FROM json_each($2)) AND $1 IN (author_id, memory_user_id)
    RETURNING id
"""

# The frozen blocks that hold them. $1 an array of messages
THAW: Final = f"""
    DELETE FROM block_boundaries WHERE id IN (
        {BLOCKS_FROM_MESSAGE}
        WHERE m.user_id IS NULL AND m.id IN (SELECT value FROM json_each($1))
    )
"""

OWE: Final = "UPDATE memory_erasures SET erased = erased + 1 WHERE id = 1"

SELECT_OWED: Final = "SELECT erased, written_back, rewritten, rewritten_at FROM memory_erasures WHERE id = 1"

# $1 how often something had been erased when the log was written back
WRITTEN_BACK: Final = "UPDATE memory_erasures SET written_back = $1 WHERE id = 1 AND written_back < $1"

# The log has the file as it is written anew, so that it has to be written back once more.
# $1 how often something had been erased then, $2 now
REWRITTEN: Final = """
    UPDATE memory_erasures SET rewritten = $1, rewritten_at = $2, written_back = min(written_back, $1 - 1)
    WHERE id = 1 AND rewritten < $1
"""

ERASURE_STATEMENTS: Final = frozenset({EMPTY_IN_CHANNELS, THAW})
"""Those on what was said in channels."""
