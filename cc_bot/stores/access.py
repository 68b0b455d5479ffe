"""What owners set at run time: access rules, maintenance and limits, also where they name a user."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cc_bot.domain.access import SUBJECTS, AccessRules, Maintenance, Ruling, Subject, Subjects
from cc_bot.domain.message import UserSettings
from cc_bot.domain.usage import LIMIT_NAMES, LimitKey, LimitName, LimitScope, Rules, UsageSubject
from cc_bot.storage import MAINTENANCE_LOCK, Row, Statement, Steps
from cc_bot.stores.columns import ISO, Columns, Kind, Store, to_text
from cc_bot.stores.settings import PlaceAgents, agents_in, settings_of

# ruff: noqa: S608 - put together from constants alone


@dataclass(frozen=True, slots=True)
class SetLimit:
    key: LimitKey
    value: int | None
    set_by: int
    set_at: datetime


_LIMIT: Final = Columns(SetLimit, moments=ISO, name=Kind())

SELECT_LIMITS: Final = f"SELECT {_LIMIT.select} FROM limits ORDER BY scope, scope_id, name"


# $1 user, $2 guild
_SELECT_FOR: Final = f"""
    SELECT {_LIMIT.select} FROM limits
    WHERE scope IN ('everyone', 'role') OR scope = 'user' AND scope_id = $1
        OR scope = 'guild' AND scope_id = $2
"""

_SET: Final = """
    INSERT INTO limits (scope, scope_id, name, value, set_by, set_at) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (scope, scope_id, name) DO UPDATE SET
        value = excluded.value, set_by = excluded.set_by, set_at = excluded.set_at
"""

_UNSET: Final = "DELETE FROM limits WHERE scope = $1 AND scope_id = $2 AND name = $3 RETURNING name"


class LimitStore(Store):
    async def list_all(self) -> tuple[SetLimit, ...]:
        return await self._database.read(all_limits)

    async def set(
        self, scope: LimitScope, scope_id: int, name: LimitName, value: int | None, *, set_by: int
    ) -> None:
        """Applies from the next question on. None: no limit."""
        params = (scope, scope_id, name, value, set_by, to_text(self._clock()))
        await self._change([MAINTENANCE_LOCK], _SET, *params)

    async def unset(self, scope: LimitScope, scope_id: int, name: LimitName) -> bool:
        """The operator's file decides again. Returns whether a limit was set."""
        return bool(await self._change([MAINTENANCE_LOCK], _UNSET, scope, scope_id, name))


def all_limits() -> Steps[tuple[SetLimit, ...]]:
    rows = yield Statement(SELECT_LIMITS)
    return tuple(limit for limit in map(_LIMIT.read, rows) if limit.key.name in LIMIT_NAMES)


def rules_for(payer: UsageSubject) -> Steps[Rules]:
    """Includes the limits of all roles."""
    rows = yield Statement(_SELECT_FOR, (payer.user_id, payer.guild_id))
    return {limit.key: limit.value for limit in map(_LIMIT.read, rows)}


SELECT_IN_FORCE: Final = """
    SELECT subject, subject_id, rule FROM access_rules
    UNION ALL
    SELECT 'maintenance', 0, note FROM maintenance
"""
SET_RULE: Final = """
    INSERT INTO access_rules (subject, subject_id, rule, set_by, set_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (subject, subject_id) DO UPDATE SET
        rule = excluded.rule, set_by = excluded.set_by, set_at = excluded.set_at
"""
DELETE_RULE: Final = "DELETE FROM access_rules WHERE subject = $1 AND subject_id = $2 RETURNING 1"
BEGIN_MAINTENANCE: Final = """
    INSERT INTO maintenance (id, note, set_by, set_at) VALUES (1, $1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET note = excluded.note, set_by = excluded.set_by, set_at = excluded.set_at
"""
END_MAINTENANCE: Final = "DELETE FROM maintenance WHERE id = 1 RETURNING 1"


@dataclass(frozen=True, slots=True)
class AccessState:
    rules: AccessRules
    maintenance: Maintenance | None


@dataclass(frozen=True, slots=True)
class Visit:
    """What a command needs to know of its user before it starts."""

    in_force: AccessState
    limits: Rules
    settings: UserSettings
    agents: PlaceAgents


class AccessStore(Store):
    async def get_in_force(self) -> AccessState:
        return _in_force(await self._database.query(SELECT_IN_FORCE))

    async def get_visit(self, user_id: int, place_ids: Sequence[int]) -> Visit:
        """`place_ids`: a channel, or a thread and its channel."""

        def steps() -> Steps[Visit]:
            return (yield from visits((user_id,), place_ids))[user_id]

        return await self._database.read(steps)

    async def set(self, subject: Subject, subject_id: int, ruling: Ruling, *, set_by: int) -> None:
        """A subject has one rule."""
        params = (subject, subject_id, ruling, set_by, to_text(self._clock()))
        await self._change([MAINTENANCE_LOCK], SET_RULE, *params)

    async def unset(self, subject: Subject, subject_id: int) -> bool:
        """Returns whether there was one."""
        return bool(await self._change([MAINTENANCE_LOCK], DELETE_RULE, subject, subject_id))

    async def begin_maintenance(self, note: str, *, set_by: int) -> None:
        """Also changes the note."""
        await self._change([MAINTENANCE_LOCK], BEGIN_MAINTENANCE, note, set_by, to_text(self._clock()))

    async def end_maintenance(self) -> bool:
        """Returns whether there was any."""
        return bool(await self._change([MAINTENANCE_LOCK], END_MAINTENANCE))


def visits(user_ids: Collection[int], place_ids: Sequence[int]) -> Steps[dict[int, Visit]]:
    """`place_ids`: a channel, or a thread and its channel."""
    in_force = _in_force((yield Statement(SELECT_IN_FORCE)))
    limits = {limit.key: limit.value for limit in (yield from all_limits())}
    found = {}
    for user_id in user_ids:
        settings = yield from settings_of(user_id)
        found[user_id] = Visit(in_force, limits, settings, (yield from agents_in(user_id, place_ids)))
    return found


def _in_force(rows: Sequence[Row]) -> AccessState:
    ids: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    maintenance = None
    for subject, subject_id, rule in rows:
        if subject == "maintenance":
            maintenance = Maintenance(rule)
        else:
            ids[rule, subject].add(subject_id)
    rules = (Subjects(*(frozenset(ids[rule, each]) for each in SUBJECTS)) for rule in ("allow", "deny"))
    return AccessState(AccessRules(*rules), maintenance)
