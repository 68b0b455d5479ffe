"""Stores the context of channels: messages, frozen blocks and where it starts. Deletions drop blocks."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from cc_bot.db import Statement, Transaction, run_all
from cc_bot.db.columns import Store, channel_locks, to_ms
from cc_bot.domain.message import Block, ChannelKey, ContextMessage

# ruff: noqa: S608 - SQL is built from constants

T = TypeVar("T")

# A thread uses its channel's blocks that end before it starts, and the start of the next one.
SELECT_CONTEXT: Final = """
    SELECT 'window', thread_id, first_message_id, 0, 0
    FROM channel_windows WHERE channel_id = $1 AND thread_id = $2
    UNION ALL
    SELECT 'reset', thread_id, last_reset_discord_message_id, 0, 0
    FROM thread_metadata WHERE thread_id IN ($1, $3) AND bot_id IN (0, $4)
    UNION ALL
    SELECT 'waiting', thread_id, question_id, 0, 0
    FROM turns
    WHERE kind = 'mention' AND state <> 'shown'
        AND channel_id = $1 AND thread_id IN (0, $2) AND state = 'accepted' /* channel */
    UNION ALL
    SELECT * FROM (
        SELECT 'block', thread_id, first_message_id, last_message_id, token_count
        FROM block_boundaries
        WHERE channel_id = $1 AND thread_id = $2 AND last_message_id >= coalesce(
            (SELECT first_message_id FROM channel_windows WHERE channel_id = $1 AND thread_id = $2), 0
        )
        ORDER BY last_message_id DESC LIMIT $5
    ) AS found
    UNION ALL
    SELECT * FROM (
        SELECT 'block', thread_id, first_message_id, last_message_id, token_count
        FROM block_boundaries
        WHERE channel_id = $1 AND thread_id = 0 AND last_message_id <= $2
        ORDER BY last_message_id DESC LIMIT $5
    ) AS found
    UNION ALL
    SELECT * FROM (
        SELECT 'next', thread_id, first_message_id, last_message_id, token_count
        FROM block_boundaries
        WHERE channel_id = $1 AND thread_id = 0 AND last_message_id > $2 AND $2 <> 0
        ORDER BY last_message_id LIMIT 1
    ) AS found
"""

# The parts of a message that a request shows, and the beginning of the public message that it replies to
# (messages_by_discord_id), unless that is before the reset ($7).
_SHOWN: Final = """
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

# The channel's own rows (messages_by_channel) and public rows of sessions (messages_asked_in_channel), merged
# in index order. After the question only answers are read. $5 the question, $6 limit
SELECT_ROWS: Final = f"""
    {_SHOWN} AND m.user_id IS NULL AND (m.discord_id < $5 OR m.role = 'assistant')
    UNION ALL
    {_SHOWN} AND m.in_channel = 1 AND m.discord_id < $5
    ORDER BY discord_id DESC
    LIMIT $6 /* channel */
"""

# The newest reset's message; 0 for none. {}: the thread, or the channel
RESET_ID: Final = (
    "SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata AS r WHERE r.thread_id = {}"
)


def thaw_sql(condition: str) -> str:
    """Return SQL that deletes the blocks of messages `m` that meet the condition, and all later blocks."""
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


SHOWN_IN_CHANNEL: Final = "(m.user_id IS NULL OR m.in_channel = 1)"

# $3 a message about to be stored
THAW_FROM: Final = """
    DELETE FROM block_boundaries WHERE channel_id = $1 AND thread_id = $2 AND last_message_id >= $3
"""

# A block that overlaps another is not stored: another process froze those messages.
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
    blocks: tuple[Block, ...] = ()  # oldest first; the newest if there are very many
    next_block_start: int | None = None
    """For a thread: the start of the first block of its channel that ends after the thread started."""
    window: int = 0  # the oldest message in requests; 0 if all messages are
    resets: Mapping[int, int] = field(default_factory=dict)
    """The last message before the reset, by thread id (0: the channel)."""
    waiting: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """The messages that wait for an answer, by thread id."""


