"""Stores the context of channels: which of their messages the model is shown.

A block is a run of messages with frozen text, so that requests have a prefix that providers cache. If one of
its messages changes, the block is thawed: its row is deleted, with those of later blocks.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from cc_bot.db import Statement, Transaction
from cc_bot.db.columns import Store, channel_locks, to_ms
from cc_bot.domain.message import Block, ChannelKey, ContextMessage

# ruff: noqa: S608 - SQL is built from constants

T = TypeVar("T")

# A thread shows the blocks of its channel that ended before the thread began ($2).
SELECT_CONTEXT: Final = """
    SELECT 'window', thread_id, first_message_id, 0, 0
    FROM channel_windows WHERE channel_id = $1 AND thread_id = $2
    UNION ALL SELECT 'reset', thread_id, last_reset_discord_message_id, 0, 0
    FROM thread_metadata WHERE thread_id IN ($1, $3) AND bot_id IN (0, $4)
    UNION ALL SELECT 'waiting', thread_id, question_id, 0, 0
    FROM turns
    WHERE kind = 'mention' AND state <> 'shown'
        AND channel_id = $1 AND thread_id IN (0, $2) AND state = 'accepted' /* scope: channel */
    UNION ALL SELECT * FROM (
        SELECT 'block', thread_id, first_message_id, last_message_id, token_count
        FROM block_boundaries
        WHERE channel_id = $1 AND thread_id = $2 AND last_message_id >= coalesce(
            (SELECT first_message_id FROM channel_windows WHERE channel_id = $1 AND thread_id = $2), 0
        )
        ORDER BY last_message_id DESC LIMIT $5
    ) AS found
    UNION ALL SELECT * FROM (
        SELECT 'block', thread_id, first_message_id, last_message_id, token_count
        FROM block_boundaries
        WHERE channel_id = $1 AND thread_id = 0 AND last_message_id <= $2
        ORDER BY last_message_id DESC LIMIT $5
    ) AS found
    UNION ALL SELECT * FROM (
        SELECT 'next', thread_id, first_message_id, last_message_id, token_count
        FROM block_boundaries
        WHERE channel_id = $1 AND thread_id = 0 AND last_message_id > $2 AND $2 <> 0
        ORDER BY last_message_id LIMIT 1
    ) AS found
"""

# The columns of a message that a request shows, with the beginning of the public message to which it replies,
# unless that is before the reset ($7).
_SELECT_SHOWN: Final = """
    SELECT m.discord_id AS discord_id, m.role, m.author_name, m.content, coalesce(m.author_id, 0),
        m.reply_to, substr(r.content, 1, 60), CASE r.role WHEN 'user' THEN r.author_name END,
        coalesce(r.author_id, 0), CASE WHEN m.tainted = 1 OR r.tainted = 1 THEN 1 ELSE 0 END
    FROM messages AS m
    LEFT JOIN messages AS r
        ON r.discord_id = m.reply_to AND r.parent_channel_id = $1 AND r.thread_id = $2
        AND (r.user_id IS NULL OR r.in_channel = 1) AND r.visibility = 'public' AND r.discord_id > $7
    WHERE m.parent_channel_id = $1 AND m.thread_id = $2 AND m.discord_id >= $3 AND m.discord_id < $4
        AND m.content <> '' AND m.visibility = 'public' AND m.status <> 'replaced'
"""

# Messages of the channel and public ones of sessions, each read in the order of an index, so that merging
# them needs no sort. After the question ($5) only answers are read. $6 limit
SELECT_ROWS: Final = f"""
    {_SELECT_SHOWN} AND m.user_id IS NULL AND (m.discord_id < $5 OR m.role = 'assistant')
    UNION ALL {_SELECT_SHOWN} AND m.in_channel = 1 AND m.discord_id < $5
    ORDER BY discord_id DESC
    LIMIT $6 /* scope: channel */
"""

# The last message before the newest reset; 0 for none. {}: location_id
SELECT_RESET_ID: Final = (
    "SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata AS r WHERE r.thread_id = {}"
)


def thaw_sql(condition: str) -> str:
    """Return SQL that thaws the blocks of the messages `m` that meet the condition."""
    return f"""
    DELETE FROM block_boundaries WHERE id IN (
        SELECT b.id
        FROM messages AS m
        JOIN block_boundaries AS b
            ON b.channel_id = m.parent_channel_id AND b.thread_id = m.thread_id
            AND b.last_message_id >= m.discord_id
        WHERE {condition}
    )
