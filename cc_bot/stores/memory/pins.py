"""Pinned memories, and the memories included in each prompt.

A pin belongs to a memory, not to one version of it: an update, a superseding memory and a restored memory
keep it.
"""

from collections.abc import Sequence
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import TooManyPinned
from cc_bot.domain.memory import MAX_PINNED, Audience, Memory
from cc_bot.storage import Database, Row, Statement, Steps, user
from cc_bot.stores.columns import to_text
from cc_bot.stores.memory import rows as sql
from cc_bot.stores.memory.rows import MEMORY, known_id

# ruff: noqa: S608 - put together from constants alone


LOOKED_AT: Final = 200
"""Newest memories examined per user, so that thousands of imported ones that are skipped cause no delay."""

# $1 user, $2 memory. Uses memories_pinned.
PIN: Final = f"""
    UPDATE memories SET pinned = 1
    WHERE user_id = $1 AND id = $2 AND status = 'active' AND (pinned = 1 OR {sql.ROOM_FOR_PIN})
    RETURNING {MEMORY.select}
"""

_UNPIN: Final = f"""
    UPDATE memories SET pinned = 0
    WHERE user_id = $1 AND id = $2 AND status = 'active'
    RETURNING {MEMORY.select}
"""

# Unexpired memories for this audience in the user's own words (see Memory.tainted). $2 now, $3 the audience
# besides 'anywhere'
_TO_TELL: Final = """
    audience IN ('anywhere', $3) AND (expires_at IS NULL OR expires_at > $2)
    AND coalesce(@text_of(source, kind), '') NOT IN ('import', 'proposal')
    AND coalesce(@text_of(source, author), '') = ''
"""

# The pinned ones by memories_pinned, the newest others by memories_by_user. $1 user, $4 limit, $5 newest
# memories to examine
_SELECT_NOTES: Final = f"""
    SELECT * FROM (
        SELECT {MEMORY.select} FROM memories
        WHERE user_id = $1 AND pinned = 1 AND status = 'active' AND {_TO_TELL}
        ORDER BY id DESC LIMIT $4
    ) AS found
    UNION ALL
    SELECT * FROM (
        SELECT {MEMORY.select} FROM (
            SELECT {MEMORY.select} FROM memories
            WHERE user_id = $1 AND pinned = 0 AND status = 'active'
            ORDER BY id DESC LIMIT $5
        ) AS found
        WHERE {_TO_TELL}
        LIMIT $4
    ) AS found
"""


class MemoryPinStore:
    """Pins, accessible only to their owners."""

    def __init__(self, database: Database, *, clock: Clock = utc_now, told: int = 0) -> None:
        self._database = database
        self._clock = clock
        self.told = told
        """Number of memories in each prompt; 0 unless the operator sets it."""

    async def pin(self, user_id: int, memory_id: int) -> Memory | None:
        """Pin a memory and return it; None if the user does not have it. Raises TooManyPinned if MAX_PINNED
        others are pinned."""
        params = (user_id, known_id(memory_id))

        def steps() -> Steps[Sequence[Row]]:
            pinned = yield Statement(PIN, params)
            if not pinned and (yield Statement(sql.SELECT, params)):
                raise TooManyPinned(limit=MAX_PINNED)
            return pinned

        rows = await self._database.write(steps, [user(user_id)])
        return MEMORY.first(rows)

    async def unpin(self, user_id: int, memory_id: int) -> Memory | None:
        """Unpin a memory and return it; None if the user does not have it."""
        [rows] = await self._database.transaction(
            [Statement(_UNPIN, (user_id, known_id(memory_id)))], [user(user_id)]
        )
        return MEMORY.first(rows)

    async def list_for_prompt(self, user_id: int, *, audience: Audience = "anywhere") -> list[Memory]:
        """List the user's memories for a prompt: pinned ones, then others, each newest first. `audience` as
        for MemoryStore.find. Reads nothing if the limit is 0.

        Excludes expired memories and those that may hold others' text, which would taint every turn.
        """
        if not self.told:
            return []
        now = to_text(self._clock())
        rows = await self._database.query(_SELECT_NOTES, user_id, now, audience, self.told, LOOKED_AT)
        return sorted(map(MEMORY.read, rows), key=lambda memory: (not memory.pinned, -memory.id))[: self.told]
