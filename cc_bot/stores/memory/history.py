"""The history of memories: what they said before, and the way back there.

Each version names the one before it in `supersedes`. A chain may be long, and in a file that was edited by
hand it may lead in a circle: the database collects its rows as a set, which a circle cannot make grow, and
their order is told afterwards by whoever has not been passed yet. A version that an update left behind has a
greater id than the memory, because it is a copy; a memory that was superseded by a newer one has a smaller.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.memory import WORDING, Memory, MemoryChange
from cc_bot.storage import Database, Row, Statement, Steps, user
from cc_bot.stores.columns import to_text
from cc_bot.stores.memory.quotas import MemoryQuotas, ensure_room_left
from cc_bot.stores.memory.removal import OWE
from cc_bot.stores.memory.rows import GIVEN, MEMORY, SEARCHED, known_id
from cc_bot.stores.memory.store import MemoryStore, hide
from cc_bot.stores.memory.terms import reindex
from cc_bot.stores.receipts import mark_stale

# ruff: noqa: S608 - put together from constants alone


# A memory with its former versions. $1 user, $2 memory
_SELECT_CHAIN: Final = f"""
    WITH RECURSIVE chain (id, former) AS (
        SELECT id, supersedes FROM memories WHERE user_id = $1 AND id = $2 AND status = 'active'
        UNION
        SELECT older.id, older.supersedes
        FROM chain
        JOIN memories AS older
            ON older.user_id = $1 AND older.id = chain.former AND older.status = 'superseded'
    )
    SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id IN (SELECT id FROM chain)
"""

# The active memory that a version belongs to, and the version. $1 user, $2 version
_SELECT_HEAD: Final = f"""
    WITH RECURSIVE chain (id, status) AS (
        SELECT id, status FROM memories WHERE user_id = $1 AND id = $2 AND status = 'superseded'
        UNION
        SELECT newer.id, newer.status
        FROM chain
        JOIN memories AS newer
            ON newer.user_id = $1 AND newer.supersedes = chain.id
    )
    SELECT {MEMORY.select} FROM memories
    WHERE user_id = $1 AND id IN (SELECT id FROM chain WHERE status = 'active' OR id = $2)
    ORDER BY id = $2, id
"""

_SELECT_VERSION: Final = f"SELECT {MEMORY.select} FROM memories WHERE user_id = $1 AND id = $2"

# Who may see it is not part of a version: what was made private since stays so.
_TAKEN_BACK: Final = (
    *(name for name in GIVEN if name != "audience"),
    *(*SEARCHED.names, "supersedes", "updated_at"),
)

# $1 user, $2 memory, $3 the version before it
_GO_BACK: Final = f"""
    UPDATE memories SET ({", ".join(_TAKEN_BACK)}) = (
        SELECT {", ".join(f"former.{name}" for name in _TAKEN_BACK)}
        FROM memories AS former WHERE former.user_id = $1 AND former.id = $3
    )
    WHERE user_id = $1 AND id = $2 AND status = 'active' AND supersedes = $3 AND EXISTS (
        SELECT 1 FROM memories AS former
        WHERE former.user_id = $1 AND former.id = $3 AND former.status = 'superseded' AND former.id > $2
    )
    RETURNING {MEMORY.select}
"""

# Run after _GO_BACK: as long as a memory names it, it is somebody's history.
_DROP_VERSION: Final = """
    DELETE FROM memories
    WHERE user_id = $1 AND id = $3 AND id > $2 AND status = 'superseded' AND NOT EXISTS (
        SELECT 1 FROM memories AS newer WHERE newer.user_id = $1 AND newer.supersedes = $3
    )
    RETURNING id
"""

_DROP_VECTOR: Final = "DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id = $2"

# The memory and its own copies: what it superseded has a smaller id. $1 user, $2 memory
_OWN: Final = """
    WITH RECURSIVE own (id, former) AS (
        SELECT id, supersedes FROM memories WHERE user_id = $1 AND id = $2 AND status = 'active'
        UNION
        SELECT older.id, older.supersedes
        FROM own
        JOIN memories AS older
            ON older.user_id = $1 AND older.id = own.former AND older.id > $2 AND older.status = 'superseded'
    )
"""

# With the pin that the other one has by now.
_REVIVE: Final = f"""
    {_OWN}
    UPDATE memories SET
        status = 'active',
        pinned = (SELECT newer.pinned FROM memories AS newer WHERE newer.user_id = $1 AND newer.id = $2)
    WHERE user_id = $1 AND status = 'superseded' AND id < $2 AND id IN (SELECT former FROM own)
    RETURNING {MEMORY.select}
