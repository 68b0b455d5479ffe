"""Access rules, maintenance and limits, which owners set at run time, and the web sessions of users."""

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from cc_bot.domain.access import (
    CODE_LIFE,
    MAX_LIFE,
    SUBJECTS,
    UNUSED_LIFE,
    AccessRules,
    Maintenance,
    Ruling,
    Subject,
    Subjects,
    WebPlace,
    WebSession,
)
from cc_bot.domain.message import UserSettings
from cc_bot.domain.usage import LIMIT_NAMES, LimitKey, LimitName, LimitScope, Rules, UsageSubject
from cc_bot.storage import MAINTENANCE_LOCK, Row, Statement, Steps, user
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
    """A command's user, as known before it starts."""

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


# Web sessions and sign-in codes are random secrets of 256 bits, stored as fast hashes. The statements that
# find a row by hash name no user: the secret decides who it is.

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

_SESSION: Final = Columns(WebSession, moments=ISO)

_INSERT_SESSION: Final = f"""
    INSERT INTO web_sessions (hash, user_id, channel_id, guild_id, made_at, used_at, ends_at)
    VALUES ($1, $2, $3, $4, $5, $5, $6)
    RETURNING {_SESSION.select}
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
    SELECT {_SESSION.select} FROM web_sessions
    WHERE hash = $1 AND ends_at > $2 AND used_at > $3 /* all users */
"""

# $1 user, $2 session, $3 now
_NOTE_USE: Final = "UPDATE web_sessions SET used_at = $3 WHERE user_id = $1 AND id = $2"

# $1 user, $2 now, $3 unused since
_LIST: Final = f"""
    SELECT {_SESSION.select} FROM web_sessions
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
            session = _SESSION.read(made[0])
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
        session = _SESSION.read(rows[0])
        if now - session.used_at >= NOTED_EVERY:
            note = Statement(_NOTE_USE, (session.user_id, session.id, to_text(now)))
            await self._database.transaction([note], [user(session.user_id)])
        return session

    async def list(self, user_id: int) -> list[WebSession]:
        """The last used first."""
        rows = await self._database.query(_LIST, user_id, *self._bounds(self._clock()))
        return [*map(_SESSION.read, rows)]

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
