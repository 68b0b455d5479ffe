"""Stores the canvas of each session key, as JSON that only the feature reads. The changes of a turn are
stored with it (sessions.py)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple

from cc_bot.chat.drawing import Redraw
from cc_bot.db import Database, Row, Statement, Transaction, run_all, user_lock
from cc_bot.db.columns import KEY, Codec, Columns, Store, idle_since, key_columns
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.session import EMPTY_CANVAS, SessionKey

# ruff: noqa: S608 - SQL is built from constants

# A key's current canvas belongs to its open session, else to the last closed one, from which the next session
# takes it over. Sessions with revision 0, in which nothing was ever drawn, are skipped.


@dataclass(frozen=True, slots=True)
class CurrentCanvas:
    session_id: str
    state: str
    revision: int  # grows with each change
    closed_at: str | None
    last_active: str


_CURRENT: Final = Columns(
    CurrentCanvas,
    session_id=Codec(column="id"),
    state=Codec(column="canvas_state"),
    revision=Codec(column="canvas_revision"),
)

NEWEST_CLOSED: Final = """
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3
        AND canvas_revision > 0 AND closed_at IS NOT NULL
    ORDER BY closed_at DESC LIMIT 1
"""

# Run before changing a canvas, in the same transaction: numbers the change.
TICK_CANVAS_CLOCK: Final = "UPDATE canvas_clock SET drawn = drawn + 1 WHERE id = 1"

CANVAS_CHANGED: Final = """
    canvas_revision = canvas_revision + 1, canvas_change = (SELECT drawn FROM canvas_clock WHERE id = 1)
"""

# When a key may have another current canvas: an agent was chosen, or a session deleted.
MOVE: Final = "UPDATE canvas_clock SET moved = moved + 1 WHERE id = 1"

_PUT: Final = f"UPDATE sessions SET canvas_state = $3, {CANVAS_CHANGED} WHERE id = $1 AND user_id = $2"

# Includes older sessions, so that removed elements are stored nowhere.
_HAS_ELEMENTS: Final = f"""
    user_id = $1 AND channel_id = $2 AND agent = $3
        AND canvas_revision > 0 AND canvas_state <> '{EMPTY_CANVAS}'
"""
_CLEAR: Final = (
    f"{TICK_CANVAS_CLOCK} AND EXISTS (SELECT 1 FROM sessions WHERE {_HAS_ELEMENTS})",
    f"UPDATE sessions SET canvas_state = '{EMPTY_CANVAS}', {CANVAS_CHANGED} WHERE {_HAS_ELEMENTS}",
)


def select_current(key: SessionKey) -> Statement:
    sql = f"""
        SELECT {_CURRENT.select} FROM sessions
        WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL
        UNION ALL
        SELECT * FROM (
            SELECT {_CURRENT.select} FROM sessions {NEWEST_CLOSED}
        ) AS closed
    """
    return Statement(sql, key_columns(key))


def read_current(rows: Sequence[Row]) -> CurrentCanvas | None:
    """Return the canvas; None if no session is open and nothing was ever drawn."""
    found = [*map(_CURRENT.read, rows)]
    return min(found, key=lambda each: each.closed_at is not None) if found else None


def put_canvas(session_id: str, key: SessionKey, state: str) -> Transaction[None]:
    yield Statement(TICK_CANVAS_CLOCK)
    yield Statement(_PUT, (session_id, key.user_id, state))


def clear_canvas(key: SessionKey) -> list[Statement]:
    return [Statement(sql, key_columns(key)) for sql in _CLEAR]


_LIST_KEYS: Final = f"""
    SELECT {KEY.select}, last_active FROM sessions WHERE user_id = $1 AND closed_at IS NULL
    UNION ALL
    SELECT * FROM (
        SELECT {KEY.select}, '' FROM sessions
        WHERE user_id = $1 AND canvas_revision > 0 GROUP BY user_id, channel_id, agent
    ) AS drawn
"""


class CanvasClock(NamedTuple):
    drawn: int
    moved: int  # grows when another canvas may have become a key's current one


class CanvasStore(Store):
    def __init__(
        self, database: Database, *, session_ttl: timedelta = timedelta(days=1), clock: Clock = utc_now
    ) -> None:
        """`session_ttl`: idle time until a session expires."""
        super().__init__(database, clock=clock)
        self._ttl = session_ttl

    async def get(self, key: SessionKey) -> CurrentCanvas | None:
        """Return the current canvas; None if no session is open and nothing was ever drawn."""
        statement = select_current(key)
        return read_current(await self._database.query(statement.sql, *statement.params))

    async def list_keys(self, user_id: int) -> list[SessionKey]:
        rows = await self._database.query(_LIST_KEYS, user_id)
        newest_first = sorted(rows, key=lambda row: str(row[3]), reverse=True)
        return [*dict.fromkeys(KEY.read(row[:3]) for row in newest_first)]

    async def wait_for_change(self, seconds: float) -> None:
        """Wait until this process writes to the database."""
        await self._database.wait_for_write(seconds)

    async def read_clock(self) -> CanvasClock:
        sql = "SELECT drawn, moved FROM canvas_clock WHERE id = 1"
        return CanvasClock(*(await self._database.query(sql))[0])

    async def list_drawn(self, after: int) -> list[SessionKey]:
        """List the keys, of all users, whose canvas changed after that number."""
        sql = f"""
            SELECT {KEY.select} FROM sessions WHERE canvas_change > 0 AND canvas_change > $1
            /* all users */
        """
        rows = await self._database.query(sql, after)
        return [*dict.fromkeys(map(KEY.read, rows))]

    async def change(self, key: SessionKey, redraw: Redraw) -> bool:
        """Change the current canvas, also of a closed session. Returns whether it changed."""

        def steps() -> Transaction[bool]:
            found = read_current((yield select_current(key)))
            if found is None or (state := redraw(found.state)) == found.state:
                return False
            yield from put_canvas(found.session_id, key, state)
            return True

        return await self._database.write(steps, [user_lock(key.user_id)])

    async def clear(self, key: SessionKey) -> bool:
        """Remove all elements, also private ones. Returns whether there were any."""

        def steps() -> Transaction[bool]:
            found = read_current((yield select_current(key)))
            yield from run_all(clear_canvas(key))
            return found is not None and not found.state.startswith(EMPTY_CANVAS[:-1])

        return await self._database.write(steps, [user_lock(key.user_id)])

    async def draw(self, key: SessionKey, redraw: Redraw | None) -> str | None:
        """Change the canvas outside of a turn and return it, if any. The session does not count as active."""
        idle = idle_since(self._clock(), self._ttl)

        def steps() -> Transaction[str | None]:
            found = read_current((yield select_current(key)))
            if found is None or found.closed_at is not None or found.last_active <= idle:
                return None
            state = redraw(found.state) if redraw else found.state
            if state != found.state:
                yield from put_canvas(found.session_id, key, state)
            return state

        return await self._database.write(steps, [user_lock(key.user_id)])
