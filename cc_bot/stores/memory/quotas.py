"""Limits on a user's stored memories and imports, enforced on writing.

Usage is counted from an index, after the change and in its transaction: two concurrent changes can't use the
same free space, and one that exceeds a limit is rolled back.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Final

from cc_bot.domain.clock import AHEAD, Clock, utc_now
from cc_bot.domain.errors import MemoryFull, TooManyImports, TooManyMemories
from cc_bot.domain.usage import HOUR, Quotas, Rules, UsageSubject, quotas_of_user
from cc_bot.storage import Database, Statement, Steps, user
from cc_bot.stores.access import rules_for
from cc_bot.stores.columns import from_ms, to_ms

# Uses memories_by_size. $1 user
_SELECT_USED: Final = """
    SELECT count(CASE status WHEN 'active' THEN 1 END), CAST(coalesce(sum(bytes), 0) AS BIGINT)
    FROM memories WHERE user_id = $1
"""
_SELECT_IMPORTS: Final = "SELECT moments FROM memory_imports WHERE user_id = $1"

# $2 times as JSON
_SET_IMPORTS: Final = """
    INSERT INTO memory_imports (user_id, moments) VALUES ($1, $2)
    ON CONFLICT (user_id) DO UPDATE SET moments = excluded.moments
    WHERE memory_imports.user_id = $1
"""

_MIB: Final = 2**20

FileRules = Callable[[], Awaitable[Rules]]
"""Returns the current limits of the operator's file."""


async def no_rules() -> Rules:
    """Return no limits, for programs with their own memories, such as benchmarks."""
    return {}


class MemoryQuotas:
    """Enforces the limits. Those set by an owner override the file's."""

    def __init__(self, database: Database, rules: FileRules = no_rules, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._rules = rules
        self._clock = clock

    async def get_file_rules(self) -> Rules:
        """Return the file's limits, for the steps of one change."""
        return await self._rules()

    async def admit_import(self, user_id: int) -> None:
        """Count an import. Raises TooManyImports with the time of the next one allowed, or StorageError."""
        file_rules, now = await self._rules(), self._clock()

        def steps() -> Steps[None]:
            most = (yield from _quotas(user_id, file_rules)).imports_per_hour
            if most is None:
                return
            rows = yield Statement(_SELECT_IMPORTS, (user_id,))
            moments = [from_ms(at) for at in json.loads(rows[0][0])] if rows else []
            recent = sorted(at for at in moments if now - HOUR < at <= now + AHEAD)
            if len(recent) >= most:
                raise TooManyImports(resets=recent[-most] + HOUR)
            told = json.dumps([*map(to_ms, recent), to_ms(now)])
            yield Statement(_SET_IMPORTS, (user_id, told))

        await self._database.write(steps, [user(user_id)])

    async def ensure_room(self, user_id: int, memories: int, size: int) -> None:
        """Check the limits for this many further memories and bytes. Raises TooManyMemories, MemoryFull, or
        StorageError."""
        file_rules = await self._rules()
        await self._database.read(lambda: ensure_room_left(user_id, file_rules, memories=memories, size=size))


def ensure_room_left(
    user_id: int, file_rules: Rules, *, memories: int = 0, size: int = 0, added: bool = True
) -> Steps[None]:
    """Check that the user's memories, with this much more, are within the limits; only bytes if the change
    `added` no memory. Raises TooManyMemories or MemoryFull."""
    quotas = yield from _quotas(user_id, file_rules)
    if quotas.memories is None and quotas.memory_bytes is None:
        return
    [(number, used)] = yield Statement(_SELECT_USED, (user_id,))
    if added and quotas.memories is not None and number + memories > quotas.memories:
        raise TooManyMemories(limit=quotas.memories)
    if quotas.memory_bytes is not None and used + size > quotas.memory_bytes:
        raise MemoryFull(limit=_size(quotas.memory_bytes))


def _quotas(user_id: int, file_rules: Rules) -> Steps[Quotas]:
    """If a user's roles are unknown, any role's limit may apply: the most generous one is used."""
    payer = UsageSubject(user_id, role_ids=None)
    set_rules = yield from rules_for(payer)
    return quotas_of_user({**file_rules, **set_rules} if set_rules else file_rules, payer)


def _size(count: int) -> str:
    for unit, size in (("MiB", _MIB), ("KiB", 1024)):
        if count >= size:
            return f"{count / size:,.0f} {unit}"
    return f"{count:,} B"


COUNTED: Final = ("content", "tags", "metadata")


def size_of(content: str, tags: str, metadata: str) -> int:
    """Return the bytes counted for a memory with these columns, as the database counts them."""
    return sum(len(text.encode("utf-8", "replace")) for text in (content, tags, metadata))
