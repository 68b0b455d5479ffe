"""Channels: what everyone said in them, as Discord has it.

Each message is kept once, however often Discord delivers it, and in the order of Discord's ids. What is
edited or deleted there is edited or deleted here, and the frozen blocks that held it thaw in the same
transaction: privacy beats the cache. Every call is one trip to the database.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest
from typing import Any, Final, NamedTuple

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import ConversationGone
from cc_bot.domain.memory_calls import CANVAS_TOOLS, MEMORY_TOOLS, shown_ids
from cc_bot.domain.message import (
    ChannelKey,
    KnownPlace,
    Message,
    Reading,
    has_quotation,
    is_blank,
    with_heard,
)
from cc_bot.domain.process import WHOLE, Shard
from cc_bot.domain.proposal import ProposedChange
from cc_bot.domain.session import SessionKey
from cc_bot.storage import (
    EVERYBODY,
    Database,
    ErasureLog,
    Row,
    Statement,
    Steps,
    Subject,
    channel,
    place_name,
    user,
)
from cc_bot.stores.blocks import BLOCKS_FROM_MESSAGE, THAW_FROM
from cc_bot.stores.columns import (
    KEY,
    MESSAGE,
    Columns,
    Parameters,
    from_ms,
    to_ms,
    to_text,
    tool_calls_of,
)
from cc_bot.stores.memory.references import read_texts
from cc_bot.stores.processes import of_shard
from cc_bot.stores.proposals import DROP_OF_CHANNEL_ANSWER, PROPOSAL, insert_proposals
from cc_bot.stores.sessions import StoredTurn
from cc_bot.stores.subjects import of_place
from cc_bot.stores.usage import Settlement, settle_stored

# ruff: noqa: S608 - put together from constants alone

# ---- channel statements ----------------------------------------------------------------------------------
# The SQL of the channels' archive. None of it has a user: what is said in a channel belongs to nobody alone.
#
# So every statement is marked `/* channel */` (tests/stores/test_scope.py), and holds itself to rows
# with `user_id IS NULL`, where no session's ever are. The exceptions are EDIT and SELECT_HEARD (what is
# edited on Discord is so here, whoever's it is), SESSION_OF, and two that look at ids alone: THAW_NEW and
# RESET. Frozen blocks thaw by a session's message as well where everybody has read it, which is what
# `in_channel = 1` tells.
#
# Messages and ids are handed over as JSON arrays: one statement stores a page of messages half again as fast
# as one statement for each of them would.

# Of the new messages ($5, an array of their ids), the oldest that will be stored changes its block and all
# later ones. To be run before INSERT. The `+` keeps the subquery, which looks every id up, from being run
# unless a block ends after $3, the lowest of the ids: messages mostly come in order, and then none does.
# $1 channel, $2 thread, $4 place.
THAW_NEW: Final = """
    DELETE FROM block_boundaries
    WHERE channel_id = $1 AND thread_id = $2 AND last_message_id >= $3 AND +last_message_id >= (
        SELECT min(said.value)
        FROM @ids($5) AS said
        WHERE said.value > (
            SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $4
        ) AND NOT EXISTS (SELECT 1 FROM messages WHERE discord_id = said.value)
    ) /* any row */
"""

_SAID: Final = (
    *("discord_id", "author_id", "author_name", "role"),
    *("content", "tool_calls", "status", "tainted", "reply_to"),
)
_NUMBERS: Final = frozenset({"discord_id", "author_id", "tainted", "reply_to"})
_OF_SAID: Final = {
    name: f"@{'number' if name in _NUMBERS else 'text'}_at(said.value, {at})" for at, name in enumerate(_SAID)
}

# A page of a long answer stands for the answer, whose row has the id of the first.
_WHOLE: Final = "coalesce((SELECT answer_id FROM answer_pages WHERE discord_id = {id}), {id})"
_INSERTED: Final = {**_OF_SAID, "reply_to": _WHOLE.format(id=_OF_SAID["reply_to"])}

# $1 channel, $2 thread, $3 place, $4 now, $5 an array of arrays: each has what _SAID names. When a message
# was said is part of its id: milliseconds since 2015, above 22 other bits (Discord's API reference,
# 'Snowflakes').
INSERT: Final = f"""
    INSERT INTO messages (
        parent_channel_id, thread_id, channel_id, created_at, {", ".join(_SAID)}, timestamp
    )
    SELECT
        $1, $2, $3, $4, {", ".join(_INSERTED.values())}, ({_OF_SAID["discord_id"]} >> 22) + 1420070400000
    FROM @rows($5) AS said
    WHERE {_OF_SAID["discord_id"]} > (
        SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $3
    )
    ON CONFLICT (discord_id) WHERE discord_id IS NOT NULL DO NOTHING
    RETURNING id /* channel */
