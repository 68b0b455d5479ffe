"""The SQL of the channels' archive. None of it has a user: what is said in a channel belongs to nobody alone.

So every statement stands in the list of those that run without one (unscoped.py), and holds itself to rows
with `user_id IS NULL`, where no session's ever are. The exceptions are EDIT (what is edited on Discord is so
here, whoever's it is), SESSION_OF, and two that look at ids alone: THAW_NEW and RESET.

Messages and ids are handed over as JSON arrays: one statement stores a page of messages half again as fast as
one statement for each of them would.
"""

from typing import Final

# Of the new messages ($5, an array of their ids), the oldest that will be stored changes its block and all
# later ones. To be run before INSERT. The `+` keeps the subquery, which looks every id up, from being run
# unless a block ends after $3, the lowest of the ids: messages mostly come in order, and then none does.
# $1 channel, $2 thread, $4 place.
THAW_NEW: Final = """
    DELETE FROM block_boundaries
    WHERE channel_id = $1 AND thread_id = $2 AND last_message_id >= $3 AND +last_message_id >= (
        SELECT min(said.value)
        FROM json_each($5) AS said
        WHERE said.value > (
            SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $4
        ) AND NOT EXISTS (SELECT 1 FROM messages WHERE discord_id = said.value)
    )
"""

# $1 channel, $2 thread, $3 place, $4 now, $5 an array of arrays of: id, author, their name, role, content,
# tool calls, status, tainted. When a message was said is part of its id: milliseconds since 2015, above 22
# other bits (Discord's API reference, 'Snowflakes').
INSERT: Final = """
    INSERT INTO messages (
        parent_channel_id, thread_id, channel_id, created_at,
        discord_id, author_id, author_name, role, content, tool_calls, status, tainted, timestamp
    )
    SELECT
        $1, $2, $3, $4,
        json_extract(said.value, '$[0]'), json_extract(said.value, '$[1]'), json_extract(said.value, '$[2]'),
        json_extract(said.value, '$[3]'), json_extract(said.value, '$[4]'), json_extract(said.value, '$[5]'),
        json_extract(said.value, '$[6]'),
        json_extract(said.value, '$[7]'), (json_extract(said.value, '$[0]') >> 22) + 1420070400000
    FROM json_each($5) AS said
    WHERE json_extract(said.value, '$[0]') > (
        SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $3
    )
    ON CONFLICT (discord_id) WHERE discord_id IS NOT NULL DO NOTHING
    RETURNING id
"""

# A message that is known already, for backfill was faster, waits all the same; one that has waited does not
# again. $1 id, $2 channel, $3 thread, $4 place, $5 now.
WAIT: Final = """
    INSERT INTO mentions (discord_id, channel_id, thread_id, created_at)
    SELECT discord_id, parent_channel_id, thread_id, $5
    FROM messages
    WHERE discord_id = $1 AND parent_channel_id = $2 AND thread_id = $3 AND user_id IS NULL AND role = 'user'
        AND discord_id > (
            SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $4
        )
    ON CONFLICT (discord_id) DO NOTHING
    RETURNING discord_id
"""

# The blocks that a message changes: its own and the later ones. Which message is up to the statement.
BLOCKS_FROM_MESSAGE: Final = """
        SELECT b.id
        FROM messages AS m
        JOIN block_boundaries AS b
            ON b.channel_id = m.parent_channel_id AND b.thread_id = m.thread_id
            AND b.last_message_id >= m.discord_id
"""

# To be run before EDIT; all three with $1 id, $2 content. Discord tells of an edit also when it only adds a
# preview: what is the same stays frozen. Answers are changed by their own commit alone.
THAW_EDITED: Final = f"""
    DELETE FROM block_boundaries WHERE id IN (
        {BLOCKS_FROM_MESSAGE}
        WHERE m.discord_id = $1 AND m.user_id IS NULL AND m.role = 'user' AND m.content <> $2
            AND m.erased = 0
    )
"""  # noqa: S608 - put together from constants alone

# The answer to a question's older text, if it has one already or is being written, is not right any more. To
# be run before EDIT.
MARK_EDITED: Final = """
    UPDATE mentions SET edited = 1
    WHERE discord_id = $1 AND EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.discord_id = $1 AND m.user_id IS NULL AND m.role = 'user' AND m.content <> $2
            AND m.erased = 0
    )
"""

