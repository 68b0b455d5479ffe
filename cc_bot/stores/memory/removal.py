"""Undo of deleted memories, and their erasure.

`/memory delete` hides a memory; the purge erases it after UNDO_TIME. An erasure is first recorded in the
erasure log, so that restoring a backup repeats it; if that fails, nothing is erased.

SQLite keeps changed pages in the WAL until a checkpoint, and parts of rows in unused pages until VACUUM:
`clean` checkpoints after each erasure and vacuums a small file; the purge vacuums a large one at night.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import MemoryKnown
from cc_bot.domain.memory import UNDO_TIME, ErasureCounts, Memory, says_the_same
from cc_bot.storage import (
    MAINTENANCE_LOCK,
    Database,
    ErasureLog,
    Row,
    ScrubOutcome,
    Statement,
    Steps,
    memory_name,
    user,
)
from cc_bot.stores.columns import ISO, Columns, to_text
from cc_bot.stores.memory.conversations import Mentions, empty, find_mentions
from cc_bot.stores.memory.limits import MemoryQuotas, ensure_room_left
from cc_bot.stores.memory.rows import (
    MEMORY,
    OWE,
    ROOM_FOR_PIN,
    delete_terms,
    hide,
    known_id,
    reindex,
    with_versions,
)
from cc_bot.stores.receipts import mark_stale

# ruff: noqa: S608 - put together from constants alone


@dataclass(frozen=True, slots=True)
class HiddenMemory:
    memory: Memory
    since: datetime


class _Row(NamedTuple):
    id: int
    supersedes: int | None
    content: str
    created_at: str


_HIDDEN: Final = Columns(HiddenMemory, memory=MEMORY, since=replace(ISO, column="deleted_at"))
_ROW: Final = Columns(_Row)

# $2 memory, $3 deletion cutoff: older ones can't be restored
UNDELETE: Final = f"""
    UPDATE memories SET
        status = 'active', deleted_at = NULL, pinned = CASE WHEN {ROOM_FOR_PIN} THEN pinned ELSE 0 END
    WHERE user_id = $1 AND id = $2 AND status = 'deleted' AND deleted_at > $3
    RETURNING {MEMORY.select}
"""

# Active ones with the same likeness that the same answers may use. $2 memory, $3 its audience
SELECT_TWINS: Final = f"""
    SELECT {MEMORY.select} FROM memories
    WHERE user_id = $1 AND id <> $2 AND status = 'active' AND audience IN ('anywhere', $3)
        AND likeness = (SELECT likeness FROM memories WHERE user_id = $1 AND id = $2)
"""

# Without changing it.
SELECT_HIDDEN: Final = f"""
    SELECT {_HIDDEN.select} FROM memories
    WHERE user_id = $1 AND id = $2 AND status = 'deleted' AND deleted_at > $3
"""

_OF_CHAIN: Final = f"SELECT {_ROW.select} FROM memories WHERE user_id = $1 AND id IN (SELECT id FROM chain)"

# $2 an array of memories
SELECT_CHAIN: Final = with_versions("id IN @ids($2) AND status IN ('active', 'deleted')") + _OF_CHAIN

# Without memories restored since. $2 an array of memories, $3 latest deletion time
SELECT_DUE_CHAIN: Final = (
    with_versions("id IN @ids($2) AND status = 'deleted' AND deleted_at <= $3") + _OF_CHAIN
)

SELECT_ALL: Final = f"SELECT {_ROW.select} FROM memories WHERE user_id = $1"

# All users. $1 latest deletion time, $2 limit
SELECT_DUE: Final = """
    SELECT user_id, id FROM memories
    WHERE status = 'deleted' AND deleted_at <= $1
    ORDER BY deleted_at
    LIMIT $2 /* all users */