def read_context_state(key: ChannelKey, *, bot_id: int, blocks: int) -> Transaction[ContextState]:
    """Return at most the newest `blocks` of each channel or thread."""
    params = (key.channel_id, key.thread_id, key.location_id, bot_id, blocks)
    found, starts = list[Block](), dict[str, int]()
    resets: dict[int, int] = {}
    waiting: defaultdict[int, set[int]] = defaultdict(set)
    for kind, thread_id, first_id, last_id, tokens in (yield Statement(SELECT_CONTEXT, params)):
        if kind == "waiting":
            waiting[thread_id].add(first_id)
        elif kind == "reset":  # keyed by the Discord id of the channel or thread
            at = 0 if thread_id == key.channel_id else thread_id
            resets[at] = max(resets.get(at, 0), first_id)
        elif kind == "block":
            found.append(Block(ChannelKey(key.channel_id, thread_id), first_id, last_id, tokens))
        else:
            starts[kind] = first_id
    return ContextState(
        blocks=tuple(sorted(found, key=lambda block: block.last_id)),
        next_block_start=starts.get("next"),
        window=starts.get("window", 0),
        resets=resets,
        waiting={thread: frozenset(ids) for thread, ids in waiting.items()},
    )


def read_context_page(
    key: ChannelKey, *, first: int, before: int, asked: int, limit: int, reset: int = 0
) -> Transaction[list[ContextMessage]]:
    """Return messages from `first` to before `before`, newest first; after the question `asked`, only
    answers."""
    params = (key.channel_id, key.thread_id, first, before, asked, limit, reset)
    return [*map(ContextMessage._make, (yield Statement(SELECT_ROWS, params)))]


class BlockStore(Store):
    async def run_read(self, begin: Callable[[], Transaction[T]]) -> T:
        return await self._database.read(begin)

    async def freeze(
        self,
        blocks: Sequence[Block] = (),
        *,
        windows: Mapping[ChannelKey, int] | None = None,
        thawed: Sequence[Block] = (),
    ) -> None:
        """Store new blocks, which replace `thawed`, and the starts of contexts. Idempotent."""
        now, windows = to_ms(self._clock()), windows or {}
        keys = {*windows, *(block.key for block in (*blocks, *thawed))}
        sql = """
            DELETE FROM block_boundaries
            WHERE channel_id = $1 AND thread_id = $2 AND first_message_id = $3 AND last_message_id = $4
        """
        # The window never moves back.
        move_window = """
            INSERT INTO channel_windows AS known (channel_id, thread_id, first_message_id) VALUES ($1, $2, $3)
            ON CONFLICT (channel_id, thread_id)
            DO UPDATE SET first_message_id = excluded.first_message_id
            WHERE excluded.first_message_id > known.first_message_id
        """
        await self._database.transaction(
            [
                *(Statement(sql, _block_columns(block)) for block in thawed),
                *(Statement(_INSERT_BLOCK, (*_block_columns(block), block.tokens, now)) for block in blocks),
                *(
                    Statement(move_window, (key.channel_id, key.thread_id, first))
                    for key, first in windows.items()
                ),
            ],
            [subject for key in keys for subject in channel_locks(key)],
        )


def _block_columns(block: Block) -> tuple[int, int, int, int]:
    return (block.key.channel_id, block.key.thread_id, block.first_id, block.last_id)


_LAST_THREAD: Final = 2**63 - 1

# The ids of an array ($1), with pages replaced by their answers.
_WITH_PAGES_REPLACED: Final = """
    SELECT value FROM @ids($1) AS given
    UNION ALL
    SELECT answer_id FROM answer_pages WHERE discord_id IN @ids($1)
"""

# The messages that show answers to the questions $1 only.
SELECT_ANSWERS_TO: Final = """
    WITH gone (id) AS (SELECT value FROM @ids($1) AS given), answers (id) AS (
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

_THAW: Final = thaw_sql(f"{SHOWN_IN_CHANNEL} AND m.discord_id @among({_WITH_PAGES_REPLACED}) /* channel */")

# The questions of the session answers among these ids.
_QUESTIONS_OF_ANSWERS: Final = f"""
        SELECT (
            SELECT q.id FROM messages AS q
            WHERE q.session_id = a.session_id AND q.id < a.id AND q.role = 'user' AND q.in_channel = 1
            ORDER BY q.id DESC LIMIT 1
        )
        FROM messages AS a
        WHERE a.discord_id @among({_WITH_PAGES_REPLACED}) AND a.in_channel = 1 AND a.role = 'assistant'
"""

# The question of a command is visible on Discord only as long as its answer.
_THAW_QUESTIONS: Final = thaw_sql(f"m.in_channel = 1 AND m.id @among({_QUESTIONS_OF_ANSWERS}) /* channel */")

_LEAVE_CHANNEL: Final = f"""
    UPDATE messages SET in_channel = 0 WHERE in_channel = 1 AND id @among({_QUESTIONS_OF_ANSWERS})
    /* channel */
"""

_UNLINK_ANSWERS: Final = f"""
    UPDATE turns SET shown_in = NULL, state = CASE state WHEN 'accepted' THEN state ELSE 'shown' END
    WHERE kind = 'mention' AND shown_in @among({_WITH_PAGES_REPLACED}) /* channel */
