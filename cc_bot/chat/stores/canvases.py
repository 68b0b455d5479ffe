"""Stores the canvas of each session key, as JSON that only the canvas feature reads.

A key's current canvas is that of its open session, or else of the session closed last: the next session takes
it over. Sessions in which nothing was ever drawn have revision 0 and are skipped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from cc_bot.chat.drawing import Redraw
from cc_bot.db import Database, Row, Statement, Transaction, run_all, user_lock
from cc_bot.db.columns import KEY, Codec, Columns, Store, from_ms, get_idle_cutoff, key_columns
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.message import Visibility
from cc_bot.domain.session import EMPTY_CANVAS, SessionKey

# ruff: noqa: S608 - SQL is built from constants


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

WHERE_NEWEST_CLOSED: Final = """
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3
        AND canvas_revision > 0 AND closed_at IS NOT NULL
    ORDER BY closed_at DESC LIMIT 1
"""

# Run before NUMBER_CHANGE, which stores the new number, in the same transaction.
TICK_CANVAS_CLOCK: Final = "UPDATE canvas_clock SET drawn = drawn + 1 WHERE id = 1"

NUMBER_CHANGE: Final = """
    canvas_revision = canvas_revision + 1, canvas_change = (SELECT drawn FROM canvas_clock WHERE id = 1)
"""

# Run when a user may have switched to another canvas: an agent was chosen, or a session deleted.
COUNT_SWITCH: Final = "UPDATE canvas_clock SET moved = moved + 1 WHERE id = 1"

_PUT: Final = f"UPDATE sessions SET canvas_state = $3, {NUMBER_CHANGE} WHERE id = $1 AND user_id = $2"

# Includes closed sessions, so that no row still has the removed elements.
_HAS_ELEMENTS: Final = f"""
    user_id = $1 AND channel_id = $2 AND agent = $3
        AND canvas_revision > 0 AND canvas_state <> '{EMPTY_CANVAS}'
"""
_CLEAR: Final = (
    f"{TICK_CANVAS_CLOCK} AND EXISTS (SELECT 1 FROM sessions WHERE {_HAS_ELEMENTS})",
    f"UPDATE sessions SET canvas_state = '{EMPTY_CANVAS}', {NUMBER_CHANGE} WHERE {_HAS_ELEMENTS}",
)


_SELECT_CURRENT: Final = f"""
    SELECT {_CURRENT.select} FROM sessions
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL
    UNION ALL SELECT * FROM (SELECT {_CURRENT.select} FROM sessions {WHERE_NEWEST_CLOSED}) AS closed
"""


def read_current_canvas(key: SessionKey) -> Transaction[CurrentCanvas | None]:
    """Return the canvas; None if no session is open and nothing was ever drawn."""
    return _find_current((yield Statement(_SELECT_CURRENT, key_columns(key))))


def _find_current(rows: Sequence[Row]) -> CurrentCanvas | None:
    return min(map(_CURRENT.read, rows), key=lambda each: each.closed_at is not None, default=None)


def put_canvas(session_id: str, key: SessionKey, state: str) -> Transaction[None]:
    yield Statement(TICK_CANVAS_CLOCK)
    yield Statement(_PUT, (session_id, key.user_id, state))


def clear_canvas(key: SessionKey) -> list[Statement]:
    return [Statement(sql, key_columns(key)) for sql in _CLEAR]


_LIST_KEYS: Final = f"""
    SELECT {KEY.select}, last_active FROM sessions WHERE user_id = $1 AND closed_at IS NULL
    UNION ALL SELECT * FROM (
        SELECT {KEY.select}, '' FROM sessions
        WHERE user_id = $1 AND canvas_revision > 0 GROUP BY user_id, channel_id, agent
    ) AS drawn
"""


# Answers that drew, and their questions.
_LIST_DRAWINGS: Final = f"""
    SELECT {KEY.with_alias("s")}, a.created_at, (
        SELECT substr(q.content, 1, 200) FROM messages AS q
        WHERE q.session_id = a.session_id AND q.user_id = $1 AND q.role = 'user' AND q.id < a.id
        ORDER BY q.id DESC LIMIT 1
    )
    FROM messages AS a JOIN sessions AS s ON s.id = a.session_id AND s.user_id = $1
    WHERE a.user_id = $1 AND s.canvas_revision > 0 AND s.deleted_at IS NULL AND a.visibility IN ('public', $2)
        AND a.tool_calls LIKE '%"name": "canvas%'
