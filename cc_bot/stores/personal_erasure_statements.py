"""SQL that erases all of a user, in the order in which it is run. $1 is the user, unless told otherwise.

What is long goes first and some at a time; EVERYTHING_ELSE is one transaction, and takes with it what was
written meanwhile.
"""
# ruff: noqa: S608 - put together from constants alone

from typing import Final

from cc_bot.stores.personal_tables import OWN_MESSAGES, SAID_IN_CHANNELS

# $2 now
BEGIN: Final = "INSERT INTO erasing (user_id, since) VALUES ($1, $2) ON CONFLICT (user_id) DO NOTHING"

# Of all users.
SELECT_BEGUN: Final = "SELECT user_id FROM erasing"

# $2 how many
SELECT_SOME_SAID: Final = """
    SELECT discord_id FROM messages
    WHERE user_id IS NULL AND author_id = $1 AND role = 'user' AND discord_id IS NOT NULL LIMIT $2
"""

# $1 an array of questions
SELECT_ANSWERS_TO: Final = """
    SELECT a.discord_id FROM mentions AS w
    CROSS JOIN messages AS a ON a.discord_id = w.answer_id AND a.user_id IS NULL AND a.role = 'assistant'
    WHERE w.discord_id IN (SELECT value FROM json_each($1))
"""

# Answers in which tools acted for the user, whose questions were deleted before. $2 how many
SELECT_SOME_ANSWERED: Final = """
    SELECT discord_id FROM messages
    WHERE user_id IS NULL AND memory_user_id = $1 AND discord_id IS NOT NULL LIMIT $2
"""

# $2 how many
SELECT_SOME_OWN: Final = f"""
    SELECT id, discord_id FROM messages
    WHERE user_id = $1 AND id IN (SELECT * FROM ({OWN_MESSAGES}) LIMIT $2)
"""

# $2 an array of messages
DELETE_SOME_OWN: Final = """
    DELETE FROM messages WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2))
"""

_REST_OF_OWN: Final = f"DELETE FROM messages WHERE user_id = $1 AND id IN ({OWN_MESSAGES})"

_REST_OF_CHANNELS: Final = (
    f"DELETE FROM messages WHERE user_id IS NULL AND id IN ({SAID_IN_CHANNELS})",
    "DELETE FROM messages WHERE user_id IS NULL AND memory_user_id = $1",
)

_DELETE_OWN: Final = tuple(
    f"DELETE FROM {table} WHERE user_id = $1"
    for table in (
        *("proposals", "receipts", "summaries", "sessions", "canvas_messages"),
        *("memory_vectors", "memory_sketches", "memory_segments", "memory_chunks", "memory_postings"),
        *(
            "memories",
            "memory_usage",
            "numbers",
            "schedules",
            "firings",
            "heartbeat_marks",
            "agent_choices",
            "user_settings",
        ),
        *("turns", "turn_calls", "usage", "reservations"),
    )
)

# Before the usage goes. $2 today, $3 the first of its month
KEEP_COUNT: Final = """
    INSERT INTO erased_usage AS known (user_id, day, tokens)
    SELECT $1, CASE WHEN day < $2 THEN $3 ELSE day END AS counts_on, sum(tokens)
    FROM (
        SELECT day, prompt_tokens + completion_tokens AS tokens FROM usage WHERE user_id = $1 AND day >= $3
        UNION ALL
        SELECT $2, tokens FROM reservations WHERE user_id = $1
    )
    WHERE tokens > 0
    GROUP BY counts_on
    ON CONFLICT (user_id, day) DO UPDATE SET tokens = known.tokens + excluded.tokens
    WHERE known.user_id = $1
"""

FORGET_COUNT: Final = "DELETE FROM erased_usage WHERE user_id = $1"

_SIGNED: Final = ("channel_agents", "channel_models", "limits", "access_rules", "maintenance")

_UNSIGN: Final = tuple(f"UPDATE {table} SET set_by = 0 WHERE set_by = $1" for table in _SIGNED)

_END: Final = "DELETE FROM erasing WHERE user_id = $1"

EVERYTHING_ELSE: Final = (
    _REST_OF_OWN,
    *_REST_OF_CHANNELS,
    *_DELETE_OWN,
    *_UNSIGN,
    _END,
)
"""All with $1 alone. The last takes away the note."""

USERS: Final = " UNION ".join(
    f"SELECT DISTINCT {column} FROM {table} WHERE {column} {held}"
    for column, table, held in (
        ("user_id", "sessions", "IS NOT NULL"),
        ("user_id", "messages", "IS NOT NULL"),
        ("author_id", "messages", "<> 0 AND user_id IS NULL AND role = 'user'"),
        ("memory_user_id", "messages", "IS NOT NULL"),
        ("user_id", "memories", "IS NOT NULL"),
        ("user_id", "summaries", "IS NOT NULL"),
        ("user_id", "schedules", "IS NOT NULL"),
        ("user_id", "firings", "IS NOT NULL"),
        ("user_id", "heartbeat_marks", "IS NOT NULL"),
        ("user_id", "agent_choices", "IS NOT NULL"),
        ("user_id", "canvas_messages", "IS NOT NULL"),
        ("user_id", "user_settings", "IS NOT NULL"),
        ("user_id", "proposals", "IS NOT NULL"),
        ("user_id", "receipts", "IS NOT NULL"),
        ("user_id", "turns", "IS NOT NULL"),
        ("user_id", "turn_calls", "IS NOT NULL"),
        ("user_id", "usage", "IS NOT NULL"),
        ("user_id", "reservations", "IS NOT NULL"),
        ("user_id", "erased_usage", "IS NOT NULL"),
        *(("set_by", table, "<> 0") for table in _SIGNED),
    )
)
"""Everybody about whom something is stored. It reads everything, and takes its time."""

PERSONAL_ERASURE_STATEMENTS: Final = frozenset(
    {
        *(SELECT_BEGUN, USERS, SELECT_SOME_SAID, SELECT_ANSWERS_TO, SELECT_SOME_ANSWERED),
        *_REST_OF_CHANNELS,
    }
)
"""Those without a user, or on what was said in channels."""
