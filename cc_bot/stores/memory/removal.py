"""The end of memories: those that a user had deleted are gone, with every copy that cc-bot made of them.

It is done in two steps, each one transaction. The first takes the memory and its former versions out of
reach: from then on there is no undo, and a turn that is still running is redacted as it is stored (see
copies.py). Whoever comes first there, the undo or the purge, has decided. The second looks for what
else holds the texts and removes all of it at once. When the program ends between the two, the next purge
finds what is left to do.

What goes: the rows with their terms, vectors and places in the search index; the calls of tools that kept,
found or changed them, in answers of sessions and channels (redacted); elements of canvases; summaries that
hold a text or were made of a turn with such a call, and what was said there until now goes into no summary
any more. That is the cost: the model knows of that conversation what stands in its history, and no more.
A text counts as a whole, from twelve characters on: a shorter one also stands where nothing tells of it.
What people said stays, unless their user wants it emptied as well; `count_messages` says how much.

SQLite keeps changed pages in its write-ahead log until they are written back, so each removal notes that
this is owed, and `write_back` is asked for it until it is done. So is what SQLite may have left in unused
room of other pages: a small file is written anew at once, and a large one by `rewrite`, in a quiet moment.

Before the second step the memories are noted in the log of erasures, so that a backup that still has them is
restored without them. Where that can't be written, nothing is removed, and the next purge tries again.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.memory import UNDO_TIME, ErasureCounts, Memory
from cc_bot.storage import (
    EVERYBODY,
    Database,
    ErasureLog,
    Rewriting,
    Row,
    Statement,
    Steps,
    memory_name,
    user,
)
from cc_bot.stores.blocks import BLOCKS_FROM_MESSAGE
from cc_bot.stores.canvases import CHANGED, TICK
from cc_bot.stores.columns import ISO, Columns, to_text
from cc_bot.stores.memory.copies import TraceFinder, Traces
from cc_bot.stores.memory.quotas import MemoryQuotas, ensure_room_left
from cc_bot.stores.memory.rows import MEMORY, ROOM_FOR_PIN, known_id
from cc_bot.stores.memory.terms import DELETE_ALL_TERMS, delete_terms, reindex
from cc_bot.stores.receipts import mark_stale

# ---- memory removal statements ---------------------------------------------------------------------------
# SQL on memories that are deleted, and on what else holds them. $1 is the user, unless it is said otherwise.
#
# `deleted_at` is empty for what is out of reach: it comes before every moment, so it is always due.

# ruff: noqa: S608 - put together from constants alone


@dataclass(frozen=True, slots=True)
class HiddenMemory:
    """A deleted memory, while it can be had back."""

    memory: Memory
    since: datetime


class _Row(NamedTuple):
    """A memory, or a version of it, as far as its removal looks at it."""

    id: int
    supersedes: int | None
    content: str
    created_at: str


_HIDDEN: Final = Columns(HiddenMemory, memory=MEMORY, since=replace(ISO, column="deleted_at"))
_ROW: Final = Columns(_Row)

# $2 memory, $3 the last moment of deletion that is too long ago
UNDELETE: Final = f"""
    UPDATE memories SET
        status = 'active', deleted_at = NULL, pinned = CASE WHEN {ROOM_FOR_PIN} THEN pinned ELSE 0 END
    WHERE user_id = $1 AND id = $2 AND status = 'deleted' AND deleted_at > $3
    RETURNING {MEMORY.select}
"""

# The same, as it is.
SELECT_HIDDEN: Final = f"""
    SELECT {_HIDDEN.select} FROM memories
    WHERE user_id = $1 AND id = $2 AND status = 'deleted' AND deleted_at > $3
"""

_CHAIN: Final = """
    WITH RECURSIVE chain (id, former) AS (
        SELECT id, supersedes FROM memories WHERE user_id = $1 AND {chosen}
        UNION
        SELECT older.id, older.supersedes
        FROM chain
        JOIN memories AS older
            ON older.user_id = $1 AND older.id = chain.former AND older.status = 'superseded'
    )
