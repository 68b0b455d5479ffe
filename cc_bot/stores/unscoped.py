"""The statements that touch users' data without a user's id: all of them, in one place.

Every other statement names its user in its WHERE clause, so that no mistake above the stores can show one
user what is another's. Those here serve all users at once by their nature. Those of channels have no user at
all: they stand beside the stores that run them, and are named here. A test records what the stores run and
fails on any statement without a user that does not stand here.
"""

from typing import Final

from cc_bot.stores.blocks import BLOCK_STATEMENTS
from cc_bot.stores.canvases import CANVAS_STATEMENTS
from cc_bot.stores.channel_removal import REMOVAL_STATEMENTS
from cc_bot.stores.channel_statements import CHANNEL_STATEMENTS
from cc_bot.stores.ledger import LEDGER_STATEMENTS
from cc_bot.stores.memory_calls import NOTE_CHANNEL_CALLS
from cc_bot.stores.memory_remaking import REMAKING_STATEMENTS
from cc_bot.stores.memory_removal_statements import (
    ERASURE_STATEMENTS,
    SELECT_DUE,
    SELECT_OLDEST_HIDDEN,
)
from cc_bot.stores.memory_traces import SELECT_CHANNEL_QUESTIONS
from cc_bot.stores.mentions import MENTION_STATEMENTS
from cc_bot.stores.personal_erasure_statements import PERSONAL_ERASURE_STATEMENTS
from cc_bot.stores.personal_tables import CHANNEL_READING_STATEMENTS
from cc_bot.stores.proposals import DROP_OF_CHANNEL_ANSWER, INSERT_CHANNEL_PROPOSAL, PRUNE_PROPOSALS
from cc_bot.stores.receipts import SELECT_STALE_RECEIPTS
from cc_bot.stores.retention import RETENTION_STATEMENTS
from cc_bot.stores.schedule_statements import SCHEDULE_STATEMENTS
from cc_bot.stores.usage_statements import USAGE_STATEMENTS
from cc_bot.stores.vector_statements import VECTOR_STATEMENTS
from cc_bot.stores.vitals import VITAL_STATEMENTS

DELETE_EXPIRED_ATTACHMENTS: Final = """
    DELETE FROM attachments
    WHERE session_id IN (SELECT id FROM sessions WHERE closed_at IS NULL AND last_active <= $1)
"""
"""Parameters: the last moment of activity that is too long ago. To be run before CLOSE_EXPIRED."""

CLOSE_EXPIRED: Final = """
    UPDATE sessions SET closed_at = $2
    WHERE closed_at IS NULL AND last_active <= $1
    RETURNING id
"""
"""Parameters: the last moment of activity that is too long ago, now."""

SELECT_TO_SUMMARIZE: Final = """
    SELECT user_id, channel_id, agent FROM sessions
    WHERE summarize = 1 AND closed_at IS NOT NULL
    ORDER BY closed_at DESC LIMIT $1
"""
"""The keys of expired sessions whose rest may be in no summary yet. Parameters: how many at most."""

SETTLE_SUMMARIZED: Final = """
    UPDATE sessions SET summarize = 0
    WHERE summarize = 1 AND closed_at IS NOT NULL AND closed_at <= $1 AND ($2 = 1 OR NOT EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.session_id = sessions.id AND m.id > sessions.summarized_to
    ))
    RETURNING id
"""
"""Parameters: closed until when, 1 for whether or not everything is in a summary."""

SELECT_DIRECT: Final = """
    SELECT s.channel_id
    FROM sessions AS s
    WHERE s.closed_at IS NULL AND s.last_active > $1 AND EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.session_id = s.id AND m.user_id = s.user_id
            AND m.role = 'user' AND m.visibility = 'private' AND m.discord_id IS NOT NULL
    )
    ORDER BY s.last_active DESC
    LIMIT $2
"""
"""DMs of open sessions. Served by sessions_open_by_activity, and messages_by_session for each session's first
words. Parameters: since when, how many at most."""

SELECT_KNOWN: Final = "SELECT discord_id FROM messages WHERE discord_id IN (SELECT value FROM json_each($1))"
"""Served by messages_by_discord_id. Parameters: the ids of messages, as JSON."""

UNSCOPED: Final = frozenset(
    {
        *(DELETE_EXPIRED_ATTACHMENTS, CLOSE_EXPIRED),
        *(SELECT_TO_SUMMARIZE, SETTLE_SUMMARIZED),
        *(SELECT_DIRECT, SELECT_KNOWN),
        *(SELECT_DUE, SELECT_OLDEST_HIDDEN),
        *(NOTE_CHANNEL_CALLS, SELECT_CHANNEL_QUESTIONS, *ERASURE_STATEMENTS),
        *LEDGER_STATEMENTS,
        SELECT_STALE_RECEIPTS,
        *(*PERSONAL_ERASURE_STATEMENTS, *CHANNEL_READING_STATEMENTS, *RETENTION_STATEMENTS),
        *CANVAS_STATEMENTS,
        *SCHEDULE_STATEMENTS,
        *(DROP_OF_CHANNEL_ANSWER, INSERT_CHANNEL_PROPOSAL, PRUNE_PROPOSALS),
        *USAGE_STATEMENTS,
        *VECTOR_STATEMENTS,
        *VITAL_STATEMENTS,
        *REMAKING_STATEMENTS,
        *(*BLOCK_STATEMENTS, *CHANNEL_STATEMENTS, *REMOVAL_STATEMENTS, *MENTION_STATEMENTS),
    }
)
