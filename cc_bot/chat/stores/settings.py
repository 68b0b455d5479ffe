"""Stores of settings: users' settings, channels' agents and models, token factors, limits, access rules,
maintenance and web sessions."""

import hashlib
import json
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, Protocol, runtime_checkable
from zoneinfo import available_timezones

from cc_bot.db import MAINTENANCE_LOCK, Database, Row, Statement, Transaction, channel_lock, user_lock
from cc_bot.db.columns import ISO, Codec, Columns, Store, to_text, upsert
from cc_bot.domain.access import (
    LINK_LIFETIME,
    MAX_SESSION_IDLE_TIME,
    MAX_SESSION_LIFETIME,
    AccessRule,
    AccessRules,
    Maintenance,
    Ruling,
    SignInOrigin,
    Subject,
    WebSession,
)
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import UnknownTimezone
from cc_bot.domain.message import UserSettings
from cc_bot.domain.text import Locale
from cc_bot.domain.usage import LIMIT_NAMES, LimitKey, LimitRules
from cc_bot.features import find_module


@runtime_checkable
class ZonedStore(Protocol):
    """A feature's store whose rows depend on the user's time zone."""

    async def rezone(self, user_id: int, timezone: str) -> None:
        pass


class Keep(Enum):
    """The default of arguments whose None means "reset": the setting stays as it is."""

    AS_IS = "as it is"


# ruff: noqa: S608 - SQL is built from constants

_SETTINGS: Final = Columns(UserSettings, locale=Codec(str, lambda stored: Locale(stored) if stored else None))

_SELECT: Final = f"SELECT {_SETTINGS.select} FROM user_settings WHERE user_id = $1"

_PUT: Final = upsert("user_settings", "user_id", "locale timezone memory_paused spoken updated_at")


class SettingsStore(Store):
    async def get(self, user_id: int) -> UserSettings:
        return await self._database.read(lambda: read_settings(user_id))

    async def set(
        self,
        user_id: int,
        *,
        locale: Locale | Keep | None = Keep.AS_IS,
        timezone: str | Keep | None = Keep.AS_IS,
        memory_paused: bool | Keep = Keep.AS_IS,
        spoken: bool | Keep = Keep.AS_IS,
    ) -> UserSettings:
        """Change the given settings and return all; None resets one. Raises UnknownTimezone."""
        # ZoneInfo would also accept `localtime`, `posixrules` and folders.
        if isinstance(timezone, str) and (timezone not in available_timezones() or timezone == "localtime"):
            raise UnknownTimezone
        values = {"locale": locale, "timezone": timezone, "memory_paused": memory_paused, "spoken": spoken}
        changes: dict[str, Any] = {name: value for name, value in values.items() if value is not Keep.AS_IS}

        def steps() -> Transaction[UserSettings]:
            settings = replace((yield from read_settings(user_id)), **changes)
            switches = (int(settings.memory_paused), int(settings.spoken))
            now = to_text(self._clock())
            yield Statement(_PUT, (user_id, settings.locale, settings.timezone, *switches, now))
            return settings

        return await self._database.write(steps, [user_lock(user_id)])

    async def claim_welcome(self, user_id: int) -> bool:
        """Return True only for the first call of a user, even if several are made at once."""
        params = (user_id, to_text(self._clock()))
        sql = """
            INSERT INTO user_settings (user_id, welcomed, updated_at)
            VALUES ($1, 1, $2)
            ON CONFLICT (user_id) DO UPDATE SET welcomed = 1, updated_at = excluded.updated_at
            WHERE user_settings.user_id = $1 AND user_settings.welcomed = 0
            RETURNING user_id
        """
        return bool(await self._change([user_lock(user_id)], sql, *params))

    async def claim_daily_menu_hint(self, user_id: int) -> bool:
        """Return True at most once a day per user."""
        now = self._clock()
        params = (user_id, to_text(now), to_text(now - timedelta(days=1)))
        sql = """
            INSERT INTO user_settings (user_id, told_of_menu_at, updated_at)
            VALUES ($1, $2, $2)
            ON CONFLICT (user_id) DO UPDATE SET told_of_menu_at = excluded.told_of_menu_at
            WHERE user_settings.user_id = $1 AND coalesce(user_settings.told_of_menu_at, '') <= $3
            RETURNING user_id
        """
        return bool(await self._change([user_lock(user_id)], sql, *params))


