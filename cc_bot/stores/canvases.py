"""Canvases by their keys, and the messages of Discord that show them.

A turn's own drawing is stored with the turn (sessions.py). This is for everyone else: the front end that
shows a canvas, a heartbeat that draws on one, a user who has it cleared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from cc_bot.domain.canvas import Canvas, Drawn, RemoveElement, reduce_all
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.process import WHOLE, Shard
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.session import SessionKey
from cc_bot.storage import Database, Row, Statement, Steps, user
from cc_bot.stores.canvas_json import EMPTY_CANVAS, canvas_from_json, canvas_to_json
from cc_bot.stores.columns import KEY, Columns, Kind, idle_since, key_columns
from cc_bot.stores.processes import of_shard
from cc_bot.stores.proposals import carry_out

# ruff: noqa: S608 - put together from constants alone

# ---- canvas statements -----------------------------------------------------------------------------------
# The session that has the canvas of a key, and how its canvas is read and changed.
#
# It is the open one. Without one it is the session that was closed last: the next to be opened takes its
# canvas over, and its revision. What stands in older ones is out of date. A revision of 0 is one from before
# anything was drawn under the key; such sessions are passed over.


@dataclass(frozen=True, slots=True)
class CurrentCanvas:
    """A key's canvas, and the session that has it."""

    session_id: str
    state: str
    """As it is stored."""
    revision: int
    closed_at: str | None
    last_active: str

    @property
    def canvas(self) -> Canvas:
        return canvas_from_json(self.state)


_CURRENT: Final = Columns(
    CurrentCanvas,
    session_id=Kind(column="id"),
    state=Kind(column="canvas_state"),
    revision=Kind(column="canvas_revision"),
)

NEWEST_CLOSED: Final = """
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3
        AND canvas_revision > 0 AND closed_at IS NOT NULL
    ORDER BY closed_at DESC LIMIT 1
"""

# $1 user, $2 channel, $3 agent
_SELECT_CURRENT: Final = f"""
    SELECT {_CURRENT.select} FROM sessions
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL
    UNION ALL
    SELECT * FROM (
        SELECT {_CURRENT.select} FROM sessions {NEWEST_CLOSED}
    ) AS closed
"""

# Before canvases are changed, in the same transaction: the number of that change.
TICK: Final = "UPDATE canvas_clock SET drawn = drawn + 1 WHERE id = 1"

# Of each canvas that is changed.
CHANGED: Final = """
    canvas_revision = canvas_revision + 1, canvas_change = (SELECT drawn FROM canvas_clock WHERE id = 1)
"""

# Where a key may have got another canvas to show: an agent was chosen, or a session deleted.
MOVE: Final = "UPDATE canvas_clock SET moved = moved + 1 WHERE id = 1"

_PUT: Final = f"UPDATE sessions SET canvas_state = $3, {CHANGED} WHERE id = $1 AND user_id = $2"

# Older sessions' too: what was taken down is stored nowhere.
_DRAWN_ON: Final = f"""
    user_id = $1 AND channel_id = $2 AND agent = $3
        AND canvas_revision > 0 AND canvas_state <> '{EMPTY_CANVAS}'
"""
_CLEAR: Final = (
    f"{TICK} AND EXISTS (SELECT 1 FROM sessions WHERE {_DRAWN_ON})",
    f"UPDATE sessions SET canvas_state = '{EMPTY_CANVAS}', {CHANGED} WHERE {_DRAWN_ON}",
)


def select_current(key: SessionKey) -> Statement:
    return Statement(_SELECT_CURRENT, key_columns(key))


def read_current(rows: Sequence[Row]) -> CurrentCanvas | None:
    """Return the canvas that `select_current` found; None where no session is open, and nothing was ever
    drawn."""
    found = [*map(_CURRENT.read, rows)]
    return min(found, key=lambda each: each.closed_at is not None) if found else None


def put_canvas(session_id: str, key: SessionKey, canvas: Canvas) -> Steps[None]:
    yield Statement(TICK)
    yield Statement(_PUT, (session_id, key.user_id, canvas_to_json(canvas)))


def clear_canvas(key: SessionKey) -> list[Statement]:
    return [Statement(sql, key_columns(key)) for sql in _CLEAR]


# ---- canvases --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CanvasMessage:
    """The message that shows a canvas to everyone who reads its channel."""

    message_id: int
    shown_revision: int
    """Of the canvas that it shows."""


_MESSAGE: Final = Columns(CanvasMessage)

_SELECT_SHOWN: Final = f"""
    SELECT {_MESSAGE.select} FROM canvas_messages
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3
"""

