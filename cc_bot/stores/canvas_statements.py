"""Which session has the canvas of a key, and how that one is read and changed.

It is the open one. Without one it is the session that was closed last: the next to be opened takes its canvas
over, and its revision. What stands in older ones is out of date. A revision of 0 is one from before anything
was drawn under the key; such sessions are passed over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cc_bot.domain.canvas import Canvas
from cc_bot.domain.session import SessionKey
from cc_bot.storage import Row, Statement
from cc_bot.stores.canvas_json import EMPTY_CANVAS, canvas_from_json, canvas_to_json

NEWEST_CLOSED: Final = """
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3
        AND canvas_revision > 0 AND closed_at IS NOT NULL
    ORDER BY closed_at DESC LIMIT 1
"""

# $1 user, $2 channel, $3 agent
_SELECT_CURRENT: Final = f"""
    SELECT id, canvas_state, canvas_revision, closed_at, last_active FROM sessions
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3 AND closed_at IS NULL
    UNION ALL
    SELECT * FROM (
        SELECT id, canvas_state, canvas_revision, closed_at, last_active FROM sessions {NEWEST_CLOSED}
    ) AS closed
"""  # noqa: S608 - put together from constants alone

_PUT: Final = "UPDATE sessions SET canvas_state = $3 WHERE id = $1 AND user_id = $2"

# Older sessions' too: what was taken down stands nowhere.
_CLEAR: Final = f"""
    UPDATE sessions SET canvas_state = '{EMPTY_CANVAS}'
    WHERE user_id = $1 AND channel_id = $2 AND agent = $3
        AND canvas_revision > 0 AND canvas_state <> '{EMPTY_CANVAS}'
"""  # noqa: S608 - put together from constants alone


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


def select_current(key: SessionKey) -> Statement:
    return Statement(_SELECT_CURRENT, (key.user_id, key.channel_id, key.agent))


def current(rows: Sequence[Row]) -> CurrentCanvas | None:
    """What `select_current` found: None where no session is open, and nothing was ever drawn."""
    found = [CurrentCanvas(*row) for row in rows]
    return min(found, key=lambda each: each.closed_at is not None) if found else None


def put(session_id: str, key: SessionKey, canvas: Canvas) -> Statement:
    return Statement(_PUT, (session_id, key.user_id, canvas_to_json(canvas)))


def clear_canvas(key: SessionKey) -> Statement:
    return Statement(_CLEAR, (key.user_id, key.channel_id, key.agent))