# What its user had erased stays so: Discord tells of an edit also when it only adds a preview. $3: 1 when it
# holds others' words now. That it held some before stays: files are still there after an edit.
EDIT: Final = """
    UPDATE messages SET content = $2, tainted = CASE $3 WHEN 1 THEN 1 ELSE tainted END
    WHERE discord_id = $1 AND role = 'user' AND content <> $2 AND erased = 0
    RETURNING id
"""

# $1 channel, $2 thread, $3 the answer's id
THAW_ANSWER: Final = """
    DELETE FROM block_boundaries WHERE channel_id = $1 AND thread_id = $2 AND last_message_id >= $3
"""

# Made anew in place, an answer takes the row of the one before. Of a session's row, or of another channel's,
# nothing is overwritten and nothing returned. Nor is anything stored when of its questions ($11, an array of
# ids) none is left: they were deleted meanwhile, or erased with all that their user said.
COMMIT_ANSWER: Final = """
    INSERT INTO messages (
        parent_channel_id, thread_id, discord_id, channel_id, created_at,
        author_id, author_name, role, content, tool_calls, status, timestamp, tainted
    )
    SELECT $1, $2, $3, $4, $5, $6, $7, 'assistant', $8, $9, $10, ($3 >> 22) + 1420070400000, $12
    WHERE $11 = '[]' OR EXISTS (
        SELECT 1 FROM messages AS q
        WHERE q.discord_id IN (SELECT value FROM json_each($11)) AND q.user_id IS NULL
    )
    ON CONFLICT (discord_id) WHERE discord_id IS NOT NULL DO UPDATE SET
        created_at = excluded.created_at, author_id = excluded.author_id,
        author_name = excluded.author_name, role = excluded.role, content = excluded.content,
        tool_calls = excluded.tool_calls, status = excluded.status, tainted = excluded.tainted,
        memory_user_id = NULL, erased = 0
    WHERE messages.user_id IS NULL AND messages.parent_channel_id = $1 AND messages.thread_id = $2
    RETURNING id
"""

# Nothing is answered by an answer that was not stored. An edit that it has seen already asks for no other
# one; below what the question says, a note in brackets may have told of its files. $1 channel, $2 thread, $3
# the answer, $4 the question, $5 the text that was answered
MARK_ANSWERED: Final = """
    UPDATE mentions SET
        answered = 1, answer_id = $3, shown = 0,
        edited = CASE WHEN EXISTS (
            SELECT 1 FROM messages AS m
            WHERE m.discord_id = $4 AND m.user_id IS NULL AND (
                m.content = $5 OR substr($5, 1, length(m.content) + 2) = m.content || char(10) || '['
            )
        ) THEN 0 ELSE edited END
    WHERE discord_id = $4 AND channel_id = $1 AND thread_id = $2 AND EXISTS (
        SELECT 1 FROM messages
        WHERE discord_id = $3 AND parent_channel_id = $1 AND thread_id = $2 AND user_id IS NULL
    )
"""

# After the reset markers of its place. $1 channel, $2 thread, $3 place
NEWEST_ANSWER: Final = """
    SELECT id, role, content, tool_calls, status, visibility, author_id, author_name, discord_id, created_at,
        tainted
    FROM messages
    WHERE parent_channel_id = $1 AND thread_id = $2 AND user_id IS NULL AND role = 'assistant'
        AND discord_id IS NOT NULL AND visibility = 'public' AND status <> 'replaced'
        AND discord_id > (
            SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $3
        )
    ORDER BY discord_id DESC
    LIMIT 1
"""

SESSION_OF: Final = """
    SELECT s.user_id, s.channel_id, s.agent
    FROM messages AS m
    JOIN sessions AS s ON s.id = m.session_id
    WHERE m.role = 'assistant'
        AND m.discord_id = coalesce((SELECT answer_id FROM answer_pages WHERE discord_id = $1), $1)
"""

# The message itself, or the long answer of this page, is an answer of a channel.
SHOWS_ANSWER: Final = """
    SELECT 1 FROM messages AS m
    WHERE m.user_id IS NULL AND m.visibility = 'public' AND m.role = 'assistant'
        AND m.discord_id = coalesce((SELECT answer_id FROM answer_pages WHERE discord_id = $1), $1)
"""

PAGES: Final = "SELECT discord_id FROM answer_pages WHERE answer_id = $1 ORDER BY discord_id"

ADD_PAGES: Final = """
    INSERT INTO answer_pages (answer_id, discord_id)
    SELECT $1, value FROM json_each($2) WHERE true
    ON CONFLICT (discord_id) DO NOTHING
"""

