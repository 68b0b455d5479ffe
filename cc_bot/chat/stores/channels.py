"""Stores the messages of channels, each once, ordered by Discord id. A change of a message thaws its block
(blocks.py) in the same transaction."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest
from typing import Any, Final, NamedTuple

from cc_bot.chat.stores.blocks import (
    DELETE_FORWARDED_FILES,
    DELETE_MESSAGES,
    DELETE_TURNS,
    IS_IN_CHANNEL,
    IS_READ_CHANNEL,
    MARK_READ_TO,
    SELECT_ANSWERS_OF,
    SELECT_ANY_STORED,
    SELECT_RESET_ID,
    THAW_FROM,
    delete_channel,
    delete_messages,
    thaw_sql,
)
from cc_bot.chat.stores.proposals import DELETE_PROPOSALS_OF_CHANNEL_ANSWER, PROPOSAL, insert_proposals
from cc_bot.chat.stores.sessions import StoredTurn
from cc_bot.chat.stores.usage import Settlement, settle_stored
from cc_bot.db import (
    MAINTENANCE_LOCK,
    LockKey,
    Statement,
    Transaction,
    channel_lock,
    thread_log_id,
    user_lock,
)
from cc_bot.db.columns import (
    KEY,
    MESSAGE,
    Columns,
    Parameters,
    Store,
    channel_locks,
    from_ms,
    to_ms,
    to_text,
    tool_calls_from_json,
)
from cc_bot.db.process import UNSHARDED, Shard, in_shard
from cc_bot.domain.clock import DISCORD_EPOCH_MS
from cc_bot.domain.errors import ConversationGone
from cc_bot.domain.message import (
    ChannelKey,
    ChannelReading,
    Location,
    Message,
    ToolCall,
    append_transcript,
    has_quotation,
    is_blank,
)
from cc_bot.domain.proposal import Proposal, ProposedCalls
from cc_bot.domain.session import SessionKey
from cc_bot.domain.tool_calls import CANVAS_TOOLS, MEMORY_TOOLS
from cc_bot.features.memory.stores.rows import fill_in_texts

# ruff: noqa: S608 - SQL is built from constants

# Thaws the block of the oldest new message. The `+` makes SQLite run the subquery only if a block ends after
# the lowest id ($3). $4 location_id, $5 ids
_THAW_NEW: Final = f"""
    DELETE FROM block_boundaries
    WHERE channel_id = $1 AND thread_id = $2 AND last_message_id >= $3 AND +last_message_id >= (
        SELECT min(entry.value)
        FROM @ids($5) AS entry
        WHERE entry.value > ({SELECT_RESET_ID.format("$4")})
            AND NOT EXISTS (SELECT 1 FROM messages WHERE discord_id = entry.value)
    ) /* scope: any row */
"""

_INSERTED_COLUMNS: Final = (
    *("discord_id", "author_id", "author_name", "role"),
    *("content", "tool_calls", "status", "tainted", "reply_to"),
)
_INTEGER_COLUMNS: Final = frozenset({"discord_id", "author_id", "tainted", "reply_to"})
_ROW_VALUES: Final = {
    name: f"@{'number' if name in _INTEGER_COLUMNS else 'text'}_at(entry.value, {index})"
    for index, name in enumerate(_INSERTED_COLUMNS)
}

# An answer of several pages has the id of the first. {id}: the id of any page
_ANSWER_ID: Final = "coalesce((SELECT answer_id FROM answer_pages WHERE discord_id = {id}), {id})"
_INSERTED_VALUES: Final = {**_ROW_VALUES, "reply_to": _ANSWER_ID.format(id=_ROW_VALUES["reply_to"])}
_DISCORD_ID: Final = _ROW_VALUES["discord_id"]

# $3 location_id, $5 arrays in the order of _INSERTED_COLUMNS
_INSERT: Final = f"""
    INSERT INTO messages (
        parent_channel_id, thread_id, channel_id, created_at, {", ".join(_INSERTED_COLUMNS)}, timestamp
    )
    SELECT $1, $2, $3, $4, {", ".join(_INSERTED_VALUES.values())}, ({_DISCORD_ID} >> 22) + {DISCORD_EPOCH_MS}
    FROM @rows($5) AS entry
    WHERE {_DISCORD_ID} > ({SELECT_RESET_ID.format("$3")})
    ON CONFLICT (discord_id) WHERE discord_id IS NOT NULL DO NOTHING
    RETURNING id /* scope: channel */