# Not after everything of the user was erased, and with it the sessions: Discord takes its time to show one.
# Index: sessions_with_canvas.
_NOTE_SHOWN: Final = """
    INSERT INTO canvas_messages (user_id, channel_id, agent, message_id, shown_revision)
    SELECT $1, $2, $3, $4, $5
    WHERE EXISTS (
        SELECT 1 FROM sessions WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND canvas_revision > 0
    )
    ON CONFLICT (user_id, channel_id, agent) DO UPDATE SET message_id = $4, shown_revision = $5
    RETURNING message_id
"""

_FORGET: Final = "DELETE FROM canvas_messages WHERE user_id = $1 AND channel_id = $2 AND agent = $3"

# Whoever deletes a message on Discord is not named with it.
SELECT_KEY: Final = f"SELECT {KEY.select} FROM canvas_messages WHERE message_id = $1 /* all users */"

# $1 shard, $2 their count, $3 how many at most
SELECT_ALL_SHOWN: Final = f"""
    SELECT {KEY.of("c")} FROM canvas_messages AS c LEFT JOIN places AS p ON p.place_id = c.channel_id
    WHERE {of_shard("p", "$1", "$2")}
    LIMIT $3 /* all users */
"""

# A channel's agent is changed for all who are there.
SELECT_SHOWN_IN: Final = f"""
    SELECT {KEY.select} FROM canvas_messages WHERE channel_id = $1 LIMIT $2
    /* channel */
"""

# The erasure of a memory changes canvases, and knows nothing of Discord.
SELECT_STALE: Final = f"""
    SELECT {KEY.of("c")} FROM canvas_messages AS c
    WHERE c.shown_revision <> COALESCE(
        (
            SELECT s.canvas_revision FROM sessions AS s
            WHERE s.user_id = c.user_id AND s.channel_id = c.channel_id AND s.agent = c.agent
                AND s.closed_at IS NULL
        ),
        (
            SELECT s.canvas_revision FROM sessions AS s
            WHERE s.user_id = c.user_id AND s.channel_id = c.channel_id AND s.agent = c.agent
                AND s.canvas_revision > 0 AND s.closed_at IS NOT NULL
            ORDER BY s.closed_at DESC LIMIT 1
        ),
        0
    )
    LIMIT $1 /* all users */
"""

# What pages in browsers show, of all users: read after each change of the database.
SELECT_CLOCK: Final = "SELECT drawn, moved FROM canvas_clock WHERE id = 1"
# By sessions_by_canvas_change. $1 the number of a change
SELECT_DRAWN: Final = f"""
    SELECT {KEY.select} FROM sessions WHERE canvas_change > 0 AND canvas_change > $1
    /* all users */
"""

# By the index on open sessions, and by sessions_with_canvas. $1 user
_LIST_KEYS: Final = f"""
    SELECT {KEY.select}, last_active FROM sessions WHERE user_id = $1 AND closed_at IS NULL
    UNION ALL
    SELECT * FROM (
        SELECT {KEY.select}, '' FROM sessions
        WHERE user_id = $1 AND canvas_revision > 0 GROUP BY user_id, channel_id, agent
    ) AS drawn
"""


@dataclass(frozen=True, slots=True)
class CanvasClock:
    """The number of changes of all users' canvases."""

    drawn: int
    """The number of the newest change of any."""
    moved: int
    """Another one, when another canvas than before may be the one to show under a key."""


@dataclass(frozen=True, slots=True)
class SeenCanvas:
    canvas: Canvas
    """All of it: what of it may be seen in public, `Canvas.visible_in` tells."""
    revision: int
    """Another one after each change, private ones too; it only grows."""