DROP_PAGES: Final = "DELETE FROM answer_pages WHERE discord_id IN (SELECT value FROM json_each($1))"

# From one place the index leads to the next, and there to its newest message, so the cost is that of the
# places and not of their messages. (0, -1) comes before all of them. The two steps to the next place can't be
# one comparison of pairs: SQLite would seek by the channel and pass all messages of its earlier threads. The
# bot's own answers do not tell how far it has read: one may be stored before what was written while it was
# out of reach. What was erased does (read_to), for it must not be fetched again.
PLACES: Final = """
    WITH RECURSIVE places (channel_id, thread_id) AS (
        VALUES (0, -1)
        UNION ALL
        SELECT next.parent_channel_id, next.thread_id
        FROM places AS p
        JOIN messages AS next ON next.user_id IS NULL AND next.id = coalesce(
            (
                SELECT m.id FROM messages AS m
                WHERE m.parent_channel_id = p.channel_id AND m.thread_id > p.thread_id
                    AND m.user_id IS NULL AND m.discord_id IS NOT NULL AND m.visibility = 'public'
                ORDER BY m.thread_id, m.discord_id
                LIMIT 1
            ),
            (
                SELECT m.id FROM messages AS m
                WHERE m.parent_channel_id > p.channel_id
                    AND m.user_id IS NULL AND m.discord_id IS NOT NULL AND m.visibility = 'public'
                ORDER BY m.parent_channel_id, m.thread_id, m.discord_id
                LIMIT 1
            )
        )
    )
    SELECT
        p.channel_id,
        p.thread_id,
        max(
            (
                SELECT coalesce(max(m.discord_id), 0) FROM messages AS m
                WHERE m.parent_channel_id = p.channel_id AND m.thread_id = p.thread_id
                    AND m.user_id IS NULL AND m.discord_id IS NOT NULL
                    AND m.visibility = 'public' AND m.role = 'user'
            ),
            coalesce(
                (
                    SELECT r.discord_id FROM read_to AS r
                    WHERE r.channel_id = p.channel_id AND r.thread_id = p.thread_id
                ),
                0
            )
        ),
        (
            SELECT coalesce(max(r.last_reset_discord_message_id), 0) FROM thread_metadata AS r
            WHERE r.thread_id = CASE p.thread_id WHEN 0 THEN p.channel_id ELSE p.thread_id END
        )
    FROM places AS p
    WHERE p.thread_id >= 0
"""

# $1 channel, $2 thread, $3 id
SKIP: Final = """
    INSERT INTO read_to (channel_id, thread_id, discord_id)
    SELECT $1, $2, $3
    WHERE EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.parent_channel_id = $1 AND m.thread_id = $2
            AND m.user_id IS NULL AND m.discord_id IS NOT NULL AND m.visibility = 'public'
    )
    ON CONFLICT (channel_id, thread_id)
    DO UPDATE SET discord_id = max(read_to.discord_id, excluded.discord_id)
"""

# A marker never moves back. $1 place, $2 bot, $3 channel, $4 id, $5 now
RESET: Final = """
    INSERT INTO thread_metadata AS known (
        thread_id, bot_id, channel_id, last_reset_row_id, last_reset_discord_message_id, last_reset_at
    )
    VALUES ($1, $2, $3, (SELECT coalesce(max(id), 0) FROM messages), $4, $5)
    ON CONFLICT (thread_id, bot_id) DO UPDATE SET
        last_reset_row_id = excluded.last_reset_row_id,
        last_reset_discord_message_id = excluded.last_reset_discord_message_id,
        last_reset_at = excluded.last_reset_at
    WHERE excluded.last_reset_discord_message_id > known.last_reset_discord_message_id
"""

# $1 what is read, $2 from when on if that is new
READING: Final = """
    INSERT INTO reading AS before (id, mode, since) VALUES (1, $1, $2)
    ON CONFLICT (id) DO UPDATE SET
        since = CASE before.mode WHEN excluded.mode THEN before.since ELSE excluded.since END,
        mode = excluded.mode
    RETURNING since
"""

CHANNEL_STATEMENTS: Final = frozenset(
    {
        *(THAW_NEW, INSERT, WAIT, THAW_EDITED, MARK_EDITED, EDIT),
        *(THAW_ANSWER, COMMIT_ANSWER, MARK_ANSWERED),
        *(NEWEST_ANSWER, SESSION_OF, SHOWS_ANSWER, PAGES, ADD_PAGES, DROP_PAGES, PLACES, SKIP),
        *(RESET, READING),
    }
)