"""

# Works also if catching up has stored the message before. $4 location_id
_INSERT_TURN: Final = f"""
    INSERT INTO turns (
        id, user_id, channel_id, thread_id, agent, state, kind, visibility, question_id, accepted_at
    )
    SELECT
        'q' || discord_id, author_id, parent_channel_id, thread_id, '', 'accepted', 'mention', 'public',
        discord_id, CAST($5 AS BIGINT)
    FROM messages
    WHERE discord_id = $1 AND parent_channel_id = $2 AND thread_id = $3 AND user_id IS NULL AND role = 'user'
        AND discord_id > ({SELECT_RESET_ID.format("$4")})
    ON CONFLICT (id) DO NOTHING
    RETURNING id /* scope: channel */
"""

# This and _MARK_EDITED run before _EDIT, as they compare the texts.
_THAW_EDITED: Final = thaw_sql(
    f"m.discord_id = $1 AND {IS_IN_CHANNEL} AND m.role = 'user' AND m.content <> $2 AND m.erased = 0"
    " /* scope: channel */"
)

_MARK_EDITED: Final = """
    UPDATE turns SET state = 'edited'
    WHERE question_id = $1 AND kind = 'mention' AND state <> 'accepted' AND shown_in IS NOT NULL AND EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.discord_id = $1 AND m.user_id IS NULL AND m.role = 'user' AND m.content <> $2
            AND m.erased = 0
    ) /* scope: channel */
"""

# $3: 1 if the content is tainted. A tainted message remains so, as an edit keeps its files.
_EDIT: Final = """
    UPDATE messages SET content = $2, tainted = CASE CAST($3 AS BIGINT) WHEN 1 THEN 1 ELSE tainted END
    WHERE discord_id = $1 AND role = 'user' AND content <> $2 AND erased = 0
    RETURNING id /* scope: any row */
"""

SELECT_TRANSCRIPT: Final = (
    "SELECT heard FROM messages WHERE discord_id = $1 AND role = 'user' /* scope: any row */"
)

_PARAMS: Final = Parameters(
    (
        *("author_id", "author_name", "content", "tool_calls", "status", "tainted", "reply_to"),
        "memory_user_id",
    ),
    first=7,
)

# A regenerated answer replaces the former one. Stores nothing if the id belongs to a message of a session or
# another channel, or if questions are named ($6) but none of them is stored.
_STORE_ANSWER: Final = f"""
    INSERT INTO messages (
        parent_channel_id, thread_id, discord_id, channel_id, created_at, role, timestamp, {_PARAMS.names}
    )
    SELECT
        $1, $2, $3, $4, $5, 'assistant', (CAST($3 AS BIGINT) >> 22) + {DISCORD_EPOCH_MS},
        {_PARAMS.placeholders}
    WHERE CAST($6 AS TEXT) = '[]' OR EXISTS (
        SELECT 1 FROM messages AS q
        WHERE q.discord_id IN @ids($6) AND q.user_id IS NULL
    )
    ON CONFLICT (discord_id) WHERE discord_id IS NOT NULL DO UPDATE SET
        created_at = excluded.created_at, role = excluded.role, {_PARAMS.excluded}, erased = 0
    WHERE messages.user_id IS NULL AND messages.parent_channel_id = $1 AND messages.thread_id = $2
    RETURNING id /* scope: channel */
"""

# $5: the question as it was answered, which may end with a note in brackets about files
_MARK_ANSWERED: Final = """
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
    ) /* scope: channel */