"""

# What was superseded has a life of its own again, and does not go when the other one is purged.
_PART: Final = f"""
    {_OWN}
    UPDATE memories SET supersedes = NULL
    WHERE user_id = $1 AND supersedes < $2 AND id IN (SELECT id FROM own)
"""


class MemoryHistoryStore:
    """The former versions of every user's memories, and only ever the owner's."""

    def __init__(
        self,
        database: Database,
        memories: MemoryStore,
        *,
        clock: Clock = utc_now,
        quotas: MemoryQuotas | None = None,
    ) -> None:
        self._database = database
        self._memories = memories
        self._quotas = quotas or MemoryQuotas(database)
        self._clock = clock

    async def list_versions(self, user_id: int, memory_id: int) -> list[Memory]:
        """List what a memory said before, newest first; each version under an id of its own. Nothing of a
        memory that is not there, is hidden, or is not theirs."""
        rows = await self._database.query(_SELECT_CHAIN, user_id, known_id(memory_id))
        return _in_order(memory_id, map(MEMORY.read, rows))

    async def restore(self, user_id: int, version_id: int) -> MemoryChange | None:
        """Give a memory what WORDING names of one of its versions; what it had becomes history.

        None when there is no such version, or its memory is no longer there. A memory that has this text
        already gets no new version.
        """
        while True:
            rows = await self._database.query(_SELECT_HEAD, user_id, known_id(version_id))
            if len(rows) < 2:
                return None
            *_, head, version = map(MEMORY.read, rows)
            restored = await self._memories.update(
                user_id,
                head.id,
                **{name: getattr(version, name) for name in WORDING},
                source=version.source,  # whoever wrote those words wrote what the memory says now
            )
            if restored is not None:
                return MemoryChange("restored", restored, await self._get_replaced(head, restored))
            # It was deleted or superseded in between: the next look finds what holds now.

    async def undo_update(self, user_id: int, memory_id: int, former_id: int) -> Memory | None:
        """Take back an update, which left `former_id` behind: the memory is as it was before, and the newer
        text is gone.

        None, and nothing is changed, when the memory was updated or superseded since, or is not there. Raises
        MemoryFull where the former text is another memory's history too, and there is no room for it twice.
        """
        params = (user_id, known_id(memory_id), known_id(former_id))
        rules = await self._quotas.get_file_rules()

        def steps() -> Steps[Sequence[Row]]:
            rows = yield Statement(_GO_BACK, params)
            yield from reindex(user_id, map(MEMORY.read, rows))
            yield mark_stale(user_id, "memory", [params[1]] if rows else [])
            dropped = yield Statement(_DROP_VERSION, params)
            yield Statement(_DROP_VECTOR, params[:2])
            yield Statement(OWE)
            if rows and not dropped:  # else there is less than before
                yield from ensure_room_left(user_id, rules, added=False)
            return rows

        rows = await self._database.write(steps, [user(user_id)])
        return self._memories.note_written(MEMORY.read(rows[0])) if rows else None

    async def undo_add(self, user_id: int, memory_id: int) -> bool:
        """Hide a memory as if it had never been kept; what it superseded is active again.

        False when it is not there, is hidden already or was superseded itself.
        """
        params = (user_id, known_id(memory_id))

        def steps() -> Steps[Sequence[Row]]:
            revived = yield Statement(_REVIVE, params)
            memories = [*map(MEMORY.read, revived)]
            yield from reindex(user_id, memories)
            yield mark_stale(user_id, "memory", [memory.id for memory in memories])
            yield Statement(_PART, params)
            return (yield from hide(*params, to_text(self._clock())))

        return bool(await self._database.write(steps, [user(user_id)]))

    async def _get_replaced(self, before: Memory, after: Memory) -> Memory | None:
        """Return the version that a change left behind; None when it left none."""
        if after.supersedes is None or after.supersedes == before.supersedes:
            return None
        rows = await self._database.query(_SELECT_VERSION, after.user_id, after.supersedes)
        return MEMORY.first(rows)


def _in_order(memory_id: int, memories: Iterable[Memory]) -> list[Memory]:
    """A memory's versions as they lead to each other, each once."""
    left = {memory.id: memory for memory in memories}
    ordered = list[Memory]()
    step = left.pop(memory_id, None)
    while step is not None and step.supersedes is not None:
        step = left.pop(step.supersedes, None)
        if step is not None:
            ordered.append(step)
    return ordered