"""


IS_IN_CHANNEL: Final = "(m.user_id IS NULL OR m.in_channel = 1)"

# $3 a message about to be stored
THAW_FROM: Final = """
    DELETE FROM block_boundaries WHERE channel_id = $1 AND thread_id = $2 AND last_message_id >= $3
"""

# Does nothing if another process has meanwhile stored a block that overlaps.
_INSERT_BLOCK: Final = """
    INSERT INTO block_boundaries (
        channel_id, thread_id, first_message_id, last_message_id, token_count, created_at
    )
    SELECT $1, $2, $3, $4, $5, $6
    WHERE coalesce(
        (
            SELECT first_message_id FROM block_boundaries
            WHERE channel_id = $1 AND thread_id = $2 AND last_message_id >= $3
            ORDER BY last_message_id LIMIT 1
        ) > $4,
        true
    )
"""


@dataclass(frozen=True, slots=True)
class ContextState:
    """All ids are of Discord messages. The keys of mappings are ids of threads; 0 is the channel itself."""

    blocks: tuple[Block, ...] = ()  # oldest first
    next_block_start: int | None = None
    """For a thread: the start of the first block of its channel that ends after the thread began."""
    window_start: int = 0  # the oldest message that requests show; 0: no limit
    reset_ids: Mapping[int, int] = field(default_factory=dict)  # the last message before the reset
    waiting_ids: Mapping[int, frozenset[int]] = field(default_factory=dict)  # questions that await an answer


def read_context_state(key: ChannelKey, *, bot_id: int, max_blocks: int) -> Transaction[ContextState]:
    """`max_blocks`: at most as many of the channel, and as many of the thread; the newest are returned."""
    params = (key.channel_id, key.thread_id, key.location_id, bot_id, max_blocks)
    blocks, starts = list[Block](), dict[str, int]()
    reset_ids: dict[int, int] = {}
    waiting_ids: defaultdict[int, set[int]] = defaultdict(set)
    for kind, thread_id, first_id, last_id, tokens in (yield Statement(SELECT_CONTEXT, params)):
        if kind == "waiting":
            waiting_ids[thread_id].add(first_id)
        elif kind == "reset":  # thread_metadata has the channel's id, where other tables have 0
            thread_or_0 = 0 if thread_id == key.channel_id else thread_id
            reset_ids[thread_or_0] = max(reset_ids.get(thread_or_0, 0), first_id)
        elif kind == "block":
            blocks.append(Block(ChannelKey(key.channel_id, thread_id), first_id, last_id, tokens))
        else:
            starts[kind] = first_id
    return ContextState(
        blocks=tuple(sorted(blocks, key=lambda block: block.last_id)),
        next_block_start=starts.get("next"),
        window_start=starts.get("window", 0),
        reset_ids=reset_ids,
        waiting_ids={thread_id: frozenset(ids) for thread_id, ids in waiting_ids.items()},
    )


def read_context_page(
    key: ChannelKey, *, first_id: int, end_id: int, newest_question_id: int, limit: int, reset_id: int = 0
) -> Transaction[list[ContextMessage]]:
    """Return the messages from `first_id` up to, but without, `end_id`, newest first. After the newest
    question only answers are returned."""
    params = (key.channel_id, key.thread_id, first_id, end_id, newest_question_id, limit, reset_id)
    return [*map(ContextMessage._make, (yield Statement(SELECT_ROWS, params)))]


class BlockStore(Store):
    async def run_read(self, steps: Callable[[], Transaction[T]]) -> T:
        return await self._database.read(steps)

    async def freeze(
        self,
        blocks: Sequence[Block] = (),
        *,
        window_starts: Mapping[ChannelKey, int] | None = None,
        replaced: Sequence[Block] = (),
    ) -> None:
        """Store new blocks, delete those that they replace, and move the starts of windows. Idempotent."""
        now, window_starts = to_ms(self._clock()), window_starts or {}
        keys = {*window_starts, *(block.key for block in (*blocks, *replaced))}
        sql = """
            DELETE FROM block_boundaries
            WHERE channel_id = $1 AND thread_id = $2 AND first_message_id = $3 AND last_message_id = $4
        """
        # A window never moves back.
        move_window = """
            INSERT INTO channel_windows AS known (channel_id, thread_id, first_message_id) VALUES ($1, $2, $3)
            ON CONFLICT (channel_id, thread_id)
            DO UPDATE SET first_message_id = excluded.first_message_id
            WHERE excluded.first_message_id > known.first_message_id
        """
        await self._database.transaction(
            [
                *(Statement(sql, _block_columns(block)) for block in replaced),
                *(Statement(_INSERT_BLOCK, (*_block_columns(block), block.tokens, now)) for block in blocks),
                *(
                    Statement(move_window, (key.channel_id, key.thread_id, start))
                    for key, start in window_starts.items()
                ),
            ],
            [lock_key for key in keys for lock_key in channel_locks(key)],
        )


def _block_columns(block: Block) -> tuple[int, int, int, int]:
    return (block.key.channel_id, block.key.thread_id, block.first_id, block.last_id)


_MAX_THREAD_ID: Final = 2**63 - 1

# The ids in the array $1, and the ids of long answers to which one of them belongs: `answer_pages` has the
# further messages of long answers.
_IDS_AND_ANSWERS: Final = """
    SELECT value FROM @ids($1) AS entry
    UNION ALL SELECT answer_id FROM answer_pages WHERE discord_id IN @ids($1)