"""
_SOME: Final = _CHAIN.format(chosen="id IN @ids($2) AND status IN ('active', 'deleted')")

# $2 an array of memories
SELECT_CHAIN: Final = f"""
    {_SOME}
    SELECT {_ROW.select} FROM memories
    WHERE user_id = $1 AND id IN (SELECT id FROM chain)
"""

_CLAIM: Final = f"""
    UPDATE memories SET status = 'deleted', deleted_at = ''
    WHERE user_id = $1 AND id IN (SELECT id FROM chain)
    RETURNING {_ROW.select}
"""

# $2 an array of memories
CLAIM: Final = f"{_SOME} {_CLAIM}"

# $2 an array of memories, $3 deleted until when: one that was had back since is not among them
CLAIM_DUE: Final = f"""
    {_CHAIN.format(chosen="id IN @ids($2) AND status = 'deleted' AND deleted_at <= $3")} {_CLAIM}
"""

CLAIM_ALL: Final = f"""
    UPDATE memories SET status = 'deleted', deleted_at = ''
    WHERE user_id = $1
    RETURNING {_ROW.select}
"""

# Of all users. $1 deleted until when, $2 limit
SELECT_DUE: Final = """
    SELECT user_id, id FROM memories
    WHERE status = 'deleted' AND deleted_at <= $1
    ORDER BY deleted_at
    LIMIT $2
"""

# Of all users.
SELECT_OLDEST_HIDDEN: Final = "SELECT min(deleted_at) FROM memories WHERE status = 'deleted'"

# $2 message, $3 its tool calls as they were read, $4 redacted. Served by messages' key.
REDACT: Final = """
    UPDATE messages SET tool_calls = $4
    WHERE memory_user_id = $1 AND id = $2 AND tool_calls = $3
"""

# $2 turn, $3 its calls as they were read, $4 redacted. Served by the key of turn_calls.
REDACT_TURN: Final = """
    UPDATE turn_calls SET calls = $4
    WHERE user_id = $1 AND turn = $2 AND calls = $3
"""

# $2 session, $3 its canvas as it was read, $4 what is left of it
CHANGE_CANVAS: Final = f"""
    UPDATE sessions SET canvas_state = $4, {CHANGED}
    WHERE user_id = $1 AND id = $2 AND canvas_state = $3
"""

# $2 an array of summaries
DELETE_SUMMARIES: Final = """
    DELETE FROM summaries
    WHERE user_id = $1 AND id IN @ids($2)
    RETURNING id
"""

# $2 an array of proposals
DELETE_PROPOSALS: Final = """
    DELETE FROM proposals WHERE user_id = $1 AND id IN @ids($2)
"""

# What was said goes into no summary any more, not even into one that is being written. $2 channel, $3 agent
COVER: Final = """
    UPDATE sessions SET summarized_to = coalesce(
        (
            SELECT m.id FROM messages AS m
            WHERE m.user_id = $1 AND m.session_id = sessions.id AND m.id > sessions.summarized_to
            ORDER BY m.id DESC LIMIT 1
        ),
        summarized_to
    )
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND summarize = 1
"""

# $2 an array of memories
DELETE_MEMORIES: Final = (
    "DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id IN @ids($2)",
    """
    DELETE FROM memories
    WHERE user_id = $1 AND id IN @ids($2) AND status = 'deleted' AND deleted_at = ''
    """,
)

# $2 an array of messages, in these
DELETE_FILES: Final = """
    DELETE FROM attachments
    WHERE user_id = $1 AND message_id IN @ids($2)
"""

# $3 what takes their place
EMPTY: Final = """
    UPDATE messages SET content = $3, heard = '', erased = 1
    WHERE user_id = $1 AND id IN @ids($2)
    RETURNING id
"""

# Of nobody alone, but the user asked it or it was answered to the user. $3 what takes their place
EMPTY_IN_CHANNELS: Final = """
    UPDATE messages SET content = $3, heard = '', erased = 1
    WHERE user_id IS NULL AND id IN @ids($2) AND $1 IN (author_id, memory_user_id)
    RETURNING id
