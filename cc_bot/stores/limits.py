"""What an owner decided about limits while the program runs; it goes before what the operator's file says.

The store knows nothing of what limits mean: which of them holds for whom is decided in domain/limits.py.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.limits import LIMIT_NAMES, LimitKey, LimitName, LimitScope, Payer, Rules
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.columns import to_text

# Of the bot and of no user: an owner sets them, and whatever is asked is held to them.
SELECT_LIMITS: Final = """
    SELECT scope, scope_id, name, value, set_by, set_at FROM limits ORDER BY scope, scope_id, name
"""

# $1 user, $2 guild
_SELECT_FOR: Final = """
    SELECT scope, scope_id, name, value FROM limits WHERE scope = 'everyone'
    UNION ALL
    SELECT scope, scope_id, name, value FROM limits WHERE scope = 'role'
    UNION ALL
    SELECT scope, scope_id, name, value FROM limits WHERE scope = 'user' AND scope_id = $1
    UNION ALL
    SELECT scope, scope_id, name, value FROM limits WHERE scope = 'guild' AND scope_id = $2
"""

_SET: Final = """
    INSERT INTO limits (scope, scope_id, name, value, set_by, set_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (scope, scope_id, name) DO UPDATE SET
        value = excluded.value, set_by = excluded.set_by, set_at = excluded.set_at
"""

_UNSET: Final = "DELETE FROM limits WHERE scope = $1 AND scope_id = $2 AND name = $3 RETURNING name"


@dataclass(frozen=True, slots=True)
class SetLimit:
    """A rule, and who made it."""

    key: LimitKey
    value: int | None
    """None: no limit."""
    set_by: int
    set_at: datetime


class LimitStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def all(self) -> tuple[SetLimit, ...]:
        """Those that are set, by scope and id."""
        rows = await self._database.query(SELECT_LIMITS)
        return tuple(_set_limit(row) for row in rows if row[2] in LIMIT_NAMES)

    async def rules_for(self, payer: Payer) -> Rules:
        """Those that are set and may concern the payer."""
        return await self._database.read(lambda: rules_for(payer))

    async def set(
        self, scope: LimitScope, scope_id: int, name: LimitName, value: int | None, *, set_by: int
    ) -> None:
        """Have a limit hold from the next question on; None: no limit. The id of everyone is 0."""
        params = (scope, scope_id, name, value, set_by, to_text(self._clock()))
        await self._database.transaction([Statement(_SET, params)])

    async def unset(self, scope: LimitScope, scope_id: int, name: LimitName) -> bool:
        """Have the operator's file decide again. False when nothing was set."""
        [rows] = await self._database.transaction([Statement(_UNSET, (scope, scope_id, name))])
        return bool(rows)


def rules_for(payer: Payer) -> Steps[Rules]:
    """Those that are set and may concern the payer, all rules for roles among them."""
    rows = yield Statement(_SELECT_FOR, (payer.user_id, payer.guild_id))
    return {LimitKey(scope, scope_id, name): value for scope, scope_id, name, value in rows}


def _set_limit(row: Row) -> SetLimit:
    scope, scope_id, name, value, set_by, set_at = row
    return SetLimit(LimitKey(scope, scope_id, name), value, set_by, datetime.fromisoformat(set_at))