"""

# These messages ($1), all messages of the answers to them alone, and of the answers of which they are a part.
SELECT_ANSWERS_OF: Final = """
    WITH given (id) AS (SELECT value FROM @ids($1) AS entry), answers (id) AS (
        SELECT id FROM given
        UNION ALL SELECT answer_id FROM answer_pages WHERE discord_id IN (SELECT id FROM given)
        UNION ALL SELECT t.shown_in FROM turns AS t
        WHERE t.question_id IN (SELECT id FROM given) AND t.kind = 'mention' AND t.state <> 'accepted'
            AND t.shown_in IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM turns AS other
                WHERE other.shown_in = t.shown_in AND other.kind = 'mention'
                    AND other.question_id NOT IN (SELECT id FROM given)
            )
        UNION ALL SELECT a.discord_id
        FROM messages AS q
        JOIN messages AS a ON a.session_id = q.session_id AND a.id > q.id AND a.role = 'assistant'
        WHERE q.discord_id IN (SELECT id FROM given) AND q.session_id IS NOT NULL AND q.role = 'user'
            AND a.discord_id IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM messages AS later
                WHERE later.session_id = q.session_id AND later.id > q.id AND later.id < a.id
                    AND later.role = 'user'
            )
    )
    SELECT id FROM answers
    UNION ALL
    SELECT p.discord_id FROM answers JOIN answer_pages AS p ON p.answer_id = answers.id /* scope: any row */
"""

_THAW: Final = thaw_sql(f"{IS_IN_CHANNEL} AND m.discord_id @among({_IDS_AND_ANSWERS}) /* scope: channel */")

# The questions of those messages ($1) that are answers of sessions.
_QUESTIONS_OF_ANSWERS: Final = f"""
        SELECT (
            SELECT q.id FROM messages AS q
            WHERE q.session_id = a.session_id AND q.id < a.id AND q.role = 'user' AND q.in_channel = 1
            ORDER BY q.id DESC LIMIT 1
        )
        FROM messages AS a
        WHERE a.discord_id @among({_IDS_AND_ANSWERS}) AND a.in_channel = 1 AND a.role = 'assistant'
"""

# The question of a command is visible on Discord only as long as its answer.
_THAW_QUESTIONS: Final = thaw_sql(
    f"m.in_channel = 1 AND m.id @among({_QUESTIONS_OF_ANSWERS}) /* scope: channel */"
)

_HIDE_QUESTIONS_IN_CHANNEL: Final = f"""
    UPDATE messages SET in_channel = 0 WHERE in_channel = 1 AND id @among({_QUESTIONS_OF_ANSWERS})
    /* scope: channel */
"""

_UNLINK_ANSWERS: Final = f"""
    UPDATE turns SET shown_in = NULL, state = CASE state WHEN 'accepted' THEN state ELSE 'shown' END
    WHERE kind = 'mention' AND shown_in @among({_IDS_AND_ANSWERS}) /* scope: channel */
"""

# Includes interrupted questions of sessions ('message': a DM, or a reply to an answer to the same user).
DELETE_TURNS: Final = """
    DELETE FROM turns
    WHERE question_id IN @ids($1) AND (kind = 'mention' OR kind = 'message' AND state = 'interrupted')
    RETURNING kind /* scope: channel */
"""

DELETE_MESSAGES: Final = f"""
    DELETE FROM messages
    WHERE discord_id @among({_IDS_AND_ANSWERS})
    RETURNING id /* scope: any row */
"""

_DELETE_PAGES: Final = f"""
    DELETE FROM answer_pages
    WHERE answer_id @among({_IDS_AND_ANSWERS})
