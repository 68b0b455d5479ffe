"""Who may use the bot, as its owners have decided while it runs: rules, and whether there is maintenance.

All rules are read at once: there are few, and each way in asks for them. What is here is the operator's own
and no user's data, though it may name a user.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cc_bot.domain.access import AccessRules, Maintenance, Ruling, Subject, Subjects
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.limits import Rules
from cc_bot.domain.message import UserSettings
from cc_bot.storage import Database, Row, Statement, Steps
from cc_bot.stores.columns import Columns, Kind, to_text
from cc_bot.stores.settings import PlaceAgents, agents_in, settings_of
from cc_bot.stores.usage import all_limits


@dataclass(frozen=True, slots=True)
class StoredRule:
    subject: Subject
    subject_id: int
    ruling: Ruling


_RULE: Final = Columns(StoredRule, ruling=Kind(column="rule"))

SELECT_RULES: Final = f"SELECT {_RULE.select} FROM access_rules ORDER BY subject, subject_id"  # noqa: S608 - of constants
SELECT_IN_FORCE: Final = """
    SELECT subject, subject_id, rule FROM access_rules
    UNION ALL
    SELECT 'maintenance', 0, note FROM maintenance
"""
"""Every rule, and the maintenance as one row more."""
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
class InForce:
    """What holds at a moment."""

    rules: AccessRules
    maintenance: Maintenance | None


@dataclass(frozen=True, slots=True)
class Visit:
    """All that is asked of somebody who comes to a place, and of a turn that they begin there."""

    in_force: InForce
    limits: Rules
    """Those that owners set."""
    settings: UserSettings
    agents: PlaceAgents


class AccessStore:
    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def in_force(self) -> InForce:
        """All that is asked at each way in, in one trip. Raises StorageError."""
        return _in_force(await self._database.query(SELECT_IN_FORCE))

    async def visit(self, user_id: int, place_ids: Sequence[int]) -> Visit:
        """The same with all else that is asked of whoever comes, in one trip. `place_ids` are a channel, or a
        thread and its channel. Raises StorageError."""

        def steps() -> Steps[Visit]:
            in_force = _in_force((yield Statement(SELECT_IN_FORCE)))
            limits = yield from all_limits()
            settings = yield from settings_of(user_id)
            agents = yield from agents_in(user_id, place_ids)
            return Visit(in_force, {limit.key: limit.value for limit in limits}, settings, agents)

        return await self._database.read(steps)

    async def rules(self) -> tuple[StoredRule, ...]:
        """Every rule, by subject. Raises StorageError."""
        return tuple(map(_RULE.read, await self._database.query(SELECT_RULES)))

    async def set(self, subject: Subject, subject_id: int, ruling: Ruling, *, set_by: int) -> None:
        """This is the one rule of the subject from now on. Raises StorageError."""
        params = (subject, subject_id, ruling, set_by, to_text(self._clock()))
        await self._database.transaction([Statement(SET_RULE, params)])

    async def remove(self, subject: Subject, subject_id: int) -> bool:
        """Whether it had a rule. Raises StorageError."""
        [rows] = await self._database.transaction([Statement(DELETE_RULE, (subject, subject_id))])
        return bool(rows)

    async def begin_maintenance(self, note: str, *, set_by: int) -> None:
        """From now on, or with another note. Raises StorageError."""
        params = (note, set_by, to_text(self._clock()))
        await self._database.transaction([Statement(BEGIN_MAINTENANCE, params)])

    async def end_maintenance(self) -> bool:
        """Whether there was maintenance. Raises StorageError."""
        [rows] = await self._database.transaction([Statement(END_MAINTENANCE)])
        return bool(rows)


def _in_force(rows: Sequence[Row]) -> InForce:
    ids: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    maintenance = None
    for subject, subject_id, rule in rows:
        if subject == "maintenance":
            maintenance = Maintenance(str(rule))
        else:
            ids[rule, subject].add(subject_id)
    return InForce(AccessRules(_subjects(ids, "allow"), _subjects(ids, "deny")), maintenance)


def _subjects(ids: defaultdict[tuple[str, str], set[int]], ruling: Ruling) -> Subjects:
    return Subjects(
        frozenset(ids[ruling, "user"]),
        frozenset(ids[ruling, "role"]),
        frozenset(ids[ruling, "channel"]),
        frozenset(ids[ruling, "guild"]),
    )
