"""Web sessions and sign-in codes.

Both are random secrets of 256 bits, stored as fast hashes. The statements that find a row by hash name no
user: the secret decides who it is.
"""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Final

from cc_bot.domain.access import CODE_LIFE, MAX_LIFE, UNUSED_LIFE, WebPlace, WebSession
from cc_bot.storage import MAINTENANCE_LOCK, Row, Statement, Steps, user
from cc_bot.stores.columns import Store, to_text

SECRET_BYTES: Final = 32
NOTED_EVERY: Final = timedelta(hours=1)
"""Use is recorded no more often."""
MAX_SESSIONS: Final = 20
"""Per user; the least recently used goes."""
MAX_CODES: Final = 10
"""Per user; the oldest goes."""

_INSERT_CODE: Final = """
    INSERT INTO web_codes (hash, user_id, channel_id, guild_id, made_at, ends_at)
    VALUES ($1, $2, $3, $4, $5, $6)
"""

# $1 user, $2 now, $3 how many stay
_DROP_CODES: Final = """
    DELETE FROM web_codes WHERE user_id = $1 AND (
        ends_at <= $2 OR hash NOT IN (
            SELECT hash FROM web_codes WHERE user_id = $1 ORDER BY made_at DESC LIMIT $3
        )
    )
"""

# $1 hash, $2 now
SELECT_CODE: Final = """
    SELECT user_id, channel_id, guild_id FROM web_codes WHERE hash = $1 AND ends_at > $2
    /* all users */
"""
USE_CODE: Final = """
    DELETE FROM web_codes WHERE hash = $1 AND ends_at > $2 RETURNING user_id, channel_id, guild_id
    /* all users */
"""

_SESSION: Final = "id, user_id, channel_id, guild_id, made_at, used_at, ends_at"

# ruff: noqa: S608 - put together from constants alone

_INSERT_SESSION: Final = f"""
    INSERT INTO web_sessions (hash, user_id, channel_id, guild_id, made_at, used_at, ends_at)
    VALUES ($1, $2, $3, $4, $5, $5, $6)
    RETURNING {_SESSION}
"""

# $1 user, $2 now, $3 unused since, $4 how many stay
_DROP_SESSIONS: Final = """
    DELETE FROM web_sessions WHERE user_id = $1 AND (
        ends_at <= $2 OR used_at <= $3 OR id NOT IN (
            SELECT id FROM web_sessions WHERE user_id = $1 ORDER BY used_at DESC LIMIT $4
        )
    )
"""

# $1 hash, $2 now, $3 unused since
SELECT_SESSION: Final = f"""
    SELECT {_SESSION} FROM web_sessions WHERE hash = $1 AND ends_at > $2 AND used_at > $3 /* all users */
"""

# $1 user, $2 session, $3 now
_NOTE_USE: Final = "UPDATE web_sessions SET used_at = $3 WHERE user_id = $1 AND id = $2"

# $1 user, $2 now, $3 unused since
_LIST: Final = f"""
    SELECT {_SESSION} FROM web_sessions
    WHERE user_id = $1 AND ends_at > $2 AND used_at > $3 ORDER BY used_at DESC, id DESC
"""

# $1 user, $2 session
_END: Final = "DELETE FROM web_sessions WHERE user_id = $1 AND id = $2 RETURNING id"
# $2: the session that stays
_END_ALL: Final = "DELETE FROM web_sessions WHERE user_id = $1 AND id <> $2 RETURNING id"
_END_CODES: Final = "DELETE FROM web_codes WHERE user_id = $1"

# For the web sockets of all users. $1 now, $2 unused since
SELECT_LIVE: Final = "SELECT id FROM web_sessions WHERE ends_at > $1 AND used_at > $2 /* all users */"
# $1 now, $2 unused since
PRUNE_CODES: Final = "DELETE FROM web_codes WHERE ends_at <= $1 /* all users */"
PRUNE_SESSIONS: Final = "DELETE FROM web_sessions WHERE ends_at <= $1 OR used_at <= $2 /* all users */"