"""

# $2 and $3 the first and last thread
_IDS_IN_CHANNEL: Final = """
        SELECT discord_id FROM messages
        WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
            AND user_id IS NULL AND discord_id IS NOT NULL
"""
_DELETE_IN_CHANNEL: Final = (
    f"DELETE FROM turns WHERE kind = 'mention' AND question_id IN ({_IDS_IN_CHANNEL}) /* scope: channel */",
    f"""
    DELETE FROM answer_pages WHERE answer_id IN ({_IDS_IN_CHANNEL} AND role = 'assistant')
    /* scope: channel */
    """,
    """
    DELETE FROM messages
    WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
        AND user_id IS NULL AND discord_id IS NOT NULL /* scope: channel */
    """,
    *(
        f"DELETE FROM {table} WHERE channel_id = $1 AND thread_id BETWEEN $2 AND $3"
        for table in ("block_boundaries", "channel_windows", "read_to")
    ),
)

# $1 ids of forwarded messages
DELETE_FORWARDED_FILES: Final = """
    DELETE FROM attachments WHERE source_id IN @ids($1)
    RETURNING message_id /* scope: channel */
"""

SELECT_ANY_STORED: Final = f"""
    SELECT id FROM messages WHERE discord_id @among({_IDS_AND_ANSWERS})
    UNION ALL SELECT message_id FROM attachments WHERE source_id IN @ids($1) /* scope: all users */
    LIMIT 1
"""

# Catching up reads these channels. {0} channel_id, {1} thread_id
IS_READ_CHANNEL: Final = """(
    EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.parent_channel_id = {0} AND m.thread_id = {1}
            AND m.user_id IS NULL AND m.discord_id IS NOT NULL AND m.visibility = 'public'
    )
    OR EXISTS (SELECT 1 FROM read_to WHERE read_to.channel_id = {0} AND read_to.thread_id = {1})
)"""

_READ_TO: Final = """
    INSERT INTO read_to (channel_id, thread_id, discord_id) {}
    ON CONFLICT (channel_id, thread_id)
    DO UPDATE SET discord_id = excluded.discord_id WHERE excluded.discord_id > read_to.discord_id
    /* scope: channel */
"""
MARK_READ_TO: Final = _READ_TO.format(f"SELECT $1, $2, $3 WHERE {IS_READ_CHANNEL.format('$1', '$2')}")
_MARK_NEWEST_AS_READ: Final = _READ_TO.format("""
    SELECT m.parent_channel_id, m.thread_id, m.discord_id FROM messages AS m
    WHERE m.discord_id IN @ids($1) AND m.user_id IS NULL AND m.role = 'user' AND NOT EXISTS (
        SELECT 1 FROM messages AS newer
        WHERE newer.parent_channel_id = m.parent_channel_id AND newer.thread_id = m.thread_id
            AND newer.discord_id > m.discord_id AND newer.user_id IS NULL AND newer.role = 'user'
    )
""")

# The order matters: later statements delete rows that earlier statements join on.
_DELETE_WITH_DEPENDENTS: Final = (
    *(_MARK_NEWEST_AS_READ, _THAW, _THAW_QUESTIONS, _HIDE_QUESTIONS_IN_CHANNEL, _UNLINK_ANSWERS),
    *(DELETE_TURNS, DELETE_MESSAGES, _DELETE_PAGES, DELETE_FORWARDED_FILES),
)


def delete_messages(discord_ids: Collection[int]) -> list[Statement]:
    """Return statements that delete messages, also of sessions, with their turns, pages and blocks. Catching
    up does not fetch them again, and still reads a channel that lost its last message."""
    ids = json.dumps([*discord_ids])
    return [Statement(sql, (ids,)) for sql in _DELETE_WITH_DEPENDENTS]


def delete_channel(key: ChannelKey) -> list[Statement]:
    threads = (key.thread_id, key.thread_id or _MAX_THREAD_ID)
    delete_resets = (
        "DELETE FROM thread_metadata WHERE channel_id = $1 AND (CAST($2 AS BIGINT) IS NULL OR thread_id = $2)"
    )
    delete_places = "DELETE FROM places WHERE {} = $1"
    return [
        *(Statement(sql, (key.channel_id, *threads)) for sql in _DELETE_IN_CHANNEL),
        Statement(delete_resets, (key.channel_id, key.thread_id or None)),
        Statement(delete_places.format("place_id" if key.thread_id else "channel_id"), (key.location_id,)),
    ]
