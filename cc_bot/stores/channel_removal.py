"""What is removed from channels: messages that were deleted on Discord, and places that are gone.

All that hangs on a message goes with it in one transaction: that it waits, the further pages of an answer,
and the frozen blocks that held it. An id that is a page of an answer stands for the whole answer. Deletion
reaches the rows of sessions as well: what is deleted on Discord is deleted here, whoever's it is.
"""

import json
from collections.abc import Collection
from typing import Final

from cc_bot.domain.channel import ChannelKey
from cc_bot.storage import Statement, Steps
from cc_bot.stores.channel_statements import BLOCKS_FROM_MESSAGE

_LAST_THREAD: Final = 2**63 - 1

# The messages that an array of ids ($1) stands for: these, and of a page the answer that it belongs to.
_MEANT: Final = """
    SELECT value FROM json_each($1)
    UNION ALL
    SELECT answer_id FROM answer_pages WHERE discord_id IN (SELECT value FROM json_each($1))
"""

# The messages that show answers to questions of an array of ids ($1), and to none that is left.
ANSWERS_TO: Final = """
    WITH gone (id) AS (SELECT value FROM json_each($1)), answers (id) AS (
        SELECT w.answer_id FROM mentions AS w
        WHERE w.discord_id IN (SELECT id FROM gone) AND w.answered = 1 AND w.answer_id IS NOT NULL
            AND NOT EXISTS (
                SELECT 1 FROM mentions AS other
                WHERE other.answer_id = w.answer_id AND other.discord_id NOT IN (SELECT id FROM gone)
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
    SELECT p.discord_id FROM answers JOIN answer_pages AS p ON p.answer_id = answers.id
"""

# The five of a deletion.
_THAW: Final = f"""
    DELETE FROM block_boundaries WHERE id IN (
        {BLOCKS_FROM_MESSAGE}
        WHERE m.user_id IS NULL AND m.discord_id IN ({_MEANT})
    )
"""  # noqa: S608 - put together from constants alone

_UNLINK_ANSWERS: Final = f"""
    UPDATE mentions SET answer_id = NULL
    WHERE answer_id IN ({_MEANT})
"""  # noqa: S608 - put together from constants alone

_DELETE_MENTIONS: Final = "DELETE FROM mentions WHERE discord_id IN (SELECT value FROM json_each($1))"

DELETE_MESSAGES: Final = f"""
    DELETE FROM messages
    WHERE discord_id IN ({_MEANT})
    RETURNING id
"""  # noqa: S608 - put together from constants alone

_DELETE_PAGES: Final = f"""
    DELETE FROM answer_pages
    WHERE answer_id IN ({_MEANT})
"""  # noqa: S608 - put together from constants alone

# All of a place. $1 channel, $2 and $3 the first and the last of its threads that go with it.
_FORGET_MENTIONS: Final = """
    DELETE FROM mentions WHERE discord_id IN (
        SELECT discord_id FROM messages
        WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
            AND user_id IS NULL AND discord_id IS NOT NULL
    )
"""

_FORGET_PAGES: Final = """
    DELETE FROM answer_pages WHERE answer_id IN (
        SELECT discord_id FROM messages
        WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
            AND user_id IS NULL AND role = 'assistant' AND discord_id IS NOT NULL
    )
"""

FORGET_MESSAGES: Final = """
    DELETE FROM messages
    WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
        AND user_id IS NULL AND discord_id IS NOT NULL
"""

_FORGET_BLOCKS: Final = "DELETE FROM block_boundaries WHERE channel_id = $1 AND thread_id BETWEEN $2 AND $3"

_FORGET_WINDOWS: Final = "DELETE FROM channel_windows WHERE channel_id = $1 AND thread_id BETWEEN $2 AND $3"

_FORGET_READ: Final = "DELETE FROM read_to WHERE channel_id = $1 AND thread_id BETWEEN $2 AND $3"

# $1 channel, $2 the thread or NULL for all of the channel
_FORGET_RESETS: Final = "DELETE FROM thread_metadata WHERE channel_id = $1 AND ($2 IS NULL OR thread_id = $2)"

# Each in the order in which they are run: what a later one removes is what an earlier one finds its rows by.
_DELETION: Final = (_THAW, _UNLINK_ANSWERS, _DELETE_MENTIONS, DELETE_MESSAGES, _DELETE_PAGES)
_FORGETTING: Final = (
    *(_FORGET_MENTIONS, _FORGET_PAGES, FORGET_MESSAGES, _FORGET_BLOCKS, _FORGET_WINDOWS, _FORGET_READ),
)

# Before messages are deleted that still stand on Discord. $1 an array of ids
_KEEP_READ: Final = """
    INSERT INTO read_to (channel_id, thread_id, discord_id)
    SELECT parent_channel_id, thread_id, discord_id FROM messages
    WHERE discord_id IN (SELECT value FROM json_each($1)) AND user_id IS NULL AND role = 'user'
    ON CONFLICT (channel_id, thread_id)
    DO UPDATE SET discord_id = max(read_to.discord_id, excluded.discord_id)
"""

REMOVAL_STATEMENTS: Final = frozenset({ANSWERS_TO, *_DELETION, *_FORGETTING, _FORGET_RESETS, _KEEP_READ})


def deletion(discord_ids: Collection[int]) -> list[Statement]:
    """Of these messages; DELETE_MESSAGES among it returns a row for each that there was."""
    ids = json.dumps([*discord_ids])
    return [Statement(sql, (ids,)) for sql in _DELETION]


def deletion_here_alone(discord_ids: Collection[int]) -> Steps[None]:
    """The same of messages that still stand on Discord: catching up is not to fetch them again."""
    if not discord_ids:
        return
    keep = Statement(_KEEP_READ, (json.dumps([*discord_ids]),))
    for statement in (keep, *deletion(discord_ids)):  # noqa: UP028 - a tuple can't be sent the rows
        yield statement


def forgetting(key: ChannelKey) -> list[Statement]:
    """Of a thread, or of a channel with its threads."""
    threads = (key.thread_id, key.thread_id or _LAST_THREAD)
    return [
        *(Statement(sql, (key.channel_id, *threads)) for sql in _FORGETTING),
        Statement(_FORGET_RESETS, (key.channel_id, key.thread_id or None)),
    ]