def read_settings(user_id: int) -> Transaction[UserSettings]:
    rows = yield Statement(_SELECT, (user_id,))
    return _SETTINGS.read_first(rows) or UserSettings()


@dataclass(frozen=True, slots=True)
class ChannelAgent:
    agent: str
    guild_id: int


@dataclass(frozen=True, slots=True)
class StoredAgentChoices:
    """Which agent answers a user, by id of a channel or thread. An agent may be missing or not allowed."""

    choices: Mapping[int, str]  # of the user
    defaults: Mapping[int, ChannelAgent]
    models: Mapping[int, tuple[str, ...]]  # set by an owner; models after the first are fallbacks


def read_agent_choices(user_id: int, location_ids: Sequence[int]) -> Transaction[StoredAgentChoices]:
    """`location_ids`: a channel, or a thread and its channel; empty in the terminal."""
    thread_and_channel = (location_ids[0], location_ids[-1]) if location_ids else (0, 0)
    feature = find_module("agents")
    choices, defaults = (
        (yield from feature.read_choices(user_id, thread_and_channel)) if feature else ({}, {})
    )
    sql = "SELECT channel_id, models FROM channel_models WHERE channel_id IN ($1, $2)"
    models = yield Statement(sql, thread_and_channel)
    chains = {location_id: tuple(json.loads(chain)) for location_id, chain in models}
    return StoredAgentChoices(choices, defaults, chains)


class AgentStore(Store):
    async def get_choices(self, user_id: int, location_ids: Sequence[int]) -> StoredAgentChoices:
        return await self._database.read(lambda: read_agent_choices(user_id, location_ids))

    async def get_for_answer(self, user_id: int, answer_id: int) -> str | None:
        sql = """
            SELECT s.agent
            FROM messages AS m
            JOIN sessions AS s ON s.id = m.session_id AND s.user_id = $1
            WHERE m.user_id = $1 AND m.id = $2
        """
        rows = await self._database.query(sql, user_id, answer_id)
        return str(rows[0][0]) if rows else None


SELECT_ALL_MODELS: Final = "SELECT channel_id, models FROM channel_models ORDER BY channel_id"
SET_MODELS: Final = upsert("channel_models", "channel_id", "models set_by set_at")


class ChannelModelStore(Store):
    async def list_chains(self) -> dict[int, tuple[str, ...]]:
        rows = await self._database.query(SELECT_ALL_MODELS)
        return {channel_id: tuple(json.loads(models)) for channel_id, models in rows}

    async def set(self, channel_id: int, chain: tuple[str, ...], *, set_by: int) -> None:
        params = (channel_id, json.dumps(chain, ensure_ascii=False), set_by, to_text(self._clock()))
        await self._change([channel_lock(channel_id)], SET_MODELS, *params)

    async def unset(self, channel_id: int) -> bool:
        sql = "DELETE FROM channel_models WHERE channel_id = $1 RETURNING 1"
        return bool(await self._change([channel_lock(channel_id)], sql, channel_id))


# A token factor is a model's own count of tokens divided by our estimate: the mean of the first answers, then
# a slow moving average.

DEFAULT_TOKEN_FACTOR: Final = 1.0
MIN_TOKEN_FACTOR: Final = 0.4
MAX_TOKEN_FACTOR: Final = 4.0  # tokenizers with small vocabularies reach three for Japanese


