"""SQL of the search among a user's memories."""
# ruff: noqa: S608 - put together from constants alone

from typing import Final

from cc_bot.stores.memory_notes import NOTE_COLUMNS
from cc_bot.stores.memory_rows import COLUMNS
from cc_bot.stores.value_lists import ListStatement

# Parameters: those of NOTE_COLUMNS
SELECT_WAITING: Final = f"""
    SELECT {NOTE_COLUMNS}, keys FROM memories
    WHERE user_id = $1 AND place IS NULL AND status = 'active'
    ORDER BY id
"""

# $1 user
SELECT_SEGMENTS: Final = """
    SELECT segment, documents, total_length, keys FROM memory_segments WHERE user_id = $1 ORDER BY segment
"""

# $1 user
SELECT_CHUNKS: Final = """
    SELECT chunk, documents, total_length FROM memory_chunks WHERE user_id = $1 ORDER BY chunk
"""

# $1 user, then keys. The chunks come first, so that each key is looked up in each.
SELECT_POSTINGS: Final = ListStatement(
    """
    SELECT key, chunk, postings FROM memory_postings
    WHERE user_id = $1
        AND chunk IN (SELECT c.chunk FROM memory_chunks AS c WHERE c.user_id = $1)
        AND key IN ({list})
    """,
    fixed=1,
)

# Parameters: those of NOTE_COLUMNS, then places
SELECT_OF_SEGMENTS: Final = ListStatement(
    f"SELECT {NOTE_COLUMNS}, place FROM memories WHERE user_id = $1 AND place IN ({{list}})", fixed=5
)

# Parameters: those of NOTE_COLUMNS, then places
SELECT_OF_CHUNKS: Final = ListStatement(
    f"SELECT {NOTE_COLUMNS}, keys FROM memories WHERE user_id = $1 AND place IN ({{list}})", fixed=5
)

# Parameters: those of NOTE_COLUMNS, then ids
SELECT_NEAR: Final = ListStatement(
    f"SELECT {NOTE_COLUMNS}, keys FROM memories"
    " WHERE user_id = $1 AND id IN ({list}) AND status = 'active'",
    fixed=5,
)

# $1 user, then ids
SELECT_FOUND: Final = ListStatement(
    f"SELECT {COLUMNS} FROM memories WHERE user_id = $1 AND id IN ({{list}}) AND status = 'active'", fixed=1
)

# $1 user, $2 limit, $3 category or NULL, $4 audience beside 'anywhere', $5 now; then tags
NEWEST: Final = f"""
    SELECT {COLUMNS} FROM memories
    WHERE user_id = $1 AND status = 'active' AND ($3 IS NULL OR category = $3)
        AND audience IN ('anywhere', $4) AND (expires_at IS NULL OR expires_at > $5)
"""
