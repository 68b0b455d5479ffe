"""What heartbeats look at that nothing else asks for, and what they have looked at.

The heartbeats themselves are schedules (schedules.py).
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.matters import Mark
from cc_bot.domain.schedule import Firing
from cc_bot.storage import Database, Statement
from cc_bot.stores.columns import from_ms, to_ms
from cc_bot.stores.schedule_statements import SCHEDULE_COLUMNS, read_schedule

_SELECT_MARKS: Final = "SELECT name FROM heartbeat_marks WHERE user_id = $1"

# $1 user, $2 name, $3 until when
_MARK: Final = """
    INSERT INTO heartbeat_marks (user_id, name, until) VALUES ($1, $2, $3)
    ON CONFLICT (user_id, name) DO UPDATE SET until = excluded.until
"""

# $1 user, $2 now
_DROP_OLD: Final = "DELETE FROM heartbeat_marks WHERE user_id = $1 AND until < $2"

_DROP_ALL: Final = "DELETE FROM heartbeat_marks WHERE user_id = $1"

# $1 user, $2 since when
_SELECT_MISSED: Final = f"""
    SELECT f.due_at, {SCHEDULE_COLUMNS}
    FROM schedules AS s
    JOIN firings AS f ON f.schedule_id = s.id AND f.user_id = $1
    WHERE s.user_id = $1 AND s.kind = 'reminder' AND f.state IN ('missed', 'uncertain') AND f.due_at >= $2
    ORDER BY f.due_at
"""  # noqa: S608 - put together from constants alone


class HeartbeatStore:
    """What every user's heartbeats know."""

    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        self._database = database
        self._clock = clock

    async def looked_at(self, user_id: int) -> frozenset[str]:
        """The names of the marks of all that was looked at."""
        return frozenset(name for (name,) in await self._database.query(_SELECT_MARKS, user_id))

    async def look(self, user_id: int, marks: Iterable[Mark]) -> None:
        """Note that this was looked at, and drop the marks that are needed no more."""
        noted = [Statement(_MARK, (user_id, mark.name, to_ms(mark.until))) for mark in marks]
        old = Statement(_DROP_OLD, (user_id, to_ms(self._clock())))
        await self._database.transaction([*noted, old])

    async def forget(self, user_id: int) -> None:
        """Know nothing any more: the user wants no heartbeats."""
        await self._database.transaction([Statement(_DROP_ALL, (user_id,))])

    async def missed(self, user_id: int, since: datetime) -> Sequence[Firing]:
        """The user's reminders that were missed, or perhaps missed, from then on; the oldest first."""
        rows = await self._database.query(_SELECT_MISSED, user_id, to_ms(since))
        return [Firing(read_schedule(columns), from_ms(due_ms)) for due_ms, *columns in rows]