class WebSessionStore(Store):
    async def make_code(self, place: WebPlace) -> str:
        """The code signs a user in once, within CODE_LIFE."""
        code, now = secrets.token_urlsafe(SECRET_BYTES), self._clock()
        row = (_hash(code), place.user_id, place.channel_id, place.guild_id)
        insert = Statement(_INSERT_CODE, (*row, to_text(now), to_text(now + CODE_LIFE)))
        drop = Statement(_DROP_CODES, (place.user_id, to_text(now), MAX_CODES))
        await self._database.transaction([insert, drop], [user(place.user_id)])
        return code

    async def find_code(self, code: str) -> WebPlace | None:
        """None if it is used, expired or invalid. Does not use it."""
        rows = await self._database.query(SELECT_CODE, _hash(code), to_text(self._clock()))
        return WebPlace(*rows[0]) if rows else None

    async def sign_in(self, code: str) -> tuple[str, WebSession] | None:
        """Use a code; returns a new session with its secret, or None if the code is used, expired or
        invalid."""
        place = await self.find_code(code)
        if place is None:
            return None
        secret, now = secrets.token_urlsafe(SECRET_BYTES), self._clock()

        def steps() -> Steps[WebSession | None]:
            used = yield Statement(USE_CODE, (_hash(code), to_text(now)))
            if not used:
                return None
            moments = (to_text(now), to_text(now + MAX_LIFE))
            made = yield Statement(_INSERT_SESSION, (_hash(secret), *used[0], *moments))
            session = _session(made[0])
            yield Statement(_DROP_SESSIONS, (session.user_id, *self._bounds(now), MAX_SESSIONS))
            return session

        session = await self._database.write(steps, [user(place.user_id)])
        return (secret, session) if session else None

    async def get(self, secret: str) -> WebSession | None:
        """Record the use of a session; None if it ended or is invalid."""
        now = self._clock()
        rows = await self._database.query(SELECT_SESSION, _hash(secret), *self._bounds(now))
        if not rows:
            return None
        session = _session(rows[0])
        if now - session.used_at >= NOTED_EVERY:
            note = Statement(_NOTE_USE, (session.user_id, session.id, to_text(now)))
            await self._database.transaction([note], [user(session.user_id)])
        return session

    async def list(self, user_id: int) -> list[WebSession]:
        """The last used first."""
        rows = await self._database.query(_LIST, user_id, *self._bounds(self._clock()))
        return [*map(_session, rows)]

    async def end(self, user_id: int, session_id: int) -> bool:
        """Returns False if the user has no such session."""
        [ended] = await self._database.transaction([Statement(_END, (user_id, session_id))], [user(user_id)])
        return bool(ended)

    async def end_all(self, user_id: int, *, but: int = 0) -> int:
        """End all of a user's sessions `but` one, and unused codes. Returns the number of sessions."""
        ended, _ = await self._database.transaction(
            [Statement(_END_ALL, (user_id, but)), Statement(_END_CODES, (user_id,))], [user(user_id)]
        )
        return len(ended)

    async def list_live(self) -> frozenset[int]:
        rows = await self._database.query(SELECT_LIVE, *self._bounds(self._clock()))
        return frozenset(id_ for (id_,) in rows)

    async def prune(self) -> None:
        now, unused = self._bounds(self._clock())
        await self._database.transaction(
            [Statement(PRUNE_CODES, (now,)), Statement(PRUNE_SESSIONS, (now, unused))], [MAINTENANCE_LOCK]
        )

    def _bounds(self, now: datetime) -> tuple[str, str]:
        return to_text(now), to_text(now - UNUSED_LIFE)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _session(row: Row) -> WebSession:
    id_, user_id, channel_id, guild_id, *moments = row
    made, used, ends = map(datetime.fromisoformat, moments)
    return WebSession(id_, WebPlace(user_id, channel_id, guild_id), made, used, ends)