"""

_MAX_MEMORY_ANSWERS: Final = 5

_SELECT_SESSION_KEY: Final = f"""
    SELECT {KEY.with_alias("s")}
    FROM messages AS m
    JOIN sessions AS s ON s.id = m.session_id
    WHERE m.role = 'assistant'
        AND m.discord_id = {_ANSWER_ID.format(id="$1")}
        /* scope: any row */
"""

SELECT_ARCHIVED_CHANNELS: Final = f"""
    SELECT
        p.channel_id,
        p.thread_id,
        (
            SELECT coalesce(max(read.id), 0) FROM (
                SELECT max(m.discord_id) AS id FROM messages AS m
                WHERE m.parent_channel_id = p.channel_id AND m.thread_id = p.thread_id
                    AND m.user_id IS NULL AND m.discord_id IS NOT NULL
                    AND m.visibility = 'public' AND m.role = 'user'
                UNION ALL SELECT r.discord_id FROM read_to AS r
                WHERE r.channel_id = p.channel_id AND r.thread_id = p.thread_id
            ) AS read
        ),
        ({SELECT_RESET_ID.format("p.place_id")})
    FROM (
        SELECT
            place_id, channel_id, guild_id,
            CASE place_id WHEN channel_id THEN 0 ELSE place_id END AS thread_id
        FROM places
    ) AS p
    WHERE {in_shard("p", "$1", "$2")} AND {IS_READ_CHANNEL.format("p.channel_id", "p.thread_id")}
    /* scope: channel */
"""

# A reset never moves back.
_RESET: Final = """
    INSERT INTO thread_metadata AS known (
        thread_id, bot_id, channel_id, last_reset_row_id, last_reset_discord_message_id, last_reset_at
    )
    VALUES ($1, $2, $3, (SELECT coalesce(max(id), 0) FROM messages), $4, $5)
    ON CONFLICT (thread_id, bot_id) DO UPDATE SET
        last_reset_row_id = excluded.last_reset_row_id,
        last_reset_discord_message_id = excluded.last_reset_discord_message_id,
        last_reset_at = excluded.last_reset_at
    WHERE excluded.last_reset_discord_message_id > known.last_reset_discord_message_id /* scope: any row */
"""

_SELECT_RESET: Final = SELECT_RESET_ID.format("$1")

_SELECT_DMS: Final = """
    SELECT s.channel_id, s.user_id
    FROM sessions AS s
    WHERE s.closed_at IS NULL AND s.active_hour >= substr($1, 1, 13) AND s.last_active > $1 AND EXISTS (
        SELECT 1 FROM messages AS m
        WHERE m.session_id = s.id AND m.user_id = s.user_id
            AND m.role = 'user' AND m.visibility = 'private' AND m.discord_id IS NOT NULL
    )
    ORDER BY s.active_hour DESC
    LIMIT $2 /* scope: all users */