"""

# The frozen blocks that hold them. $1 an array of messages
THAW: Final = f"""
    DELETE FROM block_boundaries WHERE id IN (
        {BLOCKS_FROM_MESSAGE}
        WHERE (m.user_id IS NULL OR m.in_channel = 1) AND m.id IN @ids($1)
    )
"""

OWE: Final = "UPDATE memory_erasures SET erased = erased + 1 WHERE id = 1"


class _Owed(NamedTuple):
    """The number of erasures, and of those that the log was written back after, and the file written anew."""

    erased: int
    written_back: int
    rewritten: int
    rewritten_at: datetime | None


_OWED: Final = Columns(_Owed, moments=ISO)
SELECT_OWED: Final = f"SELECT {_OWED.select} FROM memory_erasures WHERE id = 1"

# $1 how often something had been erased when the log was written back
WRITTEN_BACK: Final = "UPDATE memory_erasures SET written_back = $1 WHERE id = 1 AND written_back < $1"

# The log has the file as it is written anew, so that it has to be written back once more.
# $1 how often something had been erased then, $2 now
REWRITTEN: Final = """
    UPDATE memory_erasures SET
        rewritten = $1,
        rewritten_at = $2,
        written_back = CASE WHEN written_back < $1 THEN written_back ELSE $1 - 1 END
    WHERE id = 1 AND rewritten < $1