"""

# A message that is known already, for backfill was faster, waits all the same; one that has waited does not
# again. $1 id, $2 channel, $3 thread, $4 place, $5 now.
WAIT: Final = """
    INSERT INTO turns (
        id, user_id, channel_id, thread_id, agent, state, kind, visibility, question_id, accepted_at
    )
    SELECT
        'q' || discord_id, author_id, parent_channel_id, thread_id, '', 'accepted', 'mention', 'public',
        discord_id, CAST($5 AS BIGINT)
    FROM messages
    WHERE discord_id = $1 AND parent_channel_id = $2 AND thread_id = $3 AND user_id IS NULL AND role = 'user'
        AND discord_id > (
            SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $4
        )
    ON CONFLICT (id) DO NOTHING
    RETURNING id /* channel */
"""

# To be run before EDIT; all three with $1 id, $2 content. Discord tells of an edit also when it only adds a
# preview: what is the same stays frozen. Answers are changed by their own commit alone.
THAW_EDITED: Final = f"""
    DELETE FROM block_boundaries WHERE id IN (
        {BLOCKS_FROM_MESSAGE}
        WHERE m.discord_id = $1 AND (m.user_id IS NULL OR m.in_channel = 1) AND m.role = 'user'
            AND m.content <> $2 AND m.erased = 0
    ) /* channel */
"""

# The answer to a question's older text, if it has one already, is not right any more. To be run before EDIT.
MARK_EDITED: Final = """
    UPDATE turns SET state = 'edited'
    WHERE question_id = $1 AND kind = 'mention' AND state <> 'accepted' AND shown_in IS NOT NULL AND EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.discord_id = $1 AND m.user_id IS NULL AND m.role = 'user' AND m.content <> $2
            AND m.erased = 0
    ) /* channel */
"""

# What its user had erased stays so: Discord tells of an edit also when it only adds a preview. $3: 1 when it
# holds others' words now. That it held some before stays: files are still there after an edit.
EDIT: Final = """
    UPDATE messages SET content = $2, tainted = CASE CAST($3 AS BIGINT) WHEN 1 THEN 1 ELSE tainted END
    WHERE discord_id = $1 AND role = 'user' AND content <> $2 AND erased = 0
    RETURNING id /* any row */
"""

# A question of a session that was not answered is asked again as it reads now. $1 id, $2 content, $3: 1 when
# it holds others' words now
EDIT_UNANSWERED: Final = """
    UPDATE turns SET question = CASE CAST($3 AS BIGINT)
        WHEN 1 THEN @with_text(@with_text(question, text, $2), tainted, 'yes')
        ELSE @with_text(question, text, $2)
    END
    WHERE question_id = $1 AND kind = 'message' AND question IS NOT NULL /* channel */
"""

# Once: a turn that is tried again may have heard it before. $1 id, $2 who said it, $3 what was heard
NOTE_HEARD: Final = """
    UPDATE messages SET content = content || '\n' || $3, heard = $3
    WHERE discord_id = $1 AND author_id = $2 AND user_id IS NULL AND role = 'user' AND erased = 0
        AND heard = '' /* channel */
"""

# Discord tells of an edit by what was typed alone.
SELECT_HEARD: Final = "SELECT heard FROM messages WHERE discord_id = $1 AND role = 'user' /* any row */"

_ANSWERED: Final = Parameters(
    (
        *("author_id", "author_name", "content", "tool_calls", "status", "tainted", "reply_to"),
        "memory_user_id",
    ),
    first=7,
)

# Made anew in place, an answer takes the row of the one before. Of a session's row, or of another channel's,
# nothing is overwritten and nothing returned. Nor is anything stored when of its questions ($6, an array of
# ids) none is left: they were deleted meanwhile, or erased with all that their user said. Then _ANSWERED
COMMIT_ANSWER: Final = f"""
    INSERT INTO messages (
        parent_channel_id, thread_id, discord_id, channel_id, created_at, role, timestamp, {_ANSWERED.names}
    )
    SELECT $1, $2, $3, $4, $5, 'assistant', (CAST($3 AS BIGINT) >> 22) + 1420070400000, {_ANSWERED.marks}
    WHERE CAST($6 AS TEXT) = '[]' OR EXISTS (
        SELECT 1 FROM messages AS q
        WHERE q.discord_id IN @ids($6) AND q.user_id IS NULL
    )
    ON CONFLICT (discord_id) WHERE discord_id IS NOT NULL DO UPDATE SET
        created_at = excluded.created_at, role = excluded.role, {_ANSWERED.excluded}, erased = 0
    WHERE messages.user_id IS NULL AND messages.parent_channel_id = $1 AND messages.thread_id = $2
    RETURNING id /* channel */