class CanvasStore:
    def __init__(
        self, database: Database, *, session_ttl: timedelta = timedelta(days=1), clock: Clock = utc_now
    ) -> None:
        """Make the store. `session_ttl`: the time without a turn until a session expires."""
        self._database = database
        self._ttl = session_ttl
        self._clock = clock

    async def get(self, key: SessionKey) -> SeenCanvas | None:
        """Return the canvas of the open session or, if that has expired, the one that the next session takes
        over. None where no session is open, and nothing was ever drawn."""
        statement = select_current(key)
        found = read_current(await self._database.query(statement.sql, *statement.params))
        return SeenCanvas(found.canvas, found.revision) if found else None

    async def list_keys(self, user_id: int) -> list[SessionKey]:
        """List the keys under which the user talks, the one used last first, and those under which something
        was ever drawn."""
        rows = await self._database.query(_LIST_KEYS, user_id)
        newest_first = sorted(rows, key=lambda row: str(row[3]), reverse=True)
        return [*dict.fromkeys(KEY.read(row[:3]) for row in newest_first)]

    async def wait_for_change(self, seconds: float) -> None:
        """Wait until something may have changed: this program has written, or so many seconds are over."""
        await self._database.wait_for_write(seconds)

    async def read_clock(self) -> CanvasClock:
        """Return how far all canvases are."""
        [(drawn, moved)] = await self._database.query(SELECT_CLOCK)
        return CanvasClock(drawn, moved)

    async def list_drawn(self, after: int) -> list[SessionKey]:
        """List the keys, of all users, whose canvas has a change of a later number than that."""
        rows = await self._database.query(SELECT_DRAWN, after)
        return [*dict.fromkeys(map(KEY.read, rows))]

    async def remove(self, key: SessionKey, element_id: str) -> bool:
        """Take one element down, private or not, of the canvas of the open session or the one that the next
        takes over; False where no such element is up."""

        def steps() -> Steps[bool]:
            found = read_current((yield select_current(key)))
            if found is None or found.canvas.element(element_id) is None:
                return False
            left = reduce_all(found.canvas, [Drawn(RemoveElement(element_id), "private")])
            yield from put_canvas(found.session_id, key, left)
            return True

        return await self._database.write(steps, [user(key.user_id)])

    async def clear(self, key: SessionKey) -> bool:
        """Take everything down, private elements too; False where nothing was up."""

        def steps() -> Steps[bool]:
            found = read_current((yield select_current(key)))
            for statement in clear_canvas(key):  # noqa: UP028 - a list can't be sent the rows
                yield statement
            return found is not None and not found.canvas.empty

        return await self._database.write(steps, [user(key.user_id)])

    async def draw(
        self, key: SessionKey, drawn: Sequence[Drawn], *, proposal: Proposal | None = None
    ) -> Canvas | None:
        """Draw outside of a turn, and return the canvas as it is then; None where no session is open, and
        nothing was drawn. What does not apply is left out. The session counts as no more active than it was.
        With a `proposal` it is carried out by that; raises ProposalGone or ProposalOutdated.
        """
        idle = idle_since(self._clock(), self._ttl)

        def steps() -> Steps[Canvas | None]:
            found = read_current((yield select_current(key)))
            if found is None or found.closed_at is not None or found.last_active <= idle:
                return None
            canvas = reduce_all(found.canvas, drawn)
            if canvas != found.canvas:
                yield from put_canvas(found.session_id, key, canvas)
            return canvas

        return await self._database.write(lambda: carry_out(proposal, steps), [user(key.user_id)])

    async def get_message(self, key: SessionKey) -> CanvasMessage | None:
        rows = await self._database.query(_SELECT_SHOWN, *key_columns(key))
        return _MESSAGE.first(rows)

    async def note_message(self, key: SessionKey, message_id: int, revision: int) -> bool:
        """Note that this message shows this revision of the canvas, in place of the message that did
        before. Return False, and note nothing, where nothing is stored under the key any more."""
        note = Statement(_NOTE_SHOWN, (*key_columns(key), message_id, revision))
        [noted] = await self._database.transaction([note], [user(key.user_id)])
        return bool(noted)

    async def forget_message(self, key: SessionKey) -> None:
        """Forget the message that showed the canvas: it is gone."""
        await self._database.transaction([Statement(_FORGET, key_columns(key))], [user(key.user_id)])

    async def get_key(self, message_id: int) -> SessionKey | None:
        """Return the key whose canvas a message shows; None where it shows none."""
        rows = await self._database.query(SELECT_KEY, message_id)
        return KEY.first(rows)

    async def list_stale(self, limit: int) -> list[SessionKey]:
        """List at most `limit` keys, of all users, whose message shows something else than what is up."""
        return [*map(KEY.read, await self._database.query(SELECT_STALE, limit))]

    async def list_shown_in(self, channel_id: int, limit: int) -> list[SessionKey]:
        """List at most `limit` keys, of all users, whose canvas has a message in that channel or thread."""
        return [*map(KEY.read, await self._database.query(SELECT_SHOWN_IN, channel_id, limit))]

    async def list_shown(self, limit: int, shard: Shard = WHOLE) -> list[SessionKey]:
        """List at most `limit` keys, of all users, whose canvas has a message, where a connection tells of
        its place or it was not noted who does."""
        return [*map(KEY.read, await self._database.query(SELECT_ALL_SHOWN, shard.id, shard.count, limit))]
