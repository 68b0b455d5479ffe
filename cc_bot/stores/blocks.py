"""The stored state of a channel's context: its rows, frozen blocks and start."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from cc_bot.domain.message import Block, ChannelKey, ContextMessage
from cc_bot.storage import Statement, Steps
from cc_bot.stores.columns import Store, of_place, to_ms

T = TypeVar("T")

# $1 channel, $2 thread (0: the channel itself), $3 the thread, or the channel, $4 bot, $5 limit. A thread
# uses its channel's blocks that end before it starts, and the start of the next one.
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
# (messages_by_discord_id). $1 channel, $2 thread, $3 the first id, $4 the end (excluded), $7 the reset:
# replies to messages up to it show no quotation
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

# A message's own block and later ones. The statement adds the condition on the message.
BLOCKS_FROM_MESSAGE: Final = """
        SELECT b.id
        FROM messages AS m
        JOIN block_boundaries AS b
            ON b.channel_id = m.parent_channel_id AND b.thread_id = m.thread_id
            AND b.last_message_id >= m.discord_id
"""

# $1 channel, $2 thread, $3 a message about to be stored
THAW_FROM: Final = """
    DELETE FROM block_boundaries WHERE channel_id = $1 AND thread_id = $2 AND last_message_id >= $3
"""

# A block that would overlap another is not stored: another process froze those messages.
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

_DELETE_BLOCK: Final = """
    DELETE FROM block_boundaries
    WHERE channel_id = $1 AND thread_id = $2 AND first_message_id = $3 AND last_message_id = $4
"""

# It never moves back: messages that have left do not return.
_MOVE_WINDOW: Final = """
    INSERT INTO channel_windows AS known (channel_id, thread_id, first_message_id) VALUES ($1, $2, $3)
    ON CONFLICT (channel_id, thread_id)
    DO UPDATE SET first_message_id = excluded.first_message_id
    WHERE excluded.first_message_id > known.first_message_id
"""


@dataclass(frozen=True, slots=True)
class ContextState:
    blocks: tuple[Block, ...] = ()
    """Oldest first; only the newest if there are very many."""
    next_first: int | None = None
    """For a thread: the start of its channel's first block that ends after the thread started."""
    window: int = 0
    """The oldest message shown; 0 if none has left yet."""
    resets: Mapping[int, int] = field(default_factory=dict)
    """By thread id (0: the channel): the last message before the reset."""
    waiting: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """By thread id: messages that wait for an answer."""


def context_state(key: ChannelKey, *, bot_id: int, blocks: int) -> Steps[ContextState]:
    """Return at most the newest `blocks` of each channel or thread."""
    params = (key.channel_id, key.thread_id, key.place_id, bot_id, blocks)
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
        next_first=starts.get("next"),
        window=starts.get("window", 0),
        resets=resets,
        waiting={thread: frozenset(ids) for thread, ids in waiting.items()},
    )


def context_page(
    key: ChannelKey, *, first: int, before: int, asked: int, limit: int, reset: int = 0
) -> Steps[list[ContextMessage]]:
    """Newest first, from `first` up to but excluding `before`.

    After the question `asked`, only answers are included. Replies to messages up to `reset` show no
    quotation.
    """
    params = (key.channel_id, key.thread_id, first, before, asked, limit, reset)
    return [*map(ContextMessage._make, (yield Statement(SELECT_ROWS, params)))]


class BlockStore(Store):
    async def run(self, begin: Callable[[], Steps[T]]) -> T:
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
        await self._database.transaction(
            [
                *(Statement(_DELETE_BLOCK, _place(block)) for block in thawed),
                *(Statement(_INSERT_BLOCK, (*_place(block), block.tokens, now)) for block in blocks),
                *(
                    Statement(_MOVE_WINDOW, (key.channel_id, key.thread_id, first))
                    for key, first in windows.items()
                ),
            ],
            [subject for key in keys for subject in of_place(key)],
        )


def _place(block: Block) -> tuple[int, int, int, int]:
    return (block.key.channel_id, block.key.thread_id, block.first_id, block.last_id)