"""


@dataclass(frozen=True, slots=True)
class ArchivedChannel:
    key: ChannelKey
    newest_id: int  # the newest message of a user; 0 if there is none
    last_id_before_reset: int  # 0 if there is no reset


_ARCHIVED_CHANNEL: Final = Columns(ArchivedChannel)


class ReadableMessage(NamedTuple):
    user_id: int  # the user of the message's session; 0 for a message of a channel
    message: Message


_READABLE: Final = Columns(ReadableMessage, message=MESSAGE)


class ChannelStore(Store):
    async def add(self, key: ChannelKey, message: Message, *, is_question: bool = False) -> bool:
        """Store a message without its attachments, and the turn of a question. Returns False for a blank
        message, one before a reset, or one that is stored. Raises ValueError if it is private or has no
        Discord id."""
        batch = self._insert_messages(key, [message])
        if batch and is_question:
            params = (message.discord_id, key.channel_id, key.thread_id, key.location_id, self._now())
            batch.append(Statement(_INSERT_TURN, params))
        results = await self._database.transaction(batch, channel_locks(key)) if batch else []
        return any(results)

    async def add_all(self, key: ChannelKey, messages: Sequence[Message]) -> int:
        """Store messages in any order, as `add` does. Returns the number of new ones."""
        batch = self._insert_messages(key, messages)
        return len((await self._database.transaction(batch, channel_locks(key)))[1]) if batch else 0

    async def mark_read_to(self, key: ChannelKey, discord_id: int) -> None:
        """Mark a channel as read up to an id. No effect on a channel that never had a stored message."""
        await self._change(channel_locks(key), MARK_READ_TO, key.channel_id, key.thread_id, discord_id)

    async def store_transcript(self, key: ChannelKey, question: Message, transcript: str) -> None:
        thaw = Statement(_THAW_EDITED, (question.discord_id, transcript))
        # Only the first: a retried turn makes another.
        sql = """
            UPDATE messages SET content = content || '\n' || $3, heard = $3
            WHERE discord_id = $1 AND author_id = $2 AND user_id IS NULL AND role = 'user' AND erased = 0
                AND heard = '' /* scope: channel */
        """
        store = Statement(sql, (question.discord_id, question.author_id, transcript))
        await self._database.transaction([thaw, store], channel_locks(key))

    async def edit(
        self,
        discord_id: int,
        content: str,
        *,
        location_id: int | None = None,
        tainted: bool = False,
        preview: bool = False,
    ) -> bool:
        """Change the text of a user's message, unless it is blank. Returns whether it changed. `preview`:
        Discord only added a preview of a link, so answers stay valid."""
        if is_blank(content):
            return False

        def steps() -> Transaction[bool]:
            rows = yield Statement(SELECT_TRANSCRIPT, (discord_id,))
            text = append_transcript(content, rows[0][0] if rows else "")
            params = (discord_id, text)
            yield Statement(_THAW_EDITED, params)
            # If a question of a session is asked again, it has the new text.
            sql = """
                UPDATE turns SET question = CASE CAST($3 AS BIGINT)
                    WHEN 1 THEN @with_text(@with_text(question, text, $2), tainted, 'yes')
                    ELSE @with_text(question, text, $2)
                END
                WHERE question_id = $1 AND kind = 'message' AND question IS NOT NULL /* scope: channel */
            """
            yield Statement(sql, (discord_id, content, int(tainted)))
            if not preview:
                yield Statement(_MARK_EDITED, params)
            return bool((yield Statement(_EDIT, (*params, int(tainted or has_quotation(text))))))

        return await self._database.write(steps, _lock_keys(location_id))

    async def delete(self, discord_ids: Collection[int], *, location_id: int | None = None) -> int:
        """Delete messages of channels and sessions, with everything that depends on them. Returns the number
        of messages, forwarded files and interrupted turns. The id of a page deletes the whole answer."""
        # A message that was never stored is in no backup, and needs no entry in the erasure log.
        if self._log and await self._database.query(SELECT_ANY_STORED, json.dumps([*discord_ids])):
            await self._log.note("message", *discord_ids)
        batch = delete_messages(discord_ids)
        results = await self._database.transaction(batch, _lock_keys(location_id))
        rows_by_sql = {each.sql: rows for each, rows in zip(batch, results, strict=True)}
        interrupted = [kind for (kind,) in rows_by_sql[DELETE_TURNS] if kind != "mention"]
        return len(rows_by_sql[DELETE_MESSAGES]) + len(rows_by_sql[DELETE_FORWARDED_FILES]) + len(interrupted)

    async def list_with_answers(self, message_ids: Collection[int]) -> tuple[int, ...]:
        """Return these messages, all messages of the answers to them alone, and of the answers of which they
        are a part."""
        rows = await self._database.query(SELECT_ANSWERS_OF, json.dumps([*message_ids]))
        return tuple(dict.fromkeys(id_ for (id_,) in rows))

    async def forget_channel(self, key: ChannelKey) -> None:
        """Delete a thread, or a channel with its threads, but no sessions."""
        if self._log:
            await self._log.note("place", thread_log_id(key.channel_id, key.thread_id))
        await self._database.transaction(delete_channel(key), channel_locks(key))

    async def archive_answer(
        self,
        key: ChannelKey,
        answer: Message,
        questions: Sequence[Message],
        proposals: Sequence[ProposedCalls] = (),
        *,
        agent: str = "default",
        settlement: Settlement | None = None,
    ) -> StoredTurn:
        """Store an answer with its proposals and usage, and mark its questions as answered, all or nothing.
        Overwrites an answer with this Discord id. Raises ValueError without one, and ConversationGone if none
        of the questions is stored or the id belongs to another message."""
        now = from_ms(self._now())  # with the precision of the database
        question_ids = json.dumps([question.discord_id for question in questions])
        answer_key = (key.channel_id, key.thread_id, _discord_id(answer))
        author_id = questions[0].author_id if questions else 0
        has_user_data = any(call.name in MEMORY_TOOLS | CANVAS_TOOLS for call in answer.tool_calls)
        memory_user_id = author_id if has_user_data else None
        columns = _PARAMS.pick(MESSAGE.write(answer) | {"memory_user_id": memory_user_id})
        author_key = SessionKey(author_id, key.location_id, agent)
        inserts = insert_proposals(author_key, _discord_id(answer), proposals, now)

        def steps() -> Transaction[StoredTurn | None]:
            yield Statement(THAW_FROM, answer_key)
            rows = yield Statement(
                _STORE_ANSWER, (*answer_key, key.location_id, to_ms(now), question_ids, *columns)
            )
            yield Statement(DELETE_PROPOSALS_OF_CHANNEL_ANSWER, (answer.discord_id,))
            stored_proposals = list[Proposal]()
            for statement in inserts:
                stored_proposals += map(PROPOSAL.read, (yield statement))
            for question in questions:
                yield Statement(_MARK_ANSWERED, (*answer_key, question.discord_id, question.content))
            if not rows:
                return None
            if settlement:
                yield from settle_stored(settlement)
            return StoredTurn(
                (replace(answer, id=rows[0][0], created_at=now),), proposals=tuple(stored_proposals)
            )

        # With the author's lock, no answer is stored while the author's data is erased.
        stored = await self._database.write(steps, (*channel_locks(key), user_lock(author_id)))
        if stored is None:
            raise ConversationGone
        return stored

    async def get_newest_answer(self, key: ChannelKey, to_user_id: int | None = None) -> Message | None:
        """Return the bot's newest answer (to a user) since the reset."""
        params = (key.channel_id, key.thread_id, key.location_id, to_user_id)
        sql = f"""
            SELECT {MESSAGE.select} FROM messages
            WHERE parent_channel_id = $1 AND thread_id = $2 AND user_id IS NULL AND role = 'assistant'
                AND (CAST($4 AS BIGINT) IS NULL OR EXISTS (
                    SELECT 1 FROM turns AS t
                    WHERE t.shown_in = messages.discord_id AND t.kind = 'mention' AND t.user_id = $4
                ))
                AND discord_id IS NOT NULL AND visibility = 'public' AND status <> 'replaced'
                AND discord_id > ({SELECT_RESET_ID.format("$3")})
            ORDER BY discord_id DESC
            LIMIT 1 /* scope: channel */
        """
        found = MESSAGE.read_first(await self._database.query(sql, *params))
        if found is None or to_user_id is None:
            return found
        [answer] = await fill_in_texts(self._database, to_user_id, [found])
        return answer

    async def get_if_readable(
        self, discord_id: int, location_id: int, user_id: int
    ) -> tuple[ReadableMessage | None, int]:
        """Return a message (for a page: the whole answer) that the user can read in this channel or thread,
        and the id of the last message before its reset; 0 for none."""

        def steps() -> Transaction[tuple[ReadableMessage | None, int]]:
            [(reset_id,)] = yield Statement(_SELECT_RESET, (location_id,))
            sql = f"""
                SELECT coalesce(m.user_id, 0), {MESSAGE.with_alias("m")} FROM messages AS m
                WHERE m.discord_id = {_ANSWER_ID.format(id="$1")} AND m.channel_id = $2
                    AND m.status <> 'replaced'
                    AND (m.user_id = $3 OR {IS_IN_CHANNEL} AND m.visibility = 'public')
                    /* scope: channel */
            """
            return _READABLE.read_first((yield Statement(sql, (discord_id, location_id, user_id)))), reset_id

        return await self._database.read(steps)

    async def get_session_key(self, discord_id: int) -> SessionKey | None:
        return KEY.read_first(await self._database.query(_SELECT_SESSION_KEY, discord_id))

    async def is_answer(self, discord_id: int) -> bool:
        """Return whether a message or page shows a public answer to its channel."""
        sql = f"""
            SELECT 1 FROM messages AS m
            WHERE {IS_IN_CHANNEL} AND m.visibility = 'public' AND m.role = 'assistant'
                AND m.discord_id = {_ANSWER_ID.format(id="$1")}
                /* scope: channel */
        """
        return bool(await self._database.query(sql, discord_id))

    async def list_pages(self, answer_id: int) -> tuple[int, ...]:
        sql = "SELECT discord_id FROM answer_pages WHERE answer_id = $1 ORDER BY discord_id"
        return tuple(id_ for (id_,) in await self._database.query(sql, answer_id))

    async def add_pages(self, location_id: int, answer_id: int, discord_ids: Collection[int]) -> None:
        """`answer_id`: the answer's first message."""
        sql = """
            INSERT INTO answer_pages (answer_id, discord_id)
            SELECT $1, page.value FROM @ids($2) AS page WHERE true
            ON CONFLICT (discord_id) DO NOTHING
        """
        await self._change([channel_lock(location_id)], sql, answer_id, json.dumps([*discord_ids]))

    async def drop_pages(self, location_id: int, discord_ids: Collection[int]) -> None:
        """Forget pages that the bot is about to delete, as `delete` would then delete their answer, and their
        receipts."""
        ids = (json.dumps([*discord_ids]),)
        drop = (
            Statement("DELETE FROM answer_pages WHERE discord_id IN @ids($1)", ids),
            Statement("DELETE FROM receipts WHERE message_id IN @ids($1) /* scope: any row */", ids),
        )
        await self._database.transaction(drop, [channel_lock(location_id)])

    async def find_channel(self, location_id: int) -> Location | None:
        sql = "SELECT channel_id, guild_id FROM places WHERE place_id = $1"
        rows = await self._database.query(sql, location_id)
        if not rows:
            return None
        [(channel_id, guild_id)] = rows
        return Location(ChannelKey(channel_id, 0 if location_id == channel_id else location_id), guild_id)

    async def record_channel(self, location: Location) -> None:
        if location.guild_id is None:
            return
        sql = """
            INSERT INTO places (place_id, channel_id, guild_id) VALUES ($1, $2, $3)
            ON CONFLICT (place_id) DO NOTHING
        """
        key = location.key
        await self._change(channel_locks(key), sql, key.location_id, key.channel_id, location.guild_id)

    async def list_channels(self, *, limit: int, shard: Shard = UNSHARDED) -> tuple[ArchivedChannel, ...]:
        """List the most recently used channels of a shard, and of unknown servers."""
        rows = await self._database.query(SELECT_ARCHIVED_CHANNELS, shard.id, shard.count)
        return tuple(
            nlargest(limit, map(_ARCHIVED_CHANNEL.read, rows), key=lambda channel: channel.newest_id)
        )

    async def list_dms(self, *, since: datetime, limit: int) -> dict[int, int]:
        """Return the user of each DM channel with a session used since then, the most recent first."""
        rows = await self._database.query(_SELECT_DMS, to_text(since), limit)
        return {channel_id: user_id for channel_id, user_id in rows}  # noqa: C416 - rows have no type

    async def find_stored_or_forwarded(self, discord_ids: Collection[int]) -> frozenset[int]:
        """Return which of these messages are stored, or were forwarded with a stored question."""
        sql = """
            SELECT discord_id FROM messages WHERE discord_id IN @ids($1)
            UNION ALL SELECT source_id FROM attachments WHERE source_id IN @ids($1) /* scope: all users */
        """
        rows = await self._database.query(sql, json.dumps([*discord_ids]))
        return frozenset(id_ for (id_,) in rows)

    async def set_reading(self, mode: ChannelReading, since: int) -> int:
        """Record which messages the bot reads. Returns the id since which the bot reads them: `since` if the
        mode has changed."""
        sql = """
            INSERT INTO reading AS before (id, mode, since) VALUES (1, $1, $2)
            ON CONFLICT (id) DO UPDATE SET
                since = CASE before.mode WHEN excluded.mode THEN before.since ELSE excluded.since END,
                mode = excluded.mode
            RETURNING since
        """
        [(stored_since,)] = await self._change([MAINTENANCE_LOCK], sql, mode, since)
        return int(stored_since)

    async def reset(self, key: ChannelKey, *, bot_id: int, discord_id: int) -> None:
        """Hide messages up to an id from a bot (0: from all)."""
        await self._change(
            channel_locks(key), _RESET, key.location_id, bot_id, key.channel_id, discord_id, self._now()
        )

    def _now(self) -> int:
        return to_ms(self._clock())

    def _insert_messages(self, key: ChannelKey, messages: Sequence[Message]) -> list[Statement]:
        messages = [message for message in messages if not is_blank(message.content)]
        if not messages:
            return []
        ids, rows = [*map(_discord_id, messages)], [*map(_row, messages)]
        channel_ids = (key.channel_id, key.thread_id)
        return [
            Statement(_THAW_NEW, (*channel_ids, min(ids), key.location_id, json.dumps(ids))),
            Statement(
                _INSERT, (*channel_ids, key.location_id, self._now(), json.dumps(rows, ensure_ascii=False))
            ),
        ]