"""

# Nothing is answered by an answer that was not stored. An edit that it has seen already asks for no other
# one; below what the question says, a note in brackets may have told of its files. $1 channel, $2 thread, $3
# the answer, $4 the question, $5 the text that was answered
MARK_ANSWERED: Final = """
    UPDATE turns SET
        shown_in = $3, calls = '[]',
        state = CASE WHEN EXISTS (
            SELECT 1 FROM messages AS m
            WHERE m.discord_id = $4 AND m.user_id IS NULL AND (
                m.content = $5 OR substr($5, 1, length(m.content) + 2) = m.content || '\n['
            )
        ) THEN 'answered' ELSE 'edited' END
    WHERE question_id = $4 AND kind = 'mention' AND channel_id = $1 AND thread_id = $2 AND EXISTS (
        SELECT 1 FROM messages
        WHERE discord_id = $3 AND parent_channel_id = $1 AND thread_id = $2 AND user_id IS NULL
    ) /* channel */
"""

# After the reset markers of its place. $1 channel, $2 thread, $3 place, $4 whom it answers, or NULL
NEWEST_ANSWER: Final = f"""
    SELECT {MESSAGE.select} FROM messages
    WHERE parent_channel_id = $1 AND thread_id = $2 AND user_id IS NULL AND role = 'assistant'
        AND (CAST($4 AS BIGINT) IS NULL OR EXISTS (
            SELECT 1 FROM turns AS w
            WHERE w.shown_in = messages.discord_id AND w.kind = 'mention' AND w.user_id = $4
        ))
        AND discord_id IS NOT NULL AND visibility = 'public' AND status <> 'replaced'
        AND discord_id > (
            SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $3
        )
    ORDER BY discord_id DESC
    LIMIT 1 /* channel */
"""

# By messages_by_memory_user. $1 user, $2 channel, $3 thread, $4 the first id, $5 limit
_MEMORY_CALLS: Final = """
    SELECT tool_calls FROM messages
    WHERE memory_user_id = $1 AND +parent_channel_id = $2 AND +thread_id = $3 AND user_id IS NULL
        AND +discord_id >= $4 AND status <> 'replaced'
    ORDER BY id DESC
    LIMIT $5
"""
_MAX_ANSWERS_SHOWING: Final = 5

SESSION_OF: Final = f"""
    SELECT {KEY.of("s")}
    FROM messages AS m
    JOIN sessions AS s ON s.id = m.session_id
    WHERE m.role = 'assistant'
        AND m.discord_id = coalesce((SELECT answer_id FROM answer_pages WHERE discord_id = $1), $1)
        /* any row */
"""

# The message itself, or the long answer of this page, is an answer that a channel's context has.
SHOWS_ANSWER: Final = """
    SELECT 1 FROM messages AS m
    WHERE (m.user_id IS NULL OR m.in_channel = 1) AND m.visibility = 'public' AND m.role = 'assistant'
        AND m.discord_id = coalesce((SELECT answer_id FROM answer_pages WHERE discord_id = $1), $1)
        /* channel */
"""

PAGES: Final = "SELECT discord_id FROM answer_pages WHERE answer_id = $1 ORDER BY discord_id"

ADD_PAGES: Final = """
    INSERT INTO answer_pages (answer_id, discord_id)
    SELECT $1, page.value FROM @ids($2) AS page WHERE true
    ON CONFLICT (discord_id) DO NOTHING