class TokenFactorStore(Store):
    def __init__(self, database: Database, *, clock: Clock = utc_now) -> None:
        super().__init__(database, clock=clock)
        self._cached: dict[str, float] = {}

    async def get(self, model: str) -> float:
        sql = "SELECT factor FROM token_factors WHERE model = $1"
        if model not in self._cached:
            rows = await self._database.query(sql, model)
            self._cached[model] = float(rows[0][0]) if rows else DEFAULT_TOKEN_FACTOR
        return self._cached[model]

    async def learn(self, model: str, *, estimated: int, counted: int) -> None:
        """Update the factor. Ignores a count that is too far from the estimate."""
        if estimated <= 0 or not MIN_TOKEN_FACTOR <= counted / estimated <= MAX_TOKEN_FACTOR:
            return
        params = (model, counted / estimated, to_text(self._clock()))
        sql = """
            INSERT INTO token_factors AS stored (model, factor, responses, updated_at)
            VALUES ($1, $2, 1, $3)
            ON CONFLICT (model) DO UPDATE SET
                factor = stored.factor + (
                    CASE
                        WHEN stored.responses < 5 THEN excluded.factor
                        WHEN excluded.factor > stored.factor * 1.25 THEN stored.factor * 1.25
                        WHEN excluded.factor < stored.factor * 0.8 THEN stored.factor * 0.8
                        ELSE excluded.factor
                    END - stored.factor
                ) * CASE WHEN stored.responses < 20 THEN 1.0 / (stored.responses + 1) ELSE 0.05 END,
                responses = stored.responses + 1,
                updated_at = excluded.updated_at
            RETURNING factor
        """
        [(factor,)] = await self._change((), sql, *params)
        self._cached[model] = float(factor)


@dataclass(frozen=True, slots=True)
class LimitOverride:
    """A limit that an owner set. It replaces the limit of the operator's file."""

    key: LimitKey
    value: int | None
    set_by: int
    set_at: datetime


_LIMIT: Final = Columns(LimitOverride, datetimes=ISO, name=Codec())

SELECT_LIMITS: Final = f"SELECT {_LIMIT.select} FROM limits ORDER BY scope, scope_id, name"

_SET_LIMIT: Final = upsert("limits", "scope scope_id name", "value set_by set_at")


class LimitStore(Store):
    async def list_all(self) -> tuple[LimitOverride, ...]:
        return await self._database.read(read_limits)

    async def set(self, key: LimitKey, value: int | None, *, set_by: int) -> None:
        """`value`: None for no limit."""
        limit = LimitOverride(key, value, set_by, self._clock())
        await self._change([MAINTENANCE_LOCK], _SET_LIMIT, *_LIMIT.write(limit).values())

    async def unset(self, key: LimitKey) -> bool:
        sql = "DELETE FROM limits WHERE scope = $1 AND scope_id = $2 AND name = $3 RETURNING name"
        return bool(await self._change([MAINTENANCE_LOCK], sql, *astuple(key)))


def read_limits() -> Transaction[tuple[LimitOverride, ...]]:
    rows = yield Statement(SELECT_LIMITS)
    return tuple(limit for limit in map(_LIMIT.read, rows) if limit.key.name in LIMIT_NAMES)


def read_owner_rules() -> Transaction[LimitRules]:
    return {limit.key: limit.value for limit in (yield from read_limits())}


# The access rules, and a row for the maintenance if it has begun.
SELECT_ACCESS: Final = """
    SELECT subject, subject_id, rule FROM access_rules
    UNION ALL SELECT 'maintenance', 0, note FROM maintenance
"""
SET_RULE: Final = upsert("access_rules", "subject subject_id", "rule set_by set_at")
BEGIN_MAINTENANCE: Final = upsert("maintenance", "id", "note set_by set_at")


@dataclass(frozen=True, slots=True)
class AccessState:
    rules: AccessRules
    maintenance: Maintenance | None


@dataclass(frozen=True, slots=True)
class UserRecord:
    """The data of a user that is read before a command or an answer to a mention begins."""

    access: AccessState
    limits: LimitRules
    settings: UserSettings
    agents: StoredAgentChoices


class AccessStore(Store):
    async def get_state(self) -> AccessState:
        return _read_access(await self._database.query(SELECT_ACCESS))

    async def get_user_record(self, user_id: int, location_ids: Sequence[int]) -> UserRecord:
        """`location_ids`: a channel, or a thread and its channel."""

        def steps() -> Transaction[UserRecord]:
            return (yield from read_user_records((user_id,), location_ids))[user_id]

        return await self._database.read(steps)

    async def set(self, subject: Subject, subject_id: int, ruling: Ruling, *, set_by: int) -> None:
        params = (subject, subject_id, ruling, set_by, to_text(self._clock()))
        await self._change([MAINTENANCE_LOCK], SET_RULE, *params)

    async def unset(self, subject: Subject, subject_id: int) -> bool:
        sql = "DELETE FROM access_rules WHERE subject = $1 AND subject_id = $2 RETURNING 1"
        return bool(await self._change([MAINTENANCE_LOCK], sql, subject, subject_id))

    async def begin_maintenance(self, note: str, *, set_by: int) -> None:
        """If maintenance has begun already, this changes its note."""
        await self._change([MAINTENANCE_LOCK], BEGIN_MAINTENANCE, 1, note, set_by, to_text(self._clock()))

    async def end_maintenance(self) -> bool:
        sql = "DELETE FROM maintenance WHERE id = 1 RETURNING 1"
        return bool(await self._change([MAINTENANCE_LOCK], sql))


