"""The history of memories: what they said before, and the way back there.

Each version names the one before it in `supersedes`. A file that was edited by hand may lead in a circle, so
the database collects a chain as a set.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from cc_bot.domain.memory import WORDING, Memory
from cc_bot.storage import Database, Row, Statement, Steps, user
from cc_bot.stores.memory.removal import OWE
from cc_bot.stores.memory.rows import GIVEN, MEMORY, SEARCHED, known_id, with_versions
from cc_bot.stores.memory.store import MemoryStore
from cc_bot.stores.memory.terms import reindex
from cc_bot.stores.receipts import mark_stale

# ruff: noqa: S608 - put together from constants alone


# $1 user, $2 memory
_SELECT_CHAIN: Final = f"""
    {with_versions("id = $2 AND status = 'active'")}
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

# Run after _GO_BACK.
_DROP_VERSION: Final = """
    DELETE FROM memories
    WHERE user_id = $1 AND id = $3 AND id > $2 AND status = 'superseded' AND NOT EXISTS (
        SELECT 1 FROM memories AS newer WHERE newer.user_id = $1 AND newer.supersedes = $3
    )
"""

_DROP_VECTOR: Final = "DELETE FROM memory_vectors WHERE user_id = $1 AND memory_id = $2"


class MemoryHistoryStore:
    """The former versions of every user's memories, and only ever the owner's."""

    def __init__(self, database: Database, memories: MemoryStore) -> None:
        self._database = database
        self._memories = memories

    async def list_versions(self, user_id: int, memory_id: int) -> list[Memory]:
        """List what a memory said before, newest first; each version under an id of its own. Nothing of a
        memory that is not there, is hidden, or is not theirs."""
        rows = await self._database.query(_SELECT_CHAIN, user_id, known_id(memory_id))
        return _in_order(memory_id, map(MEMORY.read, rows))

    async def restore(self, user_id: int, version_id: int) -> Memory | None:
        """Give a memory what WORDING names of one of its versions; what it had becomes history. Returns the
        memory; None if there is no such version, or its memory is gone."""
        rows = await self._database.query(_SELECT_HEAD, user_id, known_id(version_id))
        if len(rows) < 2:
            return None
        *_, head, version = map(MEMORY.read, rows)
        return await self._memories.update(
            user_id,
            head.id,
            **{name: getattr(version, name) for name in WORDING},
            source=version.source,  # the restored text keeps its author
        )

    async def undo_update(self, user_id: int, memory_id: int, former_id: int) -> Memory | None:
        """Undo an update, which left `former_id` behind: the memory is as it was before, and the newer text
        is gone. None, and nothing is changed, if the memory was updated since or is not there."""
        params = (user_id, known_id(memory_id), known_id(former_id))

        def steps() -> Steps[Sequence[Row]]:
            rows = yield Statement(_GO_BACK, params)
            yield from reindex(user_id, map(MEMORY.read, rows))
            yield mark_stale(user_id, "memory", [params[1]] if rows else [])
            yield Statement(_DROP_VERSION, params)
            yield Statement(_DROP_VECTOR, params[:2])
            yield Statement(OWE)
            return rows

        rows = await self._database.write(steps, [user(user_id)])
        return self._memories.note_written(MEMORY.read(rows[0])) if rows else None


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