"""

ERASURE_STATEMENTS: Final = frozenset({EMPTY_IN_CHANNELS, THAW})
"""Those on what was said in channels."""

# ---- memory removal --------------------------------------------------------------------------------------

_AT_A_TIME: Final = 500
SMALL_BYTES: Final = 2**24
"""A file that is written anew in a tenth of a second: nobody minds to wait for that."""
QUIET: Final = timedelta(minutes=1)
REWRITE_EVERY: Final = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class _Claimed:
    """Rows that are out of reach, and about to be removed."""

    ids: tuple[int, ...]
    texts: frozenset[str]
    memories: int
    """How many of the rows are no former version of another."""
    names: tuple[str, ...]
    """What they are called in the log of erasures."""

    @classmethod
    def of(cls, user_id: int, rows: Sequence[Row]) -> "_Claimed":
        claimed = [*map(_ROW.read, rows)]
        former = {each.supersedes for each in claimed}
        return cls(
            ids=tuple(each.id for each in claimed),
            texts=frozenset(each.content for each in claimed),
            memories=sum(each.id not in former for each in claimed),
            names=tuple(memory_name(user_id, each.id, each.created_at) for each in claimed),
        )


class MemoryRemovalStore:
    """The deleted memories, while they can be had back and after that."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock = utc_now,
        small_bytes: int = SMALL_BYTES,
        log: ErasureLog | None = None,
        quotas: MemoryQuotas | None = None,
    ) -> None:
        """Make the store. A database of at most `small_bytes` is written anew after each removal. What is
        removed is noted in the log, where there is one, so that it is removed again from a backup that is
        restored."""
        self._database = database
        self._clock = clock
        self._small_bytes = small_bytes
        self._log = log
        self._quotas = quotas or MemoryQuotas(database)
        self._traces = TraceFinder(database)

    async def undelete(self, user_id: int, memory_id: int) -> Memory | None:
        """Have a deleted memory back, with its history; None when UNDO_TIME is over, it was erased, or it is
        not there, not hidden or not theirs. Raises TooManyMemories or MemoryFull where others have its
        place by now."""
        params = (user_id, known_id(memory_id), to_text(self._clock() - UNDO_TIME))
        rules = await self._quotas.get_file_rules()

        def steps() -> Steps[Memory | None]:
            rows = yield Statement(UNDELETE, params)
            if not rows:
                return None
            memory = MEMORY.read(rows[0])
            yield from reindex(user_id, [memory])
            yield mark_stale(user_id, "memory", [memory.id])
            yield from ensure_room_left(user_id, rules)
            return memory

        return await self._database.write(steps, [user(user_id)])

    async def get_hidden(self, user_id: int, memory_id: int) -> HiddenMemory | None:
        """Return a deleted memory that can still be had back."""
        params = (user_id, known_id(memory_id), to_text(self._clock() - UNDO_TIME))
        rows = await self._database.query(SELECT_HIDDEN, *params)
        return _HIDDEN.first(rows)

    async def count_messages(self, user_id: int, *memory_ids: int) -> int:
        """Count the messages of the user's conversations that hold what memories say, or are the turn in
        which one was kept or used: those that `erase` would empty. Active or hidden."""
        rows = await self._database.query(SELECT_CHAIN, user_id, _array({*map(known_id, memory_ids)}))
        claimed = _Claimed.of(user_id, rows)
        traces = await self._traces.find(user_id, claimed.ids, claimed.texts, everywhere=True)
        return _count_messages(traces) if rows else 0

    async def erase(self, user_id: int, *memory_ids: int, mark: str | None = None) -> ErasureCounts | None:
        """Remove memories at once, active or hidden; None when none is there or theirs.

        With `mark`, the messages that `count_messages` counts are emptied as well: this text takes their
        place, and their attachments are gone.
        """
        ids = {*map(known_id, memory_ids)}

        def steps() -> Steps[Sequence[Row]]:
            yield delete_terms(user_id, ids)
            return (yield Statement(CLAIM, (user_id, _array(ids))))

        rows = await self._database.write(steps, [user(user_id)])
        return await self._remove(user_id, rows, everywhere=True, mark=mark) if rows else None

    async def erase_all(self, user_id: int, *, mark: str | None = None) -> ErasureCounts:
        """Remove all memories of a user at once, hidden ones as well. `mark` as for `erase`."""
        batch = [Statement(DELETE_ALL_TERMS, (user_id,)), Statement(CLAIM_ALL, (user_id,))]
        *_, rows = await self._database.transaction(batch, [user(user_id)])
        return await self._remove(user_id, rows, everywhere=True, mark=mark)

    async def purge(self, hidden_until: datetime) -> int:
        """Remove what was deleted until then, of all users, and what an erasure left undone. How many
        memories that were."""
        until, count = to_text(hidden_until), 0
        while due := await self._database.query(SELECT_DUE, until, _AT_A_TIME):
            of_user = defaultdict[int, list[int]](list)
            for user_id, memory_id in due:
                of_user[user_id].append(memory_id)
            for user_id, ids in of_user.items():
                params = (user_id, json.dumps(ids), until)
                [rows] = await self._database.transaction([Statement(CLAIM_DUE, params)], [user(user_id)])
                count += (await self._remove(user_id, rows, everywhere=False)).memories
        return count

    async def get_next_purge(self) -> datetime | None:
        """Return when the undo of the memory that was deleted first is over; None when none is hidden."""
        [(deleted_at,)] = await self._database.query(SELECT_OLDEST_HIDDEN)
        if deleted_at is None:
            return None
        return (datetime.fromisoformat(deleted_at) if deleted_at else self._clock() - UNDO_TIME) + UNDO_TIME

    async def write_back(self) -> bool:
        """Take what was removed out of the write-ahead log as well. False when that has to be tried again,
        because somebody else is reading."""
        [owed] = map(_OWED.read, await self._database.query(SELECT_OWED))
        if owed.erased == owed.written_back:
            return True
        small = owed.rewritten < owed.erased and await self._is_small()
        if small and await self._write_anew(owed.erased) == "busy":
            return False
        if not await self._database.checkpoint():
            return False
        await self._database.transaction([Statement(WRITTEN_BACK, (owed.erased,))], [EVERYBODY])
        return True

    async def _is_small(self) -> bool:
        """Return whether all of it may be written anew at once. A server does that by itself, a little at a
        time, so there is nothing to wait for."""
        if self._database.dialect != "sqlite":
            return True
        return (await self._database.measure()).bytes <= self._small_bytes

    async def rewrite(self, *, quiet: timedelta = QUIET) -> Rewriting:
        """Write the database anew if that is owed, nobody has written for so long, and it was done so long
        ago. `done` when nothing is owed any more, but for `write_back`."""
        [owed] = map(_OWED.read, await self._database.query(SELECT_OWED))
        if owed.rewritten == owed.erased:
            return "done"
        if owed.rewritten_at and self._clock() < owed.rewritten_at + REWRITE_EVERY:
            return "busy"
        if (await self._database.measure()).quiet_s < quiet.total_seconds():
            return "busy"
        return await self._write_anew(owed.erased)

    async def _write_anew(self, erased: int) -> Rewriting:
        outcome = await self._database.rewrite()
        if outcome == "done":
            params = (erased, to_text(self._clock()))
            await self._database.transaction([Statement(REWRITTEN, params)], [EVERYBODY])
        return outcome

    async def _remove(
        self, user_id: int, rows: Sequence[Row], *, everywhere: bool, mark: str | None = None
    ) -> ErasureCounts:
        """Take the second step, for rows that the first one took. Raises StorageError; a purge does it
        then."""
        claimed = _Claimed.of(user_id, rows)
        if not rows:
            return ErasureCounts()
        if self._log:
            await self._log.note("memory" if mark is None else "memory_and_messages", *claimed.names)
        traces = await self._traces.find(user_id, claimed.ids, claimed.texts, everywhere=everywhere)
        batch = [*_redaction(user_id, traces), *_row_removal(user_id, claimed.ids)]
        if mark is not None:
            batch += _emptying(user_id, traces, mark)
        results = await self._database.transaction(batch, [user(user_id)])
        done = {statement.sql: len(result) for statement, result in zip(batch, results, strict=True)}
        emptied = done.get(EMPTY, 0) + done.get(EMPTY_IN_CHANNELS, 0)
        await self.write_back()
        return ErasureCounts(
            memories=claimed.memories,
            versions=len(claimed.ids) - claimed.memories,
            tool_calls=traces.redacted,
            summaries=done[DELETE_SUMMARIES],
            told_in=max(_count_messages(traces) - emptied, 0),
            messages=emptied,
        )