def read_user_records(
    user_ids: Collection[int], location_ids: Sequence[int]
) -> Transaction[dict[int, UserRecord]]:
    access = _read_access((yield Statement(SELECT_ACCESS)))
    limits = yield from read_owner_rules()
    states = {}
    for user_id in user_ids:
        settings = yield from read_settings(user_id)
        agents = yield from read_agent_choices(user_id, location_ids)
        states[user_id] = UserRecord(access, limits, settings, agents)
    return states


def _read_access(rows: Sequence[Row]) -> AccessState:
    notes = [note for subject, _, note in rows if subject == "maintenance"]
    rules = (AccessRule(ruling, subject, id_) for subject, id_, ruling in rows if subject != "maintenance")
    return AccessState(frozenset(rules), Maintenance(notes[0]) if notes else None)


# The secrets of web sessions and sign-in codes have 256 random bits, so fast hashes of them are stored.
# Statements that find a row by its hash name no user: the secret identifies the user.

SECRET_BYTES: Final = 32
USE_RECORD_INTERVAL: Final = timedelta(hours=1)
MAX_SESSIONS: Final = 20  # per user; above it, the least recently used one is deleted
MAX_CODES: Final = 10  # per user; above it, the oldest one is deleted

_SESSION: Final = Columns(WebSession, datetimes=ISO)

SELECT_LIVE: Final = "SELECT id FROM web_sessions WHERE ends_at > $1 AND used_at > $2 /* scope: all users */"
PRUNE_CODES: Final = "DELETE FROM web_codes WHERE ends_at <= $1 /* scope: all users */"
PRUNE_SESSIONS: Final = "DELETE FROM web_sessions WHERE ends_at <= $1 OR used_at <= $2 /* scope: all users */"


