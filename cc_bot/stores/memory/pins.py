"""Pinned memories: those that their user wants known in every answer, and what a prompt tells from the start.

A pin belongs to what is known, and not to one wording of it: an update keeps it, what supersedes a pinned
memory takes it over, and whatever is had back has it again.
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
"""Of a user's newest memories: whoever imported thousands is not made to wait while they are passed over."""

# $1 user, $2 memory. By memories_pinned.
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

# What everyone may see, or all for its user alone; what holds still; and what is in its user's own words, as
# Memory.tainted tells. $2 now, $3 the audience beside 'anywhere' that counts
_TO_TELL: Final = """
    audience IN ('anywhere', $3) AND (expires_at IS NULL OR expires_at > $2)
    AND coalesce(@text_of(source, kind), '') NOT IN ('import', 'proposal')
    AND coalesce(@text_of(source, author), '') = ''
"""

# The pinned ones by memories_pinned, the newest of the others by memories_by_user. $1 user, $4 how many,
# $5 how many of the newest are looked at
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
    """The pins of every user, and only ever the owner's."""

    def __init__(self, database: Database, *, clock: Clock = utc_now, told: int = 0) -> None:
        self._database = database
        self._clock = clock
        self.told = told
        """So many notes a prompt tells from the start; none unless the operator wants it."""

    async def pin(self, user_id: int, memory_id: int) -> Memory | None:
        """Pin a memory and return it; None when it is not there or not theirs. Raises TooManyPinned where
        MAX_PINNED others are."""
        params = (user_id, known_id(memory_id))

        def steps() -> Steps[Sequence[Row]]:
            pinned = yield Statement(PIN, params)
            if not pinned and (yield Statement(sql.SELECT, params)):
                raise TooManyPinned(limit=MAX_PINNED)
            return pinned

        rows = await self._database.write(steps, [user(user_id)])
        return MEMORY.first(rows)

    async def unpin(self, user_id: int, memory_id: int) -> Memory | None:
        """Unpin a memory and return it; None when it is not there or not theirs."""
        [rows] = await self._database.transaction(
            [Statement(_UNPIN, (user_id, known_id(memory_id)))], [user(user_id)]
        )
        return MEMORY.first(rows)

    async def list_for_prompt(self, user_id: int, *, audience: Audience = "anywhere") -> list[Memory]:
        """List the user's memories that a prompt tells from the start: the pinned ones, then others, of
        either the newest first. `audience` as for MemoryStore.find. Where none are told, nothing is read.

        Left out is what has expired, and what may be in somebody else's words: such a note would taint each
        turn.
        """
        if not self.told:
            return []
        now = to_text(self._clock())
        rows = await self._database.query(_SELECT_NOTES, user_id, now, audience, self.told, LOOKED_AT)
        return sorted(map(MEMORY.read, rows), key=lambda memory: (not memory.pinned, -memory.id))[: self.told]