def _count_messages(traces: Traces) -> int:
    return len(traces.told) + len(traces.told_in_channels)


def _redaction(user_id: int, traces: Traces) -> list[Statement]:
    """The statements that redact. A row that has changed since it was read was stored after the first step,
    and needs none."""
    return [
        *(Statement(REDACT, (user_id, *call)) for call in traces.calls),
        *(Statement(REDACT_TURN, (user_id, *calls)) for calls in traces.turn_calls),
        *([Statement(TICK)] if traces.canvases else ()),
        *(Statement(CHANGE_CANVAS, (user_id, *canvas)) for canvas in traces.canvases),
        Statement(DELETE_SUMMARIES, (user_id, _array(traces.summaries))),
        Statement(DELETE_PROPOSALS, (user_id, _array(traces.proposals))),
        *(Statement(COVER, (user_id, *key)) for key in sorted(traces.keys)),
    ]


def _row_removal(user_id: int, ids: Collection[int]) -> list[Statement]:
    params = (user_id, _array(ids))
    return [
        *(Statement(statement, params) for statement in DELETE_MEMORIES),
        mark_stale(user_id, "memory", ids),
        Statement(OWE),
    ]


def _emptying(user_id: int, traces: Traces, mark: str) -> list[Statement]:
    in_channels = _array(traces.told_in_channels)
    said = _array(traces.told | traces.told_in_channels)  # reminders and heartbeats are the user's own
    return [
        Statement(DELETE_FILES, (user_id, said)),
        Statement(EMPTY, (user_id, said, mark)),
        Statement(THAW, (said,)),
        Statement(EMPTY_IN_CHANNELS, (user_id, in_channels, mark)),
    ]


def _array(ids: Collection[int]) -> str:
    return json.dumps(sorted(ids))
