"""Deletions in channels: messages, threads and channels, each with its waiting turns, pages and blocks, in
one transaction. A page stands for its whole answer. Rows of sessions are deleted as well."""

import json
from collections.abc import Collection
from typing import Final

from cc_bot.domain.message import ChannelKey
from cc_bot.storage import Statement, Steps
from cc_bot.stores.blocks import BLOCKS_FROM_MESSAGE

# ruff: noqa: S608 - put together from constants alone

_LAST_THREAD: Final = 2**63 - 1

# The messages that an array of ids ($1) stands for: pages are replaced by their answers.
_MEANT: Final = """
    SELECT value FROM @ids($1) AS meant
    UNION ALL
    SELECT answer_id FROM answer_pages WHERE discord_id IN @ids($1)
"""

# The messages that show answers to the questions $1, and to no question that is left.
ANSWERS_TO: Final = """
    WITH gone (id) AS (SELECT value FROM @ids($1) AS meant), answers (id) AS (
        SELECT w.shown_in FROM turns AS w
        WHERE w.question_id IN (SELECT id FROM gone) AND w.kind = 'mention' AND w.state <> 'accepted'
            AND w.shown_in IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM turns AS other
                WHERE other.shown_in = w.shown_in AND other.kind = 'mention'
                    AND other.question_id NOT IN (SELECT id FROM gone)
            )
        UNION ALL
        SELECT a.discord_id
        FROM messages AS q
        JOIN messages AS a ON a.session_id = q.session_id AND a.id > q.id AND a.role = 'assistant'
        WHERE q.discord_id IN (SELECT id FROM gone) AND q.session_id IS NOT NULL AND q.role = 'user'
            AND a.discord_id IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM messages AS later
                WHERE later.session_id = q.session_id AND later.id > q.id AND later.id < a.id
                    AND later.role = 'user'
            )
    )
    SELECT id FROM answers
    UNION ALL
    SELECT p.discord_id FROM answers JOIN answer_pages AS p ON p.answer_id = answers.id /* any row */
"""

_THAW: Final = f"""
    DELETE FROM block_boundaries WHERE id IN (
        {BLOCKS_FROM_MESSAGE}
        WHERE (m.user_id IS NULL OR m.in_channel = 1) AND m.discord_id @among({_MEANT})
    ) /* channel */
"""

# The questions of session answers among them.
_ASKED: Final = f"""
        SELECT (
            SELECT q.id FROM messages AS q
            WHERE q.session_id = a.session_id AND q.id < a.id AND q.role = 'user' AND q.in_channel = 1
            ORDER BY q.id DESC LIMIT 1
        )
        FROM messages AS a
        WHERE a.discord_id @among({_MEANT}) AND a.in_channel = 1 AND a.role = 'assistant'
"""

# A command's question is visible on Discord only as long as its answer.
_THAW_ASKED: Final = f"""
    DELETE FROM block_boundaries WHERE id IN (
        {BLOCKS_FROM_MESSAGE}
        WHERE m.in_channel = 1 AND m.id @among({_ASKED})
    ) /* channel */
"""

_LEAVE_CHANNEL: Final = f"""
    UPDATE messages SET in_channel = 0 WHERE in_channel = 1 AND id @among({_ASKED})
    /* channel */
"""

_UNLINK_ANSWERS: Final = f"""
    UPDATE turns SET shown_in = NULL, state = CASE state WHEN 'accepted' THEN state ELSE 'shown' END
    WHERE kind = 'mention' AND shown_in @among({_MEANT}) /* channel */
"""

# An unanswered question of a session is kept only to be asked again.
DELETE_TURNS: Final = """
    DELETE FROM turns
    WHERE question_id IN @ids($1) AND (kind = 'mention' OR kind = 'message' AND state = 'interrupted')
    RETURNING kind /* channel */
"""

DELETE_MESSAGES: Final = f"""
    DELETE FROM messages
    WHERE discord_id @among({_MEANT})
    RETURNING id /* any row */
"""

_DELETE_PAGES: Final = f"""
    DELETE FROM answer_pages
    WHERE answer_id @among({_MEANT})
"""