"""

# An interrupted question of a session is stored only so that it can be asked again.
DELETE_TURNS: Final = """
    DELETE FROM turns
    WHERE question_id IN @ids($1) AND (kind = 'mention' OR kind = 'message' AND state = 'interrupted')
    RETURNING kind /* channel */
"""

DELETE_MESSAGES: Final = f"""
    DELETE FROM messages
    WHERE discord_id @among({_WITH_PAGES_REPLACED})
    RETURNING id /* any row */
"""

_DELETE_PAGES: Final = f"""
    DELETE FROM answer_pages
    WHERE answer_id @among({_WITH_PAGES_REPLACED})
"""

# $2 and $3 the first and last thread
_IDS_IN_CHANNEL: Final = """
        SELECT discord_id FROM messages
        WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
            AND user_id IS NULL AND discord_id IS NOT NULL
"""
_DELETE_IN_CHANNEL: Final = (
    f"DELETE FROM turns WHERE kind = 'mention' AND question_id IN ({_IDS_IN_CHANNEL}) /* channel */",
    f"DELETE FROM answer_pages WHERE answer_id IN ({_IDS_IN_CHANNEL} AND role = 'assistant') /* channel */",
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

DELETE_FORWARDED: Final = """
    DELETE FROM attachments WHERE source_id IN @ids($1)
    RETURNING message_id /* channel */
"""

# Messages that a backup may contain.
SELECT_STORED: Final = f"""
    SELECT id FROM messages WHERE discord_id @among({_WITH_PAGES_REPLACED})
    UNION ALL
    SELECT message_id FROM attachments WHERE source_id IN @ids($1) /* all users */
    LIMIT 1
"""

# Later statements delete what earlier ones join on.
_DELETE_WITH_DEPENDENTS: Final = (
    *(_THAW, _THAW_QUESTIONS, _LEAVE_CHANNEL, _UNLINK_ANSWERS, DELETE_TURNS),
    *(DELETE_MESSAGES, _DELETE_PAGES, DELETE_FORWARDED),
)

# No effect on a channel without messages.
MARK_READ_TO: Final = """
    INSERT INTO read_to (channel_id, thread_id, discord_id)
    SELECT $1, $2, $3
    WHERE EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.parent_channel_id = $1 AND m.thread_id = $2
            AND m.user_id IS NULL AND m.discord_id IS NOT NULL AND m.visibility = 'public'
    )
    ON CONFLICT (channel_id, thread_id)
    DO UPDATE SET discord_id = excluded.discord_id WHERE excluded.discord_id > read_to.discord_id
    /* channel */
"""


def delete_messages(discord_ids: Collection[int]) -> list[Statement]:
    """Return statements that delete messages, also of sessions, with their waiting turns, pages and blocks.
    DELETE_MESSAGES returns a row for each message that existed."""
    ids = json.dumps([*discord_ids])
    return [Statement(sql, (ids,)) for sql in _DELETE_WITH_DEPENDENTS]


def delete_local_copies(discord_ids: Collection[int]) -> Transaction[None]:
    """Delete messages that still exist on Discord. Catching up does not fetch them again."""
    if not discord_ids:
        return
    newest = dict[tuple[int, int], int]()
    sql = """
        SELECT parent_channel_id, thread_id, discord_id FROM messages
        WHERE discord_id IN @ids($1) AND user_id IS NULL AND role = 'user' /* channel */
    """
    for channel_id, thread_id, id_ in (yield Statement(sql, (json.dumps([*discord_ids]),))):
        channel = (channel_id, thread_id)
        newest[channel] = max(newest.get(channel, 0), id_)
    for channel, id_ in sorted(newest.items()):
        yield Statement(MARK_READ_TO, (*channel, id_))
    yield from run_all(delete_messages(discord_ids))


def delete_channel(key: ChannelKey) -> list[Statement]:
    """Return statements that delete a thread, or a channel with its threads."""
    threads = (key.thread_id, key.thread_id or _LAST_THREAD)
    forget_resets = (
        "DELETE FROM thread_metadata WHERE channel_id = $1 AND (CAST($2 AS BIGINT) IS NULL OR thread_id = $2)"
    )
    forget_locations = "DELETE FROM places WHERE {} = $1"
    return [
        *(Statement(sql, (key.channel_id, *threads)) for sql in _DELETE_IN_CHANNEL),
        Statement(forget_resets, (key.channel_id, key.thread_id or None)),
        Statement(forget_locations.format("place_id" if key.thread_id else "channel_id"), (key.location_id,)),
    ]