def read_memory_calls(
    key: ChannelKey, user_id: int, first_id: int
) -> Transaction[Sequence[tuple[int, tuple[ToolCall, ...]]]]:
    """Return the newest answers in the channel, from `first_id` on, that used the user's memories: their ids
    and tool calls."""
    if not user_id:
        return ()
    params = (user_id, key.channel_id, key.thread_id, first_id, _MAX_MEMORY_ANSWERS)
    sql = """
        SELECT discord_id, tool_calls FROM messages
        WHERE memory_user_id = $1 AND +parent_channel_id = $2 AND +thread_id = $3 AND user_id IS NULL
            AND +discord_id >= $4 AND status <> 'replaced'
        ORDER BY id DESC
        LIMIT $5
    """
    return [(id_, tool_calls_from_json(calls)) for id_, calls in (yield Statement(sql, params))]


def _lock_keys(location_id: int | None) -> tuple[LockKey, ...]:
    return (MAINTENANCE_LOCK if location_id is None else channel_lock(location_id),)


def _row(message: Message) -> list[Any]:
    """Return values in the order of _INSERTED_COLUMNS. NUL is removed, as it ends a JSON text in SQLite."""
    columns = MESSAGE.write(message) | {
        "author_name": message.author_name.replace("\0", ""),
        "content": message.content.replace("\0", ""),
        # The model may have read tainted text.
        "tainted": int(message.is_tainting or message.role == "assistant"),
    }
    return [columns[name] for name in _INSERTED_COLUMNS]


def _discord_id(message: Message) -> int:
    if message.discord_id is None or message.visibility == "private":
        raise ValueError("a message of a channel has a Discord id and is not private")
    return message.discord_id