# $1 channel, $2 and $3 the first and last thread
_HERE: Final = """
        SELECT discord_id FROM messages
        WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
            AND user_id IS NULL AND discord_id IS NOT NULL
"""
_FORGETTING: Final = (
    f"DELETE FROM turns WHERE kind = 'mention' AND question_id IN ({_HERE}) /* channel */",
    f"DELETE FROM answer_pages WHERE answer_id IN ({_HERE} AND role = 'assistant') /* channel */",
    """
    DELETE FROM messages
    WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
        AND user_id IS NULL AND discord_id IS NOT NULL /* channel */
    """,
    *(
        f"DELETE FROM {table} WHERE channel_id = $1 AND thread_id BETWEEN $2 AND $3"
        for table in ("block_boundaries", "channel_windows", "read_to")
    ),
)

# $1 channel, $2 the thread, or NULL for the whole channel
_FORGET_RESETS: Final = (
    "DELETE FROM thread_metadata WHERE channel_id = $1 AND (CAST($2 AS BIGINT) IS NULL OR thread_id = $2)"
)

DELETE_FORWARDED: Final = """
    DELETE FROM attachments WHERE source_id IN @ids($1)
    RETURNING message_id /* channel */
"""

# Whether a backup may hold them. $1 ids
SELECT_KEPT: Final = f"""
    SELECT id FROM messages WHERE discord_id @among({_MEANT})
    UNION ALL
    SELECT message_id FROM attachments WHERE source_id IN @ids($1) /* all users */
    LIMIT 1
"""

# Later statements delete what earlier ones join on.
_DELETION: Final = (
    *(_THAW, _THAW_ASKED, _LEAVE_CHANNEL, _UNLINK_ANSWERS, DELETE_TURNS),
    *(DELETE_MESSAGES, _DELETE_PAGES, DELETE_FORWARDED),
)
# $1 the thread or channel
_FORGET_PLACES: Final = "DELETE FROM places WHERE {} = $1"

# Of messages to delete here that still exist on Discord. $1 ids
_SELECT_READ: Final = """
    SELECT parent_channel_id, thread_id, discord_id FROM messages
    WHERE discord_id IN @ids($1) AND user_id IS NULL AND role = 'user' /* channel */
"""

# $1 channel, $2 thread, $3 id
_KEEP_READ: Final = """
    INSERT INTO read_to (channel_id, thread_id, discord_id) VALUES ($1, $2, $3)
    ON CONFLICT (channel_id, thread_id)
    DO UPDATE SET discord_id = excluded.discord_id WHERE excluded.discord_id > read_to.discord_id
"""


def deletion(discord_ids: Collection[int]) -> list[Statement]:
    """DELETE_MESSAGES returns a row for each message that existed."""
    ids = json.dumps([*discord_ids])
    return [Statement(sql, (ids,)) for sql in _DELETION]


def deletion_here_alone(discord_ids: Collection[int]) -> Steps[None]:
    """Delete messages that still exist on Discord, so that catching up does not fetch them again."""
    if not discord_ids:
        return
    newest = dict[tuple[int, int], int]()
    for channel_id, thread_id, id_ in (yield Statement(_SELECT_READ, (json.dumps([*discord_ids]),))):
        at = (channel_id, thread_id)
        newest[at] = max(newest.get(at, 0), id_)
    for at, id_ in sorted(newest.items()):
        yield Statement(_KEEP_READ, (*at, id_))
    for statement in deletion(discord_ids):  # noqa: UP028 - a list can't be sent the rows
        yield statement


def place_deletion(key: ChannelKey) -> list[Statement]:
    """Delete a thread, or a channel with its threads."""
    threads = (key.thread_id, key.thread_id or _LAST_THREAD)
    return [
        *(Statement(sql, (key.channel_id, *threads)) for sql in _FORGETTING),
        Statement(_FORGET_RESETS, (key.channel_id, key.thread_id or None)),
        Statement(_FORGET_PLACES.format("place_id" if key.thread_id else "channel_id"), (key.place_id,)),
    ]