"""

# All users.
SELECT_OLDEST_HIDDEN: Final = "SELECT min(deleted_at) FROM memories WHERE status = 'deleted' /* all users */"

# $2 an array of memories
DELETE_MEMORIES: Final = (
    "DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id IN @ids($2)",
    "DELETE FROM proposals WHERE user_id = $1 AND memory_id IN @ids($2)",
    "DELETE FROM memories WHERE user_id = $1 AND id IN @ids($2)",
)

SELECT_OWED: Final = "SELECT erased, vacuumed FROM memory_erasures WHERE id = 1"

# $1 the number of erasures at that time
VACUUMED: Final = "UPDATE memory_erasures SET vacuumed = $1 WHERE id = 1 AND vacuumed < $1"

_AT_A_TIME: Final = 500
SMALL_BYTES: Final = 2**24
"""VACUUM of such a file takes 0.1 s."""


class MemoryRemovalStore:
    def __init__(
        self,
        database: Database,
        *,
        clock: Clock = utc_now,
        small_bytes: int = SMALL_BYTES,
        log: ErasureLog | None = None,
        quotas: MemoryQuotas | None = None,
    ) -> None:
        """Databases of at most `small_bytes` are vacuumed at once. Erasures are recorded in `log`, if
        given."""
        self._database = database
        self._clock = clock
        self._small_bytes = small_bytes
        self._log = log
        self._quotas = quotas or MemoryQuotas(database)

    async def undelete(self, user_id: int, memory_id: int) -> Memory | None:
        """Restore a hidden memory with its history; None if it is too late. Raises MemoryKnown if another one
        says the same, TooManyMemories or MemoryFull."""
        now = self._clock()
        params = (user_id, known_id(memory_id), to_text(now - UNDO_TIME))
        rules = await self._quotas.rules()

        def steps() -> Steps[Memory | None]:
            rows = yield Statement(UNDELETE, params)
            if not rows:
                return None
            memory = MEMORY.read(rows[0])
            twins = yield Statement(SELECT_TWINS, (user_id, memory.id, memory.audience))
            for twin in map(MEMORY.read, twins):
                if says_the_same(twin.content, memory.content) and not twin.is_expired(now):
                    raise MemoryKnown(id=twin.number)
            yield from reindex(user_id, memory.id, memory.content, memory.tags)
            yield mark_stale(user_id, "memory", [memory.id])
            yield from ensure_room_left(user_id, rules)
            return memory

        return await self._database.write(steps, [user(user_id)])

    async def hide(self, user_id: int, memory_id: int) -> HiddenMemory | None:
        """Hide a memory and return it, also if it was hidden already; None if it is gone."""
        now, row = self._clock(), (user_id, known_id(memory_id))

        def steps() -> Steps[Sequence[Row]]:
            yield from hide(*row, to_text(now))
            return (yield Statement(SELECT_HIDDEN, (*row, to_text(now - UNDO_TIME))))

        return _HIDDEN.first(await self._database.write(steps, [user(user_id)]))

    async def get_hidden(self, user_id: int, memory_id: int) -> HiddenMemory | None:
        params = (user_id, known_id(memory_id), to_text(self._clock() - UNDO_TIME))
        rows = await self._database.query(SELECT_HIDDEN, *params)
        return _HIDDEN.first(rows)

    async def erase(self, user_id: int, *memory_ids: int, mark: str | None = None) -> ErasureCounts | None:
        """Erase memories at once, active or hidden; None if the user has none of them.

        With `mark`, it replaces the text of messages that mention them; their attachments, and the summaries
        and canvas elements made from them, are deleted.
        """
        select = Statement(SELECT_CHAIN, (user_id, _array({*map(known_id, memory_ids)})))
        return await self._erase(user_id, select, mark=mark)

    async def erase_all(self, user_id: int, *, mark: str | None = None) -> ErasureCounts:
        """Erase all memories of a user at once, as `erase`."""
        return await self._erase(user_id, Statement(SELECT_ALL, (user_id,)), mark=mark) or ErasureCounts()

    async def purge(self, hidden_until: datetime) -> int:
        """Erase memories of all users deleted up to this time. Returns their number."""
        until, count = to_text(hidden_until), 0
        while due := await self._database.query(SELECT_DUE, until, _AT_A_TIME):
            of_user = defaultdict[int, list[int]](list)
            for user_id, memory_id in due:
                of_user[user_id].append(memory_id)
            for user_id, ids in of_user.items():
                select = Statement(SELECT_DUE_CHAIN, (user_id, _array(ids), until))
                erased = await self._erase(user_id, select)
                count += erased.memories if erased else 0
        return count

    async def get_next_purge(self) -> datetime | None:
        [(deleted_at,)] = await self._database.query(SELECT_OLDEST_HIDDEN)
        return datetime.fromisoformat(deleted_at) + UNDO_TIME if deleted_at else None

    async def clean(self, *, vacuum: bool = False) -> ScrubOutcome:
        """Remove erased data from the WAL and, with `vacuum` or in a small file, from unused pages. A server
        does both by itself."""
        [(erased, vacuumed)] = await self._database.query(SELECT_OWED)
        if erased == vacuumed:
            return "done"
        vacuum = (
            vacuum or self._database.dialect != "sqlite" or await self._database.size() <= self._small_bytes
        )
        outcome = await self._database.scrub(vacuum=vacuum)
        if vacuum and outcome == "done":
            await self._database.transaction([Statement(VACUUMED, (erased,))], [MAINTENANCE_LOCK])
        return outcome

    async def _erase(
        self, user_id: int, select: Statement, *, mark: str | None = None
    ) -> ErasureCounts | None:
        """Raises StorageError with nothing erased."""
        rows = await self._database.query(select.sql, *select.params)
        if not rows:
            return None
        chosen, mentions = [*map(_ROW.read, rows)], Mentions()
        if self._log:
            names = (memory_name(user_id, each.id, each.created_at) for each in chosen)
            await self._log.note("memory" if mark is None else "memory_and_messages", *names)
        if mark is not None:
            texts = {each.content for each in chosen}
            mentions = await find_mentions(self._database, user_id, {each.id for each in chosen}, texts)

        def steps() -> Steps[ErasureCounts]:
            chosen = [*map(_ROW.read, (yield select))]
            ids = {each.id for each in chosen}
            yield delete_terms(user_id, ids)
            for statement in DELETE_MEMORIES:
                yield Statement(statement, (user_id, _array(ids)))
            yield mark_stale(user_id, "memory", ids)
            yield Statement(OWE)
            messages, summaries = (0, 0) if mark is None else (yield from empty(user_id, mentions, mark))
            versions = len(ids & {each.supersedes for each in chosen})
            return ErasureCounts(len(ids) - versions, versions, summaries, messages)

        counts = await self._database.write(steps, [user(user_id)])
        await self.clean()
        return counts


def _array(ids: Collection[int]) -> str:
    return json.dumps(sorted(ids))