"""

DROP_PAGES: Final = "DELETE FROM answer_pages WHERE discord_id IN @ids($1)"

# From one place the index leads to the next, and there to its newest message, so the cost is that of the
# places and not of their messages. (0, -1) comes before all of them. The two steps to the next place can't be
# one comparison of pairs: SQLite would seek by the channel and pass all messages of its earlier threads. The
# bot's own answers do not tell how far it has read: one may be stored before what was written while it was
# out of reach. What was erased does (read_to), for it must not be fetched again. $1 shard, $2 their count
PLACES: Final = f"""
    WITH RECURSIVE archived (channel_id, thread_id) AS (
        VALUES (CAST(0 AS BIGINT), CAST(-1 AS BIGINT))
        UNION ALL
        SELECT next.parent_channel_id, next.thread_id
        FROM archived AS p
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
        (
            SELECT coalesce(max(read.id), 0) FROM (
                SELECT max(m.discord_id) AS id FROM messages AS m
                WHERE m.parent_channel_id = p.channel_id AND m.thread_id = p.thread_id
                    AND m.user_id IS NULL AND m.discord_id IS NOT NULL
                    AND m.visibility = 'public' AND m.role = 'user'
                UNION ALL
                SELECT r.discord_id FROM read_to AS r
                WHERE r.channel_id = p.channel_id AND r.thread_id = p.thread_id
            ) AS read
        ),
        (
            SELECT coalesce(max(r.last_reset_discord_message_id), 0) FROM thread_metadata AS r
            WHERE r.thread_id = CASE p.thread_id WHEN 0 THEN p.channel_id ELSE p.thread_id END
        )
    FROM archived AS p
    LEFT JOIN places AS known
        ON known.place_id = CASE p.thread_id WHEN 0 THEN p.channel_id ELSE p.thread_id END
    WHERE p.thread_id >= 0 AND {of_shard("known", "$1", "$2")} /* channel */
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
    DO UPDATE SET discord_id = excluded.discord_id WHERE excluded.discord_id > read_to.discord_id
    /* channel */
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
    WHERE excluded.last_reset_discord_message_id > known.last_reset_discord_message_id /* any row */
"""

# $1 place
SELECT_RESET: Final = """
    SELECT coalesce(max(last_reset_discord_message_id), 0) FROM thread_metadata WHERE thread_id = $1
"""

# $1 what is read, $2 from when on if that is new
READING: Final = """
    INSERT INTO reading AS before (id, mode, since) VALUES (1, $1, $2)
    ON CONFLICT (id) DO UPDATE SET
        since = CASE before.mode WHEN excluded.mode THEN before.since ELSE excluded.since END,
        mode = excluded.mode
    RETURNING since
"""

# By the primary key. $1 place
SELECT_PLACE: Final = "SELECT channel_id, guild_id FROM places WHERE place_id = $1"

# $1 place, $2 channel, $3 server
NOTE_PLACE: Final = """
    INSERT INTO places (place_id, channel_id, guild_id) VALUES ($1, $2, $3)
    ON CONFLICT (place_id) DO NOTHING
"""

# ---- channel removal -------------------------------------------------------------------------------------
# The removal of messages that were deleted on Discord, and of places that are gone.
#
# All that hangs on a message goes with it in one transaction: that it waits, the further pages of an answer,
# and the frozen blocks that held it. An id that is a page of an answer stands for the whole answer. Deletion
# reaches the rows of sessions as well: what is deleted on Discord is deleted here, whoever's it is.

_LAST_THREAD: Final = 2**63 - 1

# The messages that an array of ids ($1) stands for: these, and of a page the answer that it belongs to.
_MEANT: Final = """
    SELECT value FROM @ids($1) AS meant
    UNION ALL
    SELECT answer_id FROM answer_pages WHERE discord_id IN @ids($1)
"""

# The messages that show answers to questions of an array of ids ($1), and to none that is left.
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

# Of sessions' answers among them, the questions that stand in their channel.
_ASKED: Final = f"""
        SELECT (
            SELECT q.id FROM messages AS q
            WHERE q.session_id = a.session_id AND q.id < a.id AND q.role = 'user' AND q.in_channel = 1
            ORDER BY q.id DESC LIMIT 1
        )
        FROM messages AS a
        WHERE a.discord_id @among({_MEANT}) AND a.in_channel = 1 AND a.role = 'assistant'
"""

# A command's question is seen on Discord no longer than its answer. It stays in its user's session.
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

# A question of a session that got no answer is kept only to be asked again.
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

# All of a place. $1 channel, $2 and $3 the first and the last of its threads that go with it.
_FORGET_MENTIONS: Final = """
    DELETE FROM turns WHERE kind = 'mention' AND question_id IN (
        SELECT discord_id FROM messages
        WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
            AND user_id IS NULL AND discord_id IS NOT NULL
    ) /* channel */
"""

_FORGET_PAGES: Final = """
    DELETE FROM answer_pages WHERE answer_id IN (
        SELECT discord_id FROM messages
        WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
            AND user_id IS NULL AND role = 'assistant' AND discord_id IS NOT NULL
    ) /* channel */
"""

FORGET_MESSAGES: Final = """
    DELETE FROM messages
    WHERE parent_channel_id = $1 AND thread_id BETWEEN $2 AND $3
        AND user_id IS NULL AND discord_id IS NOT NULL /* channel */
"""

_FORGET_BLOCKS: Final = "DELETE FROM block_boundaries WHERE channel_id = $1 AND thread_id BETWEEN $2 AND $3"

_FORGET_WINDOWS: Final = "DELETE FROM channel_windows WHERE channel_id = $1 AND thread_id BETWEEN $2 AND $3"

_FORGET_READ: Final = "DELETE FROM read_to WHERE channel_id = $1 AND thread_id BETWEEN $2 AND $3"

# $1 channel, $2 the thread or NULL for all of the channel
_FORGET_RESETS: Final = (
    "DELETE FROM thread_metadata WHERE channel_id = $1 AND (CAST($2 AS BIGINT) IS NULL OR thread_id = $2)"
)

# What a forward showed went with the question about it. By attachments_by_source.
DELETE_FORWARDED: Final = """
    DELETE FROM attachments WHERE source_id IN @ids($1)
    RETURNING message_id /* channel */
"""

# Whether a backup may hold them. $1 an array of messages
SELECT_KEPT: Final = f"""
    SELECT id FROM messages WHERE discord_id @among({_MEANT})
    UNION ALL
    SELECT message_id FROM attachments WHERE source_id IN @ids($1) /* all users */
    LIMIT 1
"""

# Each in the order in which they are run: what a later one removes is what an earlier one finds its rows by.
_DELETION: Final = (
    *(_THAW, _THAW_ASKED, _LEAVE_CHANNEL, _UNLINK_ANSWERS, DELETE_TURNS),
    *(DELETE_MESSAGES, _DELETE_PAGES, DELETE_FORWARDED),
)
_FORGETTING: Final = (
    *(
        _FORGET_MENTIONS,
        _FORGET_PAGES,
        FORGET_MESSAGES,
        _FORGET_BLOCKS,
        _FORGET_WINDOWS,
        _FORGET_READ,
    ),
)

# $1 thread
_FORGET_THREAD: Final = "DELETE FROM places WHERE place_id = $1"

# By places_by_channel. $1 channel
_FORGET_CHANNEL: Final = "DELETE FROM places WHERE channel_id = $1"

# What is to be deleted here and still stands on Discord. By messages_by_discord_id. $1 an array of ids
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
    """The statements that delete these messages; DELETE_MESSAGES among them returns a row for each that there
    was."""
    ids = json.dumps([*discord_ids])
    return [Statement(sql, (ids,)) for sql in _DELETION]


def deletion_here_alone(discord_ids: Collection[int]) -> Steps[None]:
    """Delete messages that still stand on Discord: catching up is not to fetch them again."""
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
    """The statements that delete all of a thread, or of a channel with its threads."""
    threads = (key.thread_id, key.thread_id or _LAST_THREAD)
    return [
        *(Statement(sql, (key.channel_id, *threads)) for sql in _FORGETTING),
        Statement(_FORGET_RESETS, (key.channel_id, key.thread_id or None)),
        Statement(_FORGET_THREAD if key.thread_id else _FORGET_CHANNEL, (key.place_id,)),
    ]


# ---- channels --------------------------------------------------------------------------------------------

SELECT_KNOWN: Final = """
    SELECT discord_id FROM messages WHERE discord_id IN @ids($1)
    UNION ALL
    SELECT source_id FROM attachments WHERE source_id IN @ids($1) /* all users */
"""
"""Served by messages_by_discord_id and attachments_by_source. Parameters: the ids of messages, as JSON."""

SELECT_SAID: Final = f"""
    SELECT coalesce(m.user_id, 0), {MESSAGE.of("m")} FROM messages AS m
    WHERE m.discord_id = {_WHOLE.format(id="$1")} AND m.channel_id = $2 AND m.status <> 'replaced'
        AND (m.user_id = $3 OR (m.user_id IS NULL OR m.in_channel = 1) AND m.visibility = 'public')
        /* channel */
"""
"""Served by messages_by_discord_id. Parameters: Discord's id, the channel or thread, the user."""

SELECT_DIRECT: Final = """
    SELECT s.channel_id, s.user_id
    FROM sessions AS s
    WHERE s.closed_at IS NULL AND s.active_hour >= substr($1, 1, 13) AND s.last_active > $1 AND EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.session_id = s.id AND m.user_id = s.user_id
            AND m.role = 'user' AND m.visibility = 'private' AND m.discord_id IS NOT NULL
    )
    ORDER BY s.active_hour DESC
    LIMIT $2 /* all users */
"""
"""DMs of open sessions. Served by sessions_open_by_hour, and messages_by_session for each session's first
words. Parameters: since when, how many at most."""


@dataclass(frozen=True, slots=True)
class Place:
    """A channel or thread that has messages, and from where on to catch up with it."""

    key: ChannelKey
    newest_id: int
    """Discord's id of the newest message here that is not the bot's own; 0 when there is none."""
    reset_id: int
    """The newest reset marker of any bot; 0 when there is none."""


_PLACE: Final = Columns(Place)


class Said(NamedTuple):
    """A message of a channel or thread."""

    user_id: int
    """Whose session it is of; 0 for the channel's own."""
    message: Message


_HEARD: Final = Columns(Said, message=MESSAGE)


class ChannelStore:
    """The archive of every channel and thread."""

    def __init__(self, database: Database, *, clock: Clock = utc_now, log: ErasureLog | None = None) -> None:
        """Make the store. Deletions on Discord are noted in the log, where there is one, so that they are
        done again in a backup that is restored."""
        self._database = database
        self._clock = clock
        self._log = log

    async def add(self, key: ChannelKey, message: Message, *, waiting: bool = False) -> bool:
        """Keep a message, and with `waiting` that it is to be answered. Whether that is new.

        It is not when the message is known already and, with `waiting`, has waited already; nor is anything
        stored that is blank (what Discord shows of a message without the intent) or not after the reset
        markers of its place. Attachments are not kept. Raises ValueError for a message without Discord's id,
        or a private one.
        """
        batch = self._insertion(key, [message])
        if batch and waiting:
            params = (message.discord_id, key.channel_id, key.thread_id, key.place_id, self._now())
            batch.append(Statement(WAIT, params))
        stored = await self._database.transaction(batch, of_place(key)) if batch else []
        return any(stored)

    async def add_all(self, key: ChannelKey, messages: Sequence[Message]) -> int:
        """Keep messages, in any order, and tell how many were new. The same is not stored as by `add`."""
        batch = self._insertion(key, messages)
        return len((await self._database.transaction(batch, of_place(key)))[1]) if batch else 0

    async def pass_over(self, key: ChannelKey, discord_id: int) -> None:
        """Note that nothing up to this id is missed in a place, though nothing of it is kept: the bot may not
        read there. A place of which nothing is kept at all is not caught up with anyway."""
        params = (key.channel_id, key.thread_id, discord_id)
        await self._database.transaction([Statement(SKIP, params)], of_place(key))

    async def note_heard(self, key: ChannelKey, question: Message, heard: str) -> None:
        """Note what was heard in the recordings of a channel's question: it is what the question says from
        now on, below what was typed."""
        await self._database.transaction(
            [
                Statement(THAW_EDITED, (question.discord_id, heard)),
                Statement(NOTE_HEARD, (question.discord_id, question.author_id, heard)),
            ],
            of_place(key),
        )

    async def edit(
        self,
        discord_id: int,
        content: str,
        *,
        place_id: int | None = None,
        tainted: bool = False,
        preview: bool = False,
    ) -> bool:
        """Change what a user's message says, in a channel or a session, above what was heard in it. Whether
        it said another thing before. `place_id`: the channel or thread where that is, if it is known.
        `tainted`: as `Message.tainted`. `preview`: Discord alone has changed it, so what was answered to it
        stays right.

        A blank content changes nothing: Discord shows one where the bot may not read it.
        """
        if is_blank(content):
            return False

        def steps() -> Steps[bool]:
            rows = yield Statement(SELECT_HEARD, (discord_id,))
            says = with_heard(content, rows[0][0] if rows else "")
            params = (discord_id, says)
            yield Statement(THAW_EDITED, params)
            yield Statement(EDIT_UNANSWERED, (discord_id, content, int(tainted)))
            if not preview:
                yield Statement(MARK_EDITED, params)
            return bool((yield Statement(EDIT, (*params, int(tainted or has_quotation(says))))))

        return await self._database.write(steps, _where(place_id))

    async def delete(self, discord_ids: Collection[int], *, place_id: int | None = None) -> int:
        """Remove these messages of channels and sessions with all that hangs on them, and tell how many.
        `place_id`: the channel or thread where they are, if it is one and known.

        An answer goes as a whole when any of its pages does. The question of a removed answer stays answered.
        Raises StorageError, also when the log could not be written.
        """
        if self._log and await self._database.query(SELECT_KEPT, json.dumps([*discord_ids])):
            await self._log.note("message", *discord_ids)  # Discord tells of many that were never kept
        batch = deletion(discord_ids)
        results = await self._database.transaction(batch, _where(place_id))
        done = zip(batch, results, strict=True)
        counted = (DELETE_MESSAGES, DELETE_FORWARDED, DELETE_TURNS)
        return sum(row[0] != "mention" for each, rows in done if each.sql in counted for row in rows)

    async def list_answers(self, discord_ids: Collection[int]) -> tuple[int, ...]:
        """List the messages that show answers to these questions and to no others, in channels and
        sessions."""
        rows = await self._database.query(ANSWERS_TO, json.dumps([*discord_ids]))
        return tuple(dict.fromkeys(id_ for (id_,) in rows))

    async def forget_place(self, key: ChannelKey) -> None:
        """Remove all of a thread, or of a channel with its threads. Sessions in it are their users' own."""
        if self._log:
            await self._log.note("place", place_name(key.channel_id, key.thread_id))
        await self._database.transaction(place_deletion(key), of_place(key))

    async def commit_answer(self, key: ChannelKey, answer: Message, questions: Sequence[Message]) -> Message:
        """Store an answer that proposes nothing, as `archive_answer` does, and return it as it was stored."""
        return (await self.archive_answer(key, answer, questions)).messages[0]

    async def archive_answer(
        self,
        key: ChannelKey,
        answer: Message,
        questions: Sequence[Message],
        proposals: Sequence[ProposedChange] = (),
        *,
        agent: str = "default",
        settlement: Settlement | None = None,
    ) -> StoredTurn:
        """Store an answer, what it proposes to who asked (`agent` does), what it has used, and that that
        user's questions, as they were read, have it, all or nothing; return it with its id and time.

        An answer that has this Discord id already is overwritten: it was made anew. It is kept also when its
        place was reset since it was asked for, and read no more. Raises ValueError when it has no Discord id,
        and ConversationGone when none of the questions is left, or the id is that of another place's or a
        session's message.
        """
        now = from_ms(self._now())  # as it is read back
        asked = json.dumps([question.discord_id for question in questions])
        held = (key.channel_id, key.thread_id, _discord_id(answer))
        author_id = questions[0].author_id if questions else 0
        acts = {call.name for call in answer.tool_calls} & (MEMORY_TOOLS | CANVAS_TOOLS)
        columns = _ANSWERED.of(MESSAGE.write(answer) | {"memory_user_id": author_id if acts else None})
        asker = SessionKey(author_id, key.place_id, agent)
        proposing = insert_proposals(asker, _discord_id(answer), proposals, now)
        before = [
            Statement(THAW_FROM, held),
            Statement(COMMIT_ANSWER, (*held, key.place_id, to_ms(now), asked, *columns)),
            Statement(DROP_OF_CHANNEL_ANSWER, (answer.discord_id,)),
        ]
        batch = [
            *before,
            *proposing,
            *(
                Statement(MARK_ANSWERED, (*held, question.discord_id, question.content))
                for question in questions
            ),
        ]

        def steps() -> Steps[list[Sequence[Row]]]:
            results = []
            for statement in batch:
                results.append((yield statement))
            if settlement and results[1]:
                yield from settle_stored(settlement)
            return results

        # Whoever is being erased with what they asked has no answer stored after that.
        results = await self._database.write(steps, (*of_place(key), user(author_id)))
        if not results[1]:
            raise ConversationGone
        stored = replace(answer, id=results[1][0][0], created_at=now)
        made = [row for rows in results[len(before) :][: len(proposing)] for row in rows]
        return StoredTurn((stored,), proposals=tuple(map(PROPOSAL.read, made)))

    async def get_newest_answer(self, key: ChannelKey, to_user_id: int | None = None) -> Message | None:
        """Return the bot's last answer in this channel or thread since it was reset: to anybody, or to what
        this user asked."""
        params = (key.channel_id, key.thread_id, key.place_id, to_user_id)
        found = MESSAGE.first(await self._database.query(NEWEST_ANSWER, *params))
        if found is None or to_user_id is None:
            return found
        [read] = await read_texts(self._database, to_user_id, [found])
        return read

    async def list_shown_memories(self, key: ChannelKey, user_id: int, first: int) -> frozenset[int]:
        """List the user's memories that the bot's newest answers there, from this id on, kept or showed."""
        rows = await self._database.query(
            _MEMORY_CALLS, user_id, key.channel_id, key.thread_id, first, _MAX_ANSWERS_SHOWING
        )
        return shown_ids(call for (calls,) in rows for call in tool_calls_of(calls))

    async def get_said(self, discord_id: int, place_id: int, user_id: int) -> Said | None:
        """Return what a message of a channel or thread says, or the long answer of which it is a page: one
        that everybody reads there, or of this user's conversation there."""
        return _HEARD.first(await self._database.query(SELECT_SAID, discord_id, place_id, user_id))

    async def get_session_key(self, discord_id: int) -> SessionKey | None:
        """Return the session whose answer this message shows, or the long answer of which it is a page."""
        rows = await self._database.query(SESSION_OF, discord_id)
        return KEY.first(rows)

    async def is_answer(self, discord_id: int) -> bool:
        """Return whether this message, or the long answer of this page, is an answer in a channel's
        archive."""
        return bool(await self._database.query(SHOWS_ANSWER, discord_id))

    async def list_pages(self, answer_id: int) -> tuple[int, ...]:
        """List the further messages that show a long answer, in order."""
        return tuple(id_ for (id_,) in await self._database.query(PAGES, answer_id))

    async def add_pages(self, place_id: int, answer_id: int, discord_ids: Collection[int]) -> None:
        """Note the further messages that show a long answer in a channel or thread, whose own id is that of
        its first."""
        params = (answer_id, json.dumps([*discord_ids]))
        await self._database.transaction([Statement(ADD_PAGES, params)], [channel(place_id)])

    async def drop_pages(self, place_id: int, discord_ids: Collection[int]) -> None:
        """Forget pages that the bot is about to delete because its answer grew shorter.

        To be called before: deleted as pages they would take the whole answer with them.
        """
        params = (json.dumps([*discord_ids]),)
        await self._database.transaction([Statement(DROP_PAGES, params)], [channel(place_id)])

    async def find_place(self, place_id: int) -> KnownPlace | None:
        """Return what a channel or thread of a server is, if it was noted."""
        rows = await self._database.query(SELECT_PLACE, place_id)
        return KnownPlace(_key(rows[0][0], place_id), rows[0][1]) if rows else None

    async def note_place(self, place: KnownPlace) -> None:
        """Note what a channel or thread of a server is. A DM is its user's, and not noted."""
        if place.guild_id is None:
            return
        params = (place.key.place_id, place.key.channel_id, place.guild_id)
        await self._database.transaction([Statement(NOTE_PLACE, params)], of_place(place.key))

    async def list_places(self, *, limit: int, shard: Shard = WHOLE) -> tuple[Place, ...]:
        """List the channels and threads with the newest messages, the most recent first: those that a
        connection tells of, and those of which it was not noted who does."""
        rows = await self._database.query(PLACES, shard.id, shard.count)
        return tuple(nlargest(limit, map(_PLACE.read, rows), key=lambda place: place.newest_id))

    async def list_direct(self, *, since: datetime, limit: int) -> dict[int, int]:
        """Return the channels of DMs that go on and that somebody has written in since, the most recent
        first, and the user of each."""
        rows = await self._database.query(SELECT_DIRECT, to_text(since), limit)
        return {channel_id: user_id for channel_id, user_id in rows}  # noqa: C416 - rows have no type

    async def find_known(self, discord_ids: Collection[int]) -> frozenset[int]:
        """Return those of these messages that are stored, in whatever conversation, or with a question about
        them."""
        rows = await self._database.query(SELECT_KNOWN, json.dumps([*discord_ids]))
        return frozenset(id_ for (id_,) in rows)

    async def set_reading(self, mode: Reading, since: int) -> int:
        """Note which messages are read from now on, and return since when they are: the id of a moment,
        `since` if the last run read others, or there was none."""
        [[(began,)]] = await self._database.transaction([Statement(READING, (mode, since))], [EVERYBODY])
        return int(began)

    async def get_reset(self, place_id: int) -> int:
        """Return up to which id of Discord's nothing is read again in a channel or thread; 0 for none."""
        [(reset_id,)] = await self._database.query(SELECT_RESET, place_id)
        return int(reset_id)

    async def reset(self, key: ChannelKey, *, bot_id: int, discord_id: int) -> None:
        """Let this bot, or any with `bot_id` 0, read nothing up to this Discord id again."""
        params = (key.place_id, bot_id, key.channel_id, discord_id, self._now())
        await self._database.transaction([Statement(RESET, params)], of_place(key))

    def _now(self) -> int:
        return to_ms(self._clock())

    def _insertion(self, key: ChannelKey, messages: Sequence[Message]) -> list[Statement]:
        """The statements that thaw and store; none when there is nothing to store."""
        kept = [message for message in messages if not is_blank(message.content)]
        if not kept:
            return []
        ids, rows = [*map(_discord_id, kept)], [*map(_row, kept)]
        held = (key.channel_id, key.thread_id)
        return [
            Statement(THAW_NEW, (*held, min(ids), key.place_id, json.dumps(ids))),
            Statement(INSERT, (*held, key.place_id, self._now(), json.dumps(rows, ensure_ascii=False))),
        ]


def _key(channel_id: int, place_id: int) -> ChannelKey:
    return ChannelKey(channel_id, 0 if place_id == channel_id else place_id)


def _where(place_id: int | None) -> tuple[Subject, ...]:
    return (EVERYBODY if place_id is None else channel(place_id),)


def _row(message: Message) -> list[Any]:
    """Return the columns that _SAID names of one message. Where JSON has a NUL, SQLite's text ends; Discord
    sends none."""
    columns = MESSAGE.write(message) | {
        "author_name": message.author_name.replace("\0", ""),
        "content": message.content.replace("\0", ""),
        "tainted": int(message.taints or message.role == "assistant"),  # who knows what its model had read
    }
    return [columns[name] for name in _SAID]


def _discord_id(message: Message) -> int:
    if message.discord_id is None or message.visibility == "private":
        raise ValueError("a channel's message has an id of Discord's, and is not private")
    return message.discord_id