"""


class Drawing(NamedTuple):
    at: datetime
    question: str


class CanvasClock(NamedTuple):
    changes: int  # the number of the newest change of any canvas
    switches: int  # grows when a user may have switched to another canvas


class CanvasStore(Store):
    def __init__(
        self, database: Database, *, session_ttl: timedelta = timedelta(days=1), clock: Clock = utc_now
    ) -> None:
        """`session_ttl`: idle time after which a session expires."""
        super().__init__(database, clock=clock)
        self._session_ttl = session_ttl

    async def get(self, key: SessionKey) -> CurrentCanvas | None:
        return _find_current(await self._database.query(_SELECT_CURRENT, *key_columns(key)))

    async def list_keys(self, user_id: int) -> list[SessionKey]:
        """List the keys with an open session, last used first, and others with a canvas."""
        rows = await self._database.query(_LIST_KEYS, user_id)
        newest_first = sorted(rows, key=lambda row: str(row[3]), reverse=True)  # by last_active
        return [*dict.fromkeys(KEY.read(row[:3]) for row in newest_first)]

    async def get_last_drawings(self, user_id: int, visibility: Visibility) -> dict[SessionKey, Drawing]:
        listing = Statement(_LIST_DRAWINGS, (user_id, visibility))
        rows = sorted(await self._database.read_long(listing.as_transaction), key=lambda row: int(row[3]))
        return {KEY.read(row[:3]): Drawing(from_ms(row[3]), row[4] or "") for row in rows}

    async def wait_for_change(self, seconds: float) -> None:
        """Wait until this process writes to the database."""
        await self._database.wait_for_write(seconds)

    async def read_clock(self) -> CanvasClock:
        sql = "SELECT drawn, moved FROM canvas_clock WHERE id = 1"
        return CanvasClock(*(await self._database.query(sql))[0])

    async def list_changed_keys(self, after: int) -> list[SessionKey]:
        """List all users' keys whose canvas has a change with a higher number than `after`."""
        sql = f"""
            SELECT {KEY.select} FROM sessions WHERE canvas_change > 0 AND canvas_change > $1
            /* scope: all users */
        """
        rows = await self._database.query(sql, after)
        return [*dict.fromkeys(map(KEY.read, rows))]

    async def change(self, key: SessionKey, redraw: Redraw) -> bool:
        """Change the current canvas, also of a closed session. Returns whether it changed."""

        def steps() -> Transaction[bool]:
            current = yield from read_current_canvas(key)
            if current is None or (state := redraw(current.state)) == current.state:
                return False
            yield from put_canvas(current.session_id, key, state)
            return True

        return await self._database.write(steps, [user_lock(key.user_id)])

    async def clear(self, key: SessionKey) -> bool:
        """Remove all elements, also private ones. Returns whether there were any."""

        def steps() -> Transaction[bool]:
            current = yield from read_current_canvas(key)
            yield from run_all(clear_canvas(key))
            # The empty list of elements may be followed by other fields.
            return current is not None and not current.state.startswith(EMPTY_CANVAS[:-1])

        return await self._database.write(steps, [user_lock(key.user_id)])

    async def draw(self, key: SessionKey, redraw: Redraw | None) -> str | None:
        """Change the open session's canvas outside of a turn, and return it; None if no session is open. The
        session does not count as active."""
        idle_cutoff = get_idle_cutoff(self._clock(), self._session_ttl)

        def steps() -> Transaction[str | None]:
            current = yield from read_current_canvas(key)
            if current is None or current.closed_at is not None or current.last_active <= idle_cutoff:
                return None
            state = redraw(current.state) if redraw else current.state
            if state != current.state:
                yield from put_canvas(current.session_id, key, state)
            return state

        return await self._database.write(steps, [user_lock(key.user_id)])
