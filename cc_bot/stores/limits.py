"""Limits that owners set at run time; they override the operator's file."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.limits import LIMIT_NAMES, LimitKey, LimitName, LimitScope, Rules, UsageSubject
from cc_bot.storage import MAINTENANCE_LOCK, Database, Statement, Steps
from cc_bot.stores.columns import ISO, Columns, Kind, to_text

# ruff: noqa: S608 - put together from constants alone


@dataclass(frozen=True, slots=True)
class SetLimit:
    key: LimitKey
    value: int | None
    """None: no limit."""
    set_by: int
    set_at: datetime


_LIMIT: Final = Columns(SetLimit, moments=ISO, name=Kind())

SELECT_LIMITS: Final = f"SELECT {_LIMIT.select} FROM limits ORDER BY scope, scope_id, name"


class _Value(NamedTuple):
    key: LimitKey
    value: int | None


_VALUE: Final = Columns(_Value, name=Kind())

# $1 user, $2 guild
_SELECT_FOR: Final = f"""
    SELECT {_VALUE.select} FROM limits WHERE scope = 'everyone'
    UNION ALL
    SELECT {_VALUE.select} FROM limits WHERE scope = 'role'
    UNION ALL
    SELECT {_VALUE.select} FROM limits WHERE scope = 'user' AND scope_id = $1
    UNION ALL
    SELECT {_VALUE.select} FROM limits WHERE scope = 'guild' AND scope_id = $2
"""

_SET: Final = """
    INSERT INTO limits (scope, scope_id, name, value, set_by, set_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (scope, scope_id, name) DO UPDATE SET
        value = excluded.value, set_by = excluded.set_by, set_at = excluded.set_at
"""

_UNSET: Final = "DELETE FROM limits WHERE scope = $1 AND scope_id = $2 AND name = $3 RETURNING name"


class LimitStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def list_all(self) -> tuple[SetLimit, ...]:
        """List the limits that are set, by scope and id."""
        return await self._database.read(all_limits)

    async def set(
        self, scope: LimitScope, scope_id: int, name: LimitName, value: int | None, *, set_by: int
    ) -> None:
        """Set a limit; it applies from the next question on. None: no limit."""
        params = (scope, scope_id, name, value, set_by, to_text(self._clock()))
        await self._database.transaction([Statement(_SET, params)], [MAINTENANCE_LOCK])

    async def unset(self, scope: LimitScope, scope_id: int, name: LimitName) -> bool:
        """Remove a limit, so that the operator's file decides again. Returns whether one was set."""
        [rows] = await self._database.transaction(
            [Statement(_UNSET, (scope, scope_id, name))], [MAINTENANCE_LOCK]
        )
        return bool(rows)


def all_limits() -> Steps[tuple[SetLimit, ...]]:
    """List the limits that are set, by scope and id."""
    rows = yield Statement(SELECT_LIMITS)
    return tuple(limit for limit in map(_LIMIT.read, rows) if limit.key.name in LIMIT_NAMES)


def rules_for(payer: UsageSubject) -> Steps[Rules]:
    """Return the limits that may apply to a payer, those of all roles included."""
    rows = yield Statement(_SELECT_FOR, (payer.user_id, payer.guild_id))
    return dict(map(_VALUE.read, rows))