class WebSessionStore(Store):
    async def make_code(self, origin: SignInOrigin) -> str:
        """Store and return a code that signs its user in once, within LINK_LIFETIME."""
        code, now = secrets.token_urlsafe(SECRET_BYTES), self._clock()
        row = (_hash(code), origin.user_id, origin.channel_id, origin.guild_id)
        sql = """
            INSERT INTO web_codes (hash, user_id, channel_id, guild_id, made_at, ends_at)
            VALUES ($1, $2, $3, $4, $5, $6)
        """
        insert = Statement(sql, (*row, to_text(now), to_text(now + LINK_LIFETIME)))
        delete_codes = """
            DELETE FROM web_codes WHERE user_id = $1 AND (
                ends_at <= $2 OR hash NOT IN (
                    SELECT hash FROM web_codes WHERE user_id = $1 ORDER BY made_at DESC LIMIT $3
                )
            )
        """
        delete = Statement(delete_codes, (origin.user_id, to_text(now), MAX_CODES))
        await self._database.transaction([insert, delete], [user_lock(origin.user_id)])
        return code

    async def find_code(self, code: str) -> SignInOrigin | None:
        """Return where a code was made, and leave it unused; None if it is used, expired or invalid."""
        sql = """
            SELECT user_id, channel_id, guild_id FROM web_codes WHERE hash = $1 AND ends_at > $2
            /* scope: all users */
        """
        rows = await self._database.query(sql, _hash(code), to_text(self._clock()))
        return SignInOrigin(*rows[0]) if rows else None

    async def sign_in(self, code: str, browser: str = "") -> tuple[str, WebSession] | None:
        """Use a code; returns a secret and its new session. None if the code is used, expired or invalid."""
        origin = await self.find_code(code)
        if origin is None:
            return None
        secret, now = secrets.token_urlsafe(SECRET_BYTES), self._clock()

        def steps() -> Transaction[WebSession | None]:
            sql = """
                DELETE FROM web_codes WHERE hash = $1 AND ends_at > $2 RETURNING user_id, channel_id, guild_id
                /* scope: all users */
            """
            codes = yield Statement(sql, (_hash(code), to_text(now)))
            if not codes:
                return None
            moments = (to_text(now), to_text(now + MAX_SESSION_LIFETIME))
            insert_session = f"""
                INSERT INTO web_sessions
                    (hash, user_id, channel_id, guild_id, made_at, used_at, ends_at, browser)
                VALUES ($1, $2, $3, $4, $5, $5, $6, $7)
                RETURNING {_SESSION.select}
            """
            [row] = yield Statement(insert_session, (_hash(secret), *codes[0], *moments, browser))
            session = _SESSION.read(row)
            delete_sessions = """
                DELETE FROM web_sessions WHERE user_id = $1 AND (
                    ends_at <= $2 OR used_at <= $3 OR id NOT IN (
                        SELECT id FROM web_sessions WHERE user_id = $1 ORDER BY used_at DESC LIMIT $4
                    )
                )
            """
            params = (session.user_id, *self._open_sessions_params(now), MAX_SESSIONS)
            yield Statement(delete_sessions, params)
            return session

        session = await self._database.write(steps, [user_lock(origin.user_id)])
        return (secret, session) if session else None

    async def get(self, secret: str) -> WebSession | None:
        """Return the session of a secret and record its use; None if it ended or is invalid."""
        now = self._clock()
        sql = f"""
            SELECT {_SESSION.select} FROM web_sessions
            WHERE hash = $1 AND ends_at > $2 AND used_at > $3 /* scope: all users */
        """
        rows = await self._database.query(sql, _hash(secret), *self._open_sessions_params(now))
        if not rows:
            return None
        session = _SESSION.read(rows[0])
        if now - session.used_at >= USE_RECORD_INTERVAL:
            sql = "UPDATE web_sessions SET used_at = $3 WHERE user_id = $1 AND id = $2"
            params = (session.user_id, session.id, to_text(now))
            await self._change([user_lock(session.user_id)], sql, *params)
        return session

    async def list(self, user_id: int) -> list[WebSession]:
        sql = f"""
            SELECT {_SESSION.select} FROM web_sessions
            WHERE user_id = $1 AND ends_at > $2 AND used_at > $3 ORDER BY used_at DESC, id DESC
        """
        rows = await self._database.query(sql, user_id, *self._open_sessions_params(self._clock()))
        return [*map(_SESSION.read, rows)]

    async def end(self, user_id: int, session_id: int) -> bool:
        sql = "DELETE FROM web_sessions WHERE user_id = $1 AND id = $2 RETURNING id"
        return bool(await self._change([user_lock(user_id)], sql, user_id, session_id))

    async def end_all(self, user_id: int, *, except_id: int = 0) -> int:
        """End a user's sessions except one, and unused codes. Returns the number of sessions."""
        end_others = "DELETE FROM web_sessions WHERE user_id = $1 AND id <> $2 RETURNING id"
        end_codes = "DELETE FROM web_codes WHERE user_id = $1"
        ended, _ = await self._database.transaction(
            [Statement(end_others, (user_id, except_id)), Statement(end_codes, (user_id,))],
            [user_lock(user_id)],
        )
        return len(ended)

    async def list_live(self) -> frozenset[int]:
        rows = await self._database.query(SELECT_LIVE, *self._open_sessions_params(self._clock()))
        return frozenset(id_ for (id_,) in rows)

    async def prune(self) -> None:
        now, unused_since = self._open_sessions_params(self._clock())
        await self._database.transaction(
            [Statement(PRUNE_CODES, (now,)), Statement(PRUNE_SESSIONS, (now, unused_since))],
            [MAINTENANCE_LOCK],
        )

    def _open_sessions_params(self, now: datetime) -> tuple[str, str]:
        """Return the current time, and the time since which an open session must have been used."""
        return to_text(now), to_text(now - MAX_SESSION_IDLE_TIME)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
